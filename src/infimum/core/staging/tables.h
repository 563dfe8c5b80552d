// A split region's touched terms: which there are, and their tables (touched.h says what these hold).
#pragma once
#include <algorithm>
#include <vector>

#include "regions.h"
#include "touched.h"

namespace INFIMUM_NAMESPACE {

enum { MOST_ROWS = 4096, MOST_SPLIT = 64 };

// Add a position; false where there are more than a table holds.
inline bool add(Positions &p, int position) {
    const int count = p.count();
    int i = 0;
    while (i < count && p.at(i) < position) i++;
    if (i < count && p.at(i) == position) return true;
    if (count == MOST_POSITIONS) return false;
    const unsigned shift = 8 * i + 8, below = p.bytes & ((1u << shift) - 1), above = p.bytes >> shift;
    p.bytes = (below | static_cast<unsigned>(position) << shift | above << shift << 8) + 1;
    return true;
}
// Whether a table of these positions is small enough.
inline bool has_table(Positions p, int parts) {
    int rows = 1;
    for (int i = 0; i < p.count(); i++) {
        if (rows > MOST_ROWS / parts) return false;
        rows *= parts;
    }
    return true;
}
// Which of the positions this is.
inline int place_of(Positions p, int position) {
    int i = 0;
    while (p.at(i) != position) i++;
    return i;
}

// The touched terms of a family in the order of the fold.
struct Shape {
    int reduction = INFIMUM_REDUCTION_ADD, parts = 0, pool = 0;
    std::vector<Touched> terms;

    TouchedTerms touched() const { return {terms.data(), terms.data() + terms.size(), reduction, parts}; }
    // Order the terms and give each its place in the pool; false where that is too large to be numbered.
    bool arrange() {
        std::sort(terms.begin(), terms.end(), [](const Touched &a, const Touched &b) {
            return std::make_pair(a.entry.positions.last(), a.term) < std::make_pair(b.entry.positions.last(), b.term);
        });
        pool = 0;
        for (Touched &t : terms) {
            if (pool > INT32_MAX - 2 * MOST_ROWS) return false;
            t.open = pool++;
            for (int j = 1; j <= t.entry.positions.count(); j++) {
                t.entry.starts[j - 1] = pool;
                pool += combinations(parts, j);
            }
        }
        return true;
    }
};

// The values of one family on the children: enclosures over them, or (as single numbers) values at one sample point of each.
struct Values {
    Range hoisted;
    std::vector<Range> pool, suffix;

    Range &entry(const Touched &t, int row) { return pool[t.entry.start(t.entry.positions.count()) + row]; }
    // Once the tables stand: the hulls, and for each depth the fold of all terms that are wholly open there.
    void close(const Shape &s, int64_t split_count) {
        for (const Touched &t : s.terms) close_term(t, s.parts, pool.data());
        suffix.resize(static_cast<size_t>(split_count) + 1);
        close_family(s.touched(), pool.data(), static_cast<int>(split_count), suffix.data());
    }
    // The fold of everything that the first `depth` digits fix.
    Range fixed(const Shape &s, const int *digits, int64_t depth) const {
        Range fold = hoisted;
        for (const Touched &t : s.terms) {
            if (t.entry.positions.last() >= depth) break;
            fold = met(s.reduction, fold, pool[t.entry.place(digits, t.entry.positions.count(), s.parts)]);
        }
        return fold;
    }
    // The hull over every completion of the first `depth` digits; `fold` holds what the first `from` of them fix.
    Range closed(const Shape &s, const int *digits, int64_t depth, Range fold, int64_t from) const {
        return INFIMUM_NAMESPACE::closed(s.touched(), pool.data(), suffix.data(), digits, static_cast<int>(depth), fold,
                                         static_cast<int>(from));
    }
};

}  // namespace INFIMUM_NAMESPACE
