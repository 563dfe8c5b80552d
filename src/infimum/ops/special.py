"""Special functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from infimum.ops.record import Builder, Domain, Node, Operation
from infimum.ops.slopes import of_one

_LARGEST = float(np.finfo(np.float64).max)


def _x_log_x(x: Any) -> Any:
    return np.where(x == 0, 0.0, x * np.log(x))


def _x_log_x_slope(b: Builder, x: Node, y: Node) -> Node:
    at_zero = b.apply("is_equal", x, b.number(0))
    return b.apply("where", at_zero, b.between(-np.inf, -_LARGEST), b.apply("add", b.number(1), b.apply("log", x)))


SPECIAL = (
    Operation(
        name="x_log_x",
        point=_x_log_x,
        slope=of_one(_x_log_x_slope),
        domain=Domain(least=0.0),
        zero="positive",
    ),
)
