// The test build that breaks the core on purpose: the scalar variant with numbered places (sites.h), one active at a time.
#define INFIMUM_NAMESPACE infimum_scalar
#define INFIMUM_RUN infimum_run_scalar
#define INFIMUM_STAGE infimum_stage_scalar
#define INFIMUM_MUTANTS 1
#include "variant.inc"

namespace infimum_scalar {
int active_mutant = -1;
const char *reached_site = "";
}  // namespace infimum_scalar

extern "C" {
int infimum_mutant_count() { return __COUNTER__; }
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
#endif
}
