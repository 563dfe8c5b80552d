"""The compiled interval core (PROOF): operations over arrays of intervals, found by name.

Knows: lo and hi arrays, operations, variants of the instruction set. Never knows: expressions, searches.
Hands on: `apply` (the enclosure of an operation's range), `facts` (is it defined, is it smooth there), `run_tape` (a
whole program on many boxes) and `staging` (the children of a region at the cost of what a split touches).

An interval is a pair (lo, hi); the empty interval is (+inf, -inf). Zeros come out as +0, and every variant gives the
same bits.
"""

from __future__ import annotations

from pathlib import Path

from infimum.core.library import Core, Operation, load
from infimum.core.stages import Box, Components, Sample, Staging, Terms
from infimum.core.tape import Standing, Tape

__all__ = [
    "POWERS",
    "Box",
    "Components",
    "Core",
    "Operation",
    "Sample",
    "Staging",
    "Standing",
    "Tape",
    "Terms",
    "apply",
    "facts",
    "load",
    "operations",
    "run_tape",
    "staging",
    "standing",
    "variants",
]

_core = load(Path(__file__).parent / "libinfimum_core.so")

apply = _core.apply
facts = _core.facts
operations = _core.operations
run_tape = _core.run_tape
standing = _core.standing
staging = _core.staging
variants = _core.variants
# These take an integer exponent beside their operands.
POWERS = frozenset(name for name in operations() if name.startswith("pown"))
