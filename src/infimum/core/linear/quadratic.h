// Lower bounds, smaller boxes and facts from value, slope and curvature: f(x) >= f(c) + g(c).d + d'H(X)d/2 for x = c + d in X.
//
//     in    lo, hi, c (n) · value (1) · slope lo, hi (n) · curvature lo, hi (n, n) · limit (1)      marks: edge (n)
//     out   bound (1) · lo, hi (n) · a good point (n)                                                 flags: facts (1), concave (n)
// Needed: f has continuous second derivatives on a convex neighbourhood of X, enclosed by the curvature on X; `value` is at
// most f(c), the slope encloses the gradient at c. An edge is a component in which X may reach the end of the domain.
//
// All is told of t_i = d_i / p_i with powers of two p_i, which are as large as the box: |t_i| <= τ_i <= 1. Curvature and slope
// are scaled with rounding outward (that matters where they underflow). With the midpoints S and radii Δ of the curvature:
//   1. Σ Δ_ij |t_i||t_j| <= Σ D_i t_i², D_i = Σ_j Δ_ij τ_j / τ_i, because 2|t_i||t_j| <= (τ_j/τ_i) t_i² + (τ_i/τ_j) t_j². So
//      t'H(ξ)t >= t'At for A = S - diag D, the diagonal rounded down. Components without width have t_i = 0 and take no part.
//      If A is proved to be positive semidefinite, so is H(x) for every x in X, and f is CONVEX on X.
//   2. For any M = A + diag σ, in doubles: t'At >= t'Mt - Σ σ⁺_i τ_i² where σ⁺_i >= max(0, M_ii - A_ii), rounded up.
//   3. With slope γ ± ρ: f >= F(t) = value - Σ ρ_i τ_i - ½ Σ σ⁺_i τ_i² + γ.t + ½ t'Mt.
//   4. If M is proved to be positive semidefinite: for any point t^ and s = γ + Mt^, enclosed, F(t) = F(t^) + s.(t - t^) +
//      ½ (t - t^)'M(t - t^), and γ.t^ + ½ t^'Mt^ + s.(t - t^) = ½ γ.t^ + s.(t - ½t^). So BOUND = value - Σ ρτ - ½ Σ σ⁺τ² +
//      Σ (½ γ_i t^_i + min s_i (t_i - ½t^_i)) over the box, everything rounded down.
//   5. Where f(x) <= limit, both s_i (t_i - e_i) for the better end e_i and ½ (t - t^)'M(t - t^) are at most w = limit - BOUND.
//      The first gives t_i an end where s_i has a sign. As to the second: for any y and ρ = e_i - My, enclosed,
//      t_i - t^_i = y'M(t - t^) + ρ.(t - t^), |y'M(t - t^)| <= sqrt(y'My 2w) by Cauchy, and y'My = y_i - ρ.y.
//   6. A minimiser inside the domain but for edges has v'H(x)v >= 0 for every v that is 0 on edges. v'H(x)v <= v'Sv + |v|'Δ|v|;
//      where that is < 0, or H_ii(X) < 0 away from the edges, there is NO MINIMISER in X. CONCAVE: H_ii(X) < 0.
// Nothing is claimed of a box with a number that is not finite, a point outside or ends in disorder.
#pragma once
#include "box_minimum.h"
#include "shift.h"

