// The next children of a tabulated region in the order (lower bound, index): those after the last one that was emitted, with a
// bound of at most `upper`; not more than are wanted. Beside it one more block looks for the sample, where one is wanted.
//
//   1. every block: the bound of each prefix of `depth` digits, +inf where it is discarded or undefined
//   2. the last block to arrive: open prefixes, the smallest first, until no other can hold one of the next children
// A bound is the largest on the way from the root, as core/staging/run.h has it. So no child comes before its prefix, and the
// children that were emitted are exactly those up to the last one: none can be lost.
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
// Bounds that are near; of at least how many prefixes.
enum { NEAR_BOUNDS = 1024, FEW_PREFIXES = 8 };

// A component whose last position is one of [from, to) discards all children with these digits.
INFIMUM_FN bool is_discarded(const SplitShape &s, const unsigned char *masks, const Digits &digits, int from, int to) {
    const PackedComponent *c = s.at<PackedComponent>(s.head->mask);
    const int count = s.head->masks, parts = s.head->parts;
    INFIMUM_ROLLED for (int i = 0; i < count; i++, c++) {
        const Positions positions = c->positions;
        const int last = positions.last();
        if (last >= from && last < to && masks[c->start + positions.number(digits, positions.count(), parts)]) return true;
    }
    return false;
}
// The first of one value a thread, for each `span` threads; by all threads of the block.
INFIMUM_LONG_FN Child first_of(Child mine, int span, Child *work) {
    work[rank()] = mine;
    __syncthreads();
    INFIMUM_ROLLED for (int d = span / 2; d >= 1; d /= 2) {
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
        INFIMUM_ROLLED for (int i = 0; i < most; i++) list[i] = no_child();
    }
    INFIMUM_METHOD void offer(Child c) {
        if (!before(c, list[most - 1])) return;
        int i = most - 1;
        INFIMUM_ROLLED for (; i > 0 && before(c, list[i - 1]); i--) list[i] = list[i - 1];
        list[i] = c;
    }
};

