// What staging computes with, one number or range at a time: reductions, hulls, fractions of a range, signs of slopes.
// A GPU's compiler reads this too.
#pragma once
#include "../codes.h"
#include "../core.h"
#include "../points.h"
#include "../broken.h"
#include "../fractions.h"

// The reductions that occur, a bit each: the text of a kernel for sums has no code for products.
#ifndef INFIMUM_REDUCTIONS
#define INFIMUM_REDUCTIONS 15
#endif

namespace INFIMUM_NAMESPACE {

typedef Interval<double> Range;

INFIMUM_FN double stored(double x) { return add_rn(x, 0.0); }
INFIMUM_FN Range stored(Range x) { return {stored(x.lo), stored(x.hi)}; }

// a o b as the virtual machine stores it: -0 becomes +0.
template <int op>
INFIMUM_FN Range met(Range a, Range b) {
    return stored(op == INFIMUM_REDUCTION_ADD   ? add(a, b)
                  : op == INFIMUM_REDUCTION_MUL ? mul(a, b)
                  : op == INFIMUM_REDUCTION_MIN ? min(a, b)
                                                : max(a, b));
}
template <int op>
INFIMUM_FN double met(double a, double b) {
    return stored(op == INFIMUM_REDUCTION_ADD   ? point_add(a, b)
                  : op == INFIMUM_REDUCTION_MUL ? point_mul(a, b)
                  : op == INFIMUM_REDUCTION_MIN ? point_min(a, b)
                                                : point_max(a, b));
}
template <class T>
INFIMUM_FN T met_inline(int op, T a, T b) {
    constexpr infimum_reduction ADD = INFIMUM_REDUCTION_ADD, MUL = INFIMUM_REDUCTION_MUL, MIN = INFIMUM_REDUCTION_MIN;
    constexpr int OCCUR = INFIMUM_REDUCTIONS;
    if ((OCCUR & 1 << ADD) && (OCCUR == 1 << ADD || op == ADD)) return met<ADD>(a, b);
    if ((OCCUR & 1 << MUL) && (OCCUR < 2 << MUL || op == MUL)) return met<MUL>(a, b);
    if ((OCCUR & 1 << MIN) && (OCCUR < 2 << MIN || op == MIN)) return met<MIN>(a, b);
    return met<INFIMUM_REDUCTION_MAX>(a, b);
}
// On a GPU products of ranges are calls.
INFIMUM_LONG_FN Range met_called(int op, Range a, Range b) { return met_inline(op, a, b); }
INFIMUM_FN double met(int op, double a, double b) { return met_inline(op, a, b); }
INFIMUM_FN Range met(int op, Range a, Range b) {
    return INFIMUM_REDUCTIONS == 1 << INFIMUM_REDUCTION_ADD ? met_inline(op, a, b) : met_called(op, a, b);
}
// What changes nothing: t o neutral = t.
INFIMUM_FN double neutral_number(int op) {
    if (op == INFIMUM_REDUCTION_ADD) return 0.0;
    if (op == INFIMUM_REDUCTION_MUL) return 1.0;
    return op == INFIMUM_REDUCTION_MIN ? INFIMUM_INF : -INFIMUM_INF;
}
INFIMUM_FN void make_neutral(int op, double &x) { x = neutral_number(op); }
INFIMUM_FN void make_neutral(int op, Range &x) { x.lo = x.hi = neutral_number(op); }

INFIMUM_FN bool is_possible(Range z) { return z.lo <= z.hi; }
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

// ---------------------------------------------------------------------------------------------- prefixes and samples
// A prefix's bound is lowered by this of its size: its own fold rounds in another order than its leaves'.
#define PREFIX_MARGIN 0x1p-40
INFIMUM_FN double prefix_bound(double lo) { return lo - magnitude(lo) * PREFIX_MARGIN; }
// Whether a prefix with this bound may hold a better sample than one of this value, by more than rounding.
INFIMUM_FN bool is_worth(double value, double bound) {
    if (value == INFIMUM_INF) return bound < INFIMUM_INF;
    return bound < value - magnitude(value) * PREFIX_MARGIN;
}
// A sample point's coordinate: a fraction of the range, inside the domain.
INFIMUM_FN double sample_in(Range x, double fraction, double inner_lo, double inner_hi) {
    const double at = at_fraction(x.lo, x.hi, fraction);
    return BROKEN(6) ? at : clipped(at, inner_lo, inner_hi);
}
// The search for a sample: rounds of the descent; how often prefixes are opened, how many together, and into how many each.
enum { MOST_ROUNDS = 12, MOST_SEARCHES = 6, MOST_TOGETHER = 8, MOST_LONGER = 16 };

// ---------------------------------------------------------------------------------------------- slopes
// Whether a slope says that no minimiser lies in a range of its variable. An empty slope, which exists nowhere, says nothing.
//   slope      range                             discards
//   all > 0    begins inside the domain          yes: to the left there is less
//   all < 0    ends inside the domain            yes
//   else       any                               no
INFIMUM_FN bool discards(Range slope, Range x, double domain_lo, double domain_hi) {
    const bool left = x.lo == domain_lo && !BROKEN(1), right = x.hi == domain_hi && !BROKEN(1);
    const bool rising = (BROKEN(2) ? slope.hi : slope.lo) > 0 && !left, falling = slope.hi < 0 && !right;
    return (rising || falling) && slope.lo <= slope.hi;
}

}  // namespace INFIMUM_NAMESPACE
