// The kernels of emitted programs on the host.
#pragma once
#include "host_threads.h"

// All six kernels of a program behind one C function.
#define INFIMUM_LAUNCH(program, V, T, alone)                                                                            \
    host_shim::launch(grid, infimum_cuda::THREADS<T>, T > 1, false, [&] {                                                  \
        using namespace infimum_cuda;                                                                                   \
        infimum_cuda::program<Computed<V, T, alone>, T>(a, all_boxes<T>());                                             \
    })
#define INFIMUM_ENTRY(program, alone)                                                                                   \
    extern "C" void infimum_##program(int team, int point, unsigned grid, const double *lo, const double *hi,           \
                                      double *out_lo, double *out_hi, const double *pool, const int *tables,            \
                                      double *scratch, int *wrong, const long long *code, const int *split,             \
                                      long long count) {                                                                \
        const infimum_cuda::Arguments a = {lo, hi, out_lo, out_hi, pool, tables, scratch, wrong, code, count, split};   \
        if (point)                                                                                                      \
            team == 1    ? INFIMUM_LAUNCH(program, Point, 1, alone)                                                     \
            : team == 32 ? INFIMUM_LAUNCH(program, Point, 32, alone)                                                    \
                         : INFIMUM_LAUNCH(program, Point, 256, alone);                                                  \
        else                                                                                                            \
            team == 1    ? INFIMUM_LAUNCH(program, Range, 1, alone)                                                     \
            : team == 32 ? INFIMUM_LAUNCH(program, Range, 32, alone)                                                    \
                         : INFIMUM_LAUNCH(program, Range, 256, alone);                                                  \
    }

// A routine of small linear algebra; `team` and `point` mean nothing to it.
#define INFIMUM_LINEAR_ENTRY(name, routine)                                                                             \
    extern "C" void infimum_##name(int, int, unsigned grid, const double *a, const double *b, const double *c,           \
                                   const double *d, const double *e, const double *f, const double *g, const double *h,  \
                                   const double *i, const unsigned char *marks, double *p, double *q, double *r,         \
                                   double *s, unsigned char *flags, double *scratch, const long long *sizes,             \
                                   long long count) {                                                                    \
        const infimum_cuda::LinearArguments all = {{a, b, c, d, e, f, g, h, i}, marks, {p, q, r, s},                     \
                                                   flags, scratch, sizes, count};                                        \
        host_shim::launch(grid, infimum_cuda::LINEAR_THREADS, false, false,                                              \
                          [&] { infimum_cuda::all_of_linear(routine, all); });                                           \
    }

// A rule of a chain, likewise.
#define INFIMUM_CHAIN_ENTRY(name)                                                                                       \
    extern "C" void infimum_chain_##name(int, int, unsigned grid, INFIMUM_CHAIN_PARAMETERS) {                           \
        using namespace infimum_cuda;                                                                                   \
        const ChainArguments all = INFIMUM_CHAIN_ARGUMENTS;                                                             \
        host_shim::launch(grid, CHAIN_THREADS, false, false,                                                            \
                          [&] { for_chain(all, [](const ChainArguments &a, Count k) { chain_##name(a, k); }); });       \
    }

// A whole link of a chain, likewise.
#define INFIMUM_LINK_ENTRY(name, ...)                                                                                   \
    extern "C" void infimum_##name(int, int, unsigned grid, INFIMUM_LINK_PARAMETERS, INFIMUM_CHAIN_PARAMETERS) {        \
        using namespace infimum_cuda;                                                                                   \
        const ChainArguments all = INFIMUM_CHAIN_ARGUMENTS;                                                             \
        const Rooms rooms_of_all = INFIMUM_LINK_ROOMS;                                                                  \
        const auto link = [](const Rooms &rooms, const ChainArguments &a, Count k) { __VA_ARGS__; };                    \
        host_shim::launch(grid, CHAIN_THREADS, false, false, [&] { for_link(all, rooms_of_all, link); });               \
    }
