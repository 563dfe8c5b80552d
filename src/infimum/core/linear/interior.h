// The minimum of a convex quadratic over a box by an interior method: steps towards points with z (t - lo) = μ, and likewise for
// the upper ends, μ falling. Policy, in plain doubles; from any t on, whatever S.
#pragma once
#include "box_problem.h"

namespace INFIMUM_NAMESPACE {

enum { INTERIOR_STEPS = 14 };

// How far a positive number can go by a step and stay so, as a part of the step.
template <class D>
INFIMUM_FN D part_that_stays(D part, D number, D step) {
    const D most = div_rn(mul_rn(number, D(0.995)), select(step < D(0.0), -step, D(1.0)));
    return select(step < D(0.0), smaller(part, most), part);
}

template <class D>
INFIMUM_LINEAR_FN void interior(const BoxProblem<D> &p) {
    const int n = p.n;
    const D zero = D(0.0), one = D(1.0), tiny = D(0x1p-900);
    const D share = D(1.0 / (2.0 * n));
    D size = tiny;
    for (int i = 0; i < n; i++) {
        const D lo = p.lo[i], hi = p.hi[i], margin = mul_rn(sub_rn(hi, lo), D(0.0625));
        size = fma_rn(magnitude(p.slope[i]), sub_rn(hi, lo), size);
        p.t.set(i, within(p.t[i], add_rn(lo, margin), sub_rn(hi, margin)));
    }
    slope_anew(p);
    const D start = mul_rn(size, mul_rn(share, D(0.125)));
    for (int i = 0; i < n; i++) {
        const D s = p.slope[i], below = sub_rn(p.t[i], p.lo[i]), above = sub_rn(p.hi[i], p.t[i]);
        p.below.set(i, add_rn(larger(s, zero), div_rn(start, larger(below, tiny))));
        p.above.set(i, add_rn(larger(-s, zero), div_rn(start, larger(above, tiny))));
    }
    for (int count = 0; count < INTERIOR_STEPS; count++) {
        D gap = zero;
        for (int i = 0; i < n; i++) {
            gap = fma_rn(p.below[i], sub_rn(p.t[i], p.lo[i]), gap);
            gap = fma_rn(p.above[i], sub_rn(p.hi[i], p.t[i]), gap);
        }
        const D wanted = mul_rn(gap, mul_rn(share, D(0.0625)));
        // A variable without width stays where it is.
        for (int i = 0; i < n; i++) {
            const D below = sub_rn(p.t[i], p.lo[i]), above = sub_rn(p.hi[i], p.t[i]);
            const Mask<D> free = (below > zero) & (above > zero);
            const D b = select(free, below, one), a = select(free, above, one);
            const D own = add_rn(p.S[i * n + i], add_rn(div_rn(p.below[i], b), div_rn(p.above[i], a)));
            const D scale = select(free, even_scale(own), zero);
            p.diagonal.set(i, scale);
            for (int j = 0; j < i; j++) p.L.set(i * n + j, mul_rn(mul_rn(p.S[i * n + j], scale), p.diagonal[j]));
            p.L.set(i * n + i, select(free, mul_rn(mul_rn(mul_rn(own, scale), scale), D(1.0 + 0x1p-46)), one));
            p.step.set(i, mul_rn(scale, sub_rn(sub_rn(div_rn(wanted, b), div_rn(wanted, a)), p.slope[i])));
        }
        factor(p.L, p.inverse, n, D(0x1p200), D(0x1p-44));
        solve_lower(p.L, p.inverse, n, p.step, 0);
        solve_upper(p.L, p.inverse, n, p.step);
        D part = one, part_of_slopes = one;
        for (int i = 0; i < n; i++) {
            const D b = sub_rn(p.t[i], p.lo[i]), a = sub_rn(p.hi[i], p.t[i]), d = mul_rn(p.step[i], p.diagonal[i]);
            const Mask<D> free = (b > zero) & (a > zero) & is_finite(d);
            const D step = select(free, d, zero);
            p.step.set(i, step);
            part = select(free, part_that_stays(part_that_stays(part, b, step), a, -step), part);
            const D z = p.below[i], y = p.above[i];
            const D dz = sub_rn(div_rn(sub_rn(wanted, mul_rn(z, step)), select(free, b, one)), z);
            const D dy = sub_rn(div_rn(add_rn(wanted, mul_rn(y, step)), select(free, a, one)), y);
            part_of_slopes =
                select(free, part_that_stays(part_that_stays(part_of_slopes, z, dz), y, dy), part_of_slopes);
            p.straight.set(i, select(free, dz, zero));
            p.rising.set(i, select(free, dy, zero));
        }
        for (int i = 0; i < n; i++) {
            p.t.set(i, within(fma_rn(part, p.step[i], p.t[i]), p.lo[i], p.hi[i]));
            p.below.set(i, fma_rn(part_of_slopes, p.straight[i], p.below[i]));
            p.above.set(i, fma_rn(part_of_slopes, p.rising[i], p.above[i]));
        }
        slope_anew(p);
    }
}

}  // namespace INFIMUM_NAMESPACE
