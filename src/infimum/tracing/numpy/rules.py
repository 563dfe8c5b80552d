"""NumPy functions beyond folds and shapes: matrix products, choices, interpolation; and the table of all rules."""

from __future__ import annotations

import functools
import string
from typing import Any

import numpy as np

from infimum.graph.indexmap import is_identity, of_view
from infimum.tracing.kinds import bound_of, result_kinds, type_of, typed, with_kind
from infimum.tracing.numpy import elementwise as numpy_elementwise
from infimum.tracing.numpy import folds as numpy_folds
from infimum.tracing.numpy import shapes as numpy_shapes
from infimum.tracing.numpy import written as numpy_written
from infimum.tracing.numpy.folds import fold
from infimum.tracing.refusal import refusal
from infimum.tracing.selected import Selected
from infimum.tracing.traced import TracedArray
from infimum.tracing.tracer import Rule, Tracer, layout
from infimum.tracing.values import is_symbolic, plain


def _spread(t: Tracer, a: Any, labels: str, space: dict[str, int]) -> Any:
    """An array read over the whole label space, in the space's order."""
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
    found = contract(t, inputs, output, [_plain_list(t, v) for v in operands])
    return read_only(found, operands[0]) if len(operands) == 1 and set(output) == set(left) else found


def read_only(found: Any, source: Any) -> Any:
    """An array that is a view in NumPy, and a copy here: neither it nor its source may be written into any more."""
    for array in (found, source):
        if isinstance(array, TracedArray) and array.cells is not None and not array.cells.frozen:
            array.cells.frozen = "This array is, or has, a view that is not followed."
    return found


def _diag(t: Tracer, v: Any, k: int = 0) -> Any:
    found = numpy_shapes.FUNCTIONS[np.diag](t, v, k)
    return read_only(found, v) if np.ndim(v) == 2 else found


def _plain_list(t: Tracer, value: Any) -> Any:
    return t.stacked(value) if isinstance(value, list | tuple) else value


def _matmul(t: Tracer, a: Any, b: Any) -> Any:
    a, b = t.traced(_plain_list(t, a)), t.traced(_plain_list(t, b))
    if not a.ndim or not b.ndim:
        raise ValueError("matmul: an operand has no axes; use * for single numbers")
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    if batch:
        left = a if a.ndim > 1 else a.reshape(1, -1)
        right = b if b.ndim > 1 else b.reshape(-1, 1)
        left = t.call(np.broadcast_to, (left, batch + left.shape[-2:]), {})
        right = t.call(np.broadcast_to, (right, batch + right.shape[-2:]), {})
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
    a, b = t.traced(_plain_list(t, a)), t.traced(_plain_list(t, b))
    if not a.ndim or not b.ndim:
        return t.ufunc(np.multiply, (a, b))
    _same(a, b, a.shape[-1], b.shape[-2] if b.ndim > 1 else b.shape[0])
    left = string.ascii_lowercase[: a.ndim - 1] + "z"
    right = string.ascii_uppercase[: max(b.ndim - 2, 0)] + "z" + "Z" * (b.ndim > 1)
    return contract(t, [left, right], (left + right).replace("z", ""), [a, b])


def _inner(t: Tracer, a: Any, b: Any) -> Any:
    a, b = t.traced(_plain_list(t, a)), t.traced(_plain_list(t, b))
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
    return contract(t, ["i", "j"], "ij", [t.traced(_plain_list(t, v)).reshape(-1) for v in (a, b)])


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
        found = t.call(np.dot, (found, array), {})
    return found


def _cross(t: Tracer, a: Any, b: Any) -> Any:
    a, b = t.traced(a), t.traced(b)
    if a.shape[-1] != 3 or b.shape[-1] != 3:
        raise refusal("np.cross is offered for vectors of length 3.", "Write the components out.")
    left, right = [1, 2, 0], [2, 0, 1]
    return a[..., left] * b[..., right] - a[..., right] * b[..., left]


