// Terms and slopes on the device: on a part of the box, at its sample points.
#pragma once
#include "device_tables.h"

namespace INFIMUM_NAMESPACE {

// Which split variables are read, by their positions, and the part of each; no position: the box itself.
struct Parts {
    Positions positions;
    int digits[MOST_POSITIONS];
};
INFIMUM_FN Parts parts_of_row(Positions positions, int row, int parts) {
    Parts found = {positions, {}};
    positions.digits(row, parts, found.digits);
    return found;
}
INFIMUM_FN Range part_of(const World &w, const SplitShape &s, int v, const Parts &of) {
    const int *variables = s.at<int>(s.head->variables);
    INFIMUM_ROLLED for (int i = 0; i < MOST_POSITIONS; i++)
        if (i < of.positions.count() && variables[of.positions.at(i)] == v) {
            const double *edges = s.edges(of.positions.at(i)) + of.digits[i];
            return {edges[0], edges[1]};
        }
    return {w.lo[v], w.hi[v]};
}
INFIMUM_FN void put_input(Range &x, Range part) { x = part; }
INFIMUM_FN void put_input(Point &x, Range part) { x.at = part.lo; }
// A term of a family: over the part where kind = 0, at the part's sample point number kind - 1 otherwise.
template <class V>
INFIMUM_LONG_FN V term_on(const World &w, const SplitShape &s, int family, int number, const Parts &of, int kind) {
    const FamilyWorld &f = w.family[family];
    const int reads = static_cast<int>(f.reads), constants = static_cast<int>(f.constants), own = number * constants;
    V x[MOST_INPUTS];
    INFIMUM_ROLLED for (int j = 0; j < reads; j++) {
        const int v = f.variables[number * reads + j];
        Range part = part_of(w, s, v, of);
        if (kind) part.lo = part.hi = sample_in(part, w.fraction[kind - 1], w.inner_lo[v], w.inner_hi[v]);
        put_input(x[j], part);
    }
    INFIMUM_ROLLED for (int j = 0; j < constants; j++) {
        if constexpr (AT_POINTS<V>)
            x[reads + j] = {f.at[own + j]};
        else
            x[reads + j] = {f.lo[own + j], f.hi[own + j]};
    }
    return term(family, x);
}
// Whether a component has one sign for these digits, away from the edge of the domain that this sign points away from.
INFIMUM_FN bool discards(const World &w, const SplitShape &s, const PackedComponent &c, int row) {
    const SlopesWorld &f = w.slopes[c.slopes];
    const int reads = static_cast<int>(f.reads), constants = static_cast<int>(f.constants), extras = static_cast<int>(f.extras);
    const Parts of = parts_of_row(c.positions, row, s.head->parts);
    Range x[MOST_INPUTS];
    INFIMUM_ROLLED for (int j = 0; j < reads; j++) x[j] = part_of(w, s, f.read[c.component * reads + j], of);
    INFIMUM_ROLLED for (int j = 0; j < constants; j++)
        x[reads + j] = {f.lo[c.component * constants + j], f.hi[c.component * constants + j]};
    const double *extra = s.at<double>(s.head->extra) + c.extra;
    INFIMUM_ROLLED for (int j = 0; j < extras; j++) x[reads + constants + j] = {extra[2 * j], extra[2 * j + 1]};
    const Range rise = slope(c.slopes, x);
    const int v = f.variables[c.component];
    return discards(rise, part_of(w, s, v, of), w.domain_lo[v], w.domain_hi[v]);
}
// The reduction of all terms but those that the split touches.
template <class T>
INFIMUM_FN T root_of(const FamilyWorld &f, const PackedFamily &p, const T *tree) {
    T found = tree[f.first[f.levels - 1]];
    if (f.levels == 1 && p.touched_count) make_neutral(p.op, found);
    return found;
}

}  // namespace INFIMUM_NAMESPACE
