// CUDA text on the host: a block's threads are coroutines of one thread, and a barrier hands over to the next of them.
//
// Every thread of a team reaches the same barriers, and a round of all threads lies between two of them: so a barrier has
// been reached by all before any goes on. Blocks run one after the other, and what is shared is static.
#pragma once
#include <setjmp.h>
#include <ucontext.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#define INFIMUM_NAMESPACE infimum_cuda
#include "machine.h"
// Calls instead of copies: a test compiles many programs, and runs few boxes.
#undef INFIMUM_FN
#undef INFIMUM_LONG_FN
#define INFIMUM_FN static inline
#define INFIMUM_LONG_FN static __attribute__((noinline))
#define __device__ static
#define __global__
#define __shared__ static
#define __launch_bounds__(threads)

namespace host_shim {
namespace {  // or g++ would give all libraries of one process one Block::current

struct Index {
    unsigned x;
};
static Index thread, block, blocks;

// A thread starts in a context of its own; from then on _setjmp and _longjmp switch, which need no system call.
class Block {
    static constexpr size_t STACK = 1 << 18;
    struct Thread {
        ucontext_t first;
        jmp_buf here;
        bool started = false, done = false;
    };
    std::vector<Thread> threads_;
    const std::unique_ptr<char[]> stacks_;
    jmp_buf main_;
    void (*work_)(void *);
    void *argument_;
    int running_ = 0;

    static void start() {
        Block &b = *current;
        b.work_(b.argument_);
        b.threads_[b.running_].done = true;
        _longjmp(b.main_, 1);
    }
    void resume(Thread &t) {
        if (_setjmp(main_)) return;
        if (t.started) _longjmp(t.here, 1);
        t.started = true;
        setcontext(&t.first);
    }

  public:
    static inline Block *current;
    Block(int threads, void (*work)(void *), void *argument)
        : threads_(threads), stacks_(new char[threads * STACK]), work_(work), argument_(argument) {}
    void barrier() {
        if (!_setjmp(threads_[running_].here)) _longjmp(main_, 1);
    }
    void run() {
        current = this;
        const int count = static_cast<int>(threads_.size());
        for (int i = 0; i < count; i++) {
            Thread &t = threads_[i];
            t.started = t.done = false;
            getcontext(&t.first);
            t.first.uc_stack.ss_sp = &stacks_[i * STACK];
            t.first.uc_stack.ss_size = STACK;
            t.first.uc_link = nullptr;
            makecontext(&t.first, start, 0);
        }
        for (bool any = true; any;) {
            any = false;
            for (running_ = 0; running_ < count; running_++) {
                if (threads_[running_].done) continue;
                thread.x = static_cast<unsigned>(running_);
                resume(threads_[running_]);
                any = true;
            }
        }
    }
};

template <class F>
void launch(unsigned grid, int threads, bool barriers, const F &kernel) {
    blocks.x = grid;
    const auto call = [](void *f) { (*static_cast<const F *>(f))(); };
    void *argument = const_cast<void *>(static_cast<const void *>(&kernel));
    if (barriers) {
        Block b(threads, call, argument);
        for (block.x = 0; block.x < grid; block.x++) b.run();
        return;
    }
    for (block.x = 0; block.x < grid; block.x++)
        for (thread.x = 0; thread.x < static_cast<unsigned>(threads); thread.x++) kernel();
}

}  // namespace
}  // namespace host_shim

#define threadIdx host_shim::thread
#define blockIdx host_shim::block
#define gridDim host_shim::blocks
static inline void __syncthreads() { host_shim::Block::current->barrier(); }
static inline void __syncwarp() { host_shim::Block::current->barrier(); }

// All six kernels of a program behind one C function.
#define INFIMUM_LAUNCH(program, V, T, alone)                                                                            \
    host_shim::launch(grid, infimum_cuda::THREADS<T>, T > 1, [&] {                                                      \
        using namespace infimum_cuda;                                                                                   \
        infimum_cuda::program<Computed<V, T, alone>, T>(a, all_boxes<T>());                                             \
    })
#define INFIMUM_ENTRY(program, alone)                                                                                   \
    extern "C" void infimum_##program(int team, int point, unsigned grid, const double *lo, const double *hi,           \
                                      double *out_lo, double *out_hi, const double *pool, const int *tables,            \
                                      double *scratch, int *wrong, const long long *code, const int *split,             \
                                      long long count) {                                                                \
        const infimum_cuda::Arguments a = {lo, hi, out_lo, out_hi, pool, tables, scratch, wrong, code, count, split};   \
        if (point)                                                                                                      \
            team == 1    ? INFIMUM_LAUNCH(program, Point, 1, alone)                                                     \
            : team == 32 ? INFIMUM_LAUNCH(program, Point, 32, alone)                                                    \
                         : INFIMUM_LAUNCH(program, Point, 256, alone);                                                  \
        else                                                                                                            \
            team == 1    ? INFIMUM_LAUNCH(program, Range, 1, alone)                                                     \
            : team == 32 ? INFIMUM_LAUNCH(program, Range, 32, alone)                                                    \
                         : INFIMUM_LAUNCH(program, Range, 256, alone);                                                  \
    }
