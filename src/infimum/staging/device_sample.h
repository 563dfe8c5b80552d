// The best of a region's sample points on the device (POLICY), by one block: core/staging/samples.h, step by step.
#pragma once
#include "device_tables.h"

namespace INFIMUM_NAMESPACE {

// ---------------------------------------------------------------------------------------------- terms of the split
INFIMUM_FN double sample_in(const World &w, int v, double lo, double hi, double fraction) {
    return clipped(at_fraction(lo, hi, fraction), w.inner_lo[v], w.inner_hi[v]);
}
INFIMUM_FN double sample_point(const World &w, int v, double fraction) { return sample_in(w, v, w.lo[v], w.hi[v], fraction); }
// A variable's range on a child: its part where it is split.
INFIMUM_FN Range part_of(const World &w, const Shape &s, int v, const int *at, const int *digits) {
    const int position = w.position[v];
    if (position < 0) return {w.lo[v], w.hi[v]};
    const double *edges = s.edges(position) + digits[place_of(at, position)];
    return {edges[0], edges[1]};
}
INFIMUM_LONG_FN Range term_on_part(const World &w, const Shape &s, int family, const PackedTerm &t, const int *digits) {
    const FamilyWorld &f = w.family[family];
    const int reads = static_cast<int>(f.reads), constants = static_cast<int>(f.constants), own = t.term * constants;
    Range x[MOST_INPUTS];
    for (int j = 0; j < reads; j++) x[j] = part_of(w, s, f.variables[t.term * reads + j], t.at, digits);
    for (int j = 0; j < constants; j++) x[reads + j] = {f.lo[own + j], f.hi[own + j]};
    return term(family, x);
}
INFIMUM_LONG_FN double term_at_sample(const World &w, const Shape &s, int family, const PackedTerm &t, const int *digits, double fraction) {
    const FamilyWorld &f = w.family[family];
    const int reads = static_cast<int>(f.reads), constants = static_cast<int>(f.constants), own = t.term * constants;
    Point x[MOST_INPUTS];
    for (int j = 0; j < reads; j++) {
        const int v = f.variables[t.term * reads + j];
        const Range part = part_of(w, s, v, t.at, digits);
        x[j] = {sample_in(w, v, part.lo, part.hi, fraction)};
    }
    for (int j = 0; j < constants; j++) x[reads + j] = {f.at[own + j]};
    return term(family, x).at;
}
INFIMUM_LONG_FN Range term_proved(const World &w, const Shape &s, int family, const PackedTerm &t, const int *digits, double fraction) {
    const FamilyWorld &f = w.family[family];
    const int reads = static_cast<int>(f.reads), constants = static_cast<int>(f.constants), own = t.term * constants;
    Range x[MOST_INPUTS];
    for (int j = 0; j < reads; j++) {
        const int v = f.variables[t.term * reads + j];
        const Range part = part_of(w, s, v, t.at, digits);
        const double at = sample_in(w, v, part.lo, part.hi, fraction);
        x[j] = {at, at};
    }
    for (int j = 0; j < constants; j++) x[reads + j] = {f.lo[own + j], f.hi[own + j]};
    return term(family, x);
}
// The reduction of all terms but those that the split touches.
template <class T>
INFIMUM_FN T root_of(const FamilyWorld &f, const T *tree) {
    T found = tree[f.first[f.levels - 1]];
    if (f.levels == 1 && f.left_out[0]) make_neutral(static_cast<int>(f.op), found);
    return found;
}

// ---------------------------------------------------------------------------------------------- values
// One digit of a child replaced by another; no position: none.
struct Changed {
    const unsigned char *digits;
    int position, digit;
    INFIMUM_METHOD int operator[](int p) const { return p == position ? digit : digits[p]; }
};
// The function in plain doubles at a child's sample point, +inf where it is undefined.
INFIMUM_LONG_FN double value_of(const Shape &s, const Values &v, const Changed &digits) {
    Point z[FAMILIES];
#pragma unroll 1
    for (int family = 0; family < FAMILIES; family++) {
        const PackedFamily &f = s.family(family);
        const PackedTerm *t = s.touched(family);
        double fold = number_of(v.hoisted[family]);
        for (int i = 0; i < f.touched_count; i++, t++) {
            int row = 0;
            for (int j = 0; j < t->count; j++) row = row * s.head->parts + digits[t->at[j]];
            fold = met(f.op, fold, number_of(v.pool[f.pool + t->starts[t->count] + row]));
        }
        z[family] = {fold};
    }
    const double found = epilogue(z).at;
    return found == found ? found : INFIMUM_INF;
}
INFIMUM_FN bool is_possible(Range z) { return z.lo <= z.hi; }

// ---------------------------------------------------------------------------------------------- the search
struct Node {
    double bound;
    unsigned long long key;  // as core/staging/run.h has it: is it a child, its index so far, digits fixed
    long long fraction;
};
INFIMUM_FN bool before(const Node &a, const Node &b) {
    return a.bound != b.bound ? a.bound < b.bound : a.key != b.key ? a.key < b.key : a.fraction < b.fraction;
}
// What the threads share about the sample that is looked for.
struct Looking {
    double value;
    int fraction, nodes, improved[2];
    unsigned char digits[DEVICE_SPLIT], own[DEVICE_FRACTIONS][DEVICE_SPLIT];
    double best[DEVICE_FRACTIONS];
    Range root[DEVICE_FRACTIONS], option[DEVICE_PARTS], z[FAMILIES];
    Node least[32];
};
struct SampleMemory {
    char *values;    // of each fraction
    Range *proofs;   // one a touched term
    double *options; // (fractions, split * parts)
    Node *nodes;
};
INFIMUM_FN SampleMemory sample_memory(const World &w, const Packed &head, char *scratch) {
    Range *proofs = reinterpret_cast<Range *>(scratch + w.fractions * bytes_of_values(head));
    Node *nodes = reinterpret_cast<Node *>(proofs + head.rows);
    return {scratch, proofs, reinterpret_cast<double *>(nodes + w.fractions + MOST_OPENED * head.parts), nodes};
}

INFIMUM_FN Values values_of_fraction(const Shape &s, const SampleMemory &m, int fraction) {
    return values_at(m.values + fraction * bytes_of_values(*s.head), *s.head);
}
// By one warp: the bounds of the prefixes with one digit more.
INFIMUM_LONG_FN void extend(const Shape &s, const Values &v, const Digits &given, int depth, Looking &look) {
    Digits digits = given;
    for (int k = lane(); k < s.head->parts; k += lanes()) {
        digits.at[depth] = static_cast<unsigned char>(k);
        look.option[k] = enclosed(s, v, digits.at, depth + 1);
    }
    __syncwarp();
}
// By one warp: the digits that a greedy walk along the smallest prefix bounds leads to, at the most promising fraction.
INFIMUM_LONG_FN void dive(const World &w, const Shape &s, const SampleMemory &m, Looking &look) {
    const int fractions = static_cast<int>(w.fractions);
    Digits digits;
    for (int f = lane(); f < fractions; f += lanes()) look.root[f] = enclosed(s, values_of_fraction(s, m, f), digits.at, 0);
    __syncwarp();
    int where = 0;
    double best = INFIMUM_INF;
    for (int f = 0; f < fractions; f++)
        if (is_possible(look.root[f]) && look.root[f].lo < best) {
            best = look.root[f].lo;
            where = f;
        }
    const Values v = values_of_fraction(s, m, where);
    for (int depth = 0; depth < s.head->split; depth++) {
        extend(s, v, digits, depth, look);
        double least = INFIMUM_INF;
        int chosen = s.head->parts / 2;
        for (int k = 0; k < s.head->parts; k++)
            if (is_possible(look.option[k]) && look.option[k].lo < least) {
                least = look.option[k].lo;
                chosen = k;
            }
        digits.at[depth] = static_cast<unsigned char>(chosen);
        __syncwarp();
    }
    if (lane() == 0)
        for (int p = 0; p < s.head->split; p++) look.digits[p] = digits.at[p];
}
// One fraction, by one thread: every digit to its own best, or the best change of one digit.
INFIMUM_LONG_FN bool better(const Shape &s, const SampleMemory &m, int f, Looking &look) {
    const int split = s.head->split, parts = s.head->parts;
    const double *options = m.options + f * split * parts;
    unsigned char together[DEVICE_SPLIT], *own = look.own[f];
    double least = INFIMUM_INF;
    int single = 0;
    for (int p = 0; p < split; p++) {
        double smallest = INFIMUM_INF;
        together[p] = own[p];
        for (int k = 0; k < parts; k++) {
            const double x = options[p * parts + k];
            if (x < smallest) {
                smallest = x;
                together[p] = static_cast<unsigned char>(k);
            }
            if (x < least) {
                least = x;
                single = p * parts + k;
            }
        }
    }
    const double joint = value_of(s, values_of_fraction(s, m, f), {together, -1, 0});
    if (joint <= least)
        for (int p = 0; p < split; p++) own[p] = together[p];
    else
        own[single / parts] = static_cast<unsigned char>(single % parts);
    const double now = joint <= least ? joint : least;
    if (!(now < look.best[f])) return false;
    look.best[f] = now;
    return true;
}
INFIMUM_FN void descend(const World &w, const Shape &s, const SampleMemory &m, Looking &look) {
    const int fractions = static_cast<int>(w.fractions), split = s.head->split, parts = s.head->parts, options = split * parts;
    for (int f = rank(); f < fractions; f += threads()) {
        for (int p = 0; p < split; p++) look.own[f][p] = look.digits[p];
        look.best[f] = INFIMUM_INF;
    }
    if (rank() == 0) look.improved[0] = 0;
    __syncthreads();
    for (int round = 0; round < MOST_ROUNDS; round++) {
        for (int task = rank(); task < fractions * options; task += threads()) {
            const int f = task / options, option = task % options;
            m.options[task] = value_of(s, values_of_fraction(s, m, f), {look.own[f], option / parts, option % parts});
        }
        __syncthreads();
        for (int f = rank(); f < fractions; f += threads())
            if (better(s, m, f, look)) look.improved[round & 1] = 1;
        if (rank() == 0) look.improved[1 - (round & 1)] = 0;
        __syncthreads();
        if (!look.improved[round & 1]) break;
    }
    if (rank() == 0) {
        look.value = INFIMUM_INF;
        look.fraction = 0;
        for (int f = 0; f < fractions; f++)
            if (look.best[f] < look.value) {
                look.value = look.best[f];
                look.fraction = f;
                for (int p = 0; p < split; p++) look.digits[p] = look.own[f][p];
            }
    }
    __syncthreads();
}
INFIMUM_FN bool is_worth(double value, double bound) {
    if (value == INFIMUM_INF) return bound < INFIMUM_INF;
    return bound < value - magnitude(value) * PREFIX_MARGIN;
}
INFIMUM_FN void push(Looking &look, Node *nodes, Range z, const Node &node) {
    if (!is_possible(z) || !is_worth(look.value, z.lo)) return;
    nodes[look.nodes++] = {z.lo, node.key, node.fraction};
}
// By one warp: the first node in order, taken out of the list.
INFIMUM_FN Node taken(Looking &look, Node *nodes) {
    const int count = look.nodes;
    Node best = {INFIMUM_INF, ~0ULL, 0};
    int at = 0;
    for (int i = lane(); i < count; i += lanes())
        if (before(nodes[i], best)) {
            best = nodes[i];
            at = i;
        }
    look.least[lane()] = best;
    __syncwarp();
    for (int d = lanes() / 2; d >= 1; d /= 2) {
        if (lane() < d && before(look.least[lane() + d], look.least[lane()])) look.least[lane()] = look.least[lane() + d];
        __syncwarp();
    }
    const Node found = look.least[0];
    __syncwarp();
    const bool mine = count && best.key == found.key && best.fraction == found.fraction && best.bound == found.bound;
    if (mine) nodes[at] = nodes[count - 1];  // a node is on one lane's list only
    __syncwarp();
    if (lane() == 0) look.nodes = count - 1;
    __syncwarp();
    return found;
}
// By one warp: look through the tree of prefixes for anything better, opening a limited number of them.
INFIMUM_LONG_FN void improve(const World &w, const Shape &s, const SampleMemory &m, Looking &look) {
    const int fractions = static_cast<int>(w.fractions), split = s.head->split, parts = s.head->parts;
    if (lane() == 0) {
        look.nodes = 0;
        for (int f = 0; f < fractions; f++) push(look, m.nodes, look.root[f], {0, 0, f});
    }
    __syncwarp();
    for (int opened = 0; opened < MOST_OPENED && look.nodes > 0; opened++) {
        const Node node = taken(look, m.nodes);
        if (!is_worth(look.value, node.bound)) break;
        const long long index = static_cast<long long>(node.key >> 8 & ((1ULL << 55) - 1));
        const int depth = static_cast<int>(node.key & 255), f = static_cast<int>(node.fraction);
        const Values v = values_of_fraction(s, m, f);
        Digits digits;
        digits.read(index, split, parts);
        if (node.key >> 63) {
            __syncwarp();
            if (lane() == 0) {
                const double value = value_of(s, v, {digits.at, -1, 0});
                if (value < look.value) {
                    look.value = value;
                    look.fraction = f;
                    for (int p = 0; p < split; p++) look.digits[p] = digits.at[p];
                }
            }
            __syncwarp();
            continue;
        }
        extend(s, v, digits, depth, look);
        if (lane() == 0) {
            long long step = 1;
            for (int p = 0; p < depth; p++) step *= parts;
            const unsigned long long leaf = depth + 1 == split ? 1ULL << 63 : 0;
            for (int k = 0; k < parts; k++)
                push(look, m.nodes, look.option[k],
                     {0, leaf | static_cast<unsigned long long>(index + k * step) << 8 | (depth + 1), f});
        }
        __syncwarp();
    }
}
// The winner's range: the same fold in intervals.
INFIMUM_LONG_FN void prove(const World &w, const Shape &s, const SampleMemory &m, Looking &look) {
    const int split = s.head->split;
    const double fraction = w.fraction[look.fraction];
    int before_family = 0;
#pragma unroll 1
    for (int family = 0; family < FAMILIES; family++) {
        const int count = s.family(family).touched_count;
        for (int i = rank(); i < count; i += threads()) {
            const PackedTerm &t = s.touched(family)[i];
            int digits[PACKED_POSITIONS];
            for (int j = 0; j < t.count; j++) digits[j] = look.digits[t.at[j]];
            m.proofs[before_family + i] = term_proved(w, s, family, t, digits, fraction);
        }
        before_family += count;
    }
    __syncthreads();
    if (rank() > 0) return;
    int next = 0;
    Range z[FAMILIES];
#pragma unroll 1
    for (int family = 0; family < FAMILIES; family++) {
        const FamilyWorld &f = w.family[family];
        Range fold = root_of(f, f.proofs + look.fraction * f.total);
        for (int i = 0; i < s.family(family).touched_count; i++) fold = met(static_cast<int>(f.op), fold, m.proofs[next++]);
        z[family] = fold;
    }
    const Range proved = epilogue(z);
    long long index = 0;
    for (int p = split; p-- > 0;) index = index * s.head->parts + look.digits[p];
    double *to = w.result + RESULT_SAMPLE;
    to[0] = look.value;
    to[1] = stored(proved.lo);
    to[2] = stored(proved.hi);
    to[3] = static_cast<double>(index);
    to[4] = look.fraction;
    to[5] = look.value < INFIMUM_INF;
}
INFIMUM_FN void best_sample(const World &w, const Shape &s, char *scratch) {
    __shared__ Looking look;
    const SampleMemory m = sample_memory(w, *s.head, scratch);
    if (rank() < 32) dive(w, s, m, look);
    __syncthreads();
    descend(w, s, m, look);
    if (rank() < 32) improve(w, s, m, look);
    __syncthreads();
    prove(w, s, m, look);
    __syncthreads();
}

}  // namespace INFIMUM_NAMESPACE
