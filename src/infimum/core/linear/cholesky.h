// Cholesky factors of symmetric matrices, and what one that runs to its end proves.
//
// The lower triangle of a matrix lies at [i * n + j], j <= i. Every element is computed by one chain of fused operations in
// the order of the columns: s = a_ij; s = s - l_ik l_jk for k = 0, 1, …, j-1; then l_ij = s * (1 / l_jj), l_jj = sqrt(s).
//
// Claim: `is_proved` is true only for a matrix S that is positive semidefinite. (After Rump, Verification of positive
// definiteness, BIT 46, 2006.) With u = 2^-53, γ_k = ku/(1 - ku):
//   1. P = diag(2^k_i) brings each diagonal element of PSP into [1, 4); those are exact. The others are rounded only where
//      they underflow, once on each side of a factor of at most 2^537: by at most 2^-537 each, in norm by e1 <= n 2^-537.
//   2. A = fl(PSP) - δI, the diagonal rounded down. PSP >= A + δI - e1 in the order of symmetric matrices.
//   3. The factor of A runs to its end with pivots s > 0. With each fma and product right to within (1 + ε), |ε| <= u, or to
//      within η = 2^-1075, and root and reciprocal without underflow (s >= 2^-1074), the chain of element (i, j), j counted
//      from 1, has j-1 fmas and two more roundings, so that |a_ij - Σ_{k<=j} l_ik l_jk| <= γ_{j+1} Σ|l_ik||l_jk| + (n+3) 2η.
//      (l_jj <= 2.1, because its square is at most a_jj but for roundings.) The diagonal among them gives
//      Σ_k l_ik² <= (a_ii + (n+3) 2η) / (1 - γ_{n+1}); with Cauchy's inequality the matrix of all errors has a norm of at most
//      γ_{n+1}/(1 - γ_{n+1}) (tr A + n (n+3) 2η) + n (n+3) 2η, and A plus that much is LLᵀ >= 0.
//   4. γ_{n+1}/(1 - γ_{n+1}) <= (n+1)u (1 + 2^-40) for n <= 1000. So δ = (n+2)u tr, rounded up, with tr >= tr fl(PSP) >= tr A,
//      is larger than all of that by at least 0.9u tr >= 0.9 n 2^-53, which is more than e1 and every term with η.
// An infinity or NaN in S or on the way makes a pivot that is not positive: element (i, j) enters the pivot of row i.
#pragma once
#include "block.h"

