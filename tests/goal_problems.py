"""Random problems with undefined, discontinuous and unbounded pieces, and random goals for them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

INF = math.inf

PIECES: dict[str, Callable[[Any], Any]] = {
    # undefined here and there
    "log": np.log, "sqrt": np.sqrt, "arcsin": np.arcsin, "u log u": lambda u: u * np.log(u),
    "sin(u)/u": lambda u: np.sin(u) / u, "expm1(u)/u": lambda u: np.expm1(u) / u,
    "sqrt log": lambda u: np.sqrt(np.log(u)),
    # discontinuous
    "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "sign": np.sign,
    "floor squared": lambda u: (np.floor(u) + 0.5) ** 2,
    "step": lambda u: np.where(u > 0.25, u, 3 - u), "hole": lambda u: np.where(u > 0, u, 2.0),
    "spike": lambda u: np.where(u == 0.5, -2.0, np.abs(u)),
    # unbounded
    "1/u": lambda u: 1 / u, "1/u^2": lambda u: 1 / u**2, "-1/|u|": lambda u: -1 / np.abs(u), "tan": np.tan,
    "log |u|": lambda u: np.log(np.abs(u)), "exp": np.exp, "cube": lambda u: u**3, "-u^4": lambda u: -(u**4),
    # and tame
    "square": lambda u: u**2, "abs": np.abs, "cos": np.cos, "quartic": lambda u: u**4 - u**2, "linear": lambda u: u,
}  # fmt: skip


class Problem(NamedTuple):
    """A function with bounds, in words too, and the options of a search."""

    text: str
    f: Callable[[Any], Any]
    bounds: list[tuple[float, float]]
    options: dict[str, Any]


def problem(seed: int) -> Problem:
    """Return the problem of this number: a sum or product of pieces, in blocks or coupled, with goals and limits."""
    draw = np.random.default_rng([seed, 20_261_117])
    n = int(draw.integers(1, 4))
    names = [str(name) for name in draw.choice(list(PIECES), int(draw.integers(1, 5)))]
    shift = draw.choice([0.0, 0.5, 1.0, -1.0, 0.3], len(names))
    factor = draw.choice([1.0, 2.0, -1.0, 0.1], len(names))
    at = draw.integers(0, n, (len(names), 2))
    coupled = draw.random(len(names)) < 0.3
    product = bool(draw.random() < 0.15)

    def f(x: Any) -> Any:
        value = 0.0 * x[0] + (1.0 if product else 0.0)
        for name, a, b, (i, j), both in zip(names, factor, shift, at, coupled, strict=True):
            piece = a * PIECES[name]((x[i] + x[j] if both else x[i]) + b)
            value = value * piece if product else value + piece
        return value

    bounds = [_bounds(draw) for _ in range(n)]
    text = f"seed {seed}: {' * ' if product else ' + '}".join(names) + f", {factor}, {shift}, {at.tolist()} on {bounds}"
    return Problem(text, f, bounds, _options(draw, bounds))


def _bounds(draw: np.random.Generator) -> tuple[float, float]:
    kind = draw.random()
    if kind < 0.15:
        return ((-INF, INF), (0.0, INF), (-INF, 2.0))[int(draw.integers(3))]
    if kind < 0.2:
        return (0.5, 0.5)
    lo = float(draw.choice([-3.0, -1.0, 0.0, 0.1]))
    return lo, lo + float(draw.choice([0.5, 1.0, 4.0, 100.0]))


def _options(draw: np.random.Generator, bounds: list[tuple[float, float]]) -> dict[str, Any]:
    n = len(bounds)
    found: dict[str, Any] = {
        "method": ("auto", "paper")[int(draw.random() < 0.35)],
        "maximize": bool(draw.random() < 0.3),
        "max_iter": int(draw.choice([1, 5, 40])),
        "max_regions": 20_000,
        "time_limit": 2.0,
    }
    if draw.random() < 0.7:
        found["ftol"] = (None, 0, 1e-2, 1e-4, 1e-6, 1e-10, 3.0)[int(draw.integers(7))]
    if draw.random() < 0.5:
        found["fatol"] = (None, 0, 1e-3, 1e-9, 10)[int(draw.integers(5))]
    kind = draw.random()
    if kind < 0.5:
        width = float(10.0 ** draw.integers(-7, 2))
        found["xtol"] = (width, {0: width}, [width] + [None] * (n - 1), [width] * n, None, 1e-330)[
            int(draw.integers(6))
        ]
        if found["xtol"] == 1e-330:
            found["xtol"] = 1e-320
    if draw.random() < 0.25:
        ends = [i for i, (lo, hi) in enumerate(bounds) if math.isfinite(hi - lo)]
        part = float(10.0 ** draw.integers(-5, 0))
        found["xrtol"] = part if len(ends) == n else dict.fromkeys(ends, part) if ends else None
    return found
