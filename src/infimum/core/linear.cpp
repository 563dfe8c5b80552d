// Small linear algebra of many boxes (linear/run.h): blocks of boxes on threads, in working memory of their own.
#include <atomic>
#include <exception>
#include <new>
#include <thread>
#include <vector>

#include "buffer.h"
#include "floating_point.h"
#include "variants.h"

namespace {

void run_blocks_of(Linear linear, int routine, const infimum_linear_job &job, std::atomic<int64_t> &next, double *space) {
    const DefaultFloatingPoint state;
    for (int64_t first = next; first < job.count; ) {
        const int64_t lanes = INFIMUM_LINEAR_LANES, rest = job.count - first, count = rest < lanes ? rest : lanes;
        if (!next.compare_exchange_weak(first, first + count)) continue;
        linear(routine, &job, first, count, space);
        first = next;
    }
}

}  // namespace

// Returns an infimum_status. Same bits for every variant and every number of threads: a box is a lane of its own.
extern "C" int infimum_run_linear(int variant, int routine, const infimum_linear_job *job, int threads) {
    if (!infimum_variant_usable(variant)) return INFIMUM_NO_VARIANT;
    const bool known = routine >= INFIMUM_LINEAR_IS_POSITIVE && routine <= INFIMUM_LINEAR_QUADRATIC;
    if (!known || job->count < 0 || job->n < 1 || job->n > INFIMUM_LINEAR_MOST || threads < 1) return INFIMUM_BAD_SIZES;
    const int64_t blocks = (job->count + INFIMUM_LINEAR_LANES - 1) / INFIMUM_LINEAR_LANES;
    const int64_t workers = blocks < threads ? blocks : threads;
    try {
        std::vector<Buffer> spaces(static_cast<size_t>(workers));
        for (Buffer &space : spaces) space.reserve(INFIMUM_LINEAR_LANES * INFIMUM_LINEAR_SPACE(job->n));
        std::atomic<int64_t> next{0};
        const Linear linear = linear_of(variant);
        std::vector<std::thread> pool;
        const auto work = [&](int64_t i) { run_blocks_of(linear, routine, *job, next, spaces[static_cast<size_t>(i)].get()); };
        try {
            for (int64_t i = 1; i < workers; i++) pool.emplace_back(work, i);
        } catch (const std::exception &) {  // fewer threads do it too
        }
        if (workers > 0) work(0);
        for (std::thread &t : pool) t.join();
        return INFIMUM_OK;
    } catch (const std::bad_alloc &) {
        return INFIMUM_NO_MEMORY;
    }
}
