// Regions as a tree of deltas, and one working box that moves along its edges.
//
// A region that was split keeps its parent, which child of it it is, and the edges of its own parts; the first and the last
// edge are the region's own ends, so that they also lead back up. A box has the same bits by whatever path it is reached.
#pragma once
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "rows.h"

namespace INFIMUM_NAMESPACE {

struct Split {
    std::vector<int32_t> variables;
    std::vector<double> edges;  // (variables, parts + 1)
    int parts = 0;

    int64_t count() const { return static_cast<int64_t>(variables.size()); }
    const double *edges_of(int64_t position) const { return edges.data() + position * (parts + 1); }
    void digits_of(int64_t index, int *digits) const {
        for (int64_t p = 0; p < count(); p++, index /= parts) digits[p] = static_cast<int>(index % parts);
    }
};

// Append the ends of equal parts of a range; never decreasing, the first and the last its own, infinity no other's.
inline void put_equal_parts(double lo, double hi, int parts, std::vector<double> &edges) {
    const double first = lo < -INFIMUM_MAX ? -INFIMUM_MAX : lo, last = hi > INFIMUM_MAX ? INFIMUM_MAX : hi;
    const double middle = clipped(at_fraction(lo, hi, 0.5), first, last);
    const size_t begin = edges.size() + 1;
    edges.push_back(lo);
    bool cuts = false;
    for (int k = 1; k < parts; k++) {
        const double at = clipped(at_fraction(lo, hi, static_cast<double>(k) / parts), first, last);
        cuts = cuts || (at > lo && at < hi);
        edges.push_back(at);
    }
    double *inner = edges.data() + begin;
    for (int k = 0; k < parts - 1 && !cuts; k++) inner[k] = middle;
    std::sort(inner, inner + parts - 1);
    edges.push_back(hi);
}

struct Region {
    int64_t parent, index, depth;  // child number `index` of its parent
    Split split;
};

// The box at which the search works. Guarantee: `stale` names every variable that differs from when it was last cleared.
class Box {
    std::vector<unsigned char> is_stale_;
    std::vector<double> widths_;  // wanted ones; empty: none
    std::vector<double> known_lo_, known_hi_;
    bool is_known_ = false;

  public:
    int64_t n;
    std::vector<double> lo, hi, inner_lo, inner_hi;
    std::vector<int64_t> stale;
    int64_t wide = 0, open = 0;  // variables wider than wanted, variables that have a number between their ends
    int64_t moves = 0;           // grows whenever an end changes

    Box(int64_t size, const double *low, const double *high, const double *inner_low, const double *inner_high,
        const double *widths)
        : is_stale_(static_cast<size_t>(size), 1), n(size), lo(low, low + size), hi(high, high + size),
          inner_lo(inner_low, inner_low + size), inner_hi(inner_high, inner_high + size) {
        if (widths) widths_.assign(widths, widths + size);
        for (int64_t v = 0; v < n; v++) {
            stale.push_back(v);
            count(v, 1);
        }
    }
    void set(int64_t v, double low, double high) {
        if (lo[v] == low && hi[v] == high) return;
        count(v, -1);
        moves++;
        lo[v] = low;
        hi[v] = high;
        count(v, 1);
        if (is_stale_[v] || BROKEN(8)) return;
        is_stale_[v] = 1;
        stale.push_back(v);
    }
    // Leave out what has come back to what it was when stale variables were last cleared.
    void settle() {
        size_t kept = 0;
        for (const int64_t v : stale) {
            is_stale_[v] = !(is_known_ && lo[v] == known_lo_[v] && hi[v] == known_hi_[v]);
            if (is_stale_[v]) stale[kept++] = v;
        }
        stale.resize(kept);
    }
    void forget() {
        is_known_ = false;
        for (int64_t v = 0; v < n; v++) {
            if (!is_stale_[v]) stale.push_back(v);
            is_stale_[v] = 1;
        }
    }
    void clear_stale() {
        if (!is_known_) {
            known_lo_ = lo;
            known_hi_ = hi;
            is_known_ = true;
        }
        for (const int64_t v : stale) {
            is_stale_[v] = 0;
            known_lo_[v] = lo[v];
            known_hi_[v] = hi[v];
        }
        stale.clear();
    }
    double sample(int64_t v, double low, double high, double fraction) const {
        return sample_in({low, high}, fraction, inner_lo[v], inner_hi[v]);
    }
    double sample(int64_t v, double fraction) const { return sample(v, lo[v], hi[v], fraction); }
    bool has_inner(int64_t v) const { return above(lo[v]) < hi[v]; }  // a number between the ends

