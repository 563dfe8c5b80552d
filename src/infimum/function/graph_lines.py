"""Lines through a function's graph, from f back to x: a linear function below f on each box.

Going down, a node v that has come to stand under s (a double) in what bounds f is replaced by what it is made of:

    s v >= sum of a_i u_i + b   on the box: u_i the operands of v, a_i any doubles, b at most the least of what is left

    node                                  b
    linear in its operands                0, a_i = s times its coefficients but for rounding
    phi(u), a block (passes/line_blocks)  the least of s phi(u) - a u over U (`_least`)
    mul                                   the least of s u v - a_1 u - a_2 v over U x V, which is bilinear: at a corner
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

from infimum.concurrency import cached_property
from infimum.graph.node import Node
from infimum.graph.payload import integer_of, map_of, value_of
from infimum.interval import Interval
from infimum.passes.line_blocks import Block, Blocks
from infimum.passes.lowering.lower import lower
from infimum.passes.lowering.program import Program

if TYPE_CHECKING:
    from infimum.backends.placement import Place
    from infimum.function.function import Function
    from infimum.function.programs import Programs

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
IndexArray = npt.NDArray[np.int64]
Ends = tuple[FloatArray, FloatArray]

_CELLS = 8
_U = 2.0**-52
_TINY = 2.0**-1000
_MOST_ELEMENTS = 20_000


class LinePrograms:
    """What is made from one expression of n variables."""

    def __init__(self, output: Node, n: int) -> None:
        self.output, self.n = output, n
        self.blocks = Blocks(output)
        self.nodes = [node for node in self.blocks.nodes if node.op not in ("x", "constant")]
        self.size = sum(node.size for node in self.nodes)
        self._made: dict[Node, tuple[Block, Program] | None] = {}

    @cached_property
    def values(self) -> Program:
        """Return all nodes."""
        return lower(self.nodes, self.n)

    def block(self, node: Node) -> tuple[Block, Program] | None:
        """Return a node as a block with its Program, None where it is none."""
        if node not in self._made:
            found = self.blocks.block(node)
            self._made[node] = None if found is None else (found, lower(found.outputs, found.build.x.size))
        return self._made[node]


class Below(NamedTuple):
    """f(x) >= value + A x on a box, for one A within slope +- radius: (k,), and (k, n) twice."""

    value: FloatArray
    slope: FloatArray
    radius: FloatArray


class GraphLines:
    """Linear functions below one function."""

    def __init__(self, programs: LinePrograms, place: Place) -> None:
        self._programs = programs
        self._place = place

    def below(self, lo: FloatArray, hi: FloatArray, at: FloatArray, *, threads: int = 1) -> Below:
        """Return linear functions below f on finite boxes (k, n), good ones near points of them."""
        made = self._programs
        ranges = dict(zip(made.nodes, self._place.run(made.values, lo, hi, threads=threads), strict=True))
        points = self._place.run(made.values, at, at, "point", threads=threads)
        values = {node: found for node, (found, _) in zip(made.nodes, points, strict=True)}
        for node in made.blocks.nodes:
            if node.op == "x":
                ranges[node], values[node] = (lo, hi), at
            elif node.op == "constant":
                ends = value_of(node).enclosure()
                shape = (len(lo), node.size)
                ranges[node] = np.broadcast_to(ends[0], shape), np.broadcast_to(ends[1], shape)
                values[node] = 0.5 * ranges[node][0] + 0.5 * ranges[node][1]
        return _Descent(made, self._place, ranges, values, threads).run(len(lo))


class _Descent:
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
            s, r = _total(self.asked.pop(node))
            if node.op == "x":
                slope, radius = s, r
                continue
            u, known = self.ranges[node], np.isfinite(s) & np.isfinite(r)
            s, r = np.where(known, s, 0.0), np.where(known, r, np.inf)
            with np.errstate(all="ignore"):
                lost = np.where(r > 0, _over(r * np.maximum(np.abs(u[0]), np.abs(u[1])), 2), 0.0)
            self._constant(-lost)
            self._replace(node, s)
        return Below(_sum_down(np.concatenate(self.constants, axis=1)), slope, radius)

    # ------------------------------------------------------------------------------------------ nodes
    def _replace(self, node: Node, s: FloatArray) -> None:
        if node.op == "constant":
            self._as_constant(node, s)
        elif (own := self.programs.block(node)) is not None:
            self._block(node, s, *own)
        elif self.programs.blocks.is_linear(node):
            self._linear(node, s)
        elif node.op == "mul":
            self._product(node, s)
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
            for a, start, end in zip(args, ends, ends[1:], strict=True):
                self._ask(a, s[:, start:end])
        elif node.op == "take":
            self._take(node, s)
        else:
            self._multiple(node, s)

    def _multiple(self, node: Node, s: FloatArray) -> None:
        """Ask for an operand times, or over, a constant."""
        number = int(node.op == "div" or node.args[1].op == "constant")
        factor = Interval(*self.ranges[node.args[number]])
        product = s * (1 / factor if node.op == "div" else factor)
        found = 0.5 * product.lo + 0.5 * product.hi
        with np.errstate(all="ignore"):
            radius = _over(np.maximum(product.hi - found, found - product.lo), 4)
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
                radius[:, sources] = _over(most * _U * np.add.reduceat(np.abs(own), first, axis=1), most)
        self._ask(node.args[0], found, radius)

    def _block(self, node: Node, s: FloatArray, block: Block, program: Program) -> None:
        """Replace s phi(u) by a u + b."""
        u = self.ranges[block.base]
        point = np.clip(
            np.where(np.isnan(self.values[block.base]), 0.5 * u[0] + 0.5 * u[1], self.values[block.base]), *u
        )
        usable = np.isfinite(u[0]) & np.isfinite(u[1]) & (u[0] <= u[1]) & np.isfinite(s)
        lo, hi = (np.where(usable, end, 0.0) for end in u)
        at = self.values[block.base]
        point = np.clip(np.where(np.isnan(at), 0.5 * lo + 0.5 * hi, at), lo, hi)
        a, b = _BlockLine(block, program, self.place, self.threads).of(s, lo, hi, point)
        known = usable & np.isfinite(a) & (b > -np.inf)
        a = np.where(known, a, 0.0)
        self._ask(block.base, a)
        self._constant(np.where(known, b, _least_multiple(s, self.ranges[node])))

    def _product(self, node: Node, s: FloatArray) -> None:
        u, v = (tuple(np.broadcast_to(end, s.shape) for end in self.ranges[a]) for a in node.args)
        with np.errstate(all="ignore"):
            middle = [0.5 * ends[0] + 0.5 * ends[1] for ends in (u, v)]
            a = s * middle[1], s * middle[0]
        known = np.isfinite([*u, *v, *a, s]).all(0) & (u[0] <= u[1]) & (v[0] <= v[1])
        u, v, a = (tuple(np.where(known, part, 0.0) for part in parts) for parts in (u, v, a))
        corners = [_at_corner(np.where(known, s, 0.0), a, x, y) for x in u for y in v]
        for operand, slope in zip(node.args, a, strict=True):
            self._ask(operand, slope)
        self._constant(np.where(known, np.min(corners, axis=0), _least_multiple(s, self.ranges[node])))

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
            b = np.where(t > 0, _down(t * below), 0.0)
            constant = _least_multiple(s, self.ranges[node])
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
        self._constant(_least_multiple(s, self.ranges[node]))

    # ------------------------------------------------------------------------------------------ sums
    def _constant(self, b: FloatArray) -> None:
        self.constants.append(np.where(np.isnan(b), -np.inf, b))

    def _ask(self, node: Node, s: FloatArray, radius: FloatArray | None = None) -> None:
        """Add s times a node, with a radius around s; s of a scalar is added up."""
        r = np.zeros_like(s) if radius is None else radius
        if node.size == 1 and s.shape[1] > 1:
            count = s.shape[1]
            total = s.sum(1, keepdims=True)
            r = _over(r.sum(1, keepdims=True) + count * _U * np.abs(s).sum(1, keepdims=True), count)
            s = total
        self.asked.setdefault(node, []).append((s, r))


class _BlockLine:
    """The least of g(u) = s phi(u) - a u over ranges U, element by element, and a itself."""

    # | s phi'' on U, phi smooth | a                   | the least of g                                           |
    # | <= 0                     | slope of the chord  | at an end                                                |
    # | >= 0                     | slope at the point  | above the tangent there, at an end                       |
    # | else                     | slope of the chord  | on cells: by Taylor's formula about the middle where phi |
    # |                          |                     | is smooth on the cell, else s phi(cell) - a cell         |

    def __init__(self, block: Block, program: Program, place: Place, threads: int) -> None:
        self._has_second = block.has_second
        self._program, self._place, self._threads = program, place, threads

    def of(self, s: FloatArray, lo: FloatArray, hi: FloatArray, point: FloatArray) -> tuple[FloatArray, FloatArray]:
        ends = [self._at(end, end)[0] for end in (lo, hi)]
        value, slope, _, _ = self._at(point, point)
        _, _, curve, smooth = self._at(lo, hi)
        bent = s * curve
        smooth = smooth & self._has_second
        concave, convex = smooth & (bent.hi <= 0), smooth & (bent.lo >= 0)
        with np.errstate(all="ignore"):
            chord = s * ((_mid(ends[1]) - _mid(ends[0])) / (hi - lo))
            tangent = s * _mid(slope)
        a = np.where(convex & ~concave, tangent, chord)
        a = np.where(np.isfinite(a), a, 0.0) + 0.0
        at_ends = [(s * end - Interval(a) * x).lo for end, x in zip(ends, (lo, hi), strict=True)]
        turned = s * slope - a
        start = s * value - Interval(a) * point
        on_plane = [(start + turned * (Interval(end) - point)).lo for end in (lo, hi)]
        least = np.where(concave, np.minimum(*at_ends), np.minimum(*on_plane))
        rows = np.flatnonzero((~concave & ~convex).any(1))
        if rows.size:
            on_cells = self._on_cells(s[rows], a[rows], lo[rows], hi[rows])
            least[rows] = np.where((concave | convex)[rows], least[rows], on_cells)
        return a, np.where(np.isnan(least), -np.inf, least)

    def _on_cells(self, s: FloatArray, a: FloatArray, lo: FloatArray, hi: FloatArray) -> FloatArray:
        """Return at most the least of g over the cells of U, all of them in one batch."""
        with np.errstate(all="ignore"):
            steps = np.arange(_CELLS + 1)[:, None, None] / _CELLS
            ends = lo + (hi - lo) * steps
        ends = np.clip(np.where(np.isfinite(ends), ends, lo), lo, hi)
        ends[-1] = hi
        low, high = (part.reshape(-1, lo.shape[1]) for part in (ends[:-1], ends[1:]))
        s, a = (np.tile(part, (_CELLS, 1)) for part in (s, a))
        middle = np.clip(0.5 * low + 0.5 * high, low, high)
        value, slope, _, _ = self._at(middle, middle)
        whole, _, curve, smooth = self._at(low, high)
        cell, b = Interval(low, high), Interval(a)
        d = cell - middle
        by_taylor = (s * value - b * middle + (s * slope - b) * d + 0.5 * (s * curve) * d**2).lo
        by_range = (s * whole - b * cell).lo
        found = np.where(smooth & self._has_second, np.fmax(by_taylor, by_range), by_range)
        return found.reshape(_CELLS, -1, lo.shape[1]).min(0)

    def _at(self, lo: FloatArray, hi: FloatArray) -> tuple[Interval, Interval, Interval, BoolArray]:
        """Return phi, phi', phi'' and where phi is certainly smooth; all reals where there is nothing."""
        found = self._place.run(self._program, lo, hi, threads=self._threads)
        parts = (
            [np.broadcast_to(low, lo.shape) for low, _ in found],
            [np.broadcast_to(high, lo.shape) for _, high in found],
        )
        known = [low <= high for low, high in zip(*parts, strict=True)]
        intervals = [
            Interval(np.where(is_known, low, -np.inf), np.where(is_known, high, np.inf))
            for low, high, is_known in zip(*parts, known, strict=True)
        ]
        return intervals[0], intervals[1], intervals[2], (parts[0][3] == 1.0) & known[0]


