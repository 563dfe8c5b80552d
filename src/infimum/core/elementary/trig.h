// sin, cos, tan, sinpi, cospi.
//
//   sin, cos, tan   x = k pi/2 + r, reduction.h
//   sinpi, cospi    x = k/2 + g exactly, r = pi g, any finite x
//
//   k mod 4    cos x     sin x     (of r)
//   0          cos r     sin r
//   1          -sin r    cos r
//   2          -cos r    -sin r
//   3          sin r     -cos r
// sin is cos with k - 1 in place of k. The sign of r is certain, so floor(x/pi) is exact and extrema are located exactly.
#pragma once
#include "reduction.h"

namespace INFIMUM_NAMESPACE {

// The certified bound of trig_kernel and the reductions, proofs/cos.gappa, sin.gappa, trig.gappa, trig.sollya.
#define INFIMUM_TRIG_BOUND BOUND(0x1.2p-58)

// cos r (odd = false) or sin r (odd = true) for |r| <= 0.7855, one polynomial path with selected coefficients:
//   cos r = 1 + z (-1/2 + z C(z)),  sin r = r + r z (-1/6 + z S(z)),  z = r^2
template <class D, class M>
INFIMUM_FN DD<D> trig_kernel(DD<D> r, M odd) {
    const D zh = mul_rn(r.h, r.h), zl = fma_rn(add_rn(r.h, r.h), r.l, fma_rn(r.h, r.h, -zh));
    D t = select(odd, K(0x1.333ce32b90f19p-49), K(0x1.345b3cfb82137p-45));
    t = fma_rn(t, zh, select(odd, K(-0x1.adbdd3ac9f1ddp-41), K(-0x1.92a5e27a22493p-37)));
    t = fma_rn(t, zh, select(odd, K(0x1.6123ccd4deba7p-33), K(0x1.1eecd5b9bd8f2p-29)));
    t = fma_rn(t, zh, select(odd, K(-0x1.ae645611c1909p-26), K(-0x1.27e4faeeb5ad1p-22)));
    t = fma_rn(t, zh, select(odd, K(0x1.71de3a554515bp-19), K(0x1.a01a019fb7ac1p-16)));
    t = fma_rn(t, zh, select(odd, K(-0x1.a01a01a019f58p-13), K(-0x1.6c16c16c16a32p-10)));
    t = fma_rn(t, zh, select(odd, K(0x1.1111111111111p-7), K(0x1.5555555555555p-5)));
    const D tz = mul_rn(t, zh);
    const D c = select(odd, K(-0x1.5555555555555p-3), K(-0.5)), cl = select(odd, K(-0x1.5555555555555p-57), D(0.0));
    const D uh = add_rn(c, tz), ul = fma_rn(t, zl, add_rn(sub_rn(tz, sub_rn(uh, c)), cl));
    const D vh = mul_rn(zh, uh), vl = add_rn(fma_rn(zh, uh, -vh), fma_rn(zh, ul, mul_rn(zl, uh)));
    const D bh = select(odd, r.h, D(1.0)), bl = select(odd, r.l, D(0.0));
    const D wh = mul_rn(bh, vh), wl = add_rn(fma_rn(bh, vh, -wh), fma_rn(bh, vl, mul_rn(bl, vh)));
    const D yh = add_rn(bh, wh), yl = add_rn(sub_rn(wh, sub_rn(yh, bh)), add_rn(bl, wl));
    return {yh, yl};
}

// x = k/2 + g with k reduced to k mod 4 in -2 .. 2, r = pi g. x - 2 round(x/2) is exact.
template <class D>
INFIMUM_FN DD<D> pi_reduce(D x, D &k) {
    const D y = sub_rn(x, mul_rn(D(2.0), round_even(mul_rn(x, D(0.5)))));
    k = round_even(add_rn(y, y));
    const D g = sub_rn(y, mul_rn(k, D(0.5)));
    return times(DD<D>{K(0x1.921fb54442d18p1), K(0x1.1a62633145c07p-53)}, g);
}

template <class D>
INFIMUM_FN Mask<D> is_odd(D k) {
    const D h = mul_rn(k, D(0.5));
    return floor_of(h) != h;
}
// cos(k pi/2 + r): negative for k mod 4 = 1, 2, which is where floor((k + 1)/2) is odd.
template <class D>
INFIMUM_FN DD<D> cos_quadrant(DD<D> r, D k) {
    const DD<D> y = trig_kernel(r, is_odd(k));
    return choose(is_odd(floor_of(mul_rn(add_rn(k, D(1.0)), D(0.5)))), -y, y);
}
// floor((k pi/2 + r)/pi).
template <class D>
INFIMUM_FN D half_turns(DD<D> r, D k) {
    const D h = mul_rn(k, D(0.5)), f = floor_of(h);
    return select(f != h, f, select(r.h < D(0.0), sub_rn(f, D(1.0)), f));
}

// The range of cos from its values at both ends and the half turns m there: a maximum lies at every even multiple of pi,
// a minimum at every odd one. `unknown` ends give [-1, 1]; exact ends (the kernel's value is exact) are kept.
template <class D, class M>
INFIMUM_FN Interval<D> cos_range(DD<D> a, D ma, DD<D> b, D mb, M exact_a, M exact_b, M unknown) {
    const D half = D(0.5), one = D(1.0);
    const D lo = smaller(below(a, INFIMUM_TRIG_BOUND, exact_a), below(b, INFIMUM_TRIG_BOUND, exact_b));
    const D hi = larger(above(a, INFIMUM_TRIG_BOUND, exact_a), above(b, INFIMUM_TRIG_BOUND, exact_b));
    const Mask<D> top = floor_of(mul_rn(mb, half)) > floor_of(mul_rn(ma, half));
    const Mask<D> bottom = floor_of(mul_rn(add_rn(mb, one), half)) > floor_of(mul_rn(add_rn(ma, one), half));
    return {select(bottom | unknown, D(-1.0), larger(lo, D(-1.0))), select(top | unknown, one, smaller(hi, one))};
}

// cos (shift = 0) or sin (shift = 1).
template <class D>
INFIMUM_FN Interval<D> cos_or_sin(Interval<D> x, double shift) {
    const Reduced<D> t = trig_reduce(x);
    const D ka = sub_rn(t.k_lo, D(shift)), kb = sub_rn(t.k_hi, D(shift));
    const Interval<D> r =
        cos_range(cos_quadrant(t.r_lo, ka), half_turns(t.r_lo, ka), cos_quadrant(t.r_hi, kb), half_turns(t.r_hi, kb),
                  t.r_lo.h == D(0.0), t.r_hi.h == D(0.0), t.wide);
    return empty_where(is_empty(x), r);
}
template <class D>
INFIMUM_LONG_FN Interval<D> cos(Interval<D> x) {
    return cos_or_sin(x, 0.0);
}
template <class D>
INFIMUM_LONG_FN Interval<D> sin(Interval<D> x) {
    return cos_or_sin(x, 1.0);
}

// The half turns of pi x for the extrema: floor(x) for cospi, floor(x - 1/2) for sinpi. The fraction x - floor(x) is exact
// or, for -1/2 < x < 0, rounded without crossing 1/2.
template <class D>
INFIMUM_FN D pi_half_turns(D x, bool sine) {
    const D f = floor_of(x);
    if (!sine) return f;
    return select(sub_rn(x, f) >= D(0.5), f, sub_rn(f, D(1.0)));
}
// Both ends are counted from an even number near lo, so that the half turns stay small. lo moves exactly; hi may be rounded,
// but never across an extremum downwards (those are doubles), and an extremum reached by rounding up is within 2^-51 of
// hi, where the value rounded up is 1 as well. A width of 2 or more is a whole period.
template <class D>
INFIMUM_FN Interval<D> cospi_or_sinpi(Interval<D> x, bool sine) {
    const Mask<D> unknown = !(sub_rn(x.hi, x.lo) < D(2.0));
    const D lo = select(unknown, D(0.0), x.lo), hi = select(unknown, D(0.0), x.hi);
    D ka, kb;
    const DD<D> ra = pi_reduce(lo, ka), rb = pi_reduce(hi, kb);
    if (sine) {
        ka = sub_rn(ka, D(1.0));
        kb = sub_rn(kb, D(1.0));
    }
    const D base = mul_rn(D(2.0), round_even(mul_rn(lo, D(0.5))));
    const D ma = pi_half_turns(sub_rn(lo, base), sine), mb = pi_half_turns(sub_rn(hi, base), sine);
    return empty_where(is_empty(x), cos_range(cos_quadrant(ra, ka), ma, cos_quadrant(rb, kb), mb, ra.h == D(0.0),
                                              rb.h == D(0.0), unknown));
}
template <class D>
INFIMUM_LONG_FN Interval<D> cospi(Interval<D> x) {
    return cospi_or_sinpi(x, false);
}
template <class D>
INFIMUM_LONG_FN Interval<D> sinpi(Interval<D> x) {
    return cospi_or_sinpi(x, true);
}

// tan = sin/cos of r, or -cos/sin: relative error of the quotient below 2.5 * 2^-57.8 + 2^-99. Increasing between poles,
// which lie where floor(x/pi - 1/2), the half turns of sin, changes.
template <class D>
INFIMUM_FN DD<D> tan_quadrant(DD<D> r, D k) {
    const Mask<D> odd = is_odd(k);
    const DD<D> s = trig_kernel(r, r.h == r.h), c = trig_kernel(r, r.h != r.h);
    const DD<D> sn = fast_two_sum(s.h, s.l), cn = fast_two_sum(c.h, c.l);
    return over(choose(odd, -cn, sn), choose(odd, sn, cn));
}
template <class D>
INFIMUM_FN Mask<D> has_pole(Reduced<D> t) {
    const D one = D(1.0);
    return t.wide | (half_turns(t.r_lo, sub_rn(t.k_lo, one)) != half_turns(t.r_hi, sub_rn(t.k_hi, one)));
}
template <class D>
INFIMUM_LONG_FN Interval<D> tan(Interval<D> x) {
    const Reduced<D> t = trig_reduce(x);
    const double bound = BOUND(0x1p-56);
    const Interval<D> r = {below(tan_quadrant(t.r_lo, t.k_lo), bound, t.r_lo.h == D(0.0)),
                           above(tan_quadrant(t.r_hi, t.k_hi), bound, t.r_hi.h == D(0.0))};
    return empty_where(is_empty(x), choose(has_pole(t), entire_of<D>(), r));
}
template <class D>
INFIMUM_FN Mask<D> tan_is_defined(Interval<D> x) {
    return !has_pole(trig_reduce(x));
}

}  // namespace INFIMUM_NAMESPACE
