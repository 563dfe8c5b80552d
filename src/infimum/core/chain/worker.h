// One worker of a chain: a block of boxes in columns, and what each link does to it.
//
// Side i of the block's box w lies at lo[i*width + w]. A link works on the boxes that are left, as many at a time as its
// Program takes: they are gathered, the Program runs, a rule (rules.h) says what follows, and that goes back to their columns.
#pragma once
#include <algorithm>
#include <chrono>
#include <memory>

#include "spec.h"
#include "programs.h"

namespace {

typedef std::vector<int64_t> Lanes;  // numbers of boxes of the block, rising

const double TAKEN_UNIT = 4294967296.0;  // 2^32

// The points with the smallest values, of equal ones the first; those that are no number are none.
struct Best {
    int64_t n, count;
    std::vector<double> values, points;  // (count), (count, n)
    Best(int64_t n_, int64_t count_)
        : n(n_), count(count_), values(static_cast<size_t>(count_), INFIMUM_INF), points(static_cast<size_t>(n_ * count_)) {}
    // Coordinate i lies at from[i * pitch].
    void offer(double value, const double *from, int64_t pitch) {
        if (count == 0 || !(value < values[count - 1])) return;
        for (int64_t i = 0; i < n; i++)
            if (!is_number(from[i * pitch])) return;
        int64_t place = count - 1;
        for (; place > 0 && value < values[place - 1]; place--) {
            values[place] = values[place - 1];
            std::copy(points.begin() + (place - 1) * n, points.begin() + place * n, points.begin() + place * n);
        }
        values[place] = value;
        for (int64_t i = 0; i < n; i++) points[place * n + i] = from[i * pitch];
    }
};
// What ends a run before its time: a status, and what belongs to it (infimum_chain_job).
struct Stopped {
    int status;
    int64_t which;
    double wrong[6];
};

struct Flags {
    std::vector<unsigned char> of;
    unsigned char *fit(int64_t count) {
        if (static_cast<int64_t>(of.size()) < count) of.resize(static_cast<size_t>(count));
        return of.data();
    }
};

class Worker {
    const infimum_chain chain_;  // as it was when the worker was made: others may provide programs meanwhile
    int64_t n_, width_, group_;  // boxes of a block; of a group, at most
    int threads_;                // on the tiles of a single box
    std::vector<std::unique_ptr<OwnProgram>> programs_;
    std::vector<Workspace> spaces_;
    Buffer memory_, columns_, group_memory_;
    Sides x_, slope_, start_;                     // of the block; start_: as a link found it
    Sides after_, other_, third_;                 // of a group
    double *lower_, *limit_, *gone_, *part_, *value_lo_, *value_hi_, *group_lower_, *group_limit_, *group_gone_;
    Flags known_, nothing_, marked_, apart_, inner_;
    Lanes left_, active_, next_;
    std::chrono::steady_clock::time_point moment_;
    bool is_timed_ = false;

  public:
    std::vector<int64_t> taken;
    int64_t evaluated = 0;

    Worker(const infimum_chain &chain, const std::vector<const infimum_program *> &programs, Stage stage, int64_t width,
           int threads)
        : chain_(chain), n_(chain.n), width_(width), group_(0), threads_(threads), spaces_(static_cast<size_t>(threads)),
          taken(static_cast<size_t>(chain.link_count)) {
        int64_t most_memory = 0;
        for (const infimum_program *program : programs) {
            const bool point = static_cast<int64_t>(programs_.size()) == chain_.point;
            programs_.emplace_back(program ? new OwnProgram(program, stage, point, width, threads) : nullptr);
            if (!program) continue;
            most_memory = most(most_memory, programs_.back()->size());
            group_ = most(group_, programs_.back()->most());
        }
        double *start = memory_.reserve(most_memory);
        for (auto &p : programs_)
            if (p) p->lay_out(start);
        group_ = most(group_, 1);
        const int64_t of_block = n_ * width_ + 8, of_group = n_ * group_ + 8;
        double *next = columns_.reserve(6 * of_block + 3 * (width_ + 8));
        for (Sides *sides : {&x_, &slope_, &start_}) *sides = sides_at(next, of_block, width_);
        for (double **vector : {&lower_, &limit_, &gone_}) *vector = taken_from(next, width_ + 8);
        next = group_memory_.reserve(6 * of_group + most(of_group, of_block) + 6 * (group_ + 8));
        for (Sides *sides : {&after_, &other_, &third_}) *sides = sides_at(next, of_group, group_);
        part_ = taken_from(next, most(of_group, of_block));
        for (double **vector : {&value_lo_, &value_hi_, &group_lower_, &group_limit_, &group_gone_}) *vector = taken_from(next, group_ + 8);
    }
    Worker(const Worker &) = delete;

