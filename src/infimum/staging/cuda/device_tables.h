// What the kernels of a staged search work on: the box with its terms and trees, a split's shape, the tables of its terms.
//
// Included by the text that text.py writes, after FAMILIES, MOST_INPUTS, INFIMUM_REDUCTIONS and the functions
//   term(family, x)   slope(class, x)   epilogue(z)
// in the values Range and Point. Folds, hulls and fractions are core/staging/'s own headers: same formulas, order and bits.
#pragma once
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

enum { DEVICE_SPLIT = 24, DEVICE_PARTS = 64, DEVICE_FRACTIONS = 16, DEVICE_LISTED = 32 };

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
struct SplitShape {
    const Packed *head;
    const char *base;  // what the head's offsets count from

    template <class T>
    INFIMUM_METHOD const T *at(int offset) const {
        return reinterpret_cast<const T *>(base + offset);
    }
    INFIMUM_METHOD const PackedFamily &family(int i) const { return at<PackedFamily>(head->family)[i]; }
    INFIMUM_METHOD const Touched *touched(int i) const { return at<Touched>(family(i).touched); }
    INFIMUM_METHOD TouchedTerms terms(int i) const {
        const Touched *const first = touched(i);
        return {first, first + family(i).touched_count, family(i).op, head->parts};
    }
    INFIMUM_METHOD const double *edges(int position) const { return at<double>(head->edges) + position * (head->parts + 1); }
};
INFIMUM_FN SplitShape shape_of_packed(const char *packed) { return {reinterpret_cast<const Packed *>(packed), packed}; }
// A region's place keeps the head, then the shape, then the tables.
INFIMUM_FN SplitShape shape_of_place(const char *place) {
    const Packed *head = reinterpret_cast<const Packed *>(place);
    return {head, place + sizeof(Packed) - head->shape};
}
INFIMUM_FN char *tables_of_place(char *place, const Packed &head) { return place + sizeof(Packed) + (head.bytes - head.shape); }

// ---------------------------------------------------------------------------------------------- tables
// The values of all families on the children: enclosures over them, or values at one sample point of each.
struct ValuePointers {
    Range *pool, *suffix, *hoisted;
};
INFIMUM_FN ValuePointers values_at(char *start, const Packed &head) {
    Range *pool = reinterpret_cast<Range *>(start), *suffix = pool + head.pool;
    return {pool, suffix, suffix + head.families * (head.split + 1)};
}
INFIMUM_FN long long bytes_of_values(const Packed &head) {
    return static_cast<long long>(sizeof(Range)) * (head.pool + head.families * (head.split + 2));
}
INFIMUM_FN unsigned char *masks_of_place(char *place, const Packed &head) {
    return reinterpret_cast<unsigned char *>(tables_of_place(place, head) + bytes_of_values(head));
}

// The digits of a child or a prefix, each in as many bits as the largest one needs. There are at most 2^31 children, so at most
// 62 bits: less than twice as many as the index has, since 2^(bits - 1) < parts.
struct Digits {
    unsigned long long all;
    int bits;
    INFIMUM_METHOD int operator[](int p) const { return static_cast<int>(all >> (p * bits) & ((1u << bits) - 1)); }
    INFIMUM_METHOD Digits with(int p, int digit) const {
        return {(all & ~(((1ULL << bits) - 1) << (p * bits))) | static_cast<unsigned long long>(digit) << (p * bits), bits};
    }
};
INFIMUM_FN Digits digits_of(const Packed &head, unsigned index, int count) {
    const int bits = head.digit_bits, parts = head.parts;
    if (parts == 1 << bits) return {index, bits};
    Digits found = {0, bits};
    INFIMUM_ROLLED for (int p = 0; p < count; p++, index /= parts)
        found.all |= static_cast<unsigned long long>(index % parts) << (p * bits);
    return found;
}
INFIMUM_FN unsigned index_of(const Packed &head, const Digits &digits) {
    unsigned found = 0;
    INFIMUM_ROLLED for (int p = head.split; p-- > 0;) found = found * head.parts + digits[p];
    return found;
}
// The function on everything that begins with the first `depth` digits.
INFIMUM_LONG_FN Range enclosed(const SplitShape &s, const ValuePointers &v, Digits digits, int depth) {
    Range z[FAMILIES];
    INFIMUM_ROLLED for (int i = 0; i < FAMILIES; i++)
        z[i] = closed(s.terms(i), v.pool, v.suffix + i * (s.head->split + 1), digits, depth, v.hoisted[i], 0);
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
