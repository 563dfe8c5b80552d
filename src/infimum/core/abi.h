// What the variants and the C interface share: plain C, so that nothing of it exists once per instruction set.
#pragma once
#include <cstdint>

extern "C" {
// One operation over `count` intervals. in: lo and hi of each operand in turn; strides 0 or 1.
struct infimum_job {
    const double *in[6];
    int64_t strides[3];
    double *lo, *hi;
    unsigned char *facts;
    int64_t count, param;
};
void infimum_run_scalar(int op, const infimum_job *job);
void infimum_run_avx2(int op, const infimum_job *job);
void infimum_run_avx512(int op, const infimum_job *job);
}
