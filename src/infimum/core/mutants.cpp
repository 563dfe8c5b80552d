// The test build that breaks the core on purpose: the scalar variant with numbered places (sites.h), one active at a time.
#define INFIMUM_NAMESPACE infimum_scalar
#define INFIMUM_RUN infimum_run_scalar
#define INFIMUM_STAGE infimum_stage_scalar
#define INFIMUM_LINEAR infimum_linear_scalar
#define INFIMUM_MUTANTS 1
#include "variant.inc"

namespace infimum_scalar {
int active_mutant = -1;
const char *reached_site = "";
}  // namespace infimum_scalar

extern "C" {
// Those of the operations, and from there on those of linear algebra, up to the end.
int infimum_mutant_count() { return INFIMUM_MUTANTS_BEFORE_LINEAR; }
int infimum_linear_mutant_end() { return __COUNTER__; }
void infimum_set_mutant(int number) {
    infimum_scalar::active_mutant = number;
    infimum_scalar::reached_site = "";
}
const char *infimum_mutant_site() { return infimum_scalar::reached_site; }
// The other variants are not part of this build; their names stay in the table.
#if defined(__x86_64__)
void infimum_run_avx2(int op, const infimum_job *job) { infimum_run_scalar(op, job); }
void infimum_run_avx512(int op, const infimum_job *job) { infimum_run_scalar(op, job); }
int infimum_stage_avx2(int stage, const infimum_tile *tile) { return infimum_stage_scalar(stage, tile); }
int infimum_stage_avx512(int stage, const infimum_tile *tile) { return infimum_stage_scalar(stage, tile); }
void infimum_linear_avx2(int routine, const infimum_linear_job *job, int64_t first, int64_t count, double *space) {
    infimum_linear_scalar(routine, job, first, count, space);
}
void infimum_linear_avx512(int routine, const infimum_linear_job *job, int64_t first, int64_t count, double *space) {
    infimum_linear_scalar(routine, job, first, count, space);
}
#endif
}
