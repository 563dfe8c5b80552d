// Intervals over a lane type D, and the operations whose ends are the exactly rounded ends of the exact range.
//
// An interval is a closed set of real numbers: lo <= hi, lo < +inf, hi > -inf, or the empty set, whose one representation
// is lo = +inf, hi = -inf. No NaN is ever stored. The sign of a zero carries no meaning; stores make it +0.
#pragma once
#include "machine.h"
#include "sites.h"

namespace INFIMUM_NAMESPACE {

template <class D>
struct Interval {
    D lo, hi;
};

template <class D>
INFIMUM_FN Mask<D> is_empty(Interval<D> x) {
    return x.lo > x.hi;
}
template <class D>
INFIMUM_FN Interval<D> empty_of() {
    return {D(INFIMUM_INF), D(-INFIMUM_INF)};
}
template <class D>
INFIMUM_FN Interval<D> entire_of() {
    return {D(-INFIMUM_INF), D(INFIMUM_INF)};
}
template <class D, class M>
INFIMUM_FN Interval<D> choose(M m, Interval<D> a, Interval<D> b) {
    return {select(m, a.lo, b.lo), select(m, a.hi, b.hi)};
}
// x, or the empty interval where the mask says so.
template <class D, class M>
INFIMUM_FN Interval<D> empty_where(M m, Interval<D> x) {
    return choose(m, empty_of<D>(), x);
}
// 0 in place of a NaN: the product 0*inf and the quotient 0/0 are 0 where they appear as interval ends.
template <class D>
INFIMUM_FN D zero_for_nan(D x) {
    return select(x == x, x, D(0.0));
}

// ---------------------------------------------------------------------------------------------- arithmetic
template <class D>
INFIMUM_FN Interval<D> neg(Interval<D> x) {
    return {-x.hi, -x.lo};
}
template <class D>
INFIMUM_FN Interval<D> add(Interval<D> x, Interval<D> y) {
    return empty_where(is_empty(x) | is_empty(y), Interval<D>{add_rd(x.lo, y.lo), add_ru(x.hi, y.hi)});
}
template <class D>
INFIMUM_FN Interval<D> sub(Interval<D> x, Interval<D> y) {
    return add(x, neg(y));
}

// The four products that can be an end; for every sign of x and y these hold the extremes:
//   lower: x.lo * (x.lo >= 0 ? y.lo : y.hi)   and   x.hi * (x.hi >= 0 ? y.lo : y.hi)
//   upper: x.lo * (x.lo >= 0 ? y.hi : y.lo)   and   x.hi * (x.hi >= 0 ? y.hi : y.lo)
template <class D>
INFIMUM_FN Interval<D> mul(Interval<D> x, Interval<D> y) {
    const Mask<D> p = x.lo >= D(0.0), q = x.hi >= D(0.0);
    const D a = select(p, y.lo, y.hi), b = select(q, y.lo, y.hi), c = select(p, y.hi, y.lo), d = select(q, y.hi, y.lo);
    const D lo = smaller(zero_for_nan(mul_rd(x.lo, a)), zero_for_nan(mul_rd(x.hi, b)));
    const D hi = larger(zero_for_nan(mul_ru(x.lo, c)), zero_for_nan(mul_ru(x.hi, d)));
    return empty_where(is_empty(x) | is_empty(y), Interval<D>{lo, hi});
}

// Division, after both operands are negated where y < 0 or y = [lo, 0]:
//   y                 lower                               upper
//   [0, 0]            empty
//   lo < 0 < hi       x = [0, 0]: 0, else entire
//   0 <= lo           x.lo / (x.lo >= 0 ? y.hi : y.lo)    x.hi / (x.hi >= 0 ? y.lo : y.hi)
// with y.lo = +0 the quotients are the infinities wanted, and 0/0 is 0. An interval has 0 strictly inside where
// max(lo, -hi) < 0, and is [0, 0] where max(hi, -lo) = 0; of an empty one that is -inf.
template <class D>
INFIMUM_FN Interval<D> div(Interval<D> x, Interval<D> y) {
    const D zero = D(0.0);
    const Mask<D> flip = y.hi <= zero;
    const Interval<D> mx = neg(x), my = neg(y), n = choose(flip, mx, x), d0 = choose(flip, my, y);
    const Interval<D> d = {add_rn(d0.lo, zero), d0.hi};  // -0 becomes +0
    const D lo = zero_for_nan(div_rd(n.lo, select(n.lo >= zero, d.hi, d.lo)));
    const D hi = zero_for_nan(div_ru(n.hi, select(n.hi >= zero, d.lo, d.hi)));
    const Mask<D> inside = larger(y.lo, my.lo) < zero, x_zero = larger(x.hi, mx.hi) == zero;
    const Interval<D> split = choose(x_zero, Interval<D>{zero, zero}, entire_of<D>());
    const Interval<D> r = choose(inside, split, Interval<D>{lo, hi});
    return empty_where(is_empty(x) | (larger(y.hi, my.hi) <= zero), r);
}
template <class D>
INFIMUM_FN Interval<D> recip(Interval<D> x) {
    return div(Interval<D>{D(1.0), D(1.0)}, x);
}

// The least and the largest |x|; of an empty interval the empty one, without a comparison.
template <class D>
INFIMUM_FN Interval<D> abs(Interval<D> x) {
    return {larger(larger(x.lo, -x.hi), D(0.0)), larger(x.hi, -x.lo)};
}
template <class D>
INFIMUM_FN Interval<D> sqr(Interval<D> x) {
    const Interval<D> m = abs(x);
    return empty_where(is_empty(x), Interval<D>{mul_rd(m.lo, m.lo), mul_ru(m.hi, m.hi)});
}
template <class D>
INFIMUM_FN Interval<D> sqrt(Interval<D> x) {
    const D lo = larger(x.lo, D(0.0)), hi = larger(x.hi, D(0.0));
    return empty_where(x.hi < D(0.0), Interval<D>{sqrt_rd(lo), sqrt_ru(hi)});
}

// x*y + z: the products as in mul, each added to the end of z in one rounding. 0*inf is 0; an infinite end of z wins.
template <class D>
INFIMUM_FN Interval<D> fma(Interval<D> x, Interval<D> y, Interval<D> z) {
    const D zero = D(0.0);
    const Mask<D> p = x.lo >= zero, q = x.hi >= zero;
    const D a = select(p, y.lo, y.hi), b = select(q, y.lo, y.hi), c = select(p, y.hi, y.lo), d = select(q, y.hi, y.lo);
    const Mask<D> za = (x.lo == zero) | (a == zero), zb = (x.hi == zero) | (b == zero);
    const Mask<D> zc = (x.lo == zero) | (c == zero), zd = (x.hi == zero) | (d == zero);
    const D l1 = select(za, z.lo, fma_rd(x.lo, a, z.lo)), l2 = select(zb, z.lo, fma_rd(x.hi, b, z.lo));
    const D h1 = select(zc, z.hi, fma_ru(x.lo, c, z.hi)), h2 = select(zd, z.hi, fma_ru(x.hi, d, z.hi));
    const D lo = select(z.lo == D(-INFIMUM_INF), z.lo, smaller(l1, l2));
    const D hi = select(z.hi == D(INFIMUM_INF), z.hi, larger(h1, h2));
    return empty_where(is_empty(x) | is_empty(y) | is_empty(z), Interval<D>{lo, hi});
}

// ---------------------------------------------------------------------------------------------- exact selections
template <class D>
INFIMUM_FN Interval<D> min(Interval<D> x, Interval<D> y) {
    return empty_where(is_empty(x) | is_empty(y), Interval<D>{smaller(x.lo, y.lo), smaller(x.hi, y.hi)});
}
template <class D>
INFIMUM_FN Interval<D> max(Interval<D> x, Interval<D> y) {
    return empty_where(is_empty(x) | is_empty(y), Interval<D>{larger(x.lo, y.lo), larger(x.hi, y.hi)});
}
template <class D>
INFIMUM_FN Interval<D> hull(Interval<D> x, Interval<D> y) {
    return {smaller(x.lo, y.lo), larger(x.hi, y.hi)};
}
template <class D>
INFIMUM_FN Interval<D> intersection(Interval<D> x, Interval<D> y) {
    const Interval<D> r = {larger(x.lo, y.lo), smaller(x.hi, y.hi)};
    return empty_where(is_empty(r), r);
}

// ---------------------------------------------------------------------------------------------- truth
// A comparison over boxes is [1, 1] where it holds for all points, [0, 0] where for none, [0, 1] where that is open, and
// empty where an operand is.
//
//            all                    none
//   x <  y   x.hi <  y.lo           x.lo >= y.hi
//   x <= y   x.hi <= y.lo           x.lo >  y.hi
//   x == y   both one point         x.hi < y.lo or y.hi < x.lo
template <class D>
INFIMUM_FN Interval<D> truth(Mask<D> nothing, Mask<D> all, Mask<D> none) {
    return empty_where(nothing, Interval<D>{select(all, D(1.0), D(0.0)), select(none, D(0.0), D(1.0))});
}
template <class D>
INFIMUM_FN Interval<D> is_less(Interval<D> x, Interval<D> y) {
    return truth<D>(is_empty(x) | is_empty(y), x.hi < y.lo, x.lo >= y.hi);
}
template <class D>
INFIMUM_FN Interval<D> is_less_equal(Interval<D> x, Interval<D> y) {
    return truth<D>(is_empty(x) | is_empty(y), x.hi <= y.lo, x.lo > y.hi);
}
template <class D>
INFIMUM_FN Interval<D> is_equal(Interval<D> x, Interval<D> y) {
    return truth<D>(is_empty(x) | is_empty(y), (x.hi == y.lo) & (x.lo == y.hi), (x.hi < y.lo) | (y.hi < x.lo));
}
//   condition   result
//   empty       empty
//   [1, 1]      x
//   [0, 0]      y
//   else        hull of x and y; an empty one adds nothing
template <class D>
INFIMUM_FN Interval<D> where(Interval<D> condition, Interval<D> x, Interval<D> y) {
    const D zero = D(0.0), one = D(1.0);
    const Mask<D> yes = (condition.lo == one) & (condition.hi == one), no = (condition.lo == zero) & (condition.hi == zero);
    return empty_where(is_empty(condition), choose(yes, x, choose(no, y, hull(x, y))));
}

// ---------------------------------------------------------------------------------------------- steps
template <class D>
INFIMUM_FN D ceil_of(D x) {
    return -floor_of(-x);
}
template <class D>
INFIMUM_FN D trunc_of(D x) {
    return select(x < D(0.0), ceil_of(x), floor_of(x));
}
template <class D>
INFIMUM_FN D round_away(D x) {
    const D m = magnitude(x), t = floor_of(m);  // m - t is exact; above 2^52 it is 0, and inf - inf compares false
    const D r = select(sub_rn(m, t) >= D(0.5), add_rn(t, D(1.0)), t);
    return select(x < D(0.0), -r, r);
}
template <class D>
INFIMUM_FN D sign_of(D x) {
    return select(x > D(0.0), D(1.0), select(x < D(0.0), D(-1.0), D(0.0)));
}
#define INFIMUM_STEP(name, function)                                                     \
    template <class D>                                                                   \
    INFIMUM_FN Interval<D> name(Interval<D> x) {                                         \
        return empty_where(is_empty(x), Interval<D>{function(x.lo), function(x.hi)});    \
    }
INFIMUM_STEP(floor, floor_of)
INFIMUM_STEP(ceil, ceil_of)
INFIMUM_STEP(trunc, trunc_of)
INFIMUM_STEP(round_ties_to_even, round_even)
INFIMUM_STEP(round_ties_to_away, round_away)
INFIMUM_STEP(sign, sign_of)
#undef INFIMUM_STEP

// The ends of a range of integers, as points where there is no integer between them; else the whole range. Below 2^53
// differences of integers are exact, above they are 0 or at least 2.
template <class D>
INFIMUM_FN Mask<D> is_one_jump(Interval<D> x) {
    return (sub_rn(x.hi, x.lo) <= D(1.0)) & !is_empty(x);
}
template <class D>
INFIMUM_FN Interval<D> step_low(Interval<D> x) {
    return {x.lo, select(is_one_jump(x), x.lo, x.hi)};
}
template <class D>
INFIMUM_FN Interval<D> step_high(Interval<D> x) {
    return {select(is_one_jump(x), x.hi, x.lo), x.hi};
}

// ---------------------------------------------------------------------------------------------- numbers of an interval
// Each returns its value as both ends; of the empty interval NaN, as the standard has it.
template <class D, class M>
INFIMUM_FN Interval<D> number(M is_nan, D value) {
    const D nan = sub_rn(D(INFIMUM_INF), D(INFIMUM_INF));
    const D v = select(is_nan, nan, value);
    return {v, v};
}
//   lo       hi       midpoint
//   -inf     +inf     0
//   -inf     finite   -MAX
//   finite   +inf     MAX
//   finite   finite   nearest to the exact midpoint
template <class D>
INFIMUM_FN D midpoint(Interval<D> x) {
    const D half = D(0.5), sum = add_rn(x.lo, x.hi);
    const Mask<D> overflow = !(magnitude(sum) < D(INFIMUM_INF));
    const D finite = select(overflow, add_rn(mul_rn(x.lo, half), mul_rn(x.hi, half)), mul_rn(sum, half));
    const Mask<D> left = x.lo == D(-INFIMUM_INF), right = x.hi == D(INFIMUM_INF);
    return select(left, select(right, D(0.0), D(-INFIMUM_MAX)), select(right, D(INFIMUM_MAX), finite));
}
template <class D>
INFIMUM_FN Interval<D> mid(Interval<D> x) {
    return number(is_empty(x), midpoint(x));
}
template <class D>
INFIMUM_FN Interval<D> rad(Interval<D> x) {
    const D m = midpoint(x);
    return number(is_empty(x), larger(add_ru(m, -x.lo), add_ru(x.hi, -m)));
}
template <class D>
INFIMUM_FN Interval<D> wid(Interval<D> x) {
    return number(is_empty(x), add_ru(x.hi, -x.lo));
}
template <class D>
INFIMUM_FN Interval<D> mag(Interval<D> x) {
    return number(is_empty(x), larger(magnitude(x.lo), magnitude(x.hi)));
}
template <class D>
INFIMUM_FN Interval<D> mig(Interval<D> x) {
    return number(is_empty(x), abs(x).lo);
}

}  // namespace INFIMUM_NAMESPACE
