// Chains of contractors: blocks of boxes on threads, each block from the first link to the last in one worker's memory.
#include "chain/worker.h"

#include <memory>
#include <mutex>
#include <new>

#include "variants.h"

namespace {

const int64_t BLOCK = 256, BLOCK_BYTES = 512 << 10;
const int64_t KEPT_BYTES = 64 << 20;  // of a worker, from run to run

// What workers are made for: boxes of a block, threads that share one, and how many programs had been provided.
struct Kind {
    int64_t width, inner, provided;
    bool operator==(const Kind &other) const {
        return width == other.width && inner == other.inner && provided == other.provided;
    }
};
// A chain, and the memory of its workers from run to run; a run that finds it in use gets memory of its own.
struct Made {
    infimum_chain chain;
    std::vector<const infimum_program *> programs;
    Stage stage;
    int64_t provided = 0;
    std::mutex change;  // of what stands above, held for a moment: a forked process finds it free
    std::mutex in_use;  // the workers
    Kind kind = {0, 0, 0};
    std::vector<std::unique_ptr<Worker>> workers;
};

// How many boxes a block may have: as many as the second cache holds, a single one of very many variables.
int64_t widest_of(int64_t n) {
    return 16 * 8 * n > TRANSPOSED_BYTES ? 1 : most(8, least(BLOCK, BLOCK_BYTES / (48 * n)) / 8 * 8);
}
// How many it has: no more than give every thread a block.
int64_t width_of(int64_t n, int64_t count, int64_t threads) {
    return least(widest_of(n), most(8, whole_vectors(quotient_up(count, threads))));
}
int64_t storage_of(const std::vector<const infimum_program *> &programs) {
    int64_t found = 0;
    for (const infimum_program *program : programs)
        if (program) found = most(found, storage_of(*program));
    return found;
}
// Whether the programs that links run have numbers.
bool is_complete(const infimum_chain &chain) {
    const auto is_program = [&](int64_t number) { return 0 <= number && number < chain.program_count; };
    for (int64_t i = 0; i < chain.link_count; i++) {
        const infimum_link &link = chain.links[i];
        const bool reads_slopes = link.kind == INFIMUM_CHAIN_MONOTONE || link.kind == INFIMUM_CHAIN_MEAN_VALUE;
        if (link.kind < INFIMUM_CHAIN_LEVEL || link.kind > INFIMUM_CHAIN_MEAN_VALUE) return false;
        if (link.kind != INFIMUM_CHAIN_MONOTONE && !is_program(link.first)) return false;
        if (link.kind == INFIMUM_CHAIN_MEAN_VALUE && !is_program(link.second)) return false;
        if (reads_slopes && !is_program(chain.gradient)) return false;
    }
    return true;
}
// What blocks leave, each from its first row on, until it is known how many rows come before.
struct Rows {
    Buffer ends, numbers;
    std::unique_ptr<int64_t[]> row;
    std::unique_ptr<unsigned char[]> known;
    // Let a job write here.
    void hold(infimum_chain_job &job, int64_t n) {
        double *next = ends.reserve(4 * job.count * n);
        for (double **array : {&job.lo, &job.hi, &job.slope_lo, &job.slope_hi}) {
            *array = next;
            next += job.count * n;
        }
        row.reset(new int64_t[static_cast<size_t>(job.count)]);
        known.reset(new unsigned char[static_cast<size_t>(job.count)]);
        job.lower = numbers.reserve(job.count);
        job.row = row.get();
        job.known = known.get();
    }
};
// Bring the rows that blocks have left behind each other, from one job's arrays to another's: the same, or others.
void join(infimum_chain_job &to, const infimum_chain_job &from, int64_t n, int64_t width, const std::vector<int64_t> &left) {
    std::vector<int64_t> start(left.size() + 1);
    for (size_t block = 0; block < left.size(); block++) start[block + 1] = start[block] + left[block];
    const bool apart = to.lo != from.lo;
    const auto move = [&](auto *into, const auto *out, int64_t block, int64_t size) {
        const size_t bytes = static_cast<size_t>(left[block] * size) * sizeof *into;
        if (into && into + start[block] * size != out + block * width * size)
            std::memmove(into + start[block] * size, out + block * width * size, bytes);
    };
    in_parallel(apart ? static_cast<int>(to.threads) : 1, static_cast<int64_t>(left.size()), [&](int, int64_t block) {
        move(to.lo, from.lo, block, n);
        move(to.hi, from.hi, block, n);
        move(to.slope_lo, from.slope_lo, block, n);
        move(to.slope_hi, from.slope_hi, block, n);
        move(to.lower, from.lower, block, 1);
        move(to.row, from.row, block, 1);
        move(to.known, from.known, block, 1);
    });
    to.left = start.back();
}
// Call work(worker, block, first, count) for every block of `job`'s boxes; return the first status, by block, that is not OK.
template <class Job, class Work>
int by_blocks(Made &made, Job &job, int64_t width, const Work &work) {
    infimum_chain chain;
    std::vector<const infimum_program *> programs;
    int64_t provided;
    {
        const std::lock_guard<std::mutex> lock(made.change);
        chain = made.chain;
        programs = made.programs;
        provided = made.provided;
    }
    std::unique_lock<std::mutex> lock(made.in_use, std::try_to_lock);
    std::vector<std::unique_ptr<Worker>> others;
    std::vector<std::unique_ptr<Worker>> &workers = lock ? made.workers : others;
    const int64_t blocks = quotient_up(job.count, width), bytes = 16 * storage_of(programs) * width;
    // Threads share the tiles of a block where there are fewer blocks than threads, or too large ones.
    const bool apart = blocks >= job.threads && bytes * job.threads <= COPIES_BYTES;
    const int64_t count = apart ? job.threads : 1, inner = apart ? 1 : job.threads;
    const int64_t widest = widest_of(chain.n);  // so that the same workers serve for any number of boxes
    const Kind kind = {widest, inner, provided};
    if (lock && !(made.kind == kind)) workers.clear();
    if (lock) made.kind = kind;
    while (static_cast<int64_t>(workers.size()) < count)
        workers.push_back(std::unique_ptr<Worker>(new Worker(chain, programs, made.stage, widest, static_cast<int>(inner))));
    for (int64_t i = 0; i < count; i++) workers[i]->begin(job.seconds);
    std::vector<Stopped> ends(static_cast<size_t>(blocks), Stopped{INFIMUM_OK, -1, {}});
    std::atomic<bool> stopped{false};
    in_parallel(static_cast<int>(count), blocks, [&](int number, int64_t block) {
        if (stopped) return;
        const int64_t first = block * width;
        try {
            work(*workers[number], block, first, least(width, job.count - first));
            return;
        } catch (const Stopped &why) {
            ends[block] = why;
        } catch (const std::bad_alloc &) {
            ends[block].status = INFIMUM_NO_MEMORY;
        }
        stopped = true;
    });
    for (const Stopped &why : ends)
        if (why.status != INFIMUM_OK) {
            job.which = why.which;
            std::memcpy(job.wrong, why.wrong, sizeof why.wrong);
            return why.status;
        }
    for (int64_t i = 0; i < count; i++) work.counted(*workers[i]);
    if (bytes + 200 * chain.n * widest > KEPT_BYTES) workers.clear();
    return INFIMUM_OK;
}

struct Contraction {
    infimum_chain_job &job;
    std::vector<int64_t> &left;
    void operator()(Worker &worker, int64_t block, int64_t first, int64_t count) const {
        left[block] = worker.run(job, first, count);
    }
    void counted(const Worker &worker) const {
        job.evaluated += worker.evaluated;
        for (size_t k = 0; k < worker.taken.size(); k++) job.taken[k] += worker.taken[k];
    }
};
struct Cutting {
    const infimum_cut_job &job;
    const std::vector<int64_t> &match;
    void operator()(Worker &worker, int64_t, int64_t first, int64_t count) const { worker.cut(job, match.data(), first, count); }
    void counted(const Worker &) const {}
};

struct Looking {
    const infimum_look_job &job;
    std::vector<Best> &best;  // of each block
    void operator()(Worker &worker, int64_t block, int64_t first, int64_t count) const { worker.look(job, best[block], first, count); }
    void counted(const Worker &) const {}
};

int run(Made &made, infimum_chain_job &job) {
    const int64_t n = made.chain.n, width = width_of(n, job.count, job.threads);
    std::vector<int64_t> left(static_cast<size_t>(quotient_up(job.count, width)));
    infimum_chain_job own = job;
    Rows rows;
    if (job.threads > 1 && left.size() > 1) rows.hold(own, n);  // threads copy faster than one thread moves
    const int status = by_blocks(made, own, width, Contraction{own, left});
    job.which = own.which;
    std::memcpy(job.wrong, own.wrong, sizeof own.wrong);
    job.evaluated = own.evaluated;
    if (status == INFIMUM_OK) join(job, own, n, width, left);
    return status;
}
// The row of each box among those known, in their order: -1 where the ends are not the same, or nothing is known of it. Threads
// take parts of the boxes, whose rows are no earlier.
std::vector<int64_t> matches(const infimum_cut_job &job, int64_t n) {
    const int64_t PART = 4096;
    std::vector<int64_t> found(static_cast<size_t>(job.count), -1);
    const size_t bytes = static_cast<size_t>(n) * sizeof(double);
    in_parallel(static_cast<int>(job.threads), quotient_up(job.count, PART), [&](int, int64_t part) {
        const int64_t last = least(job.count, (part + 1) * PART);
        int64_t at = part * PART, comparisons = 8 * PART + job.known_count;  // enough where all of them are among those known
        for (int64_t k = part * PART; k < last && at < job.known_count && comparisons > 0; k++) {
            const auto same = [&](int64_t row) {
                return !std::memcmp(job.in_lo + k * n, job.known_lo + row * n, bytes) &&
                       !std::memcmp(job.in_hi + k * n, job.known_hi + row * n, bytes);
            };
            int64_t row = at;
            while (row < job.known_count && !same(row) && !BROKEN(31)) row++;
            comparisons -= row - at + 1;
            if (row == job.known_count) continue;
            if (job.has[row]) found[k] = row;
            at = row + 1;
        }
    });
    return found;
}
int cut(Made &made, infimum_cut_job &job) {
    const std::vector<int64_t> match = matches(job, made.chain.n);
    return by_blocks(made, job, width_of(made.chain.n, job.count, job.threads), Cutting{job, match});
}

int look(Made &made, infimum_look_job &job) {
    const int64_t n = made.chain.n, width = width_of(n, job.count, job.threads);
    std::vector<Best> best(static_cast<size_t>(quotient_up(job.count, width)), Best(n, job.best_count));
    const int status = by_blocks(made, job, width, Looking{job, best});
    if (status != INFIMUM_OK) return status;
    Best all(n, job.best_count);
    for (const Best &own : best)
        for (int64_t k = 0; k < job.best_count; k++) all.offer(own.values[k], own.points.data() + k * n, 1);
    std::copy(all.values.begin(), all.values.end(), job.values);
    std::copy(all.points.begin(), all.points.end(), job.points);
    return INFIMUM_OK;
}

}  // namespace

