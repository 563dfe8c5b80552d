"""The residuals of a fit, row by row as the user returns them: their Jacobian in doubles, the data in them (POLICY).

The squares that a search finds in a function (outer.py) are those of an expression that was simplified, in another
order, and without rows that are constant; a covariance and a goal are of the user's rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from infimum.backends.placement import Place
from infimum.function.outer import OuterPrograms, Residuals
from infimum.graph.node import Node
from infimum.interval.outward import FloatArray
from infimum.passes.offsets import offsets
from infimum.passes.outer.split import Outer
from infimum.passes.reroll import reroll
from infimum.passes.simplify import simplify
from infimum.tracing.ranges import Ends
from infimum.tracing.squares import name_of, vector
from infimum.tracing.trace import trace_with
from infimum.tracing.tracer import Tracer


class ResidualVector:
    """m residuals as functions of n variables."""

    def __init__(self, f: Callable[..., Any], n: int, args: tuple[Any, ...], box: Ends | None) -> None:
        with np.errstate(all="ignore"):
            traced = trace_with(_residuals, f, n, args, box)
            (rolled,) = reroll(traced.graph, [traced.output])
            self.n, self.m = n, traced.output.size
            self._build, (made,) = simplify([rolled], n)
            self._node = self._build.full(made, self.m)

    def offsets(self) -> FloatArray:
        """Return the constant that each residual adds to a function of x: the measurements, with a minus."""
        return offsets(self._node)

    def jacobian(self, point: npt.ArrayLike) -> FloatArray:
        """Return the derivatives (m, n) at a point, in plain doubles; NaN where there are none."""
        squares = Outer(None, self._node, self._build.number(0))
        with np.errstate(all="ignore"):
            rows = Residuals(OuterPrograms(squares, self.n), Place())
            found = rows.jacobian(np.asarray(point, np.float64)[None])
        return np.asarray(found[0], np.float64)


def _residuals(tracer: Tracer, f: Any, result: Any) -> Node:
    """Return the residuals that the function returned, expressions of x or not."""
    node, shape, _ = tracer.operand(vector(result, name_of(f)))
    return tracer.sized(node, shape[0] if shape else 1)