    // Nothing is counted yet, and there are so many seconds.
    void begin(double seconds) {
        evaluated = 0;
        std::fill(taken.begin(), taken.end(), 0);
        typedef std::chrono::steady_clock Clock;
        is_timed_ = seconds < 1e9;
        if (is_timed_) moment_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    }
    // Take boxes [first, first + count) through all links; write down what is left from row `first` on, and return how many.
    int64_t run(infimum_chain_job &of, int64_t first, int64_t count) {
        read(of, first, count);
        for (int64_t i = 0; i < chain_.link_count; i++) {
            if (left_.empty()) break;
            remember();
            apply(chain_.links[i]);
            count_taken(i, of.upper, of.keeping);
        }
        return write(of, first, count);
    }

    // Choose cuts for boxes [first, first + count); `match`: the row of each among those whose slopes are known, or -1.
    void cut(const infimum_cut_job &of, const int64_t *match, int64_t first, int64_t count) {
        left_.clear();
        for (int64_t w = 0; w < count; w++) left_.push_back(w);
        read_boxes(of.in_lo, of.in_hi, first, count);
        const bool sloped = chain_.gradient >= 0;
        for (int64_t w = 0; w < count && sloped; w++) {
            const int64_t row = match[first + w];
            if (row < 0) continue;
            for (int64_t i = 0; i < n_; i++) {
                slope_.lo[i * width_ + w] = of.slope_lo[row * n_ + i];
                slope_.hi[i * width_ + w] = of.slope_hi[row * n_ + i];
            }
            known_.of[w] = INFIMUM_CHAIN_HAS_SLOPE;
        }
        if (sloped) know_slopes(left_);
        const Sides slopes = sloped ? slope_ : Sides{nullptr, nullptr, width_};
        for (int64_t w = 0; w < count; w++) {
            const double *hint = of.hints ? of.hints + (first + w) * n_ : nullptr;
            of.variable[first + w] = cut_of(x_, slopes, hint, {of.widths, of.stepped}, n_, w, part_, of.place + first + w);
        }
    }

    // Look at boxes [first, first + count), and merge their middles into the best so far (chain.cpp).
    void look(const infimum_look_job &of, Best &best, int64_t first, int64_t count) {
        left_.clear();
        for (int64_t w = 0; w < count; w++) left_.push_back(w);
        read_boxes(of.in_lo, of.in_hi, first, count);
        by_groups(left_, program(chain_.point).most(), [&](const int64_t *some, int64_t boxes) {
            const Sides at = program(chain_.point).input(boxes);
            after_.pitch = boxes;
            for (int64_t k = 0; k < boxes; k++) {
                unsigned char seen = 0;
                for (int64_t i = 0; i < n_; i++) {
                    const double low = lo(i, some[k]), high = hi(i, some[k]), middle = at_fraction(low, high, 0.5);
                    if (low < middle && middle < high)
                        seen |= INFIMUM_CHAIN_CAN_BE_CUT | (of.widths && is_wide(low, high, of.widths[i]) ? INFIMUM_CHAIN_IS_WIDE : 0);
                    after_.lo[i * boxes + k] = clipped(middle, of.least[i], of.most[i]);
                }
                of.looks[first + some[k]] = seen;
            }
            if (at.lo) std::memcpy(at.lo, after_.lo, static_cast<size_t>(n_ * boxes) * sizeof(double));
            run_program(chain_.point, boxes);
            take_number(chain_.point, 0, boxes, value_lo_, value_hi_);
            for (int64_t k = 0; k < boxes; k++) best.offer(value_lo_[k], after_.lo + k, boxes);
        });
    }

