// What differs between compilers and processors: how a function is declared, and the checks that no flag breaks rigor.
//
// Every variant of the core (scalar, AVX2, AVX-512, CUDA, mutants) compiles the same headers in a namespace of its own,
// so that the linker can never merge an AVX-512 copy of a template into the code that runs everywhere.
#pragma once

#ifdef __FAST_MATH__
#error "infimum is not rigorous under -ffast-math: remove that flag"
#endif

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define INFIMUM_CUDA 1
#define INFIMUM_FN __device__ __forceinline__
// Long elementary functions are calls on a GPU, where inlining them everywhere would cost minutes of compilation.
#define INFIMUM_LONG_FN __device__ __noinline__
#define INFIMUM_METHOD __device__ __forceinline__
#define INFIMUM_ROLLED _Pragma("unroll 1")  // of a loop: unrolled it would be long, and not faster
#else
#define INFIMUM_CUDA 0
#define INFIMUM_FN static inline __attribute__((always_inline))
#define INFIMUM_LONG_FN static inline __attribute__((always_inline))
#define INFIMUM_METHOD inline
#define INFIMUM_ROLLED
#include <cstdint>
#include <cstring>
#endif

#ifndef INFIMUM_NAMESPACE
#define INFIMUM_NAMESPACE infimum_scalar
#endif

namespace INFIMUM_NAMESPACE {

// Own names: the macros of libc are float-typed or missing under NVRTC.
#define INFIMUM_INF (__builtin_huge_val())
#if INFIMUM_CUDA
#undef INFIMUM_INF
#define INFIMUM_INF (__longlong_as_double(0x7ff0000000000000LL))
#endif
#define INFIMUM_MAX 0x1.fffffffffffffp1023
#define INFIMUM_TINY 0x1p-1074

// What comparing two lanes of type D gives: bool, or one truth value a lane.
template <class D>
using Mask = decltype(D() < D());

}  // namespace INFIMUM_NAMESPACE