namespace INFIMUM_NAMESPACE {

template <class D>
struct Range {
    D lo, hi;
};
template <class D>
INFIMUM_FN Range<D> sum_of(Range<D> a, Range<D> b) {
    return {add_rd(a.lo, b.lo), add_ru(a.hi, b.hi)};
}
// A number times a range, finite.
template <class D>
INFIMUM_FN Range<D> times(D a, Range<D> b) {
    const Mask<D> up = a >= D(0.0);
    return {mul_rd(a, select(up, b.lo, b.hi)), mul_ru(a, select(up, b.hi, b.lo))};
}

template <class D>
struct Quadratic {
    BoxProblem<D> box;  // S whole, diagonal that of M; γ, the ends of t, t^
    ShiftProblem<D> shift;
    Numbers<D> radius, F;                                // Δ, lower triangle; the factor of M
    Numbers<D> c, p, tau, slope_radius, middle, spread;  // spread D_i; middle S_ii
    Numbers<D> low, own, scale, inverse, y;              // A_ii; M_ii
    Numbers<D> from, to, s_lo, s_hi, reach, room;
    Mask<D> fine;
};

// A matrix times a vector of numbers, component i, within a range.
template <class D>
INFIMUM_FN Range<D> row_times(Numbers<D> S, int n, int i, Numbers<D> y) {
    Range<D> found = {D(0.0), D(0.0)};
    for (int j = 0; j < n; j++) {
        const D a = S[i * n + j], b = y[j];
        found = sum_of(found, Range<D>{mul_rd(a, b), mul_ru(a, b)});
    }
    return found;
}

// The box in t.
template <class D>
INFIMUM_LINEAR_FN void scale_box(const infimum_linear_job &job, const Block &block, Quadratic<D> &q) {
    const int n = q.box.n;
    const D zero = D(0.0);
    q.fine = everywhere<D>();
    for (int i = 0; i < n; i++) {
        const D lo = block.take<D>(job.in[0], n, i), hi = block.take<D>(job.in[1], n, i), c = block.take<D>(job.in[2], n, i);
        const Range<D> d = {add_rd(lo, -c), add_ru(hi, -c)};
        const D width = larger(-d.lo, d.hi);
        q.fine = q.fine & (lo <= c) & (c <= hi) & (lo > D(-INFIMUM_INF)) & (hi < D(INFIMUM_INF)) & (width < D(0x1p1000));
        const Mask<D> usual = (width > zero) & (width < D(0x1p1000));
        const D p = pow2(larger(add_rn(full_exponent(select(usual, width, D(1.0))), D(1.0)), D(-1000.0)));
        const D q_ = div_rn(D(1.0), p);
        const D from = mul_rd(d.lo, q_), to = mul_ru(d.hi, q_);
        q.c.set(i, c);
        q.p.set(i, p);
        q.from.set(i, lo);
        q.to.set(i, hi);
        q.box.lo.set(i, from);
        q.box.hi.set(i, to);
        q.tau.set(i, larger(-from, to));
        const D g_lo = mul_rd(block.take<D>(job.in[4], n, i), p), g_hi = mul_ru(block.take<D>(job.in[5], n, i), p);
        const Mask<D> moves = width > zero;
        const D g = mul_rn(add_rn(g_lo, g_hi), D(0.5));
        q.fine = q.fine & ((is_finite(g) & (g_lo <= g_hi)) | !moves);
        q.box.g.set(i, select(moves, g, zero));
        q.slope_radius.set(i, select(moves, larger(add_ru(g_hi, -g), add_ru(g, -g_lo)), zero));
    }
}

// Middle and radius of the curvature in t, and the diagonal of A.
template <class D>
INFIMUM_LINEAR_FN void scale_curvature(const infimum_linear_job &job, const Block &block, Quadratic<D> &q) {
    const int n = q.box.n;
    const long long size = static_cast<long long>(n) * n;
    const D zero = D(0.0);
    for (int i = 0; i < n; i++) q.spread.set(i, zero);
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            const D lo = larger(block.take<D>(job.in[6], size, i * n + j), block.take<D>(job.in[6], size, j * n + i));
            const D hi = smaller(block.take<D>(job.in[7], size, i * n + j), block.take<D>(job.in[7], size, j * n + i));
            const Range<D> h = {mul_rd(mul_rd(lo, q.p[i]), q.p[j]), mul_ru(mul_ru(hi, q.p[i]), q.p[j])};
            const Mask<D> moves = (q.tau[i] > zero) & (q.tau[j] > zero);
            const D middle = mul_rn(add_rn(h.lo, h.hi), D(0.5)), radius = larger(add_ru(h.hi, -middle), add_ru(middle, -h.lo));
            q.fine = q.fine & ((is_finite(middle) & is_finite(radius) & (lo <= hi)) | !moves);
            const D s = select(moves, middle, i == j ? D(1.0) : zero), r = select(moves, radius, zero);
            q.radius.set(i * n + j, r);
            q.box.S.set(i * n + j, s);
            q.box.S.set(j * n + i, s);
            q.spread.set(i, add_ru(q.spread[i], mul_ru(r, q.tau[j])));
            if (i != j) q.spread.set(j, add_ru(q.spread[j], mul_ru(r, q.tau[i])));
        }
    for (int i = 0; i < n; i++) {
        const D tau = q.tau[i], s = q.box.S[i * n + i];
        const D spread = TERM(select(tau > zero, div_ru(q.spread[i], select(tau > zero, tau, D(1.0))), zero));
        q.spread.set(i, spread);
        q.middle.set(i, s);
        q.low.set(i, add_rd(s, -spread));
        q.fine = q.fine & is_finite(q.low[i]);
    }
}

