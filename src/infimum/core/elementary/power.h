// pown (integer exponents) and pow (real exponents).
#pragma once
#include "../bits.h"
#include "log.h"

namespace INFIMUM_NAMESPACE {

// ---------------------------------------------------------------------------------------------- pown
// b^n = 2^e y for a b near [1, 2) and 1 <= n <= 2^31, by binary powering in double-double. A product errs by 2^-101 and
// each squaring doubles what was there: n 2^-100 in all. Up to b^64 nothing overflows and e is 0; beyond, the numbers are
// brought back to [1, 2) after every product. `exact`: no product ever had a low part.
template <class D>
INFIMUM_FN void normalise(DD<D> &y, D &e) {
    const D shift = exponent(y.h);
    y = scaled(y, pow2(-shift));
    e = add_rn(e, shift);
}
template <class D, class M>
INFIMUM_FN DD<D> power_of(D b, unsigned long long n, D &e, M &exact) {
    const bool far = n > 64;
    DD<D> base = dd(b), y = base;
    D base_e = D(0.0);
    e = D(0.0);
    Mask<D> base_exact = b == b;
    exact = base_exact;
    bool begun = false;
    for (unsigned long long k = n; k != 0; k >>= 1) {
        if (k & 1) {
            y = begun ? times(y, base) : base;
            begun = true;
            if (far) {
                e = add_rn(e, base_e);
                normalise(y, e);
            }
            exact = exact & base_exact & (y.l == D(0.0));
        }
        if (k > 1) {
            base = k == n ? two_prod(b, b) : times(base, base);
            if (far) {
                base_e = add_rn(base_e, base_e);
                normalise(base, base_e);
            }
            base_exact = base_exact & (base.l == D(0.0));
        }
    }
    return y;
}
// m^n = 2^e y for a finite m > 0 and |n| <= 2^31, y in [1, 2] up to rounding: the mantissa's power errs by |n| 2^-100 <= 2^-69,
// bound 2^-64. For n < 0 the result is `exact` only where the mantissa is 1.
#define INFIMUM_POWN_ARGUED BOUND(0x1p-64)
template <class D, class M>
INFIMUM_FN DD<D> pown_point(D m, long long n, D &e, M &exact) {
    const unsigned long long size = n < 0 ? -n : n;
    DD<D> y = power_of(full_mantissa(m), size, e, exact);
    normalise(y, e);
    e = fma_rn(full_exponent(m), D(static_cast<double>(size)), e);
    if (n < 0) {
        y = over(dd(D(1.0)), y);
        e = -e;
        exact = exact & (y.h == D(1.0)) & (y.l == D(0.0));
    }
    return y;
}
// m^n rounded down and up for 0 <= m <= inf, n != 0; for n < 0, 0 gives inf and inf gives 0. Where `negated`, of -m^n.
template <class D>
INFIMUM_FN Interval<D> pown_ends(D m, long long n, Mask<D> negated) {
    const Mask<D> zero = m == D(0.0), infinite = m == D(INFIMUM_INF);
    Mask<D> exact = zero;
    D e;
    const DD<D> p = pown_point(select(zero | infinite, D(1.0), m), n, e, exact), y = choose(negated, -p, p);
    const D k = clamped(e, -2000.0, 2000.0);
    const D huge = select(negated, D(-INFIMUM_INF), D(INFIMUM_INF));
    const D at_zero = n > 0 ? D(0.0) : huge, at_inf = n > 0 ? huge : D(0.0);
    const D lo = scale_down(below(y, INFIMUM_POWN_ARGUED, exact), k), hi = scale_up(above(y, INFIMUM_POWN_ARGUED, exact), k);
    return {select(zero, at_zero, select(infinite, at_inf, lo)), select(zero, at_zero, select(infinite, at_inf, hi))};
}
//   n           lower                       upper                       where 0 is inside
//   0           1                           1
//   even, > 0   mig^n                       mag^n
//   even, < 0   mag^n                       mig^n                       upper +inf; x = [0, 0] empty
//   odd, > 0    x.lo^n                      x.hi^n
//   odd, < 0    x.hi^n                      x.lo^n                      inside: entire; an end at 0: its side infinite
// 1, 2 and -1 are the exactly rounded operations.
template <class D>
INFIMUM_LONG_FN Interval<D> pown(Interval<D> x, long long n) {
    const D zero = D(0.0);
    if (n == 0) return empty_where(is_empty(x), Interval<D>{D(1.0), D(1.0)});
    if (n == 1) return x;
    if (n == 2) return sqr(x);
    if (n == -1) return recip(x);
    const Mask<D> only_zero = (x.lo == zero) & (x.hi == zero);
    const Mask<D> nothing = n < 0 ? (is_empty(x) | only_zero) : is_empty(x);
    if (n % 2 == 0) {
        const Interval<D> m = abs(x);
        const Mask<D> none = m.lo < zero;  // |x| to the power of n is not negated
        const Interval<D> a = pown_ends(n > 0 ? m.lo : m.hi, n, none), b = pown_ends(n > 0 ? m.hi : m.lo, n, none);
        return empty_where(nothing, Interval<D>{a.lo, b.hi});
    }
    const D p = n > 0 ? x.lo : x.hi, q = n > 0 ? x.hi : x.lo;
    const D lo = pown_ends(magnitude(p), n, p < zero).lo, hi = pown_ends(magnitude(q), n, q < zero).hi;
    if (n > 0) return empty_where(nothing, Interval<D>{lo, hi});
    const Mask<D> inside = (x.lo < zero) & (x.hi > zero);
    const Interval<D> r = {select(p == zero, D(-INFIMUM_INF), lo), select(q == zero, D(INFIMUM_INF), hi)};
    return empty_where(nothing, choose(inside, entire_of<D>(), r));
}

// ---------------------------------------------------------------------------------------------- pow
// log(x) for a finite x > 0 with relative error below 2^-83: the series of 2 atanh(s) up to z^15/31 (the rest is below
// 2^-85 of the sum), the terms from 1/15 on in double (2^-53 of z^7/15 < 2^-39), the others in double-double, and ln2 in
// three parts.
template <class D>
INFIMUM_FN DD<D> log_extended(DD<D> x) {
    D k;
    const DD<D> m = log_reduce(x, k);
    const DD<D> s = atanh_argument(fast_two_sum(sub_rn(m.h, D(1.0)), m.l)), z = times(s, s);
    D t = K(0x1.0842108421084p-5);
    t = fma_rn(t, z.h, K(0x1.1a7b9611a7b96p-5));
    t = fma_rn(t, z.h, K(0x1.2f684bda12f68p-5));
    t = fma_rn(t, z.h, K(0x1.47ae147ae147bp-5));
    t = fma_rn(t, z.h, K(0x1.642c8590b2164p-5));
    t = fma_rn(t, z.h, K(0x1.8618618618618p-5));
    t = fma_rn(t, z.h, K(0x1.af286bca1af28p-5));
    t = fma_rn(t, z.h, K(0x1.e1e1e1e1e1e1ep-5));
    t = fma_rn(t, z.h, K(0x1.1111111111111p-4));
    DD<D> y = plus(DD<D>{K(0x1.3b13b13b13b14p-4), K(-0x1.3b13b13b13b14p-58)}, times(z, t));
    y = plus(DD<D>{K(0x1.745d1745d1746p-4), K(-0x1.745d1745d1746p-59)}, times(z, y));
    y = plus(DD<D>{K(0x1.c71c71c71c71cp-4), K(0x1.c71c71c71c71cp-58)}, times(z, y));
    y = plus(DD<D>{K(0x1.2492492492492p-3), K(0x1.2492492492492p-57)}, times(z, y));
    y = plus(DD<D>{K(0x1.999999999999ap-3), K(-0x1.999999999999ap-57)}, times(z, y));
    y = plus(DD<D>{K(0x1.5555555555555p-2), K(0x1.5555555555555p-56)}, times(z, y));
    const DD<D> s2 = scaled(s, D(2.0));
    const DD<D> log_m = plus(s2, times(s2, times(z, y)));
    const DD<D> parts = fast_two_sum(mul_rn(k, K(0x1.62e42fefa38p-1)), mul_rn(k, K(0x1.ef35793c768p-45)));
    const DD<D> k_ln2 = fast_two_sum(parts.h, fma_rn(k, K(-0x1.9ff0342542fc3p-90), parts.l));
    return plus(k_ln2, log_m);
}
// s^t from l = log(s) for s in [0, inf], t in [-inf, inf]. The exponent t l <= 746 errs by 746 * 2^-82 < 2^-72, the
// exponential by 2^-60: bound 2^-58. Beyond +-746 the result is 0 or overflows in the direction of rounding.
//
//   s = 1 or t = 0                   1
//   s or t at an end (0, +-inf)      0 or inf, by the sign of (s - 1) t
template <class D>
INFIMUM_FN Interval<D> pow_ends(D s, DD<D> l, D t) {
    const D zero = D(0.0), one = D(1.0);
    const Mask<D> unit = (s == one) | (t == zero);
    const Mask<D> limit = ((s == zero) | (s == D(INFIMUM_INF)) | (magnitude(t) == D(INFIMUM_INF))) & !unit;
    const D exponent_of_limit = mul_rn(sign_of(sub_rn(s, one)), sign_of(t));
    // beyond 2^1000 in magnitude t means the same (|l| >= 2^-53), and t l cannot overflow
    const DD<D> p = times(l, select(unit | limit, zero, clamped(t, -0x1p1000, 0x1p1000)));
    const Mask<D> low = p.h < D(-746.0), high = p.h > D(746.0);
    const DD<D> q = {select(low, D(-746.0), select(high, D(746.0), p.h)), select(low | high, zero, p.l)};
    D k;
    const DD<D> y = exp_of(q, k);
    const double bound = INFIMUM_EXP_ARGUED;
    const D at_limit = select(exponent_of_limit > zero, D(INFIMUM_INF), zero);
    const D lo = scale_down(below(y, bound, unit), k), hi = scale_up(above(y, bound, unit), k);
    return {select(limit, at_limit, lo), select(limit, at_limit, hi)};
}
// x^y on x > 0, or x = 0 and y > 0. With l = log(x), the exponent y*l has its extremes where a product of intervals has
// them (see mul); base 0 enters as the limit l = -inf.
//   x.hi < 0                   empty
//   x.hi = 0 (only base 0)     [0, 0] where y.hi > 0, else empty
template <class D>
INFIMUM_LONG_FN Interval<D> pow(Interval<D> x, Interval<D> y) {
    const D zero = D(0.0), one = D(1.0);
    const D a = larger(x.lo, zero), b = larger(x.hi, zero);
    const DD<D> la = log_extended(dd(positive_finite(a))), lb = log_extended(dd(positive_finite(b)));
    const Mask<D> p = a >= one, q = b >= one;
    const Interval<D> l1 = pow_ends(a, la, select(p, y.lo, y.hi)), l2 = pow_ends(b, lb, select(q, y.lo, y.hi));
    const Interval<D> h1 = pow_ends(a, la, select(p, y.hi, y.lo)), h2 = pow_ends(b, lb, select(q, y.hi, y.lo));
    const Interval<D> r = {smaller(l1.lo, l2.lo), larger(h1.hi, h2.hi)};
    const Mask<D> only_zero = x.hi == zero;
    const Mask<D> nothing = is_empty(x) | is_empty(y) | (x.hi < zero) | (only_zero & (y.hi <= zero));
    return empty_where(nothing, choose(only_zero, Interval<D>{zero, zero}, r));
}

}  // namespace INFIMUM_NAMESPACE
