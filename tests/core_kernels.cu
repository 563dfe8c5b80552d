// Every operation of the core as a CUDA kernel, one thread an interval: what the tests compare with the CPU bit for bit.
#define INFIMUM_NAMESPACE infimum_cuda
#include "core.h"

namespace infimum_cuda {

struct Operands {
    const double *lo[3], *hi[3];
};
INFIMUM_FN Interval<double> at(const Operands &o, int i, long long t) { return {o.lo[i][t], o.hi[i][t]}; }

}  // namespace infimum_cuda

#define INFIMUM_THREAD (blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x)
#define INFIMUM_ARGS_1 at(in, 0, t)
#define INFIMUM_ARGS_2 at(in, 0, t), at(in, 1, t)
#define INFIMUM_ARGS_3 at(in, 0, t), at(in, 1, t), at(in, 2, t)
#define INFIMUM_KERNEL(name, facts_of, ...)                                                                     \
    extern "C" __global__ void infimum_##name(const double *a, const double *b, const double *c, const double *d, \
                                              const double *e, const double *f, double *lo, double *hi,         \
                                              unsigned char *facts, long long count, long long param) {         \
        using namespace infimum_cuda;                                                                           \
        const Operands in = {{a, c, e}, {b, d, f}};                                                             \
        const long long t = INFIMUM_THREAD;                                                                     \
        if (t >= count) return;                                                                                 \
        const Interval<double> r = infimum_cuda::name(__VA_ARGS__);                                             \
        const Facts<double> known = facts_of(__VA_ARGS__);                                                      \
        lo[t] = add_rn(r.lo, 0.0);                                                                              \
        hi[t] = add_rn(r.hi, 0.0);                                                                              \
        facts[t] = static_cast<unsigned char>(known.defined | known.smooth << 1);                               \
    }
#define OPERATION(name, arity, trust, facts_of) INFIMUM_KERNEL(name, facts_of, INFIMUM_ARGS_##arity)
#define POWER(name, arity, trust, facts_of) INFIMUM_KERNEL(name, facts_of, INFIMUM_ARGS_##arity, param)
#include "operations.def"
