// A block of boxes for small linear algebra: one lane is one box, so that every operation works on all of them at once.
// Nothing branches on what a lane holds; a loop ends early only where no lane would change any more. So a box gets the same
// bits in any company, on every variant and on a GPU. A GPU's compiler reads this too.
#pragma once
#include "../bits.h"
#include "../lanes/double.h"
#include "../sites.h"
#include "job.h"

#if INFIMUM_CUDA
#define INFIMUM_LINEAR_FN static __device__ __noinline__
#else
#define INFIMUM_LINEAR_FN static __attribute__((noinline))
#endif
#ifndef INFIMUM_LINEAR_BY_THREADS  // a box for each thread of a GPU
#define INFIMUM_LINEAR_BY_THREADS INFIMUM_CUDA
#endif

namespace INFIMUM_NAMESPACE {

#if INFIMUM_LINEAR_BY_THREADS
// A thread is one box; its numbers lie `threads` apart, and so do those of the caller's boxes: neighbours read neighbours.
typedef double Lane;
enum { WIDTH = 1 };
INFIMUM_FN double load(const double *p) { return *p; }
INFIMUM_FN void store(double *p, double x) { *p = x; }
INFIMUM_FN long long pitch_of_numbers() { return static_cast<long long>(gridDim.x) * blockDim.x; }
INFIMUM_FN long long place_of(long long box, long long boxes, long long, long long i) { return i * boxes + box; }
#else
INFIMUM_FN long long pitch_of_numbers() { return WIDTH; }
INFIMUM_FN long long place_of(long long box, long long, long long size, long long i) { return box * size + i; }
#endif

// Numbers of a block in working memory: an array of lanes.
template <class D>
struct Numbers {
    double *start;
    INFIMUM_METHOD D operator[](int i) const { return load(start + i * pitch_of_numbers()); }
    INFIMUM_METHOD void set(int i, D x) const { store(start + i * pitch_of_numbers(), x); }
    // Rows of a matrix, or the rest of a vector.
    INFIMUM_METHOD Numbers from(int i) const { return {start + i * pitch_of_numbers()}; }
};
// Working memory, handed out in order.
template <class D>
struct Storage {
    double *next;
    INFIMUM_METHOD Numbers<D> take(int count) {
        const Numbers<D> found = {next};
        next += count * pitch_of_numbers();
        return found;
    }
};

// Boxes [first, first + count) of the caller's `boxes`; lanes beyond repeat the last one, and what they give is not stored.
struct Block {
    long long first, count, boxes;
    INFIMUM_METHOD long long place(int w, long long size, long long i) const {
        return place_of(first + (w < count ? w : count - 1), boxes, size, i);
    }
    // From arrays of doubles, or of bytes.
    template <class D, class Number>
    INFIMUM_METHOD D take(const Number *array, long long size, long long i) const {
        double held[WIDTH];
        for (int w = 0; w < WIDTH; w++) held[w] = static_cast<double>(array[place(w, size, i)]);
        D found = load(held);
        return found;
    }
    template <class D>
    INFIMUM_METHOD void give(double *array, long long size, long long i, D x) const {
        double held[WIDTH];
        store(held, add_rn(x, D(0.0)));
        for (int w = 0; w < WIDTH; w++)
            if (w < count) array[place(w, size, i)] = held[w];
    }
    // A mask as 0.0 and 1.0 in memory of bytes.
    template <class D>
    INFIMUM_METHOD void give_bits(unsigned char *array, long long size, long long i, D bits) const {
        double held[WIDTH];
        store(held, bits);
        for (int w = 0; w < WIDTH; w++)
            if (w < count) array[place(w, size, i)] = static_cast<unsigned char>(held[w]);
    }
    template <class D>
    INFIMUM_METHOD Mask<D> take_bits(const unsigned char *array, long long size, long long i) const {
        return take<D>(array, size, i) != D(0.0);
    }
};

template <class D>
INFIMUM_FN Mask<D> is_finite(D x) {
    return magnitude(x) < D(INFIMUM_INF);
}
template <class D>
INFIMUM_FN Mask<D> everywhere() {
    return D(0.0) < D(1.0);
}
template <class D>
INFIMUM_FN D within(D x, D lo, D hi) {
    return smaller(larger(x, lo), hi);
}

}  // namespace INFIMUM_NAMESPACE
