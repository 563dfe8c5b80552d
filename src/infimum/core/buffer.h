// Memory for vectors.
#pragma once
#include <cstdint>
#include <new>

namespace {

// Memory without a value, at a multiple of 64 bytes.
class Buffer {
    double *raw_ = nullptr, *start_ = nullptr;
    int64_t count_ = 0;

  public:
    Buffer() = default;
    Buffer(Buffer &&other) noexcept : raw_(other.raw_), start_(other.start_), count_(other.count_) { other.raw_ = nullptr; }
    Buffer(const Buffer &) = delete;
    Buffer &operator=(const Buffer &) = delete;
    ~Buffer() { delete[] raw_; }
    double *reserve(int64_t count) {
        if (count < 0 || count > INT64_MAX / 16) throw std::bad_alloc();
        delete[] raw_;
        raw_ = nullptr;
        count_ = 0;
        raw_ = new double[static_cast<size_t>(count) + 8];
        start_ = raw_ + (8 - reinterpret_cast<uintptr_t>(raw_) / 8 % 8) % 8;
        count_ = count;
        return start_;
    }
    // As much at least; what is there stays where it is enough.
    double *at_least(int64_t count) { return raw_ && count <= count_ ? start_ : reserve(count); }
    double *get() const { return start_; }
};

}  // namespace