// M: A itself where that is proved to be positive, else shifted. Return where A is, and set `proved` to where M is.
template <class D>
INFIMUM_LINEAR_FN Mask<D> make_convex(Quadratic<D> &q, Mask<D> &proved) {
    const int n = q.box.n;
    const Mask<D> convex = is_proved(q.box.S, q.low, n, q.F, q.scale, q.inverse) & q.fine;
    proved = convex;
    for (int i = 0; i < n; i++) {
        q.own.set(i, q.low[i]);
        q.shift.weights.set(i, mul_rn(q.tau[i], q.tau[i]));
    }
    if (!any(q.fine & !convex)) return convex;
    shift(q.shift);
    // A little more each time, in proportion to what is there.
    for (int tries = 0; tries < 4 && any(q.fine & !proved); tries++) {
        const D more = D(tries == 0 ? 0x1p-44 : tries == 1 ? 0x1p-30 : tries == 2 ? 0x1p-14 : 0x1p-3);
        for (int i = 0; i < n; i++) {
            const D sigma = select(q.tau[i] > D(0.0), q.shift.sigma[i], D(0.0)), low = q.low[i];
            const D wanted = add_rn(low, fma_rn(add_rn(magnitude(low), sigma), more, sigma));
            q.own.set(i, select(proved, q.own[i], wanted));
        }
        proved = proved | (is_proved(q.box.S, q.own, n, q.F, q.scale, q.inverse) & q.fine);
    }
    return convex;
}

// BOUND at the point t^ in q.box.t; the enclosed s in q.s_lo, q.s_hi.
template <class D>
INFIMUM_LINEAR_FN D tangent_bound(Quadratic<D> &q, D value) {
    const int n = q.box.n;
    const D zero = D(0.0), half = D(0.5);
    D bound = value;
    Mask<D> numbers = everywhere<D>();
    for (int i = 0; i < n; i++) {
        const D t = q.box.t[i];
        q.box.t.set(i, select(magnitude(t) > D(0x1p-900), t, zero));  // its half is a double
    }
    for (int i = 0; i < n; i++) {
        const D g = q.box.g[i], t = q.box.t[i], at = mul_rn(t, half), tau = q.tau[i];
        const Range<D> s = sum_of(row_times(q.box.S, n, i, q.box.t), Range<D>{g, g});
        q.s_lo.set(i, s.lo);
        q.s_hi.set(i, s.hi);
        numbers = numbers & is_finite(s.lo) & is_finite(s.hi);
        const Range<D> d = {add_rd(q.box.lo[i], -at), add_ru(q.box.hi[i], -at)};
        const D fall = smaller(times(s.lo, d).lo, times(s.hi, d).lo);
        const D more = larger(add_ru(q.own[i], -q.low[i]), zero);
        const D slanted = TERM(mul_ru(q.slope_radius[i], tau)), curved = TERM(mul_ru(mul_ru(more, tau), mul_ru(tau, half)));
        const D lost = add_ru(slanted, curved);
        bound = add_rd(bound, add_rd(mul_rd(g, at), add_rd(fall, -lost)));
    }
    return select(numbers, bound, D(-INFIMUM_INF));
}

