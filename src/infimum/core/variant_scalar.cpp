#define INFIMUM_NAMESPACE infimum_scalar
#define INFIMUM_RUN infimum_run_scalar
#include "variant.inc"
