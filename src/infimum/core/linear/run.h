// The routines of small linear algebra on one block of boxes, from the caller's row-major arrays to the caller's.
//
//     routine          in                          out
//     IS_POSITIVE      matrix (n, n)               flags (1)
//     BOX_MINIMUM      matrix, vector, lo, hi      t (n)
//     LEAST_SQUARES    jacobian (m, n), residual   t (n); residual + jacobian t (m)
//                      weights or none (m); curvature or none (n, n), slope or none (n); lo and hi or neither: [-1, 1]
//     QUADRATIC        quadratic.h has it
#pragma once
#include "quadratic.h"

namespace INFIMUM_NAMESPACE {

template <class D>
INFIMUM_LINEAR_FN void run_is_positive(const infimum_linear_job &job, const Block &block, Storage<D> space) {
    const int n = static_cast<int>(job.n);
    const long long size = job.n * job.n;
    const Numbers<D> S = space.take(n * n), L = space.take(n * n);
    const Numbers<D> diagonal = space.take(n), scale = space.take(n), inverse = space.take(n);
    Mask<D> symmetric = everywhere<D>();
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            const D a = block.take<D>(job.in[0], size, i * n + j), b = block.take<D>(job.in[0], size, j * n + i);
            S.set(i * n + j, a);
            symmetric = symmetric & (a == b);
        }
        diagonal.set(i, block.take<D>(job.in[0], size, i * n + i));
    }
    const Mask<D> proved = is_proved(S, diagonal, n, L, scale, inverse) & symmetric;
    block.give_bits(job.flags, 1, 0, select(proved, D(1.0), D(0.0)));
}

// The point that was found, 0 in place of what is no number.
template <class D>
INFIMUM_FN void give_point(const infimum_linear_job &job, const Block &block, const BoxProblem<D> &p) {
    for (int i = 0; i < p.n; i++) {
        const D t = p.t[i];
        block.give(job.out[0], p.n, i, select(is_finite(t), t, D(0.0)));
    }
}
template <class D>
INFIMUM_LINEAR_FN void run_box_minimum(const infimum_linear_job &job, const Block &block, Storage<D> space) {
    BoxProblem<D> p = problem_in(space, static_cast<int>(job.n));
    const int n = p.n;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) p.S.set(i * n + j, block.take<D>(job.in[0], job.n * job.n, i * n + j));
        p.g.set(i, block.take<D>(job.in[1], n, i));
        p.lo.set(i, block.take<D>(job.in[2], n, i));
        p.hi.set(i, block.take<D>(job.in[3], n, i));
        p.t.set(i, within(D(0.0), p.lo[i], p.hi[i]));
    }
    minimise_in_box(p, static_cast<int>(job.rounds));
    give_point(job, block, p);
}
template <class D>
INFIMUM_LINEAR_FN void run_least_squares(const infimum_linear_job &job, const Block &block, Storage<D> space) {
    BoxProblem<D> p = problem_in(space, static_cast<int>(job.n));
    normal_equations(job, block, p);
    for (int i = 0; i < p.n; i++) {
        p.lo.set(i, job.in[5] ? block.take<D>(job.in[5], p.n, i) : D(-1.0));
        p.hi.set(i, job.in[6] ? block.take<D>(job.in[6], p.n, i) : D(1.0));
        p.t.set(i, within(D(0.0), p.lo[i], p.hi[i]));
    }
    minimise_in_box(p, static_cast<int>(job.rounds));
    give_point(job, block, p);
    give_rest(job, block, p);
}

template <class D>
INFIMUM_FN void run_linear(int routine, const infimum_linear_job &job, const Block &block, Storage<D> space) {
    if (routine == INFIMUM_LINEAR_IS_POSITIVE) run_is_positive(job, block, space);
    if (routine == INFIMUM_LINEAR_BOX_MINIMUM) run_box_minimum(job, block, space);
    if (routine == INFIMUM_LINEAR_LEAST_SQUARES) run_least_squares(job, block, space);
    if (routine == INFIMUM_LINEAR_QUADRATIC) run_quadratic(job, block, space);
}

}  // namespace INFIMUM_NAMESPACE
