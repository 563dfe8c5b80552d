"""What the user's function computes with: constants as nodes; numbers, lists and arrays as traced arrays."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from infimum.exact.number import Exact, ExactArray, exact
from infimum.graph.constant import constant
from infimum.graph.node import Node
from infimum.tracing.buffer import Buffer
from infimum.tracing.copies import laid_out
from infimum.tracing.dtypes import bound_of, joined_kind, type_of
from infimum.tracing.python.clock import Moment
from infimum.tracing.refusal import MADE_BEFORE, refusal
from infimum.tracing.traced import Shape, TracedArray

if TYPE_CHECKING:
    from infimum.tracing.tracer import Tracer

Operand = tuple[Node, Shape, bool]

_KINDS = {"b": "b", "i": "i", "u": "i", "f": "f"}
_FLOATS = (float, np.dtype(float))


def number(t: Tracer, value: float) -> Node:
    """Return the constant of a Python int or float; each number has one node."""
    found = t.numbers.get(value)
    if value == 0 and math.copysign(1.0, value) < 0:
        return constant_node(t, np.array([value], np.float64))
    if found is None:
        if isinstance(value, int) and abs(value) > 2**53:
            found = t.graph.node("constant", (), 1, constant(value))
        else:
            found = constant_node(t, np.array([value], np.float64))
        t.numbers[value] = found
    return found


def _exact_number(t: Tracer, value: Exact) -> Node:
    """Return the constant of an exact number; each object has one node."""
    t.met_exact = True
    found = t.exact_numbers.get(id(value))
    if found is None:
        node = t.graph.node("constant", (), 1, constant(value))
        found = t.exact_numbers[id(value)] = (value, node)
    return found[1]


def constant_node(t: Tracer, values: npt.NDArray[Any]) -> Node:
    """Return the constant of a flat array of plain numbers; refuse NaN and infinities."""
    if values.dtype.kind not in "biuf":
        raise refusal(
            f"A constant of dtype {values.dtype} is no array of real numbers.", "Use float64, or infimum.exact."
        )
    doubles = values.astype(np.float64)
    if not np.all(np.isfinite(doubles)):
        bad = "NaN" if np.any(np.isnan(doubles)) else "infinity"
        raise refusal(
            f"A constant is {bad}, which is no real number.",
            "Check the data (np.empty leaves elements unset); for a penalty use a large finite number.",
        )
    if values.dtype.itemsize > 8 and values.dtype.kind == "f" and np.any(doubles != values):
        return t.graph.node("constant", (), values.size, constant(exact(values)))
    zero = doubles == 0
    if np.any(zero & np.signbit(doubles)):
        return _with_negative_zeros(t, doubles, zero)
    return t.graph.node("constant", (), values.size, constant(values if values.dtype.kind in "iu" else doubles))


def _with_negative_zeros(t: Tracer, doubles: npt.NDArray[np.float64], zero: npt.NDArray[np.bool_]) -> Node:
    """Return constants of which some are -0.0: the negative of others; signs are not followed if some are +0.0."""
    if np.all(np.signbit(doubles[zero])):
        return t.graph.node("neg", (t.graph.node("constant", (), zero.size, constant(-doubles)),), zero.size)
    return t.nonfinite.zeros.forget(t.graph.node("constant", (), zero.size, constant(doubles)))


def array(t: Tracer, node: Node, shape: Shape, kind: str = "f", bound: int = 0, like: Any = None) -> TracedArray:
    """Return a new array with these elements, in memory in the order of `like`."""
    if not shape:
        return TracedArray(t, (), node, kind=kind, bound=bound)
    buffer = Buffer(t, node.size, None, node)
    return TracedArray(t, shape, None, buffer, laid_out(like), kind, bound)


def fresh(t: Tracer, value: Any) -> Any:
    """Return what NumPy made so that expressions can be written into it: arrays are wrapped, numbers are not."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        _refuse_subclass(value)
        buffer = Buffer(t, value.size, value.ravel().copy(), None)
        return TracedArray(t, value.shape, None, buffer, laid_out(value), kind=_KINDS[value.dtype.kind])
    if type(value) is tuple or type(value) is list:
        return type(value)(fresh(t, v) for v in value)
    return value


