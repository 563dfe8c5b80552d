// atan, asin, acos, atan2: all are the angle of a point (X, Y), Y >= 0, in double-double.
//
//   angle(Y, X), with n = min(Y, |X|), d = max(Y, |X|), j = round(4 n/d), c = j/4, t = (n - c d)/(d + c n), |t| <= 1/8:
//   atan(n/d) = atan(c) + atan(t)
//   Y <= |X|    X >= 0: atan(n/d)           X < 0: pi - atan(n/d)
//   Y >  |X|    X >= 0: pi/2 - atan(n/d)    X < 0: pi/2 + atan(n/d)
// Error: t costs under six double-double operations (2^-100 each, no cancellation beyond the exact c), the kernel 2^-60;
// with j > 0 the result exceeds 0.2 and t's share is below 0.125; pi/2 - atan(n/d) >= pi/4. Below 2^-58 in all.
#pragma once
#include "../bits.h"
#include "log.h"

namespace INFIMUM_NAMESPACE {

#define INFIMUM_ATAN_ARGUED BOUND(0x1p-57)

// atan(t) for |t| <= 0.12502: t + t z (-1/3 + z A(z)), z = t^2.
template <class D>
INFIMUM_FN DD<D> atan_kernel(DD<D> s) {
    const D zh = mul_rn(s.h, s.h), zl = fma_rn(add_rn(s.h, s.h), s.l, fma_rn(s.h, s.h, -zh));
    D t = K(0x1.cd35ec80d1b1dp-5);
    t = fma_rn(t, zh, K(-0x1.10e1258194f72p-4));
    t = fma_rn(t, zh, K(0x1.3b13501922306p-4));
    t = fma_rn(t, zh, K(-0x1.745d170687ec1p-4));
    t = fma_rn(t, zh, K(0x1.c71c71c748f88p-4));
    t = fma_rn(t, zh, K(-0x1.249249249267fp-3));
    t = fma_rn(t, zh, K(0x1.999999999999ap-3));
    const D a = mul_rn(zh, t), c = K(-0x1.5555555555555p-2);
    const D uh = add_rn(c, a), ul = fma_rn(zl, t, add_rn(sub_rn(a, sub_rn(uh, c)), K(-0x1.5555555555555p-56)));
    const D vh = mul_rn(zh, uh), vl = add_rn(fma_rn(zh, uh, -vh), fma_rn(zh, ul, mul_rn(zl, uh)));
    const D wh = mul_rn(s.h, vh), wl = add_rn(fma_rn(s.h, vh, -wh), fma_rn(s.h, vl, mul_rn(s.l, vh)));
    return fast_two_sum(s.h, add_rn(wh, add_rn(s.l, wl)));
}
// atan(n/d) for 0 <= n <= d, d normal and n/d not overflowing.
template <class D>
INFIMUM_FN DD<D> atan_ratio(DD<D> n, DD<D> d) {
    const D c = mul_rn(round_even(mul_rn(D(4.0), div_rn(n.h, d.h))), D(0.25));
    const DD<D> t = over(minus(n, times(d, c)), plus(d, times(n, c)));
    const Mask<D> c1 = c == D(0.25), c2 = c == D(0.5), c3 = c == D(0.75), c4 = c == D(1.0);
    DD<D> base = dd(D(0.0));
    base = choose(c1, DD<D>{K(0x1.f5b75f92c80ddp-3), K(0x1.8ab6e3cf7afbdp-57)}, base);
    base = choose(c2, DD<D>{K(0x1.dac670561bb4fp-2), K(0x1.a2b7f222f65e2p-56)}, base);
    base = choose(c3, DD<D>{K(0x1.4978fa3269ee1p-1), K(0x1.2419a87f2a458p-56)}, base);
    base = choose(c4, DD<D>{K(0x1.921fb54442d18p-1), K(0x1.1a62633145c07p-55)}, base);
    return plus(base, atan_kernel(t));
}
template <class D>
INFIMUM_FN DD<D> angle(DD<D> y, DD<D> x) {
    const Mask<D> left = x.h < D(0.0);
    const DD<D> ax = choose(left, -x, x);
    const Mask<D> steep = y.h > ax.h;
    const DD<D> a = atan_ratio(choose(steep, ax, y), choose(steep, y, ax));
    const DD<D> half_pi = {K(0x1.921fb54442d18p0), K(0x1.1a62633145c07p-54)};
    const DD<D> pi = {K(0x1.921fb54442d18p1), K(0x1.1a62633145c07p-53)};
    const DD<D> base = choose(steep, half_pi, choose(left, pi, dd(D(0.0))));
    // the sign of a: -  steep and right, or flat and left;  +  otherwise
    const Mask<D> minus_a = select(steep, !left, left);
    return plus(base, choose(minus_a, -a, a));
}

template <class D>
INFIMUM_FN DD<D> atan_point(D x) {
    const D m = smaller(magnitude(x), D(0x1p1000));
    const DD<D> a = angle(dd(m), dd(D(1.0)));
    return choose(x < D(0.0), -a, a);
}
// |x| is cut at 2^1000, where atan is pi/2 - 2^-1000; at an infinite end the bound's pad covers the difference.
template <class D>
INFIMUM_LONG_FN Interval<D> atan(Interval<D> x) {
    const D lo = below(atan_point(x.lo), INFIMUM_ATAN_ARGUED, x.lo == D(0.0));
    const D hi = above(atan_point(x.hi), INFIMUM_ATAN_ARGUED, x.hi == D(0.0));
    return empty_where(is_empty(x), Interval<D>{lo, hi});
}

// sqrt(1 - x^2) = sqrt((1 - |x|)(1 + |x|)): both factors exact in double-double.
template <class D>
INFIMUM_FN DD<D> cofactor(D m) {
    return root(times(two_sum(D(1.0), -m), two_sum(D(1.0), m)));
}
template <class D>
INFIMUM_FN DD<D> asin_point(D x) {
    const D m = magnitude(x);
    const DD<D> a = angle(dd(m), cofactor(m));
    return choose(x < D(0.0), -a, a);
}
template <class D>
INFIMUM_LONG_FN Interval<D> asin(Interval<D> x) {
    const D a = clamped(x.lo, -1.0, 1.0), b = clamped(x.hi, -1.0, 1.0);
    const Interval<D> r = {below(asin_point(a), INFIMUM_ATAN_ARGUED, a == D(0.0)),
                           above(asin_point(b), INFIMUM_ATAN_ARGUED, b == D(0.0))};
    return empty_where(is_empty(x) | (x.lo > D(1.0)) | (x.hi < D(-1.0)), r);
}
template <class D>
INFIMUM_LONG_FN Interval<D> acos(Interval<D> x) {
    const D a = clamped(x.lo, -1.0, 1.0), b = clamped(x.hi, -1.0, 1.0);
    const DD<D> at_a = angle(cofactor(magnitude(a)), dd(a)), at_b = angle(cofactor(magnitude(b)), dd(b));
    const Interval<D> r = {below(at_b, INFIMUM_ATAN_ARGUED, b == D(1.0)), above(at_a, INFIMUM_ATAN_ARGUED, a == D(1.0))};
    return empty_where(is_empty(x) | (x.lo > D(1.0)) | (x.hi < D(-1.0)), r);
}

// angle(Y, X) of doubles of any size, not both 0, Y >= 0 or infinite: scaled so that the larger is in [1, 2). What
// underflows in the smaller is below 2^-1074, which the margin's absolute part, taken twice here, covers.
template <class D>
INFIMUM_FN DD<D> angle_scaled(D y, D x) {
    const D huge = D(INFIMUM_INF);
    const Mask<D> iy = y == huge, ix = magnitude(x) == huge;
    const Mask<D> any_inf = iy | ix;
    // infinite coordinates by their limits: (inf, finite) -> (1, 0), (finite, +-inf) -> (0, +-1), (inf, +-inf) -> (1, +-1)
    const D fy = select(any_inf, select(iy, D(1.0), D(0.0)), y);
    const D fx = select(any_inf, select(ix, sign_of(x), D(0.0)), x);
    const D m = larger(fy, magnitude(fx));
    const D e = full_exponent(m), half = round_even(mul_rn(e, D(0.5))), rest = sub_rn(e, half);
    const D sy = mul_rn(mul_rn(fy, pow2(-half)), pow2(-rest)), sx = mul_rn(mul_rn(fx, pow2(-half)), pow2(-rest));
    return angle(dd(sy), dd(sx));
}
template <class D>
INFIMUM_FN D angle_below(D y, D x) {
    const Mask<D> zero = (y == D(0.0)) & (x >= D(0.0));
    const DD<D> a = angle_scaled(y, x);
    const D lo = add_rd(a.h, add_rd(a.l, -add_rn(margin(a, INFIMUM_ATAN_ARGUED), D(INFIMUM_TINY))));
    return select(zero, D(0.0), larger(lo, D(0.0)));
}
template <class D>
INFIMUM_FN D angle_above(D y, D x) {
    const Mask<D> zero = (y == D(0.0)) & (x >= D(0.0));
    const DD<D> a = angle_scaled(y, x);
    const D hi = add_ru(a.h, add_ru(a.l, add_rn(margin(a, INFIMUM_ATAN_ARGUED), D(INFIMUM_TINY))));
    return select(zero, D(0.0), hi);
}

// atan2(y, x) over the box without the origin. The cut is y = 0, x < 0, where the value is pi and -pi is the limit.
//
//   box                                  lower end                              upper end
//   x = [0, 0], y = [0, 0]               empty
//   x = [0, 0]                           y.lo < 0: -pi/2, else pi/2             y.hi > 0: pi/2, else -pi/2
//   cut: y.lo < 0 <= y.hi, x.lo < 0      -pi                                    pi
//   y.lo >= 0                            angle(x.hi > 0 ? y.lo : y.hi, x.hi)
//   y.lo < 0                             -angle(x.lo < 0 ? -y.hi : -y.lo, x.lo)
//   y.hi >= 0                                                                   angle(x.lo < 0 ? y.lo : y.hi, x.lo)
//   y.hi < 0                                                                    -angle(x.hi > 0 ? -y.hi : -y.lo, x.hi)
//   y = [0, 0], x.hi <= 0                pi                                     pi
// A corner at the origin (Y = 0, X = 0) gives angle 0, which is the limit along the positive axis inside the box, or is
// covered by the rows for x = [0, 0] and y = [0, 0].
template <class D>
INFIMUM_LONG_FN Interval<D> atan2(Interval<D> y, Interval<D> x) {
    const D zero = D(0.0);
    const D pi_lo = D(0x1.921fb54442d18p1), pi_hi = D(0x1.921fb54442d19p1);
    const Mask<D> y_up = y.lo >= zero, y_down = y.hi < zero;
    const D low_y = select(y_up, select(x.hi > zero, y.lo, y.hi), select(x.lo < zero, -y.hi, -y.lo));
    const D low_x = select(y_up, x.hi, x.lo);
    const D high_y = select(y_down, select(x.hi > zero, -y.hi, -y.lo), select(x.lo < zero, y.lo, y.hi));
    const D high_x = select(y_down, x.hi, x.lo);
    const Mask<D> flat = (y.lo == zero) & (y.hi == zero), line = (x.lo == zero) & (x.hi == zero);
    const Mask<D> back = flat & (x.hi <= zero);
    const D lo0 = select(y_up, angle_below(low_y, low_x), -angle_above(low_y, low_x));
    const D hi0 = select(y_down, -angle_below(high_y, high_x), angle_above(high_y, high_x));
    const D half_lo = mul_rn(pi_lo, D(0.5)), half_hi = mul_rn(pi_hi, D(0.5));
    const Interval<D> upright = {select(y.lo < zero, -half_hi, half_lo), select(y.hi > zero, half_hi, -half_lo)};
    const Mask<D> cut = (y.lo < zero) & (y.hi >= zero) & (x.lo < zero);
    Interval<D> r = {larger(lo0, -pi_hi), smaller(hi0, pi_hi)};
    r = choose(line, upright, r);
    r = choose(back, Interval<D>{pi_lo, pi_hi}, r);
    r = choose(cut, Interval<D>{-pi_hi, pi_hi}, r);
    return empty_where(is_empty(y) | is_empty(x) | (flat & line), r);
}

}  // namespace INFIMUM_NAMESPACE
