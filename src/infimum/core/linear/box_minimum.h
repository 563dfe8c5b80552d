// Where g.t + t'St/2 is about smallest over a box: policy, in plain doubles. Nothing of it is believed.
//
// A round is two sweeps, each minimising over one variable after the other, and a Newton step in the variables that are not
// held at an end. S is given whole, both triangles; in a direction in which it is not positive the
// Newton step does nothing.
#pragma once
#include "interior.h"

namespace INFIMUM_NAMESPACE {

template <class D>
INFIMUM_LINEAR_FN void sweep(const BoxProblem<D> &p) {
    for (int i = 0; i < p.n; i++) {
        const Numbers<D> row = p.S.from(i * p.n);
        const D t = p.t[i], s = p.slope[i], curve = row[i], lo = p.lo[i], hi = p.hi[i];
        const Mask<D> bowl = curve > D(0x1p-900);
        const D inside = sub_rn(t, div_rn(s, select(bowl, curve, D(1.0))));
        const D end = select(s > D(0.0), lo, select(s < D(0.0), hi, t));
        const D wanted = within(select(bowl, inside, end), lo, hi);
        const D fresh = select(is_finite(wanted), wanted, t), moved = sub_rn(fresh, t);
        p.t.set(i, fresh);
        for (int j = 0; j < p.n; j++) p.slope.set(j, fma_rn(row[j], moved, p.slope[j]));
    }
}
// How the value changes with a step.
template <class D>
INFIMUM_LINEAR_FN D change(const BoxProblem<D> &p, Numbers<D> step) {
    D found = D(0.0);
    for (int i = 0; i < p.n; i++) {
        const Numbers<D> row = p.S.from(i * p.n);
        D s = D(0.0);
        for (int j = 0; j < p.n; j++) s = fma_rn(row[j], step[j], s);
        found = fma_rn(step[i], fma_rn(s, D(0.5), p.slope[i]), found);
    }
    return found;
}
template <class D>
INFIMUM_LINEAR_FN void newton(const BoxProblem<D> &p) {
    const int n = p.n;
    // Variables held at an end leave the system: their rows are those of the identity, and their steps are 0.
    for (int i = 0; i < n; i++) {
        const D t = p.t[i], s = p.slope[i];
        const Mask<D> held = ((t <= p.lo[i]) & (s >= D(0.0))) | ((t >= p.hi[i]) & (s <= D(0.0)));
        p.diagonal.set(i, select(held, D(0.0), even_scale(p.S[i * n + i])));
        p.step.set(i, select(held, D(0.0), mul_rn(-s, p.diagonal[i])));
        for (int j = 0; j < i; j++) p.L.set(i * n + j, mul_rn(mul_rn(p.S[i * n + j], p.diagonal[i]), p.diagonal[j]));
        const D own = mul_rn(mul_rn(p.S[i * n + i], p.diagonal[i]), p.diagonal[i]);
        p.L.set(i * n + i, select(held, D(1.0), mul_rn(own, D(1.0 + 0x1p-46))));
    }
    factor(p.L, p.inverse, n, D(0x1p200), D(0x1p-44));
    solve_lower(p.L, p.inverse, n, p.step, 0);
    solve_upper(p.L, p.inverse, n, p.step);
    // Two ways to stay in the box, and the better one is gone: along the line as far as it goes, or bent where it ends.
    D reach = D(1.0);
    for (int i = 0; i < n; i++) {
        const D d = mul_rn(p.step[i], p.diagonal[i]), t = p.t[i];
        p.step.set(i, select(is_finite(d), d, D(0.0)));
        const D room = sub_rn(select(d > D(0.0), p.hi[i], p.lo[i]), t);
        const Mask<D> beyond = magnitude(d) > magnitude(room);
        reach = select(beyond, smaller(reach, div_rn(magnitude(room), select(beyond, magnitude(d), D(1.0)))), reach);
    }
    for (int i = 0; i < n; i++) {
        const D t = p.t[i], d = p.step[i];
        p.straight.set(i, sub_rn(within(fma_rn(reach, d, t), p.lo[i], p.hi[i]), t));
        p.step.set(i, sub_rn(within(add_rn(t, d), p.lo[i], p.hi[i]), t));
    }
    const Mask<D> bent = change(p, p.step) < change(p, p.straight);
    for (int i = 0; i < n; i++) p.t.set(i, add_rn(p.t[i], select(bent, p.step[i], p.straight[i])));
    slope_anew(p);
}

// How good t is: the value there less what the tangent may fall within the box, what it may fall, and how much of that
// does no harm.
template <class D>
struct Worth {
    D bound, loss, harmless;
};
template <class D>
INFIMUM_LINEAR_FN Worth<D> worth(const BoxProblem<D> &p) {
    D value = D(0.0), loss = D(0.0), size = D(0.0);
    for (int i = 0; i < p.n; i++) {
        const D t = p.t[i], s = p.slope[i];
        value = fma_rn(mul_rn(t, D(0.5)), add_rn(p.g[i], s), value);
        loss = fma_rn(s, sub_rn(t, select(s > D(0.0), p.lo[i], p.hi[i])), loss);
        size = fma_rn(magnitude(p.g[i]), larger(magnitude(p.lo[i]), magnitude(p.hi[i])), size);
    }
    return {sub_rn(value, loss), loss, mul_rn(size, D(0x1p-40))};
}
// Keep t as the best point where it is better than the last one; say where no better one need be looked for.
template <class D>
INFIMUM_LINEAR_FN Mask<D> consider(const BoxProblem<D> &p, D *best, Mask<D> open) {
    const Worth<D> found = worth(p);
    const Mask<D> better = open & (found.bound > *best);
    *best = select(better, found.bound, *best);
    for (int i = 0; i < p.n; i++) p.best.set(i, select(better, p.t[i], p.best[i]));
    return found.loss <= found.harmless;
}

// From the start p.t on to p.t; ends are finite, lo <= hi. Where a few rounds do not find the point, an interior method does.
template <class D>
INFIMUM_LINEAR_FN void minimise_in_box(const BoxProblem<D> &p, int rounds) {
    for (int i = 0; i < p.n; i++) p.best.set(i, p.t[i]);
    slope_anew(p);
    D best = D(-INFIMUM_INF);
    Mask<D> open = everywhere<D>();
    open = open & !consider(p, &best, open);
    for (int round = 0; round < rounds && any(open); round++) {
        sweep(p);
        sweep(p);
        newton(p);
        open = open & !consider(p, &best, open);
    }
    if (any(open)) {
        interior(p);
        open = open & !consider(p, &best, open);
        newton(p);
        consider(p, &best, open);
    }
    for (int i = 0; i < p.n; i++) p.t.set(i, p.best[i]);
    slope_anew(p);
}

// J'WJ + C and J'r + g of J (m, n): weights W (m) or none, curvature C (n, n) and slope g (n) or neither. With weights the
// diagonal is raised a little, so that it is positive.
template <class D>
INFIMUM_LINEAR_FN void normal_equations(const infimum_linear_job &job, const Block &block, BoxProblem<D> &p) {
    const int n = p.n, m = static_cast<int>(job.m);
    const double *const jacobian = job.in[0], *const weights = job.in[2], *const curvature = job.in[3];
    const long long size = static_cast<long long>(m) * n, square = static_cast<long long>(n) * n;
    for (int i = 0; i < n; i++) {
        p.g.set(i, job.in[4] ? block.take<D>(job.in[4], n, i) : D(0.0));
        for (int j = 0; j <= i; j++) p.S.set(i * n + j, curvature ? block.take<D>(curvature, square, i * n + j) : D(0.0));
    }
    for (int k = 0; k < m; k++) {
        const D r = block.take<D>(job.in[1], m, k), w = weights ? block.take<D>(weights, m, k) : D(1.0);
        for (int i = 0; i < n; i++) p.step.set(i, block.take<D>(jacobian, size, static_cast<long long>(k) * n + i));
        for (int i = 0; i < n; i++) {
            const D a = p.step[i], b = mul_rn(a, w);
            p.g.set(i, fma_rn(a, r, p.g[i]));
            for (int j = 0; j <= i; j++) p.S.set(i * n + j, fma_rn(b, p.step[j], p.S[i * n + j]));
        }
    }
    D largest = D(0.0);
    for (int i = 0; i < n; i++) {
        largest = larger(largest, magnitude(p.S[i * n + i]));
        for (int j = 0; j < i; j++) p.S.set(j * n + i, p.S[i * n + j]);
    }
    if (!weights) return;
    const D more = fma_rn(largest, D(0x1p-20), D(0x1p-40));
    for (int i = 0; i < n; i++) p.S.set(i * n + i, add_rn(p.S[i * n + i], more));
}
// What is left of r by the linear model: r + Jt, r where that is no number, 0 where neither is.
template <class D>
INFIMUM_LINEAR_FN void give_rest(const infimum_linear_job &job, const Block &block, const BoxProblem<D> &p) {
    const int n = p.n, m = static_cast<int>(job.m);
    const long long size = static_cast<long long>(m) * n;
    for (int k = 0; k < m; k++) {
        const D r = block.take<D>(job.in[1], m, k);
        D y = r;
        for (int i = 0; i < n; i++) y = fma_rn(block.take<D>(job.in[0], size, static_cast<long long>(k) * n + i), p.t[i], y);
        block.give(job.out[1], m, k, select(is_finite(y), y, select(is_finite(r), r, D(0.0))));
    }
}

}  // namespace INFIMUM_NAMESPACE
