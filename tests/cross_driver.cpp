// Run jobs from a file through the C interface of a core built for another machine, and write what it computes.
// usage: cross_driver LIBRARY ARGUMENTS RESULTS      (tests/cross.py writes the arguments and reads the results)
//
// | kind | words of 8 bytes that follow it                                                  | written for it             |
// |------|----------------------------------------------------------------------------------|----------------------------|
// |    1 | operation, param, count, operands; lo and hi of each operand                     | lo, hi, facts              |
// |    2 | mode, n, slots, instructions, phases, outputs, tables, pool, boxes; their arrays | lo and hi of every output  |
// |    0 | none: the end                                                                    |                            |
//
// All jobs run once in each usable variant, best last; the names of these are printed.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "abi.h"

#ifdef _WIN32
#include <windows.h>
static void *open_library(const char *path) { return reinterpret_cast<void *>(LoadLibraryA(path)); }
static void *find(void *library, const char *name) {
    return reinterpret_cast<void *>(GetProcAddress(reinterpret_cast<HMODULE>(library), name));
}
#else
#include <dlfcn.h>
static void *open_library(const char *path) { return dlopen(path, RTLD_NOW); }
static void *find(void *library, const char *name) { return dlsym(library, name); }
#endif

typedef int (*Apply)(int, int, const infimum_job *, int);
typedef int (*RunProgram)(int, int, const infimum_program *, int64_t, const double *, const double *, double *const *,
                          double *const *, int);
typedef int (*Number)();
typedef int (*OfNumber)(int);
typedef const char *(*NameOf)(int);

static void stop(const char *why) {
    std::fprintf(stderr, "cross_driver: %s\n", why);
    std::exit(1);
}

template <class F>
static F symbol(void *library, const char *name) {
    void *found = find(library, name);
    if (!found) stop(name);
    F f;
    std::memcpy(&f, &found, sizeof f);
    return f;
}

// The arguments, word by word.
struct Words {
    std::vector<int64_t> all;
    size_t at = 0;

    int64_t next() { return *array(1); }
    const int64_t *array(int64_t count) {
        if (at + static_cast<size_t>(count) > all.size()) stop("the arguments end too early");
        at += static_cast<size_t>(count);
        return all.data() + at - count;
    }
    const double *doubles(int64_t count) { return reinterpret_cast<const double *>(array(count)); }
};

static std::vector<int64_t> read(const char *path) {
    FILE *file = std::fopen(path, "rb");
    if (!file) stop("the arguments cannot be read");
    std::vector<int64_t> words;
    int64_t block[4096];
    for (size_t n; (n = std::fread(block, 8, 4096, file)) > 0;) words.insert(words.end(), block, block + n);
    std::fclose(file);
    return words;
}

static void write(FILE *out, const void *from, int64_t words) {
    if (words && std::fwrite(from, 8, static_cast<size_t>(words), out) != static_cast<size_t>(words)) stop("disk full");
}

static void run_operation(Words &w, Apply apply, int variant, FILE *out) {
    const int op = static_cast<int>(w.next());
    infimum_job job = {};
    job.param = w.next();
    job.count = w.next();
    const int64_t operands = w.next();
    for (int64_t i = 0; i < operands; i++) {
        job.in[2 * i] = w.doubles(job.count);
        job.in[2 * i + 1] = w.doubles(job.count);
        job.strides[i] = 1;
    }
    const size_t count = static_cast<size_t>(job.count);
    std::vector<double> lo(count), hi(count);
    std::vector<unsigned char> facts(count);
    job.lo = lo.data();
    job.hi = hi.data();
    if (apply(variant, op, &job, 2)) stop("an operation failed");
    job.lo = job.hi = nullptr;
    job.facts = facts.data();
    if (apply(variant, op, &job, 1)) stop("the facts of an operation failed");
    const std::vector<int64_t> wide(facts.begin(), facts.end());
    write(out, lo.data(), job.count);
    write(out, hi.data(), job.count);
    write(out, wide.data(), job.count);
}

static void run_program(Words &w, RunProgram run, int variant, FILE *out) {
    const int mode = static_cast<int>(w.next());
    infimum_program p = {};
    p.n = w.next();
    p.slot_count = w.next();
    p.instruction_count = w.next();
    p.phase_count = w.next();
    p.output_count = w.next();
    const int64_t tables = w.next(), pool = w.next(), boxes = w.next();
    p.slots = reinterpret_cast<const int64_t(*)[3]>(w.array(3 * p.slot_count));
    p.instructions = reinterpret_cast<const int64_t(*)[8]>(w.array(8 * p.instruction_count));
    p.phases = reinterpret_cast<const int64_t(*)[6]>(w.array(6 * p.phase_count));
    p.outputs = w.array(p.output_count);
    p.tables = w.array(tables);
    p.constant_lo = w.doubles(pool);
    p.constant_hi = w.doubles(pool);
    p.constant_points = w.doubles(pool);
    const double *lo = w.doubles(boxes * p.n), *hi = w.doubles(boxes * p.n);
    std::vector<std::vector<double>> ends;
    for (int64_t end = 0; end < 2; end++)
        for (int64_t o = 0; o < p.output_count; o++) ends.emplace_back(static_cast<size_t>(boxes * p.slots[p.outputs[o]][1]));
    std::vector<double *> at;
    for (std::vector<double> &end : ends) at.push_back(end.data());
    if (run(variant, mode, &p, boxes, lo, hi, at.data(), at.data() + p.output_count, 2)) stop("a program failed");
    for (const std::vector<double> &end : ends) write(out, end.data(), static_cast<int64_t>(end.size()));
}

int main(int count, char **arguments) {
    if (count != 4) stop("usage: cross_driver LIBRARY ARGUMENTS RESULTS");
    void *library = open_library(arguments[1]);
    if (!library) stop("the library cannot be loaded");
    const Apply apply = symbol<Apply>(library, "infimum_apply");
    const RunProgram run = symbol<RunProgram>(library, "infimum_run_program");
    const OfNumber usable = symbol<OfNumber>(library, "infimum_variant_usable");
    const NameOf name = symbol<NameOf>(library, "infimum_variant_name");
    const int variants = symbol<Number>(library, "infimum_variant_count")();
    Words words;
    words.all = read(arguments[2]);
    FILE *out = std::fopen(arguments[3], "wb");
    if (!out) stop("the results cannot be written");
    for (int variant = 0; variant < variants; variant++) {
        if (!usable(variant)) continue;
        std::printf("%s\n", name(variant));
        words.at = 0;
        while (const int64_t kind = words.next()) {
            if (kind == 1)
                run_operation(words, apply, variant, out);
            else
                run_program(words, run, variant, out);
        }
    }
    if (std::fclose(out)) stop("the results cannot be written");
    return 0;
}
