// How much to add to the diagonal of a symmetric matrix A for it to be positive: σ >= 0 with A + diag σ positive and Σ w σ
// about least. Policy, in plain doubles: whatever comes out is verified.
//
// A primal-dual method for    min w.σ,  M = A + diag σ >= 0,  σ >= 0    and its dual    max -<A, X>,  X >= 0,  z = w - diag X >= 0:
// steps towards MX = μI, σz = μ, μ falling by ten. It starts where M is dominated by its diagonal, and stays within.
#pragma once
#include "cholesky.h"

namespace INFIMUM_NAMESPACE {

enum { SHIFT_STEPS = 10, SHIFT_TRIES = 8 };

template <class D>
struct ShiftProblem {
    int n;
    Numbers<D> S, diagonal, weights;       // A by the lower triangle of S and its own diagonal; a weight of 0 takes no part
    Numbers<D> sigma;                      // what is found
    Numbers<D> L, X, change, M_inverse;    // scratch, n² each
    Numbers<D> own, inverse, z, step, dz;  // scratch, n each
};

// Fill the lower triangle of p.L with A + diag σ + part diag step, A times `unit`.
template <class D>
INFIMUM_LINEAR_FN void shifted_matrix(const ShiftProblem<D> &p, D unit, D part) {
    const int n = p.n;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) p.L.set(i * n + j, mul_rn(p.S[i * n + j], unit));
        p.L.set(i * n + i, add_rn(p.own[i], fma_rn(part, p.step[i], p.sigma[i])));
    }
}
// The lower triangle of (LLᵀ)⁻¹ in p.M_inverse: columns of the inverse, by two solutions each.
template <class D>
INFIMUM_LINEAR_FN void invert(const ShiftProblem<D> &p) {
    const int n = p.n;
    // L⁻¹ by rows, then L⁻ᵀL⁻¹: each element a chain of its own.
    for (int i = 0; i < n; i++) {
        const Numbers<D> row = p.L.from(i * n);
        const D last = p.inverse[i];
        for (int j = 0; j < i; j++) {
            D s = D(0.0);
            for (int k = j; k < i; k++) s = fma_rn(row[k], p.change[k * n + j], s);
            p.change.set(i * n + j, mul_rn(-s, last));
        }
        p.change.set(i * n + i, last);
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            D s = D(0.0);
            for (int k = i; k < n; k++) s = fma_rn(p.change[k * n + i], p.change[k * n + j], s);
            p.M_inverse.set(i * n + j, s);
            p.M_inverse.set(j * n + i, s);
        }
}
// By how much σ goes, with z beside it; X's change, lower triangle, in p.change.
template <class D>
INFIMUM_LINEAR_FN void shift_step(const ShiftProblem<D> &p, D mu) {
    const int n = p.n;
    for (int i = 0; i < n; i++) {
        const Numbers<D> row = p.change.from(i * n);
        for (int j = 0; j < i; j++) row.set(j, mul_rn(p.M_inverse[i * n + j], p.X[i * n + j]));
        const D own = p.M_inverse[i * n + i], sigma = p.sigma[i];
        row.set(i, mul_rn(fma_rn(own, p.X[i * n + i], div_rn(p.z[i], sigma)), D(1.0 + 0x1p-46)));
        p.step.set(i, sub_rn(mul_rn(mu, add_rn(own, div_rn(D(1.0), sigma))), p.weights[i]));
    }
    factor(p.change, p.inverse, n, D(0x1p200), D(0.0));
    solve_lower(p.change, p.inverse, n, p.step, 0);
    solve_upper(p.change, p.inverse, n, p.step);
    for (int i = 0; i < n; i++) {
        const D sigma = p.sigma[i], d = p.step[i], step = select(is_finite(d), d, D(0.0)), z = p.z[i];
        p.step.set(i, step);
        p.dz.set(i, sub_rn(sub_rn(div_rn(mu, sigma), z), mul_rn(div_rn(z, sigma), step)));
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            const Numbers<D> a = p.M_inverse.from(i * n), b = p.M_inverse.from(j * n), x = p.X.from(i * n), y = p.X.from(j * n);
            D s = D(0.0);
            for (int k = 0; k < n; k++) s = fma_rn(p.step[k], fma_rn(a[k], y[k], mul_rn(x[k], b[k])), s);
            p.change.set(i * n + j, sub_rn(fma_rn(mu, a[j], mul_rn(s, D(-0.5))), x[j]));
        }
}
// How far numbers go by a step and stay positive, at most `part`.
template <class D>
INFIMUM_FN D positive_part(D part, Numbers<D> number, Numbers<D> step, int n) {
    for (int i = 0; i < n; i++) {
        const D d = step[i], most = div_rn(mul_rn(number[i], D(0.95)), select(d < D(0.0), -d, D(1.0)));
        part = select(d < D(0.0), smaller(part, most), part);
    }
    return part;
}
template <class D>
INFIMUM_LINEAR_FN void shift(const ShiftProblem<D> &p) {
    const int n = p.n;
    const D zero = D(0.0), one = D(1.0);
    // In units in which the largest element is about 1.
    D largest = zero;
    for (int i = 0; i < n; i++) {
        largest = larger(largest, select(p.weights[i] > zero, magnitude(p.diagonal[i]), zero));
        for (int j = 0; j < i; j++) largest = larger(largest, magnitude(p.S[i * n + j]));
    }
    const D even = even_scale(largest), unit = mul_rn(even, even);
    for (int i = 0; i < n; i++) {
        D sum = zero;
        for (int j = 0; j < n; j++)
            if (j != i) sum = add_rn(sum, magnitude(j < i ? p.S[i * n + j] : p.S[j * n + i]));
        const Mask<D> moves = p.weights[i] > zero;
        const D own = select(moves, mul_rn(p.diagonal[i], unit), one), weight = select(moves, p.weights[i], one);
        sum = mul_rn(sum, unit);
        p.own.set(i, own);
        p.weights.set(i, weight);
        p.sigma.set(i, add_rn(larger(sub_rn(sum, own), zero), fma_rn(add_rn(sum, magnitude(own)), D(0.05), D(0x1p-40))));
        p.z.set(i, mul_rn(weight, D(0.5)));
        p.step.set(i, zero);
        for (int j = 0; j < n; j++) p.X.set(i * n + j, zero);
        p.X.set(i * n + i, mul_rn(weight, D(0.5)));
    }
    for (int count = 0; count < SHIFT_STEPS; count++) {
        shifted_matrix(p, unit, zero);
        D gap = zero;
        for (int i = 0; i < n; i++) {
            gap = fma_rn(p.sigma[i], p.z[i], gap);
            gap = fma_rn(p.L[i * n + i], p.X[i * n + i], gap);
            for (int j = 0; j < i; j++) gap = fma_rn(mul_rn(p.L[i * n + j], D(2.0)), p.X[i * n + j], gap);
        }
        const D mu = mul_rn(gap, D(0.1 / (2.0 * n)));
        factor(p.L, p.inverse, n, D(0x1p200), zero);
        invert(p);
        shift_step(p, mu);
        D part = positive_part(one, p.sigma, p.step, n), other = positive_part(one, p.z, p.dz, n);
        Mask<D> fine = zero > one, fine_other = fine;
        for (int tries = 0; tries < SHIFT_TRIES && any(!(fine & fine_other)); tries++) {
            part = select(fine, part, tries ? mul_rn(part, D(0.7)) : part);
            shifted_matrix(p, unit, part);
            fine = fine | factor(p.L, p.inverse, n, one, zero);
            other = select(fine_other, other, tries ? mul_rn(other, D(0.7)) : other);
            for (int i = 0; i < n; i++)
                for (int j = 0; j <= i; j++) p.L.set(i * n + j, fma_rn(other, p.change[i * n + j], p.X[i * n + j]));
            fine_other = fine_other | factor(p.L, p.inverse, n, one, zero);
        }
        part = select(fine, select(part < one, mul_rn(part, D(0.95)), part), zero);
        other = select(fine_other, select(other < one, mul_rn(other, D(0.95)), other), zero);
        for (int i = 0; i < n; i++) {
            p.sigma.set(i, fma_rn(part, p.step[i], p.sigma[i]));
            p.z.set(i, fma_rn(other, p.dz[i], p.z[i]));
            for (int j = 0; j <= i; j++) {
                const D x = fma_rn(other, p.change[i * n + j], p.X[i * n + j]);
                p.X.set(i * n + j, x);
                p.X.set(j * n + i, x);
            }
        }
    }
    for (int i = 0; i < n; i++) p.sigma.set(i, div_rn(p.sigma[i], unit));
}

}  // namespace INFIMUM_NAMESPACE
