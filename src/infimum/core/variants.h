// The variants of this library by number.
#pragma once
#include "schedule.h"

// The virtual machine of a usable variant.
Stage stage_of(int variant);
