// A search's working state: the box, the regions split so far with what is left of them, the tables of the last few.
#pragma once
#include <list>
#include <unordered_map>

#include "pack.h"
#include "samples.h"

namespace INFIMUM_NAMESPACE {

class Staging {
    enum { TABLES_BYTES = 4 << 20 };
    int64_t n_;
    Stage stage_;
    std::vector<double> domain_lo_, domain_hi_, fractions_;
    Box box_;
    Regions regions_;
    std::vector<Family> families_;
    std::vector<Slopes> slopes_;
    Rows enclose_, evaluate_;  // the epilogue
    std::vector<Heap> left_;   // one a region
    std::vector<int> position_;
    std::unordered_map<int64_t, std::pair<Opened, std::list<int64_t>::iterator>> opened_;
    std::list<int64_t> recent_;  // the last used first
    int64_t bytes_ = 0;
    Packing packing_;

  public:
    Staging(const infimum_structure &s, Stage stage)
        : n_(s.n), stage_(stage), domain_lo_(s.lo, s.lo + s.n), domain_hi_(s.hi, s.hi + s.n),
          fractions_(s.fractions, s.fractions + s.fraction_count), box_(s.n, s.lo, s.hi, s.inner_lo, s.inner_hi, s.widths),
          regions_(box_), enclose_(s.epilogue, stage, false), evaluate_(s.epilogue, stage, true),
          position_(static_cast<size_t>(s.n), -1) {
        for (int64_t i = 0; i < s.family_count; i++) families_.emplace_back(s.families[i], n_, s.fraction_count, stage);
        for (int64_t i = 0; i < s.slopes_count; i++) slopes_.emplace_back(s.slopes[i], n_, stage);
    }
    const Box &box() const { return box_; }
    const Region &region(int64_t id) const { return regions_[id]; }

    int64_t go(int64_t id, int64_t index, int64_t depth) {
        regions_.go(id, index, depth);
        return 0;
    }
    int64_t split(int64_t count, int parts, const int64_t *variables, const double *edges) {
        Split s;
        s.variables.assign(variables, variables + count);
        s.edges.assign(edges, edges + count * (parts + 1));
        s.parts = parts;
        left_.emplace_back();
        return regions_.split(std::move(s));
    }
    // Split what the box is into equal parts, as search/paper/partition.py cuts: of the `count` variables from `from` on those
    // that can be split, or of the next `count` that has any. *following: where the next cycle begins.
    int64_t split_equally(int64_t from, int64_t count, int parts, int64_t *following) {
        Split s;
        s.parts = parts;
        for (int64_t looked = 0; s.variables.empty() && looked <= n_; looked += count) {
            const int64_t last = from + count < n_ ? from + count : n_;
            for (int64_t v = from; v < last; v++)
                if (box_.has_inner(v)) s.variables.push_back(static_cast<int32_t>(v));
            *following = from = from + count < n_ ? from + count : 0;
        }
        if (s.variables.empty()) return INFIMUM_STAGING_NOTHING_TO_SPLIT;
        for (const int32_t v : s.variables) put_equal_parts(box_.lo[v], box_.hi[v], parts, s.edges);
        left_.emplace_back();
        return regions_.split(std::move(s));
    }
    // Whether a gradient enclosed on the box says that it holds no minimiser; right where the function is smooth around it.
    bool excludes(const double *slope_lo, const double *slope_hi) const {
        for (int64_t v = 0; v < n_; v++)
            if (excludes(v, slope_lo, slope_hi)) return true;
        return false;
    }
    // The box becomes a child, and a program runs there: whether it says that the child holds no minimiser.
    //   defined, smooth     gradient       discards
    //   both certainly      excludes it    yes
    //   both certainly      does not       no
    //   else                any            no
    bool discards_child(int64_t id, int64_t index, const infimum_standing &there) {
        regions_.go(id, index, MOST_SPLIT);
        const infimum_program &p = *there.program;
        const bool fits = p.n == n_ && p.output_count >= 3 && p.slots[p.outputs[p.output_count - 1]][1] == n_;
        if (!fits) throw std::logic_error("a program of other variables, or without a gradient");
        const int status = run_batch({&p, stage_, false, 1, box_.lo.data(), box_.hi.data(), there.out_lo, there.out_hi, 1});
        if (status == INFIMUM_NO_MEMORY) throw std::bad_alloc();
        if (status != INFIMUM_OK) throw std::logic_error("the box is no interval");
        const bool is_smooth = there.out_lo[0][0] == 1 && there.out_lo[1][0] == 1;
        if (!is_smooth && !BROKEN(13)) return false;
        const double *slope_lo = there.out_lo[p.output_count - 1], *slope_hi = there.out_hi[p.output_count - 1];
        for (const int32_t v : regions_[id].split.variables)  // mostly it is one of these that does
            if (excludes(v, slope_lo, slope_hi)) return true;
        return excludes(slope_lo, slope_hi);
    }

