"""The compiled interval core (PROOF): operations over arrays of intervals, found by name.

Knows: lo and hi arrays, operations, variants of the instruction set. Never knows: expressions, boxes, searches.
Hands on: `apply` (the enclosure of an operation's range) and `facts` (is it defined, is it smooth there).

An interval is a pair (lo, hi); the empty interval is (+inf, -inf). Zeros come out as +0, and every variant gives the
same bits.
"""

from __future__ import annotations

from pathlib import Path

from infimum.core.library import Core, Operation, load

__all__ = ["Core", "Operation", "apply", "facts", "load", "operations", "variants"]

_core = load(Path(__file__).parent / "libinfimum_core.so")

apply = _core.apply
facts = _core.facts
operations = _core.operations
variants = _core.variants
