"""NumPy functions beyond folds and shapes: matrix products, choices, interpolation; and the table of all rules."""

from __future__ import annotations

import string
from typing import Any

import numpy as np

from infimum.graph import numpy_elementwise, numpy_folds, numpy_shapes
from infimum.graph.indexmap import is_identity, of_view
from infimum.graph.numpy_folds import fold
from infimum.graph.refusal import refusal
from infimum.graph.traced import TracedArray
from infimum.graph.tracer import Rule, Tracer
from infimum.graph.values import is_symbolic, plain


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
    return t.array(taken, tuple(space.values()))


def contract(t: Tracer, inputs: list[str], output: str, operands: list[Any]) -> Any:
    """Multiply elements with equal labels and sum over the labels that the output lacks."""
    extents: dict[str, int] = {}
    for labels, value in zip(inputs, operands, strict=True):
        for label, extent in zip(labels, np.shape(value), strict=False):
            if extents.setdefault(label, extent) != extent and 1 not in (extent, extents[label]):
                raise ValueError(f"the operands do not fit: {[np.shape(v) for v in operands]}")
    summed = [label for label in extents if label not in output]
    space = {label: extents[label] for label in [*output, *summed]}
    product = _spread(t, operands[0], inputs[0], space)
    for labels, value in zip(inputs[1:], operands[1:], strict=True):
        product = t.apply("mul", product, _spread(t, value, labels, space))
    if not summed:
        return product
    return fold("sum", t, product, tuple(range(len(output), len(space))))


def _einsum(t: Tracer, subscripts: Any, *operands: Any, **kwargs: Any) -> Any:
    if not isinstance(subscripts, str) or "." in subscripts:
        raise refusal("This form of np.einsum cannot be traced.", "Write the subscripts out, as in 'ij,j->i'.")
    text = subscripts.replace(" ", "")
    left, arrow, output = text.partition("->")
    inputs = left.split(",")
    if not arrow:
        output = "".join(sorted(k for k in set(left) - {","} if left.count(k) == 1))
    return contract(t, inputs, output, [_plain_list(t, v) for v in operands])


def _plain_list(t: Tracer, value: Any) -> Any:
    return t.stacked(value) if isinstance(value, list | tuple) else value


def _matmul(t: Tracer, a: Any, b: Any, **kwargs: Any) -> Any:
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


def _dot(t: Tracer, a: Any, b: Any, out: Any = None) -> Any:
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
    return fold("sum", t, t.apply("mul", a, b), -1)


def _vdot(t: Tracer, a: Any, b: Any) -> Any:
    return _dot(t, t.traced(a).reshape(-1), t.traced(b).reshape(-1))


def _outer(t: Tracer, a: Any, b: Any, out: Any = None) -> Any:
    return contract(t, ["i", "j"], "ij", [t.traced(a).reshape(-1), t.traced(b).reshape(-1)])


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
        right[j] = left[i]
    summed = {left[i] for i in pairs[0]}
    output = "".join(k for k in left + right if k not in summed)
    return contract(t, ["".join(left), "".join(right)], output, [a, b])


def _multi_dot(t: Tracer, arrays: Any, **kwargs: Any) -> Any:
    found = arrays[0]
    for array in arrays[1:]:
        found = t.call(np.dot, (found, array), {})
    return found


def _cross(t: Tracer, a: Any, b: Any, *args: Any, **kwargs: Any) -> Any:
    a, b = t.traced(a), t.traced(b)
    if a.shape[-1] != 3 or b.shape[-1] != 3 or args or kwargs:
        raise refusal("np.cross is offered for vectors of length 3.", "Write the components out.")
    left, right = [1, 2, 0], [2, 0, 1]
    return a[..., left] * b[..., right] - a[..., right] * b[..., left]


