// The operations as the virtual machine runs them: over whole vectors of lanes, in one of two modes.
//
//   code               interval mode                          point mode
//   OP + number        the enclosure (kernels.h)              the value to nearest (points.h)
//   DEFINED + number   the fact as [0, 0] or [1, 1]           the same of the point as an interval
//   SMOOTH + number    likewise                               likewise
// Counts are multiples of 8, so that no kernel has a tail. In point mode hi == lo, and only lo is written.
#pragma once
#include "../kernels.h"
#include "../points.h"

namespace INFIMUM_NAMESPACE {

INFIMUM_FN Lane point_at(const Operand &o, int64_t i) { return o.stride == 0 ? Lane(*o.lo) : load(o.lo + i); }
INFIMUM_FN void store_truth(const Job &job, int64_t i, Mask<Lane> m) {
    const Lane value = select(m, Lane(1.0), Lane(0.0));
    store(job.lo + i, value);
    store(job.hi + i, value);
}
template <class F>
INFIMUM_FN void each_vector(const Job &job, F f) {
    for (int64_t i = 0; i < job.count; i += WIDTH) f(job, i);
}

#define INFIMUM_POINTS_1 point_at(job.in[0], i)
#define INFIMUM_POINTS_2 point_at(job.in[0], i), point_at(job.in[1], i)
#define INFIMUM_POINTS_3 point_at(job.in[0], i), point_at(job.in[1], i), point_at(job.in[2], i)
#define INFIMUM_VM_KERNEL(label, statement)                                                                    \
    static void label(const Job &all) {                                                                       \
        each_vector(all, [](const Job &job, int64_t i) __attribute__((always_inline)) { statement; });        \
    }
#define OPERATION(name, arity, trust, facts_of)                                                               \
    INFIMUM_VM_KERNEL(at_##name, store(job.lo + i, add_rn(point_##name(INFIMUM_POINTS_##arity), Lane(0.0))))  \
    INFIMUM_VM_KERNEL(defined_##name, store_truth(job, i, facts_of(INFIMUM_ARGS_##arity).defined))            \
    INFIMUM_VM_KERNEL(smooth_##name, store_truth(job, i, facts_of(INFIMUM_ARGS_##arity).smooth))
#define POWER(name, arity, trust, facts_of)                                                                   \
    INFIMUM_VM_KERNEL(at_##name, store(job.lo + i, add_rn(point_##name(INFIMUM_POINTS_##arity, job.param), Lane(0.0)))) \
    INFIMUM_VM_KERNEL(defined_##name, store_truth(job, i, facts_of(INFIMUM_ARGS_##arity, job.param).defined)) \
    INFIMUM_VM_KERNEL(smooth_##name, store_truth(job, i, facts_of(INFIMUM_ARGS_##arity, job.param).smooth))
#include "../operations.def"
#undef OPERATION
#undef POWER

// The numbers of the operations, by name.
enum {
#define OPERATION(name, arity, trust, facts_of) NUMBER_##name,
#define POWER(name, arity, trust, facts_of) NUMBER_##name,
#include "../operations.def"
#undef OPERATION
#undef POWER
};
struct Row {
    int arity;
    Kernel range, at, defined, smooth;
};
static const Row rows[] = {
#define OPERATION(name, arity, trust, facts_of) {arity, run_##name, at_##name, defined_##name, smooth_##name},
#define POWER(name, arity, trust, facts_of) {arity, run_##name, at_##name, defined_##name, smooth_##name},
#include "../operations.def"
#undef OPERATION
#undef POWER
};

INFIMUM_FN Kernel value_kernel(int64_t number, bool point) { return point ? rows[number].at : rows[number].range; }
// The kernel for an instruction's code, and how many operands it reads.
INFIMUM_FN Kernel kernel_of(int64_t code, bool point, int *arity) {
    const bool smooth = code >= INFIMUM_SMOOTH, defined = !smooth && code >= INFIMUM_DEFINED;
    const int64_t number = code - (smooth ? INFIMUM_SMOOTH : defined ? INFIMUM_DEFINED : INFIMUM_OP);
    *arity = rows[number].arity;
    return smooth ? rows[number].smooth : defined ? rows[number].defined : value_kernel(number, point);
}

}  // namespace INFIMUM_NAMESPACE