def _mid(ends: Interval) -> FloatArray:
    found: FloatArray = 0.5 * ends.lo + 0.5 * ends.hi
    return found


def _at_corner(s: FloatArray, a: tuple[FloatArray, ...], x: FloatArray, y: FloatArray) -> FloatArray:
    """Return at most s x y - a_1 x - a_2 y."""
    found: FloatArray = (Interval(s) * x * y - Interval(a[0]) * x - Interval(a[1]) * y).lo
    return found


def _least_multiple(s: FloatArray, ends: Ends) -> FloatArray:
    """Return at most the least of s v; +inf where v has no value."""
    nowhere = ends[0] > ends[1]
    known = ends[0] <= ends[1]
    v = Interval(np.where(known, ends[0], -np.inf), np.where(known, ends[1], np.inf))
    found: FloatArray = np.where(nowhere, np.inf, (s * v).lo)
    return found


def _total(parts: list[tuple[FloatArray, FloatArray]]) -> tuple[FloatArray, FloatArray]:
    """Return the sum of what was asked for, and the radius around it."""
    if len(parts) == 1:
        return parts[0]
    count = len(parts)
    total = sum(s for s, _ in parts) + 0.0
    size = sum(np.abs(s) for s, _ in parts)
    radius = sum(r for _, r in parts)
    return total, _over(radius + count * _U * size, count)


