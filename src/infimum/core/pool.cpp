// Boxes that wait, the best first: their ends lie in slabs and stay there until the box is taken or dropped; then its place is
// used again. Bounds and places alone are looked through: the best are selected, nothing else is sorted or moved.
#include "pool.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "broken.h"
#include "codes.h"
#include "in_parallel.h"

namespace {

const int64_t SLAB_NUMBERS = 1 << 17;  // of a slab, unless it is of one box
const int64_t AHEAD = 16;              // boxes whose ends are fetched before they are copied
const int64_t PART = 4096;             // boxes that a thread copies at a time
const double INF = __builtin_huge_val();

class Pool {
    int64_t n_, rows_;  // of a slab
    std::vector<double> lower_;    // of each box, the oldest first
    std::vector<int64_t> place_;   // of its ends, in the slabs put one after the other
    std::vector<int64_t> free_;
    std::vector<std::unique_ptr<double[]>> slabs_;

  public:
    explicit Pool(int64_t n) : n_(n), rows_(std::max<int64_t>(1, SLAB_NUMBERS / (2 * n))) {}
    int64_t n() const { return n_; }
    int64_t count() const { return static_cast<int64_t>(lower_.size()); }
    double lowest() const {
        double found = INF;
        for (double x : lower_) found = x < found ? x : found;
        return found;
    }
    // Make room, so that the next `more` boxes are kept for sure.
    void reserve(int64_t more) {
        const size_t wanted = lower_.size() + static_cast<size_t>(more);
        enlarge(lower_, wanted);
        enlarge(place_, wanted);
        while (static_cast<int64_t>(free_.size()) < more) {
            enlarge(free_, (slabs_.size() + 1) * static_cast<size_t>(rows_));  // all of them may be free one day
            slabs_.emplace_back(new double[static_cast<size_t>(2 * n_ * rows_)]);
            const int64_t first = (static_cast<int64_t>(slabs_.size()) - 1) * rows_;
            for (int64_t i = rows_ - 1; i >= 0; i--) free_.push_back(first + i);
        }
    }
    // Keep boxes cut in two along a side each, whole where the number is not inside it: both halves keep the box's bound and
    // outer ends, and share the cut. First halves and whole boxes come first, in the order of the boxes, then the second ones.
    int64_t add_halves(const double *lo, const double *hi, const double *lower, const int64_t *side, const double *at,
                       int64_t given, int threads) {
        std::vector<int64_t> second(static_cast<size_t>(given), -1);
        reserve(2 * given);
        const int64_t first = this->count();
        for (int64_t k = 0; k < given; k++) new_place(lower[k]);
        int64_t cuts = 0;
        for (int64_t k = 0; k < given; k++) {
            const double low = lo[k * n_ + side[k]], high = hi[k * n_ + side[k]];
            if (!(low < at[k] && at[k] < high) || BROKEN(32)) continue;
            second[static_cast<size_t>(k)] = this->count();
            new_place(BROKEN(33) ? -INF : lower[k]);
            cuts++;
        }
        by_parts(given, threads, [&](int64_t k) {
            double *one = row(place_[static_cast<size_t>(first + k)]);
            put(one, lo + k * n_, hi + k * n_);
            const int64_t other = second[static_cast<size_t>(k)];
            if (other < 0) return;
            double *two = row(place_[static_cast<size_t>(other)]);
            put(two, lo + k * n_, hi + k * n_);
            one[n_ + side[k]] = two[side[k]] = at[k];
        });
        return cuts;
    }
    void add(const double *lo, const double *hi, const double *lower, int64_t given, int threads) {
        reserve(given);
        const int64_t first = this->count();
        for (int64_t k = 0; k < given; k++) new_place(lower[k]);
        by_parts(given, threads, [&](int64_t k) { put(row(place_[static_cast<size_t>(first + k)]), lo + k * n_, hi + k * n_); });
    }
    // Remove up to `most` boxes, those with the smallest bounds, of equal ones the oldest, and write them down, best first.
    int64_t take(int64_t most, double *lo, double *hi, double *lower, int threads) {
        std::vector<int64_t> best = smallest(most), places;
        places.reserve(best.size());
        for (int64_t at : best) {
            *lower++ = lower_[static_cast<size_t>(at)];
            places.push_back(place_[static_cast<size_t>(at)]);
        }
        read(places, lo, hi, threads);
        std::vector<bool> gone(lower_.size());
        for (int64_t at : best) gone[static_cast<size_t>(at)] = true;
        if (BROKEN(40) && !gone.empty()) gone.back() = true;
        keep([&](int64_t at) { return !gone[static_cast<size_t>(at)]; });
        return static_cast<int64_t>(places.size());
    }
    void drop_above(double upper) {
        keep([&](int64_t at) {
            const double own = lower_[static_cast<size_t>(at)];
            return !(own > upper || (BROKEN(30) && own == upper));
        });
    }
    // Write down the ends of places, or of all boxes whose bound is at most `upper` from the at-th on, up to `most` of them.
    void read(const std::vector<int64_t> &places, double *lo, double *hi, int threads) const {
        const int64_t count = static_cast<int64_t>(places.size());
        by_parts(count, threads, [&](int64_t k) {
            if (k + AHEAD < count) fetch(places[static_cast<size_t>(k + AHEAD)]);
            const double *from = row(places[static_cast<size_t>(k)]);
            std::memcpy(lo + k * n_, from, bytes());
            std::memcpy(hi + k * n_, from + n_, bytes());
        });
    }
    int64_t read_up_to(double upper, int64_t &at, int64_t most, double *lo, double *hi, double *lower) const {
        std::vector<int64_t> places;
        for (; at < count() && static_cast<int64_t>(places.size()) < most; at++)
            if (lower_[static_cast<size_t>(at)] <= upper) {
                lower[places.size()] = lower_[static_cast<size_t>(at)];
                places.push_back(place_[static_cast<size_t>(at)]);
            }
        read(places, lo, hi, 1);
        return static_cast<int64_t>(places.size());
    }
    int64_t count_up_to(double upper) const {
        int64_t found = 0;
        for (double x : lower_) found += x <= upper;
        return found;
    }

