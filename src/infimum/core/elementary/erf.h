// The error function and its complement.
//
//   |x|                   erf|x|                        erfc|x|
//   0 .. 1/2              |x| P(x^2)                    1 - erf|x|
//   1/2 ..                1 - erfc|x|                   exp(-x^2) G(|x|)
// and erf(-x) = -erf(x), erfc(-x) = 1 + erf(x). G is exp(x^2) erfc(x), a polynomial of (x - 4)/(x + 4) over x + 4.
// Relative errors: P 2^-61, G 2^-61 (proofs/erf.py), exp 2^-60, each double-double operation 2^-100. No sum cancels:
// erf(1/2) = 0.52, erfc(1/2) = 0.48. Together below 2^-59.
#pragma once
#include "hyperbolic.h"

namespace INFIMUM_NAMESPACE {

#define INFIMUM_ERF_ARGUED BOUND(0x1p-58)

// erf(m)/m for 0 <= m <= 1/2: the terms from z^3 on in double, 2^-11 of the sum at most.
// Relative error below 2^-61 (proofs/erf.py).
template <class D>
INFIMUM_FN DD<D> erf_over(D m) {
    const DD<D> z = two_prod(m, m);
    D t = K(-0x1.39fb524e9c1f7p-23);
    t = fma_rn(t, z.h, K(0x1.b776442df3041p-20));
    t = fma_rn(t, z.h, K(-0x1.f4bb9f7301dedp-17));
    t = fma_rn(t, z.h, K(0x1.f9a2a6635fe79p-14));
    t = fma_rn(t, z.h, K(-0x1.c02db23d41138p-11));
    t = fma_rn(t, z.h, K(0x1.565bcd0aa6349p-8));
    t = fma_rn(t, z.h, K(-0x1.b82ce3127f739p-6));
    DD<D> y = plus(dd(K(0x1.ce2f21a042b29p-4)), times(z, t));
    y = plus(DD<D>{K(-0x1.812746b0379e6p-2), K(-0x1.a2804cb75735fp-56)}, times(z, y));
    return plus(DD<D>{K(0x1.20dd750429b6dp0), K(0x1.1a70f6f39063dp-56)}, times(z, y));
}
// exp(m^2) erfc(m) for 0.47 <= m <= 27.5: the terms from t^8 on in double, 2^-10 of the sum at most.
// Relative error below 2^-60 (proofs/erf.py).
template <class D>
INFIMUM_FN DD<D> scaled_erfc(D m) {
    const DD<D> r = over(dd(D(1.0)), two_sum(m, D(4.0))), t = times(two_sum(m, D(-4.0)), r);
    D s = K(0x1.1af3432d70e16p-35);
    s = fma_rn(s, t.h, K(0x1.e6a03e76d8552p-30));
    s = fma_rn(s, t.h, K(0x1.b0f5a8665e0dbp-32));
    s = fma_rn(s, t.h, K(-0x1.2d5788095a9abp-26));
    s = fma_rn(s, t.h, K(0x1.6cafb083b28fdp-34));
    s = fma_rn(s, t.h, K(0x1.0fc9d816f4ae5p-23));
    s = fma_rn(s, t.h, K(-0x1.4065956a1206bp-24));
    s = fma_rn(s, t.h, K(-0x1.c728e2f9022a7p-21));
    s = fma_rn(s, t.h, K(0x1.7e23687c54a8ep-20));
    s = fma_rn(s, t.h, K(0x1.3b15049b4d27ep-18));
    s = fma_rn(s, t.h, K(-0x1.3c6dcdee2ba34p-16));
    s = fma_rn(s, t.h, K(-0x1.e7ede89ecac53p-19));
    s = fma_rn(s, t.h, K(0x1.72cd9fb770556p-13));
    s = fma_rn(s, t.h, K(-0x1.dd284417a6cp-12));
    s = fma_rn(s, t.h, K(-0x1.269b517ee9eeap-12));
    s = fma_rn(s, t.h, K(0x1.908f47234a0fep-8));
    DD<D> y = plus(DD<D>{K(-0x1.b00c052c77146p-6), K(0x1.c7b66e0e9a04ep-60)}, times(t, s));
    y = plus(dd(K(0x1.38dbd2c8e23dbp-4)), times(t, y));
    y = plus(DD<D>{K(-0x1.645fd8a4bb9e2p-3), K(0x1.6b6a8f72860abp-59)}, times(t, y));
    y = plus(DD<D>{K(0x1.52cac2371017p-2), K(0x1.db2b8c5225619p-57)}, times(t, y));
    y = plus(DD<D>{K(-0x1.14eacb1ad0347p-1), K(-0x1.22725562fa54ep-55)}, times(t, y));
    y = plus(DD<D>{K(0x1.8be202d26c705p-1), K(0x1.54e91e87dc2b1p-55)}, times(t, y));
    y = plus(DD<D>{K(-0x1.f3fe31ecb49bfp-1), K(-0x1.2722fbc42e943p-56)}, times(t, y));
    y = plus(DD<D>{K(0x1.18932bf08e154p0), K(0x1.09b8e8432fcbfp-54)}, times(t, y));
    return times(y, r);
}
// erfc(m) = 2^k y for 1/2 <= m <= 27.5. The square is exact, and its low part joins the reduced argument.
template <class D>
INFIMUM_FN DD<D> erfc_far(D m, D &k) {
    const DD<D> e = exp_of(-two_prod(m, m), k);
    return times(fast_two_sum(e.h, e.l), scaled_erfc(m));
}

// Below 2^-500 erf(m) is a multiple of m up to 2^-1000 of it: m is enlarged by 2^300 there, so that no low part underflows,
// and the rounded result made smaller again in the same direction.
template <class D>
INFIMUM_FN Mask<D> is_enlarged(D m) {
    return m < D(0x1p-500);
}
template <class D>
INFIMUM_FN D enlarged(D m) {
    return mul_rn(m, select(is_enlarged(m), D(0x1p300), D(1.0)));
}
template <class D>
INFIMUM_FN D to_size(D m) {
    return select(is_enlarged(m), D(0x1p-300), D(1.0));
}
// erf(m), m >= 0, where enlarged 2^300 erf(m). Cut at 6.5, where 1 - erf = 2^-64.
template <class D>
INFIMUM_FN DD<D> erf_point(D m) {
    const Mask<D> far = m > D(0.5);
    const D n = smaller(m, D(0.5));
    DD<D> y = times(erf_over(n), enlarged(n));
    if (any(far)) {
        D k;
        const DD<D> c = erfc_far(clamped(m, 0.5, 6.5), k);
        y = choose(far, plus(dd(D(1.0)), -scaled(c, pow2(k))), y);
    }
    return y;
}
template <class D>
INFIMUM_LONG_FN Interval<D> erf(Interval<D> x) {
    const double bound = INFIMUM_ERF_ARGUED;
    const D one = D(1.0), a = magnitude(x.lo), b = magnitude(x.hi);
    const D lo = mul_rd(odd_below(x.lo, erf_point(a), bound, a == D(0.0)), to_size(a));
    const D hi = mul_ru(odd_above(x.hi, erf_point(b), bound, b == D(0.0)), to_size(b));
    return empty_where(is_empty(x), Interval<D>{larger(lo, -one), smaller(hi, one)});
}

// erfc(x) = 2^k y. An enlarged erf is below 2^-199 and does not matter beside 1.
template <class D>
INFIMUM_FN DD<D> erfc_point(D x, D &k) {
    const Mask<D> far = x > D(0.5);
    const DD<D> e = erf_point(select(far, D(0.0), magnitude(x)));
    DD<D> y = plus(dd(D(1.0)), choose(x < D(0.0), e, -e));
    k = D(0.0);
    if (any(far)) {
        D shift;
        const DD<D> c = erfc_far(clamped(x, 0.5, 27.5), shift);
        y = choose(far, c, y);
        k = select(far, shift, k);
    }
    return y;
}
//   x        range
//   <= 0     [1, 2]
//   >= 0     [0, 1]
template <class D>
INFIMUM_LONG_FN Interval<D> erfc(Interval<D> x) {
    const double bound = INFIMUM_ERF_ARGUED;
    const D zero = D(0.0), one = D(1.0);
    D ka, kb;
    const DD<D> ya = erfc_point(x.lo, ka), yb = erfc_point(x.hi, kb);
    const D lo = scale_down(below(yb, bound, x.hi == zero), kb), hi = scale_up(above(ya, bound, x.lo == zero), ka);
    const D least = select(x.hi <= zero, one, zero), most = select(x.lo >= zero, one, D(2.0));
    return empty_where(is_empty(x), Interval<D>{larger(lo, least), smaller(hi, most)});
}

}  // namespace INFIMUM_NAMESPACE
