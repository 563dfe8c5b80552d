"""The residuals of a fit, row by row as the user returns them: their Jacobian in doubles, the data in them (POLICY).

The squares that a search finds in a function (outer.py) are those of an expression that was simplified, in another
order, and without rows that are constant; a covariance and a goal are of the user's rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from infimum.backends import cpu
from infimum.graph import indexmap
from infimum.graph.build import Build
from infimum.graph.node import Node, ancestors
from infimum.interval.outward import FloatArray
from infimum.passes.derive import gradient
from infimum.passes.lowering.lower import lower
from infimum.passes.offsets import offsets
from infimum.passes.reroll import reroll
from infimum.passes.simplify import rebuilt, simplify
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
        x = np.broadcast_to(np.asarray(point, np.float64), (self.n, self.n))
        inputs = np.hstack([x, np.eye(self.n), np.zeros((self.n, self.m))])
        with np.errstate(all="ignore"):
            program = lower([self._along()], 2 * self.n + self.m)
            ((found, _),) = cpu.run(program, inputs, mode="point", threads=1)
        return np.ascontiguousarray(found.T)

    def _along(self) -> Node:
        """Return J v as an expression of x, v (n each) and s (m): by s, what the slope of s' r along v changes by."""
        n, m = self.n, self.m
        build = Build(2 * n + m)
        new: dict[Node, Node] = {}
        for node in ancestors([self._node]):
            new[node] = _inputs(build, 0, n) if node.op == "x" else rebuilt(build, node, [new[a] for a in node.args])
        products = build.apply("mul", _inputs(build, 2 * n, m), build.full(new[self._node], m))
        slopes = _part(build, gradient(build, build.reduce("sum", build.full(products, m), m)), 0, n)
        along = build.apply("mul", slopes, _inputs(build, n, n))
        return _part(build, gradient(build, build.reduce("sum", build.full(along, n), n)), 2 * n, m)


def _inputs(build: Build, start: int, size: int) -> Node:
    return _part(build, build.x, start, size)


def _part(build: Build, node: Node, start: int, size: int) -> Node:
    """Return some of the elements of a node that has one for each input."""
    whole = build.full(node, build.x.size)
    return build.full(build.take(whole, indexmap.affine([(size, 1)], start, build.x.size)), size)


def _residuals(tracer: Tracer, f: Any, result: Any) -> Node:
    """Return the residuals that the function returned, expressions of x or not."""
    node, shape, _ = tracer.operand(vector(result, name_of(f)))
    return tracer.sized(node, shape[0] if shape else 1)
