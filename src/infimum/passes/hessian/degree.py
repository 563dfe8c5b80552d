"""Polynomials by their operations: of which degree an expression is at most.

    node                            degree
    constant, what reads no x       0, where it is defined
    x                               1
    neg take concat sum             the operand's; others and recurrence with a constant factor likewise
    add sub                         the larger one
    mul                             the sum
    sqr, pown of k >= 0             twice, k times the operand's
    prod, others of mul             the operand's times the width (less 1)
    div by a constant, not 0        the numerator's
    where with constant condition   the larger one of the branches
    any other                       none

A quadratic function has a constant Hessian, whatever its expression: enclosed at one point, it is enclosed everywhere.
"""

from __future__ import annotations

from infimum.graph.build import Build
from infimum.graph.node import Node, ancestors, is_fact
from infimum.graph.payload import integer_of, others_of, value_of

_NONE = 10**9
_SAME = frozenset({"neg", "take", "concat", "sum"})


def is_quadratic(build: Build, value: Node) -> bool:
    """Return whether an expression is certainly a polynomial of degree 2 at most, defined for all reals."""
    return degree(build, value) <= 2


def degree(build: Build, value: Node) -> int:
    """Return a bound of the degree in x, a number beyond all degrees where there is none."""
    known: dict[Node, int] = {}
    for node in ancestors([value]):
        known[node] = min(_NONE, _own(build, node, [known[a] for a in node.args]))
    return known[value]


def _own(build: Build, node: Node, below: list[int]) -> int:
    if node.op == "x":
        return 1
    if not any(below):
        return 0 if build.is_total(node) else _NONE
    if is_fact(node.op):
        return _NONE
    if node.op in _SAME:
        return max(below)
    if node.op in ("add", "sub"):
        return max(below)
    if node.op == "mul":
        return sum(below)
    if node.op == "sqr":
        return 2 * below[0]
    if node.op == "pown" and integer_of(node) >= 0:
        return integer_of(node) * below[0]
    if node.op == "prod":
        return integer_of(node) * below[0]
    if node.op == "div" and node.args[1].op == "constant":
        lo, hi = value_of(node.args[1]).enclosure()
        return below[0] if bool(((lo > 0) | (hi < 0)).all()) else _NONE
    if node.op == "where" and not below[0]:
        return max(below[1:])
    if node.op == "recurrence" and not below[0]:
        return below[1]
    if node.op == "others" and others_of(node)[0] in ("add", "mul"):
        op, width = others_of(node)
        return below[0] * (width - 1 if op == "mul" else 1)
    return _NONE
