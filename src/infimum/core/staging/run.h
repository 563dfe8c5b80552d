// The children of one region, emitted one by one in the order (lower bound, index), opening few of them.
//
// The children form a tree, one split variable a level. A prefix of digits is bounded by the epilogue on the fold of what is
// fixed and the hulls of what is open. Prefix bounds are lowered by 2^-40 of their size, so that they mostly stay below the
// bounds of the leaves under them, which are the children's own folds in another order of rounding. Where they do not, what is
// under a prefix has the prefix's bound, which is one of its own: so children come in the order of their bounds, and neither
// depends on how they are looked for.
#pragma once
#include "slopes.h"

namespace INFIMUM_NAMESPACE {

// What is left of a run: a prefix of digits or a child. Ties: prefixes first, then the smaller index.
struct Entry {
    double bound;
    uint64_t key;  // 1 bit: is it a child; 55: its index so far; 8: digits fixed

    static uint64_t key_of(bool leaf, int64_t index, int64_t depth) {
        return (leaf ? uint64_t(1) << 63 : 0) | static_cast<uint64_t>(index) << 8 | static_cast<uint64_t>(depth);
    }
    bool leaf() const { return key >> 63; }
    int64_t index() const { return static_cast<int64_t>(key >> 8 & ((uint64_t(1) << 55) - 1)); }
    int64_t depth() const { return static_cast<int64_t>(key & 255); }
    bool operator<(const Entry &other) const { return bound != other.bound ? bound > other.bound : key > other.key; }
};
typedef std::vector<Entry> Heap;  // the smallest first, by std::push_heap

// Everything about a split region that its children need.
struct Opened {
    std::vector<Shape> shapes;
    std::vector<Values> values;  // one a family
    std::vector<Discards> masks;

    int64_t bytes() const {
        int64_t total = 0;
        for (const Values &v : values) total += static_cast<int64_t>((v.pool.size() + v.suffix.size()) * sizeof(Range));
        for (const Shape &s : shapes) total += static_cast<int64_t>(s.terms.size() * sizeof(Touched));
        for (const Discards &m : masks) total += static_cast<int64_t>(m.holds.size() + sizeof m);
        return total;
    }
    // Whether a component that the last of `depth` digits completes discards all below.
    bool discards(const int *digits, int64_t depth, int parts) const {
        for (const Discards &m : masks)
            if (m.positions.last() == depth - 1 && m.holds[m.positions.number(digits, m.positions.count(), parts)]) return true;
        return false;
    }
};

// Bound the `parts` prefixes that begin with `depth` given digits: found(digit, enclosure).
template <class Found>
static void extend(Rows &epilogue, const std::vector<Shape> &shapes, const std::vector<Values> &values, int parts, int *digits,
                   int64_t depth, Found found) {
    const size_t families = values.size();
    Range folds[16];
    std::vector<Range> many;
    Range *fold = folds;
    if (families > 16) {
        many.resize(families);
        fold = many.data();
    }
    for (size_t i = 0; i < families; i++) fold[i] = values[i].fixed(shapes[i], digits, depth);
    epilogue.clear();
    for (digits[depth] = 0; digits[depth] < parts; digits[depth]++)
        for (size_t i = 0; i < families; i++) {
            const Range z = values[i].closed(shapes[i], digits, depth + 1, fold[i], depth);
            epilogue.put(z.lo, z.hi);
        }
    epilogue.run();
    for (digits[depth] = 0; digits[depth] < parts; digits[depth]++) found(digits[depth], epilogue.range(digits[depth]));
}

// Put the parts of the next split variable in place of a prefix with this bound: those that are defined somewhere, not
// discarded, and not above `upper`.
static void open_prefix(Heap &heap, Rows &epilogue, const Split &split, const Opened &o, double least, int64_t index,
                        int64_t depth, double upper) {
    int digits[MOST_SPLIT];
    split.digits_of(index, digits);
    int64_t place = 1;
    for (int64_t i = 0; i < depth; i++) place *= split.parts;
    const bool leaf = depth + 1 == split.count();
    extend(epilogue, o.shapes, o.values, split.parts, digits, depth, [&](int digit, Range z) {
        if (z.lo > z.hi || o.discards(digits, depth + 1, split.parts)) return;
        const double own = leaf ? z.lo : prefix_bound(z.lo), bound = own > least ? own : least;
        if (!(bound <= upper) || (BROKEN(10) && bound == upper)) return;
        heap.push_back({bound, Entry::key_of(leaf, index + digit * place, depth + 1)});
        std::push_heap(heap.begin(), heap.end());
    });
}

}  // namespace INFIMUM_NAMESPACE