  private:
    static Sides sides_at(double *&next, int64_t room, int64_t pitch) {
        double *lo = taken_from(next, room), *hi = taken_from(next, room);
        return {lo, hi, pitch};
    }
    static double *taken_from(double *&next, int64_t room) {
        double *found = next;
        next += room;
        return found;
    }
    double &lo(int64_t i, int64_t w) { return x_.lo[i * width_ + w]; }
    double &hi(int64_t i, int64_t w) { return x_.hi[i * width_ + w]; }
    bool is_empty(int64_t w) const {
        bool found = false;
        for (int64_t i = 0; i < n_; i++) found |= !(x_.lo[i * width_ + w] <= x_.hi[i * width_ + w]);
        return found;
    }

    // ------------------------------------------------------------------------------------------ a block comes and goes
    void read_boxes(const double *in_lo, const double *in_hi, int64_t first, int64_t count) {
        std::memset(known_.fit(width_), 0, static_cast<size_t>(width_));
        for (int64_t w = 0; w < count; w++) {
            const double *from_lo = in_lo + (first + w) * n_, *from_hi = in_hi + (first + w) * n_;
            for (int64_t i = 0; i < n_; i++) {
                lo(i, w) = from_lo[i];
                hi(i, w) = from_hi[i];
            }
        }
    }
    void read(const infimum_chain_job &of, int64_t first, int64_t count) {
        read_boxes(of.in_lo, of.in_hi, first, count);
        left_.clear();
        for (int64_t w = 0; w < count; w++) {
            lower_[w] = of.in_lower[first + w];
            limit_[w] = of.limit[BROKEN(35) ? first : first + w];
            left_.push_back(w);
        }
    }
    int64_t write(infimum_chain_job &of, int64_t first, int64_t count) {
        Lanes all;
        if (of.keeping != INFIMUM_CHAIN_KEEP_SOME)
            for (int64_t w = 0; w < count; w++) all.push_back(w);
        const Lanes &which = of.keeping == INFIMUM_CHAIN_KEEP_SOME ? left_ : all;
        int64_t row = BROKEN(36) ? 0 : first;
        if (BROKEN(34) && !left_.empty()) left_.pop_back();
        for (int64_t w : which) {
            double *to_lo = of.lo + row * n_, *to_hi = of.hi + row * n_;
            for (int64_t i = 0; i < n_; i++) {
                to_lo[i] = lo(i, w);
                to_hi[i] = hi(i, w);
            }
            if (known_.of[w] & INFIMUM_CHAIN_HAS_SLOPE && of.slope_lo)
                for (int64_t i = 0; i < n_; i++) {
                    of.slope_lo[row * n_ + i] = slope_.lo[i * width_ + w];
                    of.slope_hi[row * n_ + i] = slope_.hi[i * width_ + w];
                }
            of.lower[row] = is_empty(w) ? INFIMUM_INF : lower_[w];
            of.known[row] = known_.of[w];
            of.row[row] = first + w;
            row++;
        }
        return static_cast<int64_t>(which.size());
    }

