// Functions that continue u log(u), sin(u)/u, expm1(u)/u and sinh(u)/u to where these have a limit but no value: what
// enclosures of such products and quotients are met with (passes/sharper/limits).
//
//   function       at the edge     monotone pieces
//   x_log_x        0 at 0          falls on [0, 1/e], rises on [1/e, inf); nothing below 0
//   sin_over_x     1 at 0          even; falls on [0, 4.4934...], where tan(u) = u
//   expm1_over_x   1 at 0          rises; 0 at -inf
//   sinh_over_x    1 at 0          even; rises on [0, inf)
// The first two are one directed operation on both ends of the function that they are made of, the others a quotient in
// double-double of a kernel (2^-58 at most): below 2^-57.
#pragma once
#include "hyperbolic.h"
#include "trig.h"

namespace INFIMUM_NAMESPACE {

template <class D>
INFIMUM_FN Interval<D> at(D x) {
    return {x, x};
}
// Below 2^-60 each quotient is 1 up to 2^-61: between 1 and the next double on its side. 1 stands for such an argument.
template <class D>
INFIMUM_FN Mask<D> is_tiny(D u) {
    return magnitude(u) < D(0x1p-60);
}
template <class D>
INFIMUM_FN Interval<D> below_one(D u) {
    return {select(u == D(0.0), D(1.0), K(0x1.fffffffffffffp-1)), D(1.0)};
}
template <class D>
INFIMUM_FN Interval<D> above_one(D u) {
    return {D(1.0), select(u == D(0.0), D(1.0), D(0x1.0000000000001p0))};
}

// u log(u) for 0 <= u < inf.
template <class D>
INFIMUM_FN Interval<D> x_log_x_point(D u) {
    const Interval<D> y = log(at(positive_finite(u)));
    return {mul_rd(u, y.lo), mul_ru(u, y.hi)};
}
//   hi <= 1/e              [value at hi, value at lo]
//   lo >= 1/e              [value at lo, value at hi]
//   else                   [-1/e, the larger value]
template <class D>
INFIMUM_LONG_FN Interval<D> x_log_x(Interval<D> x) {
    const D zero = D(0.0), one = D(1.0), e = K(0x1.5bf0a8b145769p1);  // below the real one
    const D lo = larger(x.lo, zero), hi = smaller(larger(x.hi, zero), D(INFIMUM_MAX));
    const Interval<D> a = x_log_x_point(lo), b = x_log_x_point(hi);
    const Mask<D> falls = hi <= K(0x1.78b56362cef37p-2), rises = mul_rd(lo, e) >= one;
    const D least = select(falls, b.lo, select(rises, a.lo, -div_ru(one, e)));
    const D most = select(falls, a.hi, select(rises, b.hi, larger(a.hi, b.hi)));
    const Interval<D> r = {least, select(x.hi == D(INFIMUM_INF), x.hi, most)};
    return empty_where(is_empty(x) | (x.hi < zero), r);
}

// sin(u)/u for 0 <= u <= 4.4934.
template <class D>
INFIMUM_FN Interval<D> sin_over_x_point(D u) {
    const Mask<D> tiny = is_tiny(u);
    const D v = select(tiny, D(1.0), u);
    const Interval<D> y = sin(at(v));
    return choose(tiny, below_one(u), Interval<D>{div_rd(y.lo, v), div_ru(y.hi, v)});
}
// With m = |x|, and |sin(u)/u| <= 1/u:
//   m.hi <= 4.4934         [value at m.hi, value at m.lo]
//   else                   from the least value of all or -1/m.lo, to the value at m.lo (if m.lo <= 4.4934) or the largest
//                          beyond: 0.12837 at 7.7253, below 1/7.78970576749, or 1/m.lo
template <class D>
INFIMUM_LONG_FN Interval<D> sin_over_x(Interval<D> x) {
    const D one = D(1.0), turn = K(0x1.1f940543506acp2);
    const Interval<D> m = abs(x);
    const D lo = smaller(m.lo, turn), hi = smaller(m.hi, turn);
    const Interval<D> a = sin_over_x_point(lo), b = sin_over_x_point(hi);
    const Mask<D> near = m.hi <= turn, begins = m.lo <= turn;
    const D least = select(near, b.lo, -div_ru(one, larger(m.lo, K(4.60333884875169))));
    const D beyond = div_ru(one, larger(m.lo, K(7.78970576749)));
    const D most = select(near, a.hi, select(begins, larger(a.hi, beyond), beyond));
    return empty_where(is_empty(x), Interval<D>{least, smaller(most, one)});
}

#define INFIMUM_LIMITS_ARGUED BOUND(0x1p-57)

// expm1(u)/u. Beyond 720 it is above MAX; below -50 expm1(u) is -1 up to 2^-72, below -2^100 the quotient of 1 is rounded.
template <class D>
INFIMUM_FN Interval<D> expm1_over_x_point(D u) {
    const Mask<D> tiny = is_tiny(u), far = u < D(-0x1p100);
    const D v = select(tiny | far, D(1.0), smaller(u, D(720.0)));
    D k;
    const DD<D> y = over(expm1_point(larger(v, D(-50.0)), k), dd(v));
    const Interval<D> near = {scale_down(below(y, INFIMUM_LIMITS_ARGUED), k), scale_up(above(y, INFIMUM_LIMITS_ARGUED), k)};
    const D size = magnitude(u);
    const Interval<D> small = choose(u < D(0.0), below_one(u), above_one(u));
    return choose(tiny, small, choose(far, Interval<D>{div_rd(K(0x1.fffffffffffffp-1), size), div_ru(D(1.0), size)}, near));
}
template <class D>
INFIMUM_LONG_FN Interval<D> expm1_over_x(Interval<D> x) {
    const Interval<D> r = {expm1_over_x_point(x.lo).lo, expm1_over_x_point(x.hi).hi};
    return empty_where(is_empty(x), r);
}
// sinh(u)/u for u >= 0. Beyond 720 it is above MAX.
template <class D>
INFIMUM_FN Interval<D> sinh_over_x_point(D u) {
    const Mask<D> tiny = is_tiny(u);
    const D v = select(tiny, D(1.0), smaller(u, D(720.0)));
    D k;
    const DD<D> y = over(sinh_point(v, k), dd(v));
    const D shift = sub_rn(k, D(1.0)), lo = scale_down(below(y, INFIMUM_LIMITS_ARGUED), shift);
    return choose(tiny, above_one(u), Interval<D>{larger(lo, D(1.0)), scale_up(above(y, INFIMUM_LIMITS_ARGUED), shift)});
}
template <class D>
INFIMUM_LONG_FN Interval<D> sinh_over_x(Interval<D> x) {
    const Interval<D> m = abs(x);
    return empty_where(is_empty(x), Interval<D>{sinh_over_x_point(m.lo).lo, sinh_over_x_point(m.hi).hi});
}

}  // namespace INFIMUM_NAMESPACE