  private:
    //   nothing to split     fewer than two numbers between the ends
    //   wide                 not narrower than wanted, and not of that kind; an infinite wanted width is no demand
    void count(int64_t v, int64_t change) {
        const double next = above(lo[v]);
        const bool stuck = !(next < hi[v]) || !(above(next) < hi[v]);
        if (!stuck) open += change;
        if (widths_.empty()) return;
        const bool narrow = hi[v] - lo[v] < widths_[v] || widths_[v] == INFIMUM_INF || stuck;
        if (!narrow) wide += change;
    }
    // The next double towards +inf.
    static double above(double x) {
        if (x == INFIMUM_INF) return x;
        if (x == 0) return INFIMUM_TINY;
        int64_t bits;
        std::memcpy(&bits, &x, 8);
        bits += x > 0 ? 1 : -1;
        std::memcpy(&x, &bits, 8);
        return x;
    }
};

class Regions {
    std::vector<Region> regions_;
    Box &box_;
    // The box is child `index_` of region `at_` by its first `depth_` digits, or that region; -1: the domain.
    int64_t at_ = -1, index_ = -1, depth_ = 0;

  public:
    explicit Regions(Box &box) : box_(box) {}
    int64_t size() const { return static_cast<int64_t>(regions_.size()); }
    const Region &operator[](int64_t id) const { return regions_[id]; }

    // Split what the box is: the domain, or a child.
    int64_t split(Split s) {
        if (at_ >= 0 && index_ < 0) throw std::logic_error("a region is split once");
        regions_.push_back({at_, index_, at_ < 0 ? 0 : regions_[at_].depth + 1, std::move(s)});
        at_ = size() - 1;
        index_ = -1;
        return at_;
    }
    // The box becomes region `id`, or its child `index` where that is not negative; only the first `depth` digits count.
    void go(int64_t id, int64_t index, int64_t depth) {
        if (index >= 0 && id == at_ && index == index_ && depth == depth_) return;
        leave_child();
        std::vector<int64_t> down;
        int64_t target = id;
        while (at_ != target) {
            const int64_t from = at_ < 0 ? -1 : regions_[at_].depth, to = target < 0 ? -1 : regions_[target].depth;
            if (to >= from && target >= 0) {
                down.push_back(target);
                target = regions_[target].parent;
            }
            if (from >= to && at_ >= 0) {
                at_ = regions_[at_].parent;
                if (at_ >= 0 && !BROKEN(9)) widen(regions_[at_].split);
            }
        }
        for (size_t i = down.size(); i-- > 0;) {
            const Region &r = regions_[down[i]];
            if (r.parent >= 0) narrow(regions_[r.parent].split, r.index, regions_[r.parent].split.count());
            at_ = down[i];
        }
        if (index < 0) return;
        narrow(regions_[at_].split, index, depth);
        index_ = index;
        depth_ = depth;
    }

  private:
    void leave_child() {
        if (index_ >= 0) widen(regions_[at_].split);
        index_ = -1;
    }
    void widen(const Split &s) {
        for (int64_t p = 0; p < s.count(); p++) box_.set(s.variables[p], s.edges_of(p)[0], s.edges_of(p)[s.parts]);
    }
    void narrow(const Split &s, int64_t index, int64_t depth) {
        for (int64_t p = 0; p < depth && p < s.count(); p++, index /= s.parts) {
            const double *edges = s.edges_of(p) + index % s.parts;
            box_.set(s.variables[p], edges[0], edges[1]);
        }
    }
};

}  // namespace INFIMUM_NAMESPACE