    // ------------------------------------------------------------------------------------------ groups
    void ask() const {
        if (is_timed_ && std::chrono::steady_clock::now() >= moment_) throw Stopped{INFIMUM_LATE, -1, {}};
    }
    OwnProgram &program(int64_t number) const {
        if (!programs_[number]) throw Stopped{INFIMUM_NO_PROGRAM, number, {}};
        return *programs_[number];
    }
    void run_program(int64_t number, int64_t count) {
        ask();
        const int failed = program(number).run(spaces_.data(), threads_, count);
        if (failed) throw Stopped{failed, -1, {}};
    }
    // Call work(lanes, count) for the boxes in order, as many at a time as a program takes.
    template <class Work>
    void by_groups(const Lanes &lanes, int64_t most_boxes, const Work &work) {
        const int64_t all = static_cast<int64_t>(lanes.size()), size = least(most_boxes, group_);
        for (int64_t first = 0; first < all; first += size) work(lanes.data() + first, least(size, all - first));
    }
    void gather(const double *from, const int64_t *lanes, int64_t count, int64_t rows, double *to, int64_t pitch) const {
        const bool together = lanes[count - 1] - lanes[0] == count - 1 || BROKEN(38);
        for (int64_t i = 0; i < rows; i++) {
            const double *row = from + i * width_;
            if (together)
                std::memcpy(to + i * pitch, row + lanes[0], static_cast<size_t>(count) * sizeof(double));
            else
                for (int64_t k = 0; k < count; k++) to[i * pitch + k] = row[lanes[k]];
        }
    }
    void gather(Sides from, const int64_t *lanes, int64_t count, Sides to) const {
        gather(from.lo, lanes, count, n_, to.lo, to.pitch);
        gather(from.hi, lanes, count, n_, to.hi, to.pitch);
    }
    // The boxes themselves as the first n inputs of a program, and all of its inputs.
    Sides given(int64_t number, const int64_t *lanes, int64_t count) {
        const Sides in = program(number).input(count);
        if (in.lo) gather(x_, lanes, count, in);
        return in;
    }
    static Sides rows_from(Sides x, int64_t first) { return {x.lo + first * x.pitch, x.hi + first * x.pitch, x.pitch}; }
    // An output of n sides, to be changed.
    void take(int64_t number, int64_t output, int64_t count, Sides &to) {
        const Output found = program(number).output(output, count);
        to.pitch = count;
        for (int64_t i = 0; i < n_; i++)
            for (int64_t w = 0; w < count; w++) {
                to.lo[i * count + w] = found.lo(i, w) + 0.0;
                to.hi[i * count + w] = found.hi(i, w) + 0.0;
            }
    }
    void take_number(int64_t number, int64_t output, int64_t count, double *to_lo, double *to_hi) {
        const Output found = program(number).output(output, count);
        for (int64_t w = 0; w < count; w++) {
            to_lo[w] = found.lo(0, w);
            to_hi[w] = found.hi(0, w);
        }
    }
    // Put a group back; what was known of boxes that have changed is forgotten.
    void put(Sides from, const int64_t *lanes, int64_t count) {
        unsigned char *changed = marked_.fit(group_);
        for (int64_t k = 0; k < count; k++) changed[k] = 0;
        for (int64_t i = 0; i < n_; i++)
            for (int64_t k = 0; k < count; k++) {
                double &low = lo(i, lanes[k]), &high = hi(i, lanes[k]);
                const double new_low = from.lo[i * from.pitch + k], new_high = from.hi[i * from.pitch + k];
                changed[k] |= (low != new_low) | (high != new_high);
                low = new_low;
                high = new_high;
            }
        for (int64_t k = 0; k < count; k++)
            if (changed[k] && !BROKEN(28)) known_.of[lanes[k]] = 0;
    }

