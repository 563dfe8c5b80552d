"""Random functions of two variables that meet infinities and NaN on their way, as text, by number."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

_LEAVES = (
    "x[0]",
    "x[1]",
    "x[0]",
    "x[1]",
    "0.0",
    "1.0",
    "-1.0",
    "2.0",
    "0.5",
    "-2.0",
    "x[0]-1",
    "1-x[1]",
    "x[0]*x[1]",
    "-x[0]",
)
_ONE = (
    "np.sqrt({})", "np.log({})", "np.log1p({})", "np.exp({})", "np.exp(-({}))", "np.arctan({})", "np.tanh({})",
    "np.sign({})", "1/({})", "({})**2", "({})**-1", "({})**-2", "({})**0", "({})**3", "({})**0.5", "({})**1.5",
    "({})**-0.5", "-({})", "np.abs({})", "np.floor({})", "np.ceil({})", "np.round({})", "np.trunc({})",
    "np.arcsin({})", "np.arccosh({})", "np.arctanh({})", "np.expm1({})", "np.cbrt({})", "np.square({})",
    "np.reciprocal({})", "np.log2({})", "np.isnan({})*1.0", "np.isfinite({})*1.0", "np.isinf({})*2.0",
    "np.nan_to_num({}, nan=7.0, posinf=8.0, neginf=-8.0)", "np.signbit({})*1.0", "np.exp2({})", "np.sinh({})",
    "np.cosh({})", "np.sin({})", "np.heaviside({}, 0.25)", "np.clip({}, -1.5, 2.5)",
)  # fmt: skip
_TWO = (
    "({})+({})", "({})-({})", "({})*({})", "({})/({})", "np.maximum({}, {})", "np.minimum({}, {})",
    "np.fmax({}, {})", "np.fmin({}, {})", "({})**({})", "np.arctan2({}, {})", "np.hypot({}, {})",
    "np.copysign({}, {})", "np.mod({}, {})", "({})//({})", "np.fmod({}, {})", "max({}, {})", "min({}, {})",
    "np.logaddexp({}, {})", "np.where(({}) > ({}), 1.5, -2.5)", "np.where(({}) <= ({}), 1.5, -2.5)",
    "np.where(({}) == ({}), 1.5, -2.5)", "np.where(({}) != ({}), 1.5, -2.5)",
    "np.where(~(({}) < ({})), 1.5, -2.5)", "np.nansum([{}, {}])", "np.nanmax([{}, {}])", "np.nanmin([{}, {}])",
    "np.nanmean([{}, {}])", "np.nanprod([{}, {}])", "np.max([{}, {}])", "np.min([{}, {}])", "np.sum([{}, {}])",
    "np.prod([{}, {}])", "np.heaviside({}, {})", "np.power({}, np.round({}))", "np.float_power({}, {})",
)  # fmt: skip
_THREE = (
    "np.where(({}) > ({}), {}, 0.75)", "np.where(np.isnan({}), {}, {})",
    "np.select([({}) > 0.25, ({}) < 0], [1.0, {}], 3.0)",
)  # fmt: skip

NUMBERS = (-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0)
POINTS = np.array([[a, b] for a in NUMBERS for b in NUMBERS])


def text(draw: random.Random, depth: int) -> str:
    """Return an expression of x."""
    if depth == 0 or draw.random() < 0.12:
        return draw.choice(_LEAVES)
    kind = draw.random()
    pattern = draw.choice(_ONE if kind < 0.5 else _TWO if kind < 0.93 else _THREE)
    return pattern.format(*(text(draw, depth - 1) for _ in range(pattern.count("{}"))))


def function(source: str) -> Callable[[Any], Any]:
    """Return the function of an expression."""
    space: dict[str, Any] = {"np": np}
    exec(f"def f(x):\n    return {source}\n", space)
    found: Callable[[Any], Any] = space["f"]
    return found
