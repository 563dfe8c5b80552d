// Reverse operations: what remains of an operand x where the result must lie in c. Each encloses the hull of
//   { x in X : op(x, b) in C for some b in B },
// contained in X, and is empty where an operand is (where_rev and where_rev_cond: see there). Open ends are closed.
//
// What needs no operation of its own, because its inverse does it (r is the result's range C, x the operand's):
//
//   operation              reverse
//   neg x                  x and neg(r)
//   a + b                  a and r - b;  b and r - a
//   a - b                  a and r + b;  b and a - r
//   a * b                  mul_rev(b, r, a);  mul_rev(a, r, b)
//   a / b                  a and r * b;  mul_rev(r, a, b)
//   recip x                mul_rev(r, [1, 1], x)
//   fma a b z              mul_rev(b, r - z, a);  mul_rev(a, r - z, b);  z and r - a * b
//   hypot a b              sqr_rev(sqr(r) - sqr(b), a);  sqr_rev(sqr(r) - sqr(a), b)       r within [0, inf)
//   cbrt x                 x and pown(r, 3)
//   exp exp2 exp10 expm1   x and log(r), log2(r), log10(r), log1p(r)
//   log log2 log10 log1p   x and exp(r), exp2(r), exp10(r), expm1(r)
//   sinh tanh asinh atanh  x and asinh(r), atanh(r), sinh(r), tanh(r)
//   acosh x                x and cosh(r)       r within [0, inf)
//   asin x, acos x         x and sin(r), x and cos(r)       r within [-pi/2, pi/2], within [0, pi], rounded outward
//   hull intersection mod  x
//   lgamma and slopes      x
// "x and s" is intersection(x, s). An operation's own range may always stand for "r within".
// All others have their row: sqr abs sqrt pown min max floor ceil trunc round_ties_to_even round_ties_to_away sign, the
// comparisons, where, sin cos tan sinpi cospi cosh atan pow atan2 erf erfc.
//
// A reverse operation also removes the x where op is not defined: right for an expression whose value is needed, wrong
// inside a branch of where that is not certainly taken.
#pragma once
#include "reverse/arithmetic.h"
#include "reverse/erf.h"
#include "reverse/power.h"
#include "reverse/steps.h"
#include "reverse/trig.h"
