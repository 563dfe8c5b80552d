// A family of terms on the working box: every term's enclosure, and its value at the sample points, kept up to date.
#pragma once
#include "spec.h"
#include "tables.h"

namespace INFIMUM_NAMESPACE {

// Which terms (or components) read a variable.
class Readers {
    std::vector<int64_t> first_;
    std::vector<int32_t> terms_;

  public:
    Readers(int64_t n, int64_t count, int64_t reads, const int64_t *variables) : first_(static_cast<size_t>(n) + 1, 0) {
        for (int64_t i = 0; i < count * reads; i++) first_[variables[i] + 1]++;
        for (int64_t v = 0; v < n; v++) first_[v + 1] += first_[v];
        terms_.resize(static_cast<size_t>(count * reads));
        std::vector<int64_t> next(first_.begin(), first_.end() - 1);
        for (int64_t i = 0; i < count; i++)
            for (int64_t j = 0; j < reads; j++) terms_[next[variables[i * reads + j]]++] = static_cast<int32_t>(i);
    }
    // The readers of the given variables, each once, ascending.
    template <class V>
    void of(const V *variables, int64_t count, std::vector<int64_t> &found) const {
        found.clear();
        for (int64_t i = 0; i < count; i++)
            for (int64_t j = first_[variables[i]]; j < first_[variables[i] + 1]; j++) found.push_back(terms_[j]);
        std::sort(found.begin(), found.end());
        found.erase(std::unique(found.begin(), found.end()), found.end());
    }
};

class Family {
    infimum_family spec_;
    Readers readers_;
    Tree<Range> ranges_;
    std::vector<Tree<double>> points_;        // one a fraction
    std::vector<Tree<Range>> proofs_;         // the same points enclosed
    Rows enclose_, evaluate_;
    std::vector<int64_t> terms_;

  public:
    Family(const infimum_family &spec, int64_t n, int64_t fractions, Stage stage)
        : spec_(spec), readers_(n, spec.count, spec.reads, spec.variables), ranges_(op(), spec.count),
          points_(static_cast<size_t>(fractions), Tree<double>(op(), spec.count)),
          proofs_(static_cast<size_t>(fractions), Tree<Range>(op(), spec.count)), enclose_(spec.program, stage, false),
          evaluate_(spec.program, stage, true) {}
    int op() const { return static_cast<int>(spec_.reduction); }
    int64_t count() const { return spec_.count; }
    // The terms whose variables are stale, ascending.
    void stale_terms(const Box &box, std::vector<int64_t> &found) const {
        readers_.of(box.stale.data(), static_cast<int64_t>(box.stale.size()), found);
    }

    // Bring every term up to date whose variables are stale.
    void refresh(const Box &box, const double *fractions) {
        readers_.of(box.stale.data(), static_cast<int64_t>(box.stale.size()), terms_);
        const int64_t block = 512;
        for (size_t first = 0; first < terms_.size(); first += block)
            refresh(box, fractions, terms_.data() + first, std::min(block, static_cast<int64_t>(terms_.size() - first)));
    }
    // The touched terms of a split; false where one reads more split variables than a table holds.
    bool shape(const Split &s, const std::vector<int> &position, Shape &found) {
        found = Shape();
        found.reduction = op();
        found.parts = s.parts;
        readers_.of(s.variables.data(), s.count(), terms_);
        for (const int64_t term : terms_) {
            Touched t = {{{0}, {}}, 0, static_cast<int>(term)};
            for (int64_t j = 0; j < spec_.reads; j++) {
                const int at = position[spec_.variables[term * spec_.reads + j]];
                if (at >= 0 && !add(t.entry.positions, at)) return false;
            }
            if (!has_table(t.entry.positions, s.parts)) return false;
            found.terms.push_back(t);
        }
        return found.arrange();
    }
    // The enclosures of all touched terms over the parts.
    void tabulate(const Box &box, const Split &s, const std::vector<int> &position, const Shape &shape, Values &found) {
        untouched(shape);
        found.hoisted = ranges_.root_without(terms_.data(), static_cast<int64_t>(terms_.size()));
        enclose_.clear();
        each_row(s, shape, [&](const Touched &t, const int *digits) {
            for (int64_t j = 0; j < spec_.reads; j++) {
                const int64_t v = variable(t.term, j);
                const int at = position[v];
                const double *edges = at < 0 ? nullptr : s.edges_of(at) + digits[place_of(t.entry.positions, at)];
                enclose_.put(edges ? edges[0] : box.lo[v], edges ? edges[1] : box.hi[v]);
            }
            put_constants(enclose_, t.term);
        });
        if (!shape.terms.empty()) enclose_.run();
        collect(0, s, shape, found, [&](int64_t row) { return enclose_.range(row); });
    }
    // The values of all touched terms at the sample points of the parts: found[f][family] for every fraction.
    void sample(const Box &box, const Split &s, const std::vector<int> &position, const Shape &shape, const double *fractions,
                std::vector<std::vector<Values>> &found, size_t family) {
        untouched(shape);
        evaluate_.clear();
        for (size_t f = 0; f < found.size(); f++)
            each_row(s, shape, [&](const Touched &t, const int *digits) {
                for (int64_t j = 0; j < spec_.reads; j++)
                    evaluate_.put(coordinate(box, s, position, t, digits, j, fractions[f]));
                put_points(evaluate_, t.term);
            });
        if (!shape.terms.empty()) evaluate_.run();
        int64_t row = 0;
        for (size_t f = 0; f < found.size(); f++) {
            Values &values = found[f][family];
            values.hoisted = of_number(points_[f].root_without(terms_.data(), static_cast<int64_t>(terms_.size())));
            row = collect(row, s, shape, values, [&](int64_t i) { return of_number(evaluate_.number(i)); });
        }
    }
    // The enclosure of the whole family at one sample point: the same fold.
    Range prove(const Box &box, const Split &s, const std::vector<int> &position, const Shape &shape, double fraction,
                int64_t number, const int *digits) {
        untouched(shape);
        Range fold = proofs_[number].root_without(terms_.data(), static_cast<int64_t>(terms_.size()));
        if (shape.terms.empty() || BROKEN(12)) return fold;
        enclose_.clear();
        for (const Touched &t : shape.terms) {
            int own[MOST_POSITIONS];
            for (int i = 0; i < t.entry.positions.count(); i++) own[i] = digits[t.entry.positions.at(i)];
            for (int64_t j = 0; j < spec_.reads; j++) enclose_.put(coordinate(box, s, position, t, own, j, fraction));
            put_constants(enclose_, t.term);
        }
        enclose_.run();
        for (size_t i = 0; i < shape.terms.size(); i++) fold = met(op(), fold, enclose_.range(static_cast<int64_t>(i)));
        return fold;
    }

