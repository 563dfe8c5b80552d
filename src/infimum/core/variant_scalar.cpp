#define INFIMUM_NAMESPACE infimum_scalar
#define INFIMUM_RUN infimum_run_scalar
#define INFIMUM_STAGE infimum_stage_scalar
#define INFIMUM_LINEAR infimum_linear_scalar
#include "variant.inc"
