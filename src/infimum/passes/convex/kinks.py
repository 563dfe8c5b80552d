"""A convex function with kinks as a smooth one of more variables: where its kinks meet, its own slopes do not vanish.

Each kink is a line and something that is never negative:

    kink          line                              s
    |u|           s u                               [-1, 1]
    max(u, v)     v + s (u - v)                     [0, 1]
    max of u_i    sum of s_i u_i / sum of s_i       s_i >= 0, not all 0
    |u|_2         sum of s_i u_i                    sum of s_i^2 <= 1
    min, min of   likewise, from above
    where         as max or min (extremes.py)
    u (t - (u < 0)) and the like, as max or min of two lines (pieces.py)

    f(x) = Phi(x, s, w),  each kink = its line + w (- w for min),  w >= 0 whatever s is

Phi takes s and w as inputs beside x. For a fixed s, let Phi be convex in (x, w) for x in X, w >= 0, and smooth at
(c, 0) with slopes w_slope >= 0 there. Then for every x of X at which f is defined, with its own w,

    f(x) = Phi(x, s, w) >= Phi(c, s, 0) + x_slope (x - c) + w_slope w >= Phi(c, s, 0) + x_slope (x - c).

That is a plane below f whose slope is any mixture of f's slopes around c, as s says. Which s is policy.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from infimum.concurrency import cached_property
from infimum.graph import indexmap
from infimum.graph.build import Build
from infimum.graph.node import Node, ancestors
from infimum.graph.payload import integer_of
from infimum.passes.convex.convexity import convexity
from infimum.passes.convex.extremes import as_extreme
from infimum.passes.convex.pieces import bent
from infimum.passes.derive import gradient
from infimum.passes.facts import facts
from infimum.passes.hessian.tangent import Tangents, unit
from infimum.passes.outer.lines import line
from infimum.passes.simplify import rebuilt
from infimum.passes.smoother import smoothed, unbounded

_KINDS = {"abs": "abs", "max": "max", "min": "max", "max_of": "max_of", "min_of": "max_of", "norm": "norm"}
GROUPED = frozenset({"max_of", "norm"})  # of groups of `width` numbers each


@dataclass(frozen=True)
class Kink:
    """One node of kinks, of an array: `numbers` of s, `rests` of w; depth: 0 where no other kink lies below it.

    kind     "abs", "max", or "max_of" and "norm" of groups of `width` elements
    sign     1, or -1 for a minimum
    of       what it is of, where that is not its operands: the roots of the squares below a norm, a bent line's number
    lines    of a bent line, (a, b) for a + b u
    """

    kind: str
    sign: int
    first_number: int
    numbers: int
    first_rest: int
    rests: int
    width: int
    depth: int
    of: tuple[Node, ...] = ()
    lines: tuple[tuple[Fraction, Fraction], ...] = ()

    @property
    def s(self) -> slice:
        """Return its s among all."""
        return slice(self.first_number, self.first_number + self.numbers)

    @property
    def w(self) -> slice:
        """Return its w among all."""
        return slice(self.first_rest, self.first_rest + self.rests)


class _Planned(NamedTuple):
    kinks: dict[Node, Kink]
    numbers: int
    rests: int


def _planned(output: Node) -> _Planned:
    kinks: dict[Node, Kink] = {}
    depths: dict[Node, int] = {}
    numbers = rests = 0
    varies: set[Node] = set()
    for node in ancestors([output]):
        if node.op != "x" and not varies.intersection(node.args):
            continue
        varies.add(node)
        roots, lines = roots_of(node), bent(node, varies.__contains__)
        of = roots if lines is None else (lines.u,)
        depth = max((depths.get(a, 0) for a in of or node.args), default=0)
        op = "norm" if roots else (as_extreme(node) or node.op) if node.op == "where" else node.op
        op = op if lines is None else "max" if lines.sign > 0 else "min"
        if op in _KINDS:
            kind = _KINDS[op]
            width = integer_of(node) if kind == "max_of" else sum(a.size for a in roots) // node.size if roots else 1
            many = node.size * width
            sign = -1 if op.startswith("min") else 1
            places = numbers, many, rests, node.size
            kinks[node] = Kink(kind, sign, *places, width, depth, of, () if lines is None else lines.lines)
            numbers, rests, depth = numbers + many, rests + node.size, depth + 1
        depths[node] = depth
    return _Planned(kinks, numbers, rests)


def roots_of(node: Node) -> tuple[Node, ...]:
    """Return nodes, a norm being the root of the sum of their squares; none for what is no norm.

    One node has the elements of a group one after the other; of several each has one element of every group.
    """
    if node.op == "hypot":
        return node.args if all(a.size == node.size for a in node.args) else ()
    if node.op != "sqrt":
        return ()
    (inner,) = node.args
    if inner.op == "sum":
        return _roots(inner.args[0]) if inner.args[0].op == "sqr" else ()
    found: list[Node] = []
    waiting = [inner]
    while waiting:
        part = waiting.pop()
        if part.op == "add":
            waiting += part.args
        elif part.op == "sqr" and part.size == node.size:
            found.append(part.args[0])
        else:
            return ()
    return tuple(found) if len(found) > 1 else ()


def _roots(squares: Node) -> tuple[Node, ...]:
    return squares.args if squares.args[0].size == squares.size else ()


class Kinks:
    """Phi and what is made from it, as expressions of the inputs x (n), s, w."""

    def __init__(self, output: Node, n: int, most_numbers: int) -> None:
        found = _planned(output)
        self.n, self.numbers, self.rests = n, found.numbers, found.rests
        self.kinks = list(found.kinks.values())
        self.is_worthwhile = 0 < self.numbers <= most_numbers
        if not self.is_worthwhile:
            return
        self.inputs = n + self.numbers + self.rests
        self.build = Build(self.inputs)
        self._given: list[Node] = []
        self.value = self._moved(output, found.kinks)

    def _moved(self, output: Node, kinks: dict[Node, Kink]) -> Node:
        b = self.build
        new: dict[Node, Node] = {}
        for node in ancestors([output]):
            args = [new[a] for a in node.args]
            if node.op == "x":
                new[node] = line(b, 0, self.n)
            elif node in kinks:
                of = kinks[node].of
                new[node] = self._line(node, [new[a] for a in of] if of else args, kinks[node])
            else:
                new[node] = rebuilt(b, node, args)
        return new[output]

    def _line(self, node: Node, args: list[Node], kink: Kink) -> Node:
        """Return a kink's line and its w."""
        b, n = self.build, self.n
        s = line(b, n + kink.first_number, kink.numbers)
        w = line(b, n + self.numbers + kink.first_rest, kink.rests)
        if kink.kind == "abs":
            given = b.full(args[0], kink.numbers)
            found = b.apply("mul", s, given)
        elif kink.kind == "max":
            u, v = [self._straight(args[0], *ends) for ends in kink.lines] or args[-2:]
            given = b.full(b.apply("sub", u, v), kink.numbers)
            found = b.apply("add", b.apply("mul", s, u), b.apply("mul", b.apply("sub", b.number(1), s), v))
        elif kink.kind == "norm":
            given = self._grouped(args, kink)
            found = b.reduce("sum", b.apply("mul", s, given), kink.width)
        else:
            given = b.full(args[0], kink.numbers)
            found = self._mixed(given, s, kink)
        self._given.append(given)
        return b.apply("add" if kink.sign > 0 else "sub", found, w)

    def _straight(self, u: Node, a: Fraction, b: Fraction) -> Node:
        made = self.build
        return made.apply("add", made.apply("mul", made.number(b), u), made.number(a))

    def _grouped(self, args: list[Node], kink: Kink) -> Node:
        """Return the elements of each group one after the other."""
        b = self.build
        if len(args) == 1:
            return b.full(args[0], kink.numbers)
        whole = b.concat([b.full(a, kink.rests) for a in args])
        return b.take(whole, indexmap.affine([(kink.rests, 1), (kink.width, kink.rests)], 0, kink.numbers))

    def _mixed(self, u: Node, s: Node, kink: Kink) -> Node:
        """Return the weighted mean of each group."""
        b = self.build
        share = b.apply("recip", b.reduce("sum", s, kink.width))
        return b.apply("mul", share, b.reduce("sum", b.apply("mul", s, u), kink.width))

    # ------------------------------------------------------------------------------------------ what is made from it
    def bound(self) -> list[Node]:
        """Return Phi, its slopes by x and by w."""
        b = self.build
        slopes = b.full(gradient(b, self.value), self.inputs)
        ends = (0, self.n), (self.n + self.numbers, self.rests)
        return [self.value, *(b.full(b.take(slopes, _piece(first, size, slopes)), size) for first, size in ends)]

    def facts(self) -> list[Node]:
        """Return whether Phi is defined, and smooth."""
        return list(facts(self.build, self.value))

    @cached_property
    def convex(self) -> Node:
        """Return whether Phi is convex in (x, w): 1 on boxes, with s as numbers, where it certainly is."""
        again = smoothed(self.build, unbounded(self.build, self.value))
        return convexity(self.build, again, range(self.n, self.n + self.numbers))[0]

    def arguments(self) -> Node:
        """Return what each s is decided by: u of |u|, u - v of max(u, v), the elements of a maximum."""
        return self.build.full(self.build.concat(self._given), self.numbers)

    def jacobian(self) -> list[Node]:
        """Return for each variable the partial derivatives of the arguments by it."""
        b, inner = self.build, self.arguments()
        seeds = (unit(b, np.array([i]), self.inputs) for i in range(self.n))
        return [b.full(Tangents(b, seed).of(inner) or b.number(0), self.numbers) for seed in seeds]


def _piece(first: int, size: int, node: Node) -> indexmap.IndexMap:
    return indexmap.affine([(size, 1)], first, node.size)
