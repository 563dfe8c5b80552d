// One run of a program on a block of boxes: its phases in order, tiles of a phase on threads where they are worth it.
#pragma once
#include "in_parallel.h"
#include "schedule_memory.h"

namespace {

// All phases of one block of boxes, tiles of a phase on the threads of `spaces`.
class Runner {
    const Batch &batch_;
    const Plan &plan_;
    Slots &slots_;
    Workspace *spaces_;
    int threads_;
    int64_t boxes_;

  public:
    Runner(const Batch &b, const Plan &plan, Slots &slots, Workspace *spaces, int threads, int64_t boxes)
        : batch_(b), plan_(plan), slots_(slots), spaces_(spaces), threads_(threads), boxes_(boxes) {}
    int run() {
        infimum_tile inputs = {};
        inputs.program = batch_.program;
        inputs.slots = slots_.slots.data();
        inputs.boxes = boxes_;
        if (!batch_.point && batch_.stage(INFIMUM_CHECK, &inputs)) return INFIMUM_NO_INTERVAL;
        for (int64_t i = 0; i < batch_.program->phase_count; i++) run_phase(i);
        return INFIMUM_OK;
    }

  private:
    infimum_tile tile(Workspace &w, int64_t phase, int64_t number) const {
        const Shape &s = plan_.shapes[phase];
        const int64_t first = number / s.chunks * s.groups, groups = least(s.groups, s.k - first);
        // Of fewer boxes than planned for, more elements are taken at a time.
        const int64_t block = s.groups > 1 ? s.block : most(s.block, least(s.chunk(), plan_.lanes / boxes_));
        return {batch_.program, slots_.slots.data(), batch_.program->phases[phase], batch_.point, boxes_, first,
                groups, number % s.chunks, block, w.registers.get(), w.pitch, w.values.data(), w.terms.get(),
                Workspace::pitch_of(plan_, s), slots_.results, slots_.result_pitch};
    }
    void stage(int which, int64_t phase, bool parallel) {
        const int64_t tiles = plan_.shapes[phase].tiles();
        const auto work = [&](int worker, int64_t number) {
            const infimum_tile t = tile(spaces_[worker], phase, number);
            batch_.stage(which, &t);
        };
        if (parallel && threads_ > 1) return in_parallel(threads_, tiles, work);
        for (int64_t number = 0; number < tiles; number++) work(0, number);
    }
    // The chunks' results of each block of groups are joined by one thread: they are few.
    void join(int which, int64_t phase) {
        const Shape &s = plan_.shapes[phase];
        for (int64_t number = 0; number < s.tiles(); number += s.chunks) {
            const infimum_tile t = tile(spaces_[0], phase, number);
            batch_.stage(which, &t);
        }
    }
    void run_phase(int64_t phase) {
        const Shape &s = plan_.shapes[phase];
        const int64_t *row = batch_.program->phases[phase];
        const int64_t instructions = row[0] == INFIMUM_BODY ? row[4] - row[3] : 8;
        const bool large = s.k * s.m * boxes_ * instructions > 200000;  // worth the start of threads
        switch (row[0]) {
            case INFIMUM_BODY:
                stage(INFIMUM_RUN_BODY, phase, large);
                if (s.chunks > 1) join(INFIMUM_JOIN, phase);
                break;
            case INFIMUM_OTHERS:
                if (s.chunks > 1) {
                    stage(INFIMUM_OTHERS_UP, phase, large);
                    join(INFIMUM_OTHERS_JOIN, phase);
                }
                stage(INFIMUM_OTHERS_DOWN, phase, large);
                break;
            default:
                stage(INFIMUM_RUN_RECURRENCE, phase, false);
        }
    }
};

}  // namespace
