// log Gamma and its first two derivatives, digamma and trigamma, for x > 0.
//
// Below 16 the argument is shifted: with n the least integer for which z = x + n >= 16,
//   lgamma x     lgamma z - log(x (x + 1) .. (x + n - 1))
//   digamma x    digamma z - 1/x - .. - 1/(x + n - 1)
//   trigamma x   trigamma z + 1/x^2 + .. + 1/(x + n - 1)^2
// and at z each is Stirling's series, with r = 1/z and the Bernoulli numbers b(2), b(4), ..:
//   lgamma z     (z - 1/2)(log z - 1) + log(2 pi)/2 - 1/2 + sum of b(2k)/(2k (2k - 1)) r^(2k - 1), k = 1 .. 10
//   digamma z    log z - r/2 - sum of b(2k)/(2k) r^(2k), k = 1 .. 10
//   trigamma z   r + r^2/2 + sum of b(2k) r^(2k + 1), k = 1 .. 8
// For z > 0 the error of such a sum is smaller than the first term left out: 2^-80, 2^-79.8, 2^-70.
//
// The logarithms err by 2^-83 of themselves, each double-double operation by 2^-100. So lgamma below 16 errs by 2^-76
// absolutely, digamma by 2^-79; near their zeros, where that is too much, they are Taylor polynomials:
//
//   function   zero             nearer than     the rest is below, relatively
//   lgamma     1, 2             2^-16           2^-65
//   digamma    1.4616...        2^-17           2^-68
// Below 2^-100 lgamma x = -log x, digamma x = -1/x and trigamma x = 1/x^2, up to 2^-99 of it.
// Together: below 2^-58. A result is kept small until it is rounded; its product with a power of two is exact or overflows,
// which is outward to nearest too where the end is the farther one from zero.
#pragma once
#include "power.h"