def _over(v: FloatArray, count: int) -> FloatArray:
    """Return at least what a sum of so many numbers from 0 on, added in any order and scaled, stands for."""
    found: FloatArray = v * (1.0 + (count + 8) * _U) + np.where(v > 0, _TINY, 0.0)
    return found


def _down(v: FloatArray) -> FloatArray:
    found: FloatArray = np.nextafter(v, -np.inf)
    return found


def _sum_down(b: FloatArray) -> FloatArray:
    """Return at most the sums (k,) of numbers (k, count)."""
    count = b.shape[1]
    with np.errstate(all="ignore"):
        total = b.sum(1)
        found = total - _over(2 * count * _U * np.abs(b).sum(1), count)
    nowhere = (b == np.inf).any(1)
    # A node without a value has none anywhere on the box, nor has f.
    return np.where(nowhere, np.inf, np.where(np.isnan(found), -np.inf, _down(found)))


def line_programs(programs: Programs) -> LinePrograms | None:
    """Return the Programs of lines through an expression; None where it is too large."""
    found = LinePrograms(programs.value_node, programs.n)
    return found if found.size <= _MOST_ELEMENTS else None


def graph_lines(function: Function) -> GraphLines | None:
    """Return the lines through a function's graph; None where it is too large."""
    found = line_programs(function.programs)
    return None if found is None else GraphLines(found, function.place)
