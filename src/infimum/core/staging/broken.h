// Where a test build can break staging on purpose (tests/test_staging.py); everywhere else BROKEN is false.
#pragma once
#ifdef INFIMUM_BREAKABLE
extern "C" int infimum_staging_broken;
#define BROKEN(number) (infimum_staging_broken == (number))
#else
#define BROKEN(number) false
#endif
//   1  a component discards at the edge of the domain too     7  a changed term does not reach the reduction
//   2  ... where its slope may be positive                    8  a changed variable does not reach its terms
//   3  what is wholly open is left out of a prefix's bound    9  going up leaves the box as it was
//   4  what is partly open is                                10  a child at the upper bound is not put on the list
//   5  a hull holds the first part alone                     11  ... is not emitted
//   6  sample points may leave the domain                    12  a sample's proof leaves out what the split touches
//  13  a child is discarded where the function is not smooth
