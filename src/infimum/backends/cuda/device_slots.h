// Teams of threads, and where they read and write: boxes, constants, vectors, outputs.
#pragma once
#include "device_values.h"

namespace INFIMUM_NAMESPACE {

// ---------------------------------------------------------------------------------------------- teams
// Threads in a block; a block holds several teams or is one.
template <int T>
constexpr int THREADS = T > 128 ? T : 128;

template <int T>
struct Team {
    int rank;         // of this thread in its team
    int seat;         // of this team in its block
    long long number, teams;
    INFIMUM_METHOD void sync() const {
        if constexpr (T > 32)
            __syncthreads();
        else if constexpr (T > 1)
            __syncwarp();
    }
};
template <int T>
INFIMUM_FN Team<T> team_of() {
    constexpr int IN_BLOCK = THREADS<T> / T;
    const int thread = static_cast<int>(threadIdx.x), seat = thread / T;
    const long long block = blockIdx.x, blocks = gridDim.x;
    return {thread % T, seat, block * IN_BLOCK + seat, blocks * IN_BLOCK};
}

// What a launch is given. Boxes and results lie as [element][box] for T = 1, so that neighbouring threads read neighbouring
// numbers, and as [box][element] for the others, for the same reason.
struct Arguments {
    const double *lo, *hi;        // the boxes, or the rows of their parts; at points only lo is read
    double *out_lo, *out_hi;      // all outputs, one after the other
    const double *pool;           // constants: lo and hi in turn, or points
    const int *tables;
    double *scratch;              // memory of the teams, where it is not near
    int *wrong;                   // set to 1 where an input is no interval
    const long long *tape;        // the program itself, for the interpreter (tape.h)
    long long count;              // boxes
    const int *split;             // where boxes are children: how they are numbered
};
// The boxes of a team: every step-th from the first on.
struct Boxes {
    long long first, step;
};
template <int T>
INFIMUM_FN Boxes all_boxes() {
    const Team<T> team = team_of<T>();
    return {team.number, team.teams};
}
template <class V, int T, class Alone>
struct Choice {
    typedef V Type;
};
template <class Alone>
struct Choice<Range, 1, Alone> {
    typedef Alone Type;
};
template <class V, int T, class Alone>
using Computed = typename Choice<V, T, Alone>::Type;
template <int T>
INFIMUM_FN long long place(long long count, long long box, int size, int j) {
    if constexpr (T == 1)
        return j * count + box;
    else
        return box * size + j;
}

// ---------------------------------------------------------------------------------------------- the boxes
// How element j of a box is read.
//   Listed     from the boxes themselves, lower and upper ends apart
//   Children   from a row of parts for each variable, one part where it is not split: lo and hi in turn, as constants lie;
//              a child's digits say which parts it has
template <class V, int N>
struct Pooled;
template <int T>
struct Listed {
    static constexpr bool CHECKED = true;  // whether an element may be no interval
    long long count, box;
    static INFIMUM_METHOD Listed of(const Arguments &a, long long box) { return {a.count, box}; }
    template <class V>
    INFIMUM_METHOD V read(const double *lo, const double *hi, int size, int j) const {
        const long long at = place<T>(count, box, size, j);
        if constexpr (AT_POINTS<V>)
            return {INFIMUM_READ_BOX(lo + at)};
        else
            return {INFIMUM_READ_BOX(lo + at), INFIMUM_READ_BOX(hi + at)};
    }
};
// Arguments::split: the first child, the children of a set of rows, the parts of a set of rows, parts of a variable, digits,
// bits of a digit; then for each variable the start of its row and the place of its digit. Digits take 31 bits at most, so
// that a digit at bit 31 is 0: that of a variable which is not split.
template <int T>
struct Children {
    enum { FIRST, COUNT, ROWS, PARTS, DIGITS, BITS, PLACES };
    static constexpr bool CHECKED = false;
    const int *places;
    unsigned digits, mask;
    int rows;
    static INFIMUM_METHOD Children of(const Arguments &a, long long box) {
        const unsigned number = static_cast<unsigned>(box), children = INFIMUM_READ(a.split + COUNT);
        const unsigned set = number / children, parts = INFIMUM_READ(a.split + PARTS);
        const int bits = INFIMUM_READ(a.split + BITS);
        unsigned rest = INFIMUM_READ(a.split + FIRST) + number % children, digits = rest;
        if (parts != 1u << bits) {
            digits = 0;
            for (int i = 0; i < INFIMUM_READ(a.split + DIGITS); i++, rest /= parts) digits |= rest % parts << i * bits;
        }
        return {a.split + PLACES, digits, (1u << bits) - 1, static_cast<int>(set) * INFIMUM_READ(a.split + ROWS)};
    }
    template <class V>
    INFIMUM_METHOD V read(const double *parts, const double *, int, int j) const {
#if INFIMUM_CUDA
        const int2 row = __ldg(reinterpret_cast<const int2 *>(places) + j);
        const int start = row.x, shift = row.y;
#else
        const int start = places[2 * j], shift = places[2 * j + 1];
#endif
        return Pooled<V, 1>{parts}[rows + start + static_cast<int>(digits >> shift & mask)];
    }
};
#ifndef INFIMUM_INPUT
#define INFIMUM_INPUT Listed
#endif

// ---------------------------------------------------------------------------------------------- slots
// Each has [j], and those that phases write have store(slot, j, value).
template <class V, int T, int N>
struct Input {
    static constexpr int SIZE = N;
    const double *lo, *hi;
    INFIMUM_INPUT<T> box;
    INFIMUM_METHOD V operator[](int j) const { return box.template read<V>(lo, hi, N, j); }
};
template <class V, int T, int N>
INFIMUM_FN Input<V, T, N> input(const Arguments &a, long long box) {
    return {a.lo, a.hi, INFIMUM_INPUT<T>::of(a, box)};
}
// A result that no phase reads is written where it is wanted at once.
template <class V, int T, int N>
struct Output {
    double *lo, *hi;
    long long count, box;
};
template <class V, int T, int N>
INFIMUM_FN Output<V, T, N> output(const Arguments &a, long long before, long long box) {
    return {a.out_lo + before * a.count, a.out_hi + before * a.count, a.count, box};
}
template <class V, int T, int N>
INFIMUM_FN void store(const Output<V, T, N> &to, int j, V value) {
    const long long at = place<T>(to.count, to.box, N, j);
    const V kept = clean(value);
    if constexpr (AT_POINTS<V>) {
        to.lo[at] = kept.at;
    } else {
        to.lo[at] = kept.lo;
        to.hi[at] = kept.hi;
    }
}
// Constants in the pool, and those written into the text.
template <class V, int N>
struct Pooled {
    static constexpr int SIZE = N;
    const double *pool;
    INFIMUM_METHOD V operator[](int j) const {
        if constexpr (AT_POINTS<V>) {
            return {INFIMUM_READ(pool + j)};
        } else {
#if INFIMUM_CUDA
            const double2 both = __ldg(reinterpret_cast<const double2 *>(pool) + j);  // one access of 16 bytes
            return {both.x, both.y};
#else
            return {pool[2 * j], pool[2 * j + 1]};
#endif
        }
    }
};
template <class V, int N>
INFIMUM_FN Pooled<V, N> pooled(const Arguments &a, long long first) {
    return {a.pool + (AT_POINTS<V> ? 1 : 2) * first};
}
template <class V, int N>
struct Written {
    static constexpr int SIZE = N;
    const double (*rows)[3];
    INFIMUM_METHOD V operator[](int j) const { return constant<V>(rows[j][0], rows[j][1], rows[j][2]); }
};
template <class V, int N>
INFIMUM_FN Written<V, N> written(const double (&rows)[N][3]) {
    return {rows};
}
// Vectors: in the thread's registers or its local memory; in shared memory; or in the scratch of the launch.
template <class V, int N>
struct Local {
    static constexpr int SIZE = N;
    V at[N];
    INFIMUM_METHOD V operator[](int j) const { return at[j]; }
};
template <class V, int N, bool STRIDED>
struct Vector {
    static constexpr int SIZE = N;
    V *at;
    long long stride;
    INFIMUM_METHOD V &operator[](int j) const { return at[STRIDED ? j * stride : j]; }
};
template <class V, int N>
INFIMUM_FN void store(Local<V, N> &to, int j, V value) {
    to.at[j] = clean(value);
}
template <class V, int N, bool STRIDED>
INFIMUM_FN void store(const Vector<V, N, STRIDED> &to, int j, V value) {
    to[j] = clean(value);
}
// The memory of a team, from which its vectors are cut.
template <class V, int T, bool NEAR>
struct Memory {
    V *start;
    long long stride;
    template <int N>
    INFIMUM_METHOD auto vector(int before) const {
        if constexpr (T == 1 && NEAR) {
            Local<V, N> here;
            return here;
        } else {
            return Vector<V, N, T == 1>{start + (T == 1 ? before * stride : before), stride};
        }
    }
};
template <class V, int T, bool NEAR>
INFIMUM_FN Memory<V, T, NEAR> memory_of(const Arguments &a, const Team<T> &team, V *shared, int size) {
    V *far = reinterpret_cast<V *>(a.scratch);
    if constexpr (T == 1)
        return {far + team.number, team.teams};
    else
        return {NEAR ? shared + team.seat * size : far + team.number * size, 1};
}
// Element j, or 0 where there is none.
template <class V, class Slot>
INFIMUM_FN V window(const Slot &from, int j) {
    return j >= 0 && j < Slot::SIZE ? V(from[j]) : exactly<V>(0.0);
}
template <class V, class Slot>
INFIMUM_FN V picked(const Slot &from, int j) {
    return j >= 0 ? V(from[j]) : exactly<V>(0.0);
}
INFIMUM_FN bool is_interval(Range x) {
    const bool full = (x.lo <= x.hi) & (x.lo < INFIMUM_INF) & (x.hi > -INFIMUM_INF);
    return full | ((x.lo == INFIMUM_INF) & (x.hi == -INFIMUM_INF));
}
template <class V, int T, int N>
INFIMUM_FN void check_input(const Team<T> &team, const Arguments &a, const Input<V, T, N> &x) {
    if constexpr (AT_POINTS<V> || !INFIMUM_INPUT<T>::CHECKED) return;
    for (int j = team.rank; j < N; j += T) {
        if constexpr (NOT_EMPTY<V>)
            unusual(!(is_interval(range_of(x[j])) & (x[j].lo <= x[j].hi)));
        else if (!is_interval(range_of(x[j])))
            *a.wrong = 1;
    }
}

}  // namespace INFIMUM_NAMESPACE
