// What the kernels of a staged search work on: the box with its terms and trees, a split's shape, the tables of its terms.
//
// Included by the text that device_text.py writes, after FAMILIES, MOST_INPUTS, REDUCTIONS and the functions
//   term(family, x)   slope(class, x)   epilogue(z)
// in the values Range and Point. core/staging/ defines every number here: same formulas, same order, same bits.
#pragma once
#include "staging/numbers.h"
#include "staging/packed.h"

// Where the time goes (bench/gpu_stages.py): cycles between the marks that a block's first thread passes.
#ifdef INFIMUM_CLOCKS
__device__ long long infimum_clocks[32];
#define INFIMUM_START()           \
    __shared__ long long marked;  \
    if (threadIdx.x == 0) marked = clock64()
#define INFIMUM_MARK(place)                              \
    do {                                                 \
        if (threadIdx.x > 0) break;                      \
        infimum_clocks[place] += clock64() - marked;     \
        marked = clock64();                              \
    } while (false)
#else
#define INFIMUM_START() static_cast<void>(0)
#define INFIMUM_MARK(place) static_cast<void>(0)
#endif

namespace INFIMUM_NAMESPACE {

enum { DEVICE_SPLIT = 24, DEVICE_PARTS = 64, DEVICE_FRACTIONS = 16, DEVICE_LISTED = 32, DEVICE_CHUNK = 256 };

// ---------------------------------------------------------------------------------------------- what lies on the device
// Terms of one body: what they read, their values on the box and at its sample points on the fixed tree's levels.
struct FamilyWorld {
    long long op, count, reads, constants, levels, total;  // total: values of one tree, all levels
    long long first[PACKED_LEVELS + 1], size[PACKED_LEVELS + 1];
    const int *variables;
    const double *lo, *hi, *at;   // constants
    Range *ranges;                // (total)
    Range *proofs;                // (fractions, total)
    double *points;               // (fractions, total)
    unsigned char *left_out;      // (count) 1 for terms that the split touches
};
struct SlopesWorld {
    long long reads, constants, extras;
    const int *variables, *read;
    const double *lo, *hi;
};
struct World {
    long long fractions;
    double *lo, *hi;              // the box
    const double *inner_lo, *inner_hi, *domain_lo, *domain_hi, *fraction;
    const FamilyWorld *family;
    const SlopesWorld *slopes;
    double *prefixes, *listed_bounds;  // of the children's prefixes
    int *listed, *arrived;
    double *result;
};
// What comes back, as doubles: a sample (value, lo, hi, child, fraction, is there one), the number of children, then their
// lower bounds and their indices.
enum { RESULT_SAMPLE = 0, RESULT_COUNT = 6, RESULT_BOUNDS = 8, RESULT_INDICES = RESULT_BOUNDS + DEVICE_LISTED,
       RESULT_SIZE = RESULT_INDICES + DEVICE_LISTED };

// ---------------------------------------------------------------------------------------------- a split's shape
struct Shape {
    const Packed *head;
    const char *base;  // what the head's offsets count from

