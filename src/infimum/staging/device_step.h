// One region brought up to date on the device, by one block: changed variables, their terms, the trees; the split's tables and
// masks; the best sample point, proved. Everything as core/staging/ does it.
#pragma once
#include "device_sample.h"

namespace INFIMUM_NAMESPACE {

// ---------------------------------------------------------------------------------------------- terms of the box
INFIMUM_LONG_FN void refresh_term(const World &w, const FamilyWorld &f, int family, int kind, int i) {
    const int reads = static_cast<int>(f.reads), constants = static_cast<int>(f.constants), own = i * constants;
    const int fractions = static_cast<int>(w.fractions);
    const int *variables = f.variables + i * reads;
    if (kind > fractions) {
        const int number = kind - fractions - 1;
        Point x[MOST_INPUTS];
        for (int j = 0; j < reads; j++) x[j] = {sample_point(w, variables[j], w.fraction[number])};
        for (int j = 0; j < constants; j++) x[reads + j] = {f.at[own + j]};
        f.points[number * f.total + i] = term(family, x).at;
        return;
    }
    Range x[MOST_INPUTS];
    for (int j = 0; j < reads; j++) {
        const int v = variables[j];
        if (kind) {
            const double at = sample_point(w, v, w.fraction[kind - 1]);
            x[j] = {at, at};
        } else {
            x[j] = {w.lo[v], w.hi[v]};
        }
    }
    for (int j = 0; j < constants; j++) x[reads + j] = {f.lo[own + j], f.hi[own + j]};
    Range *to = kind ? f.proofs + (kind - 1) * f.total : f.ranges;
    to[i] = term(family, x);
}
INFIMUM_FN void refresh(const World &w, const Shape &s) {
    const int kinds = 1 + 2 * static_cast<int>(w.fractions);
#pragma unroll 1
    for (int family = 0; family < FAMILIES; family++) {
        const PackedFamily &p = s.family(family);
        const int *stale = s.at<int>(p.stale);
        const int width = rounded_up(p.stale_count);
        for (int task = rank(); task < kinds * width; task += threads())
            if (task % width < p.stale_count) refresh_term(w, w.family[family], family, task / width, stale[task % width]);
    }
}

// ---------------------------------------------------------------------------------------------- tables of the split
INFIMUM_LONG_FN void tabulate_row(const World &w, const Shape &s, int kind, int row, const Values &to) {
    int family = 0;
    while (family + 1 < FAMILIES && row >= s.family(family + 1).first_row) family++;
    const PackedFamily &p = s.family(family);
    const PackedTerm *t = s.touched(family);
    row -= p.first_row;
    for (int rows; row >= (rows = combinations(s.head->parts, t->count)); t++) row -= rows;
    int digits[PACKED_POSITIONS];
    digits_of_row(row, t->count, s.head->parts, digits);
    Range &entry = to.pool[p.pool + t->starts[t->count] + row];
    if (kind)
        entry = of_number(term_at_sample(w, s, family, *t, digits, w.fraction[kind - 1]));
    else
        entry = term_on_part(w, s, family, *t, digits);
}
// The hulls of a term, once its table stands.
INFIMUM_LONG_FN void close_term(const Shape &s, const PackedFamily &p, const PackedTerm &t, const Values &to) {
    const int parts = s.head->parts;
    Range *pool = to.pool + p.pool;
    for (int j = t.count; j-- > 0;) {
        const int rows = combinations(parts, j);
        const Range *from = pool + t.starts[j + 1];
        for (int i = 0; i < rows; i++) {
            Range found = from[i * parts];
            for (int k = 1; k < parts; k++) found = hull_of(found, from[i * parts + k]);
            pool[t.starts[j] + i] = found;
        }
    }
}
// For each depth the fold of all terms that are wholly open there.
INFIMUM_LONG_FN void close_family(const Shape &s, int family, const Values &to) {
    const PackedFamily &p = s.family(family);
    const PackedTerm *terms = s.touched(family);
    const int split = s.head->split;
    Range *suffix = to.suffix + family * (split + 1);
    Range fold;
    make_neutral(p.op, fold);
    suffix[split] = fold;
    for (int depth = split; depth-- > 0;) {
        for (int i = 0; i < p.touched_count; i++)
            if (terms[i].at[0] == depth) fold = met(p.op, fold, to.pool[p.pool + terms[i].starts[0]]);
        suffix[depth] = fold;
    }
}
// Whether a component has one sign for these digits, away from the edge of the domain that this sign points away from.
INFIMUM_LONG_FN bool discards(const World &w, const Shape &s, const PackedComponent &c, int row) {
    const SlopesWorld &f = w.slopes[c.slopes];
    const int reads = static_cast<int>(f.reads), constants = static_cast<int>(f.constants), extras = static_cast<int>(f.extras);
    int digits[PACKED_POSITIONS];
    digits_of_row(row, c.count, s.head->parts, digits);
    Range x[MOST_INPUTS];
    for (int j = 0; j < reads; j++) x[j] = part_of(w, s, f.read[c.component * reads + j], c.at, digits);
    for (int j = 0; j < constants; j++) x[reads + j] = {f.lo[c.component * constants + j], f.hi[c.component * constants + j]};
    const double *extra = s.at<double>(s.head->extra) + c.extra;
    for (int j = 0; j < extras; j++) x[reads + constants + j] = {extra[2 * j], extra[2 * j + 1]};
    const Range rise = slope(c.slopes, x);
    const int v = f.variables[c.component];
    const Range own = part_of(w, s, v, c.at, digits);
    const bool rising = rise.lo > 0 && own.lo != w.domain_lo[v], falling = rise.hi < 0 && own.hi != w.domain_hi[v];
    return (rising || falling) && rise.lo <= rise.hi;
}
INFIMUM_FN void mask_rows(const World &w, const Shape &s, unsigned char *to) {
    const PackedComponent *components = s.at<PackedComponent>(s.head->mask);
    for (int task = rank(); task < s.head->mask_rows; task += threads()) {
        const PackedComponent *c = components;
        for (int i = 1; i < s.head->masks && components[i].start <= task; i++) c = components + i;
        to[task] = discards(w, s, *c, task - c->start);
    }
}

// ---------------------------------------------------------------------------------------------- trees
// One chunk, by one warp: term i meets i + 128, what is left meets i + 64, ..., i + 1.
template <class T>
INFIMUM_FN T fold_chunk(int op, const T *terms, const unsigned char *left_out, int count, T *work) {
    constexpr int HALF = DEVICE_CHUNK / 2;
    const auto value = [&](int i) {
        T found = terms[i];
        if (left_out && left_out[i]) make_neutral(op, found);
        return found;
    };
    for (int i = lane(); i < HALF && i < count; i += lanes())
        work[i] = i + HALF < count ? met(op, value(i), value(i + HALF)) : value(i);
    __syncwarp();
    if (count > HALF) count = HALF;
    for (int d = HALF / 2; d >= 1; d /= 2) {
        for (int i = lane(); i < d && i + d < count; i += lanes()) work[i] = met(op, work[i], work[i + d]);
        __syncwarp();
        if (count > d) count = d;
    }
    const T found = work[0];
    __syncwarp();
    return found;
}
template <class T>
INFIMUM_LONG_FN void refold(const FamilyWorld &f, int level, int chunk, T *tree, Range *work) {
    const int first = chunk * DEVICE_CHUNK, rest = static_cast<int>(f.size[level]) - first;
    const T found = fold_chunk(static_cast<int>(f.op), tree + f.first[level] + first, level ? nullptr : f.left_out + first,
                               rest < DEVICE_CHUNK ? rest : DEVICE_CHUNK, reinterpret_cast<T *>(work));
    if (lane() == 0) tree[f.first[level + 1] + chunk] = found;
}
INFIMUM_FN void refold_level(const World &w, const Shape &s, int level, Range *work) {
    const int warps = (threads() + 31) / 32, fractions = static_cast<int>(w.fractions), trees = 1 + 2 * fractions;
#pragma unroll 1
    for (int family = 0; family < FAMILIES; family++) {
        const FamilyWorld &f = w.family[family];
        if (level + 1 >= f.levels) continue;
        const PackedFamily &p = s.family(family);
        const int *chunks = s.at<int>(p.redo[level]), count = p.redo_count[level];
        for (int task = rank() / 32; task < trees * count; task += warps) {
            const int tree = task / count, chunk = chunks[task % count];
            if (tree == 0)
                refold(f, level, chunk, f.ranges, work);
            else if (tree <= fractions)
                refold(f, level, chunk, f.proofs + (tree - 1) * f.total, work);
            else
                refold(f, level, chunk, f.points + (tree - 1 - fractions) * f.total, work);
        }
    }
}

// ---------------------------------------------------------------------------------------------- the kernel
INFIMUM_FN void step(const World &w, const char *packed, char *place, char *scratch, bool with_sample) {
    const Shape s = shape_of_packed(packed);
    const Packed &head = *s.head;
    const int fractions = static_cast<int>(w.fractions), kinds = 1 + (with_sample ? fractions : 0);
    // What changed; which terms the split touches; the shape, kept for the children.
    const int *stale = s.at<int>(head.stale), *variables = s.at<int>(head.variables);
    const double *ends = s.at<double>(head.ends);
    for (int i = rank(); i < head.stale_count; i += threads()) {
        w.lo[stale[i]] = ends[2 * i];
        w.hi[stale[i]] = ends[2 * i + 1];
    }
    for (int p = rank(); p < head.split; p += threads()) w.position[variables[p]] = p;
#pragma unroll 1
    for (int family = 0; family < FAMILIES; family++)
        for (int i = rank(); i < s.family(family).touched_count; i += threads())
            w.family[family].left_out[s.touched(family)[i].term] = 1;
    for (int i = rank(); i < static_cast<int>(sizeof(Packed) / 4); i += threads())
        reinterpret_cast<int *>(place)[i] = reinterpret_cast<const int *>(packed)[i];
    for (int i = rank(); i < (head.bytes - head.shape) / 4; i += threads())
        reinterpret_cast<int *>(place + sizeof(Packed))[i] = reinterpret_cast<const int *>(packed + head.shape)[i];
    __syncthreads();

    refresh(w, s);
    const auto values = [&](int kind) {
        return values_at(kind ? scratch + (kind - 1) * bytes_of_values(head) : tables_of_place(place, head), head);
    };
    const int width = rounded_up(head.rows);
    for (int task = rank(); task < kinds * width; task += threads())
        if (task % width < head.rows) tabulate_row(w, s, task / width, task % width, values(task / width));
    mask_rows(w, s, masks_of_place(place, head));
    __syncthreads();

    __shared__ Range work[16][DEVICE_CHUNK / 2];
    for (int level = 0; level < PACKED_LEVELS; level++) {
        bool any = false;
#pragma unroll 1
        for (int family = 0; family < FAMILIES; family++) any = any || level + 1 < w.family[family].levels;
        if (!any) break;
        refold_level(w, s, level, work[rank() / 32]);
        __syncthreads();
    }
#pragma unroll 1
    for (int family = 0; family < FAMILIES; family++) {
        const PackedFamily &p = s.family(family);
        const FamilyWorld &f = w.family[family];
        for (int task = rank(); task < kinds * (p.touched_count + 1); task += threads()) {
            const int kind = task / (p.touched_count + 1), i = task % (p.touched_count + 1);
            const Values to = values(kind);
            if (i < p.touched_count)
                close_term(s, p, s.touched(family)[i], to);
            else
                to.hoisted[family] = kind ? of_number(root_of(f, f.points + (kind - 1) * f.total)) : root_of(f, f.ranges);
        }
    }
    __syncthreads();
    for (int task = rank(); task < kinds * FAMILIES; task += threads()) close_family(s, task % FAMILIES, values(task / FAMILIES));
    __syncthreads();

    if (with_sample) best_sample(w, s, scratch);
    for (int p = rank(); p < head.split; p += threads()) w.position[variables[p]] = -1;
#pragma unroll 1
    for (int family = 0; family < FAMILIES; family++)
        for (int i = rank(); i < s.family(family).touched_count; i += threads())
            w.family[family].left_out[s.touched(family)[i].term] = 0;
}

}  // namespace INFIMUM_NAMESPACE

extern "C" __global__ void __launch_bounds__(512)
    infimum_step(const void *world, const void *packed, void *place, void *scratch, long long with_sample) {
    using namespace INFIMUM_NAMESPACE;
    step(*static_cast<const World *>(world), static_cast<const char *>(packed), static_cast<char *>(place),
         static_cast<char *>(scratch), with_sample != 0);
}
