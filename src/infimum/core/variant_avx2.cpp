#define INFIMUM_NAMESPACE infimum_avx2
#define INFIMUM_AVX2 1
#define INFIMUM_RUN infimum_run_avx2
#define INFIMUM_STAGE infimum_stage_avx2
#define INFIMUM_LINEAR infimum_linear_avx2
#include "variant.inc"
