// What a device is told about one split region, in one buffer: what changed since the last time, then the split's shape.
//
// Offsets are bytes from the start of the buffer. Everything from `shape` on is what the children need, and is kept with the
// region's tables. Touched terms lie in the order of the fold; their hulls are in one pool of all families.
#pragma once
#include "touched.h"

namespace INFIMUM_NAMESPACE {

enum { PACKED_LEVELS = 5 };

// A component of the gradient that the split touches: its first row among all, its class, where its extras are.
struct PackedComponent {
    Positions positions;
    int start, slopes, component, extra;
};
struct PackedFamily {
    int touched_count, touched;  // Touched
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

}  // namespace INFIMUM_NAMESPACE
