// Work shared out to threads.
#pragma once
#include <atomic>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

#include "floating_point.h"

namespace {

// Call work(worker, i) for every i < count on up to `threads` threads; fewer if no more can be started.
template <class Work>
void in_parallel(int threads, int64_t count, const Work &work) {
    std::atomic<int64_t> next{0};
    const auto worker = [&](int number) {
        const DefaultFloatingPoint state;
        for (int64_t i = next++; i < count; i = next++) work(number, i);
    };
    std::vector<std::thread> pool;
    try {
        for (int number = 1; number < threads && number < count; number++) pool.emplace_back(worker, number);
    } catch (const std::exception &) {
    }
    worker(0);
    for (std::thread &t : pool) t.join();
}

}  // namespace
