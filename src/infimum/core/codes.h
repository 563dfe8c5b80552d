// Every integer that crosses the C interface, by name. core/codes.py has the same names and numbers for Python; a test compares
// the two. No header of the standard library: a GPU's compiler reads this too.
#pragma once

// ---------------------------------------------------------------------------------------------- programs (docs/program.md)
enum infimum_slot_kind { INFIMUM_SLOT_INPUT = 0, INFIMUM_SLOT_CONSTANT = 1, INFIMUM_SLOT_VECTOR = 2 };
enum infimum_phase_kind { INFIMUM_BODY = 0, INFIMUM_OTHERS = 1, INFIMUM_RECURRENCE = 2 };
// Instructions; an operation's code is INFIMUM_OP plus its row in operations.def, its facts have codes of their own.
enum infimum_code {
    INFIMUM_LOAD_AFFINE = 0, INFIMUM_LOAD_WINDOW = 1, INFIMUM_LOAD_TABLE = 2, INFIMUM_STORE = 3, INFIMUM_REDUCE = 4,
    INFIMUM_OP = 16, INFIMUM_DEFINED = 4096, INFIMUM_SMOOTH = 8192
};
enum infimum_size { INFIMUM_CHUNK = 256 };  // terms of a reduction that form one tree
enum infimum_mode { INFIMUM_INTERVAL_MODE = 0, INFIMUM_POINT_MODE = 1 };
enum infimum_fact { INFIMUM_IS_DEFINED = 1, INFIMUM_IS_SMOOTH = 2 };  // bits

// ---------------------------------------------------------------------------------------------- what a call returns
enum infimum_status {
    INFIMUM_OK = 0, INFIMUM_NO_OPERATION = 1, INFIMUM_NO_VARIANT = 2, INFIMUM_BAD_SIZES = 3, INFIMUM_NO_THREAD = 4,
    INFIMUM_NO_INTERVAL = 5, INFIMUM_NO_MEMORY = 6, INFIMUM_LATE = 7, INFIMUM_NO_GRADIENT = 8,
    INFIMUM_NO_PROGRAM = 9
};
// Calls of staging return numbers of regions and the codes below, or one of these.
enum infimum_staging_failure {
    INFIMUM_STAGING_NO_MEMORY = -1, INFIMUM_STAGING_FAULT = -2, INFIMUM_STAGING_NOTHING_TO_SPLIT = -3
};

// ---------------------------------------------------------------------------------------------- small linear algebra
enum infimum_linear_routine {
    INFIMUM_LINEAR_IS_POSITIVE = 0, INFIMUM_LINEAR_BOX_MINIMUM = 1, INFIMUM_LINEAR_LEAST_SQUARES = 2, INFIMUM_LINEAR_QUADRATIC = 3
};
enum infimum_quadratic_fact { INFIMUM_QUADRATIC_IS_CONVEX = 1, INFIMUM_QUADRATIC_NO_MINIMISER = 2 };  // bits
// The most boxes that any variant works on at once, and the most variables.
enum infimum_linear_limit { INFIMUM_LINEAR_LANES = 8, INFIMUM_LINEAR_MOST = 256 };

// ---------------------------------------------------------------------------------------------- chains (core/chain)
enum infimum_chain_link {
    INFIMUM_CHAIN_LEVEL = 0, INFIMUM_CHAIN_MONOTONE = 1, INFIMUM_CHAIN_STATIONARY = 2, INFIMUM_CHAIN_MEAN_VALUE = 3
};
// What becomes of a box that is empty, or whose lower bound is above the upper one: nothing; it is dropped; it is emptied.
enum infimum_chain_keeping { INFIMUM_CHAIN_KEEP_ALL = 0, INFIMUM_CHAIN_KEEP_SOME = 1, INFIMUM_CHAIN_KEEP_ROWS = 2 };
// Bits: a side can be cut, as there is a double inside it; one that can be is wider than is asked for.
enum infimum_chain_look { INFIMUM_CHAIN_CAN_BE_CUT = 1, INFIMUM_CHAIN_IS_WIDE = 2 };
// Bits: the slopes and the facts are those of the box as it is; the facts.
enum infimum_chain_known { INFIMUM_CHAIN_HAS_SLOPE = 1, INFIMUM_CHAIN_HAS_FACTS = 2, INFIMUM_CHAIN_IS_DEFINED = 4, INFIMUM_CHAIN_IS_SMOOTH = 8 };

// ---------------------------------------------------------------------------------------------- staging (docs/staging.md)
enum infimum_reduction {
    INFIMUM_REDUCTION_ADD = 0, INFIMUM_REDUCTION_MUL = 1, INFIMUM_REDUCTION_MIN = 2, INFIMUM_REDUCTION_MAX = 3
};
// tabulate: done with all that partial derivatives say of the children; done, but a component is missing; no tables.
enum infimum_tables { INFIMUM_TABLES_COMPLETE = 0, INFIMUM_TABLES_PARTIAL = 1, INFIMUM_TABLES_NONE = 2 };
// advance: no child yet; a child, which is no longer left; the region's tables are needed.
enum infimum_advance { INFIMUM_ADVANCE_NONE = 0, INFIMUM_ADVANCE_CHILD = 1, INFIMUM_ADVANCE_NEEDS_TABLES = 2 };
// settle: a child comes first, or nothing is left; there may be more to open; the region's tables are needed.
enum infimum_settle { INFIMUM_SETTLE_DONE = 0, INFIMUM_SETTLE_NOT_YET = 1, INFIMUM_SETTLE_NEEDS_TABLES = 2 };
