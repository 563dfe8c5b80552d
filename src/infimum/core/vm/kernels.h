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

INFIMUM_FN Lane point_at(const Rows &rows, int a, int64_t i) { return load(rows.in[a].lo + (i & rows.in[a].mask)); }
INFIMUM_FN void store_truth(const Rows &rows, int64_t i, Mask<Lane> m) {
    const Lane value = select(m, Lane(1.0), Lane(0.0));
    store(rows.lo + i, value);
    store(rows.hi + i, value);
}
template <int ARITY, class F>
INFIMUM_FN void each_vector(const Job &job, F f) {
    Vectors operands;
    Rows rows = {{}, job.lo, job.hi, nullptr, job.param};
    rows.in[0] = row_of(job.in[0], operands.lo[0], operands.hi[0]);
    if (ARITY > 1) rows.in[1] = row_of(job.in[1], operands.lo[1], operands.hi[1]);
    if (ARITY > 2) rows.in[2] = row_of(job.in[2], operands.lo[2], operands.hi[2]);
    const int64_t count = job.count;
    for (int64_t i = 0; i < count; i += WIDTH) f(rows, i);
}

#define INFIMUM_POINTS_1 point_at(rows, 0, i)
#define INFIMUM_POINTS_2 point_at(rows, 0, i), point_at(rows, 1, i)
#define INFIMUM_POINTS_3 point_at(rows, 0, i), point_at(rows, 1, i), point_at(rows, 2, i)
#define INFIMUM_VM_KERNEL(label, arity, statement)                                                            \
    static void label(const Job &job) {                                                                       \
        each_vector<arity>(job, [](const Rows &rows, int64_t i) __attribute__((always_inline)) { statement; }); \
    }
#define OPERATION(name, arity, trust, facts_of)                                                               \
    INFIMUM_VM_KERNEL(at_##name, arity, store(rows.lo + i, add_rn(point_##name(INFIMUM_POINTS_##arity), Lane(0.0)))) \
    INFIMUM_VM_KERNEL(defined_##name, arity, store_truth(rows, i, facts_of(INFIMUM_ARGS_##arity).defined))    \
    INFIMUM_VM_KERNEL(smooth_##name, arity, store_truth(rows, i, facts_of(INFIMUM_ARGS_##arity).smooth))
#define POWER(name, arity, trust, facts_of)                                                                   \
    INFIMUM_VM_KERNEL(at_##name, arity,                                                                       \
                      store(rows.lo + i, add_rn(point_##name(INFIMUM_POINTS_##arity, rows.param), Lane(0.0)))) \
    INFIMUM_VM_KERNEL(defined_##name, arity, store_truth(rows, i, facts_of(INFIMUM_ARGS_##arity, rows.param).defined)) \
    INFIMUM_VM_KERNEL(smooth_##name, arity, store_truth(rows, i, facts_of(INFIMUM_ARGS_##arity, rows.param).smooth))
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
struct Entry {
    int arity;
    Kernel range, at, defined, smooth;
};
static const Entry entries[] = {
#define OPERATION(name, arity, trust, facts_of) {arity, run_##name, at_##name, defined_##name, smooth_##name},
#define POWER(name, arity, trust, facts_of) {arity, run_##name, at_##name, defined_##name, smooth_##name},
#include "../operations.def"
#undef OPERATION
#undef POWER
};

INFIMUM_FN Kernel value_kernel(int64_t number, bool point) { return point ? entries[number].at : entries[number].range; }
// The kernel for an instruction's code, and how many operands it reads.
INFIMUM_FN Kernel kernel_of(int64_t code, bool point, int *arity) {
    const bool smooth = code >= INFIMUM_SMOOTH, defined = !smooth && code >= INFIMUM_DEFINED;
    const int64_t number = code - (smooth ? INFIMUM_SMOOTH : defined ? INFIMUM_DEFINED : INFIMUM_OP);
    *arity = entries[number].arity;
    return smooth ? entries[number].smooth : defined ? entries[number].defined : value_kernel(number, point);
}

}  // namespace INFIMUM_NAMESPACE
