"""Random functions with two meanings: NumPy, which infimum traces, and Arb at a point, which shares nothing with it.

A tree is a tuple (name, subtree, ...). `random_function(seed)` is a tree of one to three variables over a random box;
`planted_function(seed)` builds such a tree into a function whose only global minimiser is known exactly.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import flint
import numpy as np
import numpy.typing as npt

from infimum.errors import TraceError
from infimum.tracing.trace import trace_graph

Tree = tuple[Any, ...]
FloatArray = npt.NDArray[np.float64]

PRECISION = 300


class Undecided(Exception):
    """The value at a point does not exist, or Arb cannot tell."""


# --- operations ------------------------------------------------------------------------------------------------------


class Operation(NamedTuple):
    """One operation in NumPy and in Arb."""

    arity: int
    plain: Callable[..., Any]
    exact: Callable[..., Any]
    weight: int = 1


def _sure(condition: bool, value: Callable[[], Any]) -> Any:
    if not condition:
        raise Undecided
    return value()


def _floor(a: Any) -> Any:
    found = a.floor()
    return _sure(found.is_exact(), lambda: found)


def _sign(a: Any) -> Any:
    return flint.arb(1 if a > 0 else -1 if a < 0 else _sure(a == 0, lambda: 0))


OPERATIONS = {
    "add": Operation(2, np.add, lambda a, b: a + b, 4),
    "sub": Operation(2, np.subtract, lambda a, b: a - b, 3),
    "mul": Operation(2, np.multiply, lambda a, b: a * b, 4),
    "div": Operation(2, np.divide, lambda a, b: _sure(b != 0, lambda: a / b), 2),
    "square": Operation(1, np.square, lambda a: a * a, 3),
    "cube": Operation(1, lambda a: a**3, lambda a: a * a * a),
    "abs": Operation(1, np.abs, abs, 2),
    "sin": Operation(1, np.sin, lambda a: a.sin(), 3),
    "cos": Operation(1, np.cos, lambda a: a.cos(), 2),
    "exp": Operation(1, np.exp, lambda a: a.exp()),
    "tanh": Operation(1, np.tanh, lambda a: a.tanh()),
    "arctan": Operation(1, np.arctan, lambda a: a.atan()),
    "sqrt": Operation(1, np.sqrt, lambda a: _sure(a >= 0, a.sqrt), 2),
    "log": Operation(1, np.log, lambda a: _sure(a > 0, a.log), 2),
    "floor": Operation(1, np.floor, _floor),
    "sign": Operation(1, np.sign, _sign),
    "minimum": Operation(2, np.minimum, lambda a, b: a.min(b), 2),
    "maximum": Operation(2, np.maximum, lambda a, b: a.max(b), 2),
}

FOLDS: dict[str, tuple[Callable[..., Any], Callable[[Any, Any], Any]]] = {
    "sum": (np.sum, lambda a, b: a + b),
    "prod": (np.prod, lambda a, b: a * b),
    "max": (np.max, lambda a, b: a.max(b)),
}


# --- two meanings of a tree ------------------------------------------------------------------------------------------
#
# | name       | is                                                                                    |
# | x, c       | a variable; a number                                                                  |
# | t, u       | in the body of a fold: the variable it has come to; in that of a chain, the next one   |
# | where      | the third where the first is below the second, else the fourth                        |
# | chain      | the sum of its body over all neighbours (t, u)                                        |
# | a fold     | of its body over all variables t                                                      |
# | operation  | of its operands                                                                       |


def plain(tree: Tree, x: Any, t: Any = None, u: Any = None) -> Any:
    """The tree in NumPy, of an array x of n variables (or n rows of points, or what stands for it in a trace)."""
    name, *rest = tree
    if name in _LEAVES:
        return _LEAVES[name](x, t, u, *rest)
    if name == "where":
        a, b, c, d = (plain(part, x, t, u) for part in rest)
        return np.where(a < b, c, d)
    if name == "chain":
        return np.sum(plain(rest[0], x, x[:-1], x[1:]), axis=0)
    if name in FOLDS:
        return FOLDS[name][0](plain(rest[0], x, x), axis=0)
    return OPERATIONS[name].plain(*(plain(part, x, t, u) for part in rest))


def exact(tree: Tree, x: Sequence[Any], t: Any = None, u: Any = None) -> Any:
    """The same tree as a ball of Arb around its value at a point; Undecided where it may not exist."""
    name, *rest = tree
    if name in _LEAVES:
        return flint.arb(_LEAVES[name](x, t, u, *rest))
    if name == "where":
        a, b = (exact(part, x, t, u) for part in rest[:2])
        return exact(rest[2] if a < b else _sure(a >= b, lambda: rest[3]), x, t, u)
    if name == "chain":
        return sum((exact(rest[0], x, *pair) for pair in itertools.pairwise(x)), flint.arb(0))
    if name in FOLDS:
        return functools.reduce(FOLDS[name][1], [exact(rest[0], x, each) for each in x])
    return OPERATIONS[name].exact(*(exact(part, x, t, u) for part in rest))


_LEAVES: dict[str, Callable[..., Any]] = {
    "x": lambda x, t, u, i: x[i],
    "t": lambda x, t, u: t,
    "u": lambda x, t, u: u,
    "c": lambda x, t, u, number: number,
}


@dataclass(frozen=True, eq=False)
class RandomFunction:
    """A tree over a box; its only minimiser and 0, its minimum, where it is planted."""

    name: str
    tree: Tree
    bounds: tuple[tuple[float, float], ...]
    minimiser: tuple[float, ...] | None = None

    @property
    def n(self) -> int:
        return len(self.bounds)

    def __call__(self, x: Any) -> Any:
        return plain(self.tree, x)

    @property
    def is_traced(self) -> bool:
        """Whether the function is not refused: what NumPy makes of an infinity on the way may be in doubt."""
        lo, hi = (np.array(end) for end in zip(*self.bounds, strict=True))
        try:
            trace_graph(self, self.n, (), (lo, hi))
            trace_graph(self, self.n)
        except TraceError:
            return False
        return True

    def value(self, point: npt.ArrayLike) -> Any:
        """A ball around the value at a point of doubles; None where it is undefined or cannot be told."""
        flint.ctx.prec = PRECISION
        try:
            found = exact(self.tree, [flint.arb(float(v)) for v in np.asarray(point)])
        except Undecided:
            return None
        return found if found.is_finite() else None

    def points_near(self, place: Sequence[float], count: int = 16) -> list[FloatArray]:
        """Points of the box at all distances from a place."""
        lo, hi = (np.array(end) for end in zip(*self.bounds, strict=True))
        draw = np.random.default_rng(self.n)
        reach = 10.0 ** np.linspace(-5, 1, count)[:, None]
        return list(np.clip(np.array(place) + reach * draw.uniform(-1, 1, (count, self.n)), lo, hi))

    def good_points(self, count: int = 12) -> list[FloatArray]:
        """Points of the box with small values: the best of many, moved downhill, corners and middles among them."""
        lo, hi = (np.clip(np.array(end), -50.0, 50.0) for end in zip(*self.bounds, strict=True))
        draw = np.random.default_rng(len(self.name))
        side = {1: 1001, 2: 41, 3: 13}[self.n]
        axes = [np.linspace(a, b, side) for a, b in zip(lo, hi, strict=True)]
        grid = np.stack([axis.ravel() for axis in np.meshgrid(*axes)])
        points = self._best(np.concatenate([grid, lo[:, None] + (hi - lo)[:, None] * draw.random((self.n, 500))], 1))
        step = (hi - lo)[:, None] / side
        for _ in range(40):
            moved = points[:, :, None] + step[:, :, None] * draw.normal(size=(self.n, points.shape[1], 8))
            near = np.clip(moved.reshape(self.n, -1), lo[:, None], hi[:, None])
            points = self._best(np.concatenate([points, near], 1))
            step = step * 0.6
        return list(points.T[:count])

    def _best(self, points: FloatArray, count: int = 24) -> FloatArray:
        with np.errstate(all="ignore"):
            values = np.broadcast_to(np.asarray(self(points), np.float64), points.shape[1:])
        return points[:, np.argsort(np.where(np.isfinite(values), values, np.inf), kind="stable")[:count]]


# --- drawing ---------------------------------------------------------------------------------------------------------

_BOXES = [
    (-2.0, 3.0),
    (0.0, 4.0),
    (-1.0, 1.0),
    (0.1, 10.0),
    (-5.0, 0.0),
    (1e-3, 1e3),
    (-3.0, 7.5),
    (-math.inf, math.inf),
]
_NUMBERS = [0.0, 0.1, 0.5, 1.0, 1.5, 2.0, 3.0, -1.0, -0.3, -2.5, 7.0, 1e-3, 100.0]
_NAMES = [name for name, op in OPERATIONS.items() for _ in range(op.weight)] + ["where"] * 2


class _Draw:
    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)

    def pick(self, options: Sequence[Any]) -> Any:
        return options[int(self.random.integers(len(options)))]

    def box(self, n: int) -> tuple[tuple[float, float], ...]:
        return tuple(self.pick(_BOXES if n < 3 else _BOXES[:-1]) for _ in range(n))

    def varying(self, leaves: list[Tree], depth: int, folds: bool = False) -> Tree:
        """A tree that is no number."""
        while (made := self.tree(leaves, depth, folds))[0] == "c":
            pass
        return made

    def tree(self, leaves: list[Tree], depth: int, folds: bool = False) -> Tree:
        """A tree of such leaves and numbers, at most `depth` operations deep, with folds or not."""
        chance = self.random.random()
        if depth == 0 or chance < 0.1:
            return self.pick([*leaves, ("c", self.pick(_NUMBERS))])
        if folds and chance < 0.25:
            body = self.tree([*leaves, *[("t",)] * 8], depth - 1)
            return (self.pick(list(FOLDS)), body if _reads(body, ("t",)) else ("mul", body, ("t",)))
        name = self.pick(_NAMES)
        arity = 4 if name == "where" else OPERATIONS[name].arity
        made = (name, *(self.tree(leaves, depth - 1, folds) for _ in range(arity)))
        if name == "where" and made[1][0] == made[2][0] == "c":
            made = (name, self.pick(leaves), *made[2:])
        # What NumPy computes of numbers alone is a double, not the real number that Arb finds.
        read = any(_reads(made, leaf) for leaf in [*leaves, ("t",)])
        return made if read else ("c", self.pick(_NUMBERS))


def _reads(tree: Tree, leaf: Tree) -> bool:
    return tree == leaf or any(isinstance(part, tuple) and _reads(part, leaf) for part in tree[1:])


def random_function(seed: int) -> RandomFunction:
    """A tree of one to three variables over a box, defined at some point at least."""
    draw = _Draw(seed)
    while True:
        n = int(draw.random.integers(1, 4))
        variables: list[Tree] = [("x", i) for i in range(n)]
        tree: Tree = ("add", draw.varying(variables, 4, folds=True), draw.tree(variables, 3, folds=True))
        made = RandomFunction(f"tree {seed}", tree, draw.box(n))
        if any(made.value(point) is not None for point in made.good_points(3)) and made.is_traced:
            return made


KINDS = ("smooth", "kink", "jump", "steps", "border", "corner", "ratio", "sum", "chain", "max", "product", "outer")


def planted_function(seed: int) -> RandomFunction:
    """A function with the minimum 0 at one point p alone, a random tree R in it.

    kind     function                                         what is tried there
    smooth   (1 + R²) Σ (x-p)²                                slopes that discard
    kink     (1 + |R|) Σ |x-p| + Σ (x-p)²                     no slope at p
    jump     1 + R² where x₀ < p₀, else (1 + |R|) Σ |x-p|     a minimum beside a jump
    steps    floor(|x₀-p₀|) R² + Σ |x-p|                      many jumps
    border   (1 + |R|) √(x₀-p₀) + Σ |x-p|                     undefined up to p
    corner   R² Σ (x-p)² + Σ |x-p|, p an end of every range   slopes that do not vanish
    ratio    Σ (x-p)² / (Σ (x-p)² + exp(-|R|))                a quotient, flat far away

    and in four to twelve variables, R a tree of each variable t (and the next one u), p the same in all of them:
    sum      S = Σ (1 + R(t)²) (t-p)²
    chain    C = Σ (1 + R(t, u)²) ((t-p)² + |u-p|)
    max      M = max (1 + |R(t)|) |t-p|
    product  1 - Π 1 / (1 + (1 + R(t)²) (t-p)²)
    outer    M + 1 - exp(-S) or √S + sin(C)² or (S + M) / (1 + C)
    """
    draw = _Draw(10_000 + seed)
    kind = KINDS[seed % len(KINDS)]
    staged = KINDS.index(kind) >= 7
    while True:
        n = int(draw.random.integers(4, 13) if staged else draw.random.integers(1, 4))
        box = ((-2.5, 2.0),) * n if staged else draw.box(n)
        if staged:
            p = (draw.pick([-1.0, 0.0, 0.3, 2.0, -2.5]),) * n
            tree, trees = _staged(kind, p[0], draw)
        else:
            p = tuple(_place(draw, pair, kind) for pair in box)
            inner = draw.varying([("x", i) for i in range(n)], 4, folds=True)
            tree, trees = _planted(kind, inner, p), [inner]
        made = RandomFunction(f"{kind} {seed}", tree, box, p)
        is_defined = all(RandomFunction("", inner, box).value(p) is not None for inner in trees)
        if made.value(p) is not None and is_defined and made.is_traced:
            return made


def _place(draw: _Draw, pair: tuple[float, float], kind: str) -> float:
    lo, hi = max(pair[0], -9.0), min(pair[1], 9.0)
    if kind == "corner" and math.isfinite(pair[0]):
        return float(draw.pick(pair))
    between = round(float(draw.random.uniform(lo, hi)), int(draw.random.integers(0, 5)))
    return min(max(between, lo), hi)


def _planted(kind: str, inner: Tree, p: tuple[float, ...]) -> Tree:
    apart = [("sub", ("x", i), ("c", v)) for i, v in enumerate(p)]
    squares, sizes = _total([("square", d) for d in apart]), _total([("abs", d) for d in apart])
    size, square = ("abs", inner), ("square", inner)
    above: Tree = ("add", ("c", 1.0), size)
    return {
        "smooth": ("mul", ("add", ("c", 1.0), square), squares),
        "kink": ("add", ("mul", above, sizes), squares),
        "jump": ("where", ("x", 0), ("c", p[0]), ("add", ("c", 1.0), square), ("mul", above, sizes)),
        "steps": ("add", ("mul", ("floor", ("abs", apart[0])), square), sizes),
        "border": ("add", ("mul", above, ("sqrt", apart[0])), sizes),
        "corner": ("add", ("mul", square, squares), sizes),
        "ratio": ("div", squares, ("add", squares, ("exp", ("sub", ("c", 0.0), size)))),
    }[kind]


def _staged(kind: str, p: float, draw: _Draw) -> tuple[Tree, list[Tree]]:
    """The function, and sums of its random trees over all variables: defined where they are."""
    one, two = draw.varying([("t",)], 3), draw.varying([("t",), ("u",)], 3)
    t, u = ("sub", ("t",), ("c", p)), ("sub", ("u",), ("c", p))
    term = ("mul", ("add", ("c", 1.0), ("square", one)), ("square", t))
    pair = ("mul", ("add", ("c", 1.0), ("square", two)), ("add", ("square", t), ("abs", u)))
    total, chain = ("sum", term), ("chain", pair)
    largest = ("max", ("mul", ("add", ("c", 1.0), ("abs", one)), ("abs", t)))
    product = ("prod", ("div", ("c", 1.0), ("add", ("c", 1.0), term)))
    outer = draw.pick([
        ("add", largest, ("sub", ("c", 1.0), ("exp", ("sub", ("c", 0.0), total)))),
        ("add", ("sqrt", total), ("square", ("sin", chain))),
        ("div", ("add", total, largest), ("add", ("c", 1.0), chain)),
    ])  # fmt: skip
    made = {"sum": total, "chain": chain, "max": largest, "product": ("sub", ("c", 1.0), product), "outer": outer}
    return made[kind], [("sum", ("mul", one, ("t",))), ("chain", ("mul", two, ("t",)))]


def _total(parts: list[Tree]) -> Tree:
    total = parts[0]
    for part in parts[1:]:
        total = ("add", total, part)
    return total
