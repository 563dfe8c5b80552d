// The tape interpreter, for programs that are too long to be compiled: one kernel for all that use the same operations.
// INFIMUM_OPERATIONS lists these: INFIMUM_OPERATION(code, name, arity) or INFIMUM_POWER(code, name, arity).
//
// Arguments::tape holds the program: a header of places and counts, then the sections it names (tape.py writes it).
//
//   header   0 slots  1 slot count  2 instructions  3 phases  4 phase count  5 outputs  6 output count
//            7 results of chunks  8 terms of reductions  9 registers  10 values of memory a team has
//   slot     kind, size, offset in the pool or in the team's memory
// Instructions, phases and outputs are those of docs/program.md. All threads of a warp take the same way through them.
#pragma once
#include "codes.h"
#include "device.h"

namespace INFIMUM_NAMESPACE {

enum { SLOTS, SLOT_COUNT, INSTRUCTIONS, PHASES, PHASE_COUNT, OUTPUTS, OUTPUT_COUNT, RESULTS, TERMS, REGISTERS, VALUES };
enum {
#define OPERATION(name, arity, trust, facts_of) NUMBER_##name,
#define POWER(name, arity, trust, facts_of) NUMBER_##name,
#include "operations.def"
#undef OPERATION
#undef POWER
};

// One box on its way through the tape.
template <class V, int T>
struct Machine {
    const Arguments &a;
    const Team<T> &team;
    const Memory<V, T, false> memory;
    V *const buffer;
    const long long box;
    const INFIMUM_INPUT<T> input;

    INFIMUM_METHOD long long header(int which) const { return INFIMUM_READ(a.tape + which); }
    INFIMUM_METHOD const long long *slot(long long number) const { return a.tape + header(SLOTS) + 3 * number; }
    INFIMUM_METHOD V &at(long long j) const { return memory.start[j * memory.stride]; }
    INFIMUM_METHOD V &reg(long long number) const { return at(header(REGISTERS) + number * T + team.rank); }
    INFIMUM_METHOD V load(const long long *s, long long j) const {
        const long long kind = INFIMUM_READ(s), offset = INFIMUM_READ(s + 2);
        if (kind == INFIMUM_SLOT_VECTOR) return at(offset + j);
        if (kind == INFIMUM_SLOT_CONSTANT) return pooled<V, 1>(a, offset)[static_cast<int>(j)];
        const int size = static_cast<int>(INFIMUM_READ(s + 1));
        return input.template read<V>(a.lo, a.hi, size, static_cast<int>(j));
    }