    // ------------------------------------------------------------------------------------------ what is known of boxes
    Lanes without(const Lanes &lanes, unsigned char bit) const {
        Lanes found;
        for (int64_t w : lanes)
            if (!(known_.of[w] & bit)) found.push_back(w);
        return found;
    }
    void know_facts(const Lanes &lanes) {
        if (chain_.facts < 0) {
            for (int64_t w : lanes) known_.of[w] |= INFIMUM_CHAIN_HAS_FACTS | INFIMUM_CHAIN_IS_DEFINED | INFIMUM_CHAIN_IS_SMOOTH;
            return;
        }
        const Lanes unknown = without(lanes, INFIMUM_CHAIN_HAS_FACTS);
        if (unknown.empty()) return;
        by_groups(unknown, program(chain_.facts).most(), [&](const int64_t *some, int64_t count) {
            given(chain_.facts, some, count);
            run_program(chain_.facts, count);
            const Output defined = program(chain_.facts).output(0, count), smooth = program(chain_.facts).output(1, count);
            for (int64_t k = 0; k < count; k++) {
                const bool is_defined = defined.lo(0, k) == 1.0, is_smooth = is_defined && smooth.lo(0, k) == 1.0;
                known_.of[some[k]] |= INFIMUM_CHAIN_HAS_FACTS | (is_defined ? INFIMUM_CHAIN_IS_DEFINED : 0) |
                                      (is_smooth ? INFIMUM_CHAIN_IS_SMOOTH : 0);
            }
        });
    }
    // Return those around which f is certainly smooth.
    Lanes smooth_ones(const Lanes &lanes) {
        know_facts(lanes);
        Lanes found;
        for (int64_t w : lanes)
            if (known_.of[w] & INFIMUM_CHAIN_IS_SMOOTH || BROKEN(27)) found.push_back(w);
        return found;
    }
    // The gradients; a slope that exists nowhere is anything. The user's counts where f is certainly smooth.
    void know_slopes(const Lanes &lanes) {
        if (chain_.jacobian >= 0) know_facts(lanes);
        const Lanes unknown = without(lanes, INFIMUM_CHAIN_HAS_SLOPE);
        if (unknown.empty()) return;
        by_groups(unknown, program(chain_.gradient).most(), [&](const int64_t *some, int64_t count) {
            given(chain_.gradient, some, count);
            run_program(chain_.gradient, count);
            take(chain_.gradient, 0, count, after_);
            for (int64_t i = 0; i < n_ * count; i++)
                if (after_.lo[i] > after_.hi[i]) {
                    after_.lo[i] = -INFIMUM_INF;
                    after_.hi[i] = INFIMUM_INF;
                }
            if (chain_.jacobian >= 0) meet_users(some, count);
            for (int64_t i = 0; i < n_; i++)
                for (int64_t k = 0; k < count; k++) {
                    slope_.lo[i * width_ + some[k]] = after_.lo[i * count + k];
                    slope_.hi[i * width_ + some[k]] = after_.hi[i * count + k];
                }
            for (int64_t k = 0; k < count; k++) known_.of[some[k]] |= INFIMUM_CHAIN_HAS_SLOPE;
        });
    }
    // Meet derived gradients, in after_, with the user's where these are defined; both contain the gradient there.
    void meet_users(const int64_t *all, int64_t total) {
        const int64_t size = program(chain_.jacobian).most();
        for (int64_t first = 0; first < total; first += size) {
            const int64_t *some = all + first, count = least(size, total - first);
            given(chain_.jacobian, some, count);
            run_program(chain_.jacobian, count);
            const Output own = program(chain_.jacobian).output(0, count), defined = program(chain_.jacobian).output(1, count);
            for (int64_t k = 0; k < count; k++) {
                if ((defined.lo(0, k) != 1.0 && !BROKEN(42)) || !(known_.of[some[k]] & INFIMUM_CHAIN_IS_SMOOTH)) continue;
                for (int64_t i = 0; i < n_; i++) {
                    double &low = after_.lo[i * total + first + k], &high = after_.hi[i * total + first + k];
                    const double bottom = larger(own.lo(i, k), low), top = smaller(own.hi(i, k), high);
                    if (bottom > top)
                        throw Stopped{INFIMUM_NO_GRADIENT, i, {lo(i, some[k]), hi(i, some[k]), low, high, own.lo(i, k), own.hi(i, k)}};
                    low = bottom;
                    high = top;
                }
            }
        }
    }
    // The edges of the domain as the boxes of a group see them, in x.
    Edges edges(Sides x, int64_t count) {
        Edges found = {chain_.edge_lo, chain_.edge_hi, chain_.end_lo, chain_.end_hi, nullptr};
        if (chain_.image < 0) return found;
        unsigned char *apart = apart_.fit(group_);
        const int64_t size = program(chain_.image).most();
        for (int64_t first = 0; first < count; first += size) {
            const int64_t some = least(size, count - first);
            const Sides in = program(chain_.image).input(some);
            for (int64_t i = 0; in.lo && i < n_; i++) {
                std::memcpy(in.lo + i * some, x.lo + i * x.pitch + first, static_cast<size_t>(some) * sizeof(double));
                std::memcpy(in.hi + i * some, x.hi + i * x.pitch + first, static_cast<size_t>(some) * sizeof(double));
            }
            run_program(chain_.image, some);
            const Output image = program(chain_.image).output(0, some);
            for (int64_t k = 0; k < some; k++) {
                bool inside = true;
                for (int64_t i = 0; i < n_; i++)
                    inside &= (chain_.edge_lo[i] < image.lo(i, k)) & (image.hi(i, k) < chain_.edge_hi[i]);
                apart[first + k] = !inside && !BROKEN(43);
            }
        }
        found.apart = apart;
        return found;
    }