extern "C" {

// The chain and all that it points to stay where they are until it is freed.
int infimum_chain_make(int variant, const infimum_chain *chain, void **made) {
    if (!infimum_variant_usable(variant)) return INFIMUM_NO_VARIANT;
    if (chain->n < 1 || chain->program_count < 0 || chain->link_count < 0 || !is_complete(*chain)) return INFIMUM_BAD_SIZES;
    try {
        std::unique_ptr<Made> found(new Made);
        found->chain = *chain;
        found->programs.resize(static_cast<size_t>(chain->program_count));
        found->stage = stage_of(variant);
        *made = found.release();
        return INFIMUM_OK;
    } catch (const std::bad_alloc &) {
        return INFIMUM_NO_MEMORY;
    }
}
// Give the chain a program that it needs; none in place of the facts, where f is defined and smooth everywhere.
int infimum_chain_provide(void *to, int64_t number, const infimum_program *program) {
    Made &made = *static_cast<Made *>(to);
    const std::lock_guard<std::mutex> lock(made.change);
    if (number < 0 || number >= made.chain.program_count) return INFIMUM_BAD_SIZES;
    if (!program && number != made.chain.facts) return INFIMUM_BAD_SIZES;
    if (!program) made.chain.facts = -1;
    made.programs[static_cast<size_t>(number)] = program;
    made.provided++;
    return INFIMUM_OK;
}
// Take boxes through the chain. Same bits for every variant and every number of threads: a box goes its way alone.
int infimum_chain_run(void *made, infimum_chain_job *job) {
    if (job->count < 0 || job->threads < 1) return INFIMUM_BAD_SIZES;
    job->left = job->evaluated = 0;
    if (job->count == 0) return INFIMUM_OK;
    Made &chain = *static_cast<Made *>(made);
    for (int64_t i = 0; i < chain.chain.link_count; i++) job->taken[i] = 0;
    try {
        return run(chain, *job);
    } catch (const std::bad_alloc &) {
        return INFIMUM_NO_MEMORY;
    }
}
// Choose a cut for each box. The boxes known are taken as they come: those that are cut, and others between them.
int infimum_chain_cut(void *made, infimum_cut_job *job) {
    if (job->count < 0 || job->threads < 1) return INFIMUM_BAD_SIZES;
    if (job->count == 0) return INFIMUM_OK;
    try {
        return cut(*static_cast<Made *>(made), *job);
    } catch (const std::bad_alloc &) {
        return INFIMUM_NO_MEMORY;
    }
}
// Look at boxes: their middles, and whether they can be cut. Policy, but for the latter.
int infimum_chain_look(void *made, infimum_look_job *job) {
    if (job->count < 0 || job->best_count < 0 || job->threads < 1) return INFIMUM_BAD_SIZES;
    if (static_cast<Made *>(made)->chain.point < 0) return INFIMUM_BAD_SIZES;
    try {
        return look(*static_cast<Made *>(made), *job);
    } catch (const std::bad_alloc &) {
        return INFIMUM_NO_MEMORY;
    }
}
void infimum_chain_free(void *made) { delete static_cast<Made *>(made); }
}