    // Make the tables of a region, which the box must be.
    infimum_tables tabulate(int64_t id, bool masked, const double *extra_lo, const double *extra_hi) {
        const Split &s = regions_[id].split;
        Opened made;
        made.shapes.resize(families_.size());
        made.values.resize(families_.size());
        place(s);
        bool stages = !families_.empty() && s.count() <= MOST_SPLIT;
        for (size_t i = 0; stages && i < families_.size(); i++) stages = families_[i].shape(s, position_, made.shapes[i]);
        if (!stages) {
            unplace(s);
            return INFIMUM_TABLES_NONE;
        }
        refresh();
        for (size_t i = 0; i < families_.size(); i++) families_[i].tabulate(box_, s, position_, made.shapes[i], made.values[i]);
        bool complete = masked;
        for (size_t i = 0; masked && i < slopes_.size(); i++)
            if (!slopes_[i].masks(box_, domain_lo_.data(), domain_hi_.data(), s, position_, extra_lo, extra_hi, made.masks))
                complete = false;
        unplace(s);
        keep(id, std::move(made));
        return complete ? INFIMUM_TABLES_COMPLETE : INFIMUM_TABLES_PARTIAL;
    }
    // The same for a device, which makes the tables itself: what it must be told lies in packed().
    infimum_tables pack(int64_t id, bool masked, const double *extra_lo, const double *extra_hi) {
        const Split &s = regions_[id].split;
        place(s);
        const infimum_tables kind = packing_.pack(box_, s, position_, families_, slopes_, masked, extra_lo, extra_hi);
        unplace(s);
        return kind;
    }
    const std::vector<unsigned char> &packed() const { return packing_.bytes(); }
    // The first prefixes of a region just tabulated.
    int64_t begin(int64_t id, double upper) {
        left_[id].clear();
        open_prefix(left_[id], enclose_, regions_[id].split, use(id), -INFIMUM_INF, 0, 0, upper);
        return 0;
    }
    // A sample point of a region, to which the box goes.
    int64_t point(int64_t id, int64_t index, int64_t fraction, double *x) {
        regions_.go(id, -1, 0);
        const Split &s = regions_[id].split;
        for (int64_t v = 0; v < n_; v++) x[v] = box_.sample(v, fractions_[fraction]);
        for (int64_t p = 0; p < s.count(); p++, index /= s.parts) {
            const double *edges = s.edges_of(p) + index % s.parts;
            x[s.variables[p]] = box_.sample(s.variables[p], edges[0], edges[1], fractions_[fraction]);
        }
        return 0;
    }
    // The best sample point of a tabulated region that the box is: 1 where there is one, with its value in plain doubles and
    // its proved range.
    int64_t sample(int64_t id, double *value, double *lo, double *hi, int64_t *index, int64_t *fraction) {
        const Split &s = regions_[id].split;
        const Opened &o = use(id);
        place(s);
        Samples samples(box_, s, position_, o.shapes, families_, fractions_.data(), static_cast<int64_t>(fractions_.size()),
                        evaluate_, enclose_);
        const Sample best = samples.best();
        *value = best.value;
        if (best.value < INFIMUM_INF) {
            *fraction = best.fraction;
            *index = 0;
            for (int64_t p = s.count(); p-- > 0;) *index = *index * s.parts + best.digits[p];
            enclose_.clear();
            for (size_t i = 0; i < families_.size(); i++) {
                const double fraction = fractions_[best.fraction];
                const int *digits = best.digits.data();
                const Range z = families_[i].prove(box_, s, position_, o.shapes[i], fraction, best.fraction, digits);
                enclose_.put(z.lo, z.hi);
            }
            enclose_.run();
            *lo = enclose_.range(0).lo;
            *hi = enclose_.range(0).hi;
        }
        unplace(s);
        return best.value < INFIMUM_INF;
    }
    // Emit the best child of a region, or open prefixes until another run (other_bound, other) comes first, nothing is left, or
    // `most` were opened.
    infimum_advance advance(int64_t id, double upper, double other_bound, int64_t other, int64_t most, double *bound,
                            int64_t *index) {
        Heap &heap = left_[id];
        for (int64_t opened = 0; opened < most && !heap.empty(); opened++) {
            const Entry top = heap.front();
            if (top.bound > upper || (BROKEN(11) && top.bound == upper)) return INFIMUM_ADVANCE_NONE;
            if (top.bound > other_bound || (top.bound == other_bound && id > other)) return INFIMUM_ADVANCE_NONE;
            if (!top.leaf() && !opened_.count(id)) return INFIMUM_ADVANCE_NEEDS_TABLES;
            if (top.leaf()) {
                take(heap);
                *bound = top.bound;
                *index = top.index();
                return INFIMUM_ADVANCE_CHILD;
            }
            open(id, upper);
        }
        return INFIMUM_ADVANCE_NONE;
    }
    // Open at most `most` prefixes until a child comes first, so that the bound of what is left is that child's, or until nothing
    // up to `upper` is left.
    infimum_settle settle(int64_t id, double upper, int64_t most) {
        const Heap &heap = left_[id];
        for (int64_t opened = 0; opened < most; opened++) {
            if (heap.empty() || heap.front().leaf() || heap.front().bound > upper) return INFIMUM_SETTLE_DONE;
            if (!opened_.count(id)) return INFIMUM_SETTLE_NEEDS_TABLES;
            open(id, upper);
        }
        return INFIMUM_SETTLE_NOT_YET;
    }
    // Take all variables for changed: what was told of them elsewhere is not known here.
    void forget() { box_.forget(); }

