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
// A prefix, or a child, that may be worth opening. Where the bounds of all prefixes with one digit more are known already, they
// stand in SampleMemory::ahead, the one with digit k at first + k * apart; left: for how many digits more they do, 0: they do not.
struct Node {
    double bound;
    unsigned long long key;  // as core/staging/run.h has it: is it a child, its index so far, digits fixed
    int fraction, first, apart, left;
    INFIMUM_METHOD bool is_child() const { return key >> 63; }
    INFIMUM_METHOD unsigned index() const { return static_cast<unsigned>(key >> 8); }
    INFIMUM_METHOD int depth() const { return static_cast<int>(key & 255); }
};
INFIMUM_FN Node no_node() { return {INFIMUM_INF, ~0ULL, 0, 0, 0, 0}; }
INFIMUM_FN Node root_node(double bound, int fraction) { return {bound, 0, fraction, 0, 0, 0}; }
INFIMUM_FN bool before(const Node &a, const Node &b) {
    return a.bound != b.bound ? a.bound < b.bound : a.key != b.key ? a.key < b.key : a.fraction < b.fraction;
}
// A node with one digit more. The bounds of a level follow those of the level before, prefix number j + apart * k after j.
INFIMUM_FN Node extended(const Node &node, int digit, double bound, int split, int parts) {
    const int depth = node.depth() + 1;
    const unsigned long long index = node.index() + static_cast<unsigned>(combinations(parts, depth - 1)) * digit;
    const unsigned long long is_child = depth == split ? 1ULL << 63 : 0;
    return {bound, is_child | index << 8 | depth, node.fraction, node.first + (digit + parts) * node.apart, node.apart * parts,
            node.left - 1};
}
// Bounds that are looked for at once; for how many nodes at most; how many times at most, of which those of the dive are no
// more than there are digits. device.py has the first and the last number as well.
enum { MOST_AHEAD = 512, MOST_WANTED = 6, MOST_LOOKS = DEVICE_SPLIT + MOST_OPENED, NEAR_NODES = 288 };
// What the threads share about the sample that is looked for.
struct Looking {
    double value;
    bool goes_on;
    int fraction, nodes, opened, looks, wanted_count, improved[2];
    unsigned char digits[DEVICE_SPLIT], own[DEVICE_FRACTIONS][DEVICE_SPLIT], together[DEVICE_FRACTIONS][DEVICE_SPLIT];
    double best[DEVICE_FRACTIONS], least[DEVICE_FRACTIONS][DEVICE_SPLIT];
    Range root[DEVICE_FRACTIONS];
    Node first[32], near[NEAR_NODES];
    Node dived;                // the root that the dive began with
    Node wanted[MOST_WANTED];  // those to look ahead from, and where they stand in the list
    int wanted_at[MOST_WANTED];
};
struct SampleMemory {
    char *values;    // of each fraction
    Range *proofs;   // one a touched term
    double *options; // (fractions, split * parts)
    Range *ahead;    // (MOST_LOOKS, MOST_AHEAD)
    Node *nodes;
};
INFIMUM_FN SampleMemory sample_memory(const World &w, const Packed &head, char *scratch) {
    Range *proofs = reinterpret_cast<Range *>(scratch + w.fractions * bytes_of_values(head));
    Range *ahead = proofs + head.rows;
    Node *nodes = reinterpret_cast<Node *>(ahead + MOST_LOOKS * MOST_AHEAD);
    double *options = reinterpret_cast<double *>(nodes + w.fractions + MOST_OPENED * head.parts);
    return {scratch, proofs, options, ahead, nodes};
}