def given(t: Tracer, value: npt.NDArray[Any]) -> Any:
    """Return an array that was made before the call: it can be read, not written."""
    if value.ndim == 0 or value.dtype.kind not in "biuf":
        return value[()] if value.ndim == 0 else value
    buffer = Buffer(t, value.size, value.ravel(), None)
    buffer.frozen = MADE_BEFORE
    return TracedArray(t, value.shape, None, buffer, kind=_KINDS[value.dtype.kind])


def operand(t: Tracer, value: Any) -> Operand:
    """Return a value as its node, its shape, and whether it is true or false."""
    if isinstance(value, TracedArray):
        return value.node, value.shape, value.boolean or value.dtype.kind == "b"
    if isinstance(value, bool | np.bool_):
        return t.number(float(value)), (), True
    if isinstance(value, int | float) and not isinstance(value, Moment):
        return t.number(value), (), False
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind != "O":
        _refuse_subclass(value)
        return t.constant_node(np.ravel(value)), np.shape(value), value.dtype.kind == "b"
    if isinstance(value, Exact):
        return _exact_number(t, value), (), False
    if isinstance(value, ExactArray):
        t.met_exact = True
        return t.graph.node("constant", (), value.size, constant(value)), value.shape, False
    if isinstance(value, Fraction | Decimal):
        return t.graph.node("constant", (), 1, constant(exact(value))), (), False
    if isinstance(value, list | tuple | np.ndarray):
        return operand(t, stacked(t, value))
    if isinstance(value, Moment):
        value.refuse()
    raise refusal(f"{value!r} is no real number and no array of such.", "Use numbers, arrays and NumPy functions.")


def stacked(t: Tracer, values: Any) -> Any:
    """Return a nested list of numbers and expressions as one array."""
    rows = [unlisted(t, v) for v in values]
    if not any(isinstance(row, TracedArray | Exact | ExactArray | Fraction | Decimal) for row in rows):
        return fresh(t, np.array(rows))
    operands = [operand(t, row) for row in rows]
    shapes = {shape for _, shape, _ in operands}
    if len(shapes) > 1:
        raise ValueError(f"the rows of an array differ in shape: {', '.join(map(str, sorted(shapes)))}")
    pieces = [node for node, _, _ in operands]
    node = pieces[0] if len(pieces) == 1 else t.graph.node("concat", pieces, sum(p.size for p in pieces))
    kind = joined_kind(rows, "array")
    refuse_mixed(t, rows)
    bound = max(map(bound_of, rows)) if kind == "i" else 0
    return array(t, node, (len(rows), *shapes.pop()), kind=kind, bound=bound)


def unlisted(t: Tracer, value: Any) -> Any:
    """Return a list or tuple as an array, anything else as it is."""
    return stacked(t, value) if isinstance(value, list | tuple) else value


def refuse_mixed(t: Tracer, rows: list[Any]) -> None:
    """Refuse an array that is one of integers for some x: what is written into it then is rounded."""
    mixed = [isinstance(row, TracedArray) and row.scalar in t.whole for row in rows]
    others = [row for row, is_mixed in zip(rows, mixed, strict=True) if not is_mixed]
    if any(mixed) and not any(type_of(row) in _FLOATS for row in others):
        raise refusal("The type of this array depends on x.", "Write np.maximum, or 0.0 in place of 0.")


def traced(t: Tracer, value: Any) -> TracedArray:
    """Return a value as a traced array, whatever it was."""
    value = unlisted(t, value)
    if isinstance(value, TracedArray):
        return value
    node, shape, _ = operand(t, value)
    dtype = np.dtype(type_of(value))
    kind = dtype.kind if dtype in (np.bool_, np.int64) else "f"
    return array(t, node, shape, kind=kind, bound=bound_of(value) if kind == "i" else 0)


def boxed(t: Tracer, number: TracedArray) -> TracedArray:
    """Return a number as an array without axes, which can be written into."""
    if number.buffer is not None:
        return number
    return TracedArray(t, (), None, Buffer(t, 1, None, number.node), kind=number.kind.lower(), bound=number.bound)


def _refuse_subclass(value: Any) -> None:
    """Refuse matrices, masked arrays and their like, whose operators mean something else."""
    if isinstance(value, np.ndarray) and type(value) not in (np.ndarray, np.memmap):
        raise refusal(f"A {type(value).__name__} computes in ways of its own.", "Write np.asarray(a) before.")
