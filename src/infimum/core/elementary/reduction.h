// x = k pi/2 + r for the sine family, any finite x.
//
//   |x| <= 2^30     three-part Cody-Waite with fma
//   beyond          Payne-Hanek: x times the bits of 2/pi that matter, in 256-bit integers, lane by lane
#pragma once
#include "../double_double.h"

namespace INFIMUM_NAMESPACE {

#define INFIMUM_TRIG_NEAR 0x1p30

// |x| <= 2^30. u is exact: P1 has 50 significant bits, so x - k P1 is a multiple of 2^-53 below 1, or of 2^-49 for
// |x| >= 8. No double up to 2^30 is closer than 2^-62 to a nonzero multiple of pi/2, so the error of r, 2^-105 |r| + 2^-130, is
// below 2^-67 relative and the sign of r is certain.
template <class D>
INFIMUM_FN DD<D> near_reduce(D x, D &k) {
    k = round_even(mul_rn(x, K(0x1.45f306dc9c883p-1)));
    const D u = fma_rn(-k, K(0x1.921fb54442d18p0), x);
    const DD<D> p = two_prod(k, K(0x1.1a62633145c07p-54));
    const DD<D> s = two_sum(u, -p.h);
    return fast_two_sum(s.h, sub_rn(sub_rn(s.l, p.l), mul_rn(k, K(-0x1.f1976b7ed8fbcp-110))));
}

// The upper 64 bits of a product.
INFIMUM_FN unsigned long long high_product(unsigned long long a, unsigned long long b) {
#if INFIMUM_CUDA
    return __umul64hi(a, b);
#else
    return static_cast<unsigned long long>((static_cast<unsigned __int128>(a) * b) >> 64);
#endif
}
// 2^20 <= x < inf, k modulo 8. With x = M 2^E, M of 53 bits, the bits of 2/pi of weight 2^-i with E - i >= 3 add multiples
// of 8 and are skipped; 256 bits follow from there (64 zeros stand before the first, for E < 3). The product modulo 2^256
// over 2^253 is x 2/pi modulo 8 up to 2^53/2^253; no double is closer than 2^-62 to a multiple of pi/2, so the fraction
// is known to 2^-129 relative: its 192 leading bits are kept, and become a double-double without cancellation.
INFIMUM_LONG_FN DD<double> far_reduce_positive(double x, double &k) {
    typedef unsigned long long Word;
    const Word two_over_pi[22] = {
        0x0000000000000000ULL, 0xa2f9836e4e441529ULL, 0xfc2757d1f534ddc0ULL, 0xdb6295993c439041ULL,
        0xfe5163abdebbc561ULL, 0xb7246e3a424dd2e0ULL, 0x06492eea09d1921cULL, 0xfe1deb1cb129a73eULL,
        0xe88235f52ebb4484ULL, 0xe99c7026b45f7e41ULL, 0x3991d639835339f4ULL, 0x9c845f8bbdf9283bULL,
        0x1ff897ffde05980fULL, 0xef2f118b5a0a6d1fULL, 0x6d367ecf27cb09b7ULL, 0x4f463f669e5fea2dULL,
        0x7527bac7ebe5f17bULL, 0x3d0739f78a5292eaULL, 0x6bfb5fb11f8d5d08ULL, 0x56033046fc7b6babULL,
        0xf0cfbc209af4361dULL, 0xa9e391615ee61b08ULL};
    const long long bits = bits_of(x);
    const Word M = (static_cast<Word>(bits) & 0x000fffffffffffffULL) | 0x0010000000000000ULL;
    const int E = static_cast<int>(bits >> 52) - 1075, offset = E + 61, word = offset / 64, shift = offset % 64;
    Word w[4], p[4];
    for (int i = 0; i < 4; i++) {
        const Word upper = two_over_pi[word + i] << shift;
        w[3 - i] = shift == 0 ? upper : upper | two_over_pi[word + i + 1] >> (64 - shift);
    }
    Word carry = 0;
    for (int i = 0; i < 4; i++) {
        const Word low = M * w[i];
        p[i] = low + carry;
        carry = high_product(M, w[i]) + (p[i] < low ? 1 : 0);
    }
    Word a2 = p[3] << 3 | p[2] >> 61, a1 = p[2] << 3 | p[1] >> 61, a0 = p[1] << 3 | p[0] >> 61;
    const bool up = a2 >> 63;  // the fraction is at least 1/2: round k up, the rest is negative
    if (up) {
        a0 = ~a0;
        a1 = ~a1;
        a2 = ~a2;  // one unit of 2^-192 short of the negation: as much as the cut
    }
    k = static_cast<double>((p[3] >> 61) + (up ? 1 : 0));
    const double part[6] = {static_cast<double>(a0 & 0xffffffff) * 0x1p-192, static_cast<double>(a0 >> 32) * 0x1p-160,
                            static_cast<double>(a1 & 0xffffffff) * 0x1p-128, static_cast<double>(a1 >> 32) * 0x1p-96,
                            static_cast<double>(a2 & 0xffffffff) * 0x1p-64,  static_cast<double>(a2 >> 32) * 0x1p-32};
    DD<double> f = dd(part[0]);
    for (int i = 1; i < 6; i++) f = plus(dd(part[i]), f);
    const DD<double> r = times(f, DD<double>{0x1.921fb54442d18p0, 0x1.1a62633145c07p-54});
    return up ? -r : r;
}
INFIMUM_FN DD<double> far_reduce_one(double x, double &k) {
    const DD<double> r = far_reduce_positive(magnitude(x), k);
    if (x > 0) return r;
    k = k == 0.0 ? 0.0 : sub_rn(8.0, k);
    return -r;
}
// far_reduce_one for every lane in which `wanted` holds; k in 0 .. 8 there, k and r unchanged elsewhere.
template <class D>
INFIMUM_FN void far_reduce(Mask<D> wanted, D x, D &k, DD<D> &r) {
    const D safe = select(wanted, x, D(0x1p40));
#if INFIMUM_CUDA
    D far_k;
    const DD<D> far = far_reduce_one(safe, far_k);
#else
    enum { LANES = sizeof(D) / sizeof(double) };
    double in[LANES], out_k[LANES], out_h[LANES], out_l[LANES];
    std::memcpy(in, &safe, sizeof safe);
    for (int i = 0; i < LANES; i++) {
        const DD<double> y = far_reduce_one(in[i], out_k[i]);
        out_h[i] = y.h;
        out_l[i] = y.l;
    }
    D far_k;
    DD<D> far;
    std::memcpy(&far_k, out_k, sizeof far_k);
    std::memcpy(&far.h, out_h, sizeof far.h);
    std::memcpy(&far.l, out_l, sizeof far.l);
#endif
    k = select(wanted, far_k, k);
    r = choose(wanted, far, r);
}

// Both ends of an interval reduced together, so that k counts quarter turns from a common start: k of `hi` minus k of
// `lo` is the true difference. A width of 7 or more (infinite ends included) is `wide`: it holds whole periods, and both
// ends stand at 0.
template <class D>
struct Reduced {
    DD<D> r_lo, r_hi;
    D k_lo, k_hi;
    Mask<D> wide;
};
template <class D>
INFIMUM_FN Reduced<D> trig_reduce(Interval<D> x) {
    Reduced<D> t;
    t.wide = !(sub_rn(x.hi, x.lo) < D(7.0));
    const Mask<D> near = (magnitude(x.lo) <= D(INFIMUM_TRIG_NEAR)) & (magnitude(x.hi) <= D(INFIMUM_TRIG_NEAR));
    const Mask<D> usable = near & !t.wide, far = !(near | t.wide);
    t.r_lo = near_reduce(select(usable, x.lo, D(0.0)), t.k_lo);
    t.r_hi = near_reduce(select(usable, x.hi, D(0.0)), t.k_hi);
    if (any(far)) {
        far_reduce(far, x.lo, t.k_lo, t.r_lo);
        far_reduce(far, x.hi, t.k_hi, t.r_hi);
        // the difference of two k modulo 8 is at most 5 for a width below 7
        const D d = sub_rn(t.k_hi, t.k_lo);
        t.k_hi = select(far & (d < D(0.0)), add_rn(t.k_hi, D(8.0)), t.k_hi);
        t.k_hi = select(far & (d > D(6.0)), sub_rn(t.k_hi, D(8.0)), t.k_hi);
    }
    return t;
}

}  // namespace INFIMUM_NAMESPACE
