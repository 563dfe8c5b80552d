"""Staging of one function by the core: a working box, the regions split so far, their children on demand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from infimum import core
from infimum.core.codes import Advance, Tables
from infimum.fractions import FRACTIONS, at_fraction
from infimum.graph.build import Build
from infimum.graph.node import Node
from infimum.passes.lowering.lower import lower
from infimum.staging.slopes import Slopes, slopes
from infimum.staging.structure import Structure, structure

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]
Pair = tuple[FloatArray, FloatArray]

_LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True, eq=False)
class Stages:
    """What can be staged of a function: its structure, None where it has none, and its partial derivatives."""

    n: int
    structure: Structure | None
    slopes: Slopes

    def working(self, domain: Pair, inner: Pair, widths: FloatArray | None, variant: str | None = None) -> core.Staging:
        """Return a working box over a domain, given outward and inward."""
        lo, hi, inner_lo, inner_hi = (np.array(end, np.float64) for end in (*domain, *inner))
        wanted = None if widths is None else np.array(np.broadcast_to(widths, self.n), np.float64)
        box = core.Box(lo, hi, inner_lo, inner_hi, wanted, FRACTIONS)
        families = () if self.structure is None else self.structure.families
        epilogue = _nothing() if self.structure is None else self.structure.epilogue.tape
        return core.staging(box, [f.terms() for f in families], epilogue, self.slopes.classes, variant)


def _nothing() -> core.Tape:
    build = Build(1)
    return lower([build.full(build.number(0), 1)], 1).tape


def stages(value: Node, gradients: list[Node], n: int) -> Stages:
    """Return what can be staged of a simplified function, given with one or more expressions of its gradient."""
    return Stages(n, structure(value, n), slopes(gradients, n))


class Staged:
    """One region of a function, split: its children in order, and its best sample point.

    masked: whether the function is smooth around the region, so that partial derivatives may discard children.
    """

    def __init__(self, of: Stages, box: Pair, variables: IndexArray, edges: FloatArray, masked: bool) -> None:
        self.variables = variables
        self.edges = edges
        self._working = of.working(box, box, None)
        self._region = self._working.split(variables, edges)
        extra = of.slopes.extra_ends(*box) if masked else None
        self.stages = self._working.tabulate(self._region, masked, extra) != Tables.NONE

    def children(self, upper: float = np.inf) -> Iterator[tuple[float, tuple[int, ...]]]:
        """Yield the children with a lower bound up to `upper` as (lower bound, digits), in the order (bound, index)."""
        self._working.begin(self._region, upper)
        parts = self.edges.shape[1] - 1
        while self._working.bound(self._region) <= min(upper, _LARGEST):
            left = self._working.left(self._region)
            kind, bound, index = self._working.advance(self._region, upper)
            if kind == Advance.CHILD:
                yield bound, tuple(index // parts**p % parts for p in range(len(self.variables)))
            elif self._working.left(self._region) == left:
                raise AssertionError("a run cannot go on, though children are left")

    def sample(self) -> tuple[FloatArray, core.Sample] | None:
        """Return the best of the children's sample points, with its value in plain doubles and its proved range."""
        found = self._working.sample(self._region)
        return None if found is None else (self._working.point(self._region, found.child, found.fraction), found)


def equal_parts(lo: FloatArray, hi: FloatArray, parts: int) -> FloatArray:
    """Return the edges (ranges, parts + 1) of equal parts."""
    inner = [at_fraction(lo, hi, k / parts) for k in range(1, parts)]
    return np.stack([lo, *inner, hi], 1)
