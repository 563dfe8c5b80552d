// The lane V8: eight doubles in an AVX-512 register; the rounding direction is embedded in each instruction.
#pragma once
#include <immintrin.h>

#include "../machine.h"

namespace INFIMUM_NAMESPACE {

struct M8 {
    __mmask8 m;
};
INFIMUM_FN M8 operator&(M8 a, M8 b) { return {static_cast<__mmask8>(a.m & b.m)}; }
INFIMUM_FN M8 operator|(M8 a, M8 b) { return {static_cast<__mmask8>(a.m | b.m)}; }
INFIMUM_FN M8 operator!(M8 a) { return {static_cast<__mmask8>(~a.m)}; }
INFIMUM_FN bool any(M8 a) { return a.m != 0; }
INFIMUM_FN M8 select(M8 m, M8 a, M8 b) { return {static_cast<__mmask8>((m.m & a.m) | (~m.m & b.m))}; }

struct V8 {
    __m512d v;
    V8() = default;
    __attribute__((always_inline)) V8(__m512d a) : v(a) {}
    __attribute__((always_inline)) V8(double a) : v(_mm512_set1_pd(a)) {}
};
INFIMUM_FN V8 operator-(V8 a) { return -a.v; }
INFIMUM_FN M8 operator<(V8 a, V8 b) { return {_mm512_cmp_pd_mask(a.v, b.v, _CMP_LT_OQ)}; }
INFIMUM_FN M8 operator<=(V8 a, V8 b) { return {_mm512_cmp_pd_mask(a.v, b.v, _CMP_LE_OQ)}; }
INFIMUM_FN M8 operator>(V8 a, V8 b) { return {_mm512_cmp_pd_mask(a.v, b.v, _CMP_GT_OQ)}; }
INFIMUM_FN M8 operator>=(V8 a, V8 b) { return {_mm512_cmp_pd_mask(a.v, b.v, _CMP_GE_OQ)}; }
INFIMUM_FN M8 operator==(V8 a, V8 b) { return {_mm512_cmp_pd_mask(a.v, b.v, _CMP_EQ_OQ)}; }
INFIMUM_FN M8 operator!=(V8 a, V8 b) { return {_mm512_cmp_pd_mask(a.v, b.v, _CMP_NEQ_UQ)}; }
INFIMUM_FN V8 select(M8 m, V8 a, V8 b) { return _mm512_mask_blend_pd(m.m, b.v, a.v); }
INFIMUM_FN V8 smaller(V8 a, V8 b) { return _mm512_min_pd(b.v, a.v); }
INFIMUM_FN V8 larger(V8 a, V8 b) { return _mm512_max_pd(b.v, a.v); }
INFIMUM_FN V8 magnitude(V8 a) { return _mm512_abs_pd(a.v); }

#define INFIMUM_RN (_MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
#define INFIMUM_RD (_MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)
#define INFIMUM_RU (_MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC)
INFIMUM_FN V8 add_rn(V8 a, V8 b) { return _mm512_add_pd(a.v, b.v); }
INFIMUM_FN V8 sub_rn(V8 a, V8 b) { return _mm512_sub_pd(a.v, b.v); }
INFIMUM_FN V8 mul_rn(V8 a, V8 b) { return _mm512_mul_pd(a.v, b.v); }
INFIMUM_FN V8 div_rn(V8 a, V8 b) { return _mm512_div_pd(a.v, b.v); }
INFIMUM_FN V8 fma_rn(V8 a, V8 b, V8 c) { return _mm512_fmadd_pd(a.v, b.v, c.v); }
INFIMUM_FN V8 sqrt_rn(V8 a) { return _mm512_sqrt_pd(a.v); }
INFIMUM_FN V8 round_even(V8 a) { return _mm512_roundscale_pd(a.v, INFIMUM_RN); }
INFIMUM_FN V8 floor_of(V8 a) { return _mm512_roundscale_pd(a.v, INFIMUM_RD); }
INFIMUM_FN V8 add_rd(V8 a, V8 b) { return _mm512_add_round_pd(a.v, b.v, INFIMUM_RD); }
INFIMUM_FN V8 add_ru(V8 a, V8 b) { return _mm512_add_round_pd(a.v, b.v, INFIMUM_RU); }
INFIMUM_FN V8 mul_rd(V8 a, V8 b) { return _mm512_mul_round_pd(a.v, b.v, INFIMUM_RD); }
INFIMUM_FN V8 mul_ru(V8 a, V8 b) { return _mm512_mul_round_pd(a.v, b.v, INFIMUM_RU); }
INFIMUM_FN V8 div_rd(V8 a, V8 b) { return _mm512_div_round_pd(a.v, b.v, INFIMUM_RD); }
INFIMUM_FN V8 div_ru(V8 a, V8 b) { return _mm512_div_round_pd(a.v, b.v, INFIMUM_RU); }
INFIMUM_FN V8 sqrt_rd(V8 a) { return _mm512_sqrt_round_pd(a.v, INFIMUM_RD); }
INFIMUM_FN V8 sqrt_ru(V8 a) { return _mm512_sqrt_round_pd(a.v, INFIMUM_RU); }
INFIMUM_FN V8 fma_rd(V8 a, V8 b, V8 c) { return _mm512_fmadd_round_pd(a.v, b.v, c.v, INFIMUM_RD); }
INFIMUM_FN V8 fma_ru(V8 a, V8 b, V8 c) { return _mm512_fmadd_round_pd(a.v, b.v, c.v, INFIMUM_RU); }

INFIMUM_FN V8 pow2(V8 k) {
    const V8 biased = add_rn(k, V8(0x1p52 + 1023.0));
    return _mm512_castsi512_pd(_mm512_slli_epi64(_mm512_castpd_si512(biased.v), 52));
}
// Instructions for what bits.h and double_double.h make of several operations: exact, or rounded once.
INFIMUM_FN V8 zero_for_nan(V8 x) {
    // of the classes of numbers, quiet NaN is the lowest digit of the table: 8 is +0 for it, 1 is x for the others
    return _mm512_fixupimm_pd(x.v, x.v, _mm512_set1_epi64(0x11111118), 0);
}
INFIMUM_FN V8 exponent(V8 x) { return _mm512_getexp_round_pd(x.v, _MM_FROUND_NO_EXC); }
INFIMUM_FN V8 mantissa(V8 x) { return _mm512_getmant_round_pd(x.v, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_zero, _MM_FROUND_NO_EXC); }
INFIMUM_FN V8 full_exponent(V8 x) { return exponent(x); }
INFIMUM_FN V8 full_mantissa(V8 x) { return mantissa(x); }
INFIMUM_FN V8 shifted(V8 x, V8 k) { return _mm512_scalef_pd(x.v, k.v); }
INFIMUM_FN V8 scale_down(V8 y, V8 k) { return _mm512_scalef_round_pd(y.v, k.v, INFIMUM_RD); }
INFIMUM_FN V8 scale_up(V8 y, V8 k) { return _mm512_scalef_round_pd(y.v, k.v, INFIMUM_RU); }
#undef INFIMUM_RN
#undef INFIMUM_RD
#undef INFIMUM_RU

}  // namespace INFIMUM_NAMESPACE
