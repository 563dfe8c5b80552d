// The lane `double`: one number. CUDA has directed rounding in hardware; the host gets it from lanes/directed.h.
//
// A lane type D provides
//   nearest    add_rn sub_rn mul_rn div_rn fma_rn sqrt_rn, round_even floor_of            IEEE 754, never contracted
//   directed   add_rd add_ru mul_rd mul_ru div_rd div_ru sqrt_rd sqrt_ru fma_rd fma_ru     exact IEEE 754 results
//   choice     comparisons to a mask, & | !, select, any, smaller larger magnitude
//   bits       exponent pow2 mantissa (of positive normal numbers)
// NaN may enter nearest and directed operations only as 0*inf or inf-inf, and leaves them as NaN.
#pragma once
#include "../machine.h"
#if !INFIMUM_CUDA && defined(__x86_64__)
#include <immintrin.h>
#endif

namespace INFIMUM_NAMESPACE {

INFIMUM_FN double select(bool m, double a, double b) { return m ? a : b; }
INFIMUM_FN bool select(bool m, bool a, bool b) { return m ? a : b; }
INFIMUM_FN bool any(bool m) { return m; }
INFIMUM_FN double smaller(double a, double b) { return b < a ? b : a; }
INFIMUM_FN double larger(double a, double b) { return b > a ? b : a; }

#if INFIMUM_CUDA
INFIMUM_FN long long bits_of(double x) { return __double_as_longlong(x); }
INFIMUM_FN double of_bits(long long i) { return __longlong_as_double(i); }
INFIMUM_FN double magnitude(double a) { return ::fabs(a); }
INFIMUM_FN double add_rn(double a, double b) { return __dadd_rn(a, b); }
INFIMUM_FN double sub_rn(double a, double b) { return __dsub_rn(a, b); }
INFIMUM_FN double mul_rn(double a, double b) { return __dmul_rn(a, b); }
INFIMUM_FN double div_rn(double a, double b) { return __ddiv_rn(a, b); }
INFIMUM_FN double fma_rn(double a, double b, double c) { return __fma_rn(a, b, c); }
INFIMUM_FN double sqrt_rn(double a) { return __dsqrt_rn(a); }
INFIMUM_FN double round_even(double a) { return ::rint(a); }
INFIMUM_FN double floor_of(double a) { return ::floor(a); }
INFIMUM_FN double add_rd(double a, double b) { return __dadd_rd(a, b); }
INFIMUM_FN double add_ru(double a, double b) { return __dadd_ru(a, b); }
INFIMUM_FN double mul_rd(double a, double b) { return __dmul_rd(a, b); }
INFIMUM_FN double mul_ru(double a, double b) { return __dmul_ru(a, b); }
INFIMUM_FN double div_rd(double a, double b) { return __ddiv_rd(a, b); }
INFIMUM_FN double div_ru(double a, double b) { return __ddiv_ru(a, b); }
INFIMUM_FN double sqrt_rd(double a) { return __dsqrt_rd(a); }
INFIMUM_FN double sqrt_ru(double a) { return __dsqrt_ru(a); }
INFIMUM_FN double fma_rd(double a, double b, double c) { return __fma_rd(a, b, c); }
INFIMUM_FN double fma_ru(double a, double b, double c) { return __fma_ru(a, b, c); }
#else
INFIMUM_FN long long bits_of(double x) { long long i; std::memcpy(&i, &x, 8); return i; }
INFIMUM_FN double of_bits(long long i) { double x; std::memcpy(&x, &i, 8); return x; }
INFIMUM_FN double magnitude(double a) { return __builtin_fabs(a); }
INFIMUM_FN double add_rn(double a, double b) { return a + b; }  // the build sets -ffp-contract=off
INFIMUM_FN double sub_rn(double a, double b) { return a - b; }
INFIMUM_FN double mul_rn(double a, double b) { return a * b; }
INFIMUM_FN double div_rn(double a, double b) { return a / b; }
INFIMUM_FN double fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }
INFIMUM_FN double sqrt_rn(double a) { return __builtin_sqrt(a); }  // -fno-math-errno: an instruction, not a call
#if defined(__x86_64__)
// Intrinsics, because GCC calls libm for the builtins in blocks that it takes for cold.
INFIMUM_FN double round_even(double a) {
    const __m128d v = _mm_set_sd(a);
    return _mm_cvtsd_f64(_mm_round_sd(v, v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
INFIMUM_FN double floor_of(double a) {
    const __m128d v = _mm_set_sd(a);
    return _mm_cvtsd_f64(_mm_floor_sd(v, v));
}
#else
INFIMUM_FN double round_even(double a) { return __builtin_rint(a); }
INFIMUM_FN double floor_of(double a) { return __builtin_floor(a); }
#endif
// The next double above x (+-0 -> 2^-1074, +inf stays); of -inf: -MAX.
INFIMUM_FN double next_up(double x) {
    long long i = bits_of(x + 0.0);
    i += i < 0 ? -1 : 1;
    return x == INFIMUM_INF ? x : of_bits(i);
}
#endif

// floor(log2 x) of a positive normal x, as a double.
INFIMUM_FN double exponent(double x) {
    return sub_rn(of_bits((bits_of(x) >> 52) | 0x4330000000000000LL), 0x1p52 + 1023.0);
}
// 2^k for an integral k in [-1022, 1023].
INFIMUM_FN double pow2(double k) {
    const unsigned long long biased = static_cast<unsigned long long>(bits_of(add_rn(k, 0x1p52 + 1023.0)));
    return of_bits(static_cast<long long>(biased << 52));
}
// x / 2^exponent(x) of a positive normal x: in [1, 2).
INFIMUM_FN double mantissa(double x) {
    return of_bits((bits_of(x) & 0x000fffffffffffffLL) | 0x3ff0000000000000LL);
}

}  // namespace INFIMUM_NAMESPACE
