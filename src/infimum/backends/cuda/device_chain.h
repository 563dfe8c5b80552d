// The rules of a chain on a GPU (core/chain/rules.h): a thread takes one box after the other. Every kernel is given the same
// arguments and reads those that it needs; chain.py says in which order they are launched.
//
//   columns   what is kept of the boxes of a batch: side i of box w at lo[i*boxes + w], so that neighbouring threads read
//             neighbouring numbers
//   list      the boxes that a launch is about: the k-th of them is box at[k]
//   Strided   what a Program reads or writes for a list, as its team has it (device_slots.h)
#pragma once
#include "codes.h"
#include "core.h"
#include "chain/rules.h"

namespace INFIMUM_NAMESPACE {

enum { CHAIN_THREADS = 128 };

// Element j of the k-th box of a list at lo[k*box + j*element].
struct Strided {
    double *lo, *hi;
    Count box, element;
    INFIMUM_METHOD Sides of(Count k, Count first = 0) const {
        return {lo + k * box + first * element, hi + k * box + first * element, element};
    }
    INFIMUM_METHOD Ends number(Count k) const { return {lo + k * box, hi + k * box}; }
};
struct ChainArguments {
    const long long *at;
    double *lo, *hi, *start_lo, *start_hi, *slope_lo, *slope_hi;  // columns; start: as a link found them
    double *part, *lower;
    const double *limit;
    unsigned char *known, *apart;
    long long *taken;       // of each box by this link, in units of 2^-32
    unsigned char *flag;    // what a kernel says of the k-th box
    const double *edges;    // (4, n): lower and upper edges, lower and upper ends
    Strided in, a, b;
    Count n, boxes, option;
    double number;
    Count count;
    INFIMUM_METHOD Sides x(Count w) const { return {lo + w, hi + w, boxes}; }
    INFIMUM_METHOD Sides slope(Count w) const { return {slope_lo + w, slope_hi + w, boxes}; }
    INFIMUM_METHOD Sides start(Count w) const { return {start_lo + w, start_hi + w, boxes}; }
    // option: whether the edges run along other variables.
    INFIMUM_METHOD Edges edges_of(Count w) const {
        return {edges, edges + n, edges + 2 * n, edges + 3 * n, option ? apart + w : nullptr};
    }
};

INFIMUM_FN void copy(Sides from, Sides to, Count n) {
    for (Count i = 0; i < n; i++) {
        to.lo[i * to.pitch] = from.lo[i * from.pitch];
        to.hi[i * to.pitch] = from.hi[i * from.pitch];
    }
}
INFIMUM_FN bool is_empty(Sides x, Count n) {
    unsigned char empty;
    find_empty(x, n, 1, &empty);
    return empty;
}
INFIMUM_FN void without_minus_zero(Sides x, Count n) {
    for (Count i = 0; i < n; i++) {
        x.lo[i * x.pitch] += 0.0;
        x.hi[i * x.pitch] += 0.0;
    }
}
INFIMUM_FN bool differs(Sides x, Sides y, Count n) {
    bool found = false;
    for (Count i = 0; i < n; i++)
        found |= (x.lo[i * x.pitch] != y.lo[i * y.pitch]) | (x.hi[i * x.pitch] != y.hi[i * y.pitch]);
    return found;
}
// What was known of a box that changes is forgotten.
INFIMUM_FN void put(const ChainArguments &a, Count w, Sides found) {
    if (differs(a.x(w), found, a.n)) a.known[w] = 0;
    copy(found, a.x(w), a.n);
}

// ---------------------------------------------------------------------------------------------- a batch comes and goes
// in: the boxes, all of them; a: their lower bounds. flag: not empty.
INFIMUM_FN void chain_enter(const ChainArguments &a, Count k) {
    copy(a.in.of(k), a.x(k), a.n);
    copy(a.in.of(k), a.start(k), a.n);
    a.known[k] = 0;
    a.lower[k] = *a.a.number(k).lo;
    a.flag[k] = !is_empty(a.x(k), a.n);
}
// in: the boxes; a: their slopes, 0 where there are none; b: their lower bounds. flag: whether there are slopes.
INFIMUM_FN void chain_leave(const ChainArguments &a, Count k) {
    const Count w = a.at[k];
    copy(a.x(w), a.in.of(k), a.n);
    *a.b.of(k).lo = is_empty(a.x(w), a.n) ? INFIMUM_INF : a.lower[w];
    a.flag[k] = a.known[w] & INFIMUM_CHAIN_HAS_SLOPE;
    const Sides to = a.a.of(k);
    if (a.flag[k])
        copy(a.slope(w), to, a.n);
    else
        for (Count i = 0; i < a.n; i++) to.lo[i * to.pitch] = to.hi[i * to.pitch] = 0.0;
}
// What the link took of each box that is left, and which are left then. option: what is kept; number: the upper bound.
// flag: left; not empty where all are kept.
INFIMUM_FN void chain_count(const ChainArguments &a, Count k) {
    const Count w = a.at[k], keeping = a.option;
    double gone;
    shrinkage(a.start(w), a.x(w), a.n, 1, a.part + w, &gone);
    const bool empty = is_empty(a.x(w), a.n);
    bool out = false;
    if (keeping != INFIMUM_CHAIN_KEEP_ALL) out = empty | (a.lower[w] > a.number) | (a.lower[w] == INFIMUM_INF);
    a.taken[w] = out ? 1LL << 32 : static_cast<long long>(gone * 4294967296.0);
    if (out && keeping == INFIMUM_CHAIN_KEEP_ROWS) {
        const unsigned char marked = 1;
        make_empty(a.x(w), a.n, 1, &marked);
        a.known[w] = 0;
    }
    copy(a.x(w), a.start(w), a.n);
    a.flag[k] = keeping == INFIMUM_CHAIN_KEEP_ALL ? !empty : !out;
}
// flag: whether these bits of what is known (option, the lower byte) are as asked (the next one).
INFIMUM_FN void chain_marked(const ChainArguments &a, Count k) {
    a.flag[k] = (a.known[a.at[k]] & a.option & 255) == a.option >> 8;
}

// ---------------------------------------------------------------------------------------------- what is known of boxes
INFIMUM_FN void chain_given(const ChainArguments &a, Count k) { copy(a.x(a.at[k]), a.in.of(k), a.n); }
// a: defined; b: smooth.
INFIMUM_FN void chain_facts(const ChainArguments &a, Count k) {
    const bool is_defined = *a.a.number(k).lo == 1.0, is_smooth = is_defined && *a.b.number(k).lo == 1.0;
    a.known[a.at[k]] |= INFIMUM_CHAIN_HAS_FACTS | (is_defined ? INFIMUM_CHAIN_IS_DEFINED : 0) |
                        (is_smooth ? INFIMUM_CHAIN_IS_SMOOTH : 0);
}
// a: the gradient. A slope that exists nowhere is anything.
INFIMUM_FN void chain_slopes(const ChainArguments &a, Count k) {
    const Count w = a.at[k];
    const Sides found = a.a.of(k), to = a.slope(w);
    for (Count i = 0; i < a.n; i++) {
        const double lo = found.lo[i * found.pitch] + 0.0, hi = found.hi[i * found.pitch] + 0.0;
        to.lo[i * to.pitch] = lo > hi ? -INFIMUM_INF : lo;
        to.hi[i * to.pitch] = lo > hi ? INFIMUM_INF : hi;
    }
    a.known[w] |= INFIMUM_CHAIN_HAS_SLOPE;
}
// a: the user's gradient; b: whether it is defined. option: f is smooth everywhere. flag: the user's is no gradient.
INFIMUM_FN void chain_users(const ChainArguments &a, Count k) {
    const Count w = a.at[k];
    const Sides own = a.a.of(k), to = a.slope(w);
    a.flag[k] = 0;
    if (*a.b.number(k).lo != 1.0 || !(a.option || a.known[w] & INFIMUM_CHAIN_IS_SMOOTH)) return;
    for (Count i = 0; i < a.n; i++) {
        double &low = to.lo[i * to.pitch], &high = to.hi[i * to.pitch];
        low = larger(own.lo[i * own.pitch], low);
        high = smaller(own.hi[i * own.pitch], high);
        a.flag[k] |= low > high;
    }
}
// a: the boxes as oblique edges see them.
INFIMUM_FN void chain_apart(const ChainArguments &a, Count k) {
    const Sides image = a.a.of(k);
    bool inside = true;
    for (Count i = 0; i < a.n; i++)
        inside &= (a.edges[i] < image.lo[i * image.pitch]) & (image.hi[i * image.pitch] < a.edges[a.n + i]);
    a.apart[a.at[k]] = !inside;
}

// ---------------------------------------------------------------------------------------------- links
INFIMUM_FN void chain_level_given(const ChainArguments &a, Count k) {
    const Count w = a.at[k];
    copy(a.x(w), a.in.of(k), a.n);
    const Sides wanted = a.in.of(k, a.n);
    *wanted.lo = -INFIMUM_INF;
    *wanted.hi = a.limit[w];
}
// a: what HC4 left; b: the value. number: how much a pass must take. flag: whether another one follows.
INFIMUM_FN void chain_level(const ChainArguments &a, Count k) {
    const Count w = a.at[k];
    const Sides x = a.x(w), found = a.a.of(k);
    unsigned char nothing;
    double lower = a.lower[w], gone;
    without_minus_zero(found, a.n);
    level_rule(x, found, a.b.number(k), a.limit + w, a.n, 1, &lower, &nothing);
    shrinkage(x, found, a.n, 1, a.part + w, &gone);
    put(a, w, found);
    a.lower[w] = lower;
    a.flag[k] = !nothing && gone >= a.number;
}
INFIMUM_FN void chain_monotone(const ChainArguments &a, Count k) {
    const Count w = a.at[k];
    const unsigned char smooth = 1;
    unsigned char nothing;
    monotone_rule(a.x(w), a.slope(w), a.edges_of(w), &smooth, a.n, 1, &nothing);
    if (differs(a.x(w), a.start(w), a.n)) a.known[w] = 0;
}
// flag: whether a side does not reach both edges.
INFIMUM_FN void chain_inner(const ChainArguments &a, Count k) {
    const Count w = a.at[k];
    find_inner(a.x(w), a.edges_of(w), a.n, 1, a.flag + k);
}
INFIMUM_FN void chain_stationary_given(const ChainArguments &a, Count k) {
    const Count w = a.at[k];
    copy(a.x(w), a.in.of(k), a.n);
    wanted_slopes(a.x(w), a.edges_of(w), a.n, 1, a.in.of(k, a.n));
}
// in: what the Program was given; a: what HC4 left; b: the slope. number, flag: as of chain_level.
INFIMUM_FN void chain_stationary(const ChainArguments &a, Count k) {
    const Count w = a.at[k];
    const Sides x = a.x(w), found = a.a.of(k), slope = a.b.of(k);
    unsigned char nothing, nowhere;
    double gone;
    without_minus_zero(found, a.n);
    without_minus_zero(slope, a.n);
    stationary_rule(x, found, slope, a.in.of(k, a.n), a.n, 1, &nothing, &nowhere);
    shrinkage(x, found, a.n, 1, a.part + w, &gone);
    put(a, w, found);
    a.flag[k] = !nothing && gone >= a.number;
}
INFIMUM_FN void chain_centre_given(const ChainArguments &a, Count k) {
    const Count w = a.at[k];
    centre(a.x(w), a.slope(w), a.n, 1, a.in.of(k));
}
// a: the value at the centre; b: the centre.
INFIMUM_FN void chain_form_given(const ChainArguments &a, Count k) {
    const Count w = a.at[k];
    copy(a.x(w), a.in.of(k), a.n);
    copy(a.b.of(k), a.in.of(k, a.n), a.n);
    copy(a.slope(w), a.in.of(k, 2 * a.n), a.n);
    const Sides value = a.in.of(k, 3 * a.n), wanted = a.in.of(k, 3 * a.n + 1);
    *value.lo = *a.a.number(k).lo;
    *value.hi = *a.a.number(k).hi;
    *wanted.lo = -INFIMUM_INF;
    *wanted.hi = a.limit[w];
}
// a: what the form's contraction left; b: where the form is lowest.
INFIMUM_FN void chain_mean_value(const ChainArguments &a, Count k) {
    const Count w = a.at[k];
    const Sides found = a.a.of(k);
    unsigned char nothing;
    double lower = a.lower[w];
    without_minus_zero(found, a.n);
    mean_value_rule(a.x(w), found, a.b.number(k).lo, a.limit + w, a.n, 1, &lower, &nothing);
    put(a, w, found);
    a.lower[w] = lower;
}

template <class Rule>
INFIMUM_FN void for_chain(const ChainArguments &a, const Rule &rule) {
    const Count thread = static_cast<Count>(blockIdx.x) * blockDim.x + threadIdx.x;
    const Count threads = static_cast<Count>(gridDim.x) * blockDim.x;
    for (Count k = thread; k < a.count; k += threads) rule(a, k);
}

}  // namespace INFIMUM_NAMESPACE