    // ------------------------------------------------------------------------------------------ bodies
#define INFIMUM_REGISTERS_1 reg(q[2])
#define INFIMUM_REGISTERS_2 reg(q[2]), reg(q[3])
#define INFIMUM_REGISTERS_3 reg(q[2]), reg(q[3]), reg(q[4])
#define INFIMUM_OPERATION(code, name, arity) \
    case code: return name(INFIMUM_REGISTERS_##arity);
#define INFIMUM_POWER(code, name, arity) \
    case code: return name(INFIMUM_REGISTERS_##arity, q[5]);
    INFIMUM_METHOD V computed(const long long *q) const {
        switch (q[0]) { INFIMUM_OPERATIONS }
        return exactly<V>(0.0);
    }

    INFIMUM_METHOD void body(const long long *phase) const {
        const long long k = phase[1], m = phase[2], size = k * m;
        const long long *first = a.tape + header(INSTRUCTIONS) + 8 * phase[3];
        const long long *last = a.tape + header(INSTRUCTIONS) + 8 * phase[4];
        const long long terms = header(TERMS);
        for (long long i = team.rank; i < size; i += T) {
            const long long g = m == 1 ? i : i / m, e = i - g * m;
            long long reductions = 0;
            for (const long long *q = first; q < last; q += 8) {
                long long j;
                switch (q[0]) {
                    case INFIMUM_LOAD_AFFINE: reg(q[1]) = load(slot(q[2]), q[5] + q[6] * g + q[7] * e); break;
                    case INFIMUM_LOAD_WINDOW:
                        j = q[5] + q[6] * i;
                        reg(q[1]) = j >= 0 && j < slot(q[2])[1] ? load(slot(q[2]), j) : exactly<V>(0.0);
                        break;
                    case INFIMUM_LOAD_TABLE:
                        j = INFIMUM_READ(a.tables + q[5] + i);
                        reg(q[1]) = j >= 0 ? load(slot(q[2]), j) : exactly<V>(0.0);
                        break;
                    case INFIMUM_STORE: at(slot(q[1])[2] + q[5] + q[6] * i) = clean(reg(q[2])); break;
                    case INFIMUM_REDUCE: at(terms + size * reductions++ + i) = clean(reg(q[2])); break;
                    default: reg(q[1]) = computed(q);
                }
            }
        }
        team.sync();
        long long reductions = 0;
        for (const long long *q = first; q < last; q += 8) {
            if (q[0] != INFIMUM_REDUCE) continue;
            for (long long g = 0; g < k; g++) {
                const long long start = terms + size * reductions + g * m;
                fold(q[5], start, m);
                if (team.rank == 0) at(slot(q[1])[2] + q[6] + g) = clean(at(start));
            }
            reductions++;
        }
        team.sync();
    }
    INFIMUM_METHOD V met(long long operation, V x, V y) const {
        switch (operation) {
            case NUMBER_add: return add(x, y);
            case NUMBER_mul: return mul(x, y);
            case NUMBER_min: return min(x, y);
            default: return max(x, y);
        }
    }
    // Reduce the m values from `start` on into the first. A chunk's result moves to where nothing is needed any more.
    INFIMUM_METHOD void fold(long long operation, long long start, long long m) const {
        while (m > 1) {
            const long long chunks = (m + CHUNK - 1) / CHUNK;
            for (long long c = 0; c < chunks; c++) {
                const long long from = start + c * CHUNK, rest = m - c * CHUNK, count = rest < CHUNK ? rest : CHUNK;
                for (int d = CHUNK / 2; d >= 1; d /= 2) {
                    if (count <= d) continue;
                    for (int i = team.rank; i < d && i + d < count; i += T)
                        at(from + i) = met(operation, at(from + i), at(from + i + d));
                    team.sync();
                }
                if (team.rank == 0 && c > 0) at(start + c) = at(from);
                team.sync();
            }
            m = chunks;
        }
    }

    // ------------------------------------------------------------------------------------------ other phases
    template <class Operation>
    INFIMUM_METHOD void others_by(const long long *phase) const {
        V own[T == 1 ? 2 * CHUNK : 1];
        const long long results = header(RESULTS);
        const Vector<V, 1, T == 1> levels = {&at(results), memory.stride};
        const long long *source = slot(phase[4]);
        const long long out = slot(phase[3])[2];
        const int k = static_cast<int>(phase[1]), m = static_cast<int>(phase[2]);
        for (int g = 0; g < k; g++) {
            const auto term = [&](int e) { return load(source, static_cast<long long>(g) * m + e); };
            const auto kept = [&](int e, V v) { at(out + static_cast<long long>(g) * m + e) = clean(v); };
            if (m > 1)
                outside<CHUNK, 1, Operation>(team, T == 1 ? own : buffer, levels, m, term, kept);
            else if (team.rank == 0)
                kept(0, exactly<V>(Operation::NEUTRAL));
        }
        team.sync();
    }
    INFIMUM_METHOD void run(const long long *phase) const {
        if (phase[0] == INFIMUM_BODY) return body(phase);
        if (phase[0] == INFIMUM_RECURRENCE) {
            const auto out = slot(phase[3])[2];
            V y = exactly<V>(0.0);
            for (long long step = 0; team.rank == 0 && step < phase[1]; step++) {
                const long long i = phase[2] ? phase[1] - 1 - step : step;
                y = add(mul(load(slot(phase[4]), i), y), load(slot(phase[5]), i));
                at(out + i) = clean(y);
            }
            return team.sync();
        }
        switch (phase[5]) {
            case NUMBER_add: return others_by<Add>(phase);
            case NUMBER_mul: return others_by<Mul>(phase);
            case NUMBER_min: return others_by<Min>(phase);
            default: return others_by<Max>(phase);
        }
    }
    // ------------------------------------------------------------------------------------------ the box
    INFIMUM_METHOD void check() const {
        if constexpr (AT_POINTS<V> || !INFIMUM_INPUT<T>::CHECKED) return;
        for (long long number = 0; number < header(SLOT_COUNT); number++) {
            const long long *s = slot(number);
            for (long long j = team.rank; s[0] == INFIMUM_SLOT_INPUT && j < s[1]; j += T)
                if (!is_interval(range_of(load(s, j)))) *a.wrong = 1;
        }
    }
    INFIMUM_METHOD void hand_out() const {
        long long before = 0;
        for (long long o = 0; o < header(OUTPUT_COUNT); o++) {
            const long long *s = slot(a.tape[header(OUTPUTS) + o]);
            for (long long j = team.rank; j < s[1]; j += T) {
                const long long to = before * a.count + place<T>(a.count, box, static_cast<int>(s[1]), static_cast<int>(j));
                const V kept = clean(load(s, j));
                if constexpr (AT_POINTS<V>) {
                    a.out_lo[to] = kept.at;
                } else {
                    a.out_lo[to] = kept.lo;
                    a.out_hi[to] = kept.hi;
                }
            }
            before += s[1];
        }
        team.sync();
    }
};

template <class V, int T>
INFIMUM_FN void tape(const Arguments &a, const Boxes &boxes) {
    constexpr int BUFFER = T > 1 ? 2 * CHUNK : 0;
    __shared__ V shared[THREADS<T> / T * BUFFER + 1];
    const Team<T> team = team_of<T>();
    const int size = static_cast<int>(INFIMUM_READ(a.tape + VALUES));
    const auto memory = memory_of<V, T, false>(a, team, nullptr, size);
#pragma unroll 1
    for (long long box = boxes.first; box < a.count; box += boxes.step) {
        const Machine<V, T> machine = {a, team, memory, shared + team.seat * BUFFER, box, INFIMUM_INPUT<T>::of(a, box)};
        machine.check();
        for (long long i = 0; i < machine.header(PHASE_COUNT); i++) machine.run(a.tape + machine.header(PHASES) + 6 * i);
        machine.hand_out();
    }
}

}  // namespace INFIMUM_NAMESPACE
