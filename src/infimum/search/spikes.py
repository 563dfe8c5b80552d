"""Where a condition of a `where` can hold (POLICY): points to try on functions that jump.

A spike of width 1e-6 in 1,000 variables is never hit by sampling; the box on which its condition holds is read off the
expression instead. Simple conditions are inverted backwards, in plain doubles: comparisons with constants, combined by
all, any, and, or, not, over sums, products, magnitudes and powers of x that read one variable an element. What is not
understood narrows nothing. Whatever comes out is only a proposal, whose value is then proved.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from infimum.fractions import at_fraction
from infimum.graph.node import Node, ancestors
from infimum.graph.payload import integer_of, map_of, value_of

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]

_MOST = 32  # conditions looked at
_MOST_STEPS = 10_000  # operations inverted for each
_NOT_NEGATIVE = frozenset({"sqr", "abs", "sqrt", "exp"})
_COMPARISONS = frozenset({"is_less", "is_less_equal", "is_equal"})


@dataclass(frozen=True, eq=False)
class Spike:
    """A box on which a condition can hold: the variables that it limits, and their ranges."""

    variables: IndexArray
    lo: FloatArray
    hi: FloatArray

    def point(self, lo: FloatArray, hi: FloatArray, base: FloatArray) -> FloatArray | None:
        """The base with the limited variables at the middle of their ranges in [lo, hi]; None where there are none."""
        low, high = np.maximum(self.lo, lo[self.variables]), np.minimum(self.hi, hi[self.variables])
        if not (low <= high).all():
            return None
        x = np.clip(base, lo, hi)
        x[self.variables] = at_fraction(low, high, 0.5)
        return x


def spikes(value: Node, n: int) -> list[Spike]:
    """The boxes on which each condition of the expression holds, and on which it fails, where they are limited."""
    found: list[Spike] = []
    seen: set[tuple[int, bool]] = set()
    for node in ancestors([value]):
        if node.op != "where":
            continue
        for holds in (True, False):
            key = (node.args[0].number, holds)
            if key not in seen and len(found) < _MOST:
                seen.add(key)
                spike = _spike(node.args[0], n, holds)
                if spike is not None:
                    found.append(spike)
    return found


def _spike(condition: Node, n: int, holds: bool) -> Spike | None:
    box = _Box(np.full(n, -np.inf), np.full(n, np.inf))
    size = condition.size
    wanted = np.full(size, float(holds))
    box.narrow(condition, np.arange(size), wanted)
    (limited,) = np.nonzero((box.lo > -np.inf) | (box.hi < np.inf))
    if not limited.size or not (box.lo <= box.hi).all():
        return None
    return Spike(limited, box.lo[limited], box.hi[limited])


class _Box:
    """The ranges of x that are still possible while conditions are read backwards."""

    def __init__(self, lo: FloatArray, hi: FloatArray) -> None:
        self.lo = lo
        self.hi = hi
        self._asked: list[tuple[Node, IndexArray, FloatArray, FloatArray]] = []

    def narrow(self, condition: Node, at: IndexArray, wanted: FloatArray) -> None:
        """Limit x so that the elements `at` of a condition are as wanted, as far as is understood."""
        self._ask(condition, at, wanted, wanted)
        for _ in range(_MOST_STEPS):
            if not self._asked:
                break
            self._invert(*self._asked.pop())

    def _ask(self, node: Node, at: IndexArray, lo: FloatArray, hi: FloatArray) -> None:
        self._asked.append((node, at, lo, hi))

    def _invert(self, node: Node, at: IndexArray, lo: FloatArray, hi: FloatArray) -> None:
        """Ask that the elements `at` of a node lie in [lo, hi], and of x what follows; perhaps more than needed.

        node                  asked of its operands
        x                     the range itself
        take                  the same of the elements read
        min_of, max_of        the same of every element: enough for all, for any, and for their negations
        min, max              likewise
        is_less, …            the constant side limits the other one
        sum of squares, …     each at most the upper end
        else                  the inverse of the operation, where it has one with constants
        """
        if node.size == 1:
            at = np.zeros_like(at)
        if node.op == "x":
            np.maximum.at(self.lo, at, lo)
            np.minimum.at(self.hi, at, hi)
        elif node.op == "take":
            inner = map_of(node).indices()[at]
            read = inner >= 0
            self._ask(node.args[0], inner[read], lo[read], hi[read])
        elif node.op in ("min_of", "max_of", "sum"):
            self._group(node, at, lo, hi)
        elif node.op in ("min", "max"):
            for operand in node.args:
                self._ask(operand, at, lo, hi)
        elif node.op in _COMPARISONS:
            self._compare(node, at, lo)
        elif node.op in _INVERSES:
            self._ask(node.args[0], at, *_INVERSES[node.op](lo, hi))
        elif node.op == "pown" and integer_of(node) > 0:
            self._ask(node.args[0], at, *_roots(lo, hi, integer_of(node)))
        elif node.op in ("add", "sub", "mul", "div"):
            self._arithmetic(node, at, lo, hi)

    def _group(self, node: Node, at: IndexArray, lo: FloatArray, hi: FloatArray) -> None:
        width, operand = integer_of(node), node.args[0]
        if node.op == "sum":
            if operand.op not in _NOT_NEGATIVE:
                return
            lo = np.zeros_like(lo)
        members = (at[:, None] * width + np.arange(width)).ravel()
        self._ask(operand, members, np.repeat(lo, width), np.repeat(hi, width))

    def _compare(self, node: Node, at: IndexArray, truth: FloatArray) -> None:
        """a < b with a constant side, wanted true (1) or false (0) for each element."""
        a, b = node.args
        holds = truth > 0
        below = np.full(at.size, -np.inf)
        above = np.full(at.size, np.inf)
        if b.op == "constant":
            c = _numbers(b, at)
            least = np.where(holds, below, c) if node.op != "is_equal" else np.where(holds, c, below)
            most = np.where(holds, c, above)
            self._ask(a, at, least, most)
        elif a.op == "constant":
            c = _numbers(a, at)
            most = np.where(holds, above, c) if node.op != "is_equal" else np.where(holds, c, above)
            least = np.where(holds, c, below)
            self._ask(b, at, least, most)

    def _arithmetic(self, node: Node, at: IndexArray, lo: FloatArray, hi: FloatArray) -> None:
        a, b = node.args
        if (a.op == "constant") == (b.op == "constant"):
            return
        operand, c = (b, _numbers(a, at)) if a.op == "constant" else (a, _numbers(b, at))
        if node.op == "add":
            self._ask(operand, at, lo - c, hi - c)
        elif node.op == "sub":
            ends = (lo + c, hi + c) if operand is a else (c - hi, c - lo)
            self._ask(operand, at, *ends)
        elif node.op == "mul" or operand is a:
            with np.errstate(divide="ignore", invalid="ignore"):
                p, q = (lo / c, hi / c) if node.op == "mul" else (lo * c, hi * c)
            usable = ~(np.isnan(p) | np.isnan(q)) & (c != 0)
            self._ask(operand, at[usable], np.minimum(p, q)[usable], np.maximum(p, q)[usable])


def _numbers(node: Node, at: IndexArray) -> FloatArray:
    points = value_of(node).points()
    return points[at] if node.size > 1 else np.full(at.size, points[0])


def _roots(lo: FloatArray, hi: FloatArray, power: int) -> tuple[FloatArray, FloatArray]:
    if power % 2:
        return np.sign(lo) * np.abs(lo) ** (1 / power), np.sign(hi) * np.abs(hi) ** (1 / power)
    return _both_signs(np.maximum(hi, 0) ** (1 / power))


def _both_signs(hi: FloatArray) -> tuple[FloatArray, FloatArray]:
    return -hi, hi


def _logarithms(lo: FloatArray, hi: FloatArray) -> tuple[FloatArray, FloatArray]:
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(lo, 0)), np.log(np.maximum(hi, 0))


def _exponentials(lo: FloatArray, hi: FloatArray) -> tuple[FloatArray, FloatArray]:
    with np.errstate(over="ignore"):
        return np.exp(lo), np.exp(hi)


_INVERSES = {
    "neg": lambda lo, hi: (-hi, -lo),
    "abs": lambda lo, hi: _both_signs(hi),
    "sqr": lambda lo, hi: _both_signs(np.sqrt(np.maximum(hi, 0))),
    "sqrt": lambda lo, hi: (np.maximum(lo, 0) ** 2, hi**2),
    "exp": _logarithms,
    "log": _exponentials,
}
