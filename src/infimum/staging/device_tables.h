// What the kernels of a staged search work on: the box with its terms and trees, a split's shape, the tables of its terms.
//
// Included by the text that device_text.py writes, after FAMILIES, MOST_INPUTS and the functions
//   term(family, x)   slope(class, x)   epilogue(z)
// in the values Range and Point. core/staging/ defines every number here: same formulas, same order, same bits.
#pragma once
#include "staging/numbers.h"
#include "staging/packed.h"

namespace INFIMUM_NAMESPACE {

enum { DEVICE_SPLIT = 24, DEVICE_PARTS = 64, DEVICE_FRACTIONS = 16, DEVICE_LISTED = 4, DEVICE_CHUNK = 256 };

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
    int *position;                // of each variable in the split; -1: it is not split
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
    for (int i = 0; i < count; i++) found *= parts;
    return found;
}
// The place of a position among those that a term reads.
INFIMUM_FN int place_of(const int *at, int position) {
    int i = 0;
    while (at[i] != position) i++;
    return i;
}
INFIMUM_FN void digits_of_row(int row, int count, int parts, int *digits) {
    for (int i = count; i-- > 0; row /= parts) digits[i] = row % parts;
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

// Digits of a child or a prefix.
struct Digits {
    unsigned char at[DEVICE_SPLIT];
    INFIMUM_METHOD void read(long long index, int count, int parts) {
        for (int p = 0; p < count; p++, index /= parts) at[p] = static_cast<unsigned char>(index % parts);
    }
};
INFIMUM_FN int number(const PackedTerm &t, const unsigned char *digits, int j, int parts) {
    int found = 0;
    for (int i = 0; i < j; i++) found = found * parts + digits[t.at[i]];
    return found;
}
// A family on everything that begins with the first `depth` digits: the fold of what these fix, then hulls of what is partly
// open, then what is wholly open. Terms are in the order of their last position, so one pass meets them in this order.
INFIMUM_FN Range closed(const Shape &s, const Values &v, int family, const unsigned char *digits, int depth) {
    const PackedFamily &f = s.family(family);
    const PackedTerm *t = s.touched(family), *const end = t + f.touched_count;
    const Range *pool = v.pool + f.pool;
    const int parts = s.head->parts, op = f.op;
    Range fold = v.hoisted[family];
    for (; t < end && t->at[t->count - 1] < depth; t++)
        fold = met(op, fold, pool[t->starts[t->count] + number(*t, digits, t->count, parts)]);
    bool open = false;
    for (; t < end; t++) {
        if (t->at[0] >= depth) {
            open = true;
            continue;
        }
        int fixed = 1;
        while (t->at[fixed] < depth) fixed++;
        fold = met(op, fold, pool[t->starts[fixed] + number(*t, digits, fixed, parts)]);
    }
    return open ? met(op, fold, v.suffix[family * (s.head->split + 1) + depth]) : fold;
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

}  // namespace INFIMUM_NAMESPACE
