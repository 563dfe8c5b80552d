// The memory of a run: slots per block of boxes, registers and scratch per thread.
#pragma once
#include <cstring>
#include <vector>

#include "buffer.h"
#include "schedule_plan.h"

namespace {

// What a thread needs beside the slots.
struct Workspace {
    Buffer registers, terms;
    std::vector<infimum_value> values;
    int64_t pitch = 0;

    // Be ready for a plan; what was got for others serves again where it is enough.
    void reserve(const Plan &plan) {
        // 16 lanes to over-read and over-write, and so that registers do not meet in the same cache sets.
        pitch = whole_vectors(most(plan.lanes, plan.boxes)) + 16;
        registers.at_least(2 * plan.registers * pitch);
        if (static_cast<int64_t>(values.size()) < plan.registers) values.resize(static_cast<size_t>(plan.registers));
        terms.at_least(plan.terms);
    }
    static int64_t pitch_of(const Plan &plan, const Shape &s) { return whole_vectors(s.chunk() * s.groups * plan.boxes) + 16; }
    static int64_t terms_of(const Plan &plan) {
        int64_t found = 0;
        for (const Shape &s : plan.shapes) found = most(found, terms_for(plan, s));
        return found;
    }
    // A chunk of every reduction; for OTHERS five chunks and, where chunks are joined, the sequences of their results.
    static int64_t terms_for(const Plan &plan, const Shape &s) {
        const int64_t pitch = pitch_of(plan, s);
        int64_t sequences = 0;
        if (s.chunks > 1 && s.reductions == 0) sequences = 4 * (s.chunks * s.groups * plan.boxes + 64);
        return 2 * (most(s.reductions, 5) * pitch + 160 + sequences);
    }
};

// The slots of one block of boxes.
class Slots {
    const Batch &batch_;
    Buffer storage_, results_;

  public:
    std::vector<infimum_slot> slots;
    int64_t result_pitch = 0;
    double *results = nullptr;

    explicit Slots(const Batch &b) : batch_(b) {}
    void reserve(const Plan &plan) { lay_out(plan, storage_.reserve(size_of(plan))); }
    // How many doubles the slots take.
    int64_t size_of(const Plan &plan) const {
        const infimum_program &p = *batch_.program;
        int64_t total = 0;
        for (int64_t i = 0; i < p.slot_count; i++)
            if (!in_place(i, plan.boxes)) total += 2 * (whole_vectors(p.slots[i][1] * plan.boxes) + 16);
        return total;
    }
    // Let the slots lie from `next` on.
    void lay_out(const Plan &plan, double *next) {
        const infimum_program &p = *batch_.program;
        slots.assign(static_cast<size_t>(p.slot_count), infimum_slot());
        for (int64_t i = 0; i < p.slot_count; i++) {
            const int64_t kind = p.slots[i][0], size = p.slots[i][1], pitch = whole_vectors(size * plan.boxes) + 16;
            if (kind == INFIMUM_SLOT_CONSTANT) {
                const int64_t at = p.slots[i][2];
                double *lo = const_cast<double *>(batch_.point ? p.constant_points : p.constant_lo) + at;
                double *hi = const_cast<double *>(batch_.point ? p.constant_points : p.constant_hi) + at;
                slots[i] = {lo, hi, size, 0, size};
            } else {
                slots[i] = {nullptr, nullptr, size, 1, size};
                if (in_place(i, plan.boxes)) continue;
                slots[i] = {next, batch_.point ? next : next + pitch, size, 1, pitch};
                next += 2 * pitch;
            }
        }
        int64_t arrays = 0;
        for (const Shape &s : plan.shapes) {
            if (s.chunks == 1) continue;
            arrays = most(arrays, s.reductions ? s.reductions : 2);
            result_pitch = most(result_pitch, whole_vectors(s.k * s.chunks * plan.boxes) + 16);
        }
        results = results_.reserve(2 * arrays * result_pitch);
    }
    // Bring boxes [first, first + count) in.
    void fill(const Plan &plan, int64_t first, int64_t count) {
        const infimum_program &p = *batch_.program;
        for (int64_t i = 0; i < p.slot_count; i++) {
            infimum_slot &s = slots[i];
            if (plan.boxes == 1) {
                place(i, first);
            } else if (p.slots[i][0] == INFIMUM_SLOT_INPUT) {
                transpose_in(s.lo, batch_.in_lo + first * p.n, p.n, count);
                if (!batch_.point) transpose_in(s.hi, batch_.in_hi + first * p.n, p.n, count);
            }
        }
    }
    // Hand the outputs out.
    void drain(int64_t first, int64_t count) {
        const infimum_program &p = *batch_.program;
        for (int64_t o = 0; o < p.output_count; o++) {
            const infimum_slot &s = slots[p.outputs[o]];
            double *lo = batch_.out_lo[o] + first * s.size;
            if (lo == s.lo) continue;
            transpose_out(lo, s.lo, s, count);
            if (!batch_.point) transpose_out(batch_.out_hi[o] + first * s.size, s.hi, s, count);
        }
    }

