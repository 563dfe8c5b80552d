// The loops of one CPU variant: an operation over arrays of intervals.
//
// Operand i is read at lo[i*stride], hi[i*stride] with stride 0 (one interval for all) or 1. A stored zero is +0.
#pragma once
#include "abi.h"
#include "core.h"

namespace INFIMUM_NAMESPACE {

#if defined(INFIMUM_AVX512)
typedef V8 Lane;
enum { WIDTH = 8 };
INFIMUM_FN V8 load(const double *p) { return _mm512_loadu_pd(p); }
INFIMUM_FN void store(double *p, V8 x) { _mm512_storeu_pd(p, x.v); }
INFIMUM_FN unsigned mask_bits(M8 m) { return m.m; }
#elif defined(INFIMUM_AVX2)
typedef V4 Lane;
enum { WIDTH = 4 };
INFIMUM_FN V4 load(const double *p) { return _mm256_loadu_pd(p); }
INFIMUM_FN void store(double *p, V4 x) { _mm256_storeu_pd(p, x.v); }
INFIMUM_FN unsigned mask_bits(M4 m) { return static_cast<unsigned>(_mm256_movemask_pd(m.m)); }
#else
typedef double Lane;
enum { WIDTH = 1 };
INFIMUM_FN double load(const double *p) { return *p; }
INFIMUM_FN void store(double *p, double x) { *p = x; }
INFIMUM_FN unsigned mask_bits(bool m) { return m; }
#endif

typedef infimum_value Operand;
struct Job {
    Operand in[3];
    double *lo, *hi;       // nullptr where only facts are wanted
    unsigned char *facts;  // nullptr where only the range is wanted; bits of infimum_fact
    int64_t count, param;
};

INFIMUM_FN Interval<Lane> load_at(const Operand &o, int64_t i) {
    if (o.stride == 0) return {Lane(*o.lo), Lane(*o.hi)};
    return {load(o.lo + i), load(o.hi + i)};
}
INFIMUM_FN void store_at(const Job &job, int64_t i, Interval<Lane> r) {
    store(job.lo + i, add_rn(r.lo, Lane(0.0)));
    store(job.hi + i, add_rn(r.hi, Lane(0.0)));
}
INFIMUM_FN void store_facts(const Job &job, int64_t i, Facts<Lane> f) {
    const unsigned defined = mask_bits(f.defined), smooth = mask_bits(f.smooth);
    for (int j = 0; j < WIDTH; j++)
        job.facts[i + j] =
            static_cast<unsigned char>((defined >> j & 1) * INFIMUM_IS_DEFINED | (smooth >> j & 1) * INFIMUM_IS_SMOOTH);
}
// Whole vectors straight from the arrays; the rest through one padded vector, so that no lane reads beyond an end.
template <class F>
INFIMUM_FN void each(const Job &job, int arity, F f) {
    int64_t i = 0;
    for (; i + WIDTH <= job.count; i += WIDTH) f(job, i);
    if (i == job.count) return;
    double lo[3][WIDTH], hi[3][WIDTH], out_lo[WIDTH], out_hi[WIDTH];
    unsigned char facts[WIDTH];
    Job tail = job;
    for (int a = 0; a < arity; a++) {
        for (int j = 0; j < WIDTH; j++) {
            const int64_t at = job.in[a].stride * (i + j < job.count ? i + j : i);
            lo[a][j] = job.in[a].lo[at];
            hi[a][j] = job.in[a].hi[at];
        }
        tail.in[a] = Operand{lo[a], hi[a], 1};
    }
    tail.lo = out_lo;
    tail.hi = out_hi;
    tail.facts = facts;
    f(tail, int64_t(0));
    for (int j = 0; i + j < job.count; j++) {
        if (job.facts) {
            job.facts[i + j] = facts[j];
        } else {
            job.lo[i + j] = out_lo[j];
            job.hi[i + j] = out_hi[j];
        }
    }
}

typedef void (*Kernel)(const Job &);

#define INFIMUM_ARGS_1 load_at(job.in[0], i)
#define INFIMUM_ARGS_2 load_at(job.in[0], i), load_at(job.in[1], i)
#define INFIMUM_ARGS_3 load_at(job.in[0], i), load_at(job.in[1], i), load_at(job.in[2], i)
#define INFIMUM_KERNEL(name, arity, facts_of, ...)                                                            \
    static void run_##name(const Job &all) {                                                                  \
        each(all, arity, [](const Job &job, int64_t i) __attribute__((always_inline)) {                       \
            store_at(job, i, name(__VA_ARGS__));                                                              \
        });                                                                                                   \
    }                                                                                                         \
    static void know_##name(const Job &all) {                                                                 \
        each(all, arity, [](const Job &job, int64_t i) __attribute__((always_inline)) {                       \
            store_facts(job, i, facts_of(__VA_ARGS__));                                                       \
        });                                                                                                   \
    }
#define OPERATION(name, arity, trust, facts_of) INFIMUM_KERNEL(name, arity, facts_of, INFIMUM_ARGS_##arity)
#define POWER(name, arity, trust, facts_of) INFIMUM_KERNEL(name, arity, facts_of, INFIMUM_ARGS_##arity, job.param)
#include "operations.def"
#undef OPERATION
#undef POWER

static const Kernel range_kernels[] = {
#define OPERATION(name, arity, trust, facts_of) run_##name,
#define POWER(name, arity, trust, facts_of) run_##name,
#include "operations.def"
#undef OPERATION
#undef POWER
};
static const Kernel fact_kernels[] = {
#define OPERATION(name, arity, trust, facts_of) know_##name,
#define POWER(name, arity, trust, facts_of) know_##name,
#include "operations.def"
#undef OPERATION
#undef POWER
};

static void run_job(int op, const Job &job) { (job.facts ? fact_kernels : range_kernels)[op](job); }

}  // namespace INFIMUM_NAMESPACE
