// Small programs run on rows that are made one by one.
#pragma once
#include <stdexcept>
#include <vector>

#include "../schedule.h"
#include "trees.h"

namespace INFIMUM_NAMESPACE {

// A program run on rows of inputs; its only output is one number a row.
class Rows {
    const infimum_program *program_;
    Stage stage_;
    bool point_;
    std::vector<double> lo_, hi_, low_, high_;

  public:
    Rows(const infimum_program *program, Stage stage, bool point) : program_(program), stage_(stage), point_(point) {}
    int64_t width() const { return program_->n; }
    int64_t count() const { return static_cast<int64_t>(lo_.size()) / width(); }
    void clear() {
        lo_.clear();
        hi_.clear();
    }
    void put(double lo, double hi) {
        lo_.push_back(lo);
        if (!point_) hi_.push_back(hi);
    }
    void put(double x) { put(x, x); }
    void run() {
        const int64_t rows = count();
        low_.resize(static_cast<size_t>(rows));
        if (!point_) high_.resize(static_cast<size_t>(rows));
        double *low = low_.data(), *high = point_ ? low : high_.data();
        const double *hi = point_ ? lo_.data() : hi_.data();
        const int status = run_batch({program_, stage_, point_, rows, lo_.data(), hi, &low, &high, 1});
        if (status == INFIMUM_NO_MEMORY) throw std::bad_alloc();
        if (status != INFIMUM_OK) throw std::logic_error("a row is no interval");
    }
    Range range(int64_t row) const { return {low_[row], high_[row]}; }
    double number(int64_t row) const { return low_[row]; }
};

}  // namespace INFIMUM_NAMESPACE
