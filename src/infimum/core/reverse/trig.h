// Reverse operations of the sine family and of the angles.
//
// The solutions of f(x) in C are one interval on each branch m, a stretch of half a turn on which f is monotone. With
// p and q the principal values of c.lo and c.hi (of c.hi and c.lo for cos, so that p <= q):
//
//   f      branch m                  even m              odd m                        p, q
//   sin    (m - 1/2) pi ..           m pi + [p, q]       m pi - [p, q]                asin
//   tan    (m - 1/2) pi ..           m pi + [p, q]       m pi + [p, q]                atan
//   cos    m pi ..                   m pi + [p, q]       (m + 1) pi - [p, q]          acos
// The smallest x >= L with f(x) in C lies on the branch of L, or at the start of the next one; the largest x <= H is
// minus the smallest x >= -H of the mirrored function. Whatever lies between them belongs to the hull.
#pragma once
#include "../elementary/atan.h"
#include "../elementary/hyperbolic.h"
#include "../elementary/trig.h"
#include "arithmetic.h"

namespace INFIMUM_NAMESPACE {

enum class Wave { sine, cosine, tangent };

// The principal values p <= q; `exact` where p.h or q.h is the value itself.
template <class D>
struct Principal {
    DD<D> p, q;
    Mask<D> p_exact, q_exact;
};
// Those of f(-x): sin and tan are odd, cos is even.
template <class D>
INFIMUM_FN Principal<D> mirrored(Principal<D> v, Wave f) {
    if (f == Wave::cosine) return v;
    return {-v.q, -v.p, v.q_exact, v.p_exact};
}
// The two ends of branch m as multiples of a half turn plus an offset.
template <class D>
struct Branch {
    D base;
    DD<D> from, to;
    Mask<D> from_exact, to_exact;
};
template <class D>
INFIMUM_FN Branch<D> branch(Principal<D> v, D m, Mask<D> odd, Wave f) {
    if (f == Wave::tangent) return {m, v.p, v.q, v.p_exact, v.q_exact};
    const D base = f == Wave::cosine ? add_rn(m, select(odd, D(1.0), D(0.0))) : m;
    return {base, choose(odd, -v.q, v.p), choose(odd, -v.p, v.q), select(odd, v.q_exact, v.p_exact),
            select(odd, v.p_exact, v.q_exact)};
}

// The offset with its own error, 2^-58 of it at most, taken off or added; the sum with its base then errs by 2^-100.
#define INFIMUM_BRANCH_ARGUED BOUND(0x1p-95)
template <class D>
INFIMUM_FN DD<D> lowered(DD<D> offset, double bound, Mask<D> exact) {
    return {offset.h, select(exact, offset.l, sub_rn(offset.l, margin(offset, bound)))};
}
template <class D>
INFIMUM_FN DD<D> raised(DD<D> offset, double bound, Mask<D> exact) {
    return {offset.h, select(exact, offset.l, add_rn(offset.l, margin(offset, bound)))};
}

// The smallest x >= L from the branch of L and the start of the next. An inexact end lies strictly within its bounds, so
// an L that equals the upper bound of its branch's end is past it.
template <class D>
INFIMUM_FN D first_solution(D L, D from, D to, Mask<D> to_exact, D next) {
    const Mask<D> here = (L < to) | (to_exact & (L == to));
    return select(here, larger(L, from), next);
}
// With both ends, X and whether there is any solution at all. Infinite ends stay.
template <class D>
INFIMUM_FN Interval<D> solutions(Interval<D> x, D lo, D hi, Mask<D> nothing) {
    const Interval<D> r = {select(x.lo == D(-INFIMUM_INF), x.lo, lo), select(x.hi == D(INFIMUM_INF), x.hi, hi)};
    return empty_where(nothing | is_empty(x), intersection(x, empty_where(is_empty(r), r)));
}

// ---------------------------------------------------------------------------------------------- sin, cos, tan
// `base` half turns of pi near L, which is m pi + phi. Up to 2^30 the multiple of pi itself, exact at 0; beyond, counted
// from L, where m is known modulo 4 only.
// Either errs by 2^-100 of L.
template <class D>
struct Position {
    D L, m;
    DD<D> phi;
    Mask<D> far;
};
template <class D>
INFIMUM_FN DD<D> half_turn_point(Position<D> at, D base) {
    const DD<D> pi = {K(0x1.921fb54442d18p1), K(0x1.1a62633145c07p-53)};
    const DD<D> near = times(pi, base);
    if (!any(at.far)) return near;
    return choose(at.far, plus(dd(at.L), minus(times(pi, sub_rn(base, at.m)), at.phi)), near);
}
// Where L stands: its branch m and phi = L - m pi, from L = k pi/2 + r.
//            k even                            k odd
//   sin tan  m = k/2                           m = (k - 1)/2 for r < 0, else (k + 1)/2
//   cos      m = k/2 - 1 for r < 0, else k/2   m = (k - 1)/2
template <class D>
INFIMUM_FN Position<D> position(D L, Wave f) {
    Position<D> at;
    const Mask<D> near = magnitude(L) <= D(INFIMUM_TRIG_NEAR), finite = magnitude(L) < D(INFIMUM_INF);
    at.L = L;
    at.far = finite & !near;
    D k;
    DD<D> r = near_reduce(select(near, L, D(0.0)), k);
    if (any(at.far)) far_reduce(at.far, L, k, r);
    at.m = f == Wave::cosine ? half_turns(r, k) : add_rn(half_turns(r, sub_rn(k, D(1.0))), D(1.0));
    at.phi = r;
    if (any(at.far)) {
        const DD<D> half_pi = {K(0x1.921fb54442d18p0), K(0x1.1a62633145c07p-54)};
        at.phi = plus(r, times(half_pi, sub_rn(k, add_rn(at.m, at.m))));
    }
    return at;
}
template <class D>
INFIMUM_FN D first_of_wave(D L, Principal<D> v, Wave f) {
    const Position<D> at = position(L, f);
    const Mask<D> odd = is_odd(at.m);
    const Branch<D> b = branch(v, at.m, odd, f), n = branch(v, add_rn(at.m, D(1.0)), !odd, f);
    const Mask<D> b_zero = (b.base == D(0.0)) & !at.far, n_zero = (n.base == D(0.0)) & !at.far;
    const DD<D> here = half_turn_point(at, b.base), next = half_turn_point(at, n.base);
    const double own = INFIMUM_ATAN_ARGUED, bound = INFIMUM_BRANCH_ARGUED;
    const D from = below(plus(here, lowered(b.from, own, b.from_exact)), bound, b.from_exact & b_zero);
    const D to = above(plus(here, raised(b.to, own, b.to_exact)), bound, b.to_exact & b_zero);
    const D start = below(plus(next, lowered(n.from, own, n.from_exact)), bound, n.from_exact & n_zero);
    return first_solution(L, from, to, b.to_exact & b_zero, start);
}
template <class D>
INFIMUM_FN Interval<D> wave_rev(Interval<D> x, Principal<D> v, Wave f, Mask<D> nothing) {
    const D lo = first_of_wave(x.lo, v, f), hi = -first_of_wave(-x.hi, mirrored(v, f), f);
    return solutions(x, lo, hi, nothing);
}
// C without a value of sin or cos.
template <class D>
INFIMUM_FN Mask<D> outside_unit(Interval<D> c) {
    return is_empty(c) | (c.lo > D(1.0)) | (c.hi < D(-1.0));
}
template <class D>
INFIMUM_FN Principal<D> arc_sines(Interval<D> c) {
    const D a = clamped(c.lo, -1.0, 1.0), b = clamped(c.hi, -1.0, 1.0);
    return {asin_point(a), asin_point(b), a == D(0.0), b == D(0.0)};
}
template <class D>
INFIMUM_FN Principal<D> arc_cosines(Interval<D> c) {
    const D a = clamped(c.lo, -1.0, 1.0), b = clamped(c.hi, -1.0, 1.0);
    return {angle(cofactor(magnitude(b)), dd(b)), angle(cofactor(magnitude(a)), dd(a)), b == D(1.0), a == D(1.0)};
}
template <class D>
INFIMUM_LONG_FN Interval<D> sin_rev(Interval<D> c, Interval<D> x) {
    return wave_rev(x, arc_sines(c), Wave::sine, outside_unit(c));
}
template <class D>
INFIMUM_LONG_FN Interval<D> cos_rev(Interval<D> c, Interval<D> x) {
    return wave_rev(x, arc_cosines(c), Wave::cosine, outside_unit(c));
}
template <class D>
INFIMUM_LONG_FN Interval<D> tan_rev(Interval<D> c, Interval<D> x) {
    const Principal<D> v = {atan_point(c.lo), atan_point(c.hi), c.lo == D(0.0), c.hi == D(0.0)};
    return wave_rev(x, v, Wave::tangent, is_empty(c));
}

// ---------------------------------------------------------------------------------------------- sinpi, cospi
// An angle in half turns: v / pi. Those of 0 and +-1 are exact.
template <class D>
INFIMUM_FN DD<D> in_half_turns(DD<D> v) {
    return times(v, DD<D>{K(0x1.45f306dc9c883p-2), K(-0x1.6b01ec5417056p-56)});
}
template <class D>
INFIMUM_FN Principal<D> in_half_turns(Principal<D> v, Interval<D> c, Wave f) {
    const bool cosine = f == Wave::cosine;
    const D a = clamped(cosine ? c.hi : c.lo, -1.0, 1.0), b = clamped(cosine ? c.lo : c.hi, -1.0, 1.0), one = D(1.0);
    const Mask<D> a_exact = (a == D(0.0)) | (magnitude(a) == one), b_exact = (b == D(0.0)) | (magnitude(b) == one);
    // asin/pi of -1, 0, 1 is c/2, acos/pi is (1 - c)/2
    const D pa = mul_rn(cosine ? sub_rn(one, a) : a, D(0.5)), pb = mul_rn(cosine ? sub_rn(one, b) : b, D(0.5));
    return {choose(a_exact, dd(pa), in_half_turns(v.p)), choose(b_exact, dd(pb), in_half_turns(v.q)), a_exact, b_exact};
}
// From 2^52 on every double is an integer and a period is two of them: L stays.
template <class D>
INFIMUM_FN D first_of_pi_wave(D given, Principal<D> v, Wave f) {
    const Mask<D> huge = !(magnitude(given) < D(0x1p52));
    const D L = select(huge, D(0.0), given);
    const D m = f == Wave::cosine ? floor_of(L) : round_even(L);
    const Mask<D> odd = is_odd(m);
    const Branch<D> b = branch(v, m, odd, f), n = branch(v, add_rn(m, D(1.0)), !odd, f);
    const double own = INFIMUM_ATAN_ARGUED, bound = INFIMUM_BRANCH_ARGUED;
    const DD<D> from = plus(dd(b.base), lowered(b.from, own, b.from_exact));
    const DD<D> to = plus(dd(b.base), raised(b.to, own, b.to_exact));
    const DD<D> start = plus(dd(n.base), lowered(n.from, own, n.from_exact));
    const D zero = D(0.0);
    const Mask<D> to_exact = b.to_exact & (to.l == zero);
    const D first = first_solution(L, below(from, bound, b.from_exact & (from.l == zero)), above(to, bound, to_exact),
                                   to_exact, below(start, bound, n.from_exact & (start.l == zero)));
    return select(huge, given, first);
}
template <class D>
INFIMUM_FN Interval<D> pi_wave_rev(Interval<D> x, Principal<D> v, Wave f, Mask<D> nothing) {
    const D lo = first_of_pi_wave(x.lo, v, f), hi = -first_of_pi_wave(-x.hi, mirrored(v, f), f);
    return solutions(x, lo, hi, nothing);
}
template <class D>
INFIMUM_LONG_FN Interval<D> sinpi_rev(Interval<D> c, Interval<D> x) {
    return pi_wave_rev(x, in_half_turns(arc_sines(c), c, Wave::sine), Wave::sine, outside_unit(c));
}
template <class D>
INFIMUM_LONG_FN Interval<D> cospi_rev(Interval<D> c, Interval<D> x) {
    return pi_wave_rev(x, in_half_turns(arc_cosines(c), c, Wave::cosine), Wave::cosine, outside_unit(c));
}

template <class D>
INFIMUM_LONG_FN Interval<D> cosh_rev(Interval<D> c, Interval<D> x) {
    return of_either_sign(acosh(c), x);
}

// ---------------------------------------------------------------------------------------------- angles
// The largest doubles below pi/2 and pi.
#define INFIMUM_HALF_PI 0x1.921fb54442d18p0
#define INFIMUM_PI 0x1.921fb54442d18p1

template <class D>
INFIMUM_LONG_FN Interval<D> tan_at(D angle) {
    return tan(Interval<D>{angle, angle});
}
// tan on the part of C in [-pi/2, pi/2], its ends infinite where C reaches there; empty where there is none.
template <class D>
INFIMUM_FN Interval<D> right_slopes(Interval<D> c) {
    const double h = INFIMUM_HALF_PI;
    const D lo = tan_at(clamped(c.lo, -h, h)).lo, hi = tan_at(clamped(c.hi, -h, h)).hi;
    const Interval<D> r = {select(c.lo < D(-h), D(-INFIMUM_INF), lo), select(c.hi > D(h), D(INFIMUM_INF), hi)};
    return empty_where(is_empty(c) | (c.lo > D(h)) | (c.hi < D(-h)), r);
}
template <class D>
INFIMUM_LONG_FN Interval<D> atan_rev(Interval<D> c, Interval<D> x) {
    return intersection(x, right_slopes(c));
}

// The first argument y of atan2(y, b): y = b tan(angle) on each side of the vertical, and any y of the angle's sign on it.
//   right   angle in [-pi/2, pi/2], b >= 0
//   left    angle in [pi/2, pi], b <= 0, y >= 0; mirrored below
template <class D>
INFIMUM_FN Interval<D> right_ordinates(Interval<D> c, Interval<D> b) {
    const Interval<D> t = right_slopes(c), a = nonnegative(b), r = mul(a, t);
    const Mask<D> vertical = a.lo == D(0.0);
    const D huge = D(INFIMUM_INF);
    return {select(vertical & (t.lo == -huge), -huge, r.lo), select(vertical & (t.hi == huge), huge, r.hi)};
}
template <class D>
INFIMUM_FN Interval<D> left_ordinates(Interval<D> c, Interval<D> b) {
    const double h = INFIMUM_HALF_PI, p = INFIMUM_PI;
    const D zero = D(0.0), huge = D(INFIMUM_INF);
    // |b| times -tan, which falls from inf just above pi/2 to 0 at pi
    const D far = -tan_at(clamped(c.lo, 0x1.921fb54442d19p0, p)).lo, near = -tan_at(clamped(c.hi, 0x1.921fb54442d19p0, p)).hi;
    const Interval<D> t = {select(c.hi > D(p), zero, larger(near, zero)), select(c.lo <= D(h), huge, far)};
    const Interval<D> a = nonnegative(neg(b)), r = mul(a, empty_where(is_empty(c) | (c.lo > D(p)) | (c.hi <= D(h)), t));
    return {r.lo, select((a.lo == zero) & (t.hi == huge) & !is_empty(r), huge, r.hi)};
}
template <class D>
INFIMUM_LONG_FN Interval<D> atan2_rev1(Interval<D> b, Interval<D> c, Interval<D> x) {
    const Interval<D> right = intersection(x, right_ordinates(c, b)), above_axis = intersection(x, left_ordinates(c, b));
    return hull(hull(right, above_axis), intersection(x, neg(left_ordinates(neg(c), b))));
}

// The second argument x of atan2(a, x): x = a / tan(angle) above and below the axis, and on it any x > 0 for the angle 0,
// any x < 0 for pi.
//   above   angle in [0, pi], a >= 0; 1/tan falls from inf at 0 to -inf at pi
template <class D>
INFIMUM_FN D cotangent_above(D angle) {
    return recip(tan_at(angle)).hi;
}
template <class D>
INFIMUM_FN D cotangent_below(D angle) {
    return recip(tan_at(angle)).lo;
}
template <class D>
INFIMUM_FN Interval<D> abscissas(Interval<D> c, Interval<D> a) {
    const double p = INFIMUM_PI, tiny = INFIMUM_TINY;
    const D zero = D(0.0), huge = D(INFIMUM_INF);
    const D lo = cotangent_below(clamped(c.hi, tiny, p)), hi = cotangent_above(clamped(c.lo, tiny, p));
    const Interval<D> t0 = {select(c.hi > D(p), -huge, select(c.hi <= zero, huge, lo)), select(c.lo <= zero, huge, hi)};
    const Interval<D> u = nonnegative(a), t = {smaller(t0.lo, D(INFIMUM_MAX)), t0.hi};
    const Mask<D> nothing = is_empty(c) | (c.lo > D(p)) | (c.hi < zero) | ((c.hi <= zero) & (u.lo > zero));
    const Interval<D> r = mul(u, empty_where(nothing, t));
    const Mask<D> axis = (u.lo == zero) & !is_empty(r);
    return {select(axis & (t.lo == -huge), -huge, r.lo), select(axis & (t.hi == huge), huge, r.hi)};
}
template <class D>
INFIMUM_LONG_FN Interval<D> atan2_rev2(Interval<D> a, Interval<D> c, Interval<D> x) {
    return hull(intersection(x, abscissas(c, a)), intersection(x, abscissas(neg(c), neg(a))));
}

}  // namespace INFIMUM_NAMESPACE
