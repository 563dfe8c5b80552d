// sinh, cosh, tanh and their inverses, in double-double from the kernels of exp and log.
//
//   |x| = k ln2 + r, w = exp(r), p = w - 1
//   sinh|x|  k = 0: (p + p/w)/2     k > 0: 2^(k-1) (w - 4^-k/w)        the difference is at least w/2: no cancellation
//   cosh x   2^(k-1) (w + 4^-k/w)
//   tanh|x|  q/(q + 2), q = expm1(2|x|)
//   asinh|x| log1p(x + x^2/(1 + sqrt(1 + x^2)))       x >= 2^500: log(x) + ln2
//   acosh x  log1p(d + sqrt(d (d + 2))), d = x - 1    x >= 2^500: log(x) + ln2
//   atanh|x| |x| <= 0.17: two_atanh(x)/2              else log((1 + x)/(1 - x))/2
// Each is a kernel (2^-60) and at most ten double-double operations (2^-100), without cancellation: below 2^-58.
#pragma once
#include "log.h"

namespace INFIMUM_NAMESPACE {

#define INFIMUM_HYPERBOLIC_ARGUED BOUND(0x1p-57)

// The k, p and w above for 0 <= x <= 750; w normalised.
template <class D>
INFIMUM_FN void exp_parts(D x, D &k, DD<D> &p, DD<D> &w) {
    const DD<D> e = expm1_kernel(exp_reduce(x, k));
    p = fast_two_sum(e.h, e.l);
    const DD<D> o = one_plus(e);
    w = fast_two_sum(o.h, o.l);
}
// 4^-k; beyond k = 100 its share of the result is below 2^-200 and 0 stands for it within the bound.
template <class D>
INFIMUM_FN D four_to_minus(D k) {
    const D c = pow2(-smaller(k, D(101.0)));
    return select(k > D(100.0), D(0.0), mul_rn(c, c));
}
// sinh(m) = 2^(k-1) y, m >= 0.
template <class D>
INFIMUM_FN DD<D> sinh_point(D m, D &k) {
    DD<D> p, w;
    exp_parts(m, k, p, w);
    const Mask<D> near = k == D(0.0);
    return plus(choose(near, p, w), over(choose(near, p, dd(-four_to_minus(k))), w));
}
template <class D>
INFIMUM_LONG_FN Interval<D> sinh(Interval<D> x) {
    const D a = smaller(magnitude(x.lo), D(750.0)), b = smaller(magnitude(x.hi), D(750.0));
    D ka, kb;
    const DD<D> ya = sinh_point(a, ka), yb = sinh_point(b, kb);
    const Mask<D> na = x.lo < D(0.0), nb = x.hi < D(0.0), za = a == D(0.0), zb = b == D(0.0);
    const double bound = INFIMUM_HYPERBOLIC_ARGUED;
    const D one = D(1.0);
    const D lo = select(na, -scale_up(above(ya, bound, za), sub_rn(ka, one)),
                        scale_down(below(ya, bound, za), sub_rn(ka, one)));
    const D hi = select(nb, -scale_down(below(yb, bound, zb), sub_rn(kb, one)),
                        scale_up(above(yb, bound, zb), sub_rn(kb, one)));
    return empty_where(is_empty(x), Interval<D>{lo, hi});
}
template <class D>
INFIMUM_FN DD<D> cosh_point(D m, D &k) {
    DD<D> p, w;
    exp_parts(m, k, p, w);
    return plus(w, over(dd(four_to_minus(k)), w));
}
template <class D>
INFIMUM_LONG_FN Interval<D> cosh(Interval<D> x) {
    const Interval<D> m = abs(x);
    const D a = smaller(m.lo, D(750.0)), b = smaller(m.hi, D(750.0));
    D ka, kb;
    const DD<D> ya = cosh_point(a, ka), yb = cosh_point(b, kb);
    const D one = D(1.0);
    const D lo = scale_down(below(ya, INFIMUM_HYPERBOLIC_ARGUED, a == D(0.0)), sub_rn(ka, one));
    const D hi = scale_up(above(yb, INFIMUM_HYPERBOLIC_ARGUED, b == D(0.0)), sub_rn(kb, one));
    return empty_where(is_empty(x), Interval<D>{larger(lo, one), hi});
}
// tanh of 0 <= m: cut at 30, where 1 - tanh = 2^-85.
template <class D>
INFIMUM_FN DD<D> tanh_point(D m) {
    D k;
    const D c = smaller(m, D(30.0));
    const DD<D> y = expm1_point(add_rn(c, c), k);
    const DD<D> q = scaled(y, pow2(k));
    return over(q, plus(q, dd(D(2.0))));
}
// The ends of an odd increasing function from its value at |x|.
template <class D, class M>
INFIMUM_FN D odd_below(D x, DD<D> y, double bound, M exact) {
    return select(x < D(0.0), -above(y, bound, exact), below(y, bound, exact));
}
template <class D, class M>
INFIMUM_FN D odd_above(D x, DD<D> y, double bound, M exact) {
    return select(x < D(0.0), -below(y, bound, exact), above(y, bound, exact));
}
template <class D>
INFIMUM_LONG_FN Interval<D> tanh(Interval<D> x) {
    const double bound = INFIMUM_HYPERBOLIC_ARGUED;
    const D one = D(1.0);
    const D lo = odd_below(x.lo, tanh_point(magnitude(x.lo)), bound, x.lo == D(0.0));
    const D hi = odd_above(x.hi, tanh_point(magnitude(x.hi)), bound, x.hi == D(0.0));
    return empty_where(is_empty(x), Interval<D>{larger(lo, -one), smaller(hi, one)});
}

// log(x) + ln2 for x >= 2^500: what asinh and acosh are there, up to 2^-1000.
template <class D>
INFIMUM_FN DD<D> log_twice(D x) {
    return plus(log_of(dd(x)), DD<D>{K(0x1.62e42fefa39efp-1), K(0x1.abc9e3b39803fp-56)});
}
template <class D>
INFIMUM_FN DD<D> asinh_point(D m) {
    const Mask<D> big = m > D(0x1p500);
    const D x = select(big, D(1.0), m);
    const DD<D> xx = two_prod(x, x), one = dd(D(1.0));
    const DD<D> t = plus(dd(x), over(xx, plus(one, root(plus(one, xx)))));
    return choose(big, log_twice(select(big, m, D(0x1p500))), log1p_of(t));
}
template <class D>
INFIMUM_LONG_FN Interval<D> asinh(Interval<D> x) {
    const double bound = INFIMUM_HYPERBOLIC_ARGUED;
    const D a = smaller(magnitude(x.lo), D(INFIMUM_MAX)), b = smaller(magnitude(x.hi), D(INFIMUM_MAX));
    const D lo = odd_below(x.lo, asinh_point(a), bound, x.lo == D(0.0));
    const D hi = odd_above(x.hi, asinh_point(b), bound, x.hi == D(0.0));
    const Interval<D> r = {select(x.lo == D(-INFIMUM_INF), x.lo, lo), select(x.hi == D(INFIMUM_INF), x.hi, hi)};
    return empty_where(is_empty(x), r);
}
template <class D>
INFIMUM_FN DD<D> acosh_point(D x) {
    const Mask<D> big = x > D(0x1p500);
    const DD<D> d = two_sum(select(big, D(2.0), x), D(-1.0));
    const DD<D> t = plus(d, root(times(d, plus(d, dd(D(2.0))))));
    return choose(big, log_twice(select(big, x, D(0x1p500))), log1p_of(t));
}
template <class D>
INFIMUM_LONG_FN Interval<D> acosh(Interval<D> x) {
    const D a = clamped(x.lo, 1.0, INFIMUM_MAX), b = clamped(x.hi, 1.0, INFIMUM_MAX);
    const D lo = below(acosh_point(a), INFIMUM_HYPERBOLIC_ARGUED, a == D(1.0));
    const D hi = above(acosh_point(b), INFIMUM_HYPERBOLIC_ARGUED, b == D(1.0));
    const Interval<D> r = {lo, select(x.hi == D(INFIMUM_INF), x.hi, hi)};
    return empty_where(is_empty(x) | (x.hi < D(1.0)), r);
}
// atanh of 0 <= m < 1. (1 + m) and (1 - m) are exact; beyond 0.17 the ratio exceeds 1.4 and its logarithm 0.34.
template <class D>
INFIMUM_FN DD<D> atanh_point(D m) {
    const Mask<D> near = m <= D(0.17);
    const DD<D> ratio = over(two_sum(D(1.0), m), two_sum(D(1.0), -m));
    D k;
    const DD<D> v = log_reduce(ratio, k);
    const DD<D> f = fast_two_sum(sub_rn(v.h, D(1.0)), v.l);
    const DD<D> y = plus_k_ln2(select(near, D(0.0), k), two_atanh(choose(near, dd(m), atanh_argument(f))));
    return scaled(y, D(0.5));
}
template <class D>
INFIMUM_LONG_FN Interval<D> atanh(Interval<D> x) {
    const double bound = INFIMUM_HYPERBOLIC_ARGUED;
    const D one = D(1.0);
    const Mask<D> a_inside = magnitude(x.lo) < one, b_inside = magnitude(x.hi) < one;
    const D a = select(a_inside, x.lo, D(0.0)), b = select(b_inside, x.hi, D(0.0));
    const D lo = odd_below(a, atanh_point(magnitude(a)), bound, a == D(0.0));
    const D hi = odd_above(b, atanh_point(magnitude(b)), bound, b == D(0.0));
    const Interval<D> r = {select(x.lo <= -one, D(-INFIMUM_INF), lo), select(x.hi >= one, D(INFIMUM_INF), hi)};
    return empty_where(is_empty(x) | (x.lo >= one) | (x.hi <= -one), r);
}

}  // namespace INFIMUM_NAMESPACE
