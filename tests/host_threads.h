// CUDA text on the host: a block's threads are coroutines of one thread, in either order, and a barrier hands over to the next.
//
// A thread goes on when every other thread of its block, or of its warp, has reached as many barriers of that kind or has
// ended. What is shared is static, and blocks run one after the other.
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
#define __launch_bounds__(...)

namespace host_shim {
namespace {  // or g++ would give all libraries of one process one Block::current

struct Index {
    unsigned x;
};
static Index thread, block, blocks, size;

// Threads that wait for each other.
struct Group {
    int live = 0, arrived = 0;
    long passed = 0;  // barriers that all have reached
    void settle() {
        if (live == 0 || arrived < live) return;
        arrived = 0;
        passed++;
    }
};

// A thread starts in a context of its own; from then on _setjmp and _longjmp switch, which need no system call.
class Block {
    static constexpr size_t STACK = 1 << 18;
    enum { WARP, WHOLE };
    struct Thread {
        ucontext_t first;
        jmp_buf here;
        bool started = false, done = false;
        int kind = WHOLE;          // of the barrier that it has reached last
        long reached[2] = {0, 0};  // barriers of each kind
    };
    std::vector<Thread> threads_;
    std::vector<Group> groups_;  // the block, then its warps
    const std::unique_ptr<char[]> stacks_;
    jmp_buf main_;
    void (*work_)(void *);
    void *argument_;
    int running_ = 0;
    bool backwards_;

    Group &group(int kind, int i) { return groups_[kind == WHOLE ? 0 : 1 + i / 32]; }
    static void start() {
        Block &b = *current;
        b.work_(b.argument_);
        b.threads_[b.running_].done = true;
        for (int kind : {WARP, WHOLE}) {
            b.group(kind, b.running_).live--;
            b.group(kind, b.running_).settle();
        }
        _longjmp(b.main_, 1);
    }
    void resume(Thread &t) {
        if (_setjmp(main_)) return;
        if (t.started) _longjmp(t.here, 1);
        t.started = true;
        setcontext(&t.first);
    }

  public:
    static inline Block *current = nullptr;
    Block(int threads, bool backwards, void (*work)(void *), void *argument)
        : threads_(threads), stacks_(new char[threads * STACK]), work_(work), argument_(argument), backwards_(backwards) {}
    void barrier(int kind) {
        Thread &t = threads_[running_];
        t.kind = kind;
        t.reached[kind]++;
        group(kind, running_).arrived++;
        group(kind, running_).settle();
        if (!_setjmp(t.here)) _longjmp(main_, 1);
    }
    void run() {
        current = this;
        const int count = static_cast<int>(threads_.size());
        groups_.assign(1 + (count + 31) / 32, Group());
        for (int i = 0; i < count; i++) {
            Thread &t = threads_[i];
            t = Thread();
            for (int kind : {WARP, WHOLE}) group(kind, i).live++;
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
                Thread &t = threads_[running_];
                if (t.done || group(t.kind, running_).passed < t.reached[t.kind]) continue;
                thread.x = static_cast<unsigned>(running_);
                resume(t);
                any = true;
            }
        }
        current = nullptr;
    }
};

// barriers: whether the kernel has any; one thread passes them all.
template <class F>
void launch(unsigned grid, int threads, bool barriers, bool backwards, const F &kernel) {
    blocks.x = grid;
    size.x = static_cast<unsigned>(threads);
    const auto call = [](void *f) { (*static_cast<const F *>(f))(); };
    void *argument = const_cast<void *>(static_cast<const void *>(&kernel));
    if (barriers && threads > 1) {
        Block b(threads, backwards, call, argument);
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
#define blockDim host_shim::size
static inline void __syncthreads() {
    if (host_shim::Block::current) host_shim::Block::current->barrier(1);
}
static inline void __syncwarp() {
    if (host_shim::Block::current) host_shim::Block::current->barrier(0);
}
static inline void __threadfence() {}
static inline int atomicAdd(int *to, int more) {
    const int before = *to;
    *to += more;
    return before;
}
