"""Every objective of the tests, traced once: as the tracer left it, and as a Function."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import objectives
import paper_functions
from infimum.function.function import Function, trace
from infimum.graph.node import Node
from infimum.tracing.trace import trace_graph
from infimum.tracing.twins.plain import PlainTwins
from objectives import Objective

FloatArray = npt.NDArray[np.float64]

PAPER = [
    Objective(f.__name__, f, 6, (low, high))
    for vector, loop, low, high in paper_functions.FUNCTIONS.values()
    for f in (vector, loop)
]
EVERY: list[Objective] = objectives.ALL + PAPER
BY_NAME = {o.name: o for o in EVERY}


class Both(NamedTuple):
    raw: Node
    function: Function


@cache
def _traced(name: str) -> Both:
    o = BY_NAME[name]
    return Both(trace_graph(o.f, o.n, o.args).output, trace(o.f, o.n, o.args))


def traced(objective: Objective) -> Both:
    """The raw graph and the Function of an objective."""
    return _traced(objective.name)


def numpy_value(objective: Objective, x: Any) -> float:
    """The user's function in plain doubles, exact constants as the nearest doubles."""
    f = PlainTwins(None).of(objective.f)  # type: ignore[arg-type]
    with np.errstate(all="ignore"):
        return float(np.asarray(f(x.copy(), *objective.args), float).reshape(()))


def domain(objective: Objective) -> FloatArray:
    """The box of an objective, as pairs (n, 2)."""
    return np.broadcast_to(np.array(objective.bounds, float), (objective.n, 2))


def points(objective: Objective, count: int, seed: int) -> FloatArray:
    """Random points of the domain."""
    box = domain(objective)
    return np.random.default_rng(seed).uniform(box[:, 0], box[:, 1], (count, objective.n))


def boxes(objective: Objective, count: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """Boxes of all sizes inside the domain: the first is all of it, the second a point; a few variables are fixed."""
    random = np.random.default_rng(seed)
    box = domain(objective)
    centre = points(objective, count, seed + 1)
    reach = (box[:, 1] - box[:, 0]) * 10.0 ** random.uniform(-14, 0, (count, 1)) * random.uniform(0, 1, centre.shape)
    reach = np.where(random.uniform(size=centre.shape) < 0.1, 0.0, reach)
    lo, hi = np.maximum(centre - reach, box[:, 0]), np.minimum(centre + reach, box[:, 1])
    lo[0], hi[0] = box[:, 0], box[:, 1]
    lo[1], hi[1] = centre[1], centre[1]
    return lo, hi


def samples(lo: FloatArray, hi: FloatArray, count: int, seed: int) -> FloatArray:
    """Points of each box, shape (boxes, count, n): corners now and then, the rest inside."""
    random = np.random.default_rng(seed)
    at = random.uniform(0, 1, (lo.shape[0], count, lo.shape[1]))
    at = np.where(random.uniform(size=at.shape) < 0.15, np.round(at), at)
    found = lo[:, None, :] + at * (hi - lo)[:, None, :]
    return np.clip(found, lo[:, None, :], hi[:, None, :])
