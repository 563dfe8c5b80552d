"""Nodes of sets, made as they stand: sets are not functions of x, and no rewrite may read two as the same number."""

from __future__ import annotations

from typing import Any

import numpy as np

from infimum.graph import indexmap
from infimum.graph.build import Build
from infimum.graph.constant import Constant
from infimum.graph.indexmap import IndexMap
from infimum.graph.node import Node

_ENTIRE = Constant(bounds=(np.array([-np.inf]), np.array([np.inf])))


class Sets:
    """Operations on sets by name, and index maps."""

    def __init__(self, build: Build) -> None:
        self.build = build
        self.entire = build.constant(_ENTIRE)
        self.zero, self.one = build.number(0), build.number(1)

    def op(self, name: str, *args: Node, data: Any = None) -> Node:
        """Return an elementwise node."""
        return self.build.graph.node(name, args, max(a.size for a in args), data)

    def take(self, node: Node, m: IndexMap) -> Node:
        return node if indexmap.is_identity(m) else self.build.graph.node("take", (node,), m.size, m)

    def reduce(self, op: str, node: Node, width: int) -> Node:
        return self.build.graph.node(op, (node,), node.size // width, width)

    def full(self, node: Node, size: int) -> Node:
        """Return the node spread to `size` elements."""
        return node if node.size == size else self.take(node, indexmap.broadcast(size))

    def spread(self, node: Node, groups: int, width: int) -> Node:
        """Return each group's element for all of its elements; a scalar stays a scalar."""
        if node.size == 1:
            return node
        return self.take(node, indexmap.affine([(groups, 1), (width, 0)], 0, groups))


def inverse(m: IndexMap, size: int) -> indexmap.Indices | None:
    """Return who reads each source, -1 for nobody; None if some source has several readers."""
    indices = m.indices()
    (positions,) = np.nonzero(indices >= 0)
    back = np.full(size, -1, np.int64)
    back[indices[positions]] = positions
    return back if np.array_equal(back[indices[positions]], positions) else None
