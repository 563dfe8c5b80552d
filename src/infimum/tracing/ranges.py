"""What the nodes of a graph can be over the domain: enclosures made while tracing, node by node, where one asks.

They decide which of NumPy's special cases (a divisor that is 0, a base that is negative) can occur at all.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from infimum import core
from infimum.graph.indexmap import Affine
from infimum.graph.node import REDUCTIONS, Node, bottom_up
from infimum.graph.payload import integer_of, map_of, value_of
from infimum.ops import OPERATIONS

FloatArray = npt.NDArray[np.float64]
Ends = tuple[FloatArray, FloatArray]
Pair = tuple[float, float]


class Ranges:
    """Enclosures of nodes over a box of the variables, the entire space where none is given; each is made once.

    Guarantee: at every point of the box where a node is defined, its value lies within its range.
    """

    def __init__(self, n: int, box: Ends | None = None) -> None:
        ends = (np.full(n, -np.inf), np.full(n, np.inf)) if box is None else box
        self._box = tuple(np.asarray(end, np.float64) for end in ends)
        self._known: dict[Node, Any] = {}

    def of(self, node: Node) -> Any:
        """Return the ends of the node's elements: arrays of its size or of 1 for all, or plain floats."""
        return bottom_up(node, self._known, self._made)

    def _made(self, node: Node) -> Any:
        if node.op == "x":
            return self._box[0], self._box[1]
        if node.op == "constant":
            return value_of(node).enclosure()
        args = [self._known[a] for a in node.args]
        is_square = (node.op == "pown" and node.data == 2) or (node.op == "mul" and node.args[0] is node.args[1])
        name, args = ("sqr", args[:1]) if is_square else (node.op, args)
        if node.size == 1 and name in _QUICK:
            quick = _QUICK[name](*(ends if type(ends[0]) is float else _floats(ends) for ends in args))
            if quick[0] <= quick[1]:  # not so with NaN, of inf - inf, or where an operand is empty
                return quick
        if node.op in OPERATIONS:
            param = integer_of(node) if node.op == "pown" else 0
            return core.apply(name, *args, param=param)
        if node.op == "take":
            m = map_of(node)
            if isinstance(m, Affine) and not m.dims and len(args[0][0]) == m.source:
                return float(args[0][0][m.offset]), float(args[0][1][m.offset])
            indices = m.indices()
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


def _floats(ends: Ends) -> Pair:
    return np.asarray(ends[0]).item(), np.asarray(ends[1]).item()


def _down(value: float) -> float:
    return math.nextafter(value, -math.inf)


def _up(value: float) -> float:
    return math.nextafter(value, math.inf)


def _sum_down(total: float) -> float:
    return total and _down(total)  # a sum of doubles that comes out as 0 is 0


def _sum_up(total: float) -> float:
    return total and _up(total)


def _square(x: Pair) -> Pair:
    least, most = sorted((abs(x[0]), abs(x[1])))
    return (0.0 if x[0] <= 0.0 <= x[1] else max(0.0, _down(least * least))), _up(most * most)


def _magnitude(x: Pair) -> Pair:
    least, most = sorted((abs(x[0]), abs(x[1])))
    return (0.0 if x[0] <= 0.0 <= x[1] else least), most


def _equal(x: Pair, y: Pair) -> Pair:
    apart = x[1] < y[0] or y[1] < x[0]
    return float(x[0] == x[1] == y[0] == y[1]), 0.0 if apart else 1.0


# The commonest operations on single numbers, a step wider than the core's: a loop over x[i] asks thousands of times.
_QUICK: dict[str, Callable[..., Pair]] = {
    "neg": lambda x: (-x[1], -x[0]),
    "add": lambda x, y: (_sum_down(x[0] + y[0]), _sum_up(x[1] + y[1])),
    "sub": lambda x, y: (_sum_down(x[0] - y[1]), _sum_up(x[1] - y[0])),
    "sqr": _square,
    "abs": _magnitude,
    "is_less": lambda x, y: (float(x[1] < y[0]), float(x[0] < y[1])),
    "is_equal": _equal,
}


def _folded(op: str, lo: FloatArray, hi: FloatArray) -> Ends:
    """Return the reductions of the rows."""
    while lo.shape[1] > 1:
        half = lo.shape[1] // 2
        up = core.apply(op, (lo[:, :half], hi[:, :half]), (lo[:, half : 2 * half], hi[:, half : 2 * half]))
        lo, hi = (np.concatenate([new, end[:, 2 * half :]], axis=1) for new, end in zip(up, (lo, hi), strict=True))
    return lo[:, 0], hi[:, 0]
