// The schedule of a program: threads over blocks of boxes where there are many, else over the tiles of each phase.
#include "schedule.h"

#include <new>

#include "schedule_run.h"

namespace {

int run_blocks(const Batch &b) {
    const Plan plan = ready_plan(b);
    const int64_t blocks = quotient_up(b.count, plan.boxes);
    const bool apart = b.threads > 1 && blocks >= b.threads && storage_of(*b.program) * plan.boxes * 16 * b.threads <= COPIES_BYTES;
    const int copies = apart ? b.threads : 1;
    std::vector<Workspace> spaces(static_cast<size_t>(b.threads));
    for (Workspace &w : spaces) w.reserve(plan);
    std::vector<Slots> slots;
    slots.reserve(static_cast<size_t>(copies));
    for (int i = 0; i < copies; i++) {
        slots.emplace_back(b);
        slots.back().reserve(plan);
    }
    std::atomic<int> status{INFIMUM_OK};
    in_parallel(copies, blocks, [&](int worker, int64_t block) {
        const int64_t first = block * plan.boxes, boxes = least(plan.boxes, b.count - first);
        slots[worker].fill(plan, first, boxes);
        Runner runner(b, plan, slots[worker], &spaces[worker], apart ? 1 : b.threads, boxes);
        const int failed = runner.run();
        if (failed) status = failed;
        slots[worker].drain(first, boxes);
    });
    return status;
}

}  // namespace

int run_batch(const Batch &batch) {
    try {
        return batch.count == 0 ? INFIMUM_OK : run_blocks(batch);
    } catch (const std::bad_alloc &) {
        return INFIMUM_NO_MEMORY;
    }
}
