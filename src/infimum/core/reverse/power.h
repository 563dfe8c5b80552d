// Reverse operations of integer and real powers.
#pragma once
#include "../elementary/power.h"
#include "arithmetic.h"

namespace INFIMUM_NAMESPACE {

// ---------------------------------------------------------------------------------------------- pown
// m^(1/n) rounded down and up for 0 <= m <= inf and |n| >= 2, as exp(log(m)/n): the exponent errs by 745 * 2^-82, the
// exponential by 2^-60. Where the nearest double to the power n is m to the last bit, it is the root.
template <class D>
INFIMUM_FN Interval<D> root_ends(D m, long long n) {
    const Mask<D> zero = m == D(0.0), infinite = m == D(INFIMUM_INF), plain = !(zero | infinite);
    const D s = select(plain, m, D(1.0));
    D k, e;
    const DD<D> w = exp_of(over(log_extended(dd(s)), dd(D(static_cast<double>(n)))), k);
    const DD<D> y = fast_two_sum(w.h, w.l);
    Mask<D> exact = zero;
    const DD<D> p = pown_point(mul_rn(y.h, pow2(k)), n, e, exact);
    const D se = full_exponent(s);
    const Mask<D> is_root = exact & (p.h == shifted(s, -se)) & (e == se);
    const D at_zero = n > 0 ? D(0.0) : D(INFIMUM_INF), at_inf = n > 0 ? D(INFIMUM_INF) : D(0.0);
    const D lo = scale_down(below(y, INFIMUM_EXP_ARGUED, is_root), k), hi = scale_up(above(y, INFIMUM_EXP_ARGUED, is_root), k);
    return {select(zero, at_zero, select(infinite, at_inf, lo)), select(zero, at_zero, select(infinite, at_inf, hi))};
}
// x^n in C. With the roots p, q of |c.lo|, |c.hi|, an end of C below 0 counting as 0 for even n:
//
//   n           positive x                                       negative x
//   0           all, if 1 in C                                   all
//   even, > 0   p .. q                                           -q .. -p
//   even, < 0   q .. p, if c.hi > 0                              -p .. -q
//   odd, > 0    one piece, from p or -p to q or -q
//   odd, < 0    q .. (c.lo > 0 ? p : inf), if c.hi > 0           (c.hi < 0 ? -q : -inf) .. -p, if c.lo < 0
template <class D>
INFIMUM_LONG_FN Interval<D> pown_rev(Interval<D> c, Interval<D> x, long long n) {
    const D zero = D(0.0), one = D(1.0), huge = D(INFIMUM_INF);
    if (n == 0) return empty_where(!has(c, one), x);
    if (n == 1) return intersection(x, c);
    if (n == 2) return sqr_rev(c, x);
    if (n == -1) return mul_rev(c, Interval<D>{one, one}, x);
    const bool even = n % 2 == 0;
    const D from = even ? larger(c.lo, zero) : magnitude(c.lo), to = even ? larger(c.hi, zero) : magnitude(c.hi);
    const Interval<D> p = root_ends(from, n), q = root_ends(to, n);
    if (even) {
        const Mask<D> nothing = is_empty(c) | (n > 0 ? c.hi < zero : c.hi <= zero);
        return empty_where(nothing, of_either_sign(n > 0 ? Interval<D>{p.lo, q.hi} : Interval<D>{q.lo, p.hi}, x));
    }
    if (n > 0) {
        const Interval<D> r = {select(c.lo < zero, -p.hi, p.lo), select(c.hi < zero, -q.lo, q.hi)};
        return empty_where(is_empty(c), intersection(x, r));
    }
    const Interval<D> above_zero = {q.lo, select(c.lo > zero, p.hi, huge)};
    const Interval<D> below_zero = {select(c.hi < zero, -q.hi, -huge), -p.lo};
    return empty_where(is_empty(c), hull(empty_where(c.hi <= zero, intersection(x, above_zero)),
                                         empty_where(c.lo >= zero, intersection(x, below_zero))));
}

// ---------------------------------------------------------------------------------------------- pow
// A bound from below and from above of one number; `open`: it is a limit, not a value.
template <class D>
struct Limit {
    D lo, hi;
    Mask<D> open;
};
// The part of x from one number to another; nothing where it touches an open end only.
template <class D>
INFIMUM_FN Interval<D> part_between(Interval<D> x, Limit<D> from, Limit<D> to) {
    const Mask<D> nothing = (from.open & (x.hi <= from.lo)) | (to.open & (x.lo >= to.hi));
    return empty_where(nothing, intersection(x, Interval<D>{from.lo, to.hi}));
}
// c^(1/b) (inverse: c^(-1/b)) rounded down and up from l = log(c), for c and b in [0, inf]. A b below 2^-100 means the same
// as that, for |l| >= 2^-53; the exponent errs by 746 * 2^-82, the exponential by 2^-60.
//
//   c = 1 or b = inf    1                               (open unless c = 1)
//   c = 0 or inf        c                               (inf: open)
//   b = 0               0 for c < 1, inf for c > 1      (open unless c = 0)
// of which the inverse is taken where wanted.
template <class D>
INFIMUM_FN Limit<D> real_root_ends(D c, DD<D> l, D b, bool inverse) {
    const D zero = D(0.0), one = D(1.0), huge = D(INFIMUM_INF);
    const Mask<D> at_end = (c == zero) | (c == huge) | (b == zero);
    const Mask<D> unit = (c == one) | ((b == huge) & !at_end), limit = at_end & !unit;
    const DD<D> t = over(inverse ? -l : l, dd(clamped(b, 0x1p-100, INFIMUM_MAX)));
    const Mask<D> low = t.h < D(-746.0), high = t.h > D(746.0);
    const DD<D> q = {select(unit | limit, zero, select(low, D(-746.0), select(high, D(746.0), t.h))),
                     select(unit | limit | low | high, zero, t.l)};
    D k;
    const DD<D> y = exp_of(q, k);
    const double bound = INFIMUM_EXP_ARGUED;
    const D at_limit = select(inverse ? c < one : c > one, huge, zero);
    const D lo = scale_down(below(y, bound, unit), k), hi = scale_up(above(y, bound, unit), k);
    const Mask<D> open = (c == huge) | ((c != one) & (c != zero) & ((b == zero) | (b == huge)));
    return {select(limit, at_limit, lo), select(limit, at_limit, hi), open};
}
// The x >= 0 with x^b in C for a b in B: c^(1/b) by the b > 0 and by the b < 0, whose exponents log(c)/b have their extremes
// where a quotient of intervals has them (see div).
//   0 in B, 1 in C      every x > 0
//   base 0              for c = 0 and a b > 0 only, where it is the root of 0
template <class D>
INFIMUM_LONG_FN Interval<D> pow_rev1(Interval<D> b, Interval<D> c, Interval<D> x) {
    const D zero = D(0.0), one = D(1.0), huge = D(INFIMUM_INF);
    const D s = larger(c.lo, zero), t = larger(c.hi, zero);
    const DD<D> ls = log_extended(dd(positive_finite(s))), lt = log_extended(dd(positive_finite(t)));
    const Mask<D> s_up = s >= one, t_up = t >= one;
    const D p = larger(b.lo, zero), q = larger(b.hi, zero), m = larger(-b.hi, zero), n = larger(-b.lo, zero);
    const Interval<D> positive = part_between(x, real_root_ends(s, ls, select(s_up, q, p), false),
                                              real_root_ends(t, lt, select(t_up, p, q), false));
    const Interval<D> negative = part_between(x, real_root_ends(t, lt, select(t_up, m, n), true),
                                              real_root_ends(s, ls, select(s_up, n, m), true));
    const Interval<D> r = hull(empty_where((c.hi < zero) | (b.hi <= zero), positive),
                               empty_where((c.hi <= zero) | (b.lo >= zero), negative));
    const Mask<D> free = has(b, zero) & has(c, one) & (x.hi > zero);
    return empty_where(is_empty(b) | is_empty(c), choose(free, intersection(x, Interval<D>{zero, huge}), r));
}

// log(c)/log(a) rounded down and up for c, a in [0, inf], all a of one side of 1: `under_one` says which.
//   c = 1              0
//   c = 0 or inf, a = 1    infinite, by the signs
//   a = 0 or inf       0, open
#define INFIMUM_LOG_RATIO_ARGUED BOUND(0x1p-75)
template <class D>
INFIMUM_FN Limit<D> log_ratio_ends(D c, DD<D> lc, D a, DD<D> la, bool under_one) {
    const D zero = D(0.0), one = D(1.0), huge = D(INFIMUM_INF);
    const Mask<D> infinite = ((c == zero) | (c == huge) | (a == one)) & (c != one);
    const Mask<D> nil = (c == one) | (((a == zero) | (a == huge)) & !infinite);
    const DD<D> y = over(lc, choose(a == one, dd(one), la));
    const D limit = select(under_one ? c < one : c > one, huge, -huge);
    const D lo = below(y, INFIMUM_LOG_RATIO_ARGUED), hi = above(y, INFIMUM_LOG_RATIO_ARGUED);
    const Mask<D> open = nil & (c != one);
    return {select(nil, zero, select(infinite, limit, lo)), select(nil, zero, select(infinite, limit, hi)), open};
}
// The x with a^x in C for an a in A: log(c)/log(a) by the a > 1 and by the a < 1.
//   1 in A, 1 in C      every x
//   0 in A, 0 in C      every x > 0
template <class D>
INFIMUM_LONG_FN Interval<D> pow_rev2(Interval<D> a, Interval<D> c, Interval<D> x) {
    const D zero = D(0.0), one = D(1.0), huge = D(INFIMUM_INF);
    const D s = larger(c.lo, zero), t = larger(c.hi, zero), p = larger(a.lo, zero), q = larger(a.hi, zero);
    const DD<D> ls = log_extended(dd(positive_finite(s))), lt = log_extended(dd(positive_finite(t)));
    const DD<D> lp = log_extended(dd(positive_finite(p))), lq = log_extended(dd(positive_finite(q))), none = dd(zero);
    const Mask<D> s_up = s >= one, t_up = t >= one, below_one = p < one, above_one = q > one;
    // the ends of A on either side of 1: u <= v above, w <= z below
    const D u = larger(p, one), v = q, w = p, z = smaller(q, one);
    const DD<D> lu = choose(below_one, none, lp), lz = choose(above_one, none, lq);
    const Interval<D> up = part_between(x, log_ratio_ends(s, ls, select(s_up, v, u), choose(s_up, lq, lu), false),
                                        log_ratio_ends(t, lt, select(t_up, u, v), choose(t_up, lu, lq), false));
    const Interval<D> down = part_between(x, log_ratio_ends(t, lt, select(t_up, z, w), choose(t_up, lz, lp), true),
                                          log_ratio_ends(s, ls, select(s_up, w, z), choose(s_up, lp, lz), true));
    const Interval<D> r = hull(empty_where((c.hi <= zero) | (a.hi <= one), up),
                               empty_where((c.hi <= zero) | (a.lo >= one) | (a.hi <= zero), down));
    const Interval<D> of_base_zero = empty_where(!(has(a, zero) & has(c, zero) & (x.hi > zero)),
                                                 intersection(x, Interval<D>{zero, huge}));
    const Interval<D> all = choose(has(a, one) & has(c, one), x, hull(r, of_base_zero));
    return empty_where(is_empty(a) | is_empty(c), all);
}

}  // namespace INFIMUM_NAMESPACE
