"""Products of arrays: einsum and its relatives, convolution, cross products."""

from __future__ import annotations

import string
from typing import Any

import numpy as np

from infimum.graph.indexmap import is_identity, of_view
from infimum.tracing.calls import freeze
from infimum.tracing.dtypes import bound_of
from infimum.tracing.numpy.folds import fold
from infimum.tracing.refusal import refusal
from infimum.tracing.traced import TracedArray
from infimum.tracing.tracer import Rule, Tracer


def _spread(t: Tracer, a: Any, labels: str, space: dict[str, int]) -> Any:
    """Return an array read over the whole label space, in the space's order."""
    a = t.traced(a)
    if a.ndim != len(labels):
        raise ValueError(f"an operand has {a.ndim} axes, but its subscripts are {labels!r}")
    node = a.node
    base = np.arange(node.size, dtype=np.int64)
    own = "".join(dict.fromkeys(labels))
    view = np.einsum(f"{labels}->{own}", base.reshape(a.shape))
    view = view.transpose([own.index(k) for k in space if k in own])
    view = view.reshape([view.shape[[q for q in space if q in own].index(k)] if k in own else 1 for k in space])
    way = of_view(np.broadcast_to(view, tuple(space.values())), base)
    taken = node if is_identity(way) else t.graph.node("take", (node,), way.size, way)
    return t.array(taken, tuple(space.values()), kind=a.kind.lower(), bound=bound_of(a) if a.kind in "iI" else 0)


def contract(t: Tracer, inputs: list[str], output: str, operands: list[Any]) -> Any:
    """Multiply elements with equal labels and sum over the labels that the output lacks."""
    extents: dict[str, int] = {}
    for labels, value in zip(inputs, operands, strict=True):
        for label, extent in zip(labels, np.shape(value), strict=False):
            if extents.setdefault(label, extent) != extent and 1 not in (extent, extents[label]):
                raise ValueError(f"the operands do not fit: {[np.shape(v) for v in operands]}")
            extents[label] = max(extents[label], extent) if extent else 0
    if len(set(output)) < len(output) or not set(output) <= set(extents):
        raise ValueError(f"the subscripts {output!r} of the output are not those of the operands")
    summed = [label for label in extents if label not in output]
    space = {label: extents[label] for label in [*output, *summed]}
    product = _spread(t, operands[0], inputs[0], space)
    for labels, value in zip(inputs[1:], operands[1:], strict=True):
        product = t.ufunc(np.multiply, (product, _spread(t, value, labels, space)))
    if not summed:
        return product
    # Of truth values, NumPy's product of matrices is "some pair is both true".
    op = "max_of" if product.kind == "b" and product.size else "sum"
    return fold(op, t, product, tuple(range(len(output), len(space))))


def _einsum(t: Tracer, subscripts: Any, *operands: Any) -> Any:
    if not isinstance(subscripts, str) or "." in subscripts:
        raise refusal("This form of np.einsum cannot be traced.", "Write the subscripts out, as in 'ij,j->i'.")
    text = subscripts.replace(" ", "")
    left, arrow, output = text.partition("->")
    inputs = left.split(",")
    if not arrow:
        output = "".join(sorted(k for k in set(left) - {","} if left.count(k) == 1))
    found = contract(t, inputs, output, [t.unlisted(v) for v in operands])
    if len(operands) == 1 and set(output) == set(left):
        freeze(found, operands[0])
    return found


def _matmul(t: Tracer, a: Any, b: Any) -> Any:
    a, b = t.traced(a), t.traced(b)
    if not a.ndim or not b.ndim:
        raise ValueError("matmul: an operand has no axes; use * for single numbers")
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    if batch:
        left = a if a.ndim > 1 else a.reshape(1, -1)
        right = b if b.ndim > 1 else b.reshape(-1, 1)
        left = t.call(np.broadcast_to, (left, batch + left.shape[-2:]))
        right = t.call(np.broadcast_to, (right, batch + right.shape[-2:]))
        names = string.ascii_uppercase[: len(batch)]
        found = contract(t, [names + "ik", names + "kj"], names + "ij", [left, right])
        shape = batch + a.shape[-2:-1] + b.shape[len(b.shape) - 1 :] * (b.ndim > 1)
        return found.reshape(shape)
    _same(a, b, a.shape[-1], b.shape[-2] if b.ndim > 1 else b.shape[0])
    first, second = ("ik" if a.ndim > 1 else "k"), ("kj" if b.ndim > 1 else "k")
    return contract(t, [first, second], first[:-1] + second[1:], [a, b])


def _same(a: TracedArray, b: TracedArray, m: int, k: int) -> None:
    if m != k:
        raise ValueError(f"shapes {a.shape} and {b.shape} not aligned: {m} != {k}")


def _dot(t: Tracer, a: Any, b: Any) -> Any:
    a, b = t.traced(a), t.traced(b)
    if not a.ndim or not b.ndim:
        return t.ufunc(np.multiply, (a, b))
    _same(a, b, a.shape[-1], b.shape[-2] if b.ndim > 1 else b.shape[0])
    left = string.ascii_lowercase[: a.ndim - 1] + "z"
    right = string.ascii_uppercase[: max(b.ndim - 2, 0)] + "z" + "Z" * (b.ndim > 1)
    return contract(t, [left, right], (left + right).replace("z", ""), [a, b])


