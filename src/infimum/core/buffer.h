// Memory for vectors.
#pragma once
#include <cstdint>
#include <new>

namespace {

// Memory without a value, at a multiple of 64 bytes.
class Buffer {
    double *raw_ = nullptr, *start_ = nullptr;

  public:
    Buffer() = default;
    Buffer(Buffer &&other) noexcept : raw_(other.raw_), start_(other.start_) { other.raw_ = nullptr; }
    Buffer(const Buffer &) = delete;
    Buffer &operator=(const Buffer &) = delete;
    ~Buffer() { delete[] raw_; }
    double *reserve(int64_t count) {
        if (count < 0 || count > INT64_MAX / 16) throw std::bad_alloc();
        delete[] raw_;
        raw_ = nullptr;
        raw_ = new double[static_cast<size_t>(count) + 8];
        start_ = raw_ + (8 - reinterpret_cast<uintptr_t>(raw_) / 8 % 8) % 8;
        return start_;
    }
    double *get() const { return start_; }
};

}  // namespace
