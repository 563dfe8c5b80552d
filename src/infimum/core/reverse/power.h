// Reverse operations of integer and real powers.
#pragma once
#include "../elementary/power.h"
#include "arithmetic.h"

namespace INFIMUM_NAMESPACE {

// ---------------------------------------------------------------------------------------------- pown
// m^(1/n) rounded down and up for a finite m > 0 and |n| >= 2, as exp(log(m)/n): the exponent errs by 745 * 2^-82, the
// exponential by 2^-60. Where the nearest double to the power n is m to the last bit, it is the root.
template <class D>
INFIMUM_FN Interval<D> root_by_logarithm(D m, long long n) {
    D k, e;
    const DD<D> w = exp_of(over(log_extended(dd(m)), dd(D(static_cast<double>(n)))), k);
    const DD<D> y = fast_two_sum(w.h, w.l);
    Mask<D> exact = m == m;
    const DD<D> p = pown_point(mul_rn(y.h, pow2(k)), n, e, exact);
    const Mask<D> is_root = exact & (p.h == full_mantissa(m)) & (e == full_exponent(m));
    const D lo = scale_down(below(y, INFIMUM_EXP_ARGUED, is_root), k);
    const D hi = scale_up(above(y, INFIMUM_EXP_ARGUED, is_root), k);
    return {lo, hi};
}

// The same for 2 <= |n| <= 16 by Newton's method, where `good` says that it came near enough.
//
// With N = |n| and m = 2^(N k) s, s in [1, 2^N), the root is 2^k s^(1/N), or 2^-k s^(-1/N) for n < 0. Any double r > 0 for
// the last factor has
//
//     d = 1 - r^N/s  (n > 0)        d = 1 - s r^N  (n < 0)        root = r (1 - d)^(-1/N) = r + r d/N + R
//
//   what                                                    errs
//   r^N in double-double                                    by N 2^-100 <= 2^-96 of itself (power_of)
//   d, s - r^N or 1 - s r^N first                           by 2^-95, and 2^-51 of itself: |d| is below 2^-37 where what is
//                                                           computed is below 2^-38
//   R                                                       nothing is computed: (N + 1)/(2 N^2) d^2 (1 + 2^-30) < 2^-75 r
//   r d/N in double                                         by 2^-50 of itself, which is 2^-88 r, and 2^-95/N r from d
//   their sum                                               exact as a double-double, as is 2^k of it: |k| <= 538
// That is below 2^-74 in all, bound 2^-70, wherever r came from; its own constants are therefore no part of the proof. It
// comes from polynomials for log2 (to 2^-10) and 2^x (to 2^-18) and one step of order 4 in double, which leaves 2^-45.
//
// A root that is a double is the nearest one to the sum, whose low part is then below 2^-70 of it; its power shows it.
#define INFIMUM_ROOT_ARGUED BOUND(0x1p-70)
enum { INFIMUM_LARGEST_NEAR_ROOT = 16 };
// A guess at 2^(x/N), or 2^(-x/N) for the inverse, from x near log2(s) in [0, N], and its improvement by `weight`: 1/s, for
// the inverse s.
template <class D>
INFIMUM_FN D guessed_root(D weight, D x, long long size, bool inverse) {
    // (1 - d)^(-1/N) = 1 + a1 d + a2 d^2 + a3 d^3 + ..
    const double a1 = div_rn(1.0, static_cast<double>(size)), a2 = mul_rn(0.5, fma_rn(a1, a1, a1));
    const double a3 = div_rn(mul_rn(mul_rn(a1, add_rn(a1, 1.0)), add_rn(a1, 2.0)), 6.0);
    const D w = inverse ? fma_rn(x, D(-a1), D(1.0)) : mul_rn(x, D(a1));
    D y = D(0x1.bb7cd44797249p-7);
    y = fma_rn(y, w, D(0x1.aa13f04c087c2p-5));
    y = fma_rn(y, w, D(0x1.ee798a4575472p-3));
    y = fma_rn(y, w, D(0x1.62d1660a1c940p-1));
    y = fma_rn(y, w, D(0x1.00002b827133ap+0));
    if (inverse) y = mul_rn(y, D(0.5));
    D base = y, power = y;
    bool begun = false;
    for (long long k = size; k != 0; k >>= 1) {
        if (k & 1) power = begun ? mul_rn(power, base) : base;
        begun = begun | (k & 1);
        if (k > 1) base = mul_rn(base, base);
    }
    const D d = fma_rn(-weight, power, D(1.0));
    return fma_rn(mul_rn(y, d), fma_rn(fma_rn(D(a3), d, D(a2)), d, D(a1)), y);
}
template <class D, class M>
INFIMUM_FN Interval<D> near_root(D m, long long n, M &good) {
    const long long size = n < 0 ? -n : n;
    const double N = static_cast<double>(size), inverse = div_rn(1.0, N);
    const D one = D(1.0), e = full_exponent(m), t = full_mantissa(m);
    const D k = floor_of(mul_rn(add_rn(e, D(0.5)), D(inverse))), j = fma_rn(k, D(-N), e), s = mul_rn(t, pow2(j));
    D x = D(0x1.4417e5581504cp-3);
    x = fma_rn(x, t, D(-0x1.0d47ae74e9eebp+0));
    x = fma_rn(x, t, D(0x1.86211158d5b3fp+1));
    x = fma_rn(x, t, D(-0x1.13a9d7eceea2bp+1));
    const D weight = n < 0 ? s : div_rn(one, s);
    const D r = guessed_root(weight, add_rn(x, j), size, n < 0);
    D unused;
    Mask<D> exact = m == m;
    const DD<D> p = power_of(r, size, unused, exact);
    D d;
    if (n < 0) {
        const DD<D> q = times(p, s);
        d = sub_rn(sub_rn(one, q.h), q.l);
    } else {
        d = mul_rn(sub_rn(sub_rn(s, p.h), p.l), weight);
    }
    good = (r > D(0.0)) & (magnitude(d) < K(0x1p-38));
    const DD<D> y = fast_two_sum(r, mul_rn(r, mul_rn(d, D(inverse))));
    Mask<D> is_root = magnitude(y.l) < D(0x1p-60);
    if (any(is_root)) {
        const DD<D> back = power_of(y.h, size, unused, exact);
        is_root = n < 0 ? (s == one) & (y.h == one) : exact & (back.h == s);
    }
    const D scale = pow2(n < 0 ? -k : k);
    const D lo = mul_rn(below(y, INFIMUM_ROOT_ARGUED, is_root), scale);
    const D hi = mul_rn(above(y, INFIMUM_ROOT_ARGUED, is_root), scale);
    return {lo, hi};
}
// m^(1/n) rounded down and up for 0 <= m <= inf and |n| >= 2.
template <class D>
INFIMUM_FN Interval<D> root_ends(D m, long long n) {
    const D zero = D(0.0), huge = D(INFIMUM_INF);
    const Mask<D> is_zero = m == zero, infinite = m == huge;
    const D s = select(is_zero | infinite, D(1.5), m);  // the root of 1.5 is of the usual kind
    const bool near = n >= -INFIMUM_LARGEST_NEAR_ROOT && n <= INFIMUM_LARGEST_NEAR_ROOT;
    Mask<D> good = m != m;
    Interval<D> r = {zero, huge};
    if (near) r = near_root(s, n, good);
    if (any(!good)) r = choose(good, r, root_by_logarithm(s, n));
    const D at_zero = n > 0 ? zero : huge, at_inf = n > 0 ? huge : zero;
    return {select(is_zero, at_zero, select(infinite, at_inf, r.lo)), select(is_zero, at_zero, select(infinite, at_inf, r.hi))};
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
