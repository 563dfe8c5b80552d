// The terms that a split touches, and what their tables say about all children at once. A GPU's compiler reads this too.
//
// A term that reads split variables at positions p_1 < ... < p_d has parts^d values. Terms are folded in the order of their
// last position, then of their number. hull(j) of a term is indexed by the digits of its first j positions and holds the
// hull over all others; hull(d) is the table itself.
#pragma once
#include "numbers.h"

namespace INFIMUM_NAMESPACE {

enum { MOST_POSITIONS = 3 };

INFIMUM_FN int combinations(int parts, int count) {
    int found = 1;
    INFIMUM_ROLLED for (int i = 0; i < count; i++) found *= parts;
    return found;
}

// The positions that something reads, ascending: how many, then each of them, a byte each.
struct Positions {
    unsigned bytes;

    INFIMUM_METHOD int count() const { return static_cast<int>(bytes & 255); }
    INFIMUM_METHOD int at(int i) const { return static_cast<int>(bytes >> (8 * i + 8) & 255); }
    INFIMUM_METHOD int first() const { return at(0); }
    INFIMUM_METHOD int last() const { return at(count() - 1); }
    INFIMUM_METHOD int rows(int parts) const { return combinations(parts, count()); }
    // The number of the combination that the digits make of the first j positions, of one at least.
    template <class Digits>
    INFIMUM_METHOD int number(const Digits &digits, int j, int parts) const {
        int found = digits[first()];
        INFIMUM_ROLLED for (int i = 1; i < j; i++) found = found * parts + digits[at(i)];
        return found;
    }
    // The digits of combination `row` of all positions.
    INFIMUM_METHOD void digits(int row, int parts, int *found) const {
        INFIMUM_ROLLED for (int i = MOST_POSITIONS; i-- > 0;)
            if (i < count()) {
                found[i] = row % parts;
                row /= parts;
            }
    }
};

// What a child needs of a term, in one load: the positions that it reads, and where its hulls begin in the pool, those that are
// indexed by the first, by two and by three positions.
struct alignas(16) TermEntry {
    Positions positions;
    int starts[MOST_POSITIONS];

    INFIMUM_METHOD int start(int fixed) const { return fixed == 1 ? starts[0] : fixed == 2 ? starts[1] : starts[2]; }
    template <class Digits>
    INFIMUM_METHOD int place(const Digits &digits, int fixed, int parts) const {
        return start(fixed) + positions.number(digits, fixed, parts);
    }
};
struct Touched {
    TermEntry entry;
    int open, term;  // where the hull over everything lies; the term's number
};
// The touched terms of one family in the order of the fold.
struct TouchedTerms {
    const Touched *first, *last;
    int op, parts;
};

// The hulls of a term, once its table stands.
INFIMUM_FN void close_term(const Touched &t, int parts, Range *pool) {
    INFIMUM_ROLLED for (int j = t.entry.positions.count(); j-- > 0;) {
        const int rows = combinations(parts, j);
        const Range *from = pool + t.entry.starts[j];
        Range *hulls = pool + (j ? t.entry.starts[j - 1] : t.open);
        INFIMUM_ROLLED for (int i = 0; i < rows; i++, from += parts) {
            Range found = from[0];
            INFIMUM_ROLLED for (int k = 1; k < parts && !BROKEN(5); k++) found = hull_of(found, from[k]);
            hulls[i] = found;
        }
    }
}
// For each depth the fold of all terms that are wholly open there, once their hulls stand.
INFIMUM_FN void close_family(const TouchedTerms &s, const Range *pool, int split, Range *suffix) {
    Range fold;
    make_neutral(s.op, fold);
    suffix[split] = fold;
    INFIMUM_ROLLED for (int depth = split; depth-- > 0;) {
        INFIMUM_ROLLED for (const Touched *t = s.first; t < s.last; t++)
            if (t->entry.positions.first() == depth) fold = met(s.op, fold, pool[t->open]);
        suffix[depth] = fold;
    }
}
// A family on everything that begins with the first `depth` digits: what these fix, then hulls of what is partly open, then
// what is wholly open. Terms are in the order of their last position, so that one pass meets them in this order. `fold` holds
// what the first `from` digits fix.
template <class Digits>
INFIMUM_FN Range closed(const TouchedTerms &s, const Range *pool, const Range *suffix, const Digits &digits, int depth,
                        Range fold, int from) {
    bool open = false;
    INFIMUM_ROLLED for (const Touched *t = s.first; t < s.last; t++) {
        const TermEntry e = t->entry;
        if (e.positions.first() >= depth) {
            open = true;
            continue;
        }
        const int count = e.positions.count();
        int fixed = 1;
        INFIMUM_ROLLED while (fixed < count && e.positions.at(fixed) < depth) fixed++;
        if (e.positions.last() < from || (BROKEN(4) && fixed < count)) continue;
        fold = met(s.op, fold, pool[e.place(digits, fixed, s.parts)]);
    }
    return open && !BROKEN(3) ? met(s.op, fold, suffix[depth]) : fold;
}
// A family in plain doubles at the sample point of a child: the same fold.
template <class Digits>
INFIMUM_FN double value_of_family(const TouchedTerms &s, const Range *pool, const Digits &digits, double fold) {
    INFIMUM_ROLLED for (const Touched *t = s.first; t < s.last; t++) {
        const TermEntry e = t->entry;
        fold = met(s.op, fold, number_of(pool[e.place(digits, e.positions.count(), s.parts)]));
    }
    return fold;
}

}  // namespace INFIMUM_NAMESPACE