def _inner(t: Tracer, a: Any, b: Any) -> Any:
    a, b = t.traced(a), t.traced(b)
    if not a.ndim or not b.ndim:
        return t.ufunc(np.multiply, (a, b))
    _same(a, b, a.shape[-1], b.shape[-1])
    left, right = string.ascii_lowercase[: a.ndim - 1], string.ascii_uppercase[: b.ndim - 1]
    return contract(t, [left + "z", right + "z"], left + right, [a, b])


def _vecdot(t: Tracer, a: Any, b: Any) -> Any:
    a, b = t.traced(a), t.traced(b)
    _same(a, b, a.shape[-1], b.shape[-1])
    product = t.ufunc(np.multiply, (a, b))
    return fold("max_of" if product.kind == "b" else "sum", t, product, -1)


def _vdot(t: Tracer, a: Any, b: Any) -> Any:
    return _dot(t, t.traced(a).reshape(-1), t.traced(b).reshape(-1))


def _outer(t: Tracer, a: Any, b: Any) -> Any:
    return contract(t, ["i", "j"], "ij", [t.traced(v).reshape(-1) for v in (a, b)])


def _kron(t: Tracer, a: Any, b: Any) -> Any:
    a, b = t.traced(a), t.traced(b)
    if a.ndim == b.ndim == 1:
        return _outer(t, a, b).reshape(-1)
    if a.ndim == b.ndim == 2:
        shape = (a.shape[0] * b.shape[0], a.shape[1] * b.shape[1])
        return contract(t, ["ij", "kl"], "ikjl", [a, b]).reshape(shape)
    raise refusal("np.kron is offered for two vectors or two matrices.", "Write np.einsum with its subscripts.")


def _tensordot(t: Tracer, a: Any, b: Any, axes: Any = 2) -> Any:
    a, b = t.traced(a), t.traced(b)
    if isinstance(axes, int):
        axes = (list(range(a.ndim - axes, a.ndim)), list(range(axes)))
    pairs = [[k] if isinstance(k, int) else list(k) for k in axes]
    left = list(string.ascii_lowercase[: a.ndim])
    right = list(string.ascii_uppercase[: b.ndim])
    for i, j in zip(*pairs, strict=True):
        _same(a, b, a.shape[i], b.shape[j])
        right[j] = left[i]
    summed = {left[i] for i in pairs[0]}
    output = "".join(k for k in left + right if k not in summed)
    return contract(t, ["".join(left), "".join(right)], output, [a, b])


def _multi_dot(t: Tracer, arrays: Any) -> Any:
    found = arrays[0]
    for array in arrays[1:]:
        found = t.call(np.dot, (found, array))
    return found


def _cross(t: Tracer, a: Any, b: Any) -> Any:
    a, b = t.traced(a), t.traced(b)
    if a.shape[-1] != 3 or b.shape[-1] != 3:
        raise refusal("np.cross is offered for vectors of length 3.", "Write the components out.")
    left, right = [1, 2, 0], [2, 0, 1]
    return a[..., left] * b[..., right] - a[..., right] * b[..., left]


def _convolve(t: Tracer, a: Any, b: Any, mode: str = "full") -> Any:
    a, b = (t.call(np.atleast_1d, (t.traced(v),)) for v in (a, b))
    if len(b) > len(a):
        a, b = b, a
    m, k = len(a), len(b)
    out = np.arange(m + k - 1)[:, None] - np.arange(k)
    inside = (out >= 0) & (out < m)
    spread = t.call(np.append, (a, np.zeros(1, a.dtype)))[np.where(inside, out, m)]
    whole = t.call(np.dot, (spread, b))
    if any(t.nonfinite.is_finite(value.node) is not True for value in (a, b)):
        # What is not a number must not meet the zeros that stand beside the array.
        ends = [(max(0, n - k + 1), min(m, n + 1), n) for n in range(m + k - 1)]
        whole = t.stacked([t.call(np.dot, (a[i:j], b[n - j + 1 : n - i + 1][::-1])) for i, j, n in ends])
    if mode == "full":
        return whole
    if mode not in ("same", "valid"):
        raise refusal(f"np.convolve(..., mode={mode!r}) is not offered.", 'Write mode="full", "same" or "valid".')
    first, count = ((k - 1) // 2, m) if mode == "same" else (k - 1, m - k + 1)
    return whole[first : first + count]


FUNCTIONS: dict[Any, Rule] = {
    np.einsum: _einsum, np.dot: _dot, np.inner: _inner, np.vdot: _vdot, np.outer: _outer, np.kron: _kron,
    np.tensordot: _tensordot, np.linalg.multi_dot: _multi_dot, np.cross: _cross, np.convolve: _convolve,
}  # fmt: skip
UFUNCS: dict[Any, Rule] = {np.matmul: _matmul}
if isinstance(getattr(np, "vecdot", None), np.ufunc):
    UFUNCS[np.vecdot] = _vecdot