  private:
    int64_t output_of(int64_t slot) const {
        for (int64_t o = 0; o < batch_.program->output_count; o++)
            if (batch_.program->outputs[o] == slot) return o;
        return -1;
    }
    // One box alone is read from the caller's arrays and written to them, where there are any.
    bool in_place(int64_t slot, int64_t boxes) const {
        const int64_t kind = batch_.program->slots[slot][0];
        if (kind == INFIMUM_SLOT_CONSTANT) return true;
        return batch_.in_lo && boxes == 1 && (kind == INFIMUM_SLOT_INPUT || output_of(slot) >= 0);
    }
    void place(int64_t slot, int64_t box) {
        const int64_t kind = batch_.program->slots[slot][0], n = batch_.program->n, o = output_of(slot);
        infimum_slot &s = slots[slot];
        if (kind == INFIMUM_SLOT_INPUT) {
            s.lo = const_cast<double *>(batch_.in_lo) + box * n;
            s.hi = batch_.point ? s.lo : const_cast<double *>(batch_.in_hi) + box * n;
        } else if (kind == INFIMUM_SLOT_VECTOR && o >= 0) {
            s.lo = batch_.out_lo[o] + box * s.size;
            s.hi = batch_.point ? s.lo : batch_.out_hi[o] + box * s.size;
        }
    }
    // Eight elements at a time, so that the lines of many boxes stay in the cache meanwhile.
    static void transpose_in(double *to, const double *from, int64_t size, int64_t boxes) {
        for (int64_t j0 = 0; j0 < size; j0 += 8)
            for (int64_t w = 0; w < boxes; w++)
                for (int64_t j = j0; j < least(j0 + 8, size); j++) to[j * boxes + w] = from[w * size + j];
    }
    // An input or a constant may hold a -0 or any NaN; what phases have stored has been cleaned.
    static void transpose_out(double *to, const double *from, const infimum_slot &s, int64_t boxes) {
        uint64_t one_nan = 0x7ff8000000000000ULL;
        double nan;
        std::memcpy(&nan, &one_nan, 8);
        const int64_t by_element = s.per_box ? boxes : 1, by_box = s.per_box ? 1 : 0;
        for (int64_t j0 = 0; j0 < s.size; j0 += 8)
            for (int64_t w = 0; w < boxes; w++)
                for (int64_t j = j0; j < least(j0 + 8, s.size); j++) {
                    const double x = from[j * by_element + w * by_box];
                    to[w * s.size + j] = x == x ? x + 0.0 : nan;
                }
    }
};

// The plan of a batch with the memory that it takes.
inline Plan ready_plan(const Batch &b) {
    Plan plan = plan_of(b);
    plan.terms = Workspace::terms_of(plan);
    return plan;
}

}  // namespace
