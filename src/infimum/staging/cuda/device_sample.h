// The best of a region's sample points on the device (POLICY), by one block: core/staging/samples.h, step by step.
#pragma once
#include "device_terms.h"

namespace INFIMUM_NAMESPACE {

// ---------------------------------------------------------------------------------------------- values
// The function in plain doubles at a child's sample point, +inf where it is undefined.
INFIMUM_LONG_FN double value_of(const SplitShape &s, const ValuePointers &v, Digits digits) {
    Point z[FAMILIES];
    INFIMUM_ROLLED for (int i = 0; i < FAMILIES; i++)
        z[i] = {value_of_family(s.terms(i), v.pool, digits, number_of(v.hoisted[i]))};
    const double found = epilogue(z).at;
    return found == found ? found : INFIMUM_INF;
}

// ---------------------------------------------------------------------------------------------- the search
// A prefix or a child: its bound or its value, and what it is, in the order of core/staging/samples.h.
struct Node {
    double bound;
    unsigned long long name;  // its index so far, digits fixed (8 bits), fraction (8 bits)
    INFIMUM_METHOD unsigned index() const { return static_cast<unsigned>(name >> 16); }
    INFIMUM_METHOD int depth() const { return static_cast<int>(name >> 8 & 255); }
    INFIMUM_METHOD int fraction() const { return static_cast<int>(name & 255); }
};
INFIMUM_FN Node node_of(double bound, unsigned index, int depth, int fraction) {
    return {bound, static_cast<unsigned long long>(index) << 16 | static_cast<unsigned>(depth << 8 | fraction)};
}
INFIMUM_FN Node no_node() { return {INFIMUM_INF, ~0ULL}; }
INFIMUM_FN bool before(const Node &a, const Node &b) { return a.bound != b.bound ? a.bound < b.bound : a.name < b.name; }

// Bounds that the dive looks for at once (device.py has this number as well); nodes that wait; what they may be opened into.
enum { MOST_AHEAD = 512, MOST_KEPT = MOST_SEARCHES * MOST_TOGETHER, MOST_NODES = MOST_TOGETHER * DEVICE_PARTS };
static_assert(MOST_LONGER <= DEVICE_PARTS && DEVICE_PARTS <= MOST_AHEAD && DEVICE_FRACTIONS <= MOST_KEPT, "there is room");
// What the threads share about the sample that is looked for.
struct Looking {
    double value;
    int fraction, improved[2];
    Digits digits, own[DEVICE_FRACTIONS];
    double best[DEVICE_FRACTIONS], least[DEVICE_FRACTIONS][DEVICE_SPLIT];
    int chosen[DEVICE_FRACTIONS][DEVICE_SPLIT];
    Range root[DEVICE_FRACTIONS];
    Node nodes[MOST_NODES], kept[2][MOST_KEPT], first[32];
    int count[2], places[MOST_NODES + MOST_KEPT], task[32];
};
struct SampleMemory {
    char *values;    // of each fraction
    Range *proofs;   // one a touched term
    double *options; // (fractions, split * parts)
    Range *ahead;    // (MOST_AHEAD)
};
INFIMUM_FN SampleMemory sample_memory(const World &w, const Packed &head, char *scratch) {
    Range *proofs = reinterpret_cast<Range *>(scratch + w.fractions * bytes_of_values(head)), *ahead = proofs + head.rows;
    return {scratch, proofs, reinterpret_cast<double *>(ahead + MOST_AHEAD), ahead};
}

INFIMUM_FN ValuePointers values_of_fraction(const SplitShape &s, const SampleMemory &m, int fraction) {
    return values_at(m.values + fraction * bytes_of_values(*s.head), *s.head);
}
// By the block: the bounds of everything that begins with `depth` digits of an index, as many digits deeper as there is room
// for. Those of a level follow the level before, in the order of their numbers. Returns how many levels there are.
INFIMUM_LONG_FN int look_ahead(const SplitShape &s, const SampleMemory &m, int fraction, unsigned index, int depth) {
    const int parts = s.head->parts;
    const unsigned step = combinations(parts, depth);
    int levels = 1, count = parts;
    INFIMUM_ROLLED
    for (int wide = parts * parts; depth + levels < s.head->split && count + wide <= MOST_AHEAD; levels++, wide *= parts)
        count += wide;
    INFIMUM_ROLLED for (int task = rank(); task < count; task += threads()) {
        int j = task, level = 1;
        INFIMUM_ROLLED for (int width = parts; j >= width; level++, width *= parts) j -= width;
        const Digits digits = digits_of(*s.head, index + step * j, depth + level);
        m.ahead[task] = enclosed(s, values_of_fraction(s, m, fraction), digits, depth + level);
    }
    __syncthreads();
    return levels;
}
// By the block: the digits that a greedy walk along the smallest prefix bounds leads to, at the most promising fraction.
INFIMUM_FN void dive(const World &w, const SplitShape &s, const SampleMemory &m, Looking &look) {
    const int fractions = static_cast<int>(w.fractions), split = s.head->split, parts = s.head->parts;
    const Digits none = digits_of(*s.head, 0, 0);
    INFIMUM_ROLLED for (int f = rank(); f < fractions; f += threads())
        look.root[f] = enclosed(s, values_of_fraction(s, m, f), none, 0);
    __syncthreads();
    int where = 0;
    double best = INFIMUM_INF;
    INFIMUM_ROLLED for (int f = 0; f < fractions; f++)
        if (is_possible(look.root[f]) && look.root[f].lo < best) {
            best = look.root[f].lo;
            where = f;
        }
    // Of what is known ahead: the bounds with the next digit k stand at first + k * apart, for `left` digits more.
    int first = 0, apart = 1, left = 0;
    unsigned index = 0, step = 1;
    INFIMUM_ROLLED for (int depth = 0; depth < split; depth++, left--, step *= parts) {
        if (left == 0) {
            __syncthreads();
            left = look_ahead(s, m, where, index, depth);
            first = 0;
            apart = 1;
        }
        double least = INFIMUM_INF;
        int chosen = parts / 2;
        INFIMUM_ROLLED for (int k = 0; k < parts; k++) {
            const Range z = m.ahead[first + k * apart];
            if (is_possible(z) && z.lo < least) {
                least = z.lo;
                chosen = k;
            }
        }
        index += step * chosen;
        first += (chosen + parts) * apart;
        apart *= parts;
    }
    if (rank() == 0) look.digits = digits_of(*s.head, index, split);
    __syncthreads();
}
// One fraction, by one warp: every digit to its own best, or the best change of one digit.
INFIMUM_FN void better(const SplitShape &s, const SampleMemory &m, int f, Looking &look, int &improved) {
    const int split = s.head->split, parts = s.head->parts;
    const double *options = m.options + f * split * parts;
    const Digits own = look.own[f];
    INFIMUM_ROLLED for (int p = lane(); p < split; p += lanes()) {
        double least = INFIMUM_INF;
        int chosen = own[p];
        INFIMUM_ROLLED for (int k = 0; k < parts; k++) {
            const double x = options[p * parts + k];
            if (x < least) {
                least = x;
                chosen = k;
            }
        }
        look.least[f][p] = least;
        look.chosen[f][p] = chosen;
    }
    __syncwarp();
    if (lane() == 0) {
        double least = INFIMUM_INF;
        int single = 0;
        Digits together = own;
        INFIMUM_ROLLED for (int p = 0; p < split; p++) {
            together = together.with(p, look.chosen[f][p]);
            if (look.least[f][p] < least) {
                least = look.least[f][p];
                single = p;
            }
        }
        const double joint = value_of(s, values_of_fraction(s, m, f), together);
        look.own[f] = joint <= least ? together : own.with(single, look.chosen[f][single]);
        const double now = joint <= least ? joint : least;
        if (now < look.best[f]) {
            look.best[f] = now;
            improved = 1;
        }
    }
    __syncwarp();
}
INFIMUM_FN void descend(const World &w, const SplitShape &s, const SampleMemory &m, Looking &look) {
    const int fractions = static_cast<int>(w.fractions), split = s.head->split, parts = s.head->parts, options = split * parts;
    INFIMUM_ROLLED for (int f = rank(); f < fractions; f += threads()) {
        look.own[f] = look.digits;
        look.best[f] = INFIMUM_INF;
    }
    if (rank() == 0) look.improved[0] = 0;
    __syncthreads();
    INFIMUM_ROLLED for (int round = 0; round < MOST_ROUNDS; round++) {
        INFIMUM_ROLLED for (int task = rank(); task < fractions * options; task += threads()) {
            const int f = task / options, option = task % options;
            m.options[task] = value_of(s, values_of_fraction(s, m, f), look.own[f].with(option / parts, option % parts));
        }
        __syncthreads();
        INFIMUM_ROLLED for (int f = rank() / 32; f < fractions; f += (threads() + 31) / 32)
            better(s, m, f, look, look.improved[round & 1]);
        if (rank() == 0) look.improved[1 - (round & 1)] = 0;
        __syncthreads();
        if (!look.improved[round & 1]) break;
    }
    if (rank() == 0) {
        look.value = INFIMUM_INF;
        look.fraction = 0;
        INFIMUM_ROLLED for (int f = 0; f < fractions; f++)
            if (look.best[f] < look.value) {
                look.value = look.best[f];
                look.fraction = f;
                look.digits = look.own[f];
            }
    }
    __syncthreads();
}
// By the block: the first `opened` nodes that wait are opened, each into at most `room` that are `deeper` digits longer;
// children have their values.
INFIMUM_FN void open_nodes(const SplitShape &s, const SampleMemory &m, Looking &look, const Node *waiting, int opened, int room,
                           int deeper) {
    const int parts = s.head->parts, split = s.head->split;
    INFIMUM_ROLLED for (int task = rank(); task < opened * room; task += threads()) {
        const Node &node = waiting[task / room];
        const int depth = node.depth(), rest = split - depth, longer = depth + (deeper < rest ? deeper : rest), j = task % room;
        Node found = no_node();
        if (j < combinations(parts, longer - depth)) {
            const ValuePointers values = values_of_fraction(s, m, node.fraction());
            const unsigned index = node.index() + static_cast<unsigned>(combinations(parts, depth)) * j;
            const Digits digits = digits_of(*s.head, index, longer);
            if (longer == split) {
                found = node_of(value_of(s, values, digits), index, longer, node.fraction());
            } else {
                const Range z = enclosed(s, values, digits, longer);
                if (is_possible(z)) found = node_of(z.lo, index, longer, node.fraction());
            }
        }
        look.nodes[task] = found;
    }
    __syncthreads();
}
// By one warp: the smallest value of a child becomes the sample, where it is smaller; the first of equal ones.
INFIMUM_FN void take_children(const SplitShape &s, Looking &look, int count) {
    const int split = s.head->split;
    Node best = no_node();
    int at = count;
    INFIMUM_ROLLED for (int i = lane(); i < count; i += lanes())
        if (look.nodes[i].depth() == split && look.nodes[i].bound < best.bound) {
            best = look.nodes[i];
            at = i;
        }
    look.first[lane()] = best;
    look.task[lane()] = at;
    __syncwarp();
    if (lane() > 0) return;
    INFIMUM_ROLLED for (int i = 1; i < lanes(); i++) {
        const Node other = look.first[i];
        if (other.bound < best.bound || (other.bound == best.bound && look.task[i] < at)) {
            best = other;
            at = look.task[i];
        }
    }
    if (!(best.bound < look.value)) return;
    look.value = best.bound;
    look.fraction = best.fraction();
    look.digits = digits_of(*s.head, best.index(), split);
}
// By the block: of the nodes that wait, without the first `opened`, and of the `count` that these were opened into, the first
// `most` that are worth opening, in order. They are counted by number `to` of `kept`.
INFIMUM_FN void keep_first(Looking &look, int split, int to, int opened, int count, int most) {
    enum { SLICES = 4 };  // threads that count what comes before a node
    Node *waiting = look.kept[1 - to] + opened;
    const int rest = look.count[1 - to] - opened, total = rest + count;
    const auto node = [&](int i) -> Node & { return i < rest ? waiting[i] : look.nodes[i - rest]; };
    INFIMUM_ROLLED for (int i = rank(); i < total; i += threads()) {
        if (node(i).depth() == split || !is_worth(look.value, node(i).bound)) node(i).bound = INFIMUM_INF;
        look.places[i] = 0;
    }
    if (rank() == 0) look.count[to] = 0;
    __syncthreads();
    INFIMUM_ROLLED for (int task = rank(); task < SLICES * total; task += threads()) {
        const Node mine = node(task / SLICES);
        if (mine.bound == INFIMUM_INF) continue;
        int place = 0;
        INFIMUM_ROLLED for (int i = task % SLICES; i < total; i += SLICES) place += before(node(i), mine);
        atomicAdd(&look.places[task / SLICES], place);
    }
    __syncthreads();
    INFIMUM_ROLLED for (int i = rank(); i < total; i += threads())
        if (node(i).bound < INFIMUM_INF && look.places[i] < most) {
            look.kept[to][look.places[i]] = node(i);
            atomicAdd(&look.count[to], 1);
        }
    __syncthreads();
}
// By the block: look through the tree of prefixes for anything better, several at once, opening a limited number of them.
INFIMUM_FN void improve(const World &w, const SplitShape &s, const SampleMemory &m, Looking &look) {
    const int fractions = static_cast<int>(w.fractions), parts = s.head->parts, split = s.head->split;
    int deeper = 1, room = parts;
    INFIMUM_ROLLED for (; room * parts <= MOST_LONGER; room *= parts) deeper++;
    INFIMUM_ROLLED for (int f = rank(); f < fractions; f += threads())
        look.nodes[f] = is_possible(look.root[f]) ? node_of(look.root[f].lo, 0, 0, f) : no_node();
    if (rank() == 0) look.count[0] = look.count[1] = 0;
    __syncthreads();
    keep_first(look, split, 0, 0, fractions, MOST_KEPT);
    int now = 0;
    INFIMUM_ROLLED for (int left = MOST_SEARCHES; left-- > 0; now = 1 - now) {
        const Node *waiting = look.kept[now];
        const int opened = look.count[now] < MOST_TOGETHER ? look.count[now] : MOST_TOGETHER;
        if (opened == 0) break;
        bool any_children = false;
        INFIMUM_ROLLED for (int i = 0; i < opened; i++) any_children = any_children || waiting[i].depth() + deeper >= split;
        open_nodes(s, m, look, waiting, opened, room, deeper);
        if (any_children) {
            if (rank() < 32) take_children(s, look, opened * room);
            __syncthreads();
        }
        keep_first(look, split, 1 - now, opened, opened * room, left * MOST_TOGETHER);
    }
}
// The winner's range: the same fold in intervals.
INFIMUM_FN void prove(const World &w, const SplitShape &s, const SampleMemory &m, Looking &look) {
    const int kind = look.fraction + 1;
    int before_family = 0;
    INFIMUM_ROLLED for (int family = 0; family < FAMILIES; family++) {
        const int count = s.family(family).touched_count;
        INFIMUM_ROLLED for (int i = rank(); i < count; i += threads()) {
            const Touched &t = s.touched(family)[i];
            const Positions positions = t.entry.positions;
            Parts of = {positions, {}};
            INFIMUM_ROLLED for (int j = 0; j < MOST_POSITIONS; j++)
                if (j < positions.count()) of.digits[j] = look.digits[positions.at(j)];
            m.proofs[before_family + i] = term_on<Range>(w, s, family, t.term, of, kind);
        }
        before_family += count;
    }
    __syncthreads();
    if (rank() > 0) return;
    int next = 0;
    Range z[FAMILIES];
    INFIMUM_ROLLED for (int family = 0; family < FAMILIES; family++) {
        const FamilyWorld &f = w.family[family];
        const PackedFamily &p = s.family(family);
        Range fold = root_of(f, p, f.proofs + look.fraction * f.total);
        INFIMUM_ROLLED for (int i = 0; i < p.touched_count; i++) fold = met(p.op, fold, m.proofs[next++]);
        z[family] = fold;
    }
    const Range proved = epilogue(z);
    double *to = w.result + RESULT_SAMPLE;
    to[0] = look.value;
    to[1] = stored(proved.lo);
    to[2] = stored(proved.hi);
    to[3] = index_of(*s.head, look.digits);
    to[4] = look.fraction;
    to[5] = look.value < INFIMUM_INF;
}
INFIMUM_FN void best_sample(const World &w, const SplitShape &s, char *scratch, Looking &look) {
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
