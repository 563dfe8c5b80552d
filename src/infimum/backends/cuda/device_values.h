// The values that CUDA text computes with: intervals, intervals that are certainly not empty, plain doubles.
//
// One thread a box computes with Quick. Where an operation would be empty or needs one of its rare cases, that is noted,
// and the box is computed again with Range: what is kept has the same bits.
#pragma once
#include "core.h"
#include "points.h"

#if INFIMUM_CUDA
#define INFIMUM_READ(address) __ldg(address)  // nothing writes there while the kernel runs
#pragma nv_diag_suppress 549                  // vectors and totals begin without a value
#else
#define INFIMUM_READ(address) (*(address))
#endif
#ifndef INFIMUM_READ_BOX
#define INFIMUM_READ_BOX(address) INFIMUM_READ(address)  // other texts write the boxes in the kernel that reads them
#endif

namespace INFIMUM_NAMESPACE {

typedef Interval<double> Range;
struct Quick {
    double lo, hi;
};
struct Point {
    double at;
};
template <class V>
constexpr bool AT_POINTS = false;
template <>
constexpr bool AT_POINTS<Point> = true;
template <class V>
constexpr bool NOT_EMPTY = false;
template <>
constexpr bool NOT_EMPTY<Quick> = true;

INFIMUM_FN Range range_of(Range x) { return x; }
INFIMUM_FN Range range_of(Quick x) { return {x.lo, x.hi}; }
INFIMUM_FN Range range_of(Point x) { return {x.at, x.at}; }
// A constant of the program: its enclosure, or its nearest double.
template <class V>
INFIMUM_FN V constant(double lo, double hi, double point) {
    if constexpr (AT_POINTS<V>)
        return {point};
    else
        return {lo, hi};
}
template <class V>
INFIMUM_FN V exactly(double x) {
    return constant<V>(x, x, x);
}
// What is kept has no -0 and one NaN only.
INFIMUM_FN double clean(double x) { return select(x == x, add_rn(x, 0.0), of_bits(0x7ff8000000000000LL)); }
INFIMUM_FN Range clean(Range x) { return {clean(x.lo), clean(x.hi)}; }
INFIMUM_FN Quick clean(Quick x) { return {clean(x.lo), clean(x.hi)}; }
INFIMUM_FN Point clean(Point x) { return {clean(x.at)}; }

// Whether a thread's box must be computed again with care.
__shared__ bool unusual_box[128];
INFIMUM_FN void unusual(bool m) {
    if (m) unusual_box[threadIdx.x] = true;
}
template <class V>
INFIMUM_FN void begin() {}
template <>
INFIMUM_METHOD void begin<Quick>() {
    unusual_box[threadIdx.x] = false;
}
template <class V>
INFIMUM_FN bool was_unusual() {
    return false;
}
template <>
INFIMUM_METHOD bool was_unusual<Quick>() {
    return unusual_box[threadIdx.x];
}

// Operations on intervals that are not empty; the core's, less what they need for empty ones.
//
//   mul   0*inf is a NaN among the products, which makes a comparison of them unordered: rare, and noted
INFIMUM_FN Quick neg(Quick x) { return {-x.hi, -x.lo}; }
INFIMUM_FN Quick add(Quick x, Quick y) { return {add_rd(x.lo, y.lo), add_ru(x.hi, y.hi)}; }
INFIMUM_FN Quick sub(Quick x, Quick y) { return {add_rd(x.lo, -y.hi), add_ru(x.hi, -y.lo)}; }
INFIMUM_FN Quick mul(Quick x, Quick y) {
    const bool p = x.lo >= 0.0, q = x.hi >= 0.0;
    const double a = mul_rd(x.lo, p ? y.lo : y.hi), b = mul_rd(x.hi, q ? y.lo : y.hi);
    const double c = mul_ru(x.lo, p ? y.hi : y.lo), d = mul_ru(x.hi, q ? y.hi : y.lo);
    unusual(!(((a <= b) | (a >= b)) & ((c <= d) | (c >= d))));
    return {b < a ? b : a, d > c ? d : c};
}
INFIMUM_FN Quick sqr(Quick x) {
    const double near = x.lo > 0.0 ? x.lo : x.hi < 0.0 ? x.hi : 0.0;
    const double far = magnitude(x.hi) > magnitude(x.lo) ? x.hi : x.lo;
    return {mul_rd(near, near), mul_ru(far, far)};
}
INFIMUM_FN Quick min(Quick x, Quick y) { return {smaller(x.lo, y.lo), smaller(x.hi, y.hi)}; }
INFIMUM_FN Quick max(Quick x, Quick y) { return {larger(x.lo, y.lo), larger(x.hi, y.hi)}; }

// All others as the core has them; an empty result is noted. What comes after an unusual result means nothing any more, but
// the core's functions are only ever given intervals.
INFIMUM_FN Range usable(Range x) { return x; }
INFIMUM_FN Range usable(Point x) { return {x.at, x.at}; }
INFIMUM_FN Range usable(Quick x) {
    const bool m = x.lo <= x.hi;
    unusual(!m);
    return {select(m, x.lo, 1.0), select(m, x.hi, 1.0)};
}
template <class V>
struct OnlyQuick {};
template <>
struct OnlyQuick<Quick> {
    typedef Quick Type;
};
INFIMUM_FN Quick noted(Range r) {
    unusual(!(r.lo <= r.hi));
    return {r.lo, r.hi};
}

#define INFIMUM_MODES(name, facts_of, point_parameters, parameters, points, ranges)           \
    INFIMUM_FN Point name point_parameters { return {point_##name points}; }                  \
    template <class V>                                                                        \
    INFIMUM_FN typename OnlyQuick<V>::Type name parameters {                                  \
        return noted(name ranges);                                                            \
    }                                                                                         \
    template <class V>                                                                        \
    INFIMUM_FN V defined_##name parameters {                                                  \
        return exactly<V>(facts_of ranges.defined ? 1.0 : 0.0);                               \
    }                                                                                         \
    template <class V>                                                                        \
    INFIMUM_FN V smooth_##name parameters {                                                   \
        return exactly<V>(facts_of ranges.smooth ? 1.0 : 0.0);                                \
    }
#define INFIMUM_PARAMETERS_1(type) type x
#define INFIMUM_PARAMETERS_2(type) type x, type y
#define INFIMUM_PARAMETERS_3(type) type x, type y, type z
#define INFIMUM_POINTS_1 x.at
#define INFIMUM_POINTS_2 x.at, y.at
#define INFIMUM_POINTS_3 x.at, y.at, z.at
#define INFIMUM_RANGES_1 usable(x)
#define INFIMUM_RANGES_2 usable(x), usable(y)
#define INFIMUM_RANGES_3 usable(x), usable(y), usable(z)
#define OPERATION(name, arity, trust, facts_of)                                                                   \
    INFIMUM_MODES(name, facts_of, (INFIMUM_PARAMETERS_##arity(Point)), (INFIMUM_PARAMETERS_##arity(V)),           \
                  (INFIMUM_POINTS_##arity), (INFIMUM_RANGES_##arity))
#define POWER(name, arity, trust, facts_of)                                                                       \
    INFIMUM_MODES(name, facts_of, (INFIMUM_PARAMETERS_##arity(Point), long long n),                               \
                  (INFIMUM_PARAMETERS_##arity(V), long long n), (INFIMUM_POINTS_##arity, n), (INFIMUM_RANGES_##arity, n))
#include "operations.def"
#undef OPERATION
#undef POWER
#undef INFIMUM_MODES
#undef INFIMUM_POINTS_1
#undef INFIMUM_POINTS_2
#undef INFIMUM_POINTS_3

// The reductions.
#define INFIMUM_REDUCTION(Name, operation, neutral)                                           \
    struct Name {                                                                             \
        static constexpr double NEUTRAL = neutral;                                            \
        template <class V>                                                                    \
        static INFIMUM_METHOD V of(V x, V y) {                                                \
            return operation(x, y);                                                           \
        }                                                                                     \
    };
INFIMUM_REDUCTION(Add, add, 0.0)
INFIMUM_REDUCTION(Mul, mul, 1.0)
INFIMUM_REDUCTION(Min, min, 0.0)  // without one term Min and Max have no value, and no phase asks for it
INFIMUM_REDUCTION(Max, max, 0.0)
#undef INFIMUM_REDUCTION

}  // namespace INFIMUM_NAMESPACE
