"""A graph made lenient: every rounded result widened, so that its enclosure at a point holds what NumPy computes there.

The traced graph denotes a real function; NumPy computes it with roundings of its own. Copied with the roundings as
intervals, and run at a point, it contains what NumPy gives, unless the graph is another function. No claim rests on it.

    node                                     its copy
    x, take, concat, comparisons, where,     as it is: NumPy computes these without rounding
    min, max, abs, neg, sign, floor, …
    whole numbers up to 2^53                 likewise, whatever the operation
    constant that is no double               2^-30 wider: exact arithmetic may have met cancellation, doubles then lose
    constant beside exact ones               2^-46 wider, zeros by 2^-40: sin(pi) is 0 there, and 1.2e-16 in doubles
    sum of m terms                           the terms m*2^-52 wider: NumPy and BLAS add in another order
    product of m factors                     m*2^-50 wider, and by what an underflow on the way may leave
    recurrence                               factors and terms wider, as a sum's
    atan2                                    zeros of either sign, beside 4 ulps
    sinpi, cospi                             sin and cos of a product with pi, as NumPy would compute them
    any other operation                      4 ulps wider (sin, cos and their kind 16, and 2^-55)
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import numpy as np

from infimum.graph.constant import Constant
from infimum.graph.node import Graph, Node, ancestors
from infimum.graph.payload import integer_of, value_of
from infimum.ops import OPERATIONS
from infimum.ops.record import TINY

_KEEPING = frozenset({"x", "take", "concat", "min_of", "max_of"})  # structural nodes without roundings

_ULP = 2.0**-52
_EXACT_UP_TO = 2.0**53


def widened(outputs: Sequence[Node], has_exact: bool = False) -> list[Node]:
    """Return the outputs in a graph of their own, with every rounded result widened.

    has_exact   exact constants were met: in the numeric run they are computed in doubles
    """
    return _Widen(has_exact).all(outputs)


class _Widen:
    def __init__(self, has_exact: bool) -> None:
        self.graph = Graph()
        self.has_exact = has_exact
        self.made: dict[int, Node] = {}
        self.whole: dict[int, float] = {}  # by number: elements are whole numbers up to this size (or infinity)

    def all(self, outputs: Sequence[Node]) -> list[Node]:
        for node in ancestors(outputs):
            self.made[node.number] = self._copy(node)
            largest = self._largest(node)
            if largest is not None:
                self.whole[node.number] = largest
        return [self.made[node.number] for node in outputs]

    # ------------------------------------------------------------------------------------------ whole numbers
    def _largest(self, node: Node) -> float | None:
        """Return the size up to which the elements are whole numbers; None where they need not be whole."""
        row = OPERATIONS.get(node.op)
        if row is not None and row.values in ("signs", "truths"):
            return 1.0
        if row is not None and row.values == "integers":
            return self.whole.get(node.args[0].number, math.inf)
        if node.op == "constant":
            value = value_of(node)
            if value.doubles is None or not np.all(value.doubles == np.rint(value.doubles)):
                return None
            return float(np.max(np.abs(value.doubles), initial=0.0))
        operands = node.args[1:] if node.op == "where" else node.args
        sizes = [self.whole.get(a.number) for a in operands]
        known = [size for size in sizes if size is not None]
        if not operands or len(known) < len(sizes):
            return None
        if row is not None:
            return row.whole(*known) if row.whole is not None else None
        if node.op in _KEEPING:
            return max(known)
        return known[0] * integer_of(node) if node.op == "sum" else None

    # ------------------------------------------------------------------------------------------ nodes
    def _copy(self, node: Node) -> Node:
        args = [self.made[a.number] for a in node.args]
        if node.op == "constant":
            return self._constant(value_of(node))
        if node.op == "atan2":  # a zero may bear a minus sign in NumPy, which chooses the side of the branch
            args = [self._plus(a, TINY) for a in args]
        if node.op in ("sinpi", "cospi"):
            turned = self._node("mul", [args[0], self._between(math.pi * (1 - _ULP), math.pi * (1 + _ULP))])
            return self._rounded(node, self._node(node.op[:3], [turned]))
        if node.op == "recurrence":
            factors, terms = (self._times(a, (node.size + 4) * _ULP) for a in args)
            return self._node("recurrence", [factors, self._plus(terms, TINY)], node.size, node.data)
        if node.op in ("sum", "others") and node.size < node.args[0].size:
            width = node.args[0].size // node.size
            args = [self._times(args[0], (width + 4) * _ULP)] if self._may_round(node) else args
            return self._node(node.op, args, node.size, node.data)
        copied = self._node(node.op, args, node.size, node.data)
        exact = OPERATIONS[node.op].ulps == 0 if node.op in OPERATIONS else node.op in _KEEPING
        if exact or not self._may_round(node):
            return copied
        return self._product(node, args, copied) if node.op == "prod" else self._rounded(node, copied)

    def _may_round(self, node: Node) -> bool:
        largest = self._largest(node)
        return largest is None or largest > _EXACT_UP_TO

    def _constant(self, value: Constant) -> Node:
        if value.doubles is not None and not self.has_exact:
            return self._node("constant", (), value.size, value)
        lo, hi = value.enclosure()
        share = 64 * _ULP if value.doubles is not None else 2.0**-30
        slack = np.maximum(np.abs(lo), np.abs(hi)) * share
        slack[(lo == 0.0) & (hi == 0.0)] = 2.0**-40
        return self._node("constant", (), value.size, Constant(bounds=(lo - slack, hi + slack)))

    def _rounded(self, node: Node, copied: Node) -> Node:
        if self._largest(node) is not None:  # whole, and rounded only beyond 2^53
            small = self._node("is_less_equal", [self._node("abs", [copied]), self._between(_EXACT_UP_TO)])
            return self._node("where", [small, copied, self._times(copied, 4 * _ULP)])
        row = OPERATIONS.get(node.op)
        ulps, slack = (row.ulps, row.slack) if row is not None else (4, 0.0 if node.op == "sum" else TINY)
        wide = self._times(copied, ulps * _ULP)
        return self._plus(wide, slack) if slack else wide

    def _product(self, node: Node, args: list[Node], copied: Node) -> Node:
        width = integer_of(node)
        growth = self._node("max", [self._node("abs", args), self._between(1.0)])
        lost = self._node("mul", [self._node("prod", [growth], node.size, width), self._between(-TINY, TINY)])
        wide = self._times(copied, 4 * width * _ULP)
        return self._node("add", [wide, self._times(lost, float(width))])

    # ------------------------------------------------------------------------------------------ building
    def _node(self, op: str, args: Sequence[Node], size: int | None = None, data: Hashable = None) -> Node:
        if size is None:
            size = max(a.size for a in args)
        return self.graph.node(op, args, size, data)

    def _between(self, lo: float, hi: float | None = None) -> Node:
        ends = np.array([lo]), np.array([lo if hi is None else hi])
        return self._node("constant", (), 1, Constant(ends[0]) if hi is None else Constant(bounds=ends))

    def _times(self, node: Node, share: float) -> Node:
        """Return the node, wider by a share of its size."""
        return self._node("mul", [node, self._between(1.0 - share, 1.0 + share)])

    def _plus(self, node: Node, slack: float) -> Node:
        return self._node("add", [node, self._between(-slack, slack)])