// The part of the box with f <= limit, in t: q.box.lo and hi are replaced.
template <class D>
INFIMUM_LINEAR_FN void contract_box(Quadratic<D> &q, Mask<D> some, D bound, D limit) {
    const int n = q.box.n;
    const D zero = D(0.0), w = add_ru(limit, -bound);
    some = some & (w >= zero) & is_finite(w);
    if (!any(some)) return;
    for (int i = 0; i < n; i++) {
        const D t = q.box.t[i];
        q.room.set(i, larger(add_ru(q.box.hi[i], -t), add_ru(t, -q.box.lo[i])));
        q.reach.set(i, D(INFIMUM_INF));
    }
    const D twice = add_rn(w, w);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) q.y.set(j, D(j == i ? 1.0 : 0.0));
        solve_scaled(q.F, q.scale, q.inverse, n, q.y, i);
        // Where that promises nothing it is left out; a guess, which decides nothing else.
        const D guess = mul_rn(twice, q.y[i]), room = mul_rn(q.room[i], D(0.99));
        Mask<D> worth_it = some & (guess < mul_rn(room, room));
        for (int j = 0; j < n; j++) worth_it = worth_it & is_finite(q.y[j]);
        if (!any(worth_it)) continue;
        D square = q.y[i], more = zero;
        for (int j = 0; j < n; j++) {
            const Range<D> my = row_times(q.box.S, n, j, q.y);
            const D unit = D(j == i ? 1.0 : 0.0);
            const D rho = TERM(larger(add_ru(unit, -my.lo), add_ru(my.hi, -unit)));
            square = add_ru(square, mul_ru(rho, magnitude(q.y[j])));
            more = add_ru(more, mul_ru(rho, q.room[j]));
        }
        const D reach = add_ru(sqrt_ru(mul_ru(larger(square, zero), twice)), more);
        q.reach.set(i, select(worth_it & (reach >= zero), reach, D(INFIMUM_INF)));
    }
    for (int i = 0; i < n; i++) {
        const D t = q.box.t[i], reach = q.reach[i], lo = q.box.lo[i], hi = q.box.hi[i], s_lo = q.s_lo[i], s_hi = q.s_hi[i];
        const Mask<D> rises = s_lo > zero, falls = s_hi < zero;
        const D below = select(falls, add_rd(hi, div_rd(w, select(falls, s_hi, D(-1.0)))), D(-INFIMUM_INF));
        const D above = select(rises, add_ru(lo, div_ru(w, select(rises, s_lo, D(1.0)))), D(INFIMUM_INF));
        const D from = larger(add_rd(t, -reach), below), to = smaller(add_ru(t, reach), above);
        const D c = q.c[i], p = q.p[i];
        const D x_lo = add_rd(c, mul_rd(p, from)), x_hi = add_ru(c, mul_ru(p, to));
        q.from.set(i, select(some & (x_lo > q.from[i]), x_lo, q.from[i]));
        q.to.set(i, select(some & (x_hi < q.to[i]), x_hi, q.to[i]));
    }
}

// Say where v'Sv + |v|'Δ|v| < 0 for a vector v that is 0 on edges: that of the first pivot that is not positive in S + diag D.
template <class D>
INFIMUM_LINEAR_FN Mask<D> turns_down(const infimum_linear_job &job, const Block &block, Quadratic<D> &q) {
    const int n = q.box.n;
    const D zero = D(0.0), one = D(1.0);
    const Numbers<D> L = q.box.L, scale = q.box.diagonal, inverse = q.box.inverse, v = q.y;
    for (int i = 0; i < n; i++) {
        const Mask<D> free = (q.tau[i] > zero) & !block.take_bits<D>(job.marks, n, i);
        const D own = add_rn(q.middle[i], q.spread[i]), size = even_scale(magnitude(own));
        scale.set(i, select(free, size, zero));
        for (int j = 0; j < i; j++) L.set(i * n + j, mul_rn(mul_rn(q.box.S[i * n + j], scale[i]), scale[j]));
        L.set(i * n + i, select(free, mul_rn(mul_rn(own, size), size), one));
    }
    D first = D(static_cast<double>(n));
    for (int j = 0; j < n; j++) {
        D pivot = L[j * n + j];
        for (int k = 0; k < j; k++) pivot = fma_rn(-L[j * n + k], L[j * n + k], pivot);
        const Mask<D> positive = pivot > zero;
        first = select(positive | (first < D(static_cast<double>(n))), first, D(static_cast<double>(j)));
        const D one_over = div_rn(one, sqrt_rn(select(positive, pivot, one)));
        inverse.set(j, one_over);
        for (int i = j + 1; i < n; i++) {
            D s = L[i * n + j];
            for (int k = 0; k < j; k++) s = fma_rn(-L[i * n + k], L[j * n + k], s);
            L.set(i * n + j, mul_rn(s, one_over));
        }
    }
    if (!any(first < D(static_cast<double>(n)))) return zero > one;
    for (int i = 0; i < n; i++) v.set(i, zero);
    for (int i = n; i-- > 0;) {
        const D y = select(first == D(static_cast<double>(i)), one, mul_rn(v[i], inverse[i]));
        v.set(i, y);
        for (int k = 0; k < i; k++) v.set(k, fma_rn(-L[i * n + k], y, v[k]));
    }
    for (int i = 0; i < n; i++) v.set(i, mul_rn(v[i], scale[i]));
    // Any v will do from here on that is 0 on edges, as `scale` has seen to.
    D most = zero;
    for (int i = 0; i < n; i++) {
        Range<D> row = {zero, zero};
        D beside = zero;
        for (int j = 0; j < n; j++) {
            const D s = j == i ? q.middle[i] : q.box.S[i * n + j], r = q.radius[j < i ? i * n + j : j * n + i];
            row = sum_of(row, Range<D>{mul_rd(s, v[j]), mul_ru(s, v[j])});
            beside = TERM(add_ru(beside, mul_ru(r, magnitude(v[j]))));
        }
        most = add_ru(most, add_ru(times(v[i], row).hi, mul_ru(magnitude(v[i]), beside)));
    }
    return (most < zero) & q.fine;
}

