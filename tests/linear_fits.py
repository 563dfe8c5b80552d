"""Random fits with the two meanings of random_functions.

f = H(sum over k of (sum over l of c_l a_l(p; t_k) + h(p; t_k) - y_k)^2 + constant)

The variables are p, one or two of them, then c, one to three; H is the identity or increasing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from infimum.boxes import FloatArray
from random_functions import RandomFunction, Tree, _Draw, plain

_PARAMETERS = [(-2.0, 3.0), (0.1, 4.0), (-1.0, 1.0), (0.5, 1.5), (-3.0, 0.0)]
_RANGES = [(-5.0, 5.0), (0.0, 10.0), (-1.0, 0.5), (-100.0, 100.0), (-np.inf, np.inf)]
_TIMES = [-1.5, -0.5, 0.25, 0.5, 1.0, 1.25, 2.0, 3.0]
_FORMS = ("exp", "sin", "arctan", "tanh", "bell", "pole", "sqrt", "log", "abs", "power", "one", "tree")


@dataclass(frozen=True, eq=False)
class RandomFit(RandomFunction):
    """q parameters p, then those that enter linearly; trees of the columns and of h, row by row."""

    q: int = 0
    columns: tuple[tuple[Tree, ...], ...] = ()
    rest: tuple[Tree, ...] = ()

    def best(self, p: FloatArray) -> FloatArray:
        """The point of these p at which the squares are about least, its c rounded and within their bounds."""
        x = np.concatenate([p, np.zeros(self.n - self.q)])
        with np.errstate(all="ignore"):
            a = np.array([[float(plain(row, x)) for row in column] for column in self.columns]).T
            h = np.array([float(plain(row, x)) for row in self.rest])
        if not (np.isfinite(a).all() and np.isfinite(h).all()):
            return x
        c = np.linalg.lstsq(a, -h, rcond=None)[0]
        lo, hi = np.array(self.bounds[self.q :]).T
        return np.concatenate([p, np.clip(c, lo, hi)])

    def places(self, count: int, seed: int) -> FloatArray:
        """Points of the box, most of them with the best c for their p."""
        draw = np.random.default_rng(seed)
        lo, hi = np.clip(np.array(self.bounds).T, -20, 20)
        points = draw.uniform(lo, hi, (count, self.n))
        return np.array([self.best(x[: self.q]) if i % 4 else x for i, x in enumerate(points)])


def fit_function(seed: int) -> RandomFit:
    """A fit of four to seven rows that is defined at some point at least."""
    draw = _Draw(900_000 + seed)
    while True:
        q, count = int(draw.random.integers(1, 3)), int(draw.random.integers(1, 4))
        times = draw.random.choice(_TIMES, int(draw.random.integers(4, 8)), replace=False).tolist()
        p: list[Tree] = [("x", i) for i in range(q)]
        columns = tuple(_column(draw, p, times) for _ in range(count))
        fixed = _column(draw, p, times) if draw.random.random() < 0.3 else None
        numbers = [round(float(draw.random.normal()), 2) for _ in times]
        rest = tuple(("c", -y) if fixed is None else ("sub", fixed[k], ("c", y)) for k, y in enumerate(numbers))
        tree = _tree(draw, columns, rest, q)
        bounds = tuple(draw.pick(_PARAMETERS) for _ in p) + tuple(draw.pick(_RANGES) for _ in columns)
        made = RandomFit(f"fit {seed}", tree, bounds, None, q, columns, rest)
        if any(made.value(point) is not None for point in made.places(6, seed)) and made.is_traced:
            return made


def _tree(draw: _Draw, columns: tuple[tuple[Tree, ...], ...], rest: tuple[Tree, ...], q: int) -> Tree:
    total: Any = None
    for k, fixed in enumerate(rest):
        row = fixed
        for number, column in enumerate(columns):
            row = ("add", row, ("mul", ("x", q + number), column[k]))
        total = ("square", row) if total is None else ("add", total, ("square", row))
    total = draw.pick([total, total, total, ("add", total, ("c", 1.5)), ("mul", ("c", 0.3), total)])
    found: Tree = draw.pick([total, total, total, ("sqrt", total), ("log", total)])
    return found


def _column(draw: _Draw, p: list[Tree], times: list[float]) -> tuple[Tree, ...]:
    """One function of p and t for each of the times."""
    form, own = draw.pick(_FORMS), draw.pick(p)
    scale = draw.pick([1.0, 1.0, 0.5, 0.3])
    body = draw.varying([*p, ("t",)], 3) if form == "tree" else ()
    return tuple(_row(form, own, ("c", t * scale), body) for t in times)


def _row(form: str, p: Tree, t: Tree, body: Tree) -> Tree:
    one: Tree = ("c", 1.0)
    if form == "tree":
        return _with(body, t)
    if form == "one":
        return one
    return {
        "exp": ("exp", ("mul", p, t)),
        "sin": ("sin", ("mul", p, t)),
        "arctan": ("arctan", ("mul", p, t)),
        "tanh": ("tanh", ("sub", t, p)),
        "bell": ("div", one, ("add", one, ("square", ("sub", p, t)))),
        "pole": ("div", one, ("sub", p, t)),
        "sqrt": ("sqrt", ("add", p, t)),
        "log": ("log", ("add", p, t)),
        "abs": ("abs", ("sub", p, t)),
        "power": ("mul", t, ("square", p)),
    }[form]


def _with(tree: Tree, t: Tree) -> Tree:
    """The tree with a number for t."""
    if tree == ("t",):
        return t
    return tuple(_with(part, t) if isinstance(part, tuple) else part for part in tree)
