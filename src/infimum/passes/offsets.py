"""The constants that the elements of an expression add to functions of x: of residuals, the measurements (POLICY).

node                 offsets
constant             itself
a + b, a - b, -a     those of the operands, added, subtracted, negated
c a, a / c           c times (or by) those of a, for a constant c
take, concat, sum    the same of the offsets
anything else        0
"""

from __future__ import annotations

import numpy as np

from infimum.graph.node import Node, ancestors
from infimum.graph.payload import integer_of, map_of, value_of
from infimum.interval.outward import FloatArray

_SUMS = {"add": np.add, "sub": np.subtract}
_SCALINGS = {"mul": np.multiply, "div": np.divide}


def offsets(output: Node) -> FloatArray:
    """Return for each element of an expression the constant that it adds to a function of x, as a double."""
    found: dict[Node, FloatArray] = {}
    for node in ancestors([output]):
        found[node] = np.asarray(_of(node, [found[a] for a in node.args]), np.float64)
    return np.broadcast_to(found[output], (output.size,))


def _of(node: Node, inner: list[FloatArray]) -> FloatArray:
    """Return a node's offsets from those of its operands, arrays of their size or of size 1."""
    if node.op == "constant":
        return value_of(node).points()
    if node.op in _SUMS:
        return _SUMS[node.op](*inner)
    if node.op == "neg":
        return np.negative(inner[0])
    if node.op in _SCALINGS and (node.args[1].op == "constant" or (node.op == "mul" and node.args[0].op == "constant")):
        return _SCALINGS[node.op](*inner)
    if node.op == "take":
        indices = map_of(node).indices()
        return np.where(indices < 0, 0.0, np.broadcast_to(inner[0], (node.args[0].size,))[indices])
    if node.op == "concat":
        return np.concatenate([np.broadcast_to(v, (a.size,)) for v, a in zip(inner, node.args, strict=True)])
    if node.op == "sum":
        whole = np.broadcast_to(inner[0], (node.args[0].size,))
        return np.asarray(whole.reshape(-1, integer_of(node)).sum(axis=1), np.float64)
    return np.zeros(1)
