// The best of a region's sample points on the device (POLICY), by one block: core/staging/samples.h, step by step.
#pragma once
#include "device_terms.h"

namespace INFIMUM_NAMESPACE {

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
#pragma unroll 1
        for (int i = 0; i < f.touched_count; i++, t++) {
            int row = 0;
#pragma unroll 1
            for (int j = 0; j < t->count; j++) row = row * s.head->parts + digits[t->at[j]];
            fold = joined(f.op, fold, number_of(v.pool[f.pool + t->starts[t->count] + row]));
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
// The bounds of all prefixes that begin with one, some digits deeper, at one fraction. A prefix of l digits more has the index
// index + step * j; its bound follows those of fewer digits, in the order of j. Each fraction has such bounds of its own,
// because the search goes back and forth between them. device.py has the first number as well.
enum { MOST_AHEAD = 128, NEAR_NODES = 288 };
struct Ahead {
    int depth, levels;
    unsigned index, step;
};
// What the threads share about the sample that is looked for.
struct Looking {
    double value;
    bool goes_on;
    int fraction, nodes, improved[2];
    unsigned char digits[DEVICE_SPLIT], own[DEVICE_FRACTIONS][DEVICE_SPLIT], together[DEVICE_FRACTIONS][DEVICE_SPLIT];
    double best[DEVICE_FRACTIONS], least[DEVICE_FRACTIONS][DEVICE_SPLIT];
    Range root[DEVICE_FRACTIONS];
    Ahead ahead[DEVICE_FRACTIONS];
    Node first[32], taken, near[NEAR_NODES];
};
struct SampleMemory {
    char *values;    // of each fraction
    Range *proofs;   // one a touched term
    double *options; // (fractions, split * parts)
    Range *ahead;    // (fractions, MOST_AHEAD)
    Node *nodes;
};
INFIMUM_FN SampleMemory sample_memory(const World &w, const Packed &head, char *scratch) {
    Range *proofs = reinterpret_cast<Range *>(scratch + w.fractions * bytes_of_values(head));
    Node *nodes = reinterpret_cast<Node *>(proofs + head.rows);
    double *options = reinterpret_cast<double *>(nodes + w.fractions + MOST_OPENED * head.parts);
    Range *ahead = reinterpret_cast<Range *>(options + w.fractions * head.split * head.parts);
    return {scratch, proofs, options, ahead, nodes};
}

INFIMUM_FN Values values_of_fraction(const Shape &s, const SampleMemory &m, int fraction) {
    return values_at(m.values + fraction * bytes_of_values(*s.head), *s.head);
}
// The bounds of what begins with `depth` digits of an index, as many digits deeper as there is room for; by the block, at
// `fractions` fractions from the first one on.
INFIMUM_LONG_FN void look_ahead(const Shape &s, const SampleMemory &m, Looking &look, int first, int fractions, unsigned index,
                                int depth) {
    const int parts = s.head->parts;
    const unsigned step = combinations(parts, depth);
    int levels = 1, wide = parts, count = parts;  // wide: prefixes of the last level
#pragma unroll 1
    for (; depth + levels < s.head->split && count + wide * parts <= MOST_AHEAD; levels++) count += wide *= parts;
#pragma unroll 1
    for (int task = rank(); task < fractions * count; task += threads()) {
        const int fraction = first + task / count;
        int j = task % count, level = 1;
        const int at = fraction * MOST_AHEAD + j;
#pragma unroll 1
        for (int width = parts; j >= width; level++, width *= parts) j -= width;
        Digits digits;
        digits.read(index + step * j, depth + level, parts);
        m.ahead[at] = enclosed(s, values_of_fraction(s, m, fraction), digits.at, depth + level);
    }
#pragma unroll 1
    for (int f = rank(); f < fractions; f += threads()) look.ahead[first + f] = {depth, levels, index, step};
    __syncthreads();
}
// Where the bounds of a prefix with one digit more stand, the first of them and how far apart; not there: apart = 0.
struct Extended {
    int first, apart;
};
INFIMUM_FN Extended extended(const Ahead &ahead, int fraction, unsigned index, int depth, int parts) {
    const unsigned more = index - ahead.index;
    if (depth < ahead.depth || depth >= ahead.depth + ahead.levels || more % ahead.step) return {0, 0};
    int width = 1, before = fraction * MOST_AHEAD;
#pragma unroll 1
    for (int level = ahead.depth; level < depth; level++) before += width *= parts;
    const unsigned j = more / ahead.step;
    return j < static_cast<unsigned>(width) ? Extended{before + static_cast<int>(j), width} : Extended{0, 0};
}
// By the block: the same, looked for where it is not there.
INFIMUM_FN Extended extend(const Shape &s, const SampleMemory &m, Looking &look, int fraction, unsigned index, int depth) {
    const Extended there = extended(look.ahead[fraction], fraction, index, depth, s.head->parts);
    if (there.apart) return there;
    __syncthreads();
    look_ahead(s, m, look, fraction, 1, index, depth);
    return {fraction * MOST_AHEAD, 1};
}
// By the block: the digits that a greedy walk along the smallest prefix bounds leads to, at the most promising fraction.
INFIMUM_FN void dive(const World &w, const Shape &s, const SampleMemory &m, Looking &look) {
    const int fractions = static_cast<int>(w.fractions), split = s.head->split, parts = s.head->parts;
    Digits digits;
#pragma unroll 1
    for (int f = rank(); f < fractions; f += threads()) look.root[f] = enclosed(s, values_of_fraction(s, m, f), digits.at, 0);
#pragma unroll 1
    for (int f = rank(); f < fractions; f += threads()) look.ahead[f] = {0, 0, 0, 1};
    __syncthreads();
    int where = 0;
    double best = INFIMUM_INF;
#pragma unroll 1
    for (int f = 0; f < fractions; f++)
        if (is_possible(look.root[f]) && look.root[f].lo < best) {
            best = look.root[f].lo;
            where = f;
        }
    unsigned index = 0, step = 1;
#pragma unroll 1
    for (int depth = 0; depth < split; depth++, step *= parts) {
        const Extended more = extend(s, m, look, where, index, depth);
        double least = INFIMUM_INF;
        int chosen = parts / 2;
#pragma unroll 1
        for (int k = 0; k < parts; k++) {
            const Range z = m.ahead[more.first + k * more.apart];
            if (is_possible(z) && z.lo < least) {
                least = z.lo;
                chosen = k;
            }
        }
        index += step * chosen;
    }
    if (rank() == 0) {
        digits.read(index, split, parts);
#pragma unroll 1
        for (int p = 0; p < split; p++) look.digits[p] = digits.at[p];
    }
    __syncthreads();
}
// One fraction, by one warp: every digit to its own best, or the best change of one digit.
INFIMUM_FN void better(const Shape &s, const SampleMemory &m, int f, Looking &look, int &improved) {
    const int split = s.head->split, parts = s.head->parts;
    const double *options = m.options + f * split * parts;
    unsigned char *together = look.together[f], *own = look.own[f];
#pragma unroll 1
    for (int p = lane(); p < split; p += lanes()) {
        double least = INFIMUM_INF;
        int chosen = own[p];
#pragma unroll 1
        for (int k = 0; k < parts; k++) {
            const double x = options[p * parts + k];
            if (x < least) {
                least = x;
                chosen = k;
            }
        }
        look.least[f][p] = least;
        together[p] = static_cast<unsigned char>(chosen);
    }
    __syncwarp();
    if (lane() == 0) {
        double least = INFIMUM_INF;
        int single = 0;
#pragma unroll 1
        for (int p = 0; p < split; p++)
            if (look.least[f][p] < least) {
                least = look.least[f][p];
                single = p;
            }
        const double joint = value_of(s, values_of_fraction(s, m, f), {together, -1, 0});
        if (joint <= least)
#pragma unroll 1
            for (int p = 0; p < split; p++) own[p] = together[p];
        else
            own[single] = together[single];
        const double now = joint <= least ? joint : least;
        if (now < look.best[f]) {
            look.best[f] = now;
            improved = 1;
        }
    }
    __syncwarp();
}
INFIMUM_FN void descend(const World &w, const Shape &s, const SampleMemory &m, Looking &look) {
    const int fractions = static_cast<int>(w.fractions), split = s.head->split, parts = s.head->parts, options = split * parts;
#pragma unroll 1
    for (int f = rank(); f < fractions; f += threads()) {
#pragma unroll 1
        for (int p = 0; p < split; p++) look.own[f][p] = look.digits[p];
        look.best[f] = INFIMUM_INF;
    }
    if (rank() == 0) look.improved[0] = 0;
    __syncthreads();
#pragma unroll 1
    for (int round = 0; round < MOST_ROUNDS; round++) {
#pragma unroll 1
        for (int task = rank(); task < fractions * options; task += threads()) {
            const int f = task / options, option = task % options;
            m.options[task] = value_of(s, values_of_fraction(s, m, f), {look.own[f], option / parts, option % parts});
        }
        __syncthreads();
#pragma unroll 1
        for (int f = rank() / 32; f < fractions; f += (threads() + 31) / 32) better(s, m, f, look, look.improved[round & 1]);
        if (rank() == 0) look.improved[1 - (round & 1)] = 0;
        __syncthreads();
        if (!look.improved[round & 1]) break;
    }
    if (rank() == 0) {
        look.value = INFIMUM_INF;
        look.fraction = 0;
#pragma unroll 1
        for (int f = 0; f < fractions; f++)
            if (look.best[f] < look.value) {
                look.value = look.best[f];
                look.fraction = f;
#pragma unroll 1
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
// By one warp: the first node in order, taken out of the list; whether it is worth opening, which is said here, because the
// value that it is compared with may change before the last thread would look.
INFIMUM_FN void take(Looking &look, Node *nodes) {
    const int count = look.nodes;
    Node best = {INFIMUM_INF, ~0ULL, 0};
    int at = 0;
#pragma unroll 1
    for (int i = lane(); i < count; i += lanes())
        if (before(nodes[i], best)) {
            best = nodes[i];
            at = i;
        }
    look.first[lane()] = best;
    __syncwarp();
#pragma unroll 1
    for (int d = lanes() / 2; d >= 1; d /= 2) {
        if (lane() < d && before(look.first[lane() + d], look.first[lane()])) look.first[lane()] = look.first[lane() + d];
        __syncwarp();
    }
    const Node found = look.first[0];
    const bool mine = count && best.key == found.key && best.fraction == found.fraction && best.bound == found.bound;
    __syncwarp();
    if (mine) nodes[at] = nodes[count - 1];  // a node is on one lane's list only
    __syncwarp();
    if (lane() > 0) return;
    look.nodes = count ? count - 1 : 0;
    look.taken = found;
    look.goes_on = is_worth(look.value, found.bound);
}
// By the block: look through the tree of prefixes for anything better, opening a limited number of them.
INFIMUM_FN void improve(const World &w, const Shape &s, const SampleMemory &m, Looking &look) {
    const int fractions = static_cast<int>(w.fractions), split = s.head->split, parts = s.head->parts;
    Node *nodes = fractions + MOST_OPENED * parts <= NEAR_NODES ? look.near : m.nodes;
    if (rank() == 0) {
        look.nodes = 0;
#pragma unroll 1
        for (int f = 0; f < fractions; f++) push(look, nodes, look.root[f], {0, 0, f});
    }
    int roots = 0;
#pragma unroll 1
    for (int f = 0; f < fractions; f++) roots += is_possible(look.root[f]) && is_worth(look.value, look.root[f].lo);
    __syncthreads();
    if (roots > 2) look_ahead(s, m, look, 0, fractions, 0, 0);  // rather at once than one after the other
#pragma unroll 1
    for (int opened = 0; opened < MOST_OPENED; opened++) {
        if (rank() < 32) take(look, nodes);
        __syncthreads();
        if (!look.goes_on) break;
        const Node node = look.taken;
        const unsigned index = static_cast<unsigned>(node.key >> 8);
        const int depth = static_cast<int>(node.key & 255), f = static_cast<int>(node.fraction);
        const bool leaf = node.key >> 63;
        Extended more = {0, 1};
        if (!leaf) more = extend(s, m, look, f, index, depth);
        if (rank() == 0 && leaf) {
            Digits digits;
            digits.read(index, split, parts);
            const double value = value_of(s, values_of_fraction(s, m, f), {digits.at, -1, 0});
            if (value < look.value) {
                look.value = value;
                look.fraction = f;
#pragma unroll 1
                for (int p = 0; p < split; p++) look.digits[p] = digits.at[p];
            }
        }
        if (rank() == 0 && !leaf) {
            const unsigned step = combinations(parts, depth);
            const unsigned long long last = depth + 1 == split ? 1ULL << 63 : 0;
#pragma unroll 1
            for (int k = 0; k < parts; k++)
                push(look, nodes, m.ahead[more.first + k * more.apart],
                     {0, last | static_cast<unsigned long long>(index + k * step) << 8 | (depth + 1), f});
        }
        __syncthreads();
    }
    __syncthreads();
}
// The winner's range: the same fold in intervals.
INFIMUM_FN void prove(const World &w, const Shape &s, const SampleMemory &m, Looking &look) {
    const int split = s.head->split, kind = look.fraction + 1;
    int before_family = 0;
#pragma unroll 1
    for (int family = 0; family < FAMILIES; family++) {
        const int count = s.family(family).touched_count;
#pragma unroll 1
        for (int i = rank(); i < count; i += threads()) {
            const PackedTerm &t = s.touched(family)[i];
            Parts of = {t.count, t.at, {}};
#pragma unroll 1
            for (int j = 0; j < PACKED_POSITIONS; j++)
                if (j < t.count) of.digits[j] = look.digits[t.at[j]];
            m.proofs[before_family + i] = term_on<Range>(w, s, family, t.term, of, kind);
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
        const PackedFamily &p = s.family(family);
        Range fold = root_of(f, p, f.proofs + look.fraction * f.total);
#pragma unroll 1
        for (int i = 0; i < p.touched_count; i++) fold = joined(p.op, fold, m.proofs[next++]);
        z[family] = fold;
    }
    const Range proved = epilogue(z);
    long long index = 0;
#pragma unroll 1
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
    INFIMUM_START();
    dive(w, s, m, look);
    INFIMUM_MARK(8);
    descend(w, s, m, look);
    INFIMUM_MARK(9);
    improve(w, s, m, look);
    INFIMUM_MARK(10);
    prove(w, s, m, look);
    INFIMUM_MARK(11);
}

}  // namespace INFIMUM_NAMESPACE
