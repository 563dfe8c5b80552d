// The best of a region's sample points (POLICY): every child has one at each fraction of its diagonal; chosen in plain
// doubles, by the same fold as the children's bounds.
//
//   1. from the digits that prefix bounds lead to, descend: every digit to its own best, or the best change of one digit
//   2. look through the tree of prefixes for anything better by more than 2^-40: the first few are opened together, each into
//      those that are some digits longer, a limited number of times
// Whatever is found is only a proposal.
#pragma once
#include "run.h"

namespace INFIMUM_NAMESPACE {

struct Sample {
    double value = INFIMUM_INF;
    int64_t fraction = 0;
    std::vector<int> digits;
};

class Samples {
    const Split &split_;
    const std::vector<Shape> &shapes_;
    std::vector<std::vector<Values>> values_;  // [fraction][family]
    Rows &evaluate_, &enclose_;

  public:
    Samples(const Box &box, const Split &split, const std::vector<int> &position, const std::vector<Shape> &shapes,
            std::vector<Family> &families, const double *fractions, int64_t fraction_count, Rows &evaluate, Rows &enclose)
        : split_(split), shapes_(shapes), values_(static_cast<size_t>(fraction_count), std::vector<Values>(families.size())),
          evaluate_(evaluate), enclose_(enclose) {
        for (size_t i = 0; i < families.size(); i++) families[i].sample(box, split, position, shapes[i], fractions, values_, i);
    }
    Sample best() {
        Sample found = descend(dive());
        improve(found);
        return found;
    }

  private:
    int64_t fractions() const { return static_cast<int64_t>(values_.size()); }

    // ------------------------------------------------------------------------------------------ values
    void put(int64_t fraction, const int *digits) {
        for (size_t i = 0; i < shapes_.size(); i++) {
            const Values &v = values_[fraction][i];
            evaluate_.put(value_of_family(shapes_[i].touched(), v.pool.data(), digits, number_of(v.hoisted)));
        }
    }
    double value(int64_t row) const {
        const double x = evaluate_.number(row);
        return x == x ? x : INFIMUM_INF;
    }

    // ------------------------------------------------------------------------------------------ descent
    // The digits that a greedy walk along the smallest prefix bounds leads to, at the most promising fraction.
    std::vector<int> dive() {
        std::vector<int> digits(static_cast<size_t>(MOST_SPLIT), 0);
        const std::vector<Values> *where = &values_[0];
        enclose_.clear();
        for (int64_t f = 0; f < fractions(); f++) put_root(f);
        enclose_.run();
        double best = INFIMUM_INF;
        for (int64_t f = 0; f < fractions(); f++)
            if (is_possible(enclose_.range(f)) && enclose_.range(f).lo < best) {
                best = enclose_.range(f).lo;
                where = &values_[f];
            }
        for (int64_t depth = 0; depth < split_.count(); depth++) {
            double least = INFIMUM_INF;
            int chosen = split_.parts / 2;
            extend(enclose_, shapes_, *where, split_.parts, digits.data(), depth, [&](int digit, Range z) {
                if (!is_possible(z) || !(z.lo < least)) return;
                least = z.lo;
                chosen = digit;
            });
            digits[depth] = chosen;
        }
        return digits;
    }
    void put_root(int64_t fraction) { put_prefix(fraction, nullptr, 0); }
    void put_prefix(int64_t fraction, const int *digits, int64_t depth) {
        for (size_t i = 0; i < shapes_.size(); i++) {
            const Values &v = values_[fraction][i];
            const Range z = v.closed(shapes_[i], digits, depth, v.hoisted, 0);
            enclose_.put(z.lo, z.hi);
        }
    }
    Sample descend(const std::vector<int> &start) {
        std::vector<std::vector<int>> digits(values_.size(), start);
        std::vector<double> best(values_.size(), INFIMUM_INF);
        for (int round = 0; round < MOST_ROUNDS; round++)
            if (!better(digits, best)) break;
        Sample found;
        found.digits = start;
        for (int64_t f = 0; f < fractions(); f++)
            if (best[f] < found.value) found = {best[f], f, digits[f]};
        return found;
    }
    // For every fraction digits at least as good; whether any value got smaller.
    bool better(std::vector<std::vector<int>> &digits, std::vector<double> &best) {
        const int64_t count = split_.count(), parts = split_.parts, options = count * parts;
        evaluate_.clear();
        for (int64_t f = 0; f < fractions(); f++)
            for (int64_t p = 0; p < count; p++) {
                const int kept = digits[f][p];
                for (digits[f][p] = 0; digits[f][p] < parts; digits[f][p]++) put(f, digits[f].data());
                digits[f][p] = kept;
            }
        evaluate_.run();
        std::vector<std::vector<int>> together = digits;
        std::vector<int64_t> single(values_.size(), 0);
        std::vector<double> least(values_.size(), INFIMUM_INF);
        for (int64_t f = 0; f < fractions(); f++)
            for (int64_t p = 0; p < count; p++) {
                double own = INFIMUM_INF;
                for (int64_t k = 0; k < parts; k++) {
                    const double x = value(f * options + p * parts + k);
                    if (x < own) {
                        own = x;
                        together[f][p] = static_cast<int>(k);
                    }
                    if (x < least[f]) {
                        least[f] = x;
                        single[f] = p * parts + k;
                    }
                }
            }
        evaluate_.clear();
        for (int64_t f = 0; f < fractions(); f++) put(f, together[f].data());
        evaluate_.run();
        bool improved = false;
        for (int64_t f = 0; f < fractions(); f++) {
            const double joint = value(f);
            if (joint <= least[f])
                digits[f] = together[f];
            else
                digits[f][single[f] / parts] = static_cast<int>(single[f] % parts);
            const double now = joint <= least[f] ? joint : least[f];
            improved = improved || now < best[f];
            if (now < best[f]) best[f] = now;
        }
        return improved;
    }