namespace INFIMUM_NAMESPACE {



// The power of two whose square brings a positive finite number into [1, 4); 1 for any other.
template <class D>
INFIMUM_FN D even_scale(D a) {
    const Mask<D> usual = (a > D(0.0)) & (a < D(INFIMUM_INF));
    const D half = floor_of(mul_rn(full_exponent(select(usual, a, D(1.0))), D(0.5)));
    return select(usual, pow2(-half), D(1.0));
}

// Factor the lower triangle of A in place: true where every pivot is positive. `inverse` gets the reciprocals 1 / l_jj. A
// pivot that is not gets the stand-in: 1 to go on with, or a large one, by which its component of a solution is about 0.
template <class D>
INFIMUM_LINEAR_FN Mask<D> factor(Numbers<D> A, Numbers<D> inverse, int n, D stand_in, D least) {
    Mask<D> good = everywhere<D>();
    for (int j = 0; j < n; j++) {
        const Numbers<D> row = A.from(j * n);
        D pivot = row[j];
        for (int k = 0; k < j; k++) pivot = fma_rn(-row[k], row[k], pivot);
        const Mask<D> positive = (pivot > least) & (pivot < D(INFIMUM_INF));
        good = good & positive;
        const D root = sqrt_rn(select(positive, pivot, stand_in)), one_over = div_rn(D(1.0), root);
        row.set(j, root);
        inverse.set(j, one_over);
        int i = j + 1;
        for (; i + 4 <= n; i += 4) {  // four chains at once: none waits for the other
            const Numbers<D> a = A.from(i * n), b = a.from(n), c = b.from(n), d = c.from(n);
            D s = a[j], t = b[j], u = c[j], v = d[j];
            for (int k = 0; k < j; k++) {
                const D l = row[k];
                s = fma_rn(-a[k], l, s);
                t = fma_rn(-b[k], l, t);
                u = fma_rn(-c[k], l, u);
                v = fma_rn(-d[k], l, v);
            }
            a.set(j, mul_rn(s, one_over));
            b.set(j, mul_rn(t, one_over));
            c.set(j, mul_rn(u, one_over));
            d.set(j, mul_rn(v, one_over));
        }
        for (; i < n; i++) {
            const Numbers<D> a = A.from(i * n);
            D s = a[j];
            for (int k = 0; k < j; k++) s = fma_rn(-a[k], row[k], s);
            a.set(j, mul_rn(s, one_over));
        }
    }
    return good;
}

// x = L⁻¹x, components before `first` being 0; then L⁻ᵀx.
template <class D>
INFIMUM_LINEAR_FN void solve_lower(Numbers<D> L, Numbers<D> inverse, int n, Numbers<D> x, int first) {
    for (int i = first; i < n; i++) {
        const Numbers<D> row = L.from(i * n);
        D s = x[i];
        for (int k = first; k < i; k++) s = fma_rn(-row[k], x[k], s);
        x.set(i, mul_rn(s, inverse[i]));
    }
}
template <class D>
INFIMUM_LINEAR_FN void solve_upper(Numbers<D> L, Numbers<D> inverse, int n, Numbers<D> x) {
    for (int i = n; i-- > 0;) {
        const D y = mul_rn(x[i], inverse[i]);
        x.set(i, y);
        const Numbers<D> row = L.from(i * n);
        for (int k = 0; k < i; k++) x.set(k, fma_rn(-row[k], y, x[k]));
    }
}

// Say whether S + diag(more) is certainly positive semidefinite, S given by its lower triangle and `diagonal` in place of its
// diagonal. L gets the factor of P(S)P - δI, scale the diagonal of P, inverse what `factor` gives.
template <class D>
INFIMUM_LINEAR_FN Mask<D> is_proved(Numbers<D> S, Numbers<D> diagonal, int n, Numbers<D> L, Numbers<D> scale, Numbers<D> inverse) {
    D trace = D(0.0);
    Mask<D> positive = everywhere<D>();
    for (int i = 0; i < n; i++) {
        const D a = diagonal[i], p = even_scale(a);
        scale.set(i, p);
        positive = positive & (a > D(0.0));
        trace = add_ru(trace, mul_rn(mul_rn(a, p), p));
        for (int j = 0; j < i; j++) L.set(i * n + j, mul_rn(mul_rn(S[i * n + j], p), scale[j]));
    }
    const D delta = mul_ru(D(BOUND((n + 2) * 0x1p-53)), trace);
    for (int i = 0; i < n; i++) {
        const D p = scale[i];
        L.set(i * n + i, add_rd(mul_rn(mul_rn(diagonal[i], p), p), -delta));
    }
    return factor(L, inverse, n, D(1.0), D(0.0)) & positive;
}
// x = about (S + diag(more))⁻¹x by what `is_proved` left.
template <class D>
INFIMUM_LINEAR_FN void solve_scaled(Numbers<D> L, Numbers<D> scale, Numbers<D> inverse, int n, Numbers<D> x, int first) {
    for (int i = first; i < n; i++) x.set(i, mul_rn(x[i], scale[i]));
    solve_lower(L, inverse, n, x, first);
    solve_upper(L, inverse, n, x);
    for (int i = 0; i < n; i++) x.set(i, mul_rn(x[i], scale[i]));
}

}  // namespace INFIMUM_NAMESPACE
