// exp and its relatives: exp2, exp10, expm1, and the kernel that the hyperbolic functions and pow share.
//
//   function   reduction                                      result
//   exp        x = k ln2 + r                                  2^k (1 + p)      p = expm1(r), |r| <= 0.3466
//   exp2       x = k + f,        r = f ln2                    2^k (1 + p)      exact where f = 0
//   exp10      x = k log10(2) + g, r = g ln10                 2^k (1 + p)      exact for the integers 0 .. 22
//   expm1      as exp                                         2^k ((1 - 2^-k) + p)
#pragma once
#include "../double_double.h"

namespace INFIMUM_NAMESPACE {

// The certified bound of expm1_kernel, one_plus and the reduction, proofs/exp.*: |1 + p - exp(x)/2^k| <= EXP_BOUND (1 + p).
#define INFIMUM_EXP_BOUND BOUND(0x1p-60)
// Argued: the same kernel behind another reduction; see each function. Generous.
#define INFIMUM_EXP_ARGUED BOUND(0x1p-58)

// expm1(r) for |r| <= 0.34658, |r.l| <= ulp(r.h)/2: r (1 + r (1/2 + r (1/6 + r Q(r)))), Q in double, the rest in
// double-double. Relative error below 2^-60 (proofs/exp.gappa, proofs/exp.sollya).
template <class D>
INFIMUM_FN DD<D> expm1_kernel(DD<D> r) {
    D t = K(0x1.6199b708c1ca4p-36);
    t = fma_rn(t, r.h, K(0x1.61a690092601fp-33));
    t = fma_rn(t, r.h, K(0x1.1e8963bf0dd83p-29));
    t = fma_rn(t, r.h, K(0x1.ae643b6c84a4p-26));
    t = fma_rn(t, r.h, K(0x1.27e513855ca7p-22));
    t = fma_rn(t, r.h, K(0x1.71de3a5793025p-19));
    t = fma_rn(t, r.h, K(0x1.a01a019b0be4ap-16));
    t = fma_rn(t, r.h, K(0x1.a01a01a019edep-13));
    t = fma_rn(t, r.h, K(0x1.6c16c16c17307p-10));
    t = fma_rn(t, r.h, K(0x1.1111111111111p-7));
    t = fma_rn(t, r.h, K(0x1.5555555555555p-5));
    // s = 1/6 + r t
    const D a = mul_rn(r.h, t), c = K(0x1.5555555555555p-3);
    const D sh = add_rn(c, a), sl = fma_rn(r.l, t, add_rn(sub_rn(a, sub_rn(sh, c)), K(0x1.5555555555555p-57)));
    // v = 1/2 + r s
    const D ph = mul_rn(r.h, sh), pl = add_rn(fma_rn(r.h, sh, -ph), fma_rn(r.h, sl, mul_rn(r.l, sh)));
    const D half = D(0.5), vh = add_rn(half, ph), vl = add_rn(sub_rn(ph, sub_rn(vh, half)), pl);
    // w = 1 + r v
    const D qh = mul_rn(r.h, vh), ql = add_rn(fma_rn(r.h, vh, -qh), fma_rn(r.h, vl, mul_rn(r.l, vh)));
    const D one = D(1.0), wh = add_rn(one, qh), wl = add_rn(sub_rn(qh, sub_rn(wh, one)), ql);
    // y = r w
    const D yh = mul_rn(r.h, wh), yl = add_rn(fma_rn(r.h, wh, -yh), fma_rn(r.h, wl, mul_rn(r.l, wh)));
    return {yh, yl};
}
template <class D>
INFIMUM_FN DD<D> one_plus(DD<D> p) {
    const D one = D(1.0), s = add_rn(one, p.h);
    return {s, add_rn(sub_rn(p.h, sub_rn(s, one)), p.l)};
}

// x = k ln2 + r for |x| <= 2000. u = x - k L1 is exact; k L2 is exact for |k| <= 2117, which covers exp, and else errs by
// 2^-85; r errs by 2^-84 at most.
template <class D>
INFIMUM_FN DD<D> exp_reduce(D x, D &k) {
    k = round_even(mul_rn(x, K(0x1.71547652b82fep0)));
    const D u = fma_rn(-k, K(0x1.62e42fefa38p-1), x);
    const DD<D> s = two_sum(u, -mul_rn(k, K(0x1.ef35793c768p-45)));
    return fast_two_sum(s.h, fma_rn(-k, K(-0x1.9ff0342542fc3p-90), s.l));
}
// exp(x) = 2^k y for x = h + l, |h| <= 2000: the low part joins after the reduction of h.
template <class D>
INFIMUM_FN DD<D> exp_of(DD<D> x, D &k) {
    const DD<D> r = exp_reduce(x.h, k);
    const DD<D> s = two_sum(r.h, add_rn(r.l, x.l));
    return one_plus(expm1_kernel(s));
}

// Beyond these ends the result is 0 or at least MAX anyway, rounded outward: exp(-746) < 2^-1075, exp(710) > MAX.
template <class D>
INFIMUM_FN D clamped(D x, double lo, double hi) {
    return smaller(larger(x, D(lo)), D(hi));
}
template <class D>
INFIMUM_LONG_FN Interval<D> exp(Interval<D> x) {
    D ka, kb;
    const D a = clamped(x.lo, -746.0, 710.0), b = clamped(x.hi, -746.0, 710.0);
    const DD<D> ya = one_plus(expm1_kernel(exp_reduce(a, ka))), yb = one_plus(expm1_kernel(exp_reduce(b, kb)));
    const D lo = scale_down(below(ya, INFIMUM_EXP_BOUND, x.lo == D(0.0)), ka);
    const D hi = scale_up(above(yb, INFIMUM_EXP_BOUND, x.hi == D(0.0)), kb);
    return empty_where(is_empty(x), Interval<D>{lo, hi});
}

// exp2: f = x - k is exact, r = f ln2 in double-double errs by 2^-104 relative.
template <class D>
INFIMUM_FN DD<D> exp2_point(D x, D &k) {
    k = round_even(x);
    const D f = sub_rn(x, k);
    return one_plus(expm1_kernel(times(DD<D>{K(0x1.62e42fefa39efp-1), K(0x1.abc9e3b39803fp-56)}, f)));
}
template <class D>
INFIMUM_LONG_FN Interval<D> exp2(Interval<D> x) {
    D ka, kb;
    const D a = clamped(x.lo, -1076.0, 1025.0), b = clamped(x.hi, -1076.0, 1025.0);
    const DD<D> ya = exp2_point(a, ka), yb = exp2_point(b, kb);
    const D lo = scale_down(below(ya, INFIMUM_EXP_ARGUED, a == ka), ka);
    const D hi = scale_up(above(yb, INFIMUM_EXP_ARGUED, b == kb), kb);
    return empty_where(is_empty(x), Interval<D>{lo, hi});
}

// 10^j for an integer j in 0 .. 22, exact: each factor and each product is a double.
template <class D>
INFIMUM_FN D power_of_ten(D j) {
    D rest = j, p = D(1.0);
    const double power[5] = {1e16, 1e8, 1e4, 1e2, 1e1};
    const double weight[5] = {16.0, 8.0, 4.0, 2.0, 1.0};
    for (int i = 0; i < 5; i++) {
        const Mask<D> take = rest >= D(weight[i]);
        p = select(take, mul_rn(p, D(power[i])), p);
        rest = select(take, sub_rn(rest, D(weight[i])), rest);
    }
    return p;
}
// exp10: g = x - k log10(2) in three parts as in exp_reduce (|k| <= 1100), then r = g ln10.
template <class D>
INFIMUM_FN DD<D> exp10_point(D x, D &k) {
    k = round_even(mul_rn(x, K(0x1.a934f0979a371p1)));
    const D u = fma_rn(-k, K(0x1.34413509f78p-2), x);
    const DD<D> s = two_sum(u, -mul_rn(k, K(0x1.fef311f12bp-46)));
    const DD<D> g = fast_two_sum(s.h, fma_rn(-k, K(0x1.ac0b7c917826bp-89), s.l));
    return one_plus(expm1_kernel(times(g, DD<D>{K(0x1.26bb1bbb55516p1), K(-0x1.f48ad494ea3e9p-53)})));
}
template <class D>
INFIMUM_LONG_FN Interval<D> exp10(Interval<D> x) {
    D ka, kb;
    const D a = clamped(x.lo, -325.0, 309.0), b = clamped(x.hi, -325.0, 309.0);
    const DD<D> ya = exp10_point(a, ka), yb = exp10_point(b, kb);
    const Mask<D> ea = (a == floor_of(a)) & (a >= D(0.0)) & (a <= D(22.0));
    const Mask<D> eb = (b == floor_of(b)) & (b >= D(0.0)) & (b <= D(22.0));
    const D lo = select(ea, power_of_ten(a), scale_down(below(ya, INFIMUM_EXP_ARGUED), ka));
    const D hi = select(eb, power_of_ten(b), scale_up(above(yb, INFIMUM_EXP_ARGUED), kb));
    return empty_where(is_empty(x), Interval<D>{lo, hi});
}

// expm1(x) = 2^k y. For k = 0, y is the kernel's p itself, so small arguments keep their relative accuracy. For k != 0,
// y = (1 - 2^-k) + p; since |x| > 0.34, |y 2^k| > 0.29 (k < 0) or y > 0.2 (k > 0) while p errs by 2^-60 * 0.42 and the
// sum by 2^-100: relative error below 2^-58. x >= -50, so 2^-k <= 2^73; above k = 200 the missing 2^-200 is nothing.
template <class D>
INFIMUM_FN DD<D> expm1_point(D x, D &k) {
    const DD<D> p = expm1_kernel(exp_reduce(x, k));
    const DD<D> c = two_sum(D(1.0), -pow2(-clamped(k, -100.0, 200.0)));
    const DD<D> q = fast_two_sum(p.h, p.l);
    return choose(k == D(0.0), q, plus(c, q));
}
template <class D>
INFIMUM_LONG_FN Interval<D> expm1(Interval<D> x) {
    D ka, kb;
    const D a = clamped(x.lo, -50.0, 710.0), b = clamped(x.hi, -50.0, 710.0);
    const DD<D> ya = expm1_point(a, ka), yb = expm1_point(b, kb);
    const double bound = BOUND(0x1p-57);
    const D lo = larger(scale_down(below(ya, bound, a == D(0.0)), ka), D(-1.0));
    const D hi = scale_up(above(yb, bound, b == D(0.0)), kb);
    return empty_where(is_empty(x), Interval<D>{lo, hi});
}

}  // namespace INFIMUM_NAMESPACE