    // ------------------------------------------------------------------------------------------ search
    struct Node {
        double bound;
        int64_t fraction;
        uint64_t key;  // Entry's
        bool operator<(const Node &o) const {
            return bound != o.bound ? bound < o.bound : key != o.key ? key < o.key : fraction < o.fraction;
        }
    };
    void improve(Sample &found) {
        std::vector<Node> nodes;
        enclose_.clear();
        for (int64_t f = 0; f < fractions(); f++) put_root(f);
        enclose_.run();
        for (int64_t f = 0; f < fractions(); f++) push(nodes, found, enclose_.range(f), f, Entry::key_of(false, 0, 0));
        for (int left = MOST_SEARCHES; left > 0 && !nodes.empty(); left--) {
            std::sort(nodes.begin(), nodes.end());
            const size_t most = static_cast<size_t>(left) * MOST_TOGETHER;  // no other is opened any more
            if (nodes.size() > most) nodes.resize(most);
            const size_t opened = std::min<size_t>(nodes.size(), MOST_TOGETHER);
            const std::vector<Node> first(nodes.begin(), nodes.begin() + opened);
            nodes.erase(nodes.begin(), nodes.begin() + opened);
            open(nodes, found, first);
            nodes.erase(std::remove_if(nodes.begin(), nodes.end(), [&](const Node &n) { return !is_worth(found.value, n.bound); }),
                        nodes.end());
        }
    }
    // Put in place of prefixes all that begin with them some digits deeper; children are evaluated at once.
    void open(std::vector<Node> &nodes, Sample &found, const std::vector<Node> &opened) {
        std::vector<Node> longer, children;
        enclose_.clear();
        evaluate_.clear();
        for (const Node &node : opened) {
            const Entry entry = {node.bound, node.key};
            const int64_t depth = entry.depth(), count = split_.count();
            int64_t deeper = depth, place = 1, wide = 1;
            for (int64_t i = 0; i < depth; i++) place *= split_.parts;
            do {
                wide *= split_.parts;
                deeper++;
            } while (deeper < count && wide * split_.parts <= MOST_LONGER);
            int digits[MOST_SPLIT];
            for (int64_t j = 0; j < wide; j++) {
                const int64_t index = entry.index() + place * j;
                split_.digits_of(index, digits);
                if (deeper == count) {
                    children.push_back({0, node.fraction, Entry::key_of(true, index, deeper)});
                    put(node.fraction, digits);
                } else {
                    longer.push_back({0, node.fraction, Entry::key_of(false, index, deeper)});
                    put_prefix(node.fraction, digits, deeper);
                }
            }
        }
        evaluate_.run();
        enclose_.run();
        for (size_t i = 0; i < children.size(); i++) {
            const double x = value(static_cast<int64_t>(i));
            if (!(x < found.value)) continue;
            int digits[MOST_SPLIT];
            split_.digits_of(Entry{0, children[i].key}.index(), digits);
            found = {x, children[i].fraction, std::vector<int>(digits, digits + split_.count())};
        }
        for (size_t i = 0; i < longer.size(); i++)
            push(nodes, found, enclose_.range(static_cast<int64_t>(i)), longer[i].fraction, longer[i].key);
    }
    static void push(std::vector<Node> &nodes, const Sample &found, Range z, int64_t fraction, uint64_t key) {
        if (!is_possible(z) || !is_worth(found.value, z.lo)) return;
        nodes.push_back({z.lo, fraction, key});
    }
};

}  // namespace INFIMUM_NAMESPACE
