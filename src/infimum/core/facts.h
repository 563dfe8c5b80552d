// What is true of an operation on a whole box, beside its range.
//
//   defined   the operation is defined at every point of the box
//   smooth    it is differentiable on an open neighbourhood of the box
// An empty operand makes both false. Rows not listed are defined and smooth everywhere.
//
//   operation            defined                       smooth
//   div recip mod pown-  0 not in the divisor          same; mod: one quotient, strictly
//   sqrt x_log_x         lo >= 0                       lo > 0
//   log log2 log10       lo > 0                        lo > 0
//   lgamma and slopes    lo > 0                        lo > 0
//   log1p                lo > -1                       lo > -1
//   asin acos            -1 <= lo, hi <= 1             strictly
//   acosh                lo >= 1                       lo > 1
//   atanh                -1 < lo, hi < 1               same
//   tan                  no pole                       same
//   pow                  lo > 0, or lo >= 0 and y > 0  x.lo > 0
//   atan2                origin not in the box         the cut x <= 0, y = 0 not met
//   cbrt abs sign        always                        0 not in x
//   hypot                always                        origin not in the box
//   min max              always                        one operand strictly below the other
//   comparisons          always                        one operand strictly below the other
//   where                condition decided, the branch it chooses not empty; the branches' own facts are the caller's
//   floor ceil trunc     always                        no step met
//   both rounds          always                        no tie met
//   hull intersection    never: not functions of points; so step_low, step_high and all reverse operations
#pragma once
#include "elementary/atan.h"
#include "elementary/erf.h"
#include "elementary/gamma.h"
#include "elementary/hyperbolic.h"
#include "elementary/limits.h"
#include "elementary/power.h"
#include "elementary/root.h"
#include "elementary/trig.h"
#include "mod.h"

