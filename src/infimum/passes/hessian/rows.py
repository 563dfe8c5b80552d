"""The Hessian of few variables as an array of expressions: its lower triangle, each element once.

Every colour of the pattern (pattern.py) is one seed; the elements of the gradient's tangent along it are second
derivatives, of which those of the lower triangle are kept. A pattern of few colours costs few tangents, however many
variables there are; for a full one each variable is a seed of its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from infimum.graph import indexmap
from infimum.graph.build import Build
from infimum.graph.node import Node
from infimum.passes.hessian.pattern import Pattern
from infimum.passes.hessian.tangent import Tangents, unit

IndexArray = npt.NDArray[np.int64]


class Triangle(NamedTuple):
    """Elements (rows, columns) of a Hessian, rows >= columns, as one array expression; all others are 0."""

    values: Node
    rows: IndexArray
    columns: IndexArray


def triangle(build: Build, gradient: Node, pattern: Pattern) -> Triangle:
    """Return the lower triangle of the gradient's derivatives."""
    n, pieces, order = pattern.n, [], []
    colour = pattern.colours[pattern.columns]
    for c in range(pattern.count):
        (wanted,) = np.nonzero(colour == c)
        if not wanted.size:
            continue
        along = Tangents(build, unit(build, np.flatnonzero(pattern.colours == c), n))
        read = build.take(gradient, indexmap.of_indices(pattern.rows[wanted], n))
        pieces.append(build.full(along.of(read) or build.number(0), wanted.size))
        order.append(wanted)
    if not pieces:
        none = np.empty(0, np.int64)
        return Triangle(build.number(0), none, none)
    at = np.concatenate(order)
    return Triangle(build.concat(pieces), pattern.rows[at], pattern.columns[at])
