// The Programs of a chain in one worker's memory: each runs on some boxes at a time, one after the other in the same slots.
#pragma once
#include "../schedule_run.h"
#include "rules.h"

namespace {

using namespace INFIMUM_NAMESPACE;

// An output of a program that has run: element j of box w lies at lo[j*boxes + w], or at lo[j] for all boxes.
struct Output {
    const infimum_slot *slot;
    int64_t boxes;
    double lo(int64_t j, int64_t w) const { return slot->lo[slot->per_box ? j * boxes + w : j]; }
    double hi(int64_t j, int64_t w) const { return slot->hi[slot->per_box ? j * boxes + w : j]; }
};

// One program with its slots, for up to `most()` boxes at a time.
class OwnProgram {
    Batch batch_;
    Plan plan_;
    Slots slots_;

  public:
    OwnProgram(const infimum_program *program, Stage stage, bool point, int64_t boxes, int threads)
        : batch_{program, stage, point, boxes, nullptr, nullptr, nullptr, nullptr, threads},
          plan_(ready_plan(batch_)), slots_(batch_) {}
    OwnProgram(const OwnProgram &) = delete;
    int64_t most() const { return plan_.boxes; }
    int64_t size() const { return slots_.size_of(plan_); }
    void lay_out(double *memory) { slots_.lay_out(plan_, memory); }
    const infimum_program &program() const { return *batch_.program; }
    // Where the inputs of the next run are written: element j of box w at lo[j*boxes + w]. A program may have none.
    Sides input(int64_t boxes) {
        for (int64_t i = 0; i < program().slot_count; i++)
            if (program().slots[i][0] == INFIMUM_SLOT_INPUT) return {slots_.slots[i].lo, slots_.slots[i].hi, boxes};
        return {nullptr, nullptr, boxes};
    }
    int run(Workspace *spaces, int threads, int64_t boxes) {
        for (int i = 0; i < threads; i++) spaces[i].reserve(plan_);
        return Runner(batch_, plan_, slots_, spaces, threads, boxes).run();
    }
    Output output(int64_t number, int64_t boxes) const { return {&slots_.slots[program().outputs[number]], boxes}; }
};

}  // namespace
