// The kernels of a staged search on the host: a block's threads are coroutines of one thread, in either order.
//
// A barrier hands over to the next thread; a thread goes on when every other thread of its block, or of its warp, has reached
// as many barriers of that kind. What is shared is static, and blocks run one after the other.
#pragma once
#include <setjmp.h>
#include <ucontext.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#define INFIMUM_NAMESPACE infimum_cuda
#include "machine.h"
#undef INFIMUM_FN
#undef INFIMUM_LONG_FN
#define INFIMUM_FN static inline
#define INFIMUM_LONG_FN static __attribute__((noinline))
#define __device__ static
#define __global__
#define __shared__ static
#define __launch_bounds__(threads)

namespace host_shim {

struct Index {
    unsigned x;
};
static Index thread, block, blocks, size;

class Block {
    static constexpr size_t STACK = 1 << 18;
    struct Thread {
        ucontext_t first;
        jmp_buf here;
        bool started = false, done = false, whole = false;
        long reached[2] = {0, 0};  // barriers: of its warp, of the block
    };
    std::vector<Thread> threads_;
    const std::unique_ptr<char[]> stacks_;
    jmp_buf main_;
    void (*work_)(void *);
    void *argument_;
    int running_ = 0;
    bool backwards_;

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
    bool waits(int i) const {
        const Thread &t = threads_[i];
        if (!t.started) return false;
        const int count = static_cast<int>(threads_.size());
        const int first = t.whole ? 0 : i / 32 * 32, last = t.whole || first + 32 > count ? count : first + 32;
        for (int j = first; j < last; j++)
            if (!threads_[j].done && threads_[j].reached[t.whole] < t.reached[t.whole]) return true;
        return false;
    }

  public:
    static inline Block *current = nullptr;
    Block(int threads, bool backwards, void (*work)(void *), void *argument)
        : threads_(threads), stacks_(new char[threads * STACK]), work_(work), argument_(argument), backwards_(backwards) {}
    void barrier(bool whole) {
        Thread &t = threads_[running_];
        t.whole = whole;
        t.reached[whole]++;
        if (!_setjmp(t.here)) _longjmp(main_, 1);
    }
    void run() {
        current = this;
        const int count = static_cast<int>(threads_.size());
        for (int i = 0; i < count; i++) {
            Thread &t = threads_[i];
            t = Thread();
            getcontext(&t.first);
            t.first.uc_stack.ss_sp = &stacks_[i * STACK];
            t.first.uc_stack.ss_size = STACK;
            t.first.uc_link = nullptr;
            makecontext(&t.first, start, 0);
        }
        for (bool any = true; any;) {
            any = false;
            for (int i = 0; i < count; i++) {
                running_ = backwards_ ? count - 1 - i : i;
                if (threads_[running_].done || waits(running_)) continue;
                thread.x = static_cast<unsigned>(running_);
                resume(threads_[running_]);
                any = true;
            }
        }
        current = nullptr;
    }
};

template <class F>
void launch(unsigned grid, int threads, bool backwards, const F &kernel) {
    blocks.x = grid;
    size.x = static_cast<unsigned>(threads);
    const auto call = [](void *f) { (*static_cast<const F *>(f))(); };
    void *argument = const_cast<void *>(static_cast<const void *>(&kernel));
    if (threads == 1) {  // a barrier is nothing
        thread.x = 0;
        for (block.x = 0; block.x < grid; block.x++) kernel();
        return;
    }
    Block b(threads, backwards, call, argument);
    for (block.x = 0; block.x < grid; block.x++) b.run();
}

}  // namespace host_shim

#define threadIdx host_shim::thread
#define blockIdx host_shim::block
#define gridDim host_shim::blocks
#define blockDim host_shim::size
static inline void __syncthreads() {
    if (host_shim::Block::current) host_shim::Block::current->barrier(true);
}
static inline void __syncwarp() {
    if (host_shim::Block::current) host_shim::Block::current->barrier(false);
}
static inline void __threadfence() {}
static inline int atomicAdd(int *to, int more) {
    const int before = *to;
    *to += more;
    return before;
}

extern "C" void infimum_step(const void *, const void *, void *, void *, long long);
extern "C" void infimum_children(const void *, void *, long long, double, long long, double);
extern "C" void host_step(int threads, int backwards, const void *world, const void *packed, void *place, void *scratch,
                          long long with_sample) {
    host_shim::launch(1, threads, backwards, [&] { infimum_step(world, packed, place, scratch, with_sample); });
}
extern "C" void host_children(unsigned grid, int threads, int backwards, const void *world, void *place, long long depth,
                              double last_bound, long long last_index, double upper) {
    host_shim::launch(grid, threads, backwards, [&] { infimum_children(world, place, depth, last_bound, last_index, upper); });
}
