// Boxes that wait, the best first: their ends lie in slabs and stay there until the box is taken or dropped; then its place is
// used again. Bounds and places alone are looked through: the best are selected, nothing else is sorted or moved.
#include "pool.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "broken.h"
#include "codes.h"

namespace {

const int64_t SLAB_NUMBERS = 1 << 17;  // of a slab, unless it is of one box
const int64_t AHEAD = 16;              // boxes whose ends are fetched before they are copied
const double INF = __builtin_huge_val();

class Pool {
    int64_t n_, rows_;  // of a slab
    std::vector<double> lower_;    // of each box, the oldest first
    std::vector<int64_t> place_;   // of its ends, in the slabs put one after the other
    std::vector<int64_t> free_;
    std::vector<std::unique_ptr<double[]>> slabs_;

  public:
    explicit Pool(int64_t n) : n_(n), rows_(std::max<int64_t>(1, SLAB_NUMBERS / (2 * n))) {}
    int64_t count() const { return static_cast<int64_t>(lower_.size()); }
    double lowest() const {
        double found = INF;
        for (double x : lower_) found = x < found ? x : found;
        return found;
    }
    // Keep a box. A bound that is no number says nothing.
    void add(const double *lo, const double *hi, double lower) {
        double *to = row(new_place());
        std::memcpy(to, lo, bytes());
        std::memcpy(to + n_, hi, bytes());
        lower_.push_back(lower == lower ? lower : -INF);
    }
    // Make room, so that the next `more` boxes are kept for sure.
    void reserve(int64_t more) {
        const size_t wanted = lower_.size() + static_cast<size_t>(more);
        if (lower_.capacity() < wanted) {
            lower_.reserve(std::max(wanted, 2 * lower_.capacity()));
            place_.reserve(std::max(wanted, 2 * place_.capacity()));
        }
        while (static_cast<int64_t>(free_.size()) < more) {
            free_.reserve(free_.size() + static_cast<size_t>(rows_));
            slabs_.emplace_back(new double[static_cast<size_t>(2 * n_ * rows_)]);
            const int64_t first = (static_cast<int64_t>(slabs_.size()) - 1) * rows_;
            for (int64_t i = rows_ - 1; i >= 0; i--) free_.push_back(first + i);
        }
    }
    // Add a box cut in two at a number on one side, or whole where that number is not inside: both halves keep its bound and
    // share the cut. The second half is added by `rest`, after the first halves of all.
    void add_first(const double *lo, const double *hi, double lower, int64_t side, double at) {
        add(lo, hi, lower);
        if (lo[side] < at && at < hi[side]) row(place_.back())[n_ + side] = at;
    }
    bool add_second(const double *lo, const double *hi, double lower, int64_t side, double at) {
        if (!(lo[side] < at && at < hi[side]) || BROKEN(32)) return false;
        add(lo, hi, BROKEN(33) ? -INF : lower);
        row(place_.back())[side] = at;
        return true;
    }
    // Remove up to `most` boxes, those with the smallest bounds, of equal ones the oldest, and write them down, best first.
    int64_t take(int64_t most, double *lo, double *hi, double *lower) {
        std::vector<int64_t> best = smallest(most), places;
        places.reserve(best.size());
        for (int64_t at : best) {
            *lower++ = lower_[static_cast<size_t>(at)];
            places.push_back(place_[static_cast<size_t>(at)]);
        }
        read(places, lo, hi);
        std::sort(best.begin(), best.end());
        size_t next = 0;
        keep([&](int64_t at) {
            if (next == best.size() || best[next] != at) return true;
            next++;
            return false;
        });
        return static_cast<int64_t>(places.size());
    }
    void drop_above(double upper) {
        keep([&](int64_t at) {
            const double own = lower_[static_cast<size_t>(at)];
            return !(own > upper || (BROKEN(30) && own == upper));
        });
    }
    // Write down the ends of places, or of all boxes whose bound is at most `upper` from the at-th on, up to `most` of them.
    void read(const std::vector<int64_t> &places, double *lo, double *hi) const {
        const int64_t count = static_cast<int64_t>(places.size());
        for (int64_t k = 0; k < count; k++) {
            if (k + AHEAD < count) fetch(places[static_cast<size_t>(k + AHEAD)]);
            const double *from = row(places[static_cast<size_t>(k)]);
            std::memcpy(lo + k * n_, from, bytes());
            std::memcpy(hi + k * n_, from + n_, bytes());
        }
    }
    int64_t read_up_to(double upper, int64_t &at, int64_t most, double *lo, double *hi, double *lower) const {
        std::vector<int64_t> places;
        for (; at < count() && static_cast<int64_t>(places.size()) < most; at++)
            if (lower_[static_cast<size_t>(at)] <= upper) {
                lower[places.size()] = lower_[static_cast<size_t>(at)];
                places.push_back(place_[static_cast<size_t>(at)]);
            }
        read(places, lo, hi);
        return static_cast<int64_t>(places.size());
    }
    int64_t count_up_to(double upper) const {
        int64_t found = 0;
        for (double x : lower_) found += x <= upper;
        return found;
    }

