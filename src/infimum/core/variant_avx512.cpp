#define INFIMUM_NAMESPACE infimum_avx512
#define INFIMUM_AVX512 1
#define INFIMUM_RUN infimum_run_avx512
#define INFIMUM_STAGE infimum_stage_avx512
#define INFIMUM_LINEAR infimum_linear_avx512
#include "variant.inc"
