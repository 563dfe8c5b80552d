// Moving intervals between slots and registers.
//
// A block is E elements of G groups for W boxes; its lanes are ordered [element][group][box]. A load that meets its lanes in
// that order in memory copies nothing: the register is then a pointer into the slot. A load of one interval for all lanes
// is a pointer as well, with stride 0.
#pragma once
#include "kernels.h"

namespace INFIMUM_NAMESPACE {

// The ends of intervals in memory; hi == lo in point mode.
struct Ends {
    double *lo, *hi;
};
INFIMUM_FN Ends operator+(Ends a, int64_t lanes) { return {a.lo + lanes, a.hi + lanes}; }
INFIMUM_FN Ends ends_at(double *lo, int64_t pitch, bool point) { return {lo, point ? lo : lo + pitch}; }
INFIMUM_FN Operand operand(Ends a) { return {a.lo, a.hi, 1}; }
INFIMUM_FN int64_t whole_vectors(int64_t lanes) { return (lanes + 7) & ~int64_t(7); }
INFIMUM_FN int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

// Elements [e, e + E) of groups [g, g + G), each group of m elements, for W boxes.
struct Space {
    int64_t e, E, g, G, W, m;
    int64_t lanes() const { return E * G * W; }
};

// What is kept has no -0 and one NaN only, so that no processor shows in it.
template <class D>
INFIMUM_FN D clean(D x) {
    return select(x == x, add_rn(x, D(0.0)), D(of_bits(0x7ff8000000000000LL)));
}
#if defined(INFIMUM_AVX512)
INFIMUM_FN V8 clean(V8 x) {
    // the classes are, from the lowest digit on: quiet and signalling NaN, which become the first operand, 0, the others
    const __m512i classes = _mm512_set1_epi64(0x11111800), nan = _mm512_set1_epi64(0x7ff8000000000000LL);
    return _mm512_fixupimm_pd(_mm512_castsi512_pd(nan), x.v, classes, 0);
}
#endif
INFIMUM_FN void fill_end(double *to, double x, int64_t count) {
    int64_t i = 0;
    for (; i + WIDTH <= count; i += WIDTH) store(to + i, Lane(x));
    for (; i < count; i++) to[i] = x;
}
static void move_clean(double *to, const double *from, int64_t stride, int64_t count) {
    int64_t i = 0;
    if (stride == 0) return fill_end(to, clean(*from), count);
    for (; i + WIDTH <= count; i += WIDTH) store(to + i, clean(load(from + i)));
    for (; i < count; i++) to[i] = clean(from[i]);
}
// Keep `count` lanes of an operand, unless they are there already.
static void keep(Ends to, Operand from, int64_t count) {
    if (from.stride && from.lo == to.lo) return;
    move_clean(to.lo, from.lo, from.stride, count);
    if (to.hi != to.lo) move_clean(to.hi, from.hi, from.stride, count);
}
INFIMUM_FN void copy_end(double *to, const double *from, int64_t count) {
    int64_t i = 0;
    for (; i + WIDTH <= count; i += WIDTH) store(to + i, load(from + i));
    for (; i < count; i++) to[i] = from[i];
}
INFIMUM_FN void copy(Ends to, Operand from, int64_t count) {
    copy_end(to.lo, from.lo, count);
    if (to.hi != to.lo) copy_end(to.hi, from.hi, count);
}
INFIMUM_FN void fill(Ends to, double lo, double hi, int64_t count) {
    fill_end(to.lo, lo, count);
    if (to.hi != to.lo) fill_end(to.hi, hi, count);
}
// The lanes up to a whole vector repeat the last one: ordinary numbers, so that no operation takes a rare path for them.
INFIMUM_FN Operand padded(Ends to, int64_t lanes) {
    fill(to + lanes, to.lo[lanes - 1], to.hi[lanes - 1], whole_vectors(lanes) - lanes);
    return operand(to);
}

// One interval of every box, or 0 where j is negative.
INFIMUM_FN void copy_vectors(Ends to, const infimum_slot &slot, int64_t j, int64_t W) {
    const double *lo = slot.lo + j * W, *hi = slot.hi + j * W;
    if (j < 0) return fill(to, 0.0, 0.0, W);
    for (int64_t w = 0; w < W; w += WIDTH) {
        store(to.lo + w, load(lo + w));
        store(to.hi + w, load(hi + w));
    }
}
INFIMUM_FN void copy_number(Ends to, const infimum_slot &slot, int64_t j) {
    *to.lo = j < 0 ? 0.0 : slot.lo[j];
    *to.hi = j < 0 ? 0.0 : slot.hi[j];
}
INFIMUM_FN void copy_any(Ends to, const infimum_slot &slot, int64_t j, int64_t W) {
    if (j < 0)
        fill(to, 0.0, 0.0, W);
    else if (slot.per_box)
        copy(to, {slot.lo + j * W, slot.hi + j * W, 1}, W);
    else
        fill(to, slot.lo[j], slot.hi[j], W);
}
// Element at(e, g) of a slot for every element and group of the block; 0 where that is negative.
template <class At>
INFIMUM_FN Operand gather(const infimum_slot &slot, const Space &s, Ends to, At at) {
    const int64_t W = s.W, G = s.G, E = s.E;
    int64_t lane = 0;
    const auto all = [&](auto each) __attribute__((always_inline)) {
        for (int64_t e = 0; e < E; e++)
            for (int64_t g = 0; g < G; g++, lane += W) each(to + lane, at(e, g));
    };
    if (W == 1)
        all([&](Ends there, int64_t j) __attribute__((always_inline)) { copy_number(there, slot, j); });
    else if (slot.per_box && W == WIDTH)
        all([&](Ends there, int64_t j) __attribute__((always_inline)) { copy_vectors(there, slot, j, WIDTH); });
    else if (slot.per_box && W % WIDTH == 0)
        all([&](Ends there, int64_t j) __attribute__((always_inline)) { copy_vectors(there, slot, j, W); });
    else
        all([&](Ends there, int64_t j) __attribute__((always_inline)) { copy_any(there, slot, j, W); });
    return padded(to, lane);
}
// Lanes lie in memory as in a register: groups follow each other, then elements.
INFIMUM_FN bool in_order(const Space &s, int64_t over_g, int64_t over_e) {
    return (s.G == 1 || over_g == 1) && (s.E == 1 || over_e == s.G);
}
// slot[offset + over_g*g + over_e*e], in the order
//   one interval for all lanes         pointer, stride 0
//   lanes in order, safe to over-read  pointer
//   groups in order                    a run of groups at a time
//   else                               an interval (of every box) at a time
static Operand load_line(const infimum_slot &slot, const Space &s, int64_t offset, int64_t over_g, int64_t over_e, Ends to) {
    const int64_t start = offset + over_g * s.g + over_e * s.e, lanes = s.lanes();
    const bool plain = slot.per_box || s.W == 1;
    if ((!slot.per_box || s.W == 1) && (s.G == 1 || over_g == 0) && (s.E == 1 || over_e == 0))
        return {slot.lo + start, slot.hi + start, 0};
    if (plain && in_order(s, over_g, over_e)) {
        const Operand there = {slot.lo + start * s.W, slot.hi + start * s.W, 1};
        if (start * s.W + whole_vectors(lanes) + 8 <= slot.readable) return there;
        copy(to, there, lanes);
        return padded(to, lanes);
    }
    if (plain && over_g == 1) {
        for (int64_t e = 0, at = start * s.W; e < s.E; e++, at += over_e * s.W)
            copy(to + e * s.G * s.W, {slot.lo + at, slot.hi + at, 1}, s.G * s.W);
        return padded(to, lanes);
    }
    return gather(slot, s, to, [=](int64_t e, int64_t g) { return start + over_g * g + over_e * e; });
}
// slot[offset + step*i], i = g*m + e, and 0 outside the slot.
static Operand load_window(const infimum_slot &slot, const Space &s, int64_t offset, int64_t step, Ends to) {
    const int64_t i = s.g * s.m + s.e, size = slot.size;
    const int64_t a = offset + step * i, b = offset + step * (i + (s.G - 1) * s.m + s.E - 1);
    if (a >= 0 && a < size && b >= 0 && b < size) return load_line(slot, s, offset, step * s.m, step, to);
    return gather(slot, s, to, [=](int64_t e, int64_t g) {
        const int64_t j = a + step * (g * s.m + e);
        return j < size ? j : int64_t(-1);
    });
}
static Operand load_table(const infimum_slot &slot, const Space &s, const int64_t *table, Ends to) {
    const int64_t *here = table + s.g * s.m + s.e;
    return gather(slot, s, to, [=](int64_t e, int64_t g) { return here[g * s.m + e]; });
}
// slot[offset + over_g*g + over_e*e] = value.
static void store_line(const infimum_slot &slot, const Space &s, int64_t offset, int64_t over_g, int64_t over_e, Operand value) {
    const int64_t start = offset + over_g * s.g + over_e * s.e;
    const Ends to = {slot.lo + start * s.W, slot.hi + start * s.W};
    if (in_order(s, over_g, over_e)) return keep(to, value, s.lanes());
    const int64_t run = over_g == 1 ? s.G : 1;
    for (int64_t e = 0, lane = 0; e < s.E; e++)
        for (int64_t g = 0; g < s.G; g += run, lane += run * s.W)
            keep(to + (over_g * g + over_e * e) * s.W,
                 {value.lo + lane * value.stride, value.hi + lane * value.stride, value.stride}, run * s.W);
}

}  // namespace INFIMUM_NAMESPACE
