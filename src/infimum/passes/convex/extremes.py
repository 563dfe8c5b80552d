"""Conditions that choose the larger, or the smaller, of their branches.

    where(p < q, q, p)              max(p, q), the other way round min(p, q)
    where(p < q, a d, b d)          max(a d, b d) where a <= b, min where a >= b

d = p - q is negative where a d is taken. It is seen in its spellings: p - q, or what p - q is where one of them is 0,
or the negative of one of these.

Guarantee: the same numbers, defined at the same points.
"""

from __future__ import annotations

from infimum.graph.node import Node
from infimum.graph.payload import is_number, value_of


def as_extreme(node: Node) -> str | None:
    """Return "max" or "min" where a `where` is that of its branches; None where it is not seen to be."""
    condition, x, y = node.args
    if condition.op not in ("is_less", "is_less_equal"):
        return None
    p, q = condition.args
    if (x, y) in ((q, p), (p, q)):
        return "max" if x is q else "min"
    if is_number(q, 0.0) and p.op == "sub":
        p, q = p.args
    elif is_number(p, 0.0) and q.op == "sub":
        q, p = q.args
    of_x, of_y = _multiple(x, p, q), _multiple(y, p, q)
    if of_x is None or of_y is None:
        return None
    (low, high), (least, most) = of_x, of_y
    if not (low >= most or high <= least):
        return None
    return "max" if high <= least else "min"


def _multiple(node: Node, p: Node, q: Node) -> tuple[float, float] | None:
    """Return ends of c where a node is c (p - q)."""
    if is_number(node, 0.0):
        return 0.0, 0.0
    if node.op == "mul" and node.args[0].op == "constant":
        sign = _sign(node.args[1], p, q)
        lo, hi = value_of(node.args[0]).enclosure()
        least, most = float(lo.min()), float(hi.max())
        return None if sign == 0 else (least, most) if sign > 0 else (-most, -least)
    sign = _sign(node, p, q)
    return None if sign == 0 else (float(sign), float(sign))


def _sign(node: Node, p: Node, q: Node) -> int:
    """Return 1 where a node is p - q, -1 where it is q - p, else 0."""
    if node.op == "sub" and node.args in ((p, q), (q, p)):
        return 1 if node.args[0] is p else -1
    for sign, zero, other in ((1, q, p), (-1, p, q)):
        if is_number(zero, 0.0):
            return sign if node is other else -sign if node.op == "neg" and node.args[0] is other else 0
    return 0
