// The floating-point control word during a call into the core.
#pragma once
#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace {

// Round to nearest, no flush to zero, no trap: the state that every error argument assumes. The caller's state, whatever
// other libraries left in it, comes back when this goes out of scope.
class DefaultFloatingPoint {
#if defined(__x86_64__)
    unsigned saved_ = _mm_getcsr();

  public:
    DefaultFloatingPoint() { _mm_setcsr(0x1f80); }
    ~DefaultFloatingPoint() { _mm_setcsr(saved_); }
#elif defined(__aarch64__)
    uint64_t saved_;

  public:
    DefaultFloatingPoint() {
        asm volatile("mrs %0, fpcr" : "=r"(saved_));
        asm volatile("msr fpcr, %0" : : "r"(uint64_t(0)));
    }
    ~DefaultFloatingPoint() { asm volatile("msr fpcr, %0" : : "r"(saved_)); }
#else
#error "infimum knows the floating-point control word of x86-64 and aarch64 only"
#endif
    DefaultFloatingPoint(const DefaultFloatingPoint &) = delete;
    DefaultFloatingPoint &operator=(const DefaultFloatingPoint &) = delete;
};

}  // namespace
