// What a device is told about one split region, in one buffer: what changed since the last time, then the split's shape.
//
// Offsets are bytes from the start of the buffer. Everything from `shape` on is what the children need, and is kept with the
// region's tables. No header of the standard library: a GPU's compiler reads this too.
#pragma once

enum { PACKED_LEVELS = 5, PACKED_POSITIONS = 3 };

// The positions that something reads, ascending: how many, then each of them, a byte each.
typedef unsigned PackedPositions;
// A touched term in the order of the fold. The first 16 bytes are what a child needs, in one load: the positions that it reads,
// and where its hulls over all but the first, two and three of them begin in the pool of all families; then over all.
struct alignas(16) PackedTerm {
    PackedPositions positions;
    int starts[PACKED_POSITIONS];
    int open, term;
};
// A component of the gradient that the split touches: its first row among all, its class, where its extras are.
struct PackedComponent {
    PackedPositions positions;
    int start, slopes, component, extra;
};
struct PackedFamily {
    int touched_count, touched;  // PackedTerm
    int rows, op;                // of its tables; the reduction
    int stale_count, stale;      // the terms to be evaluated again
    int redo_count[PACKED_LEVELS], redo[PACKED_LEVELS];  // of the tree: the chunks to be folded again, level by level
};
struct Packed {
    int bytes, shape;               // of all; where the shape begins (this header is the first part of both)
    int split, parts, families, masks;  // masks: components
    int stale_count, stale, ends;   // variables that changed; their lo and hi in turn
    int variables, edges;           // of the split: ints; (split, parts + 1) doubles
    int family, mask, extra;        // PackedFamily, PackedComponent; lo and hi of what components read of the whole region
    int pool, rows, mask_rows;      // totals: hulls and tables; rows of tables; rows of masks
    int digit_bits, padding[2];     // parts <= 2^digit_bits
};