struct Prefixes {
    int count, depth, leaves;  // how many there are, of how many digits; children of each
};
INFIMUM_FN Prefixes prefixes_of(const Packed &head, int depth) {
    Prefixes found = {1, depth, 1};
    INFIMUM_ROLLED for (int p = 0; p < head.split; p++) (p < depth ? found.count *= head.parts : found.leaves *= head.parts);
    return found;
}
// What children are made of.
struct Region {
    SplitShape shape;
    ValuePointers tables;
    const unsigned char *masks;
};
// The bound of everything that begins with `depth` digits of an index, by itself; +inf where it is undefined or the last digit
// discards it.
INFIMUM_LONG_FN double own_bound(const Region &r, unsigned index, int depth) {
    const Digits digits = digits_of(*r.shape.head, index, depth);
    if (is_discarded(r.shape, r.masks, digits, depth - 1, depth)) return INFIMUM_INF;
    const Range z = enclosed(r.shape, r.tables, digits, depth);
    if (z.lo > z.hi) return INFIMUM_INF;
    const double lo = stored(z.lo);
    return depth == r.shape.head->split ? lo : prefix_bound(lo);
}
// What lies between some prefixes and what is looked for below them: own bounds of the first levels, for all that begins with
// each, so that they are found once and not by everyone who passes.
struct Levels {
    int count, size;  // how many levels; how many bounds they are
};
INFIMUM_FN Levels levels_between(int parts, int from, int to, int room) {
    Levels found = {0, 0};
    INFIMUM_ROLLED for (int wide = parts; from + found.count + 1 < to && found.size + wide <= room; wide *= parts) {
        found.count++;
        found.size += wide;
    }
    return found;
}
// Number i of these bounds, for what begins with `from` digits of an index.
INFIMUM_FN double bound_between(const Region &r, unsigned index, int from, int i) {
    const int parts = r.shape.head->parts;
    int level = 1;
    INFIMUM_ROLLED for (int wide = parts; i >= wide; level++, wide *= parts) i -= wide;
    return own_bound(r, index + static_cast<unsigned>(combinations(parts, from)) * i, from + level);
}
// The largest bound on the way to the first `to` digits of an index, from `from` on, where it is `least`; `below`: the number
// of that descendant among all of the prefix's.
INFIMUM_FN double bound_of(const Region &r, const Levels &levels, const double *known, unsigned index, int from, int to,
                           double least, int below) {
    const int parts = r.shape.head->parts;
    int wide = parts, depth = from;
    INFIMUM_ROLLED for (; depth < from + levels.count; depth++, known += wide, wide *= parts)
        if (known[below % wide] > least) least = known[below % wide];
    INFIMUM_ROLLED while (depth < to && least < INFIMUM_INF) {
        const double own = own_bound(r, index, ++depth);
        if (own > least) least = own;
    }
    return least;
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
    INFIMUM_ROLLED while (mine) {
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
// What the threads share about children.
struct Listing {
    Child work[CHILDREN_THREADS];
    double bounds[NEAR_BOUNDS];
    int count;
};
INFIMUM_FN void list_children(const World &w, const Region &r, const Prefixes &p, Child last, double upper, int wanted,
                              Listing &list) {
    const int split = r.shape.head->split;
    const Levels levels = levels_between(r.shape.head->parts, p.depth, split, NEAR_BOUNDS / FEW_PREFIXES);
    const int together = levels.size ? NEAR_BOUNDS / levels.size : p.count;  // prefixes whose levels are near at a time
    Seen seen;
    seen.clear(wanted);
    Child least = first_prefix(w, p);
    double most = upper;
    bool enough = false;
    int found = 0;
    INFIMUM_ROLLED while (const int open = chosen(w, p, enough, most, least, list.work, &list.count)) {
        INFIMUM_ROLLED for (int first = 0; first < open; first += together) {
            const int some = open - first < together ? open - first : together;
            INFIMUM_ROLLED for (int task = rank(); task < some * levels.size; task += threads())
                list.bounds[task] = bound_between(r, w.listed[first + task / levels.size], p.depth, task % levels.size);
            __syncthreads();
            INFIMUM_ROLLED for (int task = rank(); task < some * p.leaves; task += threads()) {
                const int at = task / p.leaves, below = task % p.leaves, q = w.listed[first + at];
                const unsigned index = q + static_cast<unsigned>(p.count) * below;
                const double *known = list.bounds + at * levels.size;
                const Child c = {bound_of(r, levels, known, index, p.depth, split, w.listed_bounds[first + at], below), index};
                if (c.bound <= upper && c.bound < INFIMUM_INF && before(last, c)) seen.offer(c);
            }
            __syncthreads();
        }
        int taken = 0;
        INFIMUM_ROLLED for (found = 0; found < wanted; found++) {
            const Child mine = taken < wanted ? seen.list[taken] : no_child();
            const Child c = first_of(mine, CHILDREN_THREADS, list.work);
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
    alignas(16) __shared__ char near_work[sizeof(Looking) > sizeof(Listing) ? sizeof(Looking) : sizeof(Listing)];
    INFIMUM_START();
    const Packed &head = *reinterpret_cast<const Packed *>(place);
    const int blocks = static_cast<int>(gridDim.x) - (wanted.scratch ? 1 : 0), block = static_cast<int>(blockIdx.x);
    const char *near = near_copy(place, static_cast<int>(sizeof(Packed)) + head.bytes - head.shape, near_shape, NEAR_SHAPE);
    if (block == blocks) {
        __syncthreads();
        best_sample(w, shape_of_place(near), wanted.scratch, *reinterpret_cast<Looking *>(near_work));
        return;
    }
    Region r = {{}, values_at(tables_of_place(place, head), head), masks_of_place(place, head)};
    const char *masks = near_copy(reinterpret_cast<const char *>(r.masks), head.mask_rows, near_masks, NEAR_MASKS);
    r.masks = reinterpret_cast<const unsigned char *>(masks);
    if (head.pool <= NEAR_RANGES) {
        INFIMUM_ROLLED for (int i = rank(); i < head.pool; i += threads()) near_pool[i] = r.tables.pool[i];
        r.tables.pool = near_pool;
    }
    __syncthreads();
    r.shape = shape_of_place(near);
    if (block == 0) INFIMUM_MARK(16);
    Listing &list = *reinterpret_cast<Listing *>(near_work);
    const Prefixes p = prefixes_of(*r.shape.head, wanted.depth);
    const Levels levels = levels_between(r.shape.head->parts, 0, p.depth, NEAR_BOUNDS);
    INFIMUM_ROLLED for (int i = rank(); i < levels.size; i += threads()) list.bounds[i] = bound_between(r, 0, 0, i);
    __syncthreads();
    INFIMUM_ROLLED for (int q = block * threads() + rank(); q < p.count; q += blocks * threads())
        w.prefixes[q] = bound_of(r, levels, list.bounds, q, 0, p.depth, -INFIMUM_INF, q);
    if (block == 0) INFIMUM_MARK(17);
    if (!is_last_to_arrive(w, blocks)) return;
    if (rank() == 0) *w.arrived = 0;
    INFIMUM_MARK(18);
    list_children(w, r, p, wanted.last, wanted.upper, wanted.children, list);
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
