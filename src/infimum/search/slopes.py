"""Partial derivatives that read few variables, tabulated over the parts of a split: which children they discard.

A component that reads only x directly (no scalar over all of x) and at most three split variables has at most 64 values
on the children of a region. Where it cannot be zero and the child does not touch the matching edge of the domain, every
child with those digits is discarded. Only for functions that are smooth everywhere by their operations alone; others
are tested child by child, with their facts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from infimum.backends import cpu
from infimum.domain import Domain
from infimum.graph.node import Node
from infimum.passes.program import Program
from infimum.search.structure import Scalar, Tree, Unstageable
from infimum.search.tables import MOST_POSITIONS, Split

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

_MOST_READS = 8


@dataclass(frozen=True, eq=False)
class Component:
    """One partial derivative as a function of the few variables that it reads."""

    variable: int
    reads: tuple[int, ...]
    lo: FloatArray
    hi: FloatArray
    program: Program


@dataclass(frozen=True, eq=False)
class Mask:
    """Digits at the positions for which a component discards: one truth value a combination."""

    positions: tuple[int, ...]
    discards: BoolArray  # (parts, …)


class Slopes:
    """The components of a gradient, each looked at when first needed."""

    def __init__(self, gradient: Node) -> None:
        self.gradient = gradient
        self._components: dict[int, Component | None] = {}
        self._programs: dict[Tree, Program] = {}

    def component(self, variable: int) -> Component | None:
        if variable not in self._components:
            self._components[variable] = self._made(variable)
        return self._components[variable]

    def _made(self, variable: int) -> Component | None:
        scalar = Scalar(1)
        try:
            tree = scalar.tree(self.gradient, np.array([variable]))
        except Unstageable:
            return None
        reads, (lo, hi, _) = scalar.gathered()
        if reads.shape[1] > _MOST_READS or reads.shape[1] == 0:
            return None
        program = self._programs.get(tree)
        if program is None:
            program = self._programs[tree] = scalar.program(tree)
        return Component(variable, tuple(reads[0].tolist()), lo[0], hi[0], program)

    def masks(self, split: Split, lo: FloatArray, hi: FloatArray, domain: Domain) -> list[Mask]:
        """What the components that the split touches discard on the region [lo, hi].

        The components that read x_v are those of the variables that component v reads: mixed derivatives commute.
        """
        position = {int(v): p for p, v in enumerate(split.variables)}
        near: set[int] = set()
        for v in position:
            own = self.component(v)
            if own is not None:
                near.update(own.reads)
        rows: dict[Program, list[_Rows]] = {}
        for variable in sorted(near):
            component = self.component(variable)
            if component is None:
                continue
            positions = tuple(sorted({position[r] for r in component.reads if r in position}))
            if 0 < len(positions) <= MOST_POSITIONS:
                made = _rows(component, positions, split, lo, hi, position)
                rows.setdefault(component.program, []).append(made)
        return [mask for program, group in rows.items() for mask in _masks(program, group, split, domain)]


class _Rows(NamedTuple):
    """The boxes of one component, one a combination of digits; own_lo and own_hi are the ends of its own variable."""

    component: Component
    positions: tuple[int, ...]
    lo: FloatArray
    hi: FloatArray
    own_lo: FloatArray
    own_hi: FloatArray


def _rows(
    component: Component,
    positions: tuple[int, ...],
    split: Split,
    lo: FloatArray,
    hi: FloatArray,
    position: dict[int, int],
) -> _Rows:
    digits = np.indices((split.parts,) * len(positions)).reshape(len(positions), -1)
    count, reads = digits.shape[1], len(component.reads)
    low, high = np.empty((count, reads + component.lo.size)), np.empty((count, reads + component.lo.size))
    own_lo, own_hi = np.full(count, lo[component.variable]), np.full(count, hi[component.variable])
    for column, variable in enumerate(component.reads):
        if variable in position:
            p = position[variable]
            digit = digits[positions.index(p)]
            low[:, column], high[:, column] = split.edges[p, digit], split.edges[p, digit + 1]
        else:
            low[:, column], high[:, column] = lo[variable], hi[variable]
        if variable == component.variable:
            own_lo, own_hi = low[:, column], high[:, column]
    low[:, reads:], high[:, reads:] = component.lo, component.hi
    return _Rows(component, positions, low, high, own_lo, own_hi)


def _masks(program: Program, group: list[_Rows], split: Split, domain: Domain) -> list[Mask]:
    """Where a component has one sign and the child does not touch the edge that this sign points away from."""
    low, high = np.concatenate([rows.lo for rows in group]), np.concatenate([rows.hi for rows in group])
    ((a, b),) = cpu.run(program, low, high, threads=1)
    found, start = [], 0
    for rows in group:
        part = slice(start, start + len(rows.lo))
        start += len(rows.lo)
        variable = rows.component.variable
        rising = (a[part, 0] > 0) & (rows.own_lo != domain.lo[variable])
        falling = (b[part, 0] < 0) & (rows.own_hi != domain.hi[variable])
        discards = ((rising | falling) & (a[part, 0] <= b[part, 0])).reshape((split.parts,) * len(rows.positions))
        if discards.any():
            found.append(Mask(rows.positions, discards))
    return found
