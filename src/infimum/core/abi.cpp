// The C interface of the core: choose a variant, put the floating-point control word into its default state, run.
#include "abi.h"

#include <exception>
#include <thread>
#include <vector>

#include "floating_point.h"
#include "schedule.h"
#include "variants.h"

namespace {

typedef void (*Run)(int, const infimum_job *);

struct Variant {
    const char *name;
    Run run;
    Stage stage;
    Linear linear;
    bool usable;
};

const Variant *variants(int *count) {
#if defined(__x86_64__)
    static const bool fma = __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2");
    static const bool wide = fma && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
    static const Variant table[] = {{"scalar", infimum_run_scalar, infimum_stage_scalar, infimum_linear_scalar, fma},
                                    {"avx2", infimum_run_avx2, infimum_stage_avx2, infimum_linear_avx2, fma},
                                    {"avx512", infimum_run_avx512, infimum_stage_avx512, infimum_linear_avx512, wide}};
#else
    static const Variant table[] = {{"scalar", infimum_run_scalar, infimum_stage_scalar, infimum_linear_scalar, true}};
#endif
    *count = static_cast<int>(sizeof table / sizeof *table);
    return table;
}

struct Operation {
    const char *name, *trust;
    int arity;
};
const Operation operations[] = {
#define OPERATION(name, arity, trust, facts) {#name, #trust, arity},
#define POWER(name, arity, trust, facts) {#name, #trust, arity},
#include "operations.def"
#undef OPERATION
#undef POWER
};
const int operation_count = static_cast<int>(sizeof operations / sizeof *operations);

// The part [from, to) of a job.
infimum_job part(const infimum_job &job, int64_t from, int64_t to) {
    infimum_job p = job;
    for (int i = 0; i < 6; i++)
        if (p.in[i]) p.in[i] += from * p.strides[i / 2];
    if (p.lo) p.lo += from;
    if (p.hi) p.hi += from;
    if (p.facts) p.facts += from;
    p.count = to - from;
    return p;
}
void run_here(Run run, int op, const infimum_job &job) {
    const DefaultFloatingPoint state;
    run(op, &job);
}

}  // namespace

Stage stage_of(int variant) {
    int count;
    return variants(&count)[variant].stage;
}
Linear linear_of(int variant) {
    int count;
    return variants(&count)[variant].linear;
}

extern "C" {

int infimum_abi() { return 5; }
int infimum_operation_count() { return operation_count; }
const char *infimum_operation_name(int op) { return op < 0 || op >= operation_count ? "" : operations[op].name; }
const char *infimum_operation_trust(int op) { return op < 0 || op >= operation_count ? "" : operations[op].trust; }
int infimum_operation_arity(int op) { return op < 0 || op >= operation_count ? 0 : operations[op].arity; }
int infimum_variant_count() {
    int count;
    variants(&count);
    return count;
}
const char *infimum_variant_name(int v) {
    int count;
    const Variant *table = variants(&count);
    return v < 0 || v >= count ? "" : table[v].name;
}
int infimum_variant_usable(int v) {
    int count;
    const Variant *table = variants(&count);
    return v >= 0 && v < count && table[v].usable;
}

// Returns an infimum_status. Pieces are multiples of 64 elements, so that no result depends on the number of threads.
int infimum_apply(int variant, int op, const infimum_job *job, int threads) {
    if (op < 0 || op >= operation_count) return INFIMUM_NO_OPERATION;
    if (!infimum_variant_usable(variant)) return INFIMUM_NO_VARIANT;
    if (job->count < 0 || threads < 1) return INFIMUM_BAD_SIZES;
    int count;
    const Run run = variants(&count)[variant].run;
    if (threads == 1 || job->count < 64 * threads) {
        run_here(run, op, *job);
        return INFIMUM_OK;
    }
    const int64_t piece = (job->count / threads + 63) / 64 * 64;
    std::vector<std::thread> pool;
    int status = INFIMUM_OK;
    try {
        for (int64_t from = 0; from < job->count; from += piece) {
            const int64_t to = from + piece < job->count ? from + piece : job->count;
            pool.emplace_back(run_here, run, op, part(*job, from, to));
        }
    } catch (const std::exception &) {
        status = INFIMUM_NO_THREAD;
    }
    for (std::thread &t : pool) t.join();
    return status;
}

// Run a checked program on `count` boxes: inputs (count, n), the i-th output (count, its size), all row-major. In point
// mode it is evaluated at the points in_lo, and in_hi and out_hi are not used. Returns an infimum_status.
int infimum_run_program(int variant, int mode, const infimum_program *program, int64_t count, const double *in_lo,
                        const double *in_hi, double *const *out_lo, double *const *out_hi, int threads) {
    if (!infimum_variant_usable(variant)) return INFIMUM_NO_VARIANT;
    if (count < 0 || threads < 1 || mode < INFIMUM_INTERVAL_MODE || mode > INFIMUM_POINT_MODE) return INFIMUM_BAD_SIZES;
    int variant_count;
    const Stage stage = variants(&variant_count)[variant].stage;
    return run_batch({program, stage, mode == INFIMUM_POINT_MODE, count, in_lo, in_hi, out_lo, out_hi, threads});
}
}