  private:
    size_t bytes() const { return static_cast<size_t>(n_) * sizeof(double); }
    double *row(int64_t place) const { return slabs_[static_cast<size_t>(place / rows_)].get() + place % rows_ * 2 * n_; }
    void fetch(int64_t place) const {
        const char *from = reinterpret_cast<const char *>(row(place));
        for (int64_t at = 0; at < std::min<int64_t>(16 * n_, 512); at += 64) __builtin_prefetch(from + at);
    }
    int64_t new_place() {
        const int64_t found = free_.back();
        free_.pop_back();
        place_.push_back(found);
        return found;
    }
    // Keep the boxes that are wanted, in their order; the places of the others are free.
    template <class Wanted>
    void keep(const Wanted &wanted) {
        const int64_t all = count();
        int64_t first = 0, left;
        while (first < all && wanted(first)) first++;
        if (first == all) return;
        if (free_.capacity() < free_.size() + static_cast<size_t>(all)) free_.reserve(2 * (free_.size() + static_cast<size_t>(all)));
        left = first;
        free_.push_back(place_[static_cast<size_t>(first)]);
        for (int64_t at = first + 1; at < all; at++) {
            if (wanted(at)) {
                lower_[static_cast<size_t>(left)] = lower_[static_cast<size_t>(at)];
                place_[static_cast<size_t>(left++)] = place_[static_cast<size_t>(at)];
            } else {
                free_.push_back(place_[static_cast<size_t>(at)]);
            }
        }
        lower_.resize(static_cast<size_t>(left));
        place_.resize(static_cast<size_t>(left));
        if (lower_.empty()) clear();
    }
    void clear() {
        std::vector<double>().swap(lower_);
        std::vector<int64_t>().swap(place_);
        std::vector<int64_t>().swap(free_);
        slabs_.clear();
    }
    // Where up to `most` bounds are smallest, in rising order; of equal ones the first.
    std::vector<int64_t> smallest(int64_t most) const {
        const auto less = [&](int64_t a, int64_t b) {
            const double x = lower_[static_cast<size_t>(a)], y = lower_[static_cast<size_t>(b)];
            return x < y || (x == y && a < b);
        };
        std::vector<int64_t> found;
        if (most <= 0) return found;
        if (most >= count()) {
            for (int64_t i = 0; i < count(); i++) found.push_back(i);
        } else {
            const double pivot = pivot_of(most);
            int64_t ties = most;
            for (double x : lower_) ties -= x < pivot;
            found.reserve(static_cast<size_t>(most));
            for (int64_t i = 0; i < count(); i++) {
                const double x = lower_[static_cast<size_t>(i)];
                if (x < pivot || (x == pivot && ties-- > 0)) found.push_back(i);
            }
        }
        std::sort(found.begin(), found.end(), less);
        return found;
    }
    // The most-th smallest bound: found in the bucket that it falls into, of buckets of equal width.
    double pivot_of(int64_t most) const {
        double low = INF, high = -INF;
        for (double x : lower_) {
            if (x - x != 0.0) continue;
            low = x < low ? x : low;
            high = x > high ? x : high;
        }
        const int64_t buckets = 4096;
        const double scale = static_cast<double>(buckets - 2) / (high - low);
        const auto bucket_of = [&](double x) -> int64_t {
            if (x == -INF) return 0;
            if (x == INF) return buckets - 1;
            const double at = (x - low) * scale;
            return 1 + (at > 0.0 ? static_cast<int64_t>(std::min(at, static_cast<double>(buckets - 3))) : 0);
        };
        std::vector<int64_t> sizes(static_cast<size_t>(buckets));
        for (double x : lower_) sizes[static_cast<size_t>(bucket_of(x))]++;
        int64_t bucket = 0, before = 0;
        while (before + sizes[static_cast<size_t>(bucket)] < most) before += sizes[static_cast<size_t>(bucket++)];
        std::vector<double> own;
        for (double x : lower_)
            if (bucket_of(x) == bucket) own.push_back(x);
        const auto at = own.begin() + (most - before - 1);
        std::nth_element(own.begin(), at, own.end());
        return *at;
    }
};

Pool &pool_of(void *made) { return *static_cast<Pool *>(made); }

template <class Work>
int safely(const Work &work) {
    try {
        work();
        return INFIMUM_OK;
    } catch (const std::bad_alloc &) {
        return INFIMUM_NO_MEMORY;
    }
}

}  // namespace

