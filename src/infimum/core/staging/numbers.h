// What staging computes with, one number or range at a time: reductions, hulls, fractions of a range. A GPU reads this too.
#pragma once
#include "../core.h"
#include "../points.h"

namespace INFIMUM_NAMESPACE {

typedef Interval<double> Range;
enum Reduction { REDUCE_ADD, REDUCE_MUL, REDUCE_MIN, REDUCE_MAX };

INFIMUM_FN double stored(double x) { return add_rn(x, 0.0); }
INFIMUM_FN Range stored(Range x) { return {stored(x.lo), stored(x.hi)}; }

// a o b as the virtual machine stores it: -0 becomes +0.
template <int op>
INFIMUM_FN Range met(Range a, Range b) {
    return stored(op == REDUCE_ADD ? add(a, b) : op == REDUCE_MUL ? mul(a, b) : op == REDUCE_MIN ? min(a, b) : max(a, b));
}
template <int op>
INFIMUM_FN double met(double a, double b) {
    return stored(op == REDUCE_ADD   ? point_add(a, b)
                  : op == REDUCE_MUL ? point_mul(a, b)
                  : op == REDUCE_MIN ? point_min(a, b)
                                     : point_max(a, b));
}
template <class T>
INFIMUM_FN T met(int op, T a, T b) {
    switch (op) {
        case REDUCE_ADD: return met<REDUCE_ADD>(a, b);
        case REDUCE_MUL: return met<REDUCE_MUL>(a, b);
        case REDUCE_MIN: return met<REDUCE_MIN>(a, b);
        default: return met<REDUCE_MAX>(a, b);
    }
}
// What changes nothing: t o neutral = t.
INFIMUM_FN double neutral_number(int op) {
    return op == REDUCE_ADD ? 0.0 : op == REDUCE_MUL ? 1.0 : op == REDUCE_MIN ? INFIMUM_INF : -INFIMUM_INF;
}
INFIMUM_FN void make_neutral(int op, double &x) { x = neutral_number(op); }
INFIMUM_FN void make_neutral(int op, Range &x) { x.lo = x.hi = neutral_number(op); }

INFIMUM_FN Range hull_of(Range a, Range b) { return {a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi}; }

// A number in plain doubles as a range that bounds may be made of, and back:
//   NaN, undefined        empty
//   an infinity           from the largest double on
//   else                  itself
INFIMUM_FN Range of_number(double x) {
    if (x != x) return empty_of<double>();
    return {x == INFIMUM_INF ? INFIMUM_MAX : x, x == -INFIMUM_INF ? -INFIMUM_MAX : x};
}
INFIMUM_FN double number_of(Range x) {
    return x.lo > x.hi ? not_a_number<double>() : x.hi == INFIMUM_INF ? x.hi : x.lo;
}

// ---------------------------------------------------------------------------------------------- fractions of a range
// The real line on [-1, 1], and back to finite numbers.
INFIMUM_FN double bent(double x) { return magnitude(x) == INFIMUM_INF ? (x > 0 ? 1.0 : -1.0) : x / (1 + magnitude(x)); }
INFIMUM_FN double clipped(double x, double lo, double hi) {
    const double raised = x > lo ? x : lo;
    return raised < hi ? raised : hi;
}
INFIMUM_FN double straight(double t) { return clipped(t / (1 - magnitude(t)), -INFIMUM_MAX, INFIMUM_MAX); }
// A finite point at this fraction of [lo, hi], on a bent scale where its width is no double: search/paper/partition.py's formula.
INFIMUM_FN double at_fraction(double lo, double hi, double fraction) {
    const double width = hi - lo;
    if (width < INFIMUM_INF) return lo + width * fraction;
    const double low = bent(lo), high = bent(hi);
    return clipped(straight(low + (high - low) * fraction), lo, hi);
}

// ---------------------------------------------------------------------------------------------- prefixes and samples
// A prefix's bound is lowered by this of its size: its own fold rounds in another order than its leaves'.
#define PREFIX_MARGIN 0x1p-40
// The search for a sample: rounds of the descent; how often prefixes are opened, how many together, and into how many each.
enum { MOST_ROUNDS = 12, MOST_SEARCHES = 6, MOST_TOGETHER = 8, MOST_LONGER = 16 };

}  // namespace INFIMUM_NAMESPACE
