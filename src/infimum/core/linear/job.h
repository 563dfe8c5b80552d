// A batch of small linear algebra: `count` boxes of n variables. run.h has what the arrays are; all of them are row-major, or,
// where a thread is a box, the other way round: element i of box b at [i * count + b]. Plain C, which NVRTC reads as well.
#pragma once
#include "../codes.h"

struct infimum_linear_job {
    long long count, n, m, rounds;
    const double *in[12];
    const unsigned char *marks;
    double *out[6];
    unsigned char *flags;
};
// Doubles of working memory for a lane.
#define INFIMUM_LINEAR_SPACE(n) (6 * (n) * (n) + 40 * (n))
