// Every operation at a point, in plain doubles: what a program computes where nothing is claimed.
//
//   exact operations      IEEE 754 to nearest, NaN where undefined: sqrt of a negative number, a quotient by zero
//   all others            the lower end of the interval function at the point, NaN where that is empty
//   reverse operations    NaN: they answer for sets only
//   a NaN operand         NaN; `where` needs only its condition and the branch that it chooses
//
// Nothing depends on the sign of a zero.
#pragma once
#include "facts.h"

namespace INFIMUM_NAMESPACE {

template <class D>
INFIMUM_FN D not_a_number() {
    return sub_rn(D(INFIMUM_INF), D(INFIMUM_INF));
}
template <class D>
INFIMUM_FN D nan_unless(Mask<D> m, D x) {
    return select(m, x, not_a_number<D>());
}
template <class D>
INFIMUM_FN Mask<D> ordered(D x, D y) {
    return (x == x) & (y == y);
}

// ---------------------------------------------------------------------------------------------- exact operations
template <class D>
INFIMUM_FN D point_neg(D x) {
    return -x;
}
template <class D>
INFIMUM_FN D point_add(D x, D y) {
    return add_rn(x, y);
}
template <class D>
INFIMUM_FN D point_sub(D x, D y) {
    return sub_rn(x, y);
}
template <class D>
INFIMUM_FN D point_mul(D x, D y) {
    return mul_rn(x, y);
}
template <class D>
INFIMUM_FN D point_div(D x, D y) {
    return nan_unless(y != D(0.0), div_rn(x, y));
}
template <class D>
INFIMUM_FN D point_recip(D x) {
    return point_div(D(1.0), x);
}
template <class D>
INFIMUM_FN D point_sqr(D x) {
    return mul_rn(x, x);
}
template <class D>
INFIMUM_FN D point_sqrt(D x) {
    return nan_unless(x >= D(0.0), sqrt_rn(x));
}
template <class D>
INFIMUM_FN D point_fma(D x, D y, D z) {
    return fma_rn(x, y, z);
}
template <class D>
INFIMUM_FN D point_abs(D x) {
    return magnitude(x);
}
template <class D>
INFIMUM_FN D point_min(D x, D y) {
    return nan_unless(ordered(x, y), smaller(x, y));
}
template <class D>
INFIMUM_FN D point_max(D x, D y) {
    return nan_unless(ordered(x, y), larger(x, y));
}
template <class D>
INFIMUM_FN D point_sign(D x) {
    return nan_unless(x == x, sign_of(x));
}
template <class D>
INFIMUM_FN D point_floor(D x) {
    return floor_of(x);
}
template <class D>
INFIMUM_FN D point_ceil(D x) {
    return ceil_of(x);
}
template <class D>
INFIMUM_FN D point_trunc(D x) {
    return trunc_of(x);
}
template <class D>
INFIMUM_FN D point_round_ties_to_even(D x) {
    return round_even(x);
}
template <class D>
INFIMUM_FN D point_round_ties_to_away(D x) {
    return round_away(x);
}
// numpy.mod: the exact remainder of the magnitudes with the sign of x, plus y where its sign is not that of y. Below 2^51 y
// the nearest quotient's floor exceeds the true one by at most one, and one y added back is exact (mod.h).
template <class D>
INFIMUM_FN D point_mod(D x, D y) {
    const D zero = D(0.0), by = magnitude(y);
    const Mask<D> valid = (magnitude(x) < D(INFIMUM_INF)) & (by > zero);
    const Mask<D> divide = valid & (by < D(INFIMUM_INF));
    const D d = select(divide, by, D(1.0)), r = reduced_magnitude(select(divide, x, zero), d);
    const D rest = fma_rn(-floor_of(div_rn(r, d)), d, r);
    const D m = select(divide, select(rest < zero, add_rn(rest, d), rest), magnitude(x));
    const D remainder = select(x < zero, -m, m);
    const Mask<D> crossed = ((remainder < zero) & (y > zero)) | ((remainder > zero) & (y < zero));
    return nan_unless(valid, select(crossed, add_rn(remainder, y), remainder));
}
template <class D>
INFIMUM_FN D point_hull(D x, D y) {
    return point_min(x, y);
}
template <class D>
INFIMUM_FN D point_intersection(D x, D y) {
    return nan_unless(x == y, x);
}
template <class D>
INFIMUM_FN D point_step_low(D x) {
    return x;
}
template <class D>
INFIMUM_FN D point_step_high(D x) {
    return x;
}
template <class D>
INFIMUM_FN D point_is_less(D x, D y) {
    return nan_unless(ordered(x, y), select(x < y, D(1.0), D(0.0)));
}
template <class D>
INFIMUM_FN D point_is_less_equal(D x, D y) {
    return nan_unless(ordered(x, y), select(x <= y, D(1.0), D(0.0)));
}
template <class D>
INFIMUM_FN D point_is_equal(D x, D y) {
    return nan_unless(ordered(x, y), select(x == y, D(1.0), D(0.0)));
}
template <class D>
INFIMUM_FN D point_where(D condition, D x, D y) {
    return nan_unless(condition == condition, select(condition != D(0.0), x, y));
}

// ---------------------------------------------------------------------------------------------- all others
// The upper end is not used, so the compiler removes what computes it. A NaN is replaced on the way: the interval functions
// need not know it.
template <class D>
INFIMUM_FN Interval<D> point_of(D x) {
    const D v = select(x == x, x, D(1.0));
    return {v, v};
}
template <class D>
INFIMUM_FN D lower_end(Mask<D> valid, Interval<D> r) {
    return nan_unless(valid & !is_empty(r), r.lo);
}
#define INFIMUM_LOWER_1(name)                                                                                       \
    template <class D>                                                                                              \
    INFIMUM_FN D point_##name(D x) {                                                                                \
        return lower_end(x == x, name(point_of(x)));                                                                \
    }
