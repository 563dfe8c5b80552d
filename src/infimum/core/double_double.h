// Double-double numbers h + l: what the elementary functions compute in.
//
// With u = 2^-53 and inputs normalised (|l| <= u|h|), barring overflow and underflow, the relative errors are those of
// Joldes, Muller and Popescu, "Tight and rigorous error bounds for basic building blocks of double-word arithmetic",
// ACM TOMS 44 (2017), each at most 2^-100 as used here:
//   plus     3u^2 + 13u^3 relative, any signs      (their Algorithm 6, AccurateDWPlusDW)
//   times    5u^2                                  (Algorithm 12, DWTimesDW3)
//   over     9.8u^2, here bounded by 16u^2         (Algorithm 18's idea: reciprocal, residual, one correction)
//   root     residual step from the nearest root: see there
// The code that uses them counts every such error as 2^-100 and pads far above the sum.
#pragma once
#include "interval.h"

namespace INFIMUM_NAMESPACE {

template <class D>
struct DD {
    D h, l;
};
template <class D>
INFIMUM_FN DD<D> dd(D x) {
    return {x, D(0.0)};
}
template <class D>
INFIMUM_FN DD<D> operator-(DD<D> a) {
    return {-a.h, -a.l};
}
template <class D, class M>
INFIMUM_FN DD<D> choose(M m, DD<D> a, DD<D> b) {
    return {select(m, a.h, b.h), select(m, a.l, b.l)};
}
// a + b exactly, |a| >= |b| or a = 0.
template <class D>
INFIMUM_FN DD<D> fast_two_sum(D a, D b) {
    const D s = add_rn(a, b);
    return {s, sub_rn(b, sub_rn(s, a))};
}
// a + b exactly.
template <class D>
INFIMUM_FN DD<D> two_sum(D a, D b) {
    const D s = add_rn(a, b), bb = sub_rn(s, a);
    return {s, add_rn(sub_rn(a, sub_rn(s, bb)), sub_rn(b, bb))};
}
// a * b exactly, unless the error underflows.
template <class D>
INFIMUM_FN DD<D> two_prod(D a, D b) {
    const D p = mul_rn(a, b);
    return {p, fma_rn(a, b, -p)};
}
template <class D>
INFIMUM_FN DD<D> plus(DD<D> a, DD<D> b) {
    const DD<D> s = two_sum(a.h, b.h), t = two_sum(a.l, b.l);
    const DD<D> v = fast_two_sum(s.h, add_rn(s.l, t.h));
    return fast_two_sum(v.h, add_rn(t.l, v.l));
}
template <class D>
INFIMUM_FN DD<D> minus(DD<D> a, DD<D> b) {
    return plus(a, -b);
}
template <class D>
INFIMUM_FN DD<D> times(DD<D> a, DD<D> b) {
    const DD<D> p = two_prod(a.h, b.h);
    const D t = fma_rn(a.l, b.h, fma_rn(a.h, b.l, mul_rn(a.l, b.l)));
    return fast_two_sum(p.h, add_rn(p.l, t));
}
template <class D>
INFIMUM_FN DD<D> times(DD<D> a, D b) {
    const DD<D> p = two_prod(a.h, b);
    return fast_two_sum(p.h, fma_rn(a.l, b, p.l));
}
// a * 2^k given as the power itself: exact barring underflow.
template <class D>
INFIMUM_FN DD<D> scaled(DD<D> a, D power) {
    return {mul_rn(a.h, power), mul_rn(a.l, power)};
}
// a / b. q0 = a.h/b.h has relative error 3u at most against a/b; the residual a - q0*b is formed to 2^-104 of a, and its
// quotient by b.h adds an error of 3u * 3u.
template <class D>
INFIMUM_FN DD<D> over(DD<D> a, DD<D> b) {
    const D q = div_rn(a.h, b.h);
    const D r = add_rn(fma_rn(-q, b.h, a.h), fma_rn(-q, b.l, a.l));
    return fast_two_sum(q, div_rn(r, b.h));
}
// sqrt(a), a >= 0 and not subnormal. s = RN(sqrt(a.h)) errs by 2u at most; sqrt(a) = s + (a - s^2)/(2s) - d^2/(2s)(1+..)
// with |d| <= 2u s, so the step leaves 2u^2 and its own rounding u * 2u.
template <class D>
INFIMUM_FN DD<D> root(DD<D> a) {
    const D s = sqrt_rn(a.h);
    const D r = add_rn(fma_rn(-s, s, a.h), a.l);
    const D half = div_rn(r, add_rn(s, s));
    return fast_two_sum(s, select(s > D(0.0), half, D(0.0)));
}

// ---------------------------------------------------------------------------------------------- to interval ends
// A value y known up to a relative error `bound`, or exactly. The added 2^-1074 covers bounds that underflow; a hard case
// costs one unit in the last place, never containment.
template <class D>
INFIMUM_FN D margin(DD<D> y, double bound) {
    return fma_rn(magnitude(y.h), D(bound), D(INFIMUM_TINY));
}
template <class D>
INFIMUM_FN D below(DD<D> y, double bound) {
    return add_rd(y.h, add_rd(y.l, -margin(y, bound)));
}
template <class D>
INFIMUM_FN D above(DD<D> y, double bound) {
    return add_ru(y.h, add_ru(y.l, margin(y, bound)));
}
// The same where `exact` marks y.h as the value itself.
template <class D, class M>
INFIMUM_FN D below(DD<D> y, double bound, M exact) {
    return select(exact, y.h, below(y, bound));
}
template <class D, class M>
INFIMUM_FN D above(DD<D> y, double bound, M exact) {
    return select(exact, y.h, above(y, bound));
}

// y * 2^k rounded down or up, for a y near 1 and an integral |k| <= 2000: the first step is exact, the second rounds once
// more in the same direction, which is the directed rounding of the product.
template <class D>
INFIMUM_FN D scale_down(D y, D k) {
    const D a = round_even(mul_rn(k, D(0.5))), b = sub_rn(k, a);
    return mul_rd(mul_rn(y, pow2(a)), pow2(b));
}
template <class D>
INFIMUM_FN D scale_up(D y, D k) {
    const D a = round_even(mul_rn(k, D(0.5))), b = sub_rn(k, a);
    return mul_ru(mul_rn(y, pow2(a)), pow2(b));
}

}  // namespace INFIMUM_NAMESPACE
