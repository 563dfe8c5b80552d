"""A graph in plain doubles: the value of nodes at many points at once, as NumPy would compute it.

No claim rests on it; it is a reference for tests.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from infimum.graph.constant import Constant
from infimum.graph.indexmap import Affine, Table, Window
from infimum.graph.node import REDUCTIONS, Node, ancestors, users
from infimum.ops import OPERATIONS

FloatArray = npt.NDArray[np.float64]

_FOLDS: dict[str, np.ufunc] = {"sum": np.add, "prod": np.multiply, "min_of": np.minimum, "max_of": np.maximum}
_FOLDS |= {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}


def evaluate(outputs: Sequence[Node], points: npt.ArrayLike) -> list[FloatArray]:
    """Return each output at each point: arrays of shape (k, size) for points of shape (k, n)."""
    columns = np.atleast_2d(np.asarray(points, np.float64)).T
    nodes = ancestors(outputs)
    left = users(nodes)
    for output in outputs:
        left[output.number] = left.get(output.number, 0) + 1
    values: dict[int, FloatArray] = {}
    with np.errstate(all="ignore"):
        for node in nodes:
            values[node.number] = _value(node, [values[a.number] for a in node.args], columns)
            for argument in node.args:
                left[argument.number] -= 1
                if not left[argument.number]:
                    values.pop(argument.number, None)
    width = columns.shape[1]
    return [np.broadcast_to(values[o.number], (o.size, width)).T.copy() for o in outputs]


def _value(node: Node, args: list[FloatArray], x: FloatArray) -> FloatArray:
    """Return a node from its arguments; the last axis runs over the points and may be 1 for constants."""
    op = node.op
    row = OPERATIONS.get(op)
    if row is not None:
        if op == "pown":
            return np.asarray(np.power(args[0], float(_integer(node))))
        return np.asarray(row.point(*args), np.float64)
    if op == "x":
        return x
    if op == "constant":
        assert isinstance(node.data, Constant)
        return node.data.points()[:, None]
    if op == "take":
        assert isinstance(node.data, Affine | Window | Table)
        indices = node.data.indices()
        taken = args[0][indices]
        return taken if indices.min(initial=0) >= 0 else np.where(indices[:, None] >= 0, taken, 0.0)
    if op == "concat":
        width = max(a.shape[1] for a in args)
        pieces = [np.broadcast_to(a, (piece.size, width)) for a, piece in zip(args, node.args, strict=True)]
        return np.concatenate(pieces)
    if op in REDUCTIONS:
        return np.asarray(_FOLDS[op].reduce(_groups(args[0], node.args[0].size, _integer(node)), axis=1))
    if op == "others":
        return _others(node, args[0])
    assert op == "recurrence", op
    return _recurrence(node, args)


def _integer(node: Node) -> int:
    assert isinstance(node.data, int)
    return node.data


def _groups(a: FloatArray, size: int, width: int) -> FloatArray:
    whole = np.broadcast_to(a, (size, a.shape[1]))
    return whole.reshape(size // width, width, a.shape[1])


def _others(node: Node, a: FloatArray) -> FloatArray:
    assert isinstance(node.data, tuple)
    name, width = node.data
    fold = _FOLDS[name]
    neutral: dict[Any, float] = {np.add: 0.0, np.multiply: 1.0, np.minimum: np.inf, np.maximum: -np.inf}
    groups = _groups(a, node.size, width)
    edge = np.full((groups.shape[0], 1, groups.shape[2]), neutral[fold])
    before = fold.accumulate(np.concatenate((edge, groups[:, :-1]), axis=1), axis=1)
    after = fold.accumulate(np.concatenate((edge, groups[:, :0:-1]), axis=1), axis=1)[:, ::-1]
    return np.asarray(fold(before, after)).reshape(node.size, -1)


def _recurrence(node: Node, args: list[FloatArray]) -> FloatArray:
    width = max(a.shape[1] for a in args)
    factors, terms = (np.broadcast_to(a, (node.size, width)) for a in args)
    order = -1 if node.data else 1
    factors, terms = factors[::order], terms[::order]
    if np.all(factors == 1.0):
        return np.cumsum(terms, axis=0)[::order]
    found = np.empty((node.size, width))
    last = np.zeros(width)
    for i in range(node.size):
        last = factors[i] * last + terms[i]
        found[i] = last
    return found[::order]
