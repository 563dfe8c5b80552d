"""Derivatives of arrays by single inputs, forward: what a column of residuals changes along one parameter.

    node                  derivative
    an input              1 for itself, 0 for another
    elementwise           sum over operands of slope (of its record) times the operand's
    where                 that of the branch chosen
    take, concat, sum     of the operands', likewise
    others of a sum       likewise
    recurrence            likewise, the factors not changing
    any other             none is made: NoTangent

Slopes are formulas that hold where the node is smooth: whoever uses a derivative asks for that as well (`facts`).
"""

from __future__ import annotations

from infimum.graph.build import Build
from infimum.graph.node import Node, ancestors
from infimum.graph.payload import integer_of, is_number, map_of, others_of
from infimum.ops import OPERATIONS


class NoTangent(Exception):
    """An expression whose derivative is not made here."""


class Tangents:
    """Derivatives of nodes by one input; None stands for 0."""

    def __init__(self, build: Build, variable: int) -> None:
        self.build = build
        self.variable = variable
        self._made: dict[Node, Node | None] = {}

    def of(self, node: Node) -> Node | None:
        """Return the derivative of a node, an array of its size or a scalar for all elements."""
        for inner in ancestors([node]):
            if inner not in self._made:
                self._made[inner] = self._new(inner)
        return self._made[node]

    def _new(self, node: Node) -> Node | None:
        b = self.build
        if node.op == "x":
            return self._read(list(range(node.size)))
        if node.op == "take" and node.args[0].op == "x":
            return self._read(map_of(node).indices().tolist())
        below = [self._made[a] for a in node.args]
        if all(one is None for one in below):
            return None
        if node.op in OPERATIONS:
            return self._elementwise(node, below)
        whole = [b.number(0) if one is None else one for one in below]
        full = [b.full(one, a.size) for one, a in zip(whole, node.args, strict=True)]
        if node.op == "take":
            return b.take(full[0], map_of(node))
        if node.op == "concat":
            return b.concat(full)
        if node.op == "sum":
            return b.reduce("sum", full[0], integer_of(node))
        if node.op == "others" and others_of(node)[0] == "add":
            return b.others("add", full[0], others_of(node)[1])
        if node.op == "recurrence" and below[0] is None:
            return b.recurrence(node.args[0], full[1], node.size, bool(node.data))
        raise NoTangent

    def _read(self, variables: list[int]) -> Node | None:
        own = [float(variable == self.variable) for variable in variables]
        return self.build.number(own) if any(own) else None

    def _elementwise(self, node: Node, below: list[Node | None]) -> Node | None:
        b = self.build
        if node.op == "where":
            branches = (b.number(0) if one is None else one for one in below[1:])
            return b.full(b.apply("where", node.args[0], *branches), node.size)
        total: Node | None = None
        for slope, one in zip(OPERATIONS[node.op].slope(b, node.args, node), below, strict=True):
            if one is None or is_number(slope, 0.0):
                continue
            part = b.apply("mul", slope, one)
            total = part if total is None else b.apply("add", total, part)
        return None if total is None else b.full(total, node.size)
