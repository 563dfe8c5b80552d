// Reverse operations of steps, comparisons and choices. Ends that are limits only (x < 1) belong to the closed result.
#pragma once
#include "arithmetic.h"

namespace INFIMUM_NAMESPACE {

// The integers of C, as an interval; empty where there are none.
template <class D>
INFIMUM_FN Interval<D> integers_of(Interval<D> c) {
    return empty_where(is_empty(c), Interval<D>{ceil_of(c.lo), floor_of(c.hi)});
}
// x cut to [r.lo, r.hi), or where `integers` is empty, nothing.
template <class D>
INFIMUM_FN Interval<D> below_end(Interval<D> integers, Interval<D> r, Interval<D> x) {
    const Mask<D> past = (x.lo >= r.hi) & (r.hi < D(INFIMUM_INF));
    return empty_where(is_empty(integers) | past, intersection(x, r));
}
template <class D>
INFIMUM_FN Interval<D> floor_rev(Interval<D> c, Interval<D> x) {
    const Interval<D> k = integers_of(c);
    return below_end(k, Interval<D>{k.lo, add_ru(k.hi, D(1.0))}, x);
}
template <class D>
INFIMUM_FN Interval<D> ceil_rev(Interval<D> c, Interval<D> x) {
    return neg(floor_rev(neg(c), neg(x)));
}
//   trunc(x) in k .. m: from k if k > 0, else from above k - 1; to m if m < 0, else to below m + 1.
template <class D>
INFIMUM_FN Interval<D> trunc_rev(Interval<D> c, Interval<D> x) {
    const D zero = D(0.0), one = D(1.0);
    const Interval<D> k = integers_of(c);
    const Interval<D> r = {select(k.lo > zero, k.lo, add_rd(k.lo, -one)), select(k.hi < zero, k.hi, add_ru(k.hi, one))};
    return empty_where(is_empty(k), intersection(x, r));
}
template <class D>
INFIMUM_FN Interval<D> round_ties_to_even_rev(Interval<D> c, Interval<D> x) {
    const Interval<D> k = integers_of(c);
    return empty_where(is_empty(k), intersection(x, Interval<D>{add_rd(k.lo, D(-0.5)), add_ru(k.hi, D(0.5))}));
}
template <class D>
INFIMUM_FN Interval<D> round_ties_to_away_rev(Interval<D> c, Interval<D> x) {
    return round_ties_to_even_rev(c, x);
}
//   C has     -1          0       1
//   lower     -inf        0       0, not itself
//   upper     0, not itself   0   +inf
template <class D>
INFIMUM_FN Interval<D> sign_rev(Interval<D> c, Interval<D> x) {
    const D zero = D(0.0), huge = D(INFIMUM_INF);
    const Mask<D> minus = has(c, D(-1.0)), none = has(c, zero), plus = has(c, D(1.0));
    const Interval<D> r = {select(minus, -huge, zero), select(plus, huge, zero)};
    const Mask<D> only_plus = plus & !(minus | none), only_minus = minus & !(plus | none);
    const Mask<D> nothing = (only_plus & (x.hi <= zero)) | (only_minus & (x.lo >= zero)) | !(minus | none | plus);
    return empty_where(nothing, intersection(x, r));
}

// ---------------------------------------------------------------------------------------------- comparisons
// What is left of x where the comparison's truth must lie in C: `yes` if C has only 1, `no` if only 0, x if both.
template <class D>
INFIMUM_FN Interval<D> by_truth(Interval<D> c, Interval<D> x, Interval<D> y, Interval<D> yes, Interval<D> no) {
    const Mask<D> can = has(c, D(1.0)), can_not = has(c, D(0.0));
    const Interval<D> r = choose(can, choose(can_not, x, yes), no);
    return empty_where(is_empty(x) | is_empty(y) | !(can | can_not), r);
}
// The part of x below, or strictly below, some point that may come close to y.hi; and above some point of y.
template <class D>
INFIMUM_FN Interval<D> at_most(Interval<D> x, Interval<D> y) {
    return intersection(x, Interval<D>{D(-INFIMUM_INF), y.hi});
}
template <class D>
INFIMUM_FN Interval<D> under(Interval<D> x, Interval<D> y) {
    return empty_where(x.lo >= y.hi, at_most(x, y));
}
template <class D>
INFIMUM_FN Interval<D> at_least(Interval<D> x, Interval<D> y) {
    return intersection(x, Interval<D>{y.lo, D(INFIMUM_INF)});
}
template <class D>
INFIMUM_FN Interval<D> beyond(Interval<D> x, Interval<D> y) {
    return empty_where(x.hi <= y.lo, at_least(x, y));
}
//               true: x ..     false: x ..      true: y ..     false: y ..
//   x <  y      < y.hi         >= y.lo          > x.lo         <= x.hi
//   x <= y      <= y.hi        > y.lo           >= x.lo        < x.hi
template <class D>
INFIMUM_FN Interval<D> is_less_rev1(Interval<D> c, Interval<D> x, Interval<D> y) {
    return by_truth(c, x, y, under(x, y), at_least(x, y));
}
template <class D>
INFIMUM_FN Interval<D> is_less_rev2(Interval<D> c, Interval<D> x, Interval<D> y) {
    return by_truth(c, y, x, beyond(y, x), at_most(y, x));
}
template <class D>
INFIMUM_FN Interval<D> is_less_equal_rev1(Interval<D> c, Interval<D> x, Interval<D> y) {
    return by_truth(c, x, y, at_most(x, y), beyond(x, y));
}
template <class D>
INFIMUM_FN Interval<D> is_less_equal_rev2(Interval<D> c, Interval<D> x, Interval<D> y) {
    return by_truth(c, y, x, at_least(y, x), under(y, x));
}
// x != y is possible for every x unless both are the same point.
template <class D>
INFIMUM_FN Interval<D> is_equal_rev1(Interval<D> c, Interval<D> x, Interval<D> y) {
    const Mask<D> same = (x.lo == x.hi) & (y.lo == y.hi) & (x.lo == y.lo);
    return by_truth(c, x, y, intersection(x, y), empty_where(same, x));
}
template <class D>
INFIMUM_FN Interval<D> is_equal_rev2(Interval<D> c, Interval<D> x, Interval<D> y) {
    return is_equal_rev1(c, y, x);
}

// ---------------------------------------------------------------------------------------------- where
// r = where(condition, a, b) in C. A branch that is not certainly taken stays as it is, even where it is empty: what is
// not taken is not bound by C.
//
//   condition   a                b
//   empty       empty            empty
//   [1, 1]      a and C          b
//   [0, 0]      a                b and C
//   else        a                b
template <class D>
INFIMUM_FN Interval<D> where_rev(Interval<D> condition, Interval<D> c, Interval<D> a) {
    const D one = D(1.0);
    const Mask<D> taken = (condition.lo == one) & (condition.hi == one);
    return empty_where(is_empty(condition) | is_empty(c), choose(taken, intersection(a, c), a));
}
template <class D>
INFIMUM_FN Interval<D> where_rev_other(Interval<D> condition, Interval<D> c, Interval<D> b) {
    const D zero = D(0.0);
    const Mask<D> taken = (condition.lo == zero) & (condition.hi == zero);
    return empty_where(is_empty(condition) | is_empty(c), choose(taken, intersection(b, c), b));
}
// The truth values that can still be: 1 if a meets C, 0 if b does. Here an empty a or b only rules its value out.
template <class D>
INFIMUM_FN Interval<D> where_rev_cond(Interval<D> c, Interval<D> a, Interval<D> b) {
    const Mask<D> can = !is_empty(intersection(a, c)), can_not = !is_empty(intersection(b, c));
    const Interval<D> r = {select(can_not, D(0.0), D(1.0)), select(can, D(1.0), D(0.0))};
    return empty_where(!(can | can_not), r);
}

}  // namespace INFIMUM_NAMESPACE