namespace INFIMUM_NAMESPACE {

template <class D>
struct Facts {
    Mask<D> defined, smooth;
};
template <class D>
INFIMUM_FN Facts<D> known(Mask<D> defined, Mask<D> smooth) {
    return {defined, smooth};
}
template <class D>
INFIMUM_FN Mask<D> holds(Interval<D> x) {
    return x.lo <= x.hi;
}
template <class D>
INFIMUM_FN Mask<D> without_zero(Interval<D> x) {
    return holds(x) & ((x.lo > D(0.0)) | (x.hi < D(0.0)));
}
// No integer in [lo, hi]; floor steps there.
template <class D>
INFIMUM_FN Mask<D> without_integer(Interval<D> x) {
    return holds(x) & (floor_of(x.lo) == floor_of(x.hi)) & (floor_of(x.lo) < x.lo);
}
// No half-integer in [lo, hi]: both rounds step there.
template <class D>
INFIMUM_FN Mask<D> without_tie(Interval<D> x) {
    const D a = round_even(x.lo), b = round_even(x.hi), half = D(0.5);
    return holds(x) & (a == b) & (magnitude(sub_rn(x.lo, a)) < half) & (magnitude(sub_rn(x.hi, b)) < half);
}

template <class D>
INFIMUM_FN Facts<D> facts_everywhere(Interval<D> x) {
    const Mask<D> m = holds(x);
    return known<D>(m, m);
}
template <class D>
INFIMUM_FN Facts<D> facts_everywhere(Interval<D> x, Interval<D> y) {
    const Mask<D> m = holds(x) & holds(y);
    return known<D>(m, m);
}
template <class D>
INFIMUM_FN Facts<D> facts_everywhere(Interval<D> x, Interval<D> y, Interval<D> z) {
    const Mask<D> m = holds(x) & holds(y) & holds(z);
    return known<D>(m, m);
}
template <class D>
INFIMUM_FN Facts<D> facts_never(Interval<D> x) {
    const Mask<D> m = x.lo != x.lo;
    return known<D>(m, m);
}
template <class D>
INFIMUM_FN Facts<D> facts_never(Interval<D> x, Interval<D>) {
    const Mask<D> m = x.lo != x.lo;
    return known<D>(m, m);
}
template <class D>
INFIMUM_FN Facts<D> facts_never(Interval<D> x, Interval<D> y, Interval<D>) {
    return facts_never(x, y);
}
template <class D>
INFIMUM_FN Facts<D> facts_never(Interval<D> x, Interval<D> y, long long) {
    return facts_never(x, y);
}
template <class D>
INFIMUM_FN Facts<D> facts_div(Interval<D> x, Interval<D> y) {
    const Mask<D> m = holds(x) & without_zero(y);
    return known<D>(m, m);
}
template <class D>
INFIMUM_FN Facts<D> facts_recip(Interval<D> x) {
    const Mask<D> m = without_zero(x);
    return known<D>(m, m);
}
template <class D>
INFIMUM_FN Facts<D> facts_mod(Interval<D> x, Interval<D> y) {
    const Mask<D> defined = holds(x) & without_zero(y);
    return known<D>(defined, defined & mod_is_smooth(x, y));
}
template <class D>
INFIMUM_FN Facts<D> facts_pown(Interval<D> x, long long n) {
    const Mask<D> m = n < 0 ? without_zero(x) : holds(x);
    return known<D>(m, m);
}
template <class D>
INFIMUM_FN Facts<D> facts_sqrt(Interval<D> x) {
    return known<D>(holds(x) & (x.lo >= D(0.0)), holds(x) & (x.lo > D(0.0)));
}
template <class D>
INFIMUM_FN Facts<D> facts_log(Interval<D> x) {
    const Mask<D> m = holds(x) & (x.lo > D(0.0));
    return known<D>(m, m);
}
template <class D>
INFIMUM_FN Facts<D> facts_log1p(Interval<D> x) {
    const Mask<D> m = holds(x) & (x.lo > D(-1.0));
    return known<D>(m, m);
}
template <class D>
INFIMUM_FN Facts<D> facts_asin(Interval<D> x) {
    const D one = D(1.0);
    return known<D>(holds(x) & (x.lo >= -one) & (x.hi <= one), holds(x) & (x.lo > -one) & (x.hi < one));
}
template <class D>
INFIMUM_FN Facts<D> facts_acosh(Interval<D> x) {
    return known<D>(holds(x) & (x.lo >= D(1.0)), holds(x) & (x.lo > D(1.0)));
}
template <class D>
INFIMUM_FN Facts<D> facts_atanh(Interval<D> x) {
    const Mask<D> m = holds(x) & (x.lo > D(-1.0)) & (x.hi < D(1.0));
    return known<D>(m, m);
}
template <class D>
INFIMUM_FN Facts<D> facts_tan(Interval<D> x) {
    const Mask<D> m = holds(x) & tan_is_defined(x);
    return known<D>(m, m);
}
template <class D>
INFIMUM_FN Facts<D> facts_pow(Interval<D> x, Interval<D> y) {
    const Mask<D> valid = holds(x) & holds(y), positive = x.lo > D(0.0);
    return known<D>(valid & (positive | ((x.lo >= D(0.0)) & (y.lo > D(0.0)))), valid & positive);
}
template <class D>
INFIMUM_FN Facts<D> facts_atan2(Interval<D> y, Interval<D> x) {
    const Mask<D> valid = holds(x) & holds(y), off_axis = without_zero(y);
    return known<D>(valid & (off_axis | without_zero(x)), valid & (off_axis | (x.lo > D(0.0))));
}
template <class D>
INFIMUM_FN Facts<D> facts_kink_at_zero(Interval<D> x) {
    return known<D>(holds(x), without_zero(x));
}
template <class D>
INFIMUM_FN Facts<D> facts_hypot(Interval<D> x, Interval<D> y) {
    const Mask<D> valid = holds(x) & holds(y);
    return known<D>(valid, valid & (without_zero(x) | without_zero(y)));
}
template <class D>
INFIMUM_FN Facts<D> facts_apart(Interval<D> x, Interval<D> y) {
    const Mask<D> valid = holds(x) & holds(y);
    return known<D>(valid, valid & ((x.hi < y.lo) | (y.hi < x.lo)));
}
template <class D>
INFIMUM_FN Facts<D> facts_where(Interval<D> condition, Interval<D> x, Interval<D> y) {
    const D zero = D(0.0), one = D(1.0);
    const Mask<D> yes = (condition.lo == one) & (condition.hi == one), no = (condition.lo == zero) & (condition.hi == zero);
    const Mask<D> m = (yes & holds(x)) | (no & holds(y));
    return known<D>(m, m);
}
template <class D>
INFIMUM_FN Facts<D> facts_integer_steps(Interval<D> x) {
    return known<D>(holds(x), without_integer(x));
}
template <class D>
INFIMUM_FN Facts<D> facts_trunc(Interval<D> x) {
    const Mask<D> around_zero = holds(x) & (x.lo > D(-1.0)) & (x.hi < D(1.0));
    return known<D>(holds(x), around_zero | without_integer(x));
}
template <class D>
INFIMUM_FN Facts<D> facts_ties(Interval<D> x) {
    return known<D>(holds(x), without_tie(x));
}

}  // namespace INFIMUM_NAMESPACE
