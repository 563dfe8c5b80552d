// What the CUDA text of a program is written in: values of two modes, memory of a box, teams of threads, the fixed tree.
//
//   V    Range   an interval                            T    1     one thread a box
//        Quick   an interval, certainly not empty            32    one warp a box
//        Point   a plain double                              256   one block a box
// A team of T threads computes one box at a time. Every name below is a template of both, so that one text serves all; the
// results depend on neither T nor the number of teams.
//
// One thread a box computes with Quick. Where an operation would be empty or needs one of its rare cases, that is noted,
// and the box is computed again with Range: what is kept has the same bits.
#pragma once
#include "core.h"
#include "points.h"

#if INFIMUM_CUDA
#define INFIMUM_READ(address) __ldg(address)  // nothing writes there while the kernel runs
#pragma nv_diag_suppress 549                  // vectors and totals begin without a value
#else
#define INFIMUM_READ(address) (*(address))
#endif

namespace INFIMUM_NAMESPACE {

// ---------------------------------------------------------------------------------------------- values
typedef Interval<double> Range;
struct Quick {
    double lo, hi;
};
struct Point {
    double at;
};
template <class V>
constexpr bool AT_POINTS = false;
template <>
constexpr bool AT_POINTS<Point> = true;
template <class V>
constexpr bool NOT_EMPTY = false;
template <>
constexpr bool NOT_EMPTY<Quick> = true;

INFIMUM_FN Range range_of(Range x) { return x; }
INFIMUM_FN Range range_of(Quick x) { return {x.lo, x.hi}; }
INFIMUM_FN Range range_of(Point x) { return {x.at, x.at}; }
// A constant of the program: its enclosure, or its nearest double.
template <class V>
INFIMUM_FN V constant(double lo, double hi, double point) {
    if constexpr (AT_POINTS<V>)
        return {point};
    else
        return {lo, hi};
}
template <class V>
INFIMUM_FN V exactly(double x) {
    return constant<V>(x, x, x);
}
// What is kept has no -0 and one NaN only.
INFIMUM_FN double clean(double x) { return select(x == x, add_rn(x, 0.0), of_bits(0x7ff8000000000000LL)); }
INFIMUM_FN Range clean(Range x) { return {clean(x.lo), clean(x.hi)}; }
INFIMUM_FN Quick clean(Quick x) { return {clean(x.lo), clean(x.hi)}; }
INFIMUM_FN Point clean(Point x) { return {clean(x.at)}; }

// Whether a thread's box must be computed again with care.
__shared__ bool unusual_box[128];
INFIMUM_FN void unusual(bool m) {
    if (m) unusual_box[threadIdx.x] = true;
}
template <class V>
INFIMUM_FN void begin() {}
template <>
INFIMUM_METHOD void begin<Quick>() {
    unusual_box[threadIdx.x] = false;
}
template <class V>
INFIMUM_FN bool was_unusual() {
    return false;
}
template <>
INFIMUM_METHOD bool was_unusual<Quick>() {
    return unusual_box[threadIdx.x];
}

// Operations on intervals that are not empty; the core's, less what they need for empty ones.
//
//   mul   0*inf is a NaN among the products, which makes a comparison of them unordered: rare, and noted
INFIMUM_FN Quick neg(Quick x) { return {-x.hi, -x.lo}; }
INFIMUM_FN Quick add(Quick x, Quick y) { return {add_rd(x.lo, y.lo), add_ru(x.hi, y.hi)}; }
INFIMUM_FN Quick sub(Quick x, Quick y) { return {add_rd(x.lo, -y.hi), add_ru(x.hi, -y.lo)}; }
INFIMUM_FN Quick mul(Quick x, Quick y) {
    const bool p = x.lo >= 0.0, q = x.hi >= 0.0;
    const double a = mul_rd(x.lo, p ? y.lo : y.hi), b = mul_rd(x.hi, q ? y.lo : y.hi);
    const double c = mul_ru(x.lo, p ? y.hi : y.lo), d = mul_ru(x.hi, q ? y.hi : y.lo);
    unusual(!(((a <= b) | (a >= b)) & ((c <= d) | (c >= d))));
    return {b < a ? b : a, d > c ? d : c};
}
INFIMUM_FN Quick sqr(Quick x) {
    const double near = x.lo > 0.0 ? x.lo : x.hi < 0.0 ? x.hi : 0.0;
    const double far = magnitude(x.hi) > magnitude(x.lo) ? x.hi : x.lo;
    return {mul_rd(near, near), mul_ru(far, far)};
}
INFIMUM_FN Quick min(Quick x, Quick y) { return {smaller(x.lo, y.lo), smaller(x.hi, y.hi)}; }
INFIMUM_FN Quick max(Quick x, Quick y) { return {larger(x.lo, y.lo), larger(x.hi, y.hi)}; }

// All others as the core has them; an empty result is noted. What comes after an unusual result means nothing any more, but
// the core's functions are only ever given intervals.
INFIMUM_FN Range usable(Range x) { return x; }
INFIMUM_FN Range usable(Point x) { return {x.at, x.at}; }
INFIMUM_FN Range usable(Quick x) {
    const bool m = x.lo <= x.hi;
    unusual(!m);
    return {select(m, x.lo, 1.0), select(m, x.hi, 1.0)};
}
template <class V>
struct OnlyQuick {};
template <>
struct OnlyQuick<Quick> {
    typedef Quick Type;
};
INFIMUM_FN Quick noted(Range r) {
    unusual(!(r.lo <= r.hi));
    return {r.lo, r.hi};
}

#define INFIMUM_MODES(name, facts_of, point_parameters, parameters, points, ranges)           \
    INFIMUM_FN Point name point_parameters { return {point_##name points}; }                  \
    template <class V>                                                                        \
    INFIMUM_FN typename OnlyQuick<V>::Type name parameters {                                  \
        return noted(name ranges);                                                            \
    }                                                                                         \
    template <class V>                                                                        \
    INFIMUM_FN V defined_##name parameters {                                                  \
        return exactly<V>(facts_of ranges.defined ? 1.0 : 0.0);                               \
    }                                                                                         \
    template <class V>                                                                        \
    INFIMUM_FN V smooth_##name parameters {                                                   \
        return exactly<V>(facts_of ranges.smooth ? 1.0 : 0.0);                                \
    }
#define INFIMUM_PARAMETERS_1(type) type x
#define INFIMUM_PARAMETERS_2(type) type x, type y
#define INFIMUM_PARAMETERS_3(type) type x, type y, type z
#define INFIMUM_POINTS_1 x.at
#define INFIMUM_POINTS_2 x.at, y.at
#define INFIMUM_POINTS_3 x.at, y.at, z.at
#define INFIMUM_RANGES_1 usable(x)
#define INFIMUM_RANGES_2 usable(x), usable(y)
#define INFIMUM_RANGES_3 usable(x), usable(y), usable(z)
#define OPERATION(name, arity, trust, facts_of)                                                                   \
    INFIMUM_MODES(name, facts_of, (INFIMUM_PARAMETERS_##arity(Point)), (INFIMUM_PARAMETERS_##arity(V)),           \
                  (INFIMUM_POINTS_##arity), (INFIMUM_RANGES_##arity))
#define POWER(name, arity, trust, facts_of)                                                                       \
    INFIMUM_MODES(name, facts_of, (INFIMUM_PARAMETERS_##arity(Point), long long n),                               \
                  (INFIMUM_PARAMETERS_##arity(V), long long n), (INFIMUM_POINTS_##arity, n), (INFIMUM_RANGES_##arity, n))
#include "operations.def"
#undef OPERATION
#undef POWER
#undef INFIMUM_MODES
#undef INFIMUM_POINTS_1
#undef INFIMUM_POINTS_2
#undef INFIMUM_POINTS_3

// The reductions.
#define INFIMUM_REDUCTION(Name, operation, neutral)                                           \
    struct Name {                                                                             \
        static constexpr double NEUTRAL = neutral;                                            \
        template <class V>                                                                    \
        static INFIMUM_METHOD V of(V x, V y) {                                                \
            return operation(x, y);                                                           \
        }                                                                                     \
    };
INFIMUM_REDUCTION(Add, add, 0.0)
INFIMUM_REDUCTION(Mul, mul, 1.0)
INFIMUM_REDUCTION(Min, min, 0.0)  // without one term Min and Max have no value, and no phase asks for it
INFIMUM_REDUCTION(Max, max, 0.0)
#undef INFIMUM_REDUCTION

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
            return {INFIMUM_READ(lo + at)};
        else
            return {INFIMUM_READ(lo + at), INFIMUM_READ(hi + at)};
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

// ---------------------------------------------------------------------------------------------- the fixed tree
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

constexpr int CHUNK = 256;
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

// ---------------------------------------------------------------------------------------------- phases
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