#define INFIMUM_LOWER_2(name)                                                                                       \
    template <class D>                                                                                              \
    INFIMUM_FN D point_##name(D x, D y) {                                                                           \
        return lower_end(ordered(x, y), name(point_of(x), point_of(y)));                                            \
    }
// An exact operation has its function above; a missing one is an error of compilation where the kernels are made.
#define INFIMUM_POINT_exact(name, arity)
#define INFIMUM_POINT_checked(name, arity) INFIMUM_LOWER_##arity(name)
#define INFIMUM_POINT_argued(name, arity) INFIMUM_LOWER_##arity(name)
#define INFIMUM_POINT_numeric(name, arity) INFIMUM_LOWER_##arity(name)
#define OPERATION(name, arity, trust, facts_of) INFIMUM_POINT_##trust(name, arity)
#define POWER(name, arity, trust, facts_of) INFIMUM_POWER_##arity(name)
#define INFIMUM_POWER_1(name)                                                                                       \
    template <class D>                                                                                              \
    INFIMUM_FN D point_##name(D x, long long n) {                                                                   \
        return lower_end(x == x, name(point_of(x), n));                                                             \
    }
#define INFIMUM_POWER_2(name)                                                                                       \
    template <class D>                                                                                              \
    INFIMUM_FN D point_##name(D, D, long long) {                                                                    \
        return not_a_number<D>();                                                                                   \
    }
#define REVERSE(name, arity, trust)                                                                                 \
    template <class D, class... Rest>                                                                               \
    INFIMUM_FN D point_##name(D, Rest...) {                                                                         \
        return not_a_number<D>();                                                                                   \
    }
#include "operations.def"
#undef OPERATION
#undef POWER
#undef INFIMUM_POINT_exact
#undef INFIMUM_POINT_checked
#undef INFIMUM_POINT_argued
#undef INFIMUM_POINT_numeric
#undef INFIMUM_LOWER_1
#undef INFIMUM_LOWER_2
#undef INFIMUM_POWER_1
#undef INFIMUM_POWER_2

}  // namespace INFIMUM_NAMESPACE