    // ------------------------------------------------------------------------------------------ links
    void apply(const infimum_link &link) {
        switch (link.kind) {
            case INFIMUM_CHAIN_LEVEL: return level(link);
            case INFIMUM_CHAIN_MONOTONE: return monotone();
            case INFIMUM_CHAIN_STATIONARY: return stationary(link);
            case INFIMUM_CHAIN_MEAN_VALUE: return mean_value(link);
        }
    }
    void level(const infimum_link &link) {
        active_ = left_;
        drop_empty(active_, true);
        for (int64_t pass = 0; pass < link.passes && !active_.empty(); pass++) {
            next_.clear();
            by_groups(active_, program(link.first).most(), [&](const int64_t *some, int64_t count) {
                const Sides before = given(link.first, some, count), most_f = rows_from(before, n_);
                gather(limit_, some, count, 1, most_f.hi, count);
                for (int64_t k = 0; k < count; k++) most_f.lo[k] = -INFIMUM_INF;
                run_program(link.first, count);
                evaluated += count;
                take(link.first, 0, count, after_);
                take_number(link.first, 1, count, value_lo_, value_hi_);
                gather(lower_, some, count, 1, group_lower_, count);
                unsigned char *nothing = nothing_.fit(group_);
                level_rule(before, after_, {value_lo_, value_hi_}, most_f.hi, n_, count, group_lower_, nothing);
                shrinkage(before, after_, n_, count, part_, group_gone_);
                put(after_, some, count);
                for (int64_t k = 0; k < count; k++) {
                    lower_[some[k]] = group_lower_[k];
                    if (!nothing[k] && group_gone_[k] >= link.least) next_.push_back(some[k]);
                }
            });
            std::swap(active_, next_);
        }
    }
    // Leave out boxes that are empty; of those f is nowhere below anything, where that is asked.
    void drop_empty(Lanes &lanes, bool raise) {
        size_t kept = 0;
        for (int64_t w : lanes) {
            if (!is_empty(w))
                lanes[kept++] = w;
            else if (raise)
                lower_[w] = INFIMUM_INF;
        }
        lanes.resize(kept);
    }
    void monotone() {
        Lanes boxes = left_;
        drop_empty(boxes, false);
        boxes = smooth_ones(boxes);
        know_slopes(boxes);
        by_groups(boxes, group_, [&](const int64_t *some, int64_t count) {
            after_.pitch = other_.pitch = count;
            gather(x_, some, count, after_);
            gather(slope_, some, count, other_);
            unsigned char *smooth = inner_.fit(group_), *nothing = nothing_.fit(group_);
            for (int64_t k = 0; k < count; k++) smooth[k] = 1;
            monotone_rule(after_, other_, edges(after_, count), smooth, n_, count, nothing);
            put(after_, some, count);
        });
    }
    void stationary(const infimum_link &link) {
        Lanes boxes = left_;
        drop_empty(boxes, false);
        active_.clear();
        by_groups(boxes, group_, [&](const int64_t *some, int64_t count) {
            after_.pitch = count;
            gather(x_, some, count, after_);
            unsigned char *inner = inner_.fit(group_);
            find_inner(after_, edges(after_, count), n_, count, inner);
            for (int64_t k = 0; k < count; k++)
                if (inner[k]) active_.push_back(some[k]);
        });
        active_ = smooth_ones(active_);
        for (int64_t pass = 0; pass < link.passes && !active_.empty(); pass++) {
            next_.clear();
            by_groups(active_, program(link.first).most(), [&](const int64_t *some, int64_t count) {
                other_.pitch = after_.pitch = count;
                gather(x_, some, count, after_);
                wanted_slopes(after_, edges(after_, count), n_, count, other_);
                const Sides before = given(link.first, some, count), wanted = rows_from(before, n_);
                std::memcpy(wanted.lo, other_.lo, static_cast<size_t>(n_ * count) * sizeof(double));
                std::memcpy(wanted.hi, other_.hi, static_cast<size_t>(n_ * count) * sizeof(double));
                run_program(link.first, count);
                take(link.first, 0, count, after_);
                take(link.first, 1, count, third_);
                unsigned char *nothing = nothing_.fit(group_), *nowhere = inner_.fit(group_);
                stationary_rule(before, after_, third_, other_, n_, count, nothing, nowhere);
                shrinkage(before, after_, n_, count, part_, group_gone_);
                put(after_, some, count);
                for (int64_t k = 0; k < count; k++)
                    if (!nothing[k] && group_gone_[k] >= link.least) next_.push_back(some[k]);
            });
            std::swap(active_, next_);
        }
    }
    void mean_value(const infimum_link &link) {
        Lanes boxes = left_;
        drop_empty(boxes, false);
        boxes = smooth_ones(boxes);
        know_slopes(boxes);
        if (boxes.empty()) return;
        const int64_t size = least(program(link.first).most(), program(link.second).most());
        by_groups(boxes, size, [&](const int64_t *some, int64_t count) {
            after_.pitch = other_.pitch = third_.pitch = count;
            gather(x_, some, count, after_);
            gather(slope_, some, count, other_);
            centre(after_, other_, n_, count, third_);
            const Sides point = program(link.first).input(count);
            if (point.lo) {
                std::memcpy(point.lo, third_.lo, static_cast<size_t>(n_ * count) * sizeof(double));
                std::memcpy(point.hi, third_.hi, static_cast<size_t>(n_ * count) * sizeof(double));
            }
            run_program(link.first, count);
            take_number(link.first, 0, count, value_lo_, value_hi_);
            const Sides before = given(link.second, some, count);
            const Sides columns[] = {third_, other_};
            for (int64_t part = 0; part < 2; part++) {
                const Sides to = rows_from(before, (1 + part) * n_);
                std::memcpy(to.lo, columns[part].lo, static_cast<size_t>(n_ * count) * sizeof(double));
                std::memcpy(to.hi, columns[part].hi, static_cast<size_t>(n_ * count) * sizeof(double));
            }
            const Sides value = rows_from(before, 3 * n_), wanted = rows_from(before, 3 * n_ + 1);
            gather(limit_, some, count, 1, wanted.hi, count);
            for (int64_t k = 0; k < count; k++) {
                value.lo[k] = value_lo_[k];
                value.hi[k] = value_hi_[k];
                wanted.lo[k] = -INFIMUM_INF;
            }
            run_program(link.second, count);
            take(link.second, 0, count, after_);
            take_number(link.second, 1, count, value_lo_, value_hi_);
            gather(lower_, some, count, 1, group_lower_, count);
            unsigned char *nothing = nothing_.fit(group_);
            mean_value_rule(before, after_, value_lo_, wanted.hi, n_, count, group_lower_, nothing);
            put(after_, some, count);
            for (int64_t k = 0; k < count; k++) lower_[some[k]] = group_lower_[k];
        });
    }

