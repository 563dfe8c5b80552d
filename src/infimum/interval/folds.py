"""Reductions over a fixed balanced tree.

Level by level, neighbours are combined two by two and an odd last one moves up unchanged: the shape
depends on the number of terms alone, the depth is its logarithm, and the result is a function of the
terms, never of how they were computed.
"""

from __future__ import annotations

import numpy as np

from infimum.errors import InvalidInterval, ShapeMismatch
from infimum.interval.calls import call
from infimum.interval.reading import Pair

Axis = int | tuple[int, ...] | None

_NEUTRAL = {"add": 0.0, "mul": 1.0}


def fold(op: str, x: Pair, axis: Axis = None, keepdims: bool = False) -> Pair:
    """Return all elements along the axes combined by add, mul, min or max."""
    axes = _axes(axis, x[0].ndim)
    terms = _terms_first(x, axes)
    lo, hi = _tree(op, terms) if len(terms[0]) else _nothing(op, terms[0].shape[1:])
    if not keepdims:
        return lo, hi
    shape = tuple(1 if i in axes else n for i, n in enumerate(x[0].shape))
    return lo.reshape(shape), hi.reshape(shape)


def mean(x: Pair, axis: Axis = None, keepdims: bool = False) -> Pair:
    """Return the sum divided by the number of terms."""
    count = int(np.prod([x[0].shape[i] for i in _axes(axis, x[0].ndim)]))
    if count == 0:
        raise InvalidInterval("the mean of no elements is undefined. Give at least one.")
    number = np.asarray(float(count))
    return call("div", fold("add", x, axis, keepdims), (number, number))


def running(op: str, x: Pair, axis: int | None = None) -> Pair:
    """Return the combinations of the first 1, 2, 3, ... elements, from left to right."""
    lo, hi = (end.ravel() if axis is None else np.moveaxis(end, axis, 0) for end in x)
    if len(lo) == 0:
        return lo, hi
    rows = [(lo[0], hi[0])]
    for i in range(1, len(lo)):
        rows.append(call(op, rows[-1], (lo[i], hi[i])))
    lo, hi = np.stack([row[0] for row in rows]), np.stack([row[1] for row in rows])
    return (lo, hi) if axis is None else (np.moveaxis(lo, 0, axis), np.moveaxis(hi, 0, axis))


def matmul(a: Pair, b: Pair) -> Pair:
    """Return a @ b by NumPy's rules, each entry a sum over the tree."""
    if a[0].ndim == 0 or b[0].ndim == 0:
        raise ShapeMismatch("@ needs arrays, and one side is a scalar. Write a * b.")
    rows = (a[0][None, :], a[1][None, :]) if a[0].ndim == 1 else a
    columns = (b[0][:, None], b[1][:, None]) if b[0].ndim == 1 else b
    if rows[0].shape[-1] != columns[0].shape[-2]:
        raise ShapeMismatch(
            f"a @ b: the shapes {a[0].shape} and {b[0].shape} do not match. "
            "The last axis of a must be as long as the last but one of b."
        )
    left = rows[0][..., :, :, None], rows[1][..., :, :, None]
    right = columns[0][..., None, :, :], columns[1][..., None, :, :]
    lo, hi = fold("add", call("mul", left, right), axis=-2)
    if a[0].ndim == 1:
        lo, hi = lo[..., 0, :], hi[..., 0, :]
    if b[0].ndim == 1:
        lo, hi = lo[..., 0], hi[..., 0]
    return lo, hi


def dot(a: Pair, b: Pair) -> Pair:
    """Return np.dot(a, b) for scalars, vectors and matrices."""
    if a[0].ndim == 0 or b[0].ndim == 0:
        return call("mul", a, b)
    if a[0].ndim > 2 or b[0].ndim > 2:
        raise ShapeMismatch(f"dot of shapes {a[0].shape} and {b[0].shape} is offered up to two axes. Write a @ b.")
    return matmul(a, b)


def norm(x: Pair, order: float | str | None, axis: Axis, keepdims: bool) -> Pair:
    """Return the vector norm of order 1, 2 (also None) or infinity, or the Frobenius norm."""
    across_matrix = (axis is None and x[0].ndim == 2) or (isinstance(axis, tuple) and len(axis) == 2)
    if order is None or (order == 2 and not across_matrix) or (order == "fro" and across_matrix):
        return call("sqrt", fold("add", call("sqr", x), axis, keepdims))
    if order == 1 and not across_matrix:
        return fold("add", call("abs", x), axis, keepdims)
    if order == np.inf and not across_matrix:
        return fold("max", call("abs", x), axis, keepdims)
    raise InvalidInterval(
        f"np.linalg.norm of an Interval has no order {order!r} for shape {x[0].shape}. "
        "Use ord=None, 1, 2 or np.inf of vectors, or ord='fro' of matrices."
    )


def _axes(axis: Axis, ndim: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(ndim))
    given = axis if isinstance(axis, tuple) else (axis,)
    if any(not -ndim <= i < ndim for i in given):
        raise ShapeMismatch(f"axis {axis} does not exist in an array of {ndim} axes.")
    return tuple(sorted(i % ndim for i in given))


def _terms_first(x: Pair, axes: tuple[int, ...]) -> Pair:
    """Return the ends with the reduced axes flattened, in C order, into one leading axis."""
    kept = tuple(n for i, n in enumerate(x[0].shape) if i not in axes)
    count = int(np.prod([x[0].shape[i] for i in axes]))
    lo, hi = (np.moveaxis(end, axes, range(len(axes))).reshape(count, *kept) for end in x)
    return lo, hi


def _tree(op: str, terms: Pair) -> Pair:
    lo, hi = terms
    while len(lo) > 1:
        paired = len(lo) // 2 * 2
        left, right = slice(0, paired, 2), slice(1, paired, 2)
        up = call(op, (lo[left], hi[left]), (lo[right], hi[right]))
        lo, hi = (np.concatenate([end, rest[paired:]]) for end, rest in zip(up, (lo, hi), strict=True))
    return lo[0], hi[0]


def _nothing(op: str, shape: tuple[int, ...]) -> Pair:
    if op not in _NEUTRAL:
        raise InvalidInterval(f"the {op} of no elements is undefined. Give at least one.")
    return np.full(shape, _NEUTRAL[op]), np.full(shape, _NEUTRAL[op])