  private:
    int64_t variable(int64_t term, int64_t j) const { return spec_.variables[term * spec_.reads + j]; }
    void put_constants(Rows &rows, int64_t term) const {
        for (int64_t j = 0; j < spec_.constants; j++)
            rows.put(spec_.lo[term * spec_.constants + j], spec_.hi[term * spec_.constants + j]);
    }
    void put_points(Rows &rows, int64_t term) const {
        for (int64_t j = 0; j < spec_.constants; j++) rows.put(spec_.points[term * spec_.constants + j]);
    }
    double coordinate(const Box &box, const Split &s, const std::vector<int> &position, const Touched &t, const int *digits,
                      int64_t j, double fraction) const {
        const int64_t v = variable(t.term, j);
        const int at = position[v];
        if (at < 0) return box.sample(v, fraction);
        const double *edges = s.edges_of(at) + digits[place_of(t.entry.positions, at)];
        return box.sample(v, edges[0], edges[1], fraction);
    }
    void untouched(const Shape &shape) {
        terms_.clear();
        for (const Touched &t : shape.terms) terms_.push_back(t.term);
    }
    template <class Put>
    void each_row(const Split &s, const Shape &shape, Put put) const {
        int digits[MOST_POSITIONS];
        for (const Touched &t : shape.terms)
            for (int i = 0; i < t.entry.positions.rows(s.parts); i++) {
                t.entry.positions.digits(i, s.parts, digits);
                put(t, digits);
            }
    }
    template <class Get>
    int64_t collect(int64_t row, const Split &s, const Shape &shape, Values &found, Get get) const {
        found.pool.resize(static_cast<size_t>(shape.pool));
        for (const Touched &t : shape.terms)
            for (int i = 0; i < t.entry.positions.rows(s.parts); i++) found.entry(t, i) = get(row++);
        found.close(shape, s.count());
        return row;
    }
    void refresh(const Box &box, const double *fractions, const int64_t *terms, int64_t count) {
        enclose_.clear();
        for (int64_t i = 0; i < count; i++) {
            for (int64_t j = 0; j < spec_.reads; j++) {
                const int64_t v = variable(terms[i], j);
                enclose_.put(box.lo[v], box.hi[v]);
            }
            put_constants(enclose_, terms[i]);
        }
        enclose_.run();
        for (int64_t i = 0; i < count; i++) ranges_.set(terms[i], enclose_.range(i));
        enclose_.clear();
        evaluate_.clear();
        for (size_t f = 0; f < points_.size(); f++)
            for (int64_t i = 0; i < count; i++) {
                for (int64_t j = 0; j < spec_.reads; j++) {
                    const double x = box.sample(variable(terms[i], j), fractions[f]);
                    enclose_.put(x);
                    evaluate_.put(x);
                }
                put_constants(enclose_, terms[i]);
                put_points(evaluate_, terms[i]);
            }
        if (points_.empty()) return;
        enclose_.run();
        evaluate_.run();
        int64_t row = 0;
        for (size_t f = 0; f < points_.size(); f++)
            for (int64_t i = 0; i < count; i++, row++) {
                proofs_[f].set(terms[i], enclose_.range(row));
                points_[f].set(terms[i], evaluate_.number(row));
            }
    }
};

}  // namespace INFIMUM_NAMESPACE
