// The variants of this library by number.
#pragma once
#include "schedule.h"

// The virtual machine of a usable variant.
Stage stage_of(int variant);
// Its small linear algebra.
typedef void (*Linear)(int, const infimum_linear_job *, int64_t, int64_t, double *);
Linear linear_of(int variant);