    // ------------------------------------------------------------------------------------------ after a link
    void remember() {
        for (int64_t i = 0; i < n_; i++) {
            std::memcpy(start_.lo + i * width_, x_.lo + i * width_, static_cast<size_t>(width_) * sizeof(double));
            std::memcpy(start_.hi + i * width_, x_.hi + i * width_, static_cast<size_t>(width_) * sizeof(double));
        }
    }
    // Leave out what is empty, or above the upper bound, and count what the link has taken away: 1 for a box that is left
    // out, less for one that is narrowed.
    void count_taken(int64_t number, double upper, int64_t keeping) {
        const int64_t last = left_.back() + 1;
        shrinkage(start_, x_, n_, last, part_, gone_);
        size_t kept = 0;
        for (int64_t w : left_) {
            const bool above = (lower_[w] > upper) | (lower_[w] == INFIMUM_INF) | (BROKEN(29) && lower_[w] == upper);
            const bool out = keeping != INFIMUM_CHAIN_KEEP_ALL && (above || is_empty(w));
            taken[number] += out ? static_cast<int64_t>(TAKEN_UNIT) : static_cast<int64_t>(gone_[w] * TAKEN_UNIT);
            if (!out) {
                left_[kept++] = w;
            } else if (keeping == INFIMUM_CHAIN_KEEP_ROWS) {
                for (int64_t i = 0; i < n_; i++) {
                    lo(i, w) = INFIMUM_INF;
                    hi(i, w) = -INFIMUM_INF;
                }
                known_.of[w] = 0;
            }
        }
        left_.resize(kept);
    }
};

}  // namespace
