// The kernels of a staged search on the host.
#pragma once
#include "host_threads.h"

extern "C" void infimum_step(const void *, const void *, void *, void *, long long);
extern "C" void infimum_children(const void *, void *, void *, long long, double, long long, double, long long);
extern "C" void host_step(int threads, int backwards, const void *world, const void *packed, void *place, void *scratch,
                          long long with_sample) {
    host_shim::launch(1, threads, true, backwards, [&] { infimum_step(world, packed, place, scratch, with_sample); });
}
extern "C" void host_children(unsigned grid, int threads, int backwards, const void *world, void *place, void *scratch,
                              long long depth, double last_bound, long long last_index, double upper, long long wanted) {
    host_shim::launch(grid, threads, true, backwards,
                      [&] { infimum_children(world, place, scratch, depth, last_bound, last_index, upper, wanted); });
}
