// A split region's touched terms: which there are, their tables, and what they say about all children at once.
//
// A term that reads split variables at positions p_1 < ... < p_d has parts^d values. Terms are folded in the order of their
// last position, then of their number. hull(j) of a term is indexed by the digits of its first j positions and holds the
// hull over all others; hull(d) is the table itself.
#pragma once
#include <algorithm>
#include <vector>

#include "regions.h"

namespace INFIMUM_NAMESPACE {

enum { MOST_POSITIONS = 3, MOST_ROWS = 4096, MOST_SPLIT = 64 };

// The positions that something reads, ascending.
struct Positions {
    int count = 0, at[MOST_POSITIONS] = {0, 0, 0};

    int first() const { return at[0]; }
    int last() const { return at[count - 1]; }
    // False where there are more than a table holds.
    bool add(int position) {
        int i = 0;
        while (i < count && at[i] < position) i++;
        if (i < count && at[i] == position) return true;
        if (count == MOST_POSITIONS) return false;
        for (int j = count; j > i; j--) at[j] = at[j - 1];
        at[i] = position;
        count++;
        return true;
    }
    int place_of(int position) const {
        int i = 0;
        while (at[i] != position) i++;
        return i;
    }
    // Combinations of the first j digits; the number of the combination that `digits` makes of them.
    int64_t combinations(int j, int parts) const {
        int64_t found = 1;
        for (int i = 0; i < j; i++) found *= parts;
        return found;
    }
    int64_t number(const int *digits, int j, int parts) const {
        int64_t found = 0;
        for (int i = 0; i < j; i++) found = found * parts + digits[at[i]];
        return found;
    }
    // The digits of combination `number` of all positions, by place.
    void digits(int64_t number, int parts, int *found) const {
        for (int i = count; i-- > 0; number /= parts) found[i] = static_cast<int>(number % parts);
    }
};

struct Touched {
    int64_t term;
    Positions positions;
    int64_t starts[MOST_POSITIONS + 1];  // of hull(0), ..., hull(d) in a family's pool

    int64_t table() const { return starts[positions.count]; }
};
// The touched terms of a family in the order of the fold.
struct Shape {
    int reduction = REDUCE_ADD, parts = 0;
    int64_t pool = 0;
    std::vector<Touched> terms;

    // Order the terms and give each its place in the pool.
    void arrange() {
        std::sort(terms.begin(), terms.end(), [](const Touched &a, const Touched &b) {
            return std::make_pair(a.positions.last(), a.term) < std::make_pair(b.positions.last(), b.term);
        });
        pool = 0;
        for (Touched &t : terms) {
            for (int j = 0; j <= t.positions.count; j++) {
                t.starts[j] = pool;
                pool += t.positions.combinations(j, parts);
            }
        }
    }
};

// The values of one family on the children: enclosures over them, or (as single numbers) values at one sample point of each.
struct Values {
    Range hoisted;
    std::vector<Range> pool, suffix;

    Range &entry(const Touched &t, int64_t combination) { return pool[t.table() + combination]; }
    // Once the tables stand: the hulls, and for each depth the fold of all terms that are wholly open there.
    void close(const Shape &s, int64_t split_count) {
        for (const Touched &t : s.terms)
            for (int j = t.positions.count; j-- > 0;) {
                const int64_t to = t.starts[j], from = t.starts[j + 1];
                for (int64_t i = 0; i < t.positions.combinations(j, s.parts); i++) {
                    Range found = pool[from + i * s.parts];
                    for (int k = 1; k < s.parts && !BROKEN(5); k++) found = hull_of(found, pool[from + i * s.parts + k]);
                    pool[to + i] = found;
                }
            }
        Range fold;
        make_neutral(s.reduction, fold);
        suffix.assign(static_cast<size_t>(split_count) + 1, fold);
        for (int64_t depth = split_count; depth-- > 0;) {
            for (const Touched &t : s.terms)
                if (t.positions.first() == depth) fold = met(s.reduction, fold, pool[t.starts[0]]);
            suffix[depth] = fold;
        }
    }
    Range at(const Shape &s, const Touched &t, const int *digits, int j) const {
        return pool[t.starts[j] + t.positions.number(digits, j, s.parts)];
    }
    // The fold of everything that the first `depth` digits fix, from `fold` on, which holds what the first `from` of them fix.
    Range folded(const Shape &s, const int *digits, int64_t depth, Range fold, int64_t from) const {
        for (const Touched &t : s.terms)
            if (t.positions.last() >= from && t.positions.last() < depth)
                fold = met(s.reduction, fold, at(s, t, digits, t.positions.count));
        return fold;
    }
    // The hull over every completion of the first `depth` digits, whose fold is given.
    Range closed(const Shape &s, const int *digits, int64_t depth, Range fold) const {
        bool open = false;
        for (const Touched &t : s.terms) {
            if (t.positions.first() >= depth) {
                open = true;
            } else if (t.positions.last() >= depth && !BROKEN(4)) {
                int fixed = 0;
                while (t.positions.at[fixed] < depth) fixed++;
                fold = met(s.reduction, fold, at(s, t, digits, fixed));
            }
        }
        return open && !BROKEN(3) ? met(s.reduction, fold, suffix[depth]) : fold;
    }
};

}  // namespace INFIMUM_NAMESPACE
