// The whole interval core for one lane type: include this after choosing INFIMUM_NAMESPACE.
#pragma once
#include "machine.h"
#include "lanes/double.h"
#if !INFIMUM_CUDA
#include "bits.h"
#define INFIMUM_LANE double
#include "lanes/directed.h"
#undef INFIMUM_LANE
#endif
#ifdef INFIMUM_AVX2
#include "lanes/avx2.h"
#define INFIMUM_LANE V4
#include "lanes/directed.h"
#undef INFIMUM_LANE
#endif
#ifdef INFIMUM_AVX512
#include "lanes/avx512.h"
#endif
#include "facts.h"
#include "reverse.h"