    template <class T>
    INFIMUM_METHOD const T *at(int offset) const {
        return reinterpret_cast<const T *>(base + offset);
    }
    INFIMUM_METHOD const PackedFamily &family(int i) const { return at<PackedFamily>(head->family)[i]; }
    INFIMUM_METHOD const PackedTerm *touched(int i) const { return at<PackedTerm>(family(i).touched); }
    INFIMUM_METHOD const double *edges(int position) const { return at<double>(head->edges) + position * (head->parts + 1); }
};
INFIMUM_FN Shape shape_of_packed(const char *packed) { return {reinterpret_cast<const Packed *>(packed), packed}; }
// A region's place keeps the head, then the shape, then the tables.
INFIMUM_FN Shape shape_of_place(const char *place) {
    const Packed *head = reinterpret_cast<const Packed *>(place);
    return {head, place + sizeof(Packed) - head->shape};
}
INFIMUM_FN char *tables_of_place(char *place, const Packed &head) { return place + sizeof(Packed) + (head.bytes - head.shape); }

INFIMUM_FN int combinations(int parts, int count) {
    int found = 1;
#pragma unroll 1
    for (int i = 0; i < count; i++) found *= parts;
    return found;
}

// ---------------------------------------------------------------------------------------------- tables
// The values of all families on the children: enclosures over them, or values at one sample point of each.
struct Values {
    Range *pool, *suffix, *hoisted;
};
INFIMUM_FN Values values_at(char *start, const Packed &head) {
    Range *pool = reinterpret_cast<Range *>(start), *suffix = pool + head.pool;
    return {pool, suffix, suffix + head.families * (head.split + 1)};
}
INFIMUM_FN long long bytes_of_values(const Packed &head) {
    return static_cast<long long>(sizeof(Range)) * (head.pool + head.families * (head.split + 2));
}
INFIMUM_FN unsigned char *masks_of_place(char *place, const Packed &head) {
    return reinterpret_cast<unsigned char *>(tables_of_place(place, head) + bytes_of_values(head));
}

// a o b, for a reduction that occurs: a text of sums has no code for products, and products of ranges are calls.
template <class T>
INFIMUM_FN T joined_here(int op, T a, T b) {
    constexpr int ADD = 1 << REDUCE_ADD, MUL = 1 << REDUCE_MUL, MIN = 1 << REDUCE_MIN;
    if ((REDUCTIONS & ADD) && (REDUCTIONS == ADD || op == REDUCE_ADD)) return met<REDUCE_ADD>(a, b);
    if ((REDUCTIONS & MUL) && (REDUCTIONS < 2 * MUL || op == REDUCE_MUL)) return met<REDUCE_MUL>(a, b);
    if ((REDUCTIONS & MIN) && (REDUCTIONS < 2 * MIN || op == REDUCE_MIN)) return met<REDUCE_MIN>(a, b);
    return met<REDUCE_MAX>(a, b);
}
INFIMUM_LONG_FN Range joined_there(int op, Range a, Range b) { return joined_here(op, a, b); }
INFIMUM_FN double joined(int op, double a, double b) { return joined_here(op, a, b); }
INFIMUM_FN Range joined(int op, Range a, Range b) {
    return REDUCTIONS == 1 << REDUCE_ADD ? joined_here(op, a, b) : joined_there(op, a, b);
}

// index / parts for an index below 2^31, by core/staging/packed.h.
INFIMUM_FN unsigned quotient(unsigned index, const Packed &head) {
    return static_cast<unsigned>(static_cast<unsigned long long>(index) * head.reciprocal >> head.shift);
}
// Digits of a child or a prefix; there are at most 2^31 children.
struct Digits {
    unsigned char at[DEVICE_SPLIT];
    INFIMUM_METHOD void read(unsigned index, int count, const Packed &head) {
#pragma unroll 1
        for (int p = 0; p < count; p++) {
            const unsigned rest = quotient(index, head);
            at[p] = static_cast<unsigned char>(index - rest * head.parts);
            index = rest;
        }
    }
};
INFIMUM_FN int number(const PackedTerm &t, const unsigned char *digits, int j, int parts) {
    int found = 0;
#pragma unroll 1
    for (int i = 0; i < j; i++) found = found * parts + digits[t.at[i]];
    return found;
}
// A family on everything that begins with the first `depth` digits: the fold of what these fix, then hulls of what is partly
// open, then what is wholly open. Terms are in the order of their last position, so one pass meets them in this order.
INFIMUM_FN Range closed(const Shape &s, const Values &v, int family, const unsigned char *digits, int depth) {
    const PackedFamily &f = s.family(family);
    const PackedTerm *t = s.touched(family), *const end = t + f.touched_count;
    Range fold = v.hoisted[family];
    bool open = false;
#pragma unroll 1
    for (; t < end; t++) {
        if (t->at[0] >= depth) {
            open = true;
            continue;
        }
        int fixed = 1;
#pragma unroll 1
        while (fixed < t->count && t->at[fixed] < depth) fixed++;
        fold = joined(f.op, fold, v.pool[f.pool + t->starts[fixed] + number(*t, digits, fixed, s.head->parts)]);
    }
    return open ? joined(f.op, fold, v.suffix[family * (s.head->split + 1) + depth]) : fold;
}
// The function on everything that begins with the first `depth` digits.
INFIMUM_LONG_FN Range enclosed(const Shape &s, const Values &v, const unsigned char *digits, int depth) {
    Range z[FAMILIES];
#pragma unroll 1
    for (int i = 0; i < FAMILIES; i++) z[i] = closed(s, v, i, digits, depth);
    return epilogue(z);
}

// ---------------------------------------------------------------------------------------------- threads of a block
// Threads that work together: a block, or one of its warps.
INFIMUM_FN int threads() { return static_cast<int>(blockDim.x); }
INFIMUM_FN int rank() { return static_cast<int>(threadIdx.x); }
INFIMUM_FN int lanes() { return threads() < 32 ? threads() : 32; }
INFIMUM_FN int lane() { return rank() % 32; }
INFIMUM_FN int rounded_up(int count) { return (count + 31) / 32 * 32; }  // so that a warp does work of one kind

// A copy near the threads, where it fits, in words of 4 bytes; by all threads of the block, before a barrier. What is copied
// is aligned, and what lies behind its end may be read.
INFIMUM_FN const char *near_copy(const char *from, int bytes, int *to, int room) {
    if (bytes > room) return from;
#pragma unroll 4
    for (int i = rank(); i < (bytes + 3) / 4; i += threads()) to[i] = reinterpret_cast<const int *>(from)[i];
    return reinterpret_cast<const char *>(to);
}

}  // namespace INFIMUM_NAMESPACE
