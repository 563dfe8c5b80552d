// Whole links of a chain on a GPU: a thread takes a box through all passes of a link, Programs included (fused.py writes the
// text that says which). What a Program reads and writes lies in the thread's own room, so that a launch needs as much of it
// as it has threads, however many boxes there are.
//
//   room   element j of thread t at j*threads + t: inputs, then outputs. The form has a room of its own, because its inputs
//          are made from what another Program has left in the first one.
#pragma once
#include "device.h"
#include "device_chain.h"

namespace INFIMUM_NAMESPACE {

struct Rooms {
    double *lo[2], *hi[2];
    const double *pool;  // of all Programs
    const int *tables;
    double *scratch;
    int *wrong;
    long long *passes;  // over f on each box
    Count thread, threads;
    INFIMUM_METHOD Strided part(int room, Count first) const {
        return {lo[room] + first * threads + thread, hi[room] + first * threads + thread, 0, threads};
    }
    template <class Program>
    INFIMUM_METHOD Strided inputs(int room = 0) const {
        return part(room, 0);
    }
    template <class Program>
    INFIMUM_METHOD Strided output(int number, int room = 0) const {
        return part(room, Program::INPUTS + (number ? Program::SECOND : 0));
    }
    template <class Program>
    INFIMUM_METHOD void run(int room = 0) const {
        const Count before = Program::INPUTS * threads;
        const Arguments a = {lo[room], hi[room], lo[room] + before, hi[room] + before, pool + Program::POOL,
                             tables + Program::TABLES, scratch, wrong, nullptr, threads, nullptr};
        Program::run(a, thread);
    }
};
// In place of a Program that need not be: f is defined and smooth everywhere.
struct Everywhere {
    enum { INPUTS, SECOND, POOL, TABLES };
    static INFIMUM_METHOD void run(const Arguments &, long long) {}
};
template <class Facts>
constexpr bool IS_ASKED = true;
template <>
constexpr bool IS_ASKED<Everywhere> = false;

template <class Facts>
INFIMUM_FN bool is_smooth(const Rooms &rooms, ChainArguments a, Count k) {
    if (!IS_ASKED<Facts>) return true;
    if (!(a.known[a.at[k]] & INFIMUM_CHAIN_HAS_FACTS)) {
        a.in = rooms.inputs<Facts>();
        chain_given(a, k);
        rooms.run<Facts>();
        a.a = rooms.output<Facts>(0);
        a.b = rooms.output<Facts>(1);
        chain_facts(a, k);
    }
    return a.known[a.at[k]] & INFIMUM_CHAIN_IS_SMOOTH;
}
template <class Gradient>
INFIMUM_FN void know_slopes(const Rooms &rooms, ChainArguments a, Count k) {
    if (a.known[a.at[k]] & INFIMUM_CHAIN_HAS_SLOPE) return;
    a.in = rooms.inputs<Gradient>();
    chain_given(a, k);
    rooms.run<Gradient>();
    a.a = rooms.output<Gradient>(0);
    chain_slopes(a, k);
}

// The edges run along the variables, and there is no gradient of the user's: other chains go pass by pass.
template <class Hc4>
INFIMUM_FN void level_link(const Rooms &rooms, ChainArguments a, Count k, int passes, double least) {
    a.number = least;
    a.in = rooms.inputs<Hc4>();
    a.a = rooms.output<Hc4>(0);
    a.b = rooms.output<Hc4>(1);
INFIMUM_ROLLED
    for (int pass = 0; pass < passes; pass++) {
        chain_level_given(a, k);
        rooms.run<Hc4>();
        rooms.passes[a.at[k]]++;
        chain_level(a, k);
        if (!a.flag[k]) break;
    }
}
template <class Facts, class Gradient>
INFIMUM_FN void monotone_link(const Rooms &rooms, ChainArguments a, Count k) {
    if (!is_smooth<Facts>(rooms, a, k)) return;
    know_slopes<Gradient>(rooms, a, k);
    a.option = 0;
    chain_monotone(a, k);
}
template <class Hc4, class Facts>
INFIMUM_FN void stationary_link(const Rooms &rooms, ChainArguments a, Count k, int passes, double least) {
    a.option = 0;
    a.number = least;
    chain_inner(a, k);
    if (!a.flag[k] || !is_smooth<Facts>(rooms, a, k)) return;
    a.in = rooms.inputs<Hc4>();
    a.a = rooms.output<Hc4>(0);
    a.b = rooms.output<Hc4>(1);
INFIMUM_ROLLED
    for (int pass = 0; pass < passes; pass++) {
        chain_stationary_given(a, k);
        rooms.run<Hc4>();
        chain_stationary(a, k);
        if (!a.flag[k]) break;
    }
}
template <class Value, class Form, class Facts, class Gradient>
INFIMUM_FN void mean_value_link(const Rooms &rooms, ChainArguments a, Count k) {
    if (!is_smooth<Facts>(rooms, a, k)) return;
    know_slopes<Gradient>(rooms, a, k);
    a.in = rooms.inputs<Value>();
    chain_centre_given(a, k);
    rooms.run<Value>();
    a.b = a.in;
    a.a = rooms.output<Value>(0);
    a.in = rooms.inputs<Form>(1);
    chain_form_given(a, k);
    rooms.run<Form>(1);
    a.a = rooms.output<Form>(0, 1);
    a.b = rooms.output<Form>(1, 1);
    chain_mean_value(a, k);
}

// link(rooms, a, k), and what follows a link, for every box of the list.
template <class Link>
INFIMUM_FN void for_link(const ChainArguments &a, Rooms rooms, const Link &link) {
    rooms.thread = static_cast<Count>(blockIdx.x) * blockDim.x + threadIdx.x;
    rooms.threads = static_cast<Count>(gridDim.x) * blockDim.x;
INFIMUM_ROLLED
    for (Count k = rooms.thread; k < a.count; k += rooms.threads) {
        if (!is_empty(a.x(a.at[k]), a.n)) link(rooms, a, k);
        chain_count(a, k);
    }
}

}  // namespace INFIMUM_NAMESPACE

#define INFIMUM_LINK_PARAMETERS                                                                                         \
    double *room_lo, double *room_hi, double *form_lo, double *form_hi, const double *pool, const int *tables,          \
        double *scratch, int *wrong, long long *passes
#define INFIMUM_LINK_ROOMS {{room_lo, form_lo}, {room_hi, form_hi}, pool, tables, scratch, wrong, passes, 0, 0}
#ifndef INFIMUM_LINK_ENTRY
#define INFIMUM_LINK_ENTRY(name, ...)                                                                                   \
    extern "C" __global__ void __launch_bounds__(INFIMUM_NAMESPACE::CHAIN_THREADS, INFIMUM_BLOCKS)                      \
        infimum_##name(INFIMUM_LINK_PARAMETERS, INFIMUM_CHAIN_PARAMETERS) {                                             \
        using namespace INFIMUM_NAMESPACE;                                                                              \
        const ChainArguments all = INFIMUM_CHAIN_ARGUMENTS;                                                             \
        for_link(all, INFIMUM_LINK_ROOMS, [](const Rooms &rooms, const ChainArguments &a, Count k) { __VA_ARGS__; });   \
    }
#endif
