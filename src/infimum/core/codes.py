"""Every integer that crosses the C interface, by name; core/codes.h has the same names and numbers for C++."""

from __future__ import annotations

from enum import IntEnum

# Programs (docs/program.md). An operation's code is OP plus its number; its facts have codes of their own.
SlotKind = IntEnum("SlotKind", {"INPUT": 0, "CONSTANT": 1, "VECTOR": 2})
PhaseKind = IntEnum("PhaseKind", {"BODY": 0, "OTHERS": 1, "RECURRENCE": 2})
Code = IntEnum(
    "Code",
    {
        "LOAD_AFFINE": 0, "LOAD_WINDOW": 1, "LOAD_TABLE": 2, "STORE": 3, "REDUCE": 4,
        "OP": 16, "DEFINED": 4096, "SMOOTH": 8192,
    },
)  # fmt: skip
Size = IntEnum("Size", {"CHUNK": 256})  # terms of a reduction that form one tree
Mode = IntEnum("Mode", {"INTERVAL_MODE": 0, "POINT_MODE": 1})
Fact = IntEnum("Fact", {"IS_DEFINED": 1, "IS_SMOOTH": 2})  # bits

# What a call returns; calls of staging return the codes below them, numbers of regions, or a failure.
Status = IntEnum(
    "Status",
    {
        "OK": 0, "NO_OPERATION": 1, "NO_VARIANT": 2, "BAD_SIZES": 3, "NO_THREAD": 4, "NO_INTERVAL": 5, "NO_MEMORY": 6,
        "LATE": 7, "NO_GRADIENT": 8, "NO_PROGRAM": 9,
    },
)  # fmt: skip
StagingFailure = IntEnum("StagingFailure", {"NO_MEMORY": -1, "FAULT": -2, "NOTHING_TO_SPLIT": -3})

# Small linear algebra (core/linear).
LinearRoutine = IntEnum("LinearRoutine", {"IS_POSITIVE": 0, "BOX_MINIMUM": 1, "LEAST_SQUARES": 2, "QUADRATIC": 3})
QuadraticFact = IntEnum("QuadraticFact", {"IS_CONVEX": 1, "NO_MINIMISER": 2})  # bits
LinearLimit = IntEnum("LinearLimit", {"LANES": 8, "MOST": 256})

# Chains (core/chain). ChainKnown: bits; the slopes and the facts are those of the box as it is.
ChainLink = IntEnum("ChainLink", {"LEVEL": 0, "MONOTONE": 1, "STATIONARY": 2, "MEAN_VALUE": 3})
ChainKeeping = IntEnum("ChainKeeping", {"KEEP_ALL": 0, "KEEP_SOME": 1, "KEEP_ROWS": 2})
ChainKnown = IntEnum("ChainKnown", {"HAS_SLOPE": 1, "HAS_FACTS": 2, "IS_DEFINED": 4, "IS_SMOOTH": 8})
ChainLook = IntEnum("ChainLook", {"CAN_BE_CUT": 1, "IS_WIDE": 2})

# Staging (docs/staging.md). Tables: PARTIAL where a partial derivative is missing, NONE where the split does not stage.
Reduction = IntEnum("Reduction", {"ADD": 0, "MUL": 1, "MIN": 2, "MAX": 3})
Tables = IntEnum("Tables", {"COMPLETE": 0, "PARTIAL": 1, "NONE": 2})
Advance = IntEnum("Advance", {"NONE": 0, "CHILD": 1, "NEEDS_TABLES": 2})
Settle = IntEnum("Settle", {"DONE": 0, "NOT_YET": 1, "NEEDS_TABLES": 2})
