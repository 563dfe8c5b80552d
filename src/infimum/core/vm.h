// The virtual machine of one variant: the stages of a phase, on one tile each.
//
// A body runs its instructions over blocks of lanes. Blocks are parts of a chunk of 256 elements; a reduction keeps a
// chunk's terms until the last block and reduces them over the fixed tree (vm/trees.h), so that the result depends neither
// on the size of a block nor on who runs which tile. Which tiles there are, and in what memory, is schedule.cpp's business:
// nothing of the standard library may be compiled here, because the linker could share it with other variants.
#pragma once
#include "vm/trees.h"

namespace INFIMUM_NAMESPACE {

typedef const int64_t Instruction[8];
enum { CODE, DST, A, B, C, P0, P1, P2 };

static int64_t chunks_of(int64_t m) { return (m + INFIMUM_CHUNK - 1) / INFIMUM_CHUNK; }
INFIMUM_FN Ends register_of(const infimum_tile &t, int64_t number) {
    return ends_at(t.registers + number * 2 * t.pitch, t.pitch, t.point);
}
INFIMUM_FN Ends terms_of(const infimum_tile &t, int64_t number) {
    return ends_at(t.terms + number * 2 * t.term_pitch, t.term_pitch, t.point);
}
// The chunks' results of the tile's groups, in the order [chunk][group][box].
INFIMUM_FN Ends results_of(const infimum_tile &t, int64_t number, int64_t chunks) {
    return ends_at(t.results + number * 2 * t.result_pitch, t.result_pitch, t.point) + t.first * chunks * t.boxes;
}

// ---------------------------------------------------------------------------------------------- bodies
// Where operation i of the body puts its result. What the next instruction stores goes straight into the slot, if its lanes
// lie there as in a register, if whole vectors neither write nor read beyond them, and if it is clean already: in
// interval mode everything is but the numbers of an interval, which may be NaN.
static Ends result_of(const infimum_tile &t, int64_t i, const Space &s) {
    Instruction &q = t.program->instructions[i], &next = t.program->instructions[i + 1];
    const Ends own = register_of(t, q[DST]);
    if (i + 1 == t.phase[4] || next[CODE] != INFIMUM_STORE || next[A] != q[DST] || t.point) return own;
    const int64_t number = q[CODE] - INFIMUM_OP, lanes = s.lanes(), over_e = next[P1], over_g = next[P1] * s.m;
    if (lanes % 8 != 0 || !in_order(s, over_g, over_e) || (number >= NUMBER_mid && number <= NUMBER_mig)) return own;
    const infimum_slot &slot = t.slots[next[DST]];
    const int64_t start = (next[P0] + over_g * s.g + over_e * s.e) * s.W;
    return start + lanes + 8 <= slot.readable ? Ends{slot.lo + start, slot.hi + start} : own;
}
// Where all operands are one interval for all lanes, so is the result. Such operands are held aside, because the result may
// go to a register that one of them lives in.
static void apply(const infimum_tile &t, Instruction &q, int64_t lanes, Ends to) {
    int arity;
    const Kernel kernel = kernel_of(q[CODE], t.point, &arity);
    Job job = {{}, to.lo, to.hi, nullptr, 8, q[P0]};
    double held[3][2];
    bool uniform = true;
    for (int i = 0; i < arity; i++) {
        job.in[i] = t.values[q[A + i]];
        if (job.in[i].stride) {
            uniform = false;
            job.count = whole_vectors(lanes);
        } else {
            held[i][0] = *job.in[i].lo;
            held[i][1] = *job.in[i].hi;
            job.in[i].lo = &held[i][0];
            job.in[i].hi = &held[i][1];
        }
    }
    kernel(job);
    t.values[q[DST]] = {to.lo, to.hi, uniform ? 0 : 1};
}

// Reduction number `number` of the phase, after the block s of the tile's chunk [start, end).
static void reduce(const infimum_tile &t, Instruction &q, int64_t number, const Space &s, int64_t start, int64_t end) {
    const int64_t span = s.G * s.W, chunks = chunks_of(s.m);
    const Kernel kernel = value_kernel(q[P0], t.point);
    const Operand value = t.values[q[A]];
    const Ends terms = terms_of(t, number);
    if (s.E == end - start && value.stride) {
        fold(kernel, {const_cast<double *>(value.lo), const_cast<double *>(value.hi)}, s.E, span, terms);
    } else {
        keep(terms + (s.e - start) * span, value, s.lanes());
        if (s.e + s.E < end) return;
        fold(kernel, terms, end - start, span, terms);
    }
    if (chunks > 1) return copy(results_of(t, number, chunks) + t.chunk * span, operand(terms), span);
    store_line(t.slots[q[DST]], {0, 1, s.g, s.G, s.W, 1}, q[P1], 1, 0, operand(terms));
}

static void run_block(const infimum_tile &t, const Space &s, int64_t start, int64_t end) {
    const infimum_program &p = *t.program;
    int64_t reductions = 0;
    for (int64_t i = t.phase[3]; i < t.phase[4]; i++) {
        Instruction &q = p.instructions[i];
        switch (q[CODE]) {
            case INFIMUM_LOAD_AFFINE:
                t.values[q[DST]] = load_line(t.slots[q[A]], s, q[P0], q[P1], q[P2], register_of(t, q[DST]));
                break;
            case INFIMUM_LOAD_WINDOW:
                t.values[q[DST]] = load_window(t.slots[q[A]], s, q[P0], q[P1], register_of(t, q[DST]));
                break;
            case INFIMUM_LOAD_TABLE:
                t.values[q[DST]] = load_table(t.slots[q[A]], s, p.tables + q[P0], register_of(t, q[DST]));
                break;
            case INFIMUM_STORE:
                store_line(t.slots[q[DST]], s, q[P0], q[P1] * s.m, q[P1], t.values[q[A]]);
                break;
            case INFIMUM_REDUCE:
                reduce(t, q, reductions++, s, start, end);
                break;
            default:
                apply(t, q, s.lanes(), result_of(t, i, s));
        }
    }
}
static void run_body(const infimum_tile &t) {
    const int64_t m = t.phase[2], start = t.chunk * INFIMUM_CHUNK, end = least(start + INFIMUM_CHUNK, m);
    for (int64_t e = start; e < end; e += t.block)
        run_block(t, {e, least(t.block, end - e), t.first, t.groups, t.boxes, m}, start, end);
}
// Reduce the chunks' results of the tile's groups and store them.
static void join(const infimum_tile &t) {
    const int64_t m = t.phase[2], chunks = chunks_of(m), span = t.groups * t.boxes;
    int64_t reductions = 0;
    for (int64_t i = t.phase[3]; i < t.phase[4]; i++) {
        Instruction &q = t.program->instructions[i];
        if (q[CODE] != INFIMUM_REDUCE) continue;
        const Ends results = results_of(t, reductions++, chunks);
        fold_sequence(value_kernel(q[P0], t.point), results, chunks, span, terms_of(t, 0));
        store_line(t.slots[q[DST]], {0, 1, t.first, t.groups, t.boxes, 1}, q[P1], 1, 0, operand(results));
    }
}

// ---------------------------------------------------------------------------------------------- others
struct Others {
    int64_t m, chunks, span;
    const infimum_slot &out, &in;
    Kernel kernel;
    Space s;  // the tile's chunk
};
static Others others_of(const infimum_tile &t) {
    const int64_t m = t.phase[2], start = t.chunk * INFIMUM_CHUNK;
    return {m, chunks_of(m), t.groups * t.boxes, t.slots[t.phase[3]], t.slots[t.phase[4]], value_kernel(t.phase[5], t.point),
            {start, least(INFIMUM_CHUNK, m - start), t.first, t.groups, t.boxes, m}};
}
// The terms of the tile's chunk, side by side in memory.
static Ends terms_of_chunk(const infimum_tile &t, const Others &o) {
    const Operand found = load_line(o.in, o.s, 0, o.m, 1, terms_of(t, 0));
    if (found.stride) return {const_cast<double *>(found.lo), const_cast<double *>(found.hi)};
    const Ends terms = terms_of(t, 0);
    fill(terms, *found.lo, *found.hi, whole_vectors(o.s.lanes()));
    return terms;
}
static void others_up(const infimum_tile &t) {
    const Others o = others_of(t);
    const Ends work = terms_of(t, 1);
    fold(o.kernel, terms_of_chunk(t, o), o.s.E, o.span, work);
    copy(results_of(t, 0, o.chunks) + t.chunk * o.span, operand(work), o.span);
}
// The second array of results holds what lies outside each chunk.
static void others_join(const infimum_tile &t) {
    const Others o = others_of(t);
    Scratch scratch = {t.terms, t.point != 0};
    const Ends out = scratch.take(o.chunks * o.span);
    outside_of_sequence(o.kernel, results_of(t, 0, o.chunks), o.chunks, o.span, out, scratch);
    copy(results_of(t, 1, o.chunks), operand(out), o.chunks * o.span);
}
//   m = 1     the neutral element: 0 for add, 1 for mul (min and max have none, and no such phase)
static void others_down(const infimum_tile &t) {
    const Others o = others_of(t);
    const Ends out = terms_of(t, 1);
    if (o.m == 1) {
        const double neutral = o.kernel == value_kernel(NUMBER_mul, t.point) ? 1.0 : 0.0;
        fill(out, neutral, neutral, o.span);
    } else {
        const Ends root = results_of(t, 1, o.chunks) + t.chunk * o.span;
        const Scratch scratch = {terms_of(t, 2).lo, t.point != 0};
        outside_of_chunk(o.kernel, terms_of_chunk(t, o), o.s.E, o.span, o.chunks > 1 ? &root : nullptr, out, scratch);
    }
    store_line(o.out, o.s, 0, o.m, 1, operand(out));
}

// ---------------------------------------------------------------------------------------------- recurrence
// y_i = a_i y_(i-1) + b_i in two roundings, one element after the other, from the other end if reverse; before it y = 0.
static void recurrence(const infimum_tile &t) {
    const int64_t count = t.phase[1], reverse = t.phase[2], W = t.boxes;
    const infimum_slot &out = t.slots[t.phase[3]], &a = t.slots[t.phase[4]], &b = t.slots[t.phase[5]];
    const Kernel mul = value_kernel(NUMBER_mul, t.point), add = value_kernel(NUMBER_add, t.point);
    const Ends y = register_of(t, 0), x = register_of(t, 1), z = register_of(t, 2);
    fill(y, 0.0, 0.0, whole_vectors(W));
    for (int64_t i = 0; i < count; i++) {
        const Space s = {reverse ? count - 1 - i : i, 1, 0, 1, W, count};
        combine(mul, y, load_line(a, s, 0, 0, 1, x), operand(y), W);
        combine(add, y, operand(y), load_line(b, s, 0, 0, 1, z), W);
        store_line(out, s, 0, 0, 1, operand(y));
    }
}

// ---------------------------------------------------------------------------------------------- inputs
template <class D>
INFIMUM_FN Mask<D> is_no_interval(D lo, D hi) {
    const D inf = D(INFIMUM_INF);
    return !(((lo <= hi) & (lo < inf) & (hi > -inf)) | ((lo == inf) & (hi == -inf)));
}
static int check_inputs(const infimum_tile &t) {
    for (int64_t k = 0; k < t.program->slot_count; k++) {
        if (t.program->slots[k][0] != INFIMUM_SLOT_INPUT) continue;
        const infimum_slot &x = t.slots[k];
        const int64_t count = x.size * t.boxes;
        int64_t i = 0;
        for (; i + WIDTH <= count; i += WIDTH)
            if (any(is_no_interval(load(x.lo + i), load(x.hi + i)))) return 1;
        for (; i < count; i++)
            if (is_no_interval(x.lo[i], x.hi[i])) return 1;
    }
    return 0;
}

static int run_stage(int stage, const infimum_tile &t) {
    switch (stage) {
        case INFIMUM_CHECK: return check_inputs(t);
        case INFIMUM_RUN_BODY: run_body(t); break;
        case INFIMUM_JOIN: join(t); break;
        case INFIMUM_OTHERS_UP: others_up(t); break;
        case INFIMUM_OTHERS_JOIN: others_join(t); break;
        case INFIMUM_OTHERS_DOWN: others_down(t); break;
        case INFIMUM_RUN_RECURRENCE: recurrence(t); break;
    }
    return 0;
}

}  // namespace INFIMUM_NAMESPACE
