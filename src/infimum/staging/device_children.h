// The next children of a tabulated region in the order (lower bound, index): those after the last one that was emitted, with a
// bound of at most `upper`.
//
//   1. every block: the bound of each prefix of `depth` digits, +inf where it is discarded or undefined
//   2. the last block to arrive: open prefixes, the smallest first, until no other can hold one of the next children
// A child's bound is its own, or its prefix's where that is larger: both are bounds of the function on it. So no child comes
// before its prefix, and the children that were emitted are exactly those up to the last one: none can be lost.
#pragma once
#include "device_tables.h"

namespace INFIMUM_NAMESPACE {

struct Child {
    double bound;
    long long index;
};
INFIMUM_FN bool before(const Child &a, const Child &b) { return a.bound != b.bound ? a.bound < b.bound : a.index < b.index; }
INFIMUM_FN Child no_child() { return {INFIMUM_INF, 0x7fffffffffffffffLL}; }

enum { CHILDREN_THREADS = 256, NEAR_RANGES = 1024 };

// A component whose last position is one of [from, to) discards all children with these digits.
INFIMUM_FN bool is_discarded(const Shape &s, const unsigned char *masks, const unsigned char *digits, int from, int to) {
    const PackedComponent *c = s.at<PackedComponent>(s.head->mask);
    for (int i = 0; i < s.head->masks; i++, c++) {
        const int last = c->at[c->count - 1];
        if (last < from || last >= to) continue;
        int row = 0;
        for (int j = 0; j < c->count; j++) row = row * s.head->parts + digits[c->at[j]];
        if (masks[c->start + row]) return true;
    }
    return false;
}
// The first of one value a thread; by all threads of the block.
INFIMUM_FN Child first_of_block(Child mine, Child *work) {
    work[rank()] = mine;
    __syncthreads();
#pragma unroll 1
    for (int d = CHILDREN_THREADS / 2; d >= 1; d /= 2) {
        if (rank() < d && rank() + d < threads() && before(work[rank() + d], work[rank()])) work[rank()] = work[rank() + d];
        __syncthreads();
    }
    const Child found = work[0];
    __syncthreads();
    return found;
}
// The best few that a thread has seen, in order.
struct Seen {
    Child list[DEVICE_LISTED];
    INFIMUM_METHOD void clear() {
        for (int i = 0; i < DEVICE_LISTED; i++) list[i] = no_child();
    }
    INFIMUM_METHOD void offer(Child c) {
        if (!before(c, list[DEVICE_LISTED - 1])) return;
        int i = DEVICE_LISTED - 1;
        for (; i > 0 && before(c, list[i - 1]); i--) list[i] = list[i - 1];
        list[i] = c;
    }
};

struct Prefixes {
    int count, depth;    // how many there are, of how many digits
    long long leaves;    // children of each
};
INFIMUM_FN Prefixes prefixes_of(const Packed &head, int depth) {
    Prefixes found = {1, depth, 1};
    for (int p = 0; p < head.split; p++) (p < depth ? found.count *= head.parts : found.leaves *= head.parts);
    return found;
}
INFIMUM_LONG_FN double bound_of_prefix(const Shape &s, const Values &v, const unsigned char *masks, const Prefixes &p, int q) {
    Digits digits;
    digits.read(q, p.depth, s.head->parts);
    if (is_discarded(s, masks, digits.at, 0, p.depth)) return INFIMUM_INF;
    const Range z = enclosed(s, v, digits.at, p.depth);
    if (z.lo > z.hi) return INFIMUM_INF;
    const double lo = stored(z.lo);
    return p.depth == s.head->split ? lo : lo - magnitude(lo) * PREFIX_MARGIN;
}
INFIMUM_LONG_FN Child child_of(const Shape &s, const Values &v, const unsigned char *masks, const Prefixes &p, int q, long long rest,
                          double prefix) {
    const int split = s.head->split;
    const long long index = q + p.count * rest;
    Digits digits;
    digits.read(index, split, s.head->parts);
    if (is_discarded(s, masks, digits.at, p.depth, split)) return no_child();
    const Range z = enclosed(s, v, digits.at, split);
    if (z.lo > z.hi) return no_child();
    const double lo = stored(z.lo);
    return {lo > prefix ? lo : prefix, index};
}

// ---------------------------------------------------------------------------------------------- the last block
// The prefixes to be opened next; how many.
//   nothing is known yet           the first one
//   too few children are known     the first of each thread
//   enough are known               all that are not after the last child wanted
INFIMUM_FN int chosen(const World &w, const Prefixes &p, int round, bool enough, double most, Child *work, int *count) {
    if (rank() == 0) *count = 0;
    __syncthreads();
    const auto choose = [&](int q) {
        const int at = atomicAdd(count, 1);
        w.listed[at] = q;
        w.listed_bounds[at] = w.prefixes[q];
        w.prefixes[q] = INFIMUM_INF;
    };
    if (enough) {
        for (int q = rank(); q < p.count; q += threads())
            if (w.prefixes[q] <= most) choose(q);
    } else {
        Child least = no_child();
        for (int q = rank(); q < p.count; q += threads())
            if (w.prefixes[q] <= most && w.prefixes[q] < least.bound) least = {w.prefixes[q], q};
        const Child first = round > 0 ? least : first_of_block(least, work);
        if (least.bound < INFIMUM_INF && first.index == least.index) choose(static_cast<int>(least.index));
    }
    __syncthreads();
    const int found = *count;
    __syncthreads();
    return found;
}
INFIMUM_LONG_FN void list_children(const World &w, const Shape &s, const Values &v, const unsigned char *masks, const Prefixes &p,
                              Child last, double upper) {
    __shared__ Child work[CHILDREN_THREADS];
    __shared__ int count;
    Seen seen;
    seen.clear();
    double most = upper;
    bool enough = false;
    for (int round = 0;; round++) {
        const int open = chosen(w, p, round, enough, most, work, &count);
        if (open == 0) break;
        for (long long task = rank(); task < open * p.leaves; task += threads()) {
            const int at = static_cast<int>(task / p.leaves);
            const Child c = child_of(s, v, masks, p, w.listed[at], task % p.leaves, w.listed_bounds[at]);
            if (c.bound <= upper && before(last, c)) seen.offer(c);
        }
        __syncthreads();
        int taken = 0, found = 0;
#pragma unroll 1
        for (; found < DEVICE_LISTED; found++) {
            const Child mine = taken < DEVICE_LISTED ? seen.list[taken] : no_child();
            const Child c = first_of_block(mine, work);
            if (c.bound == INFIMUM_INF) break;
            if (mine.index == c.index) taken++;
            if (rank() == 0) {
                w.result[RESULT_BOUNDS + found] = c.bound;
                w.result[RESULT_INDICES + found] = static_cast<double>(c.index);
            }
            if (found + 1 == DEVICE_LISTED) most = c.bound;
        }
        enough = found == DEVICE_LISTED;
        if (rank() == 0) w.result[RESULT_COUNT] = found;
    }
}

INFIMUM_FN void children(const World &w, char *place, int depth, Child last, double upper) {
    const Shape s = shape_of_place(place);
    const Packed &head = *s.head;
    const unsigned char *masks = masks_of_place(place, head);
    const Prefixes p = prefixes_of(head, depth);
    Values v = values_at(tables_of_place(place, head), head);
    __shared__ Range near[NEAR_RANGES];  // the tables, where they fit
    if (head.pool <= NEAR_RANGES) {
        for (int i = rank(); i < head.pool; i += threads()) near[i] = v.pool[i];
        v.pool = near;
    }
    __syncthreads();
    const int blocks = static_cast<int>(gridDim.x);
    for (int q = static_cast<int>(blockIdx.x) * threads() + rank(); q < p.count; q += blocks * threads())
        w.prefixes[q] = bound_of_prefix(s, v, masks, p, q);
    __threadfence();
    __syncthreads();
    __shared__ bool is_last;
    if (rank() == 0) is_last = atomicAdd(w.arrived, 1) == blocks - 1;
    __syncthreads();
    if (!is_last) return;
    __threadfence();
    if (rank() == 0) {
        *w.arrived = 0;
        w.result[RESULT_COUNT] = 0;
    }
    list_children(w, s, v, masks, p, last, upper);
}

}  // namespace INFIMUM_NAMESPACE

extern "C" __global__ void __launch_bounds__(256)
    infimum_children(const void *world, void *place, long long depth, double last_bound, long long last_index, double upper) {
    using namespace INFIMUM_NAMESPACE;
    children(*static_cast<const World *>(world), static_cast<char *>(place), static_cast<int>(depth), {last_bound, last_index},
             upper);
}
