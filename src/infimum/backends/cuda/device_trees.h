// The fixed tree of reductions (docs/program.md), by the threads of a team.
#pragma once
#include "codes.h"
#include "device_slots.h"

namespace INFIMUM_NAMESPACE {

// Terms that are reduced side by side, each by its own operation.
template <class V, class... Operations>
struct Terms {
    INFIMUM_METHOD Terms meet(const Terms &) const { return {}; }
};
template <class V, class Operation, class... Rest>
struct Terms<V, Operation, Rest...> {
    V value;
    Terms<V, Rest...> rest;
    INFIMUM_METHOD Terms meet(const Terms &right) const {
        return {Operation::of(value, right.value), rest.meet(right.rest)};
    }
};
template <class V>
INFIMUM_FN Terms<V> terms() {
    return {};
}
template <class V, class Operation, class... Rest, class... Values>
INFIMUM_FN Terms<V, Operation, Rest...> terms(V value, Values... values) {
    return {value, terms<V, Rest...>(values...)};
}
template <int I, class V, class Operation, class... Rest>
INFIMUM_FN V total(const Terms<V, Operation, Rest...> &t) {
    if constexpr (I == 0)
        return t.value;
    else
        return total<I - 1>(t.rest);
}

constexpr int CHUNK = INFIMUM_CHUNK;
// The least power of two that is not below m, 256 at most.
INFIMUM_METHOD constexpr int span_of(int m) {
    int span = 1;
    while (span < m && span < CHUNK) span *= 2;
    return span;
}

// Node i of the level where i < D: of terms i, i + D, i + 2D, …, below count. Its children are the nodes i and i + D of the
// level 2D; at D = TOP a node is a term. The tree is walked in depth, so that a node a level is all that is kept.
template <bool UNROLLED, int D, int TOP, class Kind, class Term>
INFIMUM_FN Kind node(int i, int count, const Term &term) {
    if constexpr (D == TOP) {
        return term(i);
    } else if constexpr (UNROLLED) {
        const Kind left = node<true, 2 * D, TOP, Kind>(i, count, term);
        return i + D < count ? left.meet(node<true, 2 * D, TOP, Kind>(i + D, count, term)) : left;
    } else {
        Kind found;
#pragma unroll 1
        for (int half = 0; half < 2; half++) {
            const int j = i + half * D;
            if (j >= count) break;
            const Kind child = node<false, 2 * D, TOP, Kind>(j, count, term);
            found = half ? found.meet(child) : child;
        }
        return found;
    }
}

// Reduce the values that the first `count` of L neighbouring threads hold; the first of them gets the result.
template <int L, int T, class V>
INFIMUM_FN Terms<V> across(const Team<T> &, V *, int, Terms<V> mine) {
    return mine;
}
template <int L, int T, class V, class Operation, class... Rest>
INFIMUM_FN Terms<V, Operation, Rest...> across(const Team<T> &team, V *buffer, int count,
                                               Terms<V, Operation, Rest...> mine) {
    const int lane = team.rank % L;
    buffer[team.rank] = mine.value;
    team.sync();
    for (int d = L / 2; d >= 1; d /= 2) {
        if (lane < d && lane + d < count) buffer[team.rank] = Operation::of(buffer[team.rank], buffer[team.rank + d]);
        team.sync();
    }
    return {buffer[team.rank], across<L>(team, buffer, count, mine.rest)};
}

// One chunk of `count` terms by L threads of the team: a thread takes the nodes lane, lane + L, … to one, then they meet.
template <bool UNROLLED, int L, int TOP, int T, class Kind, class V, class Term>
INFIMUM_FN Kind chunk(const Team<T> &team, V *buffer, bool here, int count, const Term &term) {
    const int lane = team.rank % L;
    Kind mine = {};
    if (here && lane < count) mine = node<UNROLLED, L, TOP, Kind>(lane, count, term);
    if constexpr (L == 1)
        return mine;
    else
        return across<L>(team, buffer, count, mine);
}
// A sequence of M terms: chunks, whose results are a sequence again.
template <bool UNROLLED, int L, int M, int T, class Kind, class V, class Term>
INFIMUM_FN Kind sequence(const Team<T> &team, V *buffer, bool here, const Term &term) {
    if constexpr (M <= CHUNK) {
        return chunk<UNROLLED, L, span_of(M), T, Kind>(team, buffer, here, M, term);
    } else {
        // The results are few: every thread walks over all of them, and the first one's are right.
        const Team<1> alone = {0, 0, 0, 1};
        const auto part = [&](int c) {
            const int first = c * CHUNK, count = M - first < CHUNK ? M - first : CHUNK;
            return chunk<false, L, CHUNK, T, Kind>(team, buffer, here, count, [&](int i) { return term(first + i); });
        };
        return sequence<false, 1, (M + CHUNK - 1) / CHUNK, 1, Kind>(alone, buffer, true, part);
    }
}

}  // namespace INFIMUM_NAMESPACE
