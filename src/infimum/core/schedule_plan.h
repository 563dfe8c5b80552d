// How a program is cut: into blocks of boxes, and each phase into tiles and blocks of lanes.
//
// Everything chosen here decides about time and memory alone; the results are fixed by the program (docs/program.md).
#pragma once
#include <vector>

#include "schedule.h"

namespace {

inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
inline int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
inline int64_t quotient_up(int64_t a, int64_t b) { return (a + b - 1) / b; }
inline int64_t whole_vectors(int64_t lanes) { return (lanes + 7) / 8 * 8; }

const int64_t L1_BYTES = 32 << 10, L2_BYTES = 256 << 10, SLOTS_BYTES = 768 << 10, TRANSPOSED_BYTES = 4 << 20;
const int64_t COPIES_BYTES = int64_t(512) << 20;  // threads with slots of their own share this much

// How one phase is cut: tiles of `groups` groups and one chunk, run in blocks of `block` elements.
struct Shape {
    int64_t k, m, chunks, groups, block, reductions;
    int64_t tiles() const { return quotient_up(k, groups) * chunks; }
    int64_t chunk() const { return least(m, INFIMUM_CHUNK); }
};
// How a program is cut for blocks of `boxes` boxes.
struct Plan {
    int64_t boxes, lanes, registers;
    std::vector<Shape> shapes;
    int64_t terms = 0;  // doubles beside the registers (schedule_memory.h)
};

// Intervals of one box that are not constants.
inline int64_t storage_of(const infimum_program &p) {
    int64_t total = 0;
    for (int64_t i = 0; i < p.slot_count; i++)
        if (p.slots[i][0] != INFIMUM_SLOT_CONSTANT) total += p.slots[i][1];
    return total;
}
inline Shape shape_of(const infimum_program &p, const int64_t *phase, int64_t boxes, int64_t lanes) {
    Shape s = {1, 1, 1, 1, 1, 0};
    if (phase[0] == INFIMUM_RECURRENCE) return s;
    s.k = phase[1];
    s.m = phase[2];
    s.chunks = quotient_up(s.m, INFIMUM_CHUNK);
    s.block = phase[0] == INFIMUM_OTHERS ? s.chunk() : most(1, least(s.chunk(), lanes / boxes));
    // Rows usually lie one after the other in memory: a row alone is read in place, several side by side are copied. So
    // groups share a tile only where a row has too few lanes to be worth the instructions' overhead.
    s.groups = s.m > 1 && s.block * boxes >= 64 ? 1 : most(1, least(s.k, lanes / (s.block * boxes)));
    if (phase[0] == INFIMUM_OTHERS) return s;
    for (int64_t i = phase[3]; i < phase[4]; i++) s.reductions += p.instructions[i][0] == INFIMUM_REDUCE;
    return s;
}
// Few registers: the block fits the first cache. Many: the second. Boxes as many as lanes, fewer where a chunk of terms or
// the slots would grow too large; one where even eight boxes side by side would.
inline Plan plan_of(const Batch &b) {
    const infimum_program &p = *b.program;
    int64_t registers = 3, chunk = 1;
    for (int64_t i = 0; i < p.phase_count; i++) {
        if (p.phases[i][0] == INFIMUM_BODY) registers = most(registers, p.phases[i][5]);
        if (p.phases[i][0] != INFIMUM_RECURRENCE) chunk = most(chunk, least(p.phases[i][2], INFIMUM_CHUNK));
    }
    const int64_t size = 16 * registers, fast = most(L1_BYTES / size, 512), fitting = L2_BYTES / size;
    const int64_t lanes = most(8, least(1024, least(fast, fitting)) / 8 * 8);
    const int64_t bytes = 16 * most(storage_of(p), 1);
    int64_t boxes = least(lanes, most(8, least(8192 / chunk, SLOTS_BYTES / bytes) / 8 * 8));
    if (8 * bytes > TRANSPOSED_BYTES) boxes = 1;
    boxes = most(1, least(boxes, b.count));
    if (boxes > 8) boxes = most(8, least(boxes, whole_vectors(quotient_up(b.count, b.threads))));
    Plan plan = {boxes, lanes, registers, {}, 0};
    for (int64_t i = 0; i < p.phase_count; i++) plan.shapes.push_back(shape_of(p, p.phases[i], boxes, lanes));
    return plan;
}

}  // namespace
