// The fixed tree of a reduction, upwards and downwards.
//
// A sequence of m terms falls into chunks of 256. Inside a chunk term i meets i + 128, what is left meets i + 64, …, i + 1;
// where there is no partner a term stays as it is. The chunks' results are a sequence again. The shape depends on m alone.
//
// `span` is the number of lanes of a term (groups x boxes); terms follow each other in memory. Operations run over whole
// vectors, so every buffer has 8 lanes to spare.
#pragma once
#include "memory.h"

namespace INFIMUM_NAMESPACE {

INFIMUM_FN void combine(Kernel kernel, Ends to, Operand a, Operand b, int64_t lanes) {
    kernel(Job{{a, b, {}}, to.lo, to.hi, nullptr, whole_vectors(lanes), 0});
}
INFIMUM_FN void combine(Kernel kernel, Ends to, Ends a, Ends b, int64_t lanes) {
    combine(kernel, to, operand(a), operand(b), lanes);
}

// Reduce the terms of one chunk; the result is in the first `span` lanes of `work`, which may be `terms` itself and else
// has room for half a chunk.
static void fold(Kernel kernel, Ends terms, int64_t count, int64_t span, Ends work) {
    Ends from = terms;
    for (int64_t d = INFIMUM_CHUNK / 2; d >= 1; d /= 2) {
        if (count <= d) continue;
        const int64_t paired = (count - d) * span, alone = d * span - paired;
        const int64_t spill = least(whole_vectors(paired) - paired, alone);
        double lo[8], hi[8];
        if (from.lo == work.lo) copy({lo, hi}, operand(work + paired), spill);
        combine(kernel, work, from, from + d * span, paired);
        if (from.lo == work.lo)
            copy(work + paired, {lo, work.hi == work.lo ? lo : hi, 1}, spill);
        else
            copy(work + paired, operand(from + paired), alone);
        from = work;
        count = d;
    }
    if (from.lo != work.lo) copy(work, operand(from), span);
}
// Reduce a whole sequence in place; the result is in its first `span` lanes. work: half a chunk.
static void fold_sequence(Kernel kernel, Ends terms, int64_t count, int64_t span, Ends work) {
    while (count > 1) {
        const int64_t chunks = (count + INFIMUM_CHUNK - 1) / INFIMUM_CHUNK;
        for (int64_t c = 0; c < chunks; c++) {
            const int64_t first = c * INFIMUM_CHUNK;
            fold(kernel, terms + first * span, least(INFIMUM_CHUNK, count - first), span, work);
            copy(terms + c * span, operand(work), span);
        }
        count = chunks;
    }
}

// Memory handed out piece by piece.
struct Scratch {
    double *next;
    bool point;
    Ends take(int64_t lanes) {
        const int64_t pitch = whole_vectors(lanes) + 8;
        const Ends found = ends_at(next, pitch, point);
        next += 2 * pitch;
        return found;
    }
};

// For every term of one chunk the reduction of all others, and of `root`, what lies outside the chunk (none: nullptr).
//   outside(child) = outside(parent) o sibling; without a sibling, outside(parent)
// The root of everything has nothing outside, so there outside(child) = sibling. `out` and scratch hold a chunk.
static void outside_of_chunk(Kernel kernel, Ends terms, int64_t count, int64_t span, const Ends *root, Ends out, Scratch scratch) {
    struct Level {
        Ends terms;
        int64_t count, d;
    } levels[8];
    int depth = 0;
    const Ends other = scratch.take(count * span);
    Ends level = terms;
    for (int64_t d = INFIMUM_CHUNK / 2; d >= 1; d /= 2) {
        if (count <= d) continue;
        levels[depth++] = {level, count, d};
        const Ends up = scratch.take(d * span);
        const int64_t paired = (count - d) * span;
        combine(kernel, up, level, level + d * span, paired);
        copy(up + paired, operand(level + paired), d * span - paired);
        level = up;
        count = d;
    }
    Ends parent = root ? *root : Ends{nullptr, nullptr};
    for (int i = depth - 1; i >= 0; i--) {
        const Level &l = levels[i];
        const int64_t paired = (l.count - l.d) * span, alone = l.d * span - paired;
        const Ends child = i % 2 == 0 ? out : other;  // the lowest level, number 0, ends in `out`
        if (parent.lo) {
            combine(kernel, child, parent, l.terms + l.d * span, paired);
            copy(child + paired, operand(parent + paired), alone);
            combine(kernel, child + l.d * span, parent, l.terms, paired);
        } else {
            copy(child, operand(l.terms + span), span);
            copy(child + span, operand(l.terms), span);
        }
        parent = child;
    }
    if (depth == 0) copy(out, operand(parent), span);
}
// The same for a whole sequence of at least two terms, nothing outside it.
static void outside_of_sequence(Kernel kernel, Ends terms, int64_t count, int64_t span, Ends out, Scratch scratch) {
    if (count <= INFIMUM_CHUNK) return outside_of_chunk(kernel, terms, count, span, nullptr, out, scratch);
    const int64_t chunks = (count + INFIMUM_CHUNK - 1) / INFIMUM_CHUNK;
    const Ends results = scratch.take(chunks * span), outside = scratch.take(chunks * span);
    const Ends work = scratch.take(INFIMUM_CHUNK * span);
    for (int64_t c = 0; c < chunks; c++) {
        const int64_t first = c * INFIMUM_CHUNK;
        fold(kernel, terms + first * span, least(INFIMUM_CHUNK, count - first), span, work);
        copy(results + c * span, operand(work), span);
    }
    outside_of_sequence(kernel, results, chunks, span, outside, scratch);
    for (int64_t c = 0; c < chunks; c++) {
        const int64_t first = c * INFIMUM_CHUNK, here = least(INFIMUM_CHUNK, count - first);
        const Ends root = outside + c * span;
        outside_of_chunk(kernel, terms + first * span, here, span, &root, work, scratch);
        copy(out + first * span, operand(work), here * span);
    }
}

}  // namespace INFIMUM_NAMESPACE
