// Terms and slopes on the device: on a part of the box, at its sample points.
#pragma once
#include "device_tables.h"

namespace INFIMUM_NAMESPACE {

// Which split variables are read, by their positions, and the part of each; no position: the box itself.
struct Parts {
    PackedPositions positions;
    int digits[PACKED_POSITIONS];
};
INFIMUM_FN Parts parts_of_row(PackedPositions positions, int row, int parts) {
    Parts found = {positions, {}};
#pragma unroll 1
    for (int i = PACKED_POSITIONS; i-- > 0;)
        if (i < count_of(positions)) {
            found.digits[i] = row % parts;
            row /= parts;
        }
    return found;
}
INFIMUM_FN Range part_of(const World &w, const Shape &s, int v, const Parts &of) {
    const int *variables = s.at<int>(s.head->variables);
#pragma unroll 1
    for (int i = 0; i < PACKED_POSITIONS; i++)
        if (i < count_of(of.positions) && variables[position_of(of.positions, i)] == v) {
            const double *edges = s.edges(position_of(of.positions, i)) + of.digits[i];
            return {edges[0], edges[1]};
        }
    return {w.lo[v], w.hi[v]};
}
INFIMUM_FN void put_input(Range &x, Range part) { x = part; }
INFIMUM_FN void put_input(Point &x, Range part) { x.at = part.lo; }
// A term of a family: over the part where kind = 0, at the part's sample point number kind - 1 otherwise.
template <class V>
INFIMUM_LONG_FN V term_on(const World &w, const Shape &s, int family, int number, const Parts &of, int kind) {
    const FamilyWorld &f = w.family[family];
    const int reads = static_cast<int>(f.reads), constants = static_cast<int>(f.constants), own = number * constants;
    V x[MOST_INPUTS];
#pragma unroll 1
    for (int j = 0; j < reads; j++) {
        const int v = f.variables[number * reads + j];
        Range part = part_of(w, s, v, of);
        if (kind) {
            const double at = at_fraction(part.lo, part.hi, w.fraction[kind - 1]);
            part.lo = part.hi = clipped(at, w.inner_lo[v], w.inner_hi[v]);
        }
        put_input(x[j], part);
    }
#pragma unroll 1
    for (int j = 0; j < constants; j++) {
        if constexpr (AT_POINTS<V>)
            x[reads + j] = {f.at[own + j]};
        else
            x[reads + j] = {f.lo[own + j], f.hi[own + j]};
    }
    return term(family, x);
}
// Whether a component has one sign for these digits, away from the edge of the domain that this sign points away from.
INFIMUM_FN bool discards(const World &w, const Shape &s, const PackedComponent &c, int row) {
    const SlopesWorld &f = w.slopes[c.slopes];
    const int reads = static_cast<int>(f.reads), constants = static_cast<int>(f.constants), extras = static_cast<int>(f.extras);
    const Parts of = parts_of_row(c.positions, row, s.head->parts);
    Range x[MOST_INPUTS];
#pragma unroll 1
    for (int j = 0; j < reads; j++) x[j] = part_of(w, s, f.read[c.component * reads + j], of);
#pragma unroll 1
    for (int j = 0; j < constants; j++) x[reads + j] = {f.lo[c.component * constants + j], f.hi[c.component * constants + j]};
    const double *extra = s.at<double>(s.head->extra) + c.extra;
#pragma unroll 1
    for (int j = 0; j < extras; j++) x[reads + constants + j] = {extra[2 * j], extra[2 * j + 1]};
    const Range rise = slope(c.slopes, x);
    const int v = f.variables[c.component];
    const Range own = part_of(w, s, v, of);
    const bool rising = rise.lo > 0 && own.lo != w.domain_lo[v], falling = rise.hi < 0 && own.hi != w.domain_hi[v];
    return (rising || falling) && rise.lo <= rise.hi;
}
// The reduction of all terms but those that the split touches.
template <class T>
INFIMUM_FN T root_of(const FamilyWorld &f, const PackedFamily &p, const T *tree) {
    T found = tree[f.first[f.levels - 1]];
    if (f.levels == 1 && p.touched_count) make_neutral(p.op, found);
    return found;
}

}  // namespace INFIMUM_NAMESPACE