def _convolve(t: Tracer, a: Any, b: Any, mode: str = "full") -> Any:
    a, b = t.traced(a), t.traced(b)
    if len(b) > len(a):
        a, b = b, a
    m, k = len(a), len(b)
    out = np.arange(m + k - 1)[:, None] - np.arange(k)
    inside = (out >= 0) & (out < m)
    spread = t.call(np.append, (a, 0.0), {})[np.where(inside, out, m)]
    whole = t.call(np.dot, (spread, b), {})
    if mode == "full":
        return whole
    first, count = ((k - 1) // 2, m) if mode == "same" else (k - 1, m - k + 1)
    return whole[first : first + count]


def where(t: Tracer, condition: Any, *values: Any) -> Any:
    """np.where; a condition that is one known truth value simply chooses."""
    if not values:
        raise refusal("np.where(condition) gives indices that depend on x.", "Write np.where(condition, a, b).")
    a, b = values
    if not is_symbolic(condition):
        known = np.asarray(plain(condition))
        if known.ndim == 0 and np.ndim(a) == np.ndim(b) == 0:
            chosen = a if known else b
            return np.float64(chosen) if type(chosen) in (int, float) else chosen
        condition = t.fresh(known != 0) if known.dtype.kind != "b" else condition
    else:
        condition = numpy_elementwise.as_truth(t, t.traced(condition))
    both = numpy_elementwise.is_boolean(a) and numpy_elementwise.is_boolean(b)
    return t.apply("where", condition, _plain_list(t, a), _plain_list(t, b), boolean=both)


def _select(t: Tracer, conditions: Any, choices: Any, default: Any = 0) -> Any:
    found = default
    for condition, choice in zip(reversed(list(conditions)), reversed(list(choices)), strict=True):
        found = t.call(np.where, (condition, choice, found), {})
    return found


def _piecewise(t: Tracer, x: Any, conditions: Any, functions: Any, *args: Any, **kwargs: Any) -> Any:
    if not isinstance(conditions, list | tuple) and np.ndim(conditions) <= np.ndim(x):
        conditions = [conditions]
    values = [f(x, *args, **kwargs) if callable(f) else f for f in functions]
    found = values[len(conditions)] if len(values) > len(conditions) else 0.0
    for condition, value in zip(reversed(list(conditions)), reversed(values[: len(conditions)]), strict=True):
        found = t.call(np.where, (condition, value, found), {})
    return found


def _clip(t: Tracer, a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, **kwargs: Any) -> Any:
    low, high = kwargs.get("min", a_min), kwargs.get("max", a_max)
    found = a if low is None else t.ufunc(np.maximum, (a, low))
    return found if high is None else t.ufunc(np.minimum, (found, high))


def _round(t: Tracer, a: Any, decimals: int = 0, out: Any = None) -> Any:
    if decimals == 0:
        return t.apply("round_ties_to_even", a)
    scale = 10.0 ** abs(decimals)
    scaled = a * scale if decimals > 0 else a / scale
    whole = t.apply("round_ties_to_even", scaled)
    return whole / scale if decimals > 0 else whole * scale


def _interp(t: Tracer, x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    """Piecewise linear: the first value plus, for each piece, its slope times how far x has gone into it."""
    if left is not None or right is not None or period is not None or is_symbolic(xp):
        raise refusal("np.interp with these arguments cannot be traced.", "Give x, constant xp and fp only.")
    x, knots = t.traced(x), np.asarray(plain(xp), float)
    steps = np.diff(knots)
    slopes = t.call(np.diff, (fp,), {}) / steps
    into = _clip(t, x.reshape((*x.shape, 1)) - knots[:-1], 0.0, steps)
    return t.call(np.sum, (slopes * into, -1), {}) + fp[0]


def _polyval(t: Tracer, p: Any, x: Any) -> Any:
    found: Any = 0.0
    for coefficient in p:
        found = found * x + coefficient
    return found


def _isclose(t: Tracer, a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Any:
    for value in (a, b):  # equal infinities are close
        t.absorbed.refuse(t.absorbed.is_infinite(t.operand(value)[0]), "np.isclose")
    return abs(t.traced(a) - b) <= atol + rtol * abs(t.traced(b))


def _apply_along_axis(t: Tracer, f: Any, axis: int, a: Any, *args: Any, **kwargs: Any) -> Any:
    rows = t.call(np.moveaxis, (t.traced(a), axis, -1), {})
    if rows.ndim == 1:
        return f(rows, *args, **kwargs)
    found = t.stacked([_apply_along_axis(t, f, -1, row, *args, **kwargs) for row in rows])
    return found if found.ndim < rows.ndim else t.call(np.moveaxis, (found, -1, axis), {})


def _nan_to_num(t: Tracer, x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
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
    np.einsum: _einsum, np.dot: _dot, np.inner: _inner, np.vdot: _vdot, np.outer: _outer,
    np.tensordot: _tensordot, np.linalg.multi_dot: _multi_dot, np.cross: _cross, np.convolve: _convolve,
    np.kron: _kron,
    np.where: where, np.select: _select, np.piecewise: _piecewise, np.clip: _clip,
    np.round: _round, np.around: _round, np.fix: lambda t, a, **kwargs: t.apply("trunc", a),
    np.sinc: numpy_elementwise.sinc, np.interp: _interp, np.polyval: _polyval,
    np.isclose: _isclose, np.allclose: lambda t, *a, **k: t.call(np.all, (_isclose(t, *a, **k),), {}),
    np.array_equal: lambda t, a, b, **k: t.call(np.all, (t.ufunc(np.equal, (a, b)),), {}),
    np.apply_along_axis: _apply_along_axis, np.isin: _isin_refused, np.nan_to_num: _nan_to_num,
}  # fmt: skip
UFUNCS: dict[Any, Rule] = {**numpy_elementwise.UFUNCS, np.matmul: _matmul}
if isinstance(getattr(np, "vecdot", None), np.ufunc):
    UFUNCS[np.vecdot] = _vecdot
