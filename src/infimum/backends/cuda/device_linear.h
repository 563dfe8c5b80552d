// Small linear algebra on a GPU: a thread takes one box after the other, with working memory of its own. The text says which
// routine it is for, so that no kernel holds more than it needs.
#pragma once
#define INFIMUM_LINEAR_BY_THREADS 1
#include "core.h"
#include "linear/run.h"

namespace INFIMUM_NAMESPACE {

enum { LINEAR_THREADS = 128, LINEAR_INPUTS = 9, LINEAR_OUTPUTS = 4 };  // linear.py has the same

// sizes: n, m, rounds, and which inputs there are, a bit each.
struct LinearArguments {
    const double *in[LINEAR_INPUTS];
    const unsigned char *marks;
    double *out[LINEAR_OUTPUTS];
    unsigned char *flags;
    double *scratch;
    const long long *sizes;
    long long count;
};

INFIMUM_FN void all_of_linear(int routine, const LinearArguments &a) {
    infimum_linear_job job = {};
    job.count = a.count;
    job.n = a.sizes[0];
    job.m = a.sizes[1];
    job.rounds = a.sizes[2];
    for (int i = 0; i < LINEAR_INPUTS; i++) job.in[i] = a.sizes[3] >> i & 1 ? a.in[i] : nullptr;
    for (int i = 0; i < LINEAR_OUTPUTS; i++) job.out[i] = a.out[i];
    job.marks = a.marks;
    job.flags = a.flags;
    const long long thread = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x, threads = pitch_of_numbers();
    for (long long box = thread; box < a.count; box += threads)
        run_linear(routine, job, {box, 1, a.count}, Storage<double>{a.scratch + thread});
}

}  // namespace INFIMUM_NAMESPACE

#ifndef INFIMUM_LINEAR_ENTRY
#define INFIMUM_LINEAR_ENTRY(name, routine)                                                                             \
    extern "C" __global__ void __launch_bounds__(INFIMUM_NAMESPACE::LINEAR_THREADS)                                     \
        infimum_##name(const double *a, const double *b, const double *c, const double *d, const double *e,             \
                       const double *f, const double *g, const double *h, const double *i, const unsigned char *marks,  \
                       double *p, double *q, double *r, double *s, unsigned char *flags, double *scratch,               \
                       const long long *sizes, long long count) {                                                       \
        const INFIMUM_NAMESPACE::LinearArguments all = {{a, b, c, d, e, f, g, h, i}, marks, {p, q, r, s},               \
                                                        flags, scratch, sizes, count};                                  \
        INFIMUM_NAMESPACE::all_of_linear(routine, all);                                                                 \
    }
#endif