def _convolve(t: Tracer, a: Any, b: Any, mode: str = "full") -> Any:
    a, b = (t.call(np.atleast_1d, (t.traced(_plain_list(t, v)),), {}) for v in (a, b))
    if len(b) > len(a):
        a, b = b, a
    m, k = len(a), len(b)
    out = np.arange(m + k - 1)[:, None] - np.arange(k)
    inside = (out >= 0) & (out < m)
    spread = t.call(np.append, (a, np.zeros(1, a.dtype)), {})[np.where(inside, out, m)]
    whole = t.call(np.dot, (spread, b), {})
    if any(t.absorbed.is_finite(value.node) is not True for value in (a, b)):
        # What is not a number must not meet the zeros that stand beside the array.
        ends = [(max(0, n - k + 1), min(m, n + 1), n) for n in range(m + k - 1)]
        whole = t.stacked([t.call(np.dot, (a[i:j], b[n - j + 1 : n - i + 1][::-1]), {}) for i, j, n in ends])
    if mode == "full":
        return whole
    if mode not in ("same", "valid"):
        raise refusal(f"np.convolve(..., mode={mode!r}) is not offered.", 'Write mode="full", "same" or "valid".')
    first, count = ((k - 1) // 2, m) if mode == "same" else (k - 1, m - k + 1)
    return whole[first : first + count]


def _chosen(a: Any, b: Any) -> Any:
    return np.where(np.ones((1, 1), bool), a, b)


_MISSING = object()


def where(t: Tracer, condition: Any, x: Any = _MISSING, y: Any = _MISSING) -> Any:
    """np.where; a condition that is one known truth value simply chooses."""
    if condition is None:
        raise refusal("None as a condition is false in NumPy.", "Write False.")
    if x is _MISSING or y is _MISSING:
        raise refusal("np.where(condition) gives indices that depend on x.", "Write np.where(condition, a, b).")
    a, b = _plain_list(t, x), _plain_list(t, y)
    kind = result_kinds(_chosen, (a, b), "where")
    condition = _plain_list(t, condition)
    if not is_symbolic(condition):
        known = np.asarray(plain(condition))
        if known.ndim == 0 and np.ndim(a) == np.ndim(b) == 0:
            return with_kind(t, t.traced(a if known else b), kind, _largest(kind, a, b))
        condition = t.fresh(known != 0) if known.dtype.kind != "b" else condition
    else:
        condition = numpy_elementwise.as_truth(t, t.traced(condition))
    found = typed(t, t.apply("where", condition, a, b, boolean=kind == "b"), kind, _largest(kind, a, b))
    template = layout((condition, a, b))
    return found if template is None else t.reordered(found, template)


def _largest(kind: str, a: Any, b: Any) -> int:
    return max(bound_of(a), bound_of(b)) if kind == "i" else 0


def _select(t: Tracer, condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    found = default
    for condition, choice in zip(reversed(list(condlist)), reversed(list(choicelist)), strict=True):
        if type_of(condition) not in (bool, np.dtype(bool)):
            raise TypeError("invalid entry in condlist: should be boolean ndarray")
        found = t.call(np.where, (condition, choice, found), {})
    return found


def _piecewise(t: Tracer, x: Any, condlist: Any, funclist: Any, *args: Any, **kwargs: Any) -> Any:
    """np.piecewise: of several true conditions the last one decides; each function sees its own elements alone."""
    x = t.traced(_plain_list(t, x))
    if x.kind != "f":
        raise refusal("np.piecewise gives the type of its first argument.", "Write x.astype(float) before.")
    if not isinstance(condlist, list | tuple) and np.ndim(condlist) <= x.ndim:
        condlist = [condlist]
    conditions, functions = [as_condition(t, c) for c in condlist], list(funclist)
    if len(functions) not in (len(conditions), len(conditions) + 1):
        raise ValueError("np.piecewise: one function for each condition, and perhaps one more, are needed")
    if len(functions) > len(conditions):
        true = functools.reduce(lambda a, b: t.ufunc(np.logical_or, (a, b)), conditions)
        conditions.append(as_condition(t, t.ufunc(np.logical_not, (true,))))
    found: Any = 0.0
    for condition, function in zip(conditions, functions, strict=True):
        value = function
        if callable(function):
            value = function(Selected(t, x, condition) if x.shape else x, *args, **kwargs)
            value = value.values if isinstance(value, Selected) else value
        if np.ndim(value) and np.shape(value) != x.shape:
            raise refusal("A function of np.piecewise gives an array of another length.", "Write np.where instead.")
        found = t.call(np.where, (condition, value, found), {})
    return with_kind(t, found, "f")


def as_condition(t: Tracer, value: Any) -> Any:
    """A condition as a traced array of truth values."""
    return numpy_elementwise.as_truth(t, t.traced(_plain_list(t, value)))


def _clip(t: Tracer, a: Any, a_min: Any = None, a_max: Any = None, min: Any = None, max: Any = None) -> Any:
    a = _plain_list(t, a)
    low, high = a_min if min is None else min, a_max if max is None else max
    found = a if low is None else t.ufunc(np.maximum, (a, low))
    found = found if high is None else t.ufunc(np.minimum, (found, high))
    return t.copied(found) if found is a else found


def _round(t: Tracer, a: Any, decimals: int = 0) -> Any:
    a = t.traced(_plain_list(t, a))
    if a.kind not in "fF":
        if decimals < 0 or a.boolean:
            raise refusal("np.round of integers or truth values is not offered.", "Write a.astype(float) before.")
        return t.copied(a)
    if decimals == 0:
        return t.ufunc(np.rint, (a,))
    scale = 10.0 ** abs(decimals)
    scaled = a * scale if decimals > 0 else a / scale
    whole = t.ufunc(np.rint, (scaled,))
    return whole / scale if decimals > 0 else whole * scale


def _interp(t: Tracer, x: Any, xp: Any, fp: Any) -> Any:
    """Piecewise linear: the first value plus, for each piece, its slope times how far x has gone into it."""
    if is_symbolic(xp):
        raise refusal("np.interp with these arguments cannot be traced.", "Give x, constant xp and fp only.")
    x, knots, fp = t.traced(_plain_list(t, x)), np.asarray(plain(xp), float), t.traced(_plain_list(t, fp))
    steps = np.diff(knots)
    if not (steps > 0).all() or fp.shape != knots.shape:
        raise refusal("np.interp needs increasing xp, and as many fp.", "Sort xp, and leave out what comes twice.")
    slopes = t.call(np.diff, (fp,), {}) / steps
    into = _clip(t, x.reshape((*x.shape, 1)) - knots[:-1], 0.0, steps)
    return t.call(np.sum, (slopes * into, -1), {}) + fp[0]


def _polyval(t: Tracer, p: Any, x: Any) -> Any:
    x = _plain_list(t, x)
    coefficients = list(p)
    if not coefficients:
        return t.call(np.zeros_like, (x,), {})
    found = 0 * x + coefficients[0] if len(coefficients) == 1 else coefficients[0]
    for coefficient in coefficients[1:]:
        found = found * x + coefficient
    return found


def _isclose(t: Tracer, a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08) -> Any:
    a, b = (t.cast(t.traced(_plain_list(t, v)), np.float64) for v in (a, b))
    for value in (a, b):  # equal infinities are close
        t.absorbed.refuse(t.absorbed.is_infinite(t.operand(value)[0]), "np.isclose")
    return abs(a - b) <= atol + rtol * abs(b)


def _allclose(t: Tracer, a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08) -> Any:
    return with_kind(t, t.call(np.all, (_isclose(t, a, b, rtol, atol),), {}), "B")


def _array_equal(t: Tracer, a1: Any, a2: Any) -> Any:
    a, b = t.traced(_plain_list(t, a1)), t.traced(_plain_list(t, a2))
    if a.shape != b.shape:
        return False
    return with_kind(t, t.call(np.all, (t.ufunc(np.equal, (a, b)),), {}), "B")


def _apply_along_axis(t: Tracer, f: Any, axis: int, a: Any, *args: Any, **kwargs: Any) -> Any:
    rows = t.call(np.moveaxis, (t.traced(a), axis, -1), {})
    if rows.ndim == 1:
        return f(rows, *args, **kwargs)
    found = t.stacked([_apply_along_axis(t, f, -1, row, *args, **kwargs) for row in rows])
    return found if found.ndim < rows.ndim else t.call(np.moveaxis, (found, -1, axis), {})


def _nan_to_num(t: Tracer, x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    if not copy:
        raise refusal("np.nan_to_num(..., copy=False) is not offered.", "Write a[...] = np.nan_to_num(a).")
    numpy_elementwise.refuse_overflow(t, t.operand(x)[0])
    largest = float(np.finfo(np.float64).max)
    ends = {"plus": largest if posinf is None else posinf, "minus": -largest if neginf is None else neginf}
    found = t.lifted(lambda u, v: t.absorbed.where(t.absorbed.is_nan(u), v, u), x, nan)
    for name, value in ends.items():
        at = t.lifted(lambda u, name=name: t.absorbed.as_node(getattr(t.absorbed.of(u), name)), x, boolean=True)
        found = t.apply("where", at, value, found)
    return found


def _isin_refused(t: Tracer, *args: Any, **kwargs: Any) -> Any:
    raise refusal("np.isin compares with many values at once.", "Write np.any of == comparisons.")


FUNCTIONS: dict[Any, Rule] = {
    **numpy_shapes.FUNCTIONS,
    **numpy_folds.FUNCTIONS,
    **numpy_written.FUNCTIONS,
    np.einsum: _einsum, np.diag: _diag, np.dot: _dot, np.inner: _inner, np.vdot: _vdot, np.outer: _outer,
    np.tensordot: _tensordot, np.linalg.multi_dot: _multi_dot, np.cross: _cross, np.convolve: _convolve,
    np.kron: _kron,
    np.where: where, np.select: _select, np.piecewise: _piecewise, np.clip: _clip,
    np.round: _round, np.around: _round, np.fix: lambda t, x: t.ufunc(np.trunc, (x,)),
    np.sinc: numpy_elementwise.sinc, np.interp: _interp, np.polyval: _polyval,
    np.isclose: _isclose, np.allclose: _allclose, np.array_equal: _array_equal,
    np.apply_along_axis: _apply_along_axis, np.isin: _isin_refused, np.nan_to_num: _nan_to_num,
}  # fmt: skip
_nan_to_num.keeps_views = True  # type: ignore[attr-defined]
UFUNCS: dict[Any, Rule] = {**numpy_elementwise.UFUNCS, np.matmul: _matmul}
if isinstance(getattr(np, "vecdot", None), np.ufunc):
    UFUNCS[np.vecdot] = _vecdot
