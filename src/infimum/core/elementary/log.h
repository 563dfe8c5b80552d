// log and its relatives: log2, log10, log1p, and the logarithm of a double-double for asinh, acosh, atanh and pow.
//
//   x = 2^k m, m in [0.7071, 1.4143), f = m - 1, s = f/(2 + f), log(m) = 2 atanh(s), |s| <= 0.17158
//   log(x) = k ln2 + 2 atanh(s)
// For k = 0 the relative error is that of the kernel; for k != 0, |log x| >= 0.346 and absolute errors count.
#pragma once
#include "exp.h"

namespace INFIMUM_NAMESPACE {

// The certified bound of log, proofs/log.*.
#define INFIMUM_LOG_BOUND BOUND(0x1p-60)
// Argued: the kernel plus at most a dozen double-double operations (2^-100 each) and a cancellation of at most 2^2.
#define INFIMUM_LOG_ARGUED BOUND(0x1p-57)

// 2 atanh(s) for |s| <= 0.1716: S + S z (1/3 + z P(z)), S = 2s, z = s^2, P in double, the rest in double-double.
// Relative error below 2^-61 (proofs/log.gappa, proofs/log.sollya).
template <class D>
INFIMUM_FN DD<D> two_atanh(DD<D> s) {
    const D zh = mul_rn(s.h, s.h), zl = fma_rn(add_rn(s.h, s.h), s.l, fma_rn(s.h, s.h, -zh));
    D t = K(0x1.da9a90620fddap-5);
    t = fma_rn(t, zh, K(0x1.e01a813ddd137p-5));
    t = fma_rn(t, zh, K(0x1.11154bd7c1a4ep-4));
    t = fma_rn(t, zh, K(0x1.3b13a9e564d1bp-4));
    t = fma_rn(t, zh, K(0x1.745d173ca3a19p-4));
    t = fma_rn(t, zh, K(0x1.c71c71c74cc42p-4));
    t = fma_rn(t, zh, K(0x1.24924924922fdp-3));
    t = fma_rn(t, zh, K(0x1.999999999999ap-3));
    // u = 1/3 + z t
    const D a = mul_rn(zh, t), c = K(0x1.5555555555555p-2);
    const D uh = add_rn(c, a), ul = fma_rn(zl, t, add_rn(sub_rn(a, sub_rn(uh, c)), K(0x1.5555555555555p-56)));
    // v = z u
    const D vh = mul_rn(zh, uh), vl = add_rn(fma_rn(zh, uh, -vh), fma_rn(zh, ul, mul_rn(zl, uh)));
    // S + S v
    const D Sh = add_rn(s.h, s.h), Sl = add_rn(s.l, s.l);
    const D wh = mul_rn(Sh, vh), wl = add_rn(fma_rn(Sh, vh, -wh), fma_rn(Sh, vl, mul_rn(Sl, vh)));
    const D yh = add_rn(Sh, wh), yl = add_rn(sub_rn(wh, sub_rn(yh, Sh)), add_rn(Sl, wl));
    return {yh, yl};
}
// f/(2 + f) for -0.3 <= f <= 0.42, relative error below 2^-99: the reciprocal errs by u, the quotient by 3u, and the
// residual correction leaves their product.
template <class D>
INFIMUM_FN DD<D> atanh_argument(DD<D> f) {
    const D two = D(2.0), dh = add_rn(two, f.h), dl = add_rn(sub_rn(f.h, sub_rn(dh, two)), f.l);
    const D inverse = div_rn(D(1.0), dh), q = mul_rn(f.h, inverse);
    const D r = add_rn(fma_rn(-q, dh, f.h), fma_rn(-q, dl, f.l));
    return fast_two_sum(q, mul_rn(r, inverse));
}
// The k and m of a positive x = h + l (h not inf): h is scaled out of the subnormals first.
template <class D>
INFIMUM_FN DD<D> log_reduce(DD<D> x, D &k) {
    const Mask<D> small = x.h < D(0x1p-1000);
    const DD<D> y = choose(small, scaled(x, D(0x1p100)), x);
    const D e = exponent(y.h), m = mantissa(y.h);
    const Mask<D> upper = m > D(0x1.6a09e667f3bcdp0);
    const D shift = add_rn(e, select(upper, D(1.0), D(0.0)));
    // y.l / 2^shift in two steps: shift may be 1024
    const D a = round_even(mul_rn(shift, D(0.5))), b = sub_rn(shift, a);
    k = sub_rn(shift, select(small, D(100.0), D(0.0)));
    return {select(upper, mul_rn(m, D(0.5)), m), mul_rn(mul_rn(y.l, pow2(-a)), pow2(-b))};
}
// k ln2 + y. k L1 is exact; |k L1| >= |y| or k = 0.
template <class D>
INFIMUM_FN DD<D> plus_k_ln2(D k, DD<D> y) {
    const DD<D> s = fast_two_sum(mul_rn(k, K(0x1.62e42fefa38p-1)), y.h);
    return fast_two_sum(s.h, add_rn(s.l, fma_rn(k, K(0x1.ef35793c7673p-45), y.l)));
}
template <class D>
INFIMUM_FN DD<D> log_of(DD<D> x) {
    D k;
    const DD<D> m = log_reduce(x, k);
    const DD<D> f = fast_two_sum(sub_rn(m.h, D(1.0)), m.l);
    return plus_k_ln2(k, two_atanh(atanh_argument(f)));
}

// Ends of a logarithm on (0, inf): -inf at 0, +inf at +inf; the empty interval where nothing is positive.
//   x.lo <= 0     lower -inf          x.hi = +inf    upper +inf          x.hi <= 0    empty
template <class D>
INFIMUM_FN Interval<D> log_ends(Interval<D> x, D lo, D hi) {
    const Interval<D> r = {select(x.lo <= D(0.0), D(-INFIMUM_INF), lo),
                           select(x.hi == D(INFIMUM_INF), D(INFIMUM_INF), hi)};
    return empty_where(is_empty(x) | (x.hi <= D(0.0)), r);
}
// A positive finite stand-in where an end is treated apart.
template <class D>
INFIMUM_FN D positive_finite(D x) {
    return select((x > D(0.0)) & (x < D(INFIMUM_INF)), x, D(1.0));
}
template <class D>
INFIMUM_LONG_FN Interval<D> log(Interval<D> x) {
    const D a = positive_finite(x.lo), b = positive_finite(x.hi);
    const DD<D> ya = log_of(dd(a)), yb = log_of(dd(b));
    return log_ends(x, below(ya, INFIMUM_LOG_BOUND, a == D(1.0)), above(yb, INFIMUM_LOG_BOUND, b == D(1.0)));
}

// log2(x) = k + log2(m): exact where m = 1.
template <class D>
INFIMUM_FN DD<D> log2_of(D k, D m) {
    const DD<D> y = two_atanh(atanh_argument(dd(sub_rn(m, D(1.0)))));
    return plus(dd(k), times(fast_two_sum(y.h, y.l), DD<D>{K(0x1.71547652b82fep0), K(0x1.777d0ffda0d24p-56)}));
}
template <class D>
INFIMUM_LONG_FN Interval<D> log2(Interval<D> x) {
    D ka, kb;
    const D ma = log_reduce(dd(positive_finite(x.lo)), ka).h, mb = log_reduce(dd(positive_finite(x.hi)), kb).h;
    const D lo = below(log2_of(ka, ma), INFIMUM_LOG_ARGUED, ma == D(1.0));
    const D hi = above(log2_of(kb, mb), INFIMUM_LOG_ARGUED, mb == D(1.0));
    return log_ends(x, lo, hi);
}

// log10(x) = log(x) log10(e); exact where x is one of 10^0 .. 10^22, found by comparing x with that power.
template <class D>
INFIMUM_FN DD<D> log10_point(D x) {
    return times(log_of(dd(x)), DD<D>{K(0x1.bcb7b1526e50ep-2), K(0x1.95355baaafad3p-57)});
}
template <class D>
INFIMUM_FN Mask<D> is_power_of_ten(D x, D candidate) {
    const Mask<D> usual = (candidate >= D(0.0)) & (candidate <= D(22.0));
    return usual & (power_of_ten(select(usual, candidate, D(0.0))) == x);
}
template <class D>
INFIMUM_LONG_FN Interval<D> log10(Interval<D> x) {
    const D a = positive_finite(x.lo), b = positive_finite(x.hi);
    const DD<D> ya = log10_point(a), yb = log10_point(b);
    const D ja = round_even(ya.h), jb = round_even(yb.h);
    const D lo = select(is_power_of_ten(a, ja), ja, below(ya, INFIMUM_LOG_ARGUED));
    const D hi = select(is_power_of_ten(b, jb), jb, above(yb, INFIMUM_LOG_ARGUED));
    return log_ends(x, lo, hi);
}

// log(1 + t) for a double-double t > -1.
//   |t| < 2^-60         t: the difference is below 2^-61 of it, and nothing can underflow
//   -0.29 < t < 0.41    f = t itself
//   otherwise           log_of(1 + t), where |log(1 + t)| > 0.34 and 1 + t is exact to 2^-105
template <class D>
INFIMUM_FN DD<D> log1p_of(DD<D> t) {
    const Mask<D> near = (t.h > D(-0.29)) & (t.h < D(0.41));
    const DD<D> v = plus(dd(D(1.0)), choose(near, dd(D(0.0)), t));
    D k;
    const DD<D> m = log_reduce(v, k);
    const DD<D> f = choose(near, t, fast_two_sum(sub_rn(m.h, D(1.0)), m.l));
    const DD<D> y = plus_k_ln2(select(near, D(0.0), k), two_atanh(atanh_argument(f)));
    return choose(magnitude(t.h) < D(0x1p-60), t, y);
}
template <class D>
INFIMUM_LONG_FN Interval<D> log1p(Interval<D> x) {
    const Mask<D> a_inside = (x.lo > D(-1.0)) & (x.lo < D(INFIMUM_INF)), b_inside = (x.hi > D(-1.0)) & (x.hi < D(INFIMUM_INF));
    const D a = select(a_inside, x.lo, D(0.0)), b = select(b_inside, x.hi, D(0.0));
    const D lo = below(log1p_of(dd(a)), INFIMUM_LOG_ARGUED, a == D(0.0));
    const D hi = above(log1p_of(dd(b)), INFIMUM_LOG_ARGUED, b == D(0.0));
    const Interval<D> r = {select(x.lo <= D(-1.0), D(-INFIMUM_INF), lo),
                           select(x.hi == D(INFIMUM_INF), D(INFIMUM_INF), hi)};
    return empty_where(is_empty(x) | (x.hi <= D(-1.0)), r);
}

}  // namespace INFIMUM_NAMESPACE
