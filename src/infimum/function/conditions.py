"""Boxes on which a condition of a `where` can hold, or can fail (POLICY): where a function that jumps may be small.

A spike of width 1e-6 in 1,000 variables is never hit by sampling. The box on which its condition holds is what
contraction leaves of all reals when the condition's value must be 1. The operands of and, or, all, any and not are
conditions too: an `or` alone says nothing of either side. Whatever comes out is only a proposal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from infimum.backends import cpu
from infimum.deadline import ask
from infimum.fractions import at_fraction
from infimum.graph.node import Node, ancestors
from infimum.passes.contract.contraction import contraction

FloatArray = npt.NDArray[np.float64]

_MOST_CONDITIONS = 32  # each costs a program, and every box a point for each region that is looked at
_MOST_NODES = 2**16  # of all conditions together: beyond, the programs would take longer than the search
_JOINED = frozenset({"min", "max", "min_of", "max_of", "sub"})  # and, or, all, any, not


@dataclass(frozen=True, eq=False)
class ConditionBox:
    """A box that a condition allows: the variables that it limits, and their ranges."""

    variables: npt.NDArray[np.int64]
    lo: FloatArray
    hi: FloatArray

    def point(self, lo: FloatArray, hi: FloatArray, start: FloatArray) -> FloatArray | None:
        """Return the start with the limited variables at the middle of their ranges in [lo, hi]; None without any."""
        low, high = np.maximum(self.lo, lo[self.variables]), np.minimum(self.hi, hi[self.variables])
        if not (low <= high).all():
            return None
        x = np.clip(start, lo, hi)
        x[self.variables] = at_fraction(low, high, 0.5)
        return x


def condition_boxes(value: Node, n: int) -> list[ConditionBox]:
    """Return the boxes on which the conditions of an expression can hold, and can fail, where they limit variables."""
    found: dict[bytes, ConditionBox] = {}  # by their ends: `all` limits x as its operand does
    for condition in _conditions(value):
        ask()
        wanted = np.repeat([[1.0], [0.0]], condition.size, axis=1)
        everywhere = np.full((2, n), np.inf)
        ends = np.hstack([-everywhere, wanted]), np.hstack([everywhere, wanted])
        (lo, hi), _ = cpu.run(contraction([condition], n), *ends)
        for low, high in zip(lo, hi, strict=True):
            (limited,) = np.nonzero((low > -np.inf) | (high < np.inf))
            if limited.size and (low <= high).all():
                found.setdefault(low.tobytes() + high.tobytes(), ConditionBox(limited, low[limited], high[limited]))
    return list(found.values())


def _conditions(value: Node) -> list[Node]:
    """Return the conditions of all `where`s, and then those that they are joined from, as many as are worth it."""
    waiting = [node.args[0] for node in ancestors([value]) if node.op == "where"]
    found: dict[Node, None] = {}
    nodes = 0
    for condition in waiting:
        if condition in found or condition.op == "constant":
            continue
        nodes += len(ancestors([condition]))
        if len(found) == _MOST_CONDITIONS or nodes > _MOST_NODES:
            break
        found[condition] = None
        if condition.op in _JOINED:
            waiting += condition.args
    return list(found)
