// The next children of a tabulated region in the order (lower bound, index): those after the last one that was emitted, with a
// bound of at most `upper`; not more than are wanted. Beside it one more block looks for the sample, where one is wanted.
//
//   1. every block: the bound of each prefix of `depth` digits, +inf where it is discarded or undefined
//   2. the last block to arrive: open prefixes, the smallest first, until no other can hold one of the next children
// A child's bound is its own, or its prefix's where that is larger: both are bounds of the function on it. So no child comes
// before its prefix, and the children that were emitted are exactly those up to the last one: none can be lost.
#pragma once
#include "device_sample.h"

namespace INFIMUM_NAMESPACE {

struct Child {
    double bound;
    long long index;
};
INFIMUM_FN bool before(const Child &a, const Child &b) { return a.bound != b.bound ? a.bound < b.bound : a.index < b.index; }
INFIMUM_FN Child no_child() { return {INFIMUM_INF, 0x7fffffffffffffffLL}; }

// Threads of a block; those of them that look for one prefix to open; what is copied near: bytes of the shape and of the masks,
// ranges of the tables.
enum { CHILDREN_THREADS = 512, SQUAD = 64, NEAR_SHAPE = 4096, NEAR_MASKS = 2048, NEAR_RANGES = 1024 };

// A component whose last position is one of [from, to) discards all children with these digits.
INFIMUM_FN bool is_discarded(const Shape &s, const unsigned char *masks, const Digits &digits, int from, int to) {
    const PackedComponent *c = s.at<PackedComponent>(s.head->mask);
    const int count = s.head->masks, parts = s.head->parts;
#pragma unroll 1
    for (int i = 0; i < count; i++, c++) {
        const PackedPositions positions = c->positions;
        const int start = c->start, read = count_of(positions), last = position_of(positions, read - 1);
        if (last >= from && last < to && masks[start + number(positions, digits, read, parts)]) return true;
    }
    return false;
}
// The first of one value a thread, for each `span` threads; by all threads of the block.
INFIMUM_LONG_FN Child first_of(Child mine, int span, Child *work) {
    work[rank()] = mine;
    __syncthreads();
#pragma unroll 1
    for (int d = span / 2; d >= 1; d /= 2) {
        const int other = rank() + d;
        if (rank() % span < d && other < threads() && before(work[other], work[rank()])) work[rank()] = work[other];
        __syncthreads();
    }
    const Child found = work[rank() - rank() % span];
    __syncthreads();
    return found;
}
// The best few that a thread has seen, in order.
struct Seen {
    int most;
    Child list[DEVICE_LISTED];
    INFIMUM_METHOD void clear(int wanted) {
        most = wanted;
#pragma unroll 1
        for (int i = 0; i < most; i++) list[i] = no_child();
    }
    INFIMUM_METHOD void offer(Child c) {
        if (!before(c, list[most - 1])) return;
        int i = most - 1;
#pragma unroll 1
        for (; i > 0 && before(c, list[i - 1]); i--) list[i] = list[i - 1];
        list[i] = c;
    }
};

struct Prefixes {
    int count, depth, leaves;  // how many there are, of how many digits; children of each
};
INFIMUM_FN Prefixes prefixes_of(const Packed &head, int depth) {
    Prefixes found = {1, depth, 1};
#pragma unroll 1
    for (int p = 0; p < head.split; p++) (p < depth ? found.count *= head.parts : found.leaves *= head.parts);
    return found;
}
// What children are made of.
struct Region {
    Shape shape;
    Values tables;
    const unsigned char *masks;
};
// The bound of everything that begins with `depth` digits of an index, of which the first `known` were looked at before; +inf
// where it is discarded or undefined.
INFIMUM_LONG_FN double bound_of(const Region &r, unsigned index, int known, int depth) {
    const Digits digits = digits_of(*r.shape.head, index, depth);
    if (is_discarded(r.shape, r.masks, digits, known, depth)) return INFIMUM_INF;
    const Range z = enclosed(r.shape, r.tables, digits, depth);
    return z.lo > z.hi ? INFIMUM_INF : stored(z.lo);
}
INFIMUM_FN double bound_of_prefix(const Region &r, const Prefixes &p, int q) {
    const double lo = bound_of(r, q, 0, p.depth);
    return p.depth == r.shape.head->split || lo == INFIMUM_INF ? lo : lo - magnitude(lo) * PREFIX_MARGIN;
}
INFIMUM_FN Child child_of(const Region &r, const Prefixes &p, int q, int rest, double prefix) {
    const unsigned index = q + static_cast<unsigned>(p.count) * rest;
    const double lo = bound_of(r, index, p.depth, r.shape.head->split);
    if (lo == INFIMUM_INF) return no_child();
    return {lo > prefix ? lo : prefix, index};
}

// ---------------------------------------------------------------------------------------------- the last block
// The first of a thread's prefixes that are not open yet.
INFIMUM_LONG_FN Child first_prefix(const World &w, const Prefixes &p) {
    Child least = no_child();
#pragma unroll 8
    for (int q = rank(); q < p.count; q += threads()) {
        const double bound = w.prefixes[q];
        if (bound < least.bound) least = {bound, q};
    }
    return least;
}
// The prefixes to be opened next, listed; least: the first of this thread's that are not open.
//   too few children are known     the first of each squad of threads
//   enough are known               all that are not after the last child wanted
INFIMUM_FN int chosen(const World &w, const Prefixes &p, bool enough, double most, Child &least, Child *work, int *count) {
    if (rank() == 0) *count = 0;
    bool mine = least.bound <= most && least.bound < INFIMUM_INF;
    if (!enough) mine = first_of(mine ? least : no_child(), SQUAD, work).index == least.index && mine;
    __syncthreads();
#pragma unroll 1
    while (mine) {
        const int at = atomicAdd(count, 1), q = static_cast<int>(least.index);
        w.listed[at] = q;
        w.listed_bounds[at] = least.bound;
        w.prefixes[q] = INFIMUM_INF;
        least = first_prefix(w, p);
        mine = enough && least.bound <= most && least.bound < INFIMUM_INF;
    }
    __syncthreads();
    const int found = *count;
    __syncthreads();
    return found;
}
INFIMUM_FN void list_children(const World &w, const Region &r, const Prefixes &p, Child last, double upper, int wanted) {
    __shared__ Child work[CHILDREN_THREADS];
    __shared__ int count;
    Seen seen;
    seen.clear(wanted);
    Child least = first_prefix(w, p), listed = no_child();  // listed: of the first few threads, one child each
    double most = upper;
    bool enough = false;
    int found = 0;
#pragma unroll 1
    while (const int open = chosen(w, p, enough, most, least, work, &count)) {
#pragma unroll 1
        for (int task = rank(); task < open * p.leaves; task += threads()) {
            const int at = task / p.leaves;
            const Child c = child_of(r, p, w.listed[at], task % p.leaves, w.listed_bounds[at]);
            if (c.bound <= upper && before(last, c)) seen.offer(c);
        }
        int taken = 0;
#pragma unroll 1
        for (found = 0; found < wanted; found++) {
            const Child mine = taken < wanted ? seen.list[taken] : no_child();
            const Child c = first_of(mine, CHILDREN_THREADS, work);
            if (c.bound == INFIMUM_INF) break;
            if (mine.index == c.index) taken++;
            if (rank() == 0) {
                w.result[RESULT_BOUNDS + found] = c.bound;
                w.result[RESULT_INDICES + found] = static_cast<double>(c.index);
            }
            most = c.bound;
        }
        enough = found == wanted;
        if (!enough) most = upper;
    }
    if (rank() == 0) w.result[RESULT_COUNT] = found;
}

// ---------------------------------------------------------------------------------------------- the kernel
INFIMUM_FN bool is_last_to_arrive(const World &w, int blocks) {
    __shared__ bool is_last;
    __threadfence();
    __syncthreads();
    if (rank() == 0) is_last = atomicAdd(w.arrived, 1) == blocks - 1;
    __syncthreads();
    __threadfence();
    return is_last;
}
struct Wanted {
    int depth;       // of the prefixes that children are looked for by
    Child last;      // children after this one
    double upper;
    int children;    // as many as these
    char *scratch;   // the tables of the sample points; nullptr: no sample is wanted
};
INFIMUM_FN void children(const World &w, char *place, const Wanted &wanted) {
    alignas(16) __shared__ int near_shape[NEAR_SHAPE / 4], near_masks[NEAR_MASKS / 4];
    __shared__ Range near_pool[NEAR_RANGES];
    INFIMUM_START();
    const Packed &head = *reinterpret_cast<const Packed *>(place);
    const int blocks = static_cast<int>(gridDim.x) - (wanted.scratch ? 1 : 0), block = static_cast<int>(blockIdx.x);
    const char *near = near_copy(place, static_cast<int>(sizeof(Packed)) + head.bytes - head.shape, near_shape, NEAR_SHAPE);
    if (block == blocks) {
        __syncthreads();
        best_sample(w, shape_of_place(near), wanted.scratch);
        return;
    }
    Region r = {{}, values_at(tables_of_place(place, head), head), masks_of_place(place, head)};
    const char *masks = near_copy(reinterpret_cast<const char *>(r.masks), head.mask_rows, near_masks, NEAR_MASKS);
    r.masks = reinterpret_cast<const unsigned char *>(masks);
    if (head.pool <= NEAR_RANGES) {
#pragma unroll 1
        for (int i = rank(); i < head.pool; i += threads()) near_pool[i] = r.tables.pool[i];
        r.tables.pool = near_pool;
    }
    __syncthreads();
    r.shape = shape_of_place(near);
    if (block == 0) INFIMUM_MARK(16);
    const Prefixes p = prefixes_of(*r.shape.head, wanted.depth);
#pragma unroll 1
    for (int q = block * threads() + rank(); q < p.count; q += blocks * threads()) w.prefixes[q] = bound_of_prefix(r, p, q);
    if (block == 0) INFIMUM_MARK(17);
    if (!is_last_to_arrive(w, blocks)) return;
    if (rank() == 0) *w.arrived = 0;
    INFIMUM_MARK(18);
    list_children(w, r, p, wanted.last, wanted.upper, wanted.children);
    INFIMUM_MARK(19);
}

}  // namespace INFIMUM_NAMESPACE

extern "C" __global__ void __launch_bounds__(INFIMUM_NAMESPACE::CHILDREN_THREADS)
    infimum_children(const void *world, void *place, void *scratch, long long depth, double last_bound, long long last_index,
                     double upper, long long wanted) {
    using namespace INFIMUM_NAMESPACE;
    const Wanted all = {static_cast<int>(depth), {last_bound, last_index}, upper, static_cast<int>(wanted),
                        static_cast<char *>(scratch)};
    children(*static_cast<const World *>(world), static_cast<char *>(place), all);
}