template <class D>
INFIMUM_FN Quadratic<D> quadratic_in(Storage<D> &space, int n) {
    Quadratic<D> q;
    q.box = problem_in(space, n);
    q.radius = space.take(n * n);
    q.F = space.take(n * n);
    q.shift.n = n;
    q.shift.change = space.take(n * n);
    q.shift.M_inverse = space.take(n * n);
    Numbers<D> *const vectors[] = {
        &q.c, &q.p, &q.tau, &q.slope_radius, &q.middle, &q.spread, &q.low, &q.own, &q.scale, &q.inverse, &q.y, &q.from, &q.to,
        &q.s_lo, &q.s_hi, &q.reach, &q.room, &q.shift.weights, &q.shift.sigma, &q.shift.own, &q.shift.inverse, &q.shift.z,
        &q.shift.step, &q.shift.dz};
    for (Numbers<D> *vector : vectors) *vector = space.take(n);
    q.shift.S = q.box.S;
    q.shift.diagonal = q.low;
    q.shift.L = q.box.L;
    q.shift.X = q.F;  // the factor is made anew when the shift is known
    return q;
}

template <class D>
INFIMUM_LINEAR_FN void run_quadratic(const infimum_linear_job &job, const Block &block, Storage<D> space) {
    const int n = static_cast<int>(job.n);
    const long long size = static_cast<long long>(n) * n;
    const D zero = D(0.0), one = D(1.0);
    Quadratic<D> q = quadratic_in(space, n);
    scale_box(job, block, q);
    scale_curvature(job, block, q);
    Mask<D> no_minimiser = zero > one, proved = no_minimiser;
    for (int i = 0; i < n; i++) {
        const D lo = block.take<D>(job.in[6], size, i * n + i), hi = block.take<D>(job.in[7], size, i * n + i);
        const Mask<D> concave = (hi < zero) & (lo <= hi) & q.fine;
        no_minimiser = no_minimiser | (concave & !block.take_bits<D>(job.marks, n, i));
        block.give_bits(job.flags, n + 1, i + 1, select(concave, one, zero));
    }
    const Mask<D> convex = make_convex(q, proved);
    if (any(q.fine & !(convex | no_minimiser))) no_minimiser = no_minimiser | turns_down(job, block, q);
    for (int i = 0; i < n; i++) {
        q.box.S.set(i * n + i, q.own[i]);
        q.box.t.set(i, zero);
    }
    minimise_in_box(q.box, static_cast<int>(job.rounds));
    const D value = block.take<D>(job.in[3], 1, 0), limit = block.take<D>(job.in[8], 1, 0);
    for (int i = 0; i < n; i++) q.box.t.set(i, within(select(is_finite(q.box.t[i]), q.box.t[i], zero), q.box.lo[i], q.box.hi[i]));
    const D found = tangent_bound(q, value);
    const Mask<D> bounded = proved & is_finite(value) & is_finite(found);
    const D bound = select(bounded, found, D(-INFIMUM_INF));
    block.give(job.out[0], 1, 0, bound);
    contract_box(q, bounded, bound, limit);
    for (int i = 0; i < n; i++) {
        block.give(job.out[1], n, i, q.from[i]);
        block.give(job.out[2], n, i, q.to[i]);
        const D lo = block.take<D>(job.in[0], n, i), hi = block.take<D>(job.in[1], n, i);
        const D x = fma_rn(q.p[i], q.box.t[i], q.c[i]);
        block.give(job.out[3], n, i, within(select(is_finite(x), x, q.c[i]), lo, hi));
    }
    const D facts = add_rn(select(convex, D(INFIMUM_QUADRATIC_IS_CONVEX), zero),
                           select(no_minimiser & q.fine, D(INFIMUM_QUADRATIC_NO_MINIMISER), zero));
    block.give_bits(job.flags, n + 1, 0, facts);
}

}  // namespace INFIMUM_NAMESPACE
