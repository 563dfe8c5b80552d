// What the CUDA text of a program is written in: its phases and its kernel, over values, slots and trees.
//
//   V    Range   an interval                            T    1     one thread a box
//        Quick   an interval, certainly not empty            32    one warp a box
//        Point   a plain double                              256   one block a box
// A team of T threads computes one box at a time. Every name below is a template of both, so that one text serves all; the
// results depend on neither T nor the number of teams.
#pragma once
#include "device_trees.h"

namespace INFIMUM_NAMESPACE {

// Unrolled loops: none of them, those over the elements of a group, or all. A team of several threads unrolls none, and what
// is computed again is not worth it.
enum Unroll { LOOPS, ELEMENTS, ALL };
template <class V, int T>
constexpr bool UNROLLS = T == 1 && (NOT_EMPTY<V> || AT_POINTS<V>);

// body(g, e) for every element of K groups of M.
template <class V, int K, int M, Unroll U, int T, class Body>
INFIMUM_FN void each(const Team<T> &team, const Body &body) {
    constexpr int GROUPS = UNROLLS<V, T> && U == ALL ? K : 1, MEMBERS = UNROLLS<V, T> && U != LOOPS ? M : 1;
    if constexpr (T > 1) {
        for (int i = team.rank; i < K * M; i += T) body(M == 1 ? i : i / M, M == 1 ? 0 : i % M);
    } else {
#pragma unroll GROUPS
        for (int g = 0; g < K; g++)
#pragma unroll MEMBERS
            for (int e = 0; e < M; e++) body(g, e);
    }
    team.sync();
}
// kept(g, totals) for every group, where body(g, e) returns the terms of an element.
template <class V, int K, int M, Unroll U, class Kind, int T, class Body, class Kept>
INFIMUM_FN void reduced(const Team<T> &team, V *buffer, const Body &body, const Kept &kept) {
    constexpr int L = T < span_of(M) ? T : span_of(M), AT_ONCE = T / L;
    constexpr bool UNROLLED = UNROLLS<V, T> && U != LOOPS;
    constexpr int GROUPS = UNROLLED && U == ALL ? K : 1;
#pragma unroll GROUPS
    for (int first = 0; first < K; first += AT_ONCE) {
        const int g = first + team.rank / L;
        const bool here = g < K;
        const Kind totals = sequence<UNROLLED, L, M, T, Kind>(team, buffer, here, [&](int e) { return body(g, e); });
        if (here && team.rank % L == 0) kept(g, totals);
    }
    team.sync();
}

// --- others
// The heap holds node i of the level D at D + i; see `node`.
template <int TOP, int TURNS, class Operation, int T, class Heap, class Term>
INFIMUM_FN void grow(const Team<T> &team, Heap *heap, int count, const Term &term) {
#pragma unroll TURNS
    for (int i = team.rank; i < TOP; i += T)
        if (i < count) heap[TOP + i] = term(i);
    team.sync();
#pragma unroll TURNS
    for (int d = TOP / 2; d >= 1; d /= 2) {
#pragma unroll TURNS
        for (int i = team.rank; i < d; i += T)
            if (i < count) heap[d + i] = i + d < count ? Operation::of(heap[2 * d + i], heap[3 * d + i]) : heap[2 * d + i];
        team.sync();
    }
}
// outside(child) = outside(parent) o sibling; without a sibling, outside(parent); a child of the root has its sibling.
template <int TOP, int TURNS, class Operation, int T, class V, class Kept>
INFIMUM_FN void descend(const Team<T> &team, const V *heap, int count, bool rooted, V root, const Kept &kept) {
#pragma unroll TURNS
    for (int i = team.rank; i < TOP; i += T) {
        if (i >= count) continue;
        V outside = root;
        bool any = rooted;
#pragma unroll TURNS
        for (int d = 1; d < TOP; d *= 2) {
            const int sibling = (i & (2 * d - 1)) ^ d;
            if (sibling >= count) continue;
            outside = any ? Operation::of(outside, heap[2 * d + sibling]) : heap[2 * d + sibling];
            any = true;
        }
        kept(i, outside);
    }
    team.sync();
}
// A sequence of m terms. The results of its chunks, and those of their chunks, go through `results`, level after level.
INFIMUM_METHOD constexpr int chunks_of(int m) { return (m + CHUNK - 1) / CHUNK; }
template <int TOP, int TURNS, class Operation, int T, class V, class Results, class Term, class Kept>
INFIMUM_FN void outside(const Team<T> &team, V *heap, const Results &results, int m, const Term &term, const Kept &kept) {
    int size[5] = {m}, first[5] = {}, levels = 0;
    for (; size[levels] > CHUNK; levels++) {
        size[levels + 1] = chunks_of(size[levels]);
        first[levels + 1] = levels == 0 ? 0 : first[levels] + size[levels];
    }
    const auto grown = [&](int level, int c) {
        const int rest = size[level] - c * CHUNK, count = rest < CHUNK ? rest : CHUNK;
        const int from = first[level] + c * CHUNK;
        grow<TOP, TURNS, Operation>(team, heap, count,
                                    [&](int i) { return level == 0 ? term(c * CHUNK + i) : V(results[from + i]); });
        return count;
    };
    for (int level = 0; level < levels; level++)
        for (int c = 0; c < size[level + 1]; c++) {
            grown(level, c);
            if (team.rank == 0) results[first[level + 1] + c] = heap[1];
            team.sync();
        }
    for (int level = levels; level >= 0; level--)
        for (int c = 0; c < chunks_of(size[level]); c++) {
            const int count = grown(level, c), from = first[level] + c * CHUNK;
            const bool rooted = level < levels;
            const V root = rooted ? V(results[first[level + 1] + c]) : exactly<V>(0.0);
            descend<TOP, TURNS, Operation>(team, heap, count, rooted, root, [&](int i, V v) {
                if (level == 0)
                    kept(c * CHUNK + i, v);
                else
                    results[from + i] = v;
            });
        }
}
template <class V>
struct NoResults {
    INFIMUM_METHOD V &operator[](int) const { return *static_cast<V *>(nullptr); }
};
// out[g*M + e] = the reduction of group g of the source without element e.
template <class V, int K, int M, Unroll U, class Operation, int T, class Out, class Source, class Results>
INFIMUM_FN void others(const Team<T> &team, V *buffer, Out &out, const Source &source, const Results &results) {
    constexpr bool UNROLLED = UNROLLS<V, T> && U != LOOPS;
    constexpr int TOP = span_of(M), TURNS = UNROLLED ? TOP : 1, GROUPS = UNROLLED && U == ALL ? K : 1;
    V own[T == 1 ? 2 * TOP : 1];
    V *heap = T == 1 ? own : buffer;
#pragma unroll GROUPS
    for (int g = 0; g < K; g++) {
        const auto term = [&](int e) { return V(source[g * M + e]); };
        const auto kept = [&](int e, V v) { store(out, g * M + e, v); };
        if constexpr (M == 1) {
            if (team.rank == 0) kept(0, exactly<V>(Operation::NEUTRAL));
        } else if constexpr (M <= CHUNK) {
            grow<TOP, TURNS, Operation>(team, heap, M, term);
            descend<TOP, TURNS, Operation>(team, heap, M, false, exactly<V>(0.0), kept);
        } else {
            outside<TOP, 1, Operation>(team, heap, results, M, term, kept);
        }
    }
    team.sync();
}

// y_i = a_i y_(i-1) + b_i in two roundings, from the other end if REVERSE; before it y = 0. One thread of the team does it.
template <bool REVERSE, class V, int T, class Out, class A, class B>
INFIMUM_FN void recurrence(const Team<T> &team, int count, Out &out, const A &a, const B &b) {
    V y = exactly<V>(0.0);
    if (team.rank == 0)
#pragma unroll 1
        for (int step = 0; step < count; step++) {
            const int i = REVERSE ? count - 1 - step : step;
            y = add(mul(V(a[i]), y), V(b[i]));
            store(out, i, y);
        }
    team.sync();
}
// An output that phases read as well, an input or a constant, copied to where it is wanted.
template <class V, int T, int N, class Slot>
INFIMUM_FN void hand_out(const Team<T> &team, const Output<V, T, N> &to, const Slot &from) {
    for (int j = team.rank; j < N; j += T) store(to, j, V(from[j]));
    team.sync();
}

}  // namespace INFIMUM_NAMESPACE

// The kernel of a program, for the values and the team that the compiler was told; `alone` is what one thread computes
// intervals with.
#ifndef INFIMUM_BLOCKS
#define INFIMUM_BLOCKS 3  // that a processor holds at least, where one thread takes a box: fewer leave more registers
#endif
#ifndef INFIMUM_ENTRY
#define INFIMUM_ENTRY(program, alone)                                                                                   \
    extern "C" __global__ void                                                                                          \
        __launch_bounds__(INFIMUM_NAMESPACE::THREADS<INFIMUM_TEAM>, INFIMUM_TEAM == 1 ? INFIMUM_BLOCKS : 1)             \
        infimum_##program(const double *lo, const double *hi, double *out_lo, double *out_hi, const double *pool,      \
                          const int *tables, double *scratch, int *wrong, const long long *code, const int *split,     \
                          long long count) {                                                                            \
        using namespace INFIMUM_NAMESPACE;                                                                              \
        const Arguments a = {lo, hi, out_lo, out_hi, pool, tables, scratch, wrong, code, count, split};                 \
        program<Computed<INFIMUM_VALUE, INFIMUM_TEAM, alone>, INFIMUM_TEAM>(a, all_boxes<INFIMUM_TEAM>());              \
    }
#endif