extern "C" {

void *infimum_pool_make(int64_t n) { return new (std::nothrow) Pool(n); }
void infimum_pool_free(void *made) { delete static_cast<Pool *>(made); }
int64_t infimum_pool_count(void *made) { return pool_of(made).count(); }
double infimum_pool_lowest(void *made) { return pool_of(made).lowest(); }
void infimum_pool_drop_above(void *made, double upper) { pool_of(made).drop_above(upper); }
int64_t infimum_pool_count_up_to(void *made, double upper) { return pool_of(made).count_up_to(upper); }

// Boxes are (count, n) and (count), row-major; `step` doubles from one box to the next.
int infimum_pool_add(void *made, int64_t count, int64_t n, const double *lo, const double *hi, const double *lower) {
    return safely([&] {
        Pool &pool = pool_of(made);
        pool.reserve(count);
        for (int64_t k = 0; k < count; k++) pool.add(lo + k * n, hi + k * n, lower[k]);
    });
}
// Add each box cut in two: first halves and whole boxes in their order, then the second halves. Returns how many boxes there
// are more than given in *cuts.
int infimum_pool_add_halves(void *made, int64_t count, int64_t n, const double *lo, const double *hi, const double *lower,
                            const int64_t *side, const double *at, int64_t *cuts) {
    return safely([&] {
        Pool &pool = pool_of(made);
        pool.reserve(2 * count);
        for (int64_t k = 0; k < count; k++) pool.add_first(lo + k * n, hi + k * n, lower[k], side[k], at[k]);
        *cuts = 0;
        for (int64_t k = 0; k < count; k++) *cuts += pool.add_second(lo + k * n, hi + k * n, lower[k], side[k], at[k]);
    });
}
// Take the best boxes out; *taken of them.
int infimum_pool_take(void *made, int64_t most, double *lo, double *hi, double *lower, int64_t *taken) {
    return safely([&] { *taken = pool_of(made).take(most, lo, hi, lower); });
}
// Write down boxes whose bound is at most `upper`, the oldest first, from the *at-th of all on; *read of them.
int infimum_pool_read(void *made, double upper, int64_t *at, int64_t most, double *lo, double *hi, double *lower, int64_t *read) {
    return safely([&] { *read = pool_of(made).read_up_to(upper, *at, most, lo, hi, lower); });
}
}
