// cbrt and hypot.
#pragma once
#include "../bits.h"
#include "../double_double.h"

namespace INFIMUM_NAMESPACE {

// cbrt(m) for m in [1, 8): a quartic start within 0.2 % and three Newton steps (2e-3 -> 4e-6 -> 2e-11 -> 2^-51 with the
// rounding), then one residual step in double-double. A start y with y^3 = m (1 + d), |d| <= 2^-48, leaves
// d^2/9 <= 2^-99 after that step, and the residual itself is known to 2^-104: the bound 2^-62 is generous.
#define INFIMUM_CBRT_ARGUED BOUND(0x1p-62)
template <class D>
INFIMUM_FN DD<D> cbrt_kernel(D m) {
    D y = K(-0x1.c517452d4609dp-12);
    y = fma_rn(y, m, K(0x1.3a0af15bfe4d2p-7));
    y = fma_rn(y, m, K(-0x1.5724904efec13p-4));
    y = fma_rn(y, m, K(0x1.cbf973ddadfcbp-2));
    y = fma_rn(y, m, K(0x1.412cc5a81c46bp-1));
    const D third = D(0x1.5555555555555p-2);
    for (int i = 0; i < 3; i++) {
        const D yy = mul_rn(y, y);
        y = sub_rn(y, mul_rn(mul_rn(fma_rn(yy, y, -m), third), div_rn(D(1.0), yy)));
    }
    const DD<D> yy = two_prod(y, y), yyy = times(yy, y);
    const D residual = sub_rn(sub_rn(m, yyy.h), yyy.l);
    return fast_two_sum(y, div_rn(residual, mul_rn(D(3.0), yy.h)));
}
// |cbrt(x)| = 2^q y for a finite nonzero x; `exact` where y.h^3 is the reduced argument to the last bit.
template <class D, class M>
INFIMUM_FN DD<D> cbrt_point(D x, D &q, M &exact) {
    const D e = full_exponent(x);
    q = floor_of(mul_rn(add_rn(e, D(0.5)), D(0x1.5555555555555p-2)));
    const D m = shifted(magnitude(x), mul_rn(D(-3.0), q));
    const DD<D> y = cbrt_kernel(m);
    const DD<D> yy = two_prod(y.h, y.h), yyy = two_prod(yy.h, y.h);
    exact = (yy.l == D(0.0)) & (yyy.l == D(0.0)) & (yyy.h == m);
    return y;
}
template <class D>
INFIMUM_FN Mask<D> is_zero_or_infinite(D x) {
    return (x == D(0.0)) | (magnitude(x) == D(INFIMUM_INF));
}
template <class D>
INFIMUM_LONG_FN Interval<D> cbrt(Interval<D> x) {
    const Mask<D> sa = is_zero_or_infinite(x.lo), sb = is_zero_or_infinite(x.hi);
    Mask<D> ea = sa, eb = sb;
    D qa, qb;
    const DD<D> ya = cbrt_point(select(sa, D(1.0), x.lo), qa, ea), yb = cbrt_point(select(sb, D(1.0), x.hi), qb, eb);
    const double bound = INFIMUM_CBRT_ARGUED;
    const D lo = mul_rn(select(x.lo < D(0.0), -above(ya, bound, ea), below(ya, bound, ea)), pow2(qa));
    const D hi = mul_rn(select(x.hi < D(0.0), -below(yb, bound, eb), above(yb, bound, eb)), pow2(qb));
    return empty_where(is_empty(x), Interval<D>{select(sa, x.lo, lo), select(sb, x.hi, hi)});
}

// hypot(a, b) = 2^e y for finite a >= b >= 0, a > 0: squares exact, one double-double sum and root (2^-100 each). b may
// underflow against a: its square is then below 2^-900 of the result, nothing to the bound, but the result is not exact.
#define INFIMUM_HYPOT_ARGUED BOUND(0x1p-62)
template <class D, class M>
INFIMUM_FN DD<D> hypot_point(D a, D b, D &e, M &exact) {
    e = full_exponent(a);
    const D p = shifted(a, -e);
    // b may underflow on the way down, which the three steps of a shift leave at most 2^-1074 off
    const D q = shifted(b, -e);
    const DD<D> pp = two_prod(p, p), qq = two_prod(q, q), s = two_sum(pp.h, qq.h);
    const DD<D> y = root(plus(pp, qq));
    const D zero = D(0.0);
    const Mask<D> no_loss = (q > D(0x1p-400)) & (pp.l == zero) & (qq.l == zero) & (s.l == zero);
    exact = (b == zero) | (no_loss & (y.l == zero) & (fma_rn(y.h, y.h, -s.h) == zero));
    return choose(b == zero, dd(p), y);
}
template <class D>
INFIMUM_LONG_FN Interval<D> hypot(Interval<D> x, Interval<D> y) {
    const Interval<D> u = abs(x), v = abs(y);
    const D a = larger(u.lo, v.lo), b = smaller(u.lo, v.lo), c = larger(u.hi, v.hi), d = smaller(u.hi, v.hi);
    const Mask<D> sa = is_zero_or_infinite(a), sc = is_zero_or_infinite(c);
    Mask<D> ea = sa, ec = sc;
    const D zero = D(0.0);
    D ka, kc;
    const DD<D> ya = hypot_point(select(sa, D(1.0), a), select(sa, zero, b), ka, ea);
    const DD<D> yc = hypot_point(select(sc, D(1.0), c), select(sc, zero, d), kc, ec);
    const D lo = scale_down(below(ya, INFIMUM_HYPOT_ARGUED, ea), ka);
    const D hi = scale_up(above(yc, INFIMUM_HYPOT_ARGUED, ec), kc);
    return empty_where(is_empty(x) | is_empty(y), Interval<D>{select(sa, a, lo), select(sc, c, hi)});
}

}  // namespace INFIMUM_NAMESPACE
