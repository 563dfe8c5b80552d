// Where a test build can break rules on purpose (tests/test_staging.py, tests/test_chain.py); everywhere else BROKEN is false.
#pragma once
#ifdef INFIMUM_BREAKABLE
extern "C" int infimum_broken;
#define BROKEN(number) (infimum_broken == (number))
#else
#define BROKEN(number) false
#endif
// Staging:
//   1  a component discards at the edge of the domain too     7  a changed term does not reach the reduction
//   2  ... where its slope may be positive                    8  a changed variable does not reach its terms
//   3  what is wholly open is left out of a prefix's bound    9  going up leaves the box as it was
//   4  what is partly open is                                10  a child at the upper bound is not put on the list
//   5  a hull holds the first part alone                     11  ... is not emitted
//   6  sample points may leave the domain                    12  a sample's proof leaves out what the split touches
//  13  a child is discarded where the function is not smooth
// Chains:
//  21  a box at its limit is emptied                         29  a box at the upper bound is dropped
//  22  ... by the mean value form                            30  ... is dropped from the pool
//  23  a slope that may be 0 counts as one                   31  a box of which nothing is known has the slopes of another
//  24  slopes lead out of the domain                         32  the second half of a cut is lost
//  25  a minimiser at an edge is to have no slope            33  the bound of a box is not carried over to its halves
//  26  a slope that exists nowhere empties its box           34  a block's last box is lost
//  27  a box on which f is not smooth counts as smooth       35  a block has the limit of its first box
//  28  what is known of a box outlives its change            36  blocks are written over the first one
//  37  the centre of a mean value form is outside its box    42  the user's slopes count where they are undefined
//  38  boxes with others between them count as neighbours    43  a box at an oblique edge counts as inner
//  39  a box of the pool gives its place away                44  an infinite edge is taken for a point
//  40  a box too many leaves the pool                        45  a lower bound falls
//  41  a bound that is no number is kept as one              46  what is taken from the pool is not the best
