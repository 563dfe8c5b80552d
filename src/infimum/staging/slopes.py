"""Partial derivatives as classes of one body each, for the masks of a split region.

What a component reads of the whole region (a sum under a square root, the other factors of a product) is an extra,
enclosed once for the region.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from infimum import core
from infimum.backends import cpu
from infimum.graph.node import Node
from infimum.passes.lowering.lower import lower
from infimum.passes.lowering.program import Program
from infimum.passes.separate.scalar import Mixed, Scalar, Tree, Unstageable

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]

_MOST_READS = 8
_FAR_TOO_MANY = 256  # reads at which a component is given up before it is written out
_MOST_CLASSES = 64


@dataclass(frozen=True, eq=False)
class Slopes:
    """Classes of components; extras is the program of what they read of a whole region, made of the nodes `whole`.

    complete: every component of the gradient is here, and none reads an extra. Then no partial derivative discards a
    child that the masks of a smooth region let through.
    """

    classes: tuple[core.Components, ...]
    programs: tuple[Program, ...]  # one a class
    whole: tuple[Node, ...]
    extras: Program | None
    complete: bool

    def extra_ends(self, lo: FloatArray, hi: FloatArray) -> tuple[FloatArray, FloatArray] | None:
        """Return what the components read of the whole region [lo, hi]."""
        if self.extras is None:
            return None
        outputs = cpu.run(self.extras, lo[None], hi[None], threads=1)
        return np.concatenate([a.ravel() for a, _ in outputs]), np.concatenate([b.ravel() for _, b in outputs])


def slopes(gradients: list[Node], n: int) -> Slopes:
    """Return the components of one or more enclosures of the same gradient, each an array expression of n elements."""
    found = [part for gradient in gradients for part in _classes(gradient, n)]
    whole: dict[Node, int] = {}
    size = 0
    for _, scalar, _ in found:
        for node, _ in scalar.extras:
            if node not in whole:
                whole[node] = size
                size += node.size
    classes, programs = [], []
    for variables, scalar, tree in found:
        if not (scalar.columns or scalar.constants or scalar.extras):
            scalar.columns.append(variables)  # a constant slope: its own variable stands for an input
        read, (lo, hi, _) = scalar.gathered()
        columns = [whole[node] + at for node, at in scalar.extras]
        extra = np.stack(columns, 1) if columns else np.empty((variables.size, 0), np.int64)
        programs.append(scalar.program(tree))
        classes.append(core.Components(variables, read, extra, lo, hi, programs[-1].tape))
    covered = sum(c.variables.size for c in classes)
    return Slopes(
        tuple(classes),
        tuple(programs),
        tuple(whole),
        lower(list(whole), n) if whole else None,
        complete=covered == n * len(gradients) and not whole,
    )


def _classes(gradient: Node, n: int) -> list[tuple[IndexArray, Scalar, Tree]]:
    """Return the components that can be had as scalar expressions of few variables, those of one form together."""
    waiting: list[IndexArray] = [np.arange(n)]
    found: list[tuple[IndexArray, Scalar, Tree]] = []
    while waiting and len(found) + len(waiting) <= _MOST_CLASSES:
        variables = waiting.pop()
        scalar = Scalar(variables.size, with_extras=True, most_reads=_FAR_TOO_MANY)
        try:
            tree = scalar.tree(gradient, variables)
        except Mixed as mixed:
            waiting += [variables[mixed.marked], variables[~mixed.marked]]
            continue
        except Unstageable:
            continue
        if len(scalar.columns) <= _MOST_READS:
            found.append((variables, scalar, tree))
    return found
