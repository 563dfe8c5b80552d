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

// The operands and results of a kernel while it runs: where every operand is a row of vectors, one that is the same for all
// lanes a row of one vector, on which `mask` keeps the index.
struct Row {
    const double *lo, *hi;
    int64_t mask;
};
struct Rows {
    Row in[3];
    double *lo, *hi;
    unsigned char *facts;
    int64_t param;
};
// A vector for each end of each operand.
struct Vectors {
    double lo[3][WIDTH], hi[3][WIDTH];
};
INFIMUM_FN Row row_of(const Operand &o, double *lo, double *hi) {
    if (o.stride) return {o.lo, o.hi, -1};
    store(lo, Lane(*o.lo));
    store(hi, Lane(*o.hi));
    return {lo, hi, 0};
}
// The elements from i on, repeated up to a whole vector.
INFIMUM_FN Row tail_of(const Operand &o, int64_t i, int64_t count, double *lo, double *hi) {
    for (int j = 0; j < WIDTH; j++) {
        const int64_t at = o.stride * (i + j < count ? i + j : i);
        lo[j] = o.lo[at];
        hi[j] = o.hi[at];
    }
    return {lo, hi, 0};
}
INFIMUM_FN Interval<Lane> load_at(const Rows &rows, int a, int64_t i) {
    const int64_t at = i & rows.in[a].mask;
    return {load(rows.in[a].lo + at), load(rows.in[a].hi + at)};
}
INFIMUM_FN void store_at(const Rows &rows, int64_t i, Interval<Lane> r) {
    store(rows.lo + i, add_rn(r.lo, Lane(0.0)));
    store(rows.hi + i, add_rn(r.hi, Lane(0.0)));
}
INFIMUM_FN void store_facts(const Rows &rows, int64_t i, Facts<Lane> f) {
    const unsigned defined = mask_bits(f.defined), smooth = mask_bits(f.smooth);
    for (int j = 0; j < WIDTH; j++)
        rows.facts[i + j] =
            static_cast<unsigned char>((defined >> j & 1) * INFIMUM_IS_DEFINED | (smooth >> j & 1) * INFIMUM_IS_SMOOTH);
}
// Whole vectors straight from the arrays, and the rest through one padded vector, so that no lane reads beyond an end: two
// rounds of one loop, which is the only place of the operation's code.
template <int ARITY, class F>
INFIMUM_FN void each(const Job &job, F f) {
    const int64_t count = job.count, whole = count - count % WIDTH;
    Vectors operands;
    double lo[WIDTH], hi[WIDTH];
    unsigned char facts[WIDTH];
    Rows rows = {{}, job.lo, job.hi, job.facts, job.param};
    rows.in[0] = row_of(job.in[0], operands.lo[0], operands.hi[0]);
    if (ARITY > 1) rows.in[1] = row_of(job.in[1], operands.lo[1], operands.hi[1]);
    if (ARITY > 2) rows.in[2] = row_of(job.in[2], operands.lo[2], operands.hi[2]);
    for (int64_t end = whole;; end = WIDTH) {
        for (int64_t i = 0; i < end; i += WIDTH) f(rows, i);
        if (whole == count || rows.lo == lo || rows.facts == facts) break;
        rows.in[0] = tail_of(job.in[0], whole, count, operands.lo[0], operands.hi[0]);
        if (ARITY > 1) rows.in[1] = tail_of(job.in[1], whole, count, operands.lo[1], operands.hi[1]);
        if (ARITY > 2) rows.in[2] = tail_of(job.in[2], whole, count, operands.lo[2], operands.hi[2]);
        rows.lo = lo;
        rows.hi = hi;
        rows.facts = facts;
    }
    for (int64_t i = whole; i < count; i++) {
        if (job.facts) {
            job.facts[i] = facts[i - whole];
        } else {
            job.lo[i] = lo[i - whole];
            job.hi[i] = hi[i - whole];
        }
    }
}

typedef void (*Kernel)(const Job &);

#define INFIMUM_ARGS_1 load_at(rows, 0, i)
#define INFIMUM_ARGS_2 load_at(rows, 0, i), load_at(rows, 1, i)
#define INFIMUM_ARGS_3 load_at(rows, 0, i), load_at(rows, 1, i), load_at(rows, 2, i)
#define INFIMUM_KERNEL(name, arity, facts_of, ...)                                                            \
    static void run_##name(const Job &job) {                                                                  \
        each<arity>(job, [](const Rows &rows, int64_t i) __attribute__((always_inline)) {                     \
            store_at(rows, i, name(__VA_ARGS__));                                                             \
        });                                                                                                   \
    }                                                                                                         \
    static void know_##name(const Job &job) {                                                                 \
        each<arity>(job, [](const Rows &rows, int64_t i) __attribute__((always_inline)) {                     \
            store_facts(rows, i, facts_of(__VA_ARGS__));                                                      \
        });                                                                                                   \
    }
#define OPERATION(name, arity, trust, facts_of) INFIMUM_KERNEL(name, arity, facts_of, INFIMUM_ARGS_##arity)
#define POWER(name, arity, trust, facts_of) INFIMUM_KERNEL(name, arity, facts_of, INFIMUM_ARGS_##arity, rows.param)
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
