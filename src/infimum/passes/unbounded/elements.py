"""Nodes element by element, in an arithmetic of the caller's: germs and quotients of polynomials are two."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from infimum.graph.node import REDUCTIONS, Node
from infimum.graph.payload import integer_of, map_of, value_of

T = TypeVar("T")


def elements(
    node: Node,
    args: list[list[T]],
    zero: T,
    constant: Callable[[float, float], T],
    apply: Callable[[str, tuple[T, ...], object], T],
) -> list[T]:
    """Return the elements of a node, given those of its operands.

    zero        what a missing element is
    constant    makes a value of the ends of a constant
    apply       applies an operation, with the node's data, to one element of each operand
    """
    if node.op == "constant":
        lo, hi = value_of(node).enclosure()
        return [constant(*ends) for ends in zip(lo.tolist(), hi.tolist(), strict=True)]
    if node.op == "take":
        return [zero if i < 0 else args[0][i] for i in map_of(node).indices().tolist()]
    if node.op == "concat":
        return [value for a in args for value in a]
    if node.op in REDUCTIONS:
        width, op = integer_of(node), REDUCTIONS[node.op]
        found = args[0][::width]
        for i in range(1, width):
            found = [apply(op, pair, None) for pair in zip(found, args[0][i::width], strict=True)]
        return found
    spread = [a * node.size if len(a) == 1 else a for a in args]
    return [apply(node.op, row, node.data) for row in zip(*spread, strict=True)]