  private:
    template <class Number>
    static void enlarge(std::vector<Number> &numbers, size_t wanted) {
        if (numbers.capacity() < wanted) numbers.reserve(std::max(wanted, 2 * numbers.capacity()));
    }
    size_t bytes() const { return static_cast<size_t>(n_) * sizeof(double); }
    double *row(int64_t place) const { return slabs_[static_cast<size_t>(place / rows_)].get() + place % rows_ * 2 * n_; }
    void fetch(int64_t place) const {
        const char *from = reinterpret_cast<const char *>(row(place));
        for (int64_t at = 0; at < std::min<int64_t>(16 * n_, 512); at += 64) __builtin_prefetch(from + at);
    }
    // A place for a box, among the room that was made. A bound that is no number says nothing.
    void new_place(double lower) {
        place_.push_back(free_.back());
        free_.pop_back();
        lower_.push_back(lower == lower || BROKEN(41) ? lower : -INF);
    }
    void put(double *to, const double *lo, const double *hi) const {
        std::memcpy(to, lo, bytes());
        std::memcpy(to + n_, hi, bytes());
    }
    // Call work(k) for every box, parts of them on threads where they are many.
    template <class Work>
    static void by_parts(int64_t count, int threads, const Work &work) {
        const int64_t parts = (count + PART - 1) / PART;
        in_parallel(threads, parts, [&](int, int64_t part) {
            for (int64_t k = part * PART; k < std::min(count, (part + 1) * PART); k++) work(k);
        });
    }
    // Keep the boxes that are wanted, in their order; the places of the others are free. This takes no memory.
    template <class Wanted>
    void keep(const Wanted &wanted) {
        const int64_t all = count();
        int64_t first = 0, left;
        while (first < all && wanted(first)) first++;
        if (first == all) return;
        left = first;
        free_.push_back(place_[static_cast<size_t>(first)]);
        for (int64_t at = first + 1; at < all; at++) {
            if (wanted(at)) {
                lower_[static_cast<size_t>(left)] = lower_[static_cast<size_t>(at)];
                place_[static_cast<size_t>(left++)] = place_[static_cast<size_t>(at)];
                if (BROKEN(39) && left == 1) free_.back() = place_[0];
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
    // Where up to `most` bounds are smallest, in rising order; of equal ones the first. They are put into buckets of equal
    // width, the lowest buckets are sorted: each has a few.
    std::vector<int64_t> smallest(int64_t most) const {
        typedef std::pair<double, int64_t> Bound;
        std::vector<int64_t> found;
        if (most <= 0 || lower_.empty()) return found;
        const Buckets buckets(lower_);
        std::vector<int64_t> first(static_cast<size_t>(Buckets::COUNT) + 1);
        for (double x : lower_) first[static_cast<size_t>(buckets.of(x)) + 1]++;
        int64_t last = 0;  // bucket, of those that are looked at
        for (int64_t k = 0; k < Buckets::COUNT; k++) {
            first[static_cast<size_t>(k) + 1] += first[static_cast<size_t>(k)];
            if (first[static_cast<size_t>(k)] < most) last = k;
        }
        std::vector<Bound> some(static_cast<size_t>(first[static_cast<size_t>(last) + 1]));
        std::vector<int64_t> next(first);
        for (int64_t i = 0; i < count(); i++) {
            const double x = lower_[static_cast<size_t>(i)];
            const int64_t bucket = buckets.of(x);
            if (bucket <= last) some[static_cast<size_t>(next[static_cast<size_t>(bucket)]++)] = {x, i};
        }
        const int64_t wanted = std::min(most, count());
        for (int64_t k = 0; k <= last; k++) {
            const auto from = some.begin() + first[static_cast<size_t>(k)], to = some.begin() + first[static_cast<size_t>(k) + 1];
            if (std::is_sorted(from, to) || BROKEN(46)) continue;  // as equal bounds are
            if (to - some.begin() > wanted) std::nth_element(from, some.begin() + wanted, to);
            std::sort(from, std::min(to, some.begin() + wanted));
        }
        found.reserve(static_cast<size_t>(wanted));
        for (int64_t k = 0; k < wanted; k++) found.push_back(some[static_cast<size_t>(k)].second);
        return found;
    }
    // Buckets of equal width over the finite bounds, one below for -inf and one above for +inf.
    struct Buckets {
        enum { COUNT = 8192 };
        double low = INF, high = -INF, scale = 0.0;
        explicit Buckets(const std::vector<double> &bounds) {
            for (double x : bounds) {
                if (x - x != 0.0) continue;
                low = x < low ? x : low;
                high = x > high ? x : high;
            }
            const double width = high - low;
            if (width > 0.0 && width < INF) scale = (COUNT - 3) / width;
        }
        int64_t of(double x) const {
            if (x - x != 0.0) return x < 0.0 ? 0 : COUNT - 1;
            const double at = (x - low) * scale;
            return 1 + static_cast<int64_t>(at < COUNT - 3 ? at : COUNT - 3);
        }
    };
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

// Boxes are (count, n) and (count), row-major.
int infimum_pool_add(void *made, int64_t count, const double *lo, const double *hi, const double *lower, int threads) {
    return safely([&] { pool_of(made).add(lo, hi, lower, count, threads); });
}
// Add each box cut in two: first halves and whole boxes in their order, then the second halves. Returns how many boxes there
// are more than given in *cuts.
int infimum_pool_add_halves(void *made, int64_t count, const double *lo, const double *hi, const double *lower,
                            const int64_t *side, const double *at, int64_t *cuts, int threads) {
    Pool &pool = pool_of(made);
    for (int64_t k = 0; k < count; k++)
        if (side[k] < 0 || side[k] >= pool.n()) return INFIMUM_BAD_SIZES;
    return safely([&] { *cuts = pool.add_halves(lo, hi, lower, side, at, count, threads); });
}
// Take the best boxes out; *taken of them.
int infimum_pool_take(void *made, int64_t most, double *lo, double *hi, double *lower, int64_t *taken, int threads) {
    return safely([&] { *taken = pool_of(made).take(most, lo, hi, lower, threads); });
}
// Write down boxes whose bound is at most `upper`, the oldest first, from the *at-th of all on; *read of them.
int infimum_pool_read(void *made, double upper, int64_t *at, int64_t most, double *lo, double *hi, double *lower, int64_t *read) {
    return safely([&] { *read = pool_of(made).read_up_to(upper, *at, most, lo, hi, lower); });
}
}
