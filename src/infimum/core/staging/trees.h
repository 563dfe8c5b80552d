// Reductions on the fixed tree (docs/program.md) whose terms change a few at a time: only what a change reaches is redone.
#pragma once
#include <vector>

#include "../abi.h"
#include "../broken.h"
#include "numbers.h"

namespace INFIMUM_NAMESPACE {

// One chunk: term i meets i + 128, what is left meets i + 64, ..., i + 1.
template <int op, class T>
static T fold_chunk(const T *terms, int64_t count) {
    T work[INFIMUM_CHUNK];
    for (int64_t i = 0; i < count; i++) work[i] = terms[i];
    for (int64_t d = INFIMUM_CHUNK / 2; d >= 1; d /= 2) {
        for (int64_t i = 0; i + d < count; i++) work[i] = met<op>(work[i], work[i + d]);
        if (count > d) count = d;
    }
    return work[0];
}
template <class T>
static T fold_chunk(int op, const T *terms, int64_t count) {
    switch (op) {
        case INFIMUM_REDUCTION_ADD: return fold_chunk<INFIMUM_REDUCTION_ADD>(terms, count);
        case INFIMUM_REDUCTION_MUL: return fold_chunk<INFIMUM_REDUCTION_MUL>(terms, count);
        case INFIMUM_REDUCTION_MIN: return fold_chunk<INFIMUM_REDUCTION_MIN>(terms, count);
        default: return fold_chunk<INFIMUM_REDUCTION_MAX>(terms, count);
    }
}

// Terms under one reduction. Guarantee: `root` has the bits of the virtual machine's reduction of the same terms.
template <class T>
class Tree {
    struct Level {
        std::vector<T> values;
        std::vector<unsigned char> is_stale;  // of its chunks
        std::vector<int64_t> stale;
    };
    int op_ = INFIMUM_REDUCTION_ADD;
    std::vector<Level> levels_;

  public:
    Tree(int op, int64_t count) : op_(op) {
        for (int64_t size = count;; size = chunks_of(size)) {
            levels_.emplace_back();
            levels_.back().values.resize(static_cast<size_t>(size));
            levels_.back().is_stale.assign(static_cast<size_t>(chunks_of(size)), 0);
            if (size <= 1) break;
        }
    }
    void set(int64_t i, T value) {
        levels_[0].values[i] = value;
        if (!BROKEN(7)) touch(0, i);
    }
    // The reduction of all terms but the `count` given ones; these stay as they are.
    T root_without(const int64_t *terms, int64_t count) {
        std::vector<T> kept(static_cast<size_t>(count));
        for (int64_t i = 0; i < count; i++) {
            kept[i] = levels_[0].values[terms[i]];
            T nothing;
            make_neutral(op_, nothing);
            set(terms[i], nothing);
        }
        const T found = root();
        for (int64_t i = 0; i < count; i++) set(terms[i], kept[i]);
        return found;
    }

  private:
    static int64_t chunks_of(int64_t count) { return (count + INFIMUM_CHUNK - 1) / INFIMUM_CHUNK; }
    void touch(size_t level, int64_t i) {
        Level &l = levels_[level];
        const int64_t chunk = i / INFIMUM_CHUNK;
        if (l.is_stale[chunk]) return;
        l.is_stale[chunk] = 1;
        l.stale.push_back(chunk);
    }
    T root() {
        for (size_t level = 0; level + 1 < levels_.size(); level++) {
            Level &l = levels_[level];
            const int64_t size = static_cast<int64_t>(l.values.size());
            for (const int64_t chunk : l.stale) {
                const int64_t chunk_size = INFIMUM_CHUNK, first = chunk * chunk_size, rest = size - first;
                const T *terms = l.values.data() + first;
                levels_[level + 1].values[chunk] = fold_chunk(op_, terms, rest < chunk_size ? rest : chunk_size);
                touch(level + 1, chunk);
                l.is_stale[chunk] = 0;
            }
            l.stale.clear();
        }
        levels_.back().stale.clear();
        levels_.back().is_stale.assign(levels_.back().is_stale.size(), 0);
        return levels_.back().values[0];
    }
};

}  // namespace INFIMUM_NAMESPACE