#define INFIMUM_CHAIN_PARAMETERS                                                                                        \
    const long long *at, double *lo, double *hi, double *start_lo, double *start_hi, double *slope_lo,                  \
        double *slope_hi, double *part, double *lower, const double *limit, unsigned char *known, unsigned char *apart, \
        long long *taken, unsigned char *flag, const double *edges, double *in_lo, double *in_hi, double *a_lo,         \
        double *a_hi, double *b_lo, double *b_hi, long long in_box, long long in_element, long long a_box,              \
        long long a_element, long long b_box, long long b_element, long long n, long long boxes, long long option,      \
        double number, long long count
#define INFIMUM_CHAIN_ARGUMENTS                                                                                         \
    {at, lo, hi, start_lo, start_hi, slope_lo, slope_hi, part, lower, limit, known, apart, taken, flag, edges,          \
     {in_lo, in_hi, in_box, in_element}, {a_lo, a_hi, a_box, a_element}, {b_lo, b_hi, b_box, b_element},                \
     n, boxes, option, number, count}
#ifndef INFIMUM_CHAIN_ENTRY
#define INFIMUM_CHAIN_ENTRY(name)                                                                                       \
    extern "C" __global__ void __launch_bounds__(INFIMUM_NAMESPACE::CHAIN_THREADS)                                      \
        infimum_chain_##name(INFIMUM_CHAIN_PARAMETERS) {                                                                \
        using namespace INFIMUM_NAMESPACE;                                                                              \
        const ChainArguments all = INFIMUM_CHAIN_ARGUMENTS;                                                             \
        for_chain(all, [](const ChainArguments &a, Count k) { chain_##name(a, k); });                                   \
    }
#endif
