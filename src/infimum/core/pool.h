// The pool's part of the C interface.
#pragma once
#include <cstdint>

extern "C" {
void *infimum_pool_make(int64_t n);
void infimum_pool_free(void *made);
int64_t infimum_pool_count(void *made);
double infimum_pool_lowest(void *made);
void infimum_pool_drop_above(void *made, double upper);
int64_t infimum_pool_count_up_to(void *made, double upper);
int infimum_pool_add(void *made, int64_t count, const double *lo, const double *hi, const double *lower, int threads);
int infimum_pool_add_halves(void *made, int64_t count, const double *lo, const double *hi, const double *lower,
                            const int64_t *side, const double *at, int64_t *cuts, int threads);
int infimum_pool_take(void *made, int64_t most, double *lo, double *hi, double *lower, int64_t *taken, int threads);
int infimum_pool_read(void *made, double upper, int64_t *at, int64_t most, double *lo, double *hi, double *lower, int64_t *read);
}
