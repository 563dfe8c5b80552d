// Reverse operations of erf and erfc: both are monotone, so what remains of x lies between two inverse values.
//
// An inverse value m >= 0 belongs to e = erf(m) where e <= 1/2, and to q = erfc(m) = 1 - e where q < 1/2, so that neither
// loses digits. It is chosen in double and then moved by one Newton step in double-double from f = erf, or f = log erfc:
//
//   f           f(m) - f(wanted) errs by                   |f'| at least      |f''/(2 f')| at most
//   erf         2^-61 e                                    0.88               m
//   log erfc    2^-60 (1 + |log G(m)| + |log q|)           1.8, 2m            1/(2m)
// So the new m errs by 2^-58.6 of itself, and by 2^-61 where the step is at most 2^-30 m; else nothing is claimed.
// The constants of the first choice carry no proof.
#pragma once
#include "../elementary/erf.h"
#include "arithmetic.h"

namespace INFIMUM_NAMESPACE {

#define INFIMUM_ERF_INVERSE_ARGUED BOUND(0x1p-57)

template <class D>
struct Newton {
    DD<D> m;
    D step;
};
// The m with erf(m) = e, 2^-800 < e <= 1/2 or e = 0.
template <class D>
INFIMUM_FN Newton<D> erf_inverse_near(D e) {
    const D half_root_pi = D(0x1.c5bf891b4ef6bp-1), s = mul_rn(e, half_root_pi), z = mul_rn(s, s);
    D p = D(0x1.2a6839620a07dp-1);
    p = fma_rn(p, z, D(0x1.1d9fcf259c88p-4));
    p = fma_rn(p, z, D(0x1.c25e093a46bc6p-3));
    p = fma_rn(p, z, D(0x1.85a93d9e3d26cp-3));
    p = fma_rn(p, z, D(0x1.9d19cefc78337p-3));
    p = fma_rn(p, z, D(0x1.dddc4490e4381p-3));
    p = fma_rn(p, z, D(0x1.55555743b4eaep-2));
    const D m = mul_rn(s, fma_rn(p, z, D(1.0)));
    const DD<D> f = minus(times(erf_over(m), m), dd(e)), growth = one_plus(expm1_kernel(dd(mul_rn(m, m))));
    const D step = -mul_rn(mul_rn(f.h, half_root_pi), growth.h);
    return {fast_two_sum(m, step), step};
}
// The m with erfc(m) = q, 0 < q < 1/2; after one step from a choice that is right to 2^-21.
template <class D>
INFIMUM_FN Newton<D> erf_inverse_far(D q) {
    const DD<D> w = log_of(dd(q));
    const D u = sqrt_rn(-w.h), t = div_rn(sub_rn(u, D(1.5)), add_rn(u, D(1.5)));
    D p = D(0x1.46ebdcdf5b9eep-7);
    p = fma_rn(p, t, D(-0x1.97dc3abe9b5e7p-5));
    p = fma_rn(p, t, D(0x1.15a8b22b46376p-4));
    p = fma_rn(p, t, D(0x1.aef9e9ee5264fp-7));
    p = fma_rn(p, t, D(-0x1.321e3d7f88a69p-3));
    p = fma_rn(p, t, D(0x1.60d93c5e31567p-3));
    p = fma_rn(p, t, D(0x1.a840680a3f6a6p-6));
    p = fma_rn(p, t, D(-0x1.9f338ad98a5ebp-2));
    p = fma_rn(p, t, D(0x1.1adae0768c0b4p-1));
    D m = mul_rn(u, fma_rn(p, t, D(0x1.86d072cc7196dp-1))), step = D(0.0);
    for (int i = 0; i < 2; i++) {
        m = add_rn(m, step);
        const DD<D> g = scaled_erfc(m), f = minus(minus(log_of(g), two_prod(m, m)), w);
        step = mul_rn(mul_rn(f.h, g.h), D(0x1.c5bf891b4ef6bp-1));
    }
    return {fast_two_sum(m, step), step};
}
// The m >= 0 with erf(m) = e and erfc(m) = q, rounded down and up. For q = 0 the upper end is infinite and the lower one
// not used.
template <class D>
INFIMUM_FN Interval<D> erf_inverse(D e, D q) {
    const Mask<D> far = q < D(0.5);
    const D n = select(far, D(0.0), e);
    Newton<D> r = erf_inverse_near(enlarged(n));
    if (any(far)) {
        const Newton<D> other = erf_inverse_far(select(far & (q > D(0.0)), q, D(0.25)));
        r = {choose(far, other.m, r.m), select(far, other.step, r.step)};
    }
    const Mask<D> sure = magnitude(r.step) <= mul_rn(magnitude(r.m.h), D(0x1p-30)), zero = r.m.h == D(0.0);
    const double bound = INFIMUM_ERF_INVERSE_ARGUED;
    const D lo = mul_rd(below(r.m, bound, zero), to_size(e)), hi = mul_ru(above(r.m, bound, zero), to_size(e));
    return {select(sure, lo, D(0.0)), select(sure & (q > D(0.0)), hi, D(INFIMUM_INF))};
}
template <class D>
INFIMUM_FN Interval<D> signed_as(Mask<D> negative, Interval<D> m) {
    return choose(negative, neg(m), m);
}
// v = erf(x), -1 <= v <= 1; 1 - |v| is exact from 1/2 on.
template <class D>
INFIMUM_FN Interval<D> inverse_of_erf(D v) {
    const D e = magnitude(v);
    return signed_as(v < D(0.0), erf_inverse(e, sub_rn(D(1.0), e)));
}
// v = erfc(x), 0 <= v <= 2; 1 - v is exact from 1/2 on, 2 - v from 1 on.
template <class D>
INFIMUM_FN Interval<D> inverse_of_erfc(D v) {
    const Mask<D> left = v > D(1.0);
    return signed_as(left, erf_inverse(magnitude(sub_rn(D(1.0), v)), select(left, sub_rn(D(2.0), v), v)));
}
template <class D>
INFIMUM_LONG_FN Interval<D> erf_rev(Interval<D> c, Interval<D> x) {
    const D one = D(1.0);
    const Interval<D> a = inverse_of_erf(clamped(c.lo, -1.0, 1.0)), b = inverse_of_erf(clamped(c.hi, -1.0, 1.0));
    return empty_where(is_empty(c) | (c.lo >= one) | (c.hi <= -one), intersection(x, Interval<D>{a.lo, b.hi}));
}
template <class D>
INFIMUM_LONG_FN Interval<D> erfc_rev(Interval<D> c, Interval<D> x) {
    const Interval<D> a = inverse_of_erfc(clamped(c.lo, 0.0, 2.0)), b = inverse_of_erfc(clamped(c.hi, 0.0, 2.0));
    return empty_where(is_empty(c) | (c.lo >= D(2.0)) | (c.hi <= D(0.0)), intersection(x, Interval<D>{b.lo, a.hi}));
}

}  // namespace INFIMUM_NAMESPACE
