// A chain as core/chain.py makes it: what is done to a box between being taken and being kept, one link after the other.
// Plain C; a GPU's compiler reads it too.
#pragma once
#include "../abi.h"

extern "C" {
// What the numbers of a link mean:
//
//   kind         first       second   passes, least
//   LEVEL        HC4 of f             at most so many, as long as each takes so much of a box away
//   MONOTONE
//   STATIONARY   HC4 of f'            likewise
//   MEAN_VALUE   f           form
struct infimum_link {
    int64_t kind, first, second, passes;
    double least;
};
// Programs by number, -1 for none. gradient: the derived one; jacobian: the user's, and whether it is defined; facts: defined
// and smooth, none where f is both everywhere; image: of a box of other coordinates (contractors/rotated.py), whose edges
// then are edge_lo and edge_hi; end_lo and end_hi are what a minimiser is moved to along a slope; point: f in plain doubles.
// All programs come when they are first needed.
struct infimum_chain {
    int64_t n, program_count, link_count, gradient, jacobian, facts, image, point;
    const infimum_link *links;
    const double *edge_lo, *edge_hi, *end_lo, *end_hi;  // (n)
};
// Boxes on their way through a chain: (count, n) and (count), row-major. What is written to has the names of what is read.
struct infimum_chain_job {
    int64_t count, keeping, threads;
    double upper, seconds;  // a bound that boxes are held against (infimum_chain_keeping); time that is left
    const double *in_lo, *in_hi, *in_lower, *limit;
    double *lo, *hi, *lower, *slope_lo, *slope_hi;
    int64_t *row;         // of each box that is left, among those given
    unsigned char *known; // of each box that is left: bits of infimum_chain_known
    int64_t *taken;       // (links): boxes taken away, in units of 2^-32
    int64_t evaluated;    // boxes on which f was contracted
    int64_t left;         // boxes
    int64_t which;        // INFIMUM_NO_PROGRAM: what is needed; INFIMUM_NO_GRADIENT: by which the user's derivative is none,
    double wrong[6];      // the box's side there, the derived slope, and the user's
};
// Boxes for which cuts are chosen, after `known_count` boxes whose slopes may be known (has), of which these are some.
struct infimum_cut_job {
    int64_t count, known_count, threads;
    double seconds;
    const double *in_lo, *in_hi, *known_lo, *known_hi, *slope_lo, *slope_hi;
    const unsigned char *has;
    const double *hints, *widths;  // (count, n) or none, (n) or none: chain/rules.h
    const unsigned char *stepped;  // (n) or none
    int64_t *variable;
    double *place;
    int64_t which;  // as of a chain's job
    double wrong[6];
};
int infimum_chain_cut(void *made, infimum_cut_job *job);
// Boxes that are looked at: the values at their middles, within [least, most], and whether they can be cut.
struct infimum_look_job {
    int64_t count, best_count, threads;
    double seconds;
    const double *in_lo, *in_hi, *least, *most;
    const double *widths;  // (n) or none
    double *points, *values;  // (best_count, n), (best_count): the middles with the smallest values, inf where there is none
    unsigned char *looks;     // (count): bits of infimum_chain_look
    int64_t which;
    double wrong[6];
};
int infimum_chain_look(void *made, infimum_look_job *job);
int infimum_chain_make(int variant, const infimum_chain *chain, void **made);
int infimum_chain_provide(void *made, int64_t number, const infimum_program *program);
int infimum_chain_run(void *made, infimum_chain_job *job);
void infimum_chain_free(void *made);
}
