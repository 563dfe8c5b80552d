"""The compiled interval core (PROOF): operations over arrays of intervals, found by name.

Knows: lo and hi arrays, operations, variants of the instruction set. Never knows: expressions, searches.
Hands on: `apply` (the enclosure of an operation's range), `facts` (is it defined, is it smooth there) and `run_tape` (a
whole program on many boxes).

An interval is a pair (lo, hi); the empty interval is (+inf, -inf). Zeros come out as +0, and every variant gives the
same bits.
"""

from __future__ import annotations

from pathlib import Path

from infimum.core.library import Core, Operation, load
from infimum.core.tape import Tape

__all__ = ["Core", "Operation", "Tape", "apply", "facts", "load", "operations", "run_tape", "variants"]

_core = load(Path(__file__).parent / "libinfimum_core.so")

apply = _core.apply
facts = _core.facts
operations = _core.operations
run_tape = _core.run_tape
variants = _core.variants
