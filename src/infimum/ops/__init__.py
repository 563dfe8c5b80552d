"""One record per operation (PROOF): what is true of it, in one place; record.py says what a record holds.

Knows: names, derivatives, inverses, domains. Never knows: graphs, intervals, NumPy's tracing.
Hands on: OPERATIONS, from which every table of operation names is derived.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from infimum.ops.arithmetic import ARITHMETIC, LARGEST_POWER
from infimum.ops.choice import CHOICE
from infimum.ops.exponential import EXPONENTIAL
from infimum.ops.record import Operation
from infimum.ops.special import SPECIAL
from infimum.ops.steps import STEPS
from infimum.ops.trigonometric import TRIGONOMETRIC

__all__ = ["LARGEST_POWER", "OPERATIONS", "Operation", "names_with", "ufunc_names"]

OPERATIONS = {row.name: row for row in (*ARITHMETIC, *CHOICE, *STEPS, *EXPONENTIAL, *TRIGONOMETRIC, *SPECIAL)}


def names_with(condition: Callable[[Operation], object]) -> frozenset[str]:
    """Return the names of the operations whose records fulfil a condition."""
    return frozenset(row.name for row in OPERATIONS.values() if condition(row))


def ufunc_names(op: str) -> tuple[str, ...]:
    """Return the names of NumPy's and SciPy's universal functions that denote an operation."""
    row = OPERATIONS[op]
    return (*(name for name in row.numpy if isinstance(getattr(np, name, None), np.ufunc)), *row.scipy)
