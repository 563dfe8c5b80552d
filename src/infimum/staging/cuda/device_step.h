// One region brought up to date on the device, by one block: changed variables, their terms, the trees; the split's tables and
// masks. Everything as core/staging/ does it.
//
//   1. terms of changed variables, rows of the tables and of the masks: all of them tasks of one thread, in no order
//   2. the trees, level by level; meanwhile the hulls of the terms, then of what is open at each depth
//   3. what the tables are folded with
#pragma once
#include "device_terms.h"

namespace INFIMUM_NAMESPACE {

enum { STEP_THREADS = 1024, NEAR_PACKED = 12288 };

// ---------------------------------------------------------------------------------------------- terms and rows
// The tasks of several loops dealt to the threads in turn, so that no warp waits while another has two.
struct Turn {
    int at;
    template <class Task>
    INFIMUM_METHOD void over(int count, const Task &task) {
        const int width = rounded_up(count);
        INFIMUM_ROLLED for (; at < width; at += threads())
            if (at < count) task(at);
        at -= width;
    }
};
// By one thread, a row of the tables: of a term on a part, or at its sample points.
INFIMUM_FN void tabulate_row(const World &w, const SplitShape &s, int family, int kind, int row, const ValuePointers &to) {
    const Touched *t = s.touched(family);
    INFIMUM_ROLLED for (int rows; row >= (rows = t->entry.positions.rows(s.head->parts)); t++) row -= rows;
    const Positions positions = t->entry.positions;
    const Parts of = parts_of_row(positions, row, s.head->parts);
    to.pool[t->entry.start(positions.count()) + row] =
        kind ? of_number(term_on<Point>(w, s, family, t->term, of, kind).at) : term_on<Range>(w, s, family, t->term, of, 0);
}
template <class ValuesOf>
INFIMUM_FN void evaluate(const World &w, const SplitShape &s, int kinds, const ValuesOf &values, unsigned char *masks) {
    const int fractions = static_cast<int>(w.fractions);
    const Parts all = {{0}, {}};
    Turn turn = {rank()};
    INFIMUM_ROLLED for (int family = 0; family < FAMILIES; family++) {
        const PackedFamily &p = s.family(family);
        const FamilyWorld &f = w.family[family];
        const int *stale = s.at<int>(p.stale);
        turn.over((1 + fractions) * p.stale_count, [&](int task) {
            const int kind = task / p.stale_count, i = stale[task % p.stale_count];
            Range *to = kind ? f.proofs + (kind - 1) * f.total : f.ranges;
            to[i] = term_on<Range>(w, s, family, i, all, kind);
        });
        turn.over(fractions * p.stale_count, [&](int task) {
            const int kind = task / p.stale_count, i = stale[task % p.stale_count];
            f.points[kind * f.total + i] = term_on<Point>(w, s, family, i, all, kind + 1).at;
        });
        const int width = rounded_up(p.rows);
        turn.over(kinds * width, [&](int task) {
            const int kind = task / width, row = task % width;
            if (row < p.rows) tabulate_row(w, s, family, kind, row, values(kind));
        });
    }
    const PackedComponent *components = s.at<PackedComponent>(s.head->mask);
    turn.over(s.head->mask_rows, [&](int task) {
        const PackedComponent *c = components;
        INFIMUM_ROLLED for (int i = 1; i < s.head->masks && components[i].start <= task; i++) c = components + i;
        masks[task] = discards(w, s, *c, task - c->start);
    });
}

// ---------------------------------------------------------------------------------------------- trees
// One chunk, by one warp: term i meets i + 128, what is left meets i + 64, ..., i + 1. As long as 32 or more are left, term i
// meets terms of its own column i, i + 32, ..., i + 224.
template <class T>
INFIMUM_LONG_FN void refold(const FamilyWorld &f, int level, int chunk, T *tree, Range *memory) {
    enum { COLUMN = INFIMUM_CHUNK / 32 };
    T *work = reinterpret_cast<T *>(memory);
    const int first = chunk * INFIMUM_CHUNK, rest = static_cast<int>(f.size[level]) - first, op = static_cast<int>(f.op);
    const T *terms = tree + f.first[level] + first;
    const unsigned char *left_out = f.left_out + first;
    int count = rest < INFIMUM_CHUNK ? rest : INFIMUM_CHUNK;
    INFIMUM_ROLLED for (int i = lane(); i < 32 && i < count; i += lanes()) {
        T column[COLUMN];
#pragma unroll
        for (int k = 0; k < COLUMN; k++)
            if (i + 32 * k < count) {
                column[k] = terms[i + 32 * k];
                if (level == 0 && left_out[i + 32 * k]) make_neutral(op, column[k]);
            }
#pragma unroll
        for (int d = COLUMN / 2; d >= 1; d /= 2)
#pragma unroll
            for (int k = 0; k < d; k++)
                if (i + 32 * (k + d) < count) column[k] = met(op, column[k], column[k + d]);
        work[i] = column[0];
    }
    __syncwarp();
    if (count > 32) count = 32;
    INFIMUM_ROLLED for (int d = 16; d >= 1; d /= 2) {
        INFIMUM_ROLLED for (int i = lane(); i < d && i + d < count; i += lanes()) work[i] = met(op, work[i], work[i + d]);
        __syncwarp();
        if (count > d) count = d;
    }
    if (lane() == 0) tree[f.first[level + 1] + chunk] = work[0];
    __syncwarp();
}
INFIMUM_FN void refold_level(const World &w, const SplitShape &s, int level, Range *work) {
    const int warps = (threads() + 31) / 32, fractions = static_cast<int>(w.fractions), trees = 1 + 2 * fractions;
    int task = rank() / 32;
    INFIMUM_ROLLED for (int family = 0; family < FAMILIES; family++) {
        const FamilyWorld &f = w.family[family];
        if (level + 1 >= f.levels) continue;
        const PackedFamily &p = s.family(family);
        const int *chunks = s.at<int>(p.redo[level]), count = p.redo_count[level];
        INFIMUM_ROLLED for (; task < trees * count; task += warps) {
            const int tree = task / count, chunk = chunks[task % count];
            if (tree <= fractions)
                refold(f, level, chunk, tree ? f.proofs + (tree - 1) * f.total : f.ranges, work);
            else
                refold(f, level, chunk, f.points + (tree - 1 - fractions) * f.total, work);
        }
        task -= trees * count;
    }
}

// ---------------------------------------------------------------------------------------------- the kernel
INFIMUM_FN void mark_touched(const World &w, const SplitShape &s, unsigned char mark) {
    INFIMUM_ROLLED for (int family = 0; family < FAMILIES; family++)
        INFIMUM_ROLLED for (int i = rank(); i < s.family(family).touched_count; i += threads())
            w.family[family].left_out[s.touched(family)[i].term] = mark;
}
// The head and the shape, kept for the children.
INFIMUM_FN void keep_shape(const SplitShape &s, char *place) {
    const Packed &head = *s.head;
    int *to = reinterpret_cast<int *>(place);
    INFIMUM_ROLLED for (int i = rank(); i < static_cast<int>(sizeof(Packed) / 4); i += threads())
        to[i] = reinterpret_cast<const int *>(s.head)[i];
    INFIMUM_ROLLED for (int i = rank(); i < (head.bytes - head.shape) / 4; i += threads())
        to[static_cast<int>(sizeof(Packed) / 4) + i] = s.at<int>(head.shape)[i];
}
INFIMUM_FN void step(const World &w, const char *packed, char *place, char *scratch, bool with_sample) {
    alignas(16) __shared__ int near[NEAR_PACKED / 4];
    __shared__ Range work[STEP_THREADS / 32][32];
    INFIMUM_START();
    const int bytes = reinterpret_cast<const Packed *>(packed)->bytes;
    const SplitShape s = shape_of_packed(near_copy(packed, bytes, near, NEAR_PACKED));
    __syncthreads();
    const Packed &head = *s.head;
    const int kinds = 1 + (with_sample ? static_cast<int>(w.fractions) : 0);
    const auto values = [&](int kind) {
        return values_at(kind ? scratch + (kind - 1) * bytes_of_values(head) : tables_of_place(place, head), head);
    };
    const int *stale = s.at<int>(head.stale);
    const double *ends = s.at<double>(head.ends);
    INFIMUM_ROLLED for (int i = rank(); i < head.stale_count; i += threads()) {
        w.lo[stale[i]] = ends[2 * i];
        w.hi[stale[i]] = ends[2 * i + 1];
    }
    mark_touched(w, s, 1);
    keep_shape(s, place);
    __syncthreads();
    INFIMUM_MARK(0);

    evaluate(w, s, kinds, values, masks_of_place(place, head));
    __syncthreads();
    INFIMUM_MARK(1);

    int levels = 2;
    INFIMUM_ROLLED for (int family = 0; family < FAMILIES; family++)
        if (w.family[family].levels - 1 > levels) levels = static_cast<int>(w.family[family].levels) - 1;
    INFIMUM_ROLLED for (int level = 0; level < levels; level++) {
        refold_level(w, s, level, work[rank() / 32]);
        // From the last thread on: the first warps have the trees.
        Turn turn = {threads() - 1 - rank()};
        if (level == 0) {
            INFIMUM_ROLLED for (int family = 0; family < FAMILIES; family++) {
                const PackedFamily &p = s.family(family);
                turn.over(kinds * p.touched_count, [&](int task) {
                    close_term(s.touched(family)[task % p.touched_count], head.parts, values(task / p.touched_count).pool);
                });
            }
        }
        if (level == 1)
            turn.over(kinds * FAMILIES, [&](int task) {
                const ValuePointers to = values(task / FAMILIES);
                const int family = task % FAMILIES;
                close_family(s.terms(family), to.pool, head.split, to.suffix + family * (head.split + 1));
            });
        __syncthreads();
    }
    INFIMUM_MARK(2);
    INFIMUM_ROLLED for (int task = rank(); task < kinds * FAMILIES; task += threads()) {
        const int family = task % FAMILIES, kind = task / FAMILIES;
        const PackedFamily &p = s.family(family);
        const FamilyWorld &f = w.family[family];
        values(kind).hoisted[family] =
            kind ? of_number(root_of(f, p, f.points + (kind - 1) * f.total)) : root_of(f, p, f.ranges);
    }
    mark_touched(w, s, 0);
    INFIMUM_MARK(3);
}

}  // namespace INFIMUM_NAMESPACE

extern "C" __global__ void __launch_bounds__(INFIMUM_NAMESPACE::STEP_THREADS)
    infimum_step(const void *world, const void *packed, void *place, void *scratch, long long with_sample) {
    using namespace INFIMUM_NAMESPACE;
    step(*static_cast<const World *>(world), static_cast<const char *>(packed), static_cast<char *>(place),
         static_cast<char *>(scratch), with_sample != 0);
}