INFIMUM_FN Values values_of_fraction(const Shape &s, const SampleMemory &m, int fraction) {
    return values_at(m.values + fraction * bytes_of_values(*s.head), *s.head);
}
// How many digits more there is room for, with bounds for every prefix.
INFIMUM_FN int levels_in(int room, int parts, int digits_left) {
    int levels = 0;
#pragma unroll 1
    for (int wide = parts, count = parts; levels < digits_left && count <= room; levels++) count += wide *= parts;
    return levels;
}
// By the block: the bounds of everything that begins with a wanted node, as many digits deeper as there is room for. The wanted
// nodes know afterwards where they are.
INFIMUM_LONG_FN void look_ahead(const Shape &s, const SampleMemory &m, Looking &look) {
    const int parts = s.head->parts, split = s.head->split, count = look.wanted_count, room = MOST_AHEAD / count;
    const int start = MOST_AHEAD * look.looks;
#pragma unroll 1
    for (int task = rank(); task < count * room; task += threads()) {
        const Node &node = look.wanted[task / room];
        const int depth = node.depth();
        int j = task % room, level = 1;
#pragma unroll 1
        for (int width = parts; j >= width; level++, width *= parts) j -= width;
        if (level > levels_in(room, parts, split - depth)) continue;
        Digits digits;
        digits.read(node.index() + static_cast<unsigned>(combinations(parts, depth)) * j, depth + level, *s.head);
        m.ahead[start + task] = enclosed(s, values_of_fraction(s, m, node.fraction), digits.at, depth + level);
    }
#pragma unroll 1
    for (int i = rank(); i < count; i += threads()) {
        look.wanted[i].first = start + i * room;
        look.wanted[i].apart = 1;
        look.wanted[i].left = levels_in(room, parts, split - look.wanted[i].depth());
    }
    __syncthreads();
    if (rank() == 0) look.looks++;
    __syncthreads();
}
// By the block: the digits that a greedy walk along the smallest prefix bounds leads to, at the most promising fraction.
INFIMUM_FN void dive(const World &w, const Shape &s, const SampleMemory &m, Looking &look) {
    const int fractions = static_cast<int>(w.fractions), split = s.head->split, parts = s.head->parts;
    Digits digits;
#pragma unroll 1
    for (int f = rank(); f < fractions; f += threads()) look.root[f] = enclosed(s, values_of_fraction(s, m, f), digits.at, 0);
    if (rank() == 0) {
        look.looks = 0;
        look.wanted_count = 1;
    }
    __syncthreads();
    Node node = root_node(INFIMUM_INF, 0);
#pragma unroll 1
    for (int f = 0; f < fractions; f++)
        if (is_possible(look.root[f]) && look.root[f].lo < node.bound) node = root_node(look.root[f].lo, f);
#pragma unroll 1
    for (int depth = 0; depth < split; depth++) {
        if (node.left == 0) {
            if (rank() == 0) look.wanted[0] = node;
            __syncthreads();
            look_ahead(s, m, look);
            node = look.wanted[0];
            if (depth == 0 && rank() == 0) look.dived = node;
            __syncthreads();
        }
        double least = INFIMUM_INF;
        int chosen = parts / 2;
#pragma unroll 1
        for (int k = 0; k < parts; k++) {
            const Range z = m.ahead[node.first + k * node.apart];
            if (is_possible(z) && z.lo < least) {
                least = z.lo;
                chosen = k;
            }
        }
        node = extended(node, chosen, least, split, parts);
    }
    if (rank() == 0) {
        digits.read(node.index(), split, *s.head);
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
INFIMUM_FN void push(Looking &look, Node *nodes, const Node &node) {
    if (is_worth(look.value, node.bound)) nodes[atomicAdd(&look.nodes, 1)] = node;
}
// By one warp: the first few of what each lane would open next, where nothing is known ahead of it yet.
INFIMUM_FN void want(Looking &look, const Node &mine, int at) {
    const bool is_wanted = mine.left == 0 && !mine.is_child() && is_worth(look.value, mine.bound);
    look.first[lane()] = is_wanted ? mine : no_node();
    if (lane() == 0) look.wanted_count = 0;
    __syncwarp();
    int place = 0;
#pragma unroll 1
    for (int i = 0; i < lanes(); i++) place += before(look.first[i], mine);
    if (is_wanted && place < MOST_WANTED) {
        look.wanted[place] = mine;
        look.wanted_at[place] = at;
        atomicAdd(&look.wanted_count, 1);
    }
    __syncwarp();
}
// By one warp: open the first node in order, again and again, until nothing is known ahead of it; or until none is worth opening
// or enough were opened: then the search does not go on.
INFIMUM_FN void open_nodes(const Shape &s, const SampleMemory &m, Looking &look, Node *nodes) {
    const int split = s.head->split, parts = s.head->parts;
#pragma unroll 1
    for (;;) {
        const int count = look.nodes;
        Node mine = no_node();
        int at = 0;
#pragma unroll 1
        for (int i = lane(); i < count; i += lanes())
            if (before(nodes[i], mine)) {
                mine = nodes[i];
                at = i;
            }
        look.first[lane()] = mine;
        __syncwarp();
#pragma unroll 1
        for (int d = lanes() / 2; d >= 1; d /= 2) {
            if (lane() < d && before(look.first[lane() + d], look.first[lane()])) look.first[lane()] = look.first[lane() + d];
            __syncwarp();
        }
        const Node node = look.first[0];
        const bool goes_on = look.opened < MOST_OPENED && is_worth(look.value, node.bound);
        const bool is_known = node.is_child() || node.left > 0;
        __syncwarp();
        if (!goes_on || !is_known) {
            if (lane() == 0) look.goes_on = goes_on;
            if (goes_on) want(look, mine, at);
            return;
        }
        if (mine.key == node.key && mine.fraction == node.fraction) nodes[at] = nodes[count - 1];  // one lane's only
        __syncwarp();
        if (lane() == 0) {
            look.nodes = count - 1;
            look.opened++;
        }
        __syncwarp();
        if (!node.is_child()) {
#pragma unroll 1
            for (int k = lane(); k < parts; k += lanes()) {
                const Range z = m.ahead[node.first + k * node.apart];
                if (is_possible(z)) push(look, nodes, extended(node, k, z.lo, split, parts));
            }
        } else if (lane() == 0) {
            Digits digits;
            digits.read(node.index(), split, *s.head);
            const double value = value_of(s, values_of_fraction(s, m, node.fraction), {digits.at, -1, 0});
            if (value < look.value) {
                look.value = value;
                look.fraction = node.fraction;
#pragma unroll 1
                for (int p = 0; p < split; p++) look.digits[p] = digits.at[p];
            }
        }
        __syncwarp();
    }
}
// By the block: look through the tree of prefixes for anything better, opening a limited number of them in order. What may be
// opened next is looked ahead from meanwhile: that is as long for several as for one.
INFIMUM_FN void improve(const World &w, const Shape &s, const SampleMemory &m, Looking &look) {
    const int fractions = static_cast<int>(w.fractions), parts = s.head->parts;
    Node *nodes = fractions + MOST_OPENED * parts <= NEAR_NODES ? look.near : m.nodes;
    if (rank() == 0) look.nodes = look.opened = 0;
    __syncthreads();
#pragma unroll 1
    for (int f = rank(); f < fractions; f += threads())
        if (is_possible(look.root[f]))
            push(look, nodes, f == look.dived.fraction ? look.dived : root_node(look.root[f].lo, f));
    __syncthreads();
#pragma unroll 1
    for (;;) {
        if (rank() < 32) open_nodes(s, m, look, nodes);
        __syncthreads();
        if (!look.goes_on) break;
        look_ahead(s, m, look);
#pragma unroll 1
        for (int i = rank(); i < look.wanted_count; i += threads()) nodes[look.wanted_at[i]] = look.wanted[i];
        __syncthreads();
    }
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
