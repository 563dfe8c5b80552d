// Where a test build can break the core on purpose. In every other build these macros vanish.
//
//   K(c)        a constant of an algorithm        mutant: 1.25 * c
//   BOUND(c)    a proved or argued error bound    mutant: 0
//   TERM(x)     what a claim has to allow for     mutant: 0
//   x_rd, x_ru  a directed rounding               mutant: round to nearest
//
// A mutant build (INFIMUM_MUTANTS) numbers every such place by __COUNTER__; one number at a time is active, and the
// place records itself when it is reached.
#pragma once
#ifdef INFIMUM_MUTANTS
namespace INFIMUM_NAMESPACE {
extern int active_mutant;
extern const char *reached_site;
static inline bool mutated(int number, const char *site) {
    if (number != active_mutant) return false;
    reached_site = site;
    return true;
}
}  // namespace INFIMUM_NAMESPACE
#define INFIMUM_TEXT_(x) #x
#define INFIMUM_TEXT(x) INFIMUM_TEXT_(x)
#define INFIMUM_SITE(kind) mutated(__COUNTER__, __FILE__ ":" INFIMUM_TEXT(__LINE__) " " kind)
#define K(c) D(INFIMUM_SITE("constant " #c) ? 1.25 * (c) : (c))
#define BOUND(c) (INFIMUM_SITE("bound " #c) ? 0.0 : (c))
#define TERM(x) (INFIMUM_SITE("term " #x) ? D(0.0) : (x))
#define add_rd(...) (INFIMUM_SITE("add_rd") ? add_rn(__VA_ARGS__) : (add_rd)(__VA_ARGS__))
#define add_ru(...) (INFIMUM_SITE("add_ru") ? add_rn(__VA_ARGS__) : (add_ru)(__VA_ARGS__))
#define mul_rd(...) (INFIMUM_SITE("mul_rd") ? mul_rn(__VA_ARGS__) : (mul_rd)(__VA_ARGS__))
#define mul_ru(...) (INFIMUM_SITE("mul_ru") ? mul_rn(__VA_ARGS__) : (mul_ru)(__VA_ARGS__))
#define div_rd(...) (INFIMUM_SITE("div_rd") ? div_rn(__VA_ARGS__) : (div_rd)(__VA_ARGS__))
#define div_ru(...) (INFIMUM_SITE("div_ru") ? div_rn(__VA_ARGS__) : (div_ru)(__VA_ARGS__))
#define sqrt_rd(...) (INFIMUM_SITE("sqrt_rd") ? sqrt_rn(__VA_ARGS__) : (sqrt_rd)(__VA_ARGS__))
#define sqrt_ru(...) (INFIMUM_SITE("sqrt_ru") ? sqrt_rn(__VA_ARGS__) : (sqrt_ru)(__VA_ARGS__))
#define fma_rd(...) (INFIMUM_SITE("fma_rd") ? fma_rn(__VA_ARGS__) : (fma_rd)(__VA_ARGS__))
#define fma_ru(...) (INFIMUM_SITE("fma_ru") ? fma_rn(__VA_ARGS__) : (fma_ru)(__VA_ARGS__))
#else
#define K(c) D(c)
#define BOUND(c) (c)
#define TERM(x) (x)
#endif
