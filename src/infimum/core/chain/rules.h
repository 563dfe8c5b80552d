// What a link of a chain concludes, once its Programs have run: on boxes that lie side by side.
//
// Side i of box w lies at lo[i*pitch + w]. The CPU gives a rule many boxes; on a GPU each thread gives it one.
// Plain doubles, compared and selected: no rule rounds anything that a claim rests on.
#pragma once
#include "../broken.h"
#include "../fractions.h"

namespace INFIMUM_NAMESPACE {

typedef long long Count;

struct Sides {
    double *lo, *hi;
    Count pitch;
};
struct Ends {  // of one interval for each box
    const double *lo, *hi;
};
// The edges of the domain, (n) each. apart: whether each box may reach an edge that does not run along the variables; then
// so may every side of it.
struct Edges {
    const double *lo, *hi, *end_lo, *end_hi;
    const unsigned char *apart;
};

INFIMUM_FN bool is_number(double x) { return x - x == 0.0; }

INFIMUM_FN bool at_lower(const Edges &e, Count i, Count w, double lo) { return e.apart ? e.apart[w] != 0 : lo <= e.lo[i]; }
INFIMUM_FN bool at_upper(const Edges &e, Count i, Count w, double hi) { return e.apart ? e.apart[w] != 0 : hi >= e.hi[i]; }

// Mark the boxes that have no point: one empty side is enough.
INFIMUM_FN void find_empty(Sides x, Count n, Count count, unsigned char *empty) {
    for (Count w = 0; w < count; w++) empty[w] = 0;
    for (Count i = 0; i < n; i++)
        for (Count w = 0; w < count; w++) empty[w] |= !(x.lo[i * x.pitch + w] <= x.hi[i * x.pitch + w]);
}
// Empty every side of the boxes that are marked.
INFIMUM_FN void make_empty(Sides x, Count n, Count count, const unsigned char *marked) {
    for (Count i = 0; i < n; i++)
        for (Count w = 0; w < count; w++) {
            double &lo = x.lo[i * x.pitch + w], &hi = x.hi[i * x.pitch + w];
            lo = marked[w] ? INFIMUM_INF : lo;
            hi = marked[w] ? -INFIMUM_INF : hi;
        }
}
// Replace `after` by what it has in common with `before`, and mark what is empty.
INFIMUM_FN void meet(Sides before, Sides after, Count n, Count count, unsigned char *empty) {
    for (Count w = 0; w < count; w++) empty[w] = 0;
    for (Count i = 0; i < n; i++)
        for (Count w = 0; w < count; w++) {
            double &lo = after.lo[i * after.pitch + w], &hi = after.hi[i * after.pitch + w];
            lo = larger(before.lo[i * before.pitch + w], lo);
            hi = smaller(before.hi[i * before.pitch + w], hi);
            empty[w] |= !(lo <= hi);
        }
}
// By how much each box shrank: the mean over its sides of the part of the width that is gone. `part`: n rows of room.
// The sum is taken by halves, a side that is left over added to the first.
//
//   new/old            counts as
//   0/0, inf/inf       1 where the width did not change, else 0
//   below 0 (empty)    0
INFIMUM_FN void shrinkage(Sides before, Sides after, Count n, Count count, double *part, double *gone) {
    const Count pitch = before.pitch;
    for (Count i = 0; i < n; i++)
        for (Count w = 0; w < count; w++) {
            const double old = before.hi[i * pitch + w] - before.lo[i * pitch + w];
            const double left = after.hi[i * after.pitch + w] - after.lo[i * after.pitch + w], ratio = left / old;
            const double same = left >= old ? 1.0 : 0.0;
            const double known = ratio == ratio ? ratio : same;
            part[i * pitch + w] = smaller(larger(known, 0.0), 1.0);
        }
    for (Count rows = n; rows > 1;) {
        const Count half = rows / 2;
        for (Count i = 0; i < half; i++)
            for (Count w = 0; w < count; w++) part[i * pitch + w] += part[(i + half) * pitch + w];
        if (rows % 2)
            for (Count w = 0; w < count; w++) part[w] += part[(rows - 1) * pitch + w];
        rows = half;
    }
    for (Count w = 0; w < count; w++) gone[w] = 1.0 - part[w] / static_cast<double>(n);
}

// ---------------------------------------------------------------------------------------------- level
// One pass under f <= limit: found is what HC4 left of `before`, value what it saw of f. A box is empty where a side is, and
// where no value of it is at most the limit. A lower bound never falls; that of an empty box is inf.
INFIMUM_FN void level_rule(Sides before, Sides found, Ends value, const double *limit, Count n, Count count, double *lower,
                           unsigned char *nothing) {
    meet(before, found, n, count, nothing);
    for (Count w = 0; w < count; w++) {
        nothing[w] |= !(value.lo[w] <= smaller(value.hi[w], limit[w])) | (BROKEN(21) && value.lo[w] == limit[w]);
        lower[w] = nothing[w] ? INFIMUM_INF : BROKEN(45) ? value.lo[w] : larger(lower[w], value.lo[w]);
    }
    make_empty(found, n, count, nothing);
}

// ---------------------------------------------------------------------------------------------- monotone
// Of boxes on which f is smooth:
//
//   slope    the edge below    what is left
//   > 0      not reached       nothing: values fall further, outside the box
//   > 0      reached           the edge; all of the side where that is at infinity
//   other                      the side as it was
// and mirrored.
INFIMUM_FN void monotone_rule(Sides x, Sides slope, const Edges &edges, const unsigned char *smooth, Count n, Count count,
                           unsigned char *nothing) {
    find_empty(x, n, count, nothing);
    for (Count i = 0; i < n; i++)
        for (Count w = 0; w < count; w++) {
            double &lo = x.lo[i * x.pitch + w], &hi = x.hi[i * x.pitch + w];
            const bool rising = smooth[w] & ((slope.lo[i * slope.pitch + w] > 0.0) | (BROKEN(23) && slope.lo[i * slope.pitch + w] == 0.0));
            const bool falling = smooth[w] & (slope.hi[i * slope.pitch + w] < 0.0);
            const bool below = !at_lower(edges, i, w, lo) || BROKEN(24), above = !at_upper(edges, i, w, hi) || BROKEN(24);
            nothing[w] |= (rising & below) | (falling & above);
            const double bottom = edges.end_lo[i], top = edges.end_hi[i];
            const double low = falling & (is_number(top) | BROKEN(44)) ? larger(lo, top) : lo;
            hi = rising & is_number(bottom) ? smaller(hi, bottom) : hi;
            lo = low;
            nothing[w] |= !(lo <= hi);
        }
    make_empty(x, n, count, nothing);
}

// ---------------------------------------------------------------------------------------------- stationary
// Mark the boxes with a side that does not reach both edges.
INFIMUM_FN void find_inner(Sides x, const Edges &edges, Count n, Count count, unsigned char *inner) {
    for (Count w = 0; w < count; w++) inner[w] = 0;
    for (Count i = 0; i < n; i++)
        for (Count w = 0; w < count; w++)
            inner[w] |= !(at_lower(edges, i, w, x.lo[i * x.pitch + w]) & at_upper(edges, i, w, x.hi[i * x.pitch + w]));
}
// What the slope at a minimiser in each box can be:
//
//   the side reaches       wanted
//   no edge                0
//   the lower edge only    >= 0
//   the upper edge only    <= 0
//   both                   anything
INFIMUM_FN void wanted_slopes(Sides x, const Edges &edges, Count n, Count count, Sides wanted) {
    for (Count i = 0; i < n; i++)
        for (Count w = 0; w < count; w++) {
            wanted.lo[i * wanted.pitch + w] = at_upper(edges, i, w, x.hi[i * x.pitch + w]) && !BROKEN(25) ? -INFIMUM_INF : 0.0;
            wanted.hi[i * wanted.pitch + w] = at_lower(edges, i, w, x.lo[i * x.pitch + w]) && !BROKEN(25) ? INFIMUM_INF : 0.0;
        }
}
// One pass: found is what HC4 left of `before`, slope what it saw of the gradient. A box is empty where a side is, and where
// the slope along one cannot be as wanted; it stays as it was where a slope exists nowhere, which then may be anything.
INFIMUM_FN void stationary_rule(Sides before, Sides found, Sides slope, Sides wanted, Count n, Count count, unsigned char *nothing,
                             unsigned char *nowhere) {
    meet(before, found, n, count, nothing);
    for (Count w = 0; w < count; w++) nowhere[w] = 0;
    for (Count i = 0; i < n; i++)
        for (Count w = 0; w < count; w++) {
            const double lo = slope.lo[i * slope.pitch + w], hi = slope.hi[i * slope.pitch + w];
            nowhere[w] |= !(lo <= hi);
            nothing[w] |= !(larger(lo, wanted.lo[i * wanted.pitch + w]) <= smaller(hi, wanted.hi[i * wanted.pitch + w]));
        }
    make_empty(found, n, count, nothing);
    for (Count w = 0; w < count; w++) {
        nowhere[w] = nowhere[w] && !BROKEN(26);
        nothing[w] = nothing[w] && !nowhere[w];
    }
    for (Count i = 0; i < n; i++)
        for (Count w = 0; w < count; w++) {
            double &lo = found.lo[i * found.pitch + w], &hi = found.hi[i * found.pitch + w];
            lo = nowhere[w] ? before.lo[i * before.pitch + w] : lo;
            hi = nowhere[w] ? before.hi[i * before.pitch + w] : hi;
        }
}

// ---------------------------------------------------------------------------------------------- mean value
// The point of each box at which the lower bound of f(c) + f'(X) (x - c) is highest; policy, but for being in the box.
//
//   slope [l, u], side [a, b]    c
//   0 <= l                       a
//   u <= 0                       b
//   l < 0 < u                    (u a - l b) / (u - l); about the middle where that is no number
INFIMUM_FN void centre(Sides x, Sides slope, Count n, Count count, Sides c) {
    for (Count i = 0; i < n; i++)
        for (Count w = 0; w < count; w++) {
            const double low = slope.lo[i * slope.pitch + w], high = slope.hi[i * slope.pitch + w];
            const double a = larger(x.lo[i * x.pitch + w], -INFIMUM_MAX), b = smaller(x.hi[i * x.pitch + w], INFIMUM_MAX);
            const double best = (high * a - low * b) / (high - low);
            const double between = is_number(best) ? best : 0.5 * a + 0.5 * b;
            const double found = low >= 0.0 ? a : high <= 0.0 ? b : between;
            c.lo[i * c.pitch + w] = c.hi[i * c.pitch + w] = smaller(larger(found, a), b) + (BROKEN(37) ? 1.0 : 0.0);
        }
}
// found is what the form's contraction left of `before` under the limit, bound where the form is lowest.
INFIMUM_FN void mean_value_rule(Sides before, Sides found, const double *bound, const double *limit, Count n, Count count,
                             double *lower, unsigned char *nothing) {
    meet(before, found, n, count, nothing);
    for (Count w = 0; w < count; w++) {
        lower[w] = larger(lower[w], bound[w]);
        nothing[w] |= (lower[w] > limit[w]) | (BROKEN(22) && lower[w] == limit[w]);
    }
    make_empty(found, n, count, nothing);
}

// ---------------------------------------------------------------------------------------------- cuts (policy)
// What is asked of cuts: how narrow each side is to become, inf for any width, none at all where that is not asked; along
// which variables f changes without a slope.
struct Wishes {
    const double *widths;
    const unsigned char *stepped;
};
INFIMUM_FN double width_of(double lo, double hi) { return smaller(hi - lo, INFIMUM_MAX); }
// Whether a side is as wide as `width` or wider, inf for any width: to nearest, no difference is rounded across a double.
INFIMUM_FN bool is_wide(double lo, double hi, double width) { return !(hi - lo < width) && width != INFIMUM_INF; }
// The variable of a box, and the number on it, at which it is cut: that with the largest weight, the first of several.
//
//   weight       hint, where there is one for every variable
//                else slope times width, where all are numbers and one is not 0
//                else width; so, too, where there are no slopes
//   then         a variable that cannot be cut comes last; before it, where widths are asked for and one is too wide, those
//                that are narrow enough
// A step has no slope: what it reads counts with the largest of the box. Weights are made in `weight`, n numbers.
INFIMUM_FN Count cut_of(Sides x, Sides slope, const double *hint, const Wishes &wishes, Count n, Count w, double *weight,
                        double *place) {
    bool hinted = hint != nullptr, usable = slope.lo != nullptr, some = false;
    for (Count i = 0; hinted && i < n; i++) hinted = hint[i] == hint[i];
    double largest = 0.0;
    for (Count i = 0; usable && i < n; i++)
        largest = larger(largest, larger(magnitude(slope.lo[i * slope.pitch + w]), magnitude(slope.hi[i * slope.pitch + w])));
    for (Count i = 0; i < n; i++) {
        const double width = width_of(x.lo[i * x.pitch + w], x.hi[i * x.pitch + w]);
        weight[i] = width;
        if (!usable) continue;
        const double steep = larger(magnitude(slope.lo[i * slope.pitch + w]), magnitude(slope.hi[i * slope.pitch + w]));
        weight[i] = width * (wishes.stepped && wishes.stepped[i] && steep == 0.0 ? largest : steep);
        usable = is_number(weight[i]);
        some |= weight[i] > 0.0;
    }
    if (!usable || !some)
        for (Count i = 0; i < n; i++) weight[i] = width_of(x.lo[i * x.pitch + w], x.hi[i * x.pitch + w]);
    bool any_wide = false;
    for (Count i = 0; i < n; i++) {
        const double lo = x.lo[i * x.pitch + w], hi = x.hi[i * x.pitch + w], middle = at_fraction(lo, hi, 0.5);
        if (hinted) weight[i] = hint[i];
        if (!(lo < middle && middle < hi))
            weight[i] = -1.0;
        else if (wishes.widths)
            any_wide |= width_of(lo, hi) >= wishes.widths[i] && wishes.widths[i] != INFIMUM_INF;
    }
    Count best = 0;
    double most = 0.0;
    for (Count i = 0; i < n; i++) {
        const double width = width_of(x.lo[i * x.pitch + w], x.hi[i * x.pitch + w]);
        const bool wide = !wishes.widths || (width >= wishes.widths[i] && wishes.widths[i] != INFIMUM_INF);
        const double own = any_wide && !wide ? smaller(weight[i], -0.5) : weight[i];
        if (i == 0 || own > most) {
            best = i;
            most = own;
        }
    }
    *place = at_fraction(x.lo[best * x.pitch + w], x.hi[best * x.pitch + w], 0.5);
    return best;
}

}  // namespace INFIMUM_NAMESPACE
