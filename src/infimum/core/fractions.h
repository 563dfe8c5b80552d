// Fractions of a range that may be infinite; fractions.py has the same formulas. A GPU's compiler reads this too.
#pragma once
#include "lanes/double.h"

namespace INFIMUM_NAMESPACE {

// The real line on [-1, 1], and back to finite numbers.
INFIMUM_FN double to_unit(double x) { return magnitude(x) == INFIMUM_INF ? (x > 0 ? 1.0 : -1.0) : x / (1 + magnitude(x)); }
INFIMUM_FN double clipped(double x, double lo, double hi) {
    const double raised = x > lo ? x : lo;
    return raised < hi ? raised : hi;
}
INFIMUM_FN double from_unit(double t) { return clipped(t / (1 - magnitude(t)), -INFIMUM_MAX, INFIMUM_MAX); }
// A finite point at this fraction of [lo, hi], on the scale of to_unit where its width is no double; fractions.py has the same
// formula.
INFIMUM_FN double at_fraction(double lo, double hi, double fraction) {
    const double width = hi - lo;
    if (width < INFIMUM_INF) return lo + width * fraction;
    const double low = to_unit(lo), high = to_unit(hi);
    return clipped(from_unit(low + (high - low) * fraction), lo, hi);
}

}  // namespace INFIMUM_NAMESPACE
