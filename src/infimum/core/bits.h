// Exponents of any finite number and shifts by any power of two, on top of a lane's bit operations.
#pragma once
#include "machine.h"

namespace INFIMUM_NAMESPACE {

// x * 2^k for an integral |k| <= 3000 where the result and every intermediate is a normal number or zero.
template <class D>
INFIMUM_FN D shifted(D x, D k) {
    const D third = round_even(mul_rn(k, D(0x1.5555555555555p-2)));
    const D rest = sub_rn(k, add_rn(third, third));
    return mul_rn(mul_rn(mul_rn(x, pow2(third)), pow2(third)), pow2(rest));
}
// floor(log2 |x|) of any finite nonzero x, subnormals included.
template <class D>
INFIMUM_FN D full_exponent(D x) {
    const D m = magnitude(x);
    const Mask<D> small = m < D(0x1p-1000);
    return sub_rn(exponent(select(small, mul_rn(m, D(0x1p100)), m)), select(small, D(100.0), D(0.0)));
}
// x / 2^full_exponent(x) of any finite x > 0: in [1, 2).
template <class D>
INFIMUM_FN D full_mantissa(D x) {
    return mantissa(select(x < D(0x1p-1000), mul_rn(x, D(0x1p100)), x));
}

}  // namespace INFIMUM_NAMESPACE