namespace INFIMUM_NAMESPACE {

#define INFIMUM_GAMMA_ARGUED BOUND(0x1p-57)
// The largest double below the zero of digamma, which the next double is above.
#define INFIMUM_GAMMA_TURN 0x1.762d86356be3fp0

template <class D>
INFIMUM_FN Mask<D> is_near_zero(D x) {
    return x < D(0x1p-100);
}
// How many steps lead from x to 16.
template <class D>
INFIMUM_FN D steps_to_16(D x) {
    return larger(sub_rn(D(16.0), floor_of(x)), D(0.0));
}
// d (c + d t): a Taylor polynomial at a zero, whose terms from d^2 on need no low part.
template <class D>
INFIMUM_FN DD<D> from_zero(DD<D> d, DD<D> c, D t) {
    return times(d, plus(c, two_prod(d.h, t)));
}

// ---------------------------------------------------------------------------------------------- lgamma
// What a result is divided by, so that it does not overflow before it is rounded.
template <class D>
INFIMUM_FN D gamma_size(D x) {
    return select(x > D(0x1p900), D(0x1p100), D(1.0));
}
// lgamma(z) over gamma_size for z >= 16. Where that is not 1, everything but the product is below 2^-800 of it.
template <class D>
INFIMUM_FN DD<D> lgamma_stirling(DD<D> z) {
    const DD<D> r = over(dd(D(1.0)), z), rr = times(r, r);
    D t = K(-0x1.6476701181f3ap0);
    t = fma_rn(t, rr.h, K(0x1.6fe96381e068p-3));
    t = fma_rn(t, rr.h, K(-0x1.e4286cb0f5398p-6));
    t = fma_rn(t, rr.h, K(0x1.a41a41a41a41ap-8));
    t = fma_rn(t, rr.h, K(-0x1.f6ab0d9993c7dp-10));
    t = fma_rn(t, rr.h, K(0x1.b951e2b18ff23p-11));
    t = fma_rn(t, rr.h, K(-0x1.3813813813814p-11));
    t = fma_rn(t, rr.h, K(0x1.a01a01a01a01ap-11));
    DD<D> s = plus(DD<D>{K(-0x1.6c16c16c16c17p-9), K(0x1.f49f49f49f49fp-64)}, times(rr, t));
    s = plus(DD<D>{K(0x1.5555555555555p-4), K(0x1.5555555555555p-58)}, times(rr, s));
    const DD<D> rest = plus(DD<D>{K(0x1.acfe390c97d69p-2), K(0x1.3494bc9001442p-56)}, times(r, s));
    const D down = div_rn(D(1.0), gamma_size(z.h));
    const DD<D> factor = plus(scaled(z, down), dd(D(-0.5)));
    return plus(times(factor, plus(log_extended(z), dd(D(-1.0)))), rest);
}
// lgamma(1 + d) and lgamma(2 + d).
template <class D>
INFIMUM_FN DD<D> lgamma_near(D d, Mask<D> two) {
    D t = select(two, K(0x1.51322ac7d8483p-6), K(0x1.151322ac7d848p-2));
    t = fma_rn(t, d, select(two, K(-0x1.13e001a557607p-4), K(-0x1.9a4d55beab2d7p-2)));
    t = fma_rn(t, d, select(two, K(0x1.4a34cc4a60fa6p-2), K(0x1.a51a6625307d3p-1)));
    const DD<D> c = {select(two, K(0x1.b0ee6072093cep-2), K(-0x1.2788cfc6fb619p-1)), K(0x1.6cb90701fbfabp-58)};
    return from_zero(dd(d), c, t);
}
// lgamma(x) over gamma_size for 0 < x < inf.
template <class D>
INFIMUM_FN DD<D> lgamma_point(D x) {
    const Mask<D> small = is_near_zero(x), shift = x < D(16.0), two = x > D(1.5);
    const D n = steps_to_16(x);
    DD<D> y = lgamma_stirling(two_sum(x, n));
    if (any(shift)) {
        DD<D> p = dd(D(1.0));
        for (int i = 0; i < 16; i++) {
            const Mask<D> here = D(static_cast<double>(i)) < n;
            p = choose(here, times(p, two_sum(x, D(static_cast<double>(i)))), p);
        }
        const DD<D> l = log_extended(choose(small, dd(x), p));
        y = choose(shift, minus(choose(small, dd(D(0.0)), y), l), y);
        const D d = sub_rn(x, select(two, D(2.0), D(1.0)));
        y = choose(magnitude(d) < D(0x1p-16), lgamma_near(d, two), y);
    }
    return y;
}
//   x.hi <= turn        falls: [value at hi, value at lo]
//   x.lo > turn         rises: [value at lo, value at hi]
//   else                [least value, the larger value]
//   x.lo <= 0, x.hi = +inf: +inf is the upper end
template <class D>
INFIMUM_LONG_FN Interval<D> lgamma(Interval<D> x) {
    const D zero = D(0.0), one = D(1.0), two = D(2.0), huge = D(INFIMUM_INF), least = K(-0x1.f19b9bcc38a42p-4);
    const D turn = K(INFIMUM_GAMMA_TURN), a = positive_finite(x.lo), b = positive_finite(x.hi);
    const DD<D> ya = lgamma_point(a), yb = lgamma_point(b);
    const double bound = INFIMUM_GAMMA_ARGUED;
    const Mask<D> falls = x.hi <= turn, rises = x.lo > turn;
    const Mask<D> a_exact = (a == one) | (a == two), b_exact = (b == one) | (b == two);
    const D left = mul_rn(above(ya, bound, a_exact), gamma_size(a)), right = mul_rn(above(yb, bound, b_exact), gamma_size(b));
    const D end = select(falls, b, a);
    const D low = mul_rd(below(choose(falls, yb, ya), bound, (end == one) | (end == two)), gamma_size(end));
    const D lo = select(falls | rises, larger(low, least), least);
    const D hi = select((x.lo <= zero) | (x.hi == huge), huge, select(falls, left, select(rises, right, larger(left, right))));
    return empty_where(is_empty(x) | (x.hi <= zero), Interval<D>{lo, hi});
}

// ---------------------------------------------------------------------------------------------- digamma
template <class D>
INFIMUM_FN DD<D> digamma_stirling(DD<D> z) {
    const DD<D> r = over(dd(D(1.0)), z), rr = times(r, r);
    D t = K(0x1.a74ca514ca515p4);
    t = fma_rn(t, rr.h, K(-0x1.86e7f9b9fe6e8p1));
    t = fma_rn(t, rr.h, K(0x1.c5e5e5e5e5e5ep-2));
    t = fma_rn(t, rr.h, K(-0x1.5555555555555p-4));
    t = fma_rn(t, rr.h, K(0x1.5995995995996p-6));
    t = fma_rn(t, rr.h, K(-0x1.f07c1f07c1f08p-8));
    t = fma_rn(t, rr.h, K(0x1.1111111111111p-8));
    t = fma_rn(t, rr.h, K(-0x1.041041041041p-8));
    DD<D> s = plus(dd(K(0x1.1111111111111p-7)), times(rr, t));
    s = plus(DD<D>{K(-0x1.5555555555555p-4), K(-0x1.5555555555555p-58)}, times(rr, s));
    return plus(log_extended(z), plus(scaled(r, D(-0.5)), times(rr, s)));
}
// digamma near its zero, which is given in three parts: x less the first is exact.
template <class D>
INFIMUM_FN DD<D> digamma_near(D x) {
    const DD<D> e = two_sum(sub_rn(x, K(INFIMUM_GAMMA_TURN)), -K(0x1.b86a722197829p-54));
    const DD<D> d = fast_two_sum(e.h, sub_rn(e.l, K(0x1.e0d62a6be90c7p-109)));
    D t = K(-0x1.4fc1317257da8p-3);
    t = fma_rn(t, d.h, K(0x1.08b4294d50381p-2));
    t = fma_rn(t, d.h, K(-0x1.c563b54aa1a35p-2));
    return from_zero(d, DD<D>{K(0x1.ef72bc8ee38acp-1), K(-0x1.3879eb97bf58dp-55)}, t);
}
// digamma(x), 0 < x < inf; below 2^-100, 2^-200 of it.
template <class D>
INFIMUM_FN DD<D> digamma_point(D x) {
    const Mask<D> small = is_near_zero(x), shift = x < D(16.0);
    const D n = steps_to_16(x), one = D(1.0);
    DD<D> y = digamma_stirling(two_sum(x, n));
    if (any(shift)) {
        DD<D> s = dd(D(0.0));
        const D v = select(small, one, x);
        for (int i = 0; i < 16; i++) {
            const Mask<D> here = D(static_cast<double>(i)) < n;
            s = choose(here, plus(s, over(dd(one), two_sum(v, D(static_cast<double>(i))))), s);
        }
        y = choose(shift, minus(y, s), y);
        y = choose(magnitude(sub_rn(x, D(INFIMUM_GAMMA_TURN))) < D(0x1p-17), digamma_near(x), y);
        y = choose(small, over(dd(-one), dd(select(small, mul_rn(x, D(0x1p200)), one))), y);
    }
    return y;
}
template <class D>
INFIMUM_FN D digamma_size(D x) {
    return select(is_near_zero(x), D(0x1p200), D(1.0));
}
template <class D>
INFIMUM_LONG_FN Interval<D> digamma(Interval<D> x) {
    const D a = positive_finite(x.lo), b = positive_finite(x.hi);
    const double bound = INFIMUM_GAMMA_ARGUED;
    const D lo = mul_rn(below(digamma_point(a), bound), digamma_size(a));
    const D hi = mul_ru(above(digamma_point(b), bound), digamma_size(b));
    return log_ends(x, lo, hi);
}

// ---------------------------------------------------------------------------------------------- trigamma
template <class D>
INFIMUM_FN DD<D> trigamma_stirling(DD<D> z) {
    const DD<D> r = over(dd(D(1.0)), z), rr = times(r, r);
    D t = K(-0x1.c5e5e5e5e5e5ep2);
    t = fma_rn(t, rr.h, K(0x1.2aaaaaaaaaaabp0));
    t = fma_rn(t, rr.h, K(-0x1.033033033033p-2));
    t = fma_rn(t, rr.h, K(0x1.364d9364d9365p-4));
    t = fma_rn(t, rr.h, K(-0x1.1111111111111p-5));
    t = fma_rn(t, rr.h, K(0x1.8618618618618p-6));
    t = fma_rn(t, rr.h, K(-0x1.1111111111111p-5));
    t = fma_rn(t, rr.h, K(0x1.5555555555555p-3));
    return plus(r, plus(scaled(rr, D(0.5)), times(r, two_prod(rr.h, t))));
}
// trigamma(x), 0 < x < inf; below 2^-100, 2^-600 of it. An x below 2^-520 means the same as that: the value is above MAX.
template <class D>
INFIMUM_FN DD<D> trigamma_point(D x) {
    const Mask<D> small = is_near_zero(x), shift = x < D(16.0);
    const D n = steps_to_16(x), one = D(1.0);
    DD<D> y = trigamma_stirling(two_sum(x, n));
    if (any(shift)) {
        const D v = select(small, mul_rn(larger(x, D(0x1p-520)), D(0x1p300)), x);
        DD<D> s = dd(D(0.0));
        for (int i = 0; i < 16; i++) {
            const Mask<D> here = D(static_cast<double>(i)) < select(small, one, n);
            const DD<D> r = over(dd(one), two_sum(v, D(static_cast<double>(i))));
            s = choose(here, plus(s, times(r, r)), s);
        }
        y = choose(small, s, choose(shift, plus(y, s), y));
    }
    return y;
}
template <class D>
INFIMUM_FN D trigamma_size(D x) {
    return select(is_near_zero(x), D(0x1p600), D(1.0));
}
//   x.lo <= 0     upper +inf          x.hi = +inf    lower 0          x.hi <= 0    empty
template <class D>
INFIMUM_LONG_FN Interval<D> trigamma(Interval<D> x) {
    const D a = positive_finite(x.lo), b = positive_finite(x.hi), zero = D(0.0);
    const double bound = INFIMUM_GAMMA_ARGUED;
    const D lo = mul_rd(below(trigamma_point(b), bound), trigamma_size(b));
    const D hi = mul_rn(above(trigamma_point(a), bound), trigamma_size(a));
    const Interval<D> r = {select(x.hi == D(INFIMUM_INF), zero, larger(lo, zero)), select(x.lo <= zero, D(INFIMUM_INF), hi)};
    return empty_where(is_empty(x) | (x.hi <= zero), r);
}

}  // namespace INFIMUM_NAMESPACE
