// Which piece of a program runs when, where and in what memory.
#pragma once
#include "abi.h"

typedef int (*Stage)(int, const infimum_tile *);

// One call: a program, a variant, and the boxes or points to run it on.
struct Batch {
    const infimum_program *program;
    Stage stage;
    bool point;
    int64_t count;
    const double *in_lo, *in_hi;
    double *const *out_lo, *const *out_hi;
    int threads;
};

// Returns INFIMUM_OK, INFIMUM_NO_INTERVAL or INFIMUM_NO_MEMORY. Same bits for every number of threads.
int run_batch(const Batch &batch);
