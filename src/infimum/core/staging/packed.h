// What a device is told about one split region, in one buffer: what changed since the last time, then the split's shape.
//
// Offsets are bytes from the start of the buffer. Everything from `shape` on is what the children need, and is kept with the
// region's tables. No header of the standard library: a GPU's compiler reads this too.
#pragma once

enum { PACKED_LEVELS = 5, PACKED_POSITIONS = 3 };

// A touched term in the order of the fold: the positions that it reads, and where its hulls begin in the family's pool.
struct PackedTerm {
    int term, count, at[PACKED_POSITIONS], starts[PACKED_POSITIONS + 1];
};
// A component of the gradient that the split touches: its class, its first row among all, where its extras are.
struct PackedComponent {
    int slopes, component, count, at[PACKED_POSITIONS], start, extra;
};
struct PackedFamily {
    int touched_count, touched;  // PackedTerm
    int pool, rows;              // where its hulls begin among all pools; rows of its tables
    int op, first_row;           // the reduction; its first row among those of all families
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
    unsigned reciprocal;            // i / parts = i * reciprocal >> shift, for every i below 2^31
    int shift, padding;
};
