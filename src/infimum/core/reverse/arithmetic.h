// Reverse operations of arithmetic: what remains of x when op(x) or op(x, b) must lie in c.
#pragma once
#include "../double_double.h"

namespace INFIMUM_NAMESPACE {

template <class D>
INFIMUM_FN Interval<D> nonnegative(Interval<D> x) {
    return intersection(x, Interval<D>{D(0.0), D(INFIMUM_INF)});
}
// The part of x in m or in -m.
template <class D>
INFIMUM_FN Interval<D> of_either_sign(Interval<D> m, Interval<D> x) {
    return hull(intersection(x, m), intersection(x, neg(m)));
}
template <class D>
INFIMUM_FN Interval<D> sqr_rev(Interval<D> c, Interval<D> x) {
    return of_either_sign(sqrt(c), x);
}
template <class D>
INFIMUM_FN Interval<D> abs_rev(Interval<D> c, Interval<D> x) {
    return of_either_sign(nonnegative(c), x);
}
template <class D>
INFIMUM_FN Interval<D> sqrt_rev(Interval<D> c, Interval<D> x) {
    return intersection(x, sqr(nonnegative(c)));
}

// The x with b x in c for a b in B, in two pieces, each a quotient by the b of one sign.
//
//   B                 C            low                        high
//   has 0             has 0        every x                    empty
//   0 strictly inside above 0      quotient by the b < 0      quotient by the b > 0
//   0 strictly inside below 0      quotient by the b > 0      quotient by the b < 0
//   else                           quotient (B = [0, 0]: empty)   empty
template <class D>
struct Pieces {
    Interval<D> low, high;
};
template <class D>
INFIMUM_FN Mask<D> has(Interval<D> x, D value) {
    return (x.lo <= value) & (x.hi >= value);
}
template <class D>
INFIMUM_FN Pieces<D> quotient_pieces(Interval<D> b, Interval<D> c) {
    const D zero = D(0.0);
    const Mask<D> free = has(b, zero) & has(c, zero), split = (b.lo < zero) & (b.hi > zero) & !free & !is_empty(c);
    Pieces<D> r = {choose(free, entire_of<D>(), div(c, b)), empty_of<D>()};
    if (any(split)) {
        const Interval<D> by_negative = div(c, Interval<D>{b.lo, zero}), by_positive = div(c, Interval<D>{zero, b.hi});
        const Mask<D> above_zero = c.lo > zero;
        r.low = choose(split, choose(above_zero, by_negative, by_positive), r.low);
        r.high = choose(split, choose(above_zero, by_positive, by_negative), r.high);
    }
    return r;
}
// The hull of x and each piece. With L and U the lower and the upper end of div(c, b), where the numerator of both is the end
// of C next to 0 for a B with 0 strictly inside, so that the pieces are -inf .. U and L .. inf:
//
//   B, C                    lower end                         upper end
//   both have 0             x.lo                              x.hi
//   0 strictly inside B     x.lo <= U: x.lo, else as below    x.hi >= L: x.hi, else as below
//   else                    the larger of x.lo and L          the smaller of x.hi and U
// Neither 0/0 nor inf/inf is among the quotients that count: B = [0, 0] without 0 in C leaves nothing.
//
// With u = max(b.lo, -b.hi) and v = max(c.lo, -c.hi): B has 0 where u <= 0, strictly inside where u < 0, likewise C; an empty
// one has +inf. B is [0, 0] or empty where max(b.hi, -b.lo) <= 0.
template <class D>
INFIMUM_FN Interval<D> mul_rev(Interval<D> b, Interval<D> c, Interval<D> x) {
    const D zero = D(0.0);
    const Interval<D> mb = neg(b), mc = neg(c);
    const D u = larger(b.lo, mb.lo), v = larger(c.lo, mc.lo);
    const Mask<D> free = larger(u, v) <= zero, split = u < zero, flip = b.hi <= zero;
    const Interval<D> n0 = choose(flip, mc, c), d0 = choose(flip, mb, b), d = {add_rn(d0.lo, zero), d0.hi};
    const D near = select(c.lo > zero, c.lo, c.hi);
    const Interval<D> n = choose(split, Interval<D>{near, near}, n0);
    const D L = div_rd(n.lo, select(n.lo >= zero, d.hi, d.lo)), U = div_ru(n.hi, select(n.hi >= zero, d.lo, d.hi));
    const D lo = select(split & (x.lo <= U), x.lo, larger(x.lo, L)), hi = select(split & (x.hi >= L), x.hi, smaller(x.hi, U));
    const Mask<D> nothing = (larger(b.hi, mb.hi) <= zero) | (v == D(INFIMUM_INF)) | (lo > hi);
    return choose(free, x, empty_where(nothing, Interval<D>{lo, hi}));
}
template <class D>
INFIMUM_FN Interval<D> mul_rev_pair_low(Interval<D> b, Interval<D> c) {
    return quotient_pieces(b, c).low;
}
template <class D>
INFIMUM_FN Interval<D> mul_rev_pair_high(Interval<D> b, Interval<D> c) {
    return quotient_pieces(b, c).high;
}

// The x that some y in Y takes to min(x, y) in C.
//   y.hi < c.lo    empty
//   y.lo > c.hi    x itself is the minimum: C
//   else           a y in C serves every x >= c.lo
template <class D>
INFIMUM_FN Interval<D> min_rev(Interval<D> c, Interval<D> x, Interval<D> y) {
    const D top = select(y.lo > c.hi, c.hi, D(INFIMUM_INF));
    const Mask<D> nothing = is_empty(c) | is_empty(y) | (y.hi < c.lo);
    return empty_where(nothing, intersection(x, Interval<D>{c.lo, top}));
}
template <class D>
INFIMUM_FN Interval<D> max_rev(Interval<D> c, Interval<D> x, Interval<D> y) {
    return neg(min_rev(neg(c), neg(x), neg(y)));
}

// ---------------------------------------------------------------------------------------------- cancellation
// a - b >= c - d in exact arithmetic, all finite. A difference that overflows is taken of the quarters: its two numbers
// are then so large that nothing is lost, and so is the comparison with one that does not overflow.
template <class D>
INFIMUM_FN Mask<D> difference_is_at_least(D a, D b, D c, D d) {
    const D huge = D(INFIMUM_INF);
    const Mask<D> fits = (magnitude(sub_rn(a, b)) < huge) & (magnitude(sub_rn(c, d)) < huge);
    const D scale = select(fits, D(1.0), D(0.25));
    const DD<D> p = two_sum(mul_rn(a, scale), -mul_rn(b, scale)), q = two_sum(mul_rn(c, scale), -mul_rn(d, scale));
    return (p.h > q.h) | ((p.h == q.h) & (p.l >= q.l));
}
// The z with y + z = x as intervals.
//
//   x            y                       result
//   empty        bounded or empty        empty
//   bounded      bounded, no wider       [x.lo - y.lo, x.hi - y.hi]
//   else                                 entire
template <class D>
INFIMUM_FN Interval<D> cancel_minus(Interval<D> x, Interval<D> y) {
    const D huge = D(INFIMUM_INF), zero = D(0.0);
    const Mask<D> x_bounded = (x.lo > -huge) & (x.hi < huge), y_bounded = (y.lo > -huge) & (y.hi < huge);
    const Mask<D> bounded = x_bounded & y_bounded & !is_empty(x) & !is_empty(y);
    const D a = select(bounded, x.hi, zero), b = select(bounded, y.hi, zero);
    const D c = select(bounded, x.lo, zero), d = select(bounded, y.lo, zero);
    const Mask<D> fits = bounded & difference_is_at_least(a, b, c, d);
    const Interval<D> r = {add_rd(c, -d), add_ru(a, -b)};
    return empty_where(is_empty(x) & (y_bounded | is_empty(y)), choose(fits, r, entire_of<D>()));
}
template <class D>
INFIMUM_FN Interval<D> cancel_plus(Interval<D> x, Interval<D> y) {
    return cancel_minus(x, neg(y));
}

}  // namespace INFIMUM_NAMESPACE
