// mod(x, y) = x - y floor(x/y), as NumPy has it: the sign of the result is that of y.
#pragma once
#include "bits.h"
#include "interval.h"

namespace INFIMUM_NAMESPACE {

// |x| reduced by multiples of y > 0 until below 2^51 y, exactly, 50 quotient bits at a time.
// With Y = y 2^e and q <= 2^51 the remainder r - q Y lies on the grid of Y's last place and below Y: it is a double. The
// nearest quotient may exceed the true one by less than one, which leaves a remainder in [-Y, 0): one Y is added back.
template <class D>
INFIMUM_FN D reduced_magnitude(D x, D y) {
    D r = magnitude(x);
    for (;;) {
        const Mask<D> big = (r >= mul_rn(y, D(0x1p51))) & (r < D(INFIMUM_INF));
        if (!any(big)) return r;
        const D from = select(big, r, D(0x1p60)), by = select(big, y, D(1.0));
        const D e = sub_rn(sub_rn(full_exponent(from), full_exponent(by)), D(50.0));
        const D Y = shifted(by, e), q = floor_of(div_rn(from, Y));
        const D rest = fma_rn(-q, Y, from);
        r = select(big, select(rest < D(0.0), add_rn(rest, Y), rest), r);
    }
}

//   y                     result, for y > 0 (a negative y mirrors both x and the result)
//   [0, 0]                empty
//   0 in y                between 0 and the end(s) of y
//   floor(x/y) one q      x - q y, one rounding an end
//   else                  [0, y.hi]
// RD(x/y) has the same floor as x/y as long as the quotient is below 2^53. Above it, an x or y that is not a point runs
// through a whole period, and points were reduced before.
template <class D>
INFIMUM_LONG_FN Interval<D> mod(Interval<D> x, Interval<D> y) {
    const D zero = D(0.0);
    const Mask<D> flip = y.hi <= zero;
    const Interval<D> n0 = choose(flip, neg(x), x), d = choose(flip, neg(y), y);
    const Mask<D> zero_inside = d.lo <= zero;
    const Mask<D> points = (n0.lo == n0.hi) & (d.lo == d.hi) & !zero_inside;
    const D m = reduced_magnitude(select(points, n0.lo, zero), select(points, d.lo, D(1.0)));
    const D point = select(n0.lo < zero, -m, m);
    const Interval<D> n = choose(points, Interval<D>{point, point}, n0);
    const D ql = floor_of(div_rd(n.lo, select(n.lo >= zero, d.hi, d.lo)));
    const D qh = floor_of(div_rd(n.hi, select(n.hi >= zero, d.lo, d.hi)));
    const Mask<D> one = (ql == qh) & (magnitude(ql) < D(0x1p53));
    const D q = select(one, ql, zero);
    const Mask<D> forward = q >= zero;
    const Mask<D> zeroth = q == zero;  // 0 times an infinite divisor would be NaN
    const D lo = select(zeroth, n.lo, fma_rd(-q, select(forward, d.hi, d.lo), n.lo));
    const D hi = select(zeroth, n.hi, fma_ru(-q, select(forward, d.lo, d.hi), n.hi));
    const Interval<D> period = {zero, d.hi}, within = {smaller(zero, d.lo), larger(zero, d.hi)};
    const Interval<D> r = choose(zero_inside, within, choose(one, Interval<D>{larger(lo, zero), hi}, period));
    const Mask<D> nothing = is_empty(x) | is_empty(y) | ((y.lo == zero) & (y.hi == zero));
    return empty_where(nothing, choose(flip, neg(r), r));
}
// The quotient's floor is constant on an open neighbourhood of the box: both ends strictly inside one step.
template <class D>
INFIMUM_FN Mask<D> mod_is_smooth(Interval<D> x, Interval<D> y) {
    const Mask<D> defined = (y.lo > D(0.0)) | (y.hi < D(0.0));
    const Interval<D> q = div(x, y);
    return defined & (floor_of(q.lo) == floor_of(q.hi)) & (floor_of(q.lo) < q.lo) & (magnitude(q.lo) < D(0x1p52));
}

}  // namespace INFIMUM_NAMESPACE
