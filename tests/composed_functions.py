"""Random functions that add up outer functions of coupled arguments, with the two meanings of random_functions.

f = H(phi_1(u_1) + … + phi_m(u_m) + G(x)),    the u trees that read several variables, H the identity or increasing
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from infimum.function.function import trace
from random_functions import RandomFunction, Tree, _Draw

_BOXES = [(-2.0, 3.0), (0.0, 4.0), (-1.0, 1.0), (0.1, 5.0), (-3.0, 0.0)]


def _c(number: float) -> Tree:
    return ("c", number)


def _times(number: float, tree: Tree) -> Tree:
    return ("mul", _c(number), tree)


def _repulsion(u: Tree) -> Tree:
    return ("div", _c(1.0), ("cube", u))


def _pair(u: Tree) -> Tree:
    return ("sub", ("square", _repulsion(u)), _times(2.0, _repulsion(u)))


def _spelt_pair(u: Tree) -> Tree:
    cubed = ("cube", u)
    return _times(4.0, ("sub", ("div", _c(1.0), ("mul", cubed, cubed)), ("div", _c(1.0), cubed)))


def _well(d: Tree) -> Tree:
    """A bond that breaks: least, 0, at d = 0."""
    fall = ("exp", _times(-1.0, d))
    return ("add", ("sub", ("exp", _times(-2.0, d)), _times(2.0, fall)), _c(1.0))


class Phi(NamedTuple):
    """An outer function of a tree; whether its argument should be above 0; whether it is least, 0, at 0 alone."""

    of: Callable[[Tree], Tree]
    positive: bool = False
    planted: bool = False


# Every outer function of docs/coupling.md, and others with several pieces.
PHI: dict[str, Phi] = {
    "square": Phi(lambda u: ("square", u), planted=True),
    "fourth power": Phi(lambda u: ("square", ("square", u)), planted=True),
    "sixth power": Phi(lambda u: ("square", ("cube", u)), planted=True),
    "magnitude": Phi(lambda u: ("abs", u), planted=True),
    "exponential": Phi(lambda u: ("exp", u)),
    "exponential less its tangent": Phi(lambda u: ("sub", ("sub", ("exp", u), u), _c(1.0)), planted=True),
    "minus logarithm": Phi(lambda u: _times(-1.0, ("log", u)), positive=True),
    "logarithm": Phi(lambda u: ("log", u), positive=True),
    "root": Phi(lambda u: ("sqrt", u), positive=True),
    "entropy": Phi(lambda u: ("mul", u, ("log", u)), positive=True),
    "reciprocal": Phi(lambda u: ("div", _c(1.0), u), positive=True),
    "softplus": Phi(lambda u: ("log", ("add", _c(1.0), ("exp", u)))),
    "pair": Phi(_pair, positive=True),
    "pair, spelt otherwise": Phi(_spelt_pair, positive=True),
    "bond": Phi(_well, planted=True),
    "bell": Phi(lambda u: _times(-1.0, ("exp", _times(-1.0, ("square", u))))),
    "long tail": Phi(lambda u: ("log", ("add", _c(1.0), ("square", u))), planted=True),
    "smooth magnitude": Phi(lambda u: ("sqrt", ("add", _c(0.5), ("square", u)))),
    "step": Phi(lambda u: ("tanh", u)),
    "cube": Phi(lambda u: ("cube", u)),
}


def composed_function(seed: int) -> RandomFunction:
    """A sum of two to six outer functions of trees of two or three variables, defined at some point at least."""
    draw = _Draw(900_000 + seed)
    names = list(PHI)
    while True:
        n = int(draw.random.integers(2, 4))
        variables: list[Tree] = [("x", i) for i in range(n)]
        name = names[seed % len(names)]
        parts = []
        for i in range(int(draw.random.integers(2, 6))):
            phi = PHI[name if i < 2 else draw.pick(names)]
            scale = draw.pick([1.0, 1.0, 0.3, 7.0, -0.5])
            part = phi.of(_argument(draw, variables, phi.positive))
            parts.append(part if scale == 1.0 else _times(scale, part))
        if draw.random.random() < 0.3:
            parts.append(draw.varying(variables, 2))
        tree = parts[0]
        for part in parts[1:]:
            tree = (draw.pick(["add", "add", "sub"]), tree, part)
        tree = draw.pick([tree, tree, tree, ("exp", tree), ("arctan", tree), ("mul", _c(0.3), tree)])
        made = RandomFunction(f"outer {seed}", tree, tuple(draw.pick(_BOXES) for _ in range(n)))
        if any(made.value(point) is not None for point in made.good_points(3)) and made.is_traced:
            return made


def _argument(draw: _Draw, variables: list[Tree], positive: bool) -> Tree:
    """A tree that reads two variables at least, mostly above 0 where that is wanted."""
    x, y = (variables[int(i)] for i in draw.random.permutation(len(variables))[:2])
    number = float(draw.random.normal())
    if positive:
        distance: Tree = ("add", ("square", ("sub", x, y)), ("square", ("sub", x, _c(number))))
        return draw.pick([distance, distance, ("add", ("sub", x, y), _c(abs(number) + 2.0))])
    slanted: Tree = ("add", _times(draw.pick([1.0, -2.0, 0.3]), x), ("sub", y, _c(number)))
    product: Tree = ("sub", ("mul", x, y), _c(number))
    return draw.pick([slanted, slanted, product, ("sub", draw.varying(variables, 2), slanted)])


def planted_outer(seed: int) -> tuple[RandomFunction, float]:
    """Outer functions whose sum has its minimum at one point p of doubles alone, and that minimum, mostly not 0.

    Each is least, 0, where its argument is 0: each x_i - p_i, and some trees times one of them.
    """
    draw = _Draw(950_000 + seed)
    planted = [phi for phi in PHI.values() if phi.planted]
    while True:
        n = int(draw.random.integers(2, 4))
        variables: list[Tree] = [("x", i) for i in range(n)]
        box = tuple(draw.pick(_BOXES) for _ in range(n))
        p = tuple(min(max(round(float(draw.random.uniform(lo, hi)), 3), lo), hi) for lo, hi in box)
        apart: list[Tree] = [("sub", x, _c(v)) for x, v in zip(variables, p, strict=True)]
        mixed: list[Tree] = [
            ("add", _times(draw.pick([1.0, -2.0, 0.5]), apart[i - 1]), apart[i]) for i in range(len(apart))
        ]
        mixed += [("mul", draw.varying(variables, 2), draw.pick(apart)) for _ in range(int(draw.random.integers(0, 3)))]
        lowest = draw.pick([0.0, 1.25, -3.5])
        tree = _c(lowest)
        for argument in [*apart, *mixed]:
            tree = ("add", tree, draw.pick(planted).of(argument))
        made = RandomFunction(f"planted outer {seed}", tree, box, p)
        if made.value(p) is not None and made.is_traced and _is_bounded(made):
            return made, lowest


def _is_bounded(f: RandomFunction) -> bool:
    """Whether the enclosure over the bounds has ends."""
    lo, hi = np.array(f.bounds).T
    low, high = trace(f, f.n).range_ends(lo[None], hi[None])
    return bool(np.isfinite([low, high]).all())
