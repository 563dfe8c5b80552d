// What the variants and the C interface share: plain C, so that nothing of it exists once per instruction set.
#pragma once
#include <cstdint>

#include "codes.h"
#include "linear/job.h"

extern "C" {
// One operation over `count` intervals. in: lo and hi of each operand in turn; strides 0 or 1.
struct infimum_job {
    const double *in[6];
    int64_t strides[3];
    double *lo, *hi;
    unsigned char *facts;
    int64_t count, param;
};

// A program as passes/lowering/program.py encodes it; docs/program.md describes every field.
struct infimum_program {
    int64_t n, slot_count, instruction_count, phase_count, output_count;
    const int64_t (*slots)[3];         // kind, size, offset in the constant pool
    const int64_t (*instructions)[8];  // code, dst, a, b, c, p0, p1, p2
    const int64_t (*phases)[6];        // BODY: kind, k, m, first, last, registers
                                       // OTHERS: kind, k, m, out, in, operation; RECURRENCE: kind, count, reverse, out, a, b
    const int64_t *outputs, *tables;
    const double *constant_lo, *constant_hi, *constant_points;
};

// A slot in memory: element j of box w at lo[j*boxes + w] if it is per box, else at lo[j] for all boxes. In point mode
// hi == lo. `readable` doubles may be read from lo on.
struct infimum_slot {
    double *lo, *hi;
    int64_t size, per_box, readable;
};
// An operand of an operation: a register, a piece of a slot, or (stride 0) one interval for all lanes.
struct infimum_value {
    const double *lo, *hi;
    int64_t stride;
};
// One piece of a phase: `groups` groups from `first` on, chunk number `chunk` of each, for all boxes of the block.
struct infimum_tile {
    const infimum_program *program;
    const infimum_slot *slots;
    const int64_t *phase;  // its row
    int64_t point, boxes, first, groups, chunk, block;
    double *registers;  // each 2*pitch doubles
    int64_t pitch;
    infimum_value *values;  // what the registers hold
    double *terms;  // each 2*term_pitch doubles: a chunk of every reduction, then scratch
    int64_t term_pitch;
    double *results;  // each 2*result_pitch doubles: the chunks' results of every reduction, of all groups
    int64_t result_pitch;
};
enum infimum_stage {
    INFIMUM_CHECK,  // 1 if an input is no interval
    INFIMUM_RUN_BODY,
    INFIMUM_JOIN,  // reduce the chunks' results of the groups
    INFIMUM_OTHERS_UP,
    INFIMUM_OTHERS_JOIN,
    INFIMUM_OTHERS_DOWN,
    INFIMUM_RUN_RECURRENCE
};

int infimum_variant_usable(int variant);
void infimum_run_scalar(int op, const infimum_job *job);
void infimum_run_avx2(int op, const infimum_job *job);
void infimum_run_avx512(int op, const infimum_job *job);
int infimum_stage_scalar(int stage, const infimum_tile *tile);
int infimum_stage_avx2(int stage, const infimum_tile *tile);
int infimum_stage_avx512(int stage, const infimum_tile *tile);
// Boxes [first, first + count), in working memory of INFIMUM_LINEAR_SPACE(n) doubles a lane, at a multiple of 64 bytes.
void infimum_linear_scalar(int routine, const infimum_linear_job *job, int64_t first, int64_t count, double *space);
void infimum_linear_avx2(int routine, const infimum_linear_job *job, int64_t first, int64_t count, double *space);
void infimum_linear_avx512(int routine, const infimum_linear_job *job, int64_t first, int64_t count, double *space);
}