    // ------------------------------------------------------------------------------------------ what is left
    double bound(int64_t id) const { return left_[id].empty() ? INFIMUM_INF : left_[id].front().bound; }
    int64_t left(int64_t id) const { return static_cast<int64_t>(left_[id].size()); }
    void prefixes(int64_t id, double *bounds, int64_t *indices, int64_t *depths) const {
        Heap sorted = left_[id];
        std::sort(sorted.begin(), sorted.end(), [](const Entry &a, const Entry &b) { return b < a; });
        for (size_t i = 0; i < sorted.size(); i++) {
            bounds[i] = sorted[i].bound;
            indices[i] = sorted[i].index();
            depths[i] = sorted[i].depth();
        }
    }
    // A region of which no child can be wanted any more.
    void release(int64_t id) {
        Heap().swap(left_[id]);
        drop(id);
    }

  private:
    bool excludes(int64_t v, const double *slope_lo, const double *slope_hi) const {
        return discards({slope_lo[v], slope_hi[v]}, {box_.lo[v], box_.hi[v]}, domain_lo_[v], domain_hi_[v]);
    }
    static Entry take(Heap &heap) {
        const Entry top = heap.front();
        std::pop_heap(heap.begin(), heap.end());
        heap.pop_back();
        return top;
    }
    // Put its parts in place of the first prefix.
    void open(int64_t id, double upper) {
        const Entry top = take(left_[id]);
        open_prefix(left_[id], enclose_, regions_[id].split, use(id), top.bound, top.index(), top.depth(), upper);
    }
    void place(const Split &s) {
        for (int64_t p = 0; p < s.count(); p++) position_[s.variables[p]] = static_cast<int>(p);
    }
    void unplace(const Split &s) {
        for (const int32_t v : s.variables) position_[v] = -1;
    }
    void refresh() {
        box_.settle();
        for (Family &f : families_) f.refresh(box_, fractions_.data());
        box_.clear_stale();
    }

    // ------------------------------------------------------------------------------------------ the tables at hand
    const Opened &use(int64_t id) {
        auto &found = opened_.at(id);
        recent_.splice(recent_.begin(), recent_, found.second);
        return found.first;
    }
    void keep(int64_t id, Opened made) {
        drop(id);
        bytes_ += made.bytes();
        recent_.push_front(id);
        opened_.emplace(id, std::make_pair(std::move(made), recent_.begin()));
        while (bytes_ > TABLES_BYTES && recent_.size() > 1) {
            const int64_t oldest = recent_.back();
            drop(oldest);
            left_[oldest].shrink_to_fit();
        }
    }
    void drop(int64_t id) {
        const auto found = opened_.find(id);
        if (found == opened_.end()) return;
        bytes_ -= found->second.first.bytes();
        recent_.erase(found->second.second);
        opened_.erase(found);
    }
};

}  // namespace INFIMUM_NAMESPACE
