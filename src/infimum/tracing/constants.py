"""Constants of a traced function as nodes of its graph."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from infimum.exact.number import Exact, exact
from infimum.graph.constant import constant
from infimum.graph.node import Node
from infimum.tracing.refusal import refusal

if TYPE_CHECKING:
    from infimum.tracing.tracer import Tracer


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


def exact_number(t: Tracer, value: Exact) -> Node:
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
