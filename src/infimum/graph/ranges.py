"""What the nodes of a graph can be over the domain: enclosures made while tracing, node by node, where one asks.

They decide which of NumPy's special cases (a divisor that is 0, a base that is negative) can occur at all.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from infimum import core
from infimum.graph.node import REDUCTIONS, Node
from infimum.graph.ops import OPERATIONS
from infimum.graph.payload import integer_of, map_of, value_of

FloatArray = npt.NDArray[np.float64]
Ends = tuple[FloatArray, FloatArray]


class Ranges:
    """Enclosures of nodes over a box of the variables, the entire space where none is given; each is made once.

    Guarantee: at every point of the box where a node is defined, its value lies within its range.
    """

    def __init__(self, n: int, box: Ends | None = None) -> None:
        ends = (np.full(n, -np.inf), np.full(n, np.inf)) if box is None else box
        self._box = tuple(np.asarray(end, np.float64) for end in ends)
        self._known: dict[Node, Ends] = {}

    def of(self, node: Node) -> Ends:
        """Return the ends of the node's elements, arrays of its size (or of 1 for all)."""
        pending = [node]
        while pending:
            current = pending[-1]
            below = [] if current in self._known else [a for a in current.args if a not in self._known]
            if below:
                pending.extend(below)
                continue
            pending.pop()
            if current not in self._known:
                self._known[current] = self._made(current)
        return self._known[node]

    def _made(self, node: Node) -> Ends:
        if node.op == "x":
            return self._box[0], self._box[1]
        if node.op == "constant":
            return value_of(node).enclosure()
        args = [self._known[a] for a in node.args]
        if node.op in OPERATIONS:
            param = integer_of(node) if node.op == "pown" else 0
            return core.apply(node.op, *args, param=param)
        if node.op == "take":
            indices = map_of(node).indices()
            lo, hi = (np.broadcast_to(end, node.args[0].size)[indices] for end in args[0])
            return np.where(indices < 0, 0.0, lo), np.where(indices < 0, 0.0, hi)
        if node.op == "concat":
            wide = [[np.broadcast_to(end, a.size) for end in ends] for ends, a in zip(args, node.args, strict=True)]
            return np.concatenate([lo for lo, _ in wide]), np.concatenate([hi for _, hi in wide])
        if node.op in REDUCTIONS:
            rows = node.size, integer_of(node)
            lo, hi = (np.broadcast_to(end, node.args[0].size).reshape(rows) for end in args[0])
            return _folded(REDUCTIONS[node.op], lo, hi)
        return np.full(1, -np.inf), np.full(1, np.inf)


def _folded(op: str, lo: FloatArray, hi: FloatArray) -> Ends:
    """Return the reductions of the rows."""
    while lo.shape[1] > 1:
        half = lo.shape[1] // 2
        up = core.apply(op, (lo[:, :half], hi[:, :half]), (lo[:, half : 2 * half], hi[:, half : 2 * half]))
        lo, hi = (np.concatenate([new, end[:, 2 * half :]], axis=1) for new, end in zip(up, (lo, hi), strict=True))
    return lo[:, 0], hi[:, 0]
