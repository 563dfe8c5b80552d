// What Python hands over: a function as families of terms with an epilogue, and its partial derivatives (docs/staging.md).
#pragma once
#include "../abi.h"

extern "C" {
// `count` terms of one body under one infimum_reduction. Term i reads the variables
// variables[i*reads + j] and the constants lo, hi, points[i*constants + j], in this order.
struct infimum_family {
    int64_t reduction, count, reads, constants;
    const int64_t *variables;
    const double *lo, *hi, *points;
    const infimum_program *program;
};
// Partial derivatives of one body: component i is the derivative by variables[i]; it reads as a term does, then elements
// extra[i*extras + j] of what is computed over a whole region.
struct infimum_slopes {
    int64_t count, reads, constants, extras;
    const int64_t *variables, *read, *extra;
    const double *lo, *hi;
    const infimum_program *program;
};
// A program of the box's variables, and where its outputs go. The first says by 1 that the function is certainly defined,
// the second that it is certainly smooth, the last is its gradient; there may be others between.
struct infimum_standing {
    const infimum_program *program;
    double *const *out_lo, *const *out_hi;
};
struct infimum_structure {
    int64_t n, family_count, slopes_count, fraction_count, variant;
    const infimum_family *families;
    const infimum_program *epilogue;  // of as many inputs as there are families
    const infimum_slopes *slopes;
    const double *lo, *hi, *inner_lo, *inner_hi;  // the domain
    const double *widths;                         // wanted ones; nullptr: none
    const double *fractions;                      // of the sample points
};
}
