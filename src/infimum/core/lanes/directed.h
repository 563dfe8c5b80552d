// Directed rounding from round-to-nearest alone, for lanes without it in hardware (double on a host, AVX2).
//
// Each operation computes the nearest result s and the sign of (exact - s); the directed result is s or its neighbour.
// No rounding mode is ever changed: compilers merge and fold operations across mode switches.
// Included once per lane type, after the lane's header, with INFIMUM_LANE defined; not a template, so that each lane's
// functions are found by plain overloading.
//
//   exact - s      toward -inf      toward +inf
//   negative       next_down(s)     s
//   zero           s                s
//   positive       s                next_up(s)
//   operand inf    s                s              (no error: s is exact or NaN)
//   s overflowed   the error has the sign opposite to s, so +inf steps down to MAX and -inf stays
namespace INFIMUM_NAMESPACE {

INFIMUM_FN INFIMUM_LANE next_down(INFIMUM_LANE x) { return -next_up(-x); }
INFIMUM_FN INFIMUM_LANE directed_down(INFIMUM_LANE s, INFIMUM_LANE error) {
    return select(error < INFIMUM_LANE(0.0), next_down(s), s);
}
INFIMUM_FN INFIMUM_LANE directed_up(INFIMUM_LANE s, INFIMUM_LANE error) {
    return select(error > INFIMUM_LANE(0.0), next_up(s), s);
}

// The sign of (a + b) - s for s = RN(a + b). Fast2Sum on the operands ordered by magnitude is exact and, unlike TwoSum,
// cannot overflow on the way; if s itself overflows, the error has the sign of -s.
INFIMUM_FN INFIMUM_LANE add_error(INFIMUM_LANE a, INFIMUM_LANE b, INFIMUM_LANE s) {
    typedef INFIMUM_LANE D;
    const Mask<D> ordered = magnitude(a) >= magnitude(b);
    const D big = select(ordered, a, b), small = select(ordered, b, a);
    const D t = sub_rn(small, sub_rn(s, big));
    return select(magnitude(big) < D(INFIMUM_INF), select(magnitude(s) < D(INFIMUM_INF), t, -s), D(0.0));
}
INFIMUM_FN INFIMUM_LANE add_rd(INFIMUM_LANE a, INFIMUM_LANE b) {
    const INFIMUM_LANE s = add_rn(a, b);
    return directed_down(s, add_error(a, b, s));
}
INFIMUM_FN INFIMUM_LANE add_ru(INFIMUM_LANE a, INFIMUM_LANE b) {
    const INFIMUM_LANE s = add_rn(a, b);
    return directed_up(s, add_error(a, b, s));
}

// The sign of a*b - p for p = RN(a*b). The fma's error is exact for |p| >= 2^-967; below, all is scaled by 2^1200: the
// smaller factor (under 2^-483) by 2^1000, the larger (under 2^108) by 2^200.
INFIMUM_FN INFIMUM_LANE mul_error(INFIMUM_LANE a, INFIMUM_LANE b, INFIMUM_LANE p) {
    typedef INFIMUM_LANE D;
    const Mask<D> small = magnitude(p) < D(0x1p-967);
    D error = select(magnitude(p) < D(INFIMUM_INF), fma_rn(a, b, -p), -p);
    if (any(small)) {  // rare, and as long as all the rest
        const Mask<D> a_smaller = magnitude(a) < magnitude(b);
        const D s = mul_rn(select(a_smaller, a, b), D(0x1p1000)), l = mul_rn(select(a_smaller, b, a), D(0x1p200));
        error = select(small, fma_rn(s, l, -mul_rn(mul_rn(p, D(0x1p600)), D(0x1p600))), error);
    }
    const Mask<D> finite = (magnitude(a) < D(INFIMUM_INF)) & (magnitude(b) < D(INFIMUM_INF));
    const Mask<D> nonzero = (a != D(0.0)) & (b != D(0.0));
    return select(finite & nonzero, error, D(0.0));
}
INFIMUM_FN INFIMUM_LANE mul_rd(INFIMUM_LANE a, INFIMUM_LANE b) {
    const INFIMUM_LANE p = mul_rn(a, b);
    return directed_down(p, mul_error(a, b, p));
}
INFIMUM_FN INFIMUM_LANE mul_ru(INFIMUM_LANE a, INFIMUM_LANE b) {
    const INFIMUM_LANE p = mul_rn(a, b);
    return directed_up(p, mul_error(a, b, p));
}

// The sign of a/b - q for q = RN(a/b): that of (a - q*b)/b. The residual is exact for |a| >= 2^-969; below 2^-900, a and q
// are scaled by 2^200 (then |q| < 2^175, so nothing overflows).
INFIMUM_FN INFIMUM_LANE div_error(INFIMUM_LANE a, INFIMUM_LANE b, INFIMUM_LANE q) {
    typedef INFIMUM_LANE D;
    const D scale = select(magnitude(a) < D(0x1p-900), D(0x1p200), D(1.0));
    const D residual = fma_rn(-mul_rn(q, scale), b, mul_rn(a, scale));
    const D error = select(b < D(0.0), -residual, residual);
    const Mask<D> inexact = (magnitude(a) < D(INFIMUM_INF)) & (magnitude(b) < D(INFIMUM_INF)) & (b != D(0.0));
    return select(inexact, error, D(0.0));
}
INFIMUM_FN INFIMUM_LANE div_rd(INFIMUM_LANE a, INFIMUM_LANE b) {
    const INFIMUM_LANE q = div_rn(a, b);
    return directed_down(q, div_error(a, b, q));
}
INFIMUM_FN INFIMUM_LANE div_ru(INFIMUM_LANE a, INFIMUM_LANE b) {
    const INFIMUM_LANE q = div_rn(a, b);
    return directed_up(q, div_error(a, b, q));
}

// The sign of sqrt(a) - s for s = RN(sqrt(a)), a >= 0: that of a - s*s, scaled where it could underflow.
INFIMUM_FN INFIMUM_LANE sqrt_error(INFIMUM_LANE a, INFIMUM_LANE s) {
    typedef INFIMUM_LANE D;
    const Mask<D> small = a < D(0x1p-900);
    const D root = mul_rn(s, select(small, D(0x1p100), D(1.0)));
    const D error = fma_rn(-root, root, mul_rn(a, select(small, D(0x1p200), D(1.0))));
    return select(a < D(INFIMUM_INF), error, D(0.0));
}
INFIMUM_FN INFIMUM_LANE sqrt_rd(INFIMUM_LANE a) {
    const INFIMUM_LANE s = sqrt_rn(a);
    return directed_down(s, sqrt_error(a, s));
}
INFIMUM_FN INFIMUM_LANE sqrt_ru(INFIMUM_LANE a) {
    const INFIMUM_LANE s = sqrt_rn(a);
    return directed_up(s, sqrt_error(a, s));
}

// The sign of (a*b + c) - p for p = RN(a*b + c).
// With mantissas A, B of a, b and everything divided by 2^S, S = exponent(a) + exponent(b), the sum A*B + C is free of
// overflow and underflow once the distance between c and a*b is clamped to 2^+-200: a term that far below the other
// decides by its sign alone. Q = RN(A*B + C) differs from P = p/2^S only if p was rounded to a subnormal or to an
// infinity, and then Q - P has the sign; otherwise the error of an fma is known exactly (Boldo and Muller).
//
//   a*b = 0 or c = 0 alone are left to the sign of the product's error
INFIMUM_FN INFIMUM_LANE fma_error(INFIMUM_LANE a, INFIMUM_LANE b, INFIMUM_LANE c, INFIMUM_LANE p) {
    typedef INFIMUM_LANE D;
    const Mask<D> product_zero = (a == D(0.0)) | (b == D(0.0));
    const Mask<D> finite =
        (magnitude(a) < D(INFIMUM_INF)) & (magnitude(b) < D(INFIMUM_INF)) & (magnitude(c) < D(INFIMUM_INF));
    const Mask<D> usual = finite & !product_zero & (c != D(0.0));
    const D ua = select(usual, a, D(1.0)), ub = select(usual, b, D(1.0)), uc = select(usual, c, D(1.0));
    const D ea = full_exponent(ua), eb = full_exponent(ub), ec = full_exponent(uc);
    const D A = shifted(ua, -ea), B = shifted(ub, -eb), M = shifted(uc, -ec);
    const D product = add_rn(ea, eb);
    const D distance = smaller(larger(sub_rn(ec, product), D(-200.0)), D(200.0));
    const D C = mul_rn(M, pow2(distance));
    const D S = select(sub_rn(ec, product) > D(200.0), sub_rn(ec, D(200.0)), product);
    const D P = select(magnitude(p) < D(INFIMUM_INF), shifted(p, -S), p);
    const D Q = fma_rn(A, B, C);
    const D u1 = mul_rn(A, B), u2 = fma_rn(A, B, -u1);
    const D al = add_rn(C, u2), ab = sub_rn(al, C), z = add_rn(sub_rn(C, sub_rn(al, ab)), sub_rn(u2, ab));
    const D be = add_rn(u1, al), bb = sub_rn(be, u1), b2 = add_rn(sub_rn(u1, sub_rn(be, bb)), sub_rn(al, bb));
    const D gamma = add_rn(sub_rn(be, Q), b2);
    const D fine = add_rn(gamma, z);  // RN keeps the sign of the exact gamma + z
    const D error = select(Q == P, fine, sub_rn(Q, P));
    const D only_product = select(finite & !product_zero, mul_error(a, b, p), D(0.0));
    return select(usual, error, only_product);
}
INFIMUM_FN INFIMUM_LANE fma_rd(INFIMUM_LANE a, INFIMUM_LANE b, INFIMUM_LANE c) {
    const INFIMUM_LANE p = fma_rn(a, b, c);
    return directed_down(p, fma_error(a, b, c, p));
}
INFIMUM_FN INFIMUM_LANE fma_ru(INFIMUM_LANE a, INFIMUM_LANE b, INFIMUM_LANE c) {
    const INFIMUM_LANE p = fma_rn(a, b, c);
    return directed_up(p, fma_error(a, b, c, p));
}

}  // namespace INFIMUM_NAMESPACE
