"""The way down through a graph, from f to x: a linear function below f on each box.

Going down, a node v that has come to stand under s (a double) in what bounds f is replaced by what it is made of:

    s v >= sum of a_i u_i + b   on the box: u_i the operands of v, a_i any doubles, b at most the least of what is left

    node                                  b
    linear in its operands                0, a_i = s times its coefficients but for rounding
    phi(u), a block (passes/line_blocks)  the least of s phi(u) - a u over U (block_line.py)
    mul                                   the least of s u v - a_1 u - a_2 v over U x V, which is bilinear: at a corner
    div                                   of u and w = 1/v likewise, then a_2 w by a block
    min_of, min                           with a = s for the element i, 0 for the others:
                                          s min(0, the least of the others - the most of i) for s > 0, else 0
    max_of, max                           as -min(-u)
    any other, and where b is no number   the least of s V, a = 0

The sum of the b is the constant of the linear function. What several users ask of a node is added up in doubles; the
error, and that of coefficients, is a radius r around s, of which r |U| is taken away from the constant. U are intervals
around the nodes' values. Policy: the a_i, from the values at a point of the box; every choice is right.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from infimum.function.lines.block_line import BlockLine
from infimum.function.lines.sums import TINY, U, down, least_multiple, over, sum_down, total
from infimum.graph.node import Node
from infimum.graph.payload import integer_of, map_of
from infimum.interval import Interval
from infimum.passes.line_blocks import Block
from infimum.passes.lowering.program import Program

if TYPE_CHECKING:
    from infimum.backends.placement import Place
    from infimum.function.lines.programs import LinePrograms

FloatArray = npt.NDArray[np.float64]
Ends = tuple[FloatArray, FloatArray]


class Below(NamedTuple):
    """f(x) >= value + A x on a box, for one A within slope +- radius: (k,), and (k, n) twice."""

    value: FloatArray
    slope: FloatArray
    radius: FloatArray


class Descent:
    """One way down from f to x, for a batch of boxes."""

    def __init__(
        self,
        programs: LinePrograms,
        place: Place,
        ranges: dict[Node, Ends],
        values: dict[Node, FloatArray],
        threads: int,
    ) -> None:
        self.programs, self.place, self.threads = programs, place, threads
        self.ranges, self.values = ranges, values
        self.asked: dict[Node, list[tuple[FloatArray, FloatArray]]] = {}
        self.constants: list[FloatArray] = []

    def run(self, count: int) -> Below:
        one = np.ones((count, 1))
        self.asked[self.programs.output] = [(one, np.zeros_like(one))]
        slope = radius = np.zeros((count, self.programs.n))
        for node in reversed(self.programs.blocks.nodes):
            if node not in self.asked:
                continue
            s, r = total(self.asked.pop(node))
            if node.op == "x":
                slope, radius = s, r
                continue
            u, known = self.ranges[node], np.isfinite(s) & np.isfinite(r)
            s, r = np.where(known, s, 0.0), np.where(known, r, np.inf)
            with np.errstate(all="ignore"):
                lost = np.where(r > 0, over(np.maximum(r * np.maximum(np.abs(u[0]), np.abs(u[1])), TINY), 2), 0.0)
            self._constant(-lost)
            self._replace(node, s)
        return Below(sum_down(np.concatenate(self.constants, axis=1)), slope, radius)

    # ------------------------------------------------------------------------------------------ nodes
    def _replace(self, node: Node, s: FloatArray) -> None:
        if node.op == "constant":
            self._as_constant(node, s)
        elif (own := self.programs.block(node)) is not None:
            self._block(self.ranges[node], s, *own)
        elif self.programs.blocks.is_linear(node):
            self._linear(node, s)
        elif node.op == "mul":
            self._product(node, s)
        elif node.op == "div":
            self._quotient(node, s)
        elif node.op in ("min_of", "max_of", "min", "max"):
            self._extreme(node, s)
        else:
            self._as_constant(node, s)

    def _linear(self, node: Node, s: FloatArray) -> None:
        args = node.args
        if node.op in ("neg", "add", "sub"):
            self._ask(args[0], -s if node.op == "neg" else s)
            if len(args) > 1:
                self._ask(args[1], -s if node.op == "sub" else s)
        elif node.op == "sum":
            self._ask(args[0], np.repeat(s, integer_of(node), axis=1))
        elif node.op == "concat":
            ends = np.cumsum([0, *(a.size for a in args)])
            for a, start, end in zip(args, ends[:-1], ends[1:], strict=True):
                self._ask(a, s[:, start:end])
        elif node.op == "take":
            self._take(node, s)
        else:
            self._multiple(node, s)

    def _multiple(self, node: Node, s: FloatArray) -> None:
        """Ask for an operand times, or over, a constant."""
        number = int(node.op == "div" or node.args[1].op == "constant")
        ends = self.ranges[node.args[number]]
        if not np.isfinite(ends).all():
            self._as_constant(node, s)
            return
        factor = Interval(*ends)
        product = Interval(s) * (1 / factor if node.op == "div" else factor)
        found = np.where(product.lo == product.hi, product.lo, 0.5 * product.lo + 0.5 * product.hi)
        with np.errstate(all="ignore"):
            radius = over(np.maximum(product.hi - found, found - product.lo), 4)
        radius = np.where((product.lo == product.hi), 0.0, radius)
        if np.isfinite(found).all() and np.isfinite(radius).all():
            self._ask(node.args[1 - number], found, radius)
        else:
            self._as_constant(node, s)

    def _take(self, node: Node, s: FloatArray) -> None:
        indices = map_of(node).indices()
        places = np.flatnonzero(indices >= 0)
        order = places[np.argsort(indices[places], kind="stable")]
        sources, first = np.unique(indices[order], return_index=True)
        most = int(np.diff(np.append(first, order.size)).max(initial=0))
        found, radius = np.zeros((2, len(s), node.args[0].size))
        if order.size:
            own = s[:, order]
            found[:, sources] = np.add.reduceat(own, first, axis=1)
            if most > 1:
                radius[:, sources] = over(most * U * np.add.reduceat(np.abs(own), first, axis=1), most)
        self._ask(node.args[0], found, radius)

    def _block(self, values: Ends, s: FloatArray, block: Block, program: Program) -> None:
        """Replace s phi(u), phi(u) within these values, by a u + b."""
        u, at = self._spread(block.base, s.shape)
        usable = np.isfinite(u[0]) & np.isfinite(u[1]) & (u[0] <= u[1]) & np.isfinite(s)
        lo, hi = (np.where(usable, end, 0.0) for end in u)
        point = np.clip(np.where(np.isnan(at), 0.5 * lo + 0.5 * hi, at), lo, hi)
        a, b = BlockLine(block, program, self.place, self.threads).of(s, lo, hi, point)
        known = usable & np.isfinite(a) & (b > -np.inf)
        a = np.where(known, a, 0.0)
        self._ask(block.base, a)
        self._constant(np.where(known, b, least_multiple(s, values)))

    def _spread(self, node: Node, shape: tuple[int, ...]) -> tuple[list[FloatArray], FloatArray]:
        """Return the ends and the values of a node as arrays of a shape."""
        return [np.broadcast_to(end, shape) for end in self.ranges[node]], np.broadcast_to(self.values[node], shape)

    def _product(self, node: Node, s: FloatArray) -> None:
        (u, _), (v, _) = (self._spread(a, s.shape) for a in node.args)
        a = self._bilinear(node, s, u, v)
        for operand, slope in zip(node.args, a, strict=True):
            self._ask(operand, slope)

    def _quotient(self, node: Node, s: FloatArray) -> None:
        (u, _), (v, _) = (self._spread(a, s.shape) for a in node.args)
        block, program = self.programs.reciprocal(node)
        with np.errstate(all="ignore"):
            w = 1 / Interval(*(np.where(v[0] <= v[1], end, 1.0) for end in v))
        one, other = self._bilinear(node, s, u, [w.lo, w.hi])
        self._ask(node.args[0], one)
        self._block((w.lo, w.hi), other, block, program)

    def _bilinear(self, node: Node, s: FloatArray, u: list[FloatArray], v: list[FloatArray]) -> list[FloatArray]:
        """Replace s u v by a_1 u + a_2 v + b, and return a."""
        with np.errstate(all="ignore"):
            middle = [0.5 * ends[0] + 0.5 * ends[1] for ends in (u, v)]
            a = [s * middle[1], s * middle[0]]
        known = np.isfinite([*u, *v, *a, s]).all(0) & (u[0] <= u[1]) & (v[0] <= v[1])
        u, v, a = ([np.where(known, part, 0.0) for part in parts] for parts in (u, v, a))
        corners = [at_corner(np.where(known, s, 0.0), a, x, y) for x in u for y in v]
        self._constant(np.where(known, np.min(corners, axis=0), least_multiple(s, self.ranges[node])))
        return a

    def _extreme(self, node: Node, s: FloatArray) -> None:
        """Replace s min(u) by s u_i + b for the element that is least at the point, or by a constant."""
        sign = -1.0 if node.op in ("max", "max_of") else 1.0
        is_reduction = node.op in ("min_of", "max_of")
        parts = [self._elements(node, a, is_reduction, s.shape) for a in node.args]
        lo, hi, at = (np.concatenate(each, axis=2) for each in zip(*parts, strict=True))
        if sign < 0:
            lo, hi, at = -hi, -lo, -at
        t = sign * s  # of the least of what is turned round
        chosen = np.where(np.isnan(at), np.inf, at).argmin(2)[:, :, None]
        others = lo.copy()
        np.put_along_axis(others, chosen, np.inf, axis=2)
        own_hi, own_at = (np.take_along_axis(array, chosen, 2)[:, :, 0] for array in (hi, at))
        with np.errstate(all="ignore"):
            below = np.nextafter(np.minimum(others.min(2) - own_hi, 0.0), -np.inf)
            below = np.where(others.min(2) >= own_hi, 0.0, below)
            b = np.where(t > 0, down(t * below), 0.0)
            constant = least_multiple(s, self.ranges[node])
            known = np.isfinite(b) & np.isfinite(own_hi) & ~(t * own_at + b <= constant)
        slopes = np.where(np.arange(lo.shape[2]) == chosen, np.where(known, s, 0.0)[:, :, None], 0.0)
        if is_reduction:
            self._ask(node.args[0], slopes.reshape(len(s), -1))
        else:
            for number, a in enumerate(node.args):
                self._ask(a, slopes[:, :, number])
        self._constant(np.where(known, b, constant))

    def _elements(self, node: Node, a: Node, is_reduction: bool, shape: tuple[int, ...]) -> list[FloatArray]:
        """Return ends and values (k, groups, width) of an operand."""
        found = [*self.ranges[a], self.values[a]]
        if not is_reduction:
            return [np.broadcast_to(array, shape)[:, :, None] for array in found]
        width = integer_of(node)
        return [np.broadcast_to(array, (shape[0], width * shape[1])).reshape(*shape, width) for array in found]

    def _as_constant(self, node: Node, s: FloatArray) -> None:
        self._constant(least_multiple(s, self.ranges[node]))

    # ------------------------------------------------------------------------------------------ sums
    def _constant(self, b: FloatArray) -> None:
        self.constants.append(np.where(np.isnan(b), -np.inf, b))

    def _ask(self, node: Node, s: FloatArray, radius: FloatArray | None = None) -> None:
        """Add s times a node, with a radius around s; s of a scalar is added up."""
        r = np.zeros_like(s) if radius is None else radius
        if node.size == 1 and s.shape[1] > 1:
            count = s.shape[1]
            r = over(r.sum(1, keepdims=True) + count * U * np.abs(s).sum(1, keepdims=True), count)
            s = s.sum(1, keepdims=True)
        self.asked.setdefault(node, []).append((s, r))


def at_corner(s: FloatArray, a: list[FloatArray], x: FloatArray, y: FloatArray) -> FloatArray:
    """Return at most s x y - a_1 x - a_2 y."""
    found: FloatArray = (Interval(s) * x * y - Interval(a[0]) * x - Interval(a[1]) * y).lo
    return found
