// The lane V4: four doubles in an AVX2 register; directed rounding comes from lanes/directed.h.
#pragma once
#include <immintrin.h>

#include "../machine.h"

namespace INFIMUM_NAMESPACE {

struct M4 {
    __m256d m;
};
INFIMUM_FN M4 operator&(M4 a, M4 b) { return {_mm256_and_pd(a.m, b.m)}; }
INFIMUM_FN M4 operator|(M4 a, M4 b) { return {_mm256_or_pd(a.m, b.m)}; }
INFIMUM_FN M4 operator!(M4 a) { return {_mm256_xor_pd(a.m, _mm256_castsi256_pd(_mm256_set1_epi64x(-1)))}; }
INFIMUM_FN bool any(M4 a) { return _mm256_movemask_pd(a.m) != 0; }

struct V4 {
    __m256d v;
    V4() = default;
    __attribute__((always_inline)) V4(__m256d a) : v(a) {}
    __attribute__((always_inline)) V4(double a) : v(_mm256_set1_pd(a)) {}
};
INFIMUM_FN V4 operator-(V4 a) { return _mm256_xor_pd(a.v, _mm256_set1_pd(-0.0)); }
INFIMUM_FN M4 operator<(V4 a, V4 b) { return {_mm256_cmp_pd(a.v, b.v, _CMP_LT_OQ)}; }
INFIMUM_FN M4 operator<=(V4 a, V4 b) { return {_mm256_cmp_pd(a.v, b.v, _CMP_LE_OQ)}; }
INFIMUM_FN M4 operator>(V4 a, V4 b) { return {_mm256_cmp_pd(a.v, b.v, _CMP_GT_OQ)}; }
INFIMUM_FN M4 operator>=(V4 a, V4 b) { return {_mm256_cmp_pd(a.v, b.v, _CMP_GE_OQ)}; }
INFIMUM_FN M4 operator==(V4 a, V4 b) { return {_mm256_cmp_pd(a.v, b.v, _CMP_EQ_OQ)}; }
INFIMUM_FN M4 operator!=(V4 a, V4 b) { return {_mm256_cmp_pd(a.v, b.v, _CMP_NEQ_UQ)}; }
INFIMUM_FN V4 select(M4 m, V4 a, V4 b) { return _mm256_blendv_pd(b.v, a.v, m.m); }
INFIMUM_FN M4 select(M4 m, M4 a, M4 b) { return {_mm256_blendv_pd(b.m, a.m, m.m)}; }
INFIMUM_FN V4 smaller(V4 a, V4 b) { return _mm256_min_pd(b.v, a.v); }
INFIMUM_FN V4 larger(V4 a, V4 b) { return _mm256_max_pd(b.v, a.v); }
INFIMUM_FN V4 magnitude(V4 a) { return _mm256_andnot_pd(_mm256_set1_pd(-0.0), a.v); }
INFIMUM_FN V4 add_rn(V4 a, V4 b) { return _mm256_add_pd(a.v, b.v); }
INFIMUM_FN V4 sub_rn(V4 a, V4 b) { return _mm256_sub_pd(a.v, b.v); }
INFIMUM_FN V4 mul_rn(V4 a, V4 b) { return _mm256_mul_pd(a.v, b.v); }
INFIMUM_FN V4 div_rn(V4 a, V4 b) { return _mm256_div_pd(a.v, b.v); }
INFIMUM_FN V4 fma_rn(V4 a, V4 b, V4 c) { return _mm256_fmadd_pd(a.v, b.v, c.v); }
INFIMUM_FN V4 sqrt_rn(V4 a) { return _mm256_sqrt_pd(a.v); }
INFIMUM_FN V4 round_even(V4 a) { return _mm256_round_pd(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
INFIMUM_FN V4 floor_of(V4 a) { return _mm256_round_pd(a.v, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC); }

INFIMUM_FN V4 next_up(V4 x) {
    const __m256i i = _mm256_castpd_si256(_mm256_add_pd(x.v, _mm256_setzero_pd()));
    const __m256i negative = _mm256_cmpgt_epi64(_mm256_setzero_si256(), i);  // 0 or -1
    const __m256i step = _mm256_or_si256(negative, _mm256_set1_epi64x(1));   // +1 or -1
    return select(x == V4(INFIMUM_INF), x, V4(_mm256_castsi256_pd(_mm256_add_epi64(i, step))));
}
INFIMUM_FN V4 exponent(V4 x) {
    const __m256i e = _mm256_srli_epi64(_mm256_castpd_si256(x.v), 52);
    const __m256i biased = _mm256_or_si256(e, _mm256_set1_epi64x(0x4330000000000000LL));
    return sub_rn(V4(_mm256_castsi256_pd(biased)), V4(0x1p52 + 1023.0));
}
INFIMUM_FN V4 pow2(V4 k) {
    const V4 biased = add_rn(k, V4(0x1p52 + 1023.0));
    return _mm256_castsi256_pd(_mm256_slli_epi64(_mm256_castpd_si256(biased.v), 52));
}
INFIMUM_FN V4 mantissa(V4 x) {
    const __m256i fraction = _mm256_and_si256(_mm256_castpd_si256(x.v), _mm256_set1_epi64x(0x000fffffffffffffLL));
    return _mm256_castsi256_pd(_mm256_or_si256(fraction, _mm256_set1_epi64x(0x3ff0000000000000LL)));
}

}  // namespace INFIMUM_NAMESPACE
