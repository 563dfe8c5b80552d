"""The residuals of a fit as a graph of their own: their Jacobian in plain doubles, and the data in them (POLICY)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from infimum.backends import cpu
from infimum.graph.node import Node
from infimum.interval.outward import FloatArray
from infimum.passes.lowering.lower import lower
from infimum.passes.offsets import offsets
from infimum.passes.reroll import reroll
from infimum.passes.simplify import simplify
from infimum.passes.tangents import tangents
from infimum.tracing.ranges import Ends
from infimum.tracing.squares import name_of, vector
from infimum.tracing.trace import trace_with
from infimum.tracing.tracer import Tracer


class Residuals:
    """m residuals as functions of n variables."""

    def __init__(self, f: Callable[..., Any], n: int, args: tuple[Any, ...], box: Ends | None) -> None:
        with np.errstate(all="ignore"):
            traced = trace_with(_residuals, f, n, args, box)
            (rolled,) = reroll(traced.graph, [traced.output])
            self.n = n
            self.size = traced.output.size
            self._build, (made,) = simplify([rolled], n)
            self._node = self._build.full(made, self.size)

    def offsets(self) -> FloatArray:
        """Return the constant that each residual adds to a function of x: the measurements, with a minus."""
        return offsets(self._node)

    def jacobian(self, point: npt.ArrayLike) -> FloatArray:
        """Return the derivatives (m, n) at a point, in plain doubles; NaN where there are none."""
        x = np.asarray(point, np.float64)[None]
        with np.errstate(all="ignore"):
            program = lower(tangents(self._build, self._node), self.n)
            found = cpu.run(program, x, mode="point", threads=1)
        return np.stack([slope[0] for slope, _ in found], axis=1)


def _residuals(tracer: Tracer, f: Any, result: Any) -> Node:
    """Return the residuals that the function returned, expressions of x or not."""
    node, shape, _ = tracer.operand(vector(result, name_of(f)))
    return tracer.sized(node, shape[0] if shape else 1)
