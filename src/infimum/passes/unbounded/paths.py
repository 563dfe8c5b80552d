"""A proof that a function has no lower bound: a path along which it goes to -inf (PROOF; where to look is policy).

Two kinds of paths, each with a point for every s in (0, e] (passes/unbounded/germs):

    ray       x_i = a_i + d_i s^k_i; k_i < 0 towards an infinite bound, k_i = 1 towards a point a of the domain
    pivot     some expression D of the graph takes the value s (or -s). Where D is continuous along a segment of the
              domain, not above 0 at one end and at least e at the other, there is such a point on the segment for every
              s (intermediate values); all that does not go through D is enclosed over the box around the segment

Along either, the function is s^k L^j h with an interval h. Where k < 0, or k = 0 and j > 0, and h is certainly
negative, its values fall below every number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import islice, product, zip_longest

import numpy as np
import numpy.typing as npt

from infimum.domain import Domain
from infimum.graph.node import Node, ancestors
from infimum.ops import OPERATIONS, names_with
from infimum.passes.unbounded.germs import BITS, Germ, Undefined, along, number, within

FloatArray = npt.NDArray[np.float64]

_MOST_PATHS = 400  # of each kind at each place
_MOST_NODES = 2000
_BOXES = 4  # that are looked at
_EPSILON = 2.0**-BITS
_HUGE = 2.0**BITS
# Of these a value is not continuous, or not known to be.
_JUMPS = names_with(lambda row: row.jump is not None) | {"where", "others", "recurrence"}
_EDGES = {row.name: row.pole for row in OPERATIONS.values() if row.pole is not None}
_INNER = frozenset({"sqr", "pown", "abs", "sqrt", "mul", "neg"})


def _shown(point: FloatArray) -> str:
    more = ", …" if point.size > 6 else ""
    return f"({', '.join(f'{value:.6g}' for value in point[:6].tolist())}{more})"


def unbounded_below(value: Node, domain: Domain, boxes: FloatArray, work: int) -> str | None:
    """Return, in words, where an expression falls below every number, or None where no such place was found.

    boxes (k, n, 2): where its lower bound is -inf.
    work: about how many elements of nodes are looked at. Kinds of paths take turns.
    """
    nodes = ancestors([value])
    if len(nodes) > _MOST_NODES or value.size != 1:
        return None
    prover = _Prover(value, domain)
    kinds = [prover.rays(boxes)]
    for box in boxes[:_BOXES]:
        kinds += [prover.lines(box), prover.segments(box)]
    said = islice(_in_turn(kinds), work // sum(node.size for node in nodes))
    return next((where for where in said if where is not None), None)


def _in_turn(kinds: list[Iterator[str | None]]) -> Iterator[str | None]:
    """Yield the first of each, the second of each, and so on."""
    for row in zip_longest(*(islice(kind, _MOST_PATHS) for kind in kinds), fillvalue=""):
        yield from (said for said in row if said != "")


def _limit(point: FloatArray, direction: FloatArray, powers: FloatArray) -> FloatArray:
    return np.where((direction != 0) & (powers < 0), np.copysign(np.inf, direction), point)


class _Prover:
    """The proofs of paths through one expression over one domain, and where to look for them."""

    def __init__(self, value: Node, domain: Domain) -> None:
        self.value = value
        self.domain = domain
        nodes = ancestors([value])
        self.x = next((node for node in nodes if node.op == "x"), None)
        self.edges = list(_pivots(nodes))

    # ------------------------------------------------------------------------------------------ what is found
    def rays(self, boxes: FloatArray) -> Iterator[str | None]:
        """Yield for each ray to infinity what is said of it, None where nothing is proved."""
        for ray in self.to_infinity(boxes):
            falls = self.falls_along(*ray)
            yield f"as x goes to {_shown(_limit(*ray))}, along a ray to infinity" if falls else None

    def lines(self, box: FloatArray) -> Iterator[str | None]:
        """Yield the same for each straight line to a point."""
        for line in self.to_points(box):
            yield f"as x goes to {_shown(line[0])}, along a straight line" if self.falls_along(*line) else None

    def segments(self, box: FloatArray) -> Iterator[str | None]:
        """Yield the same for each segment on which something goes to 0."""
        for start, end, pivot in self.pivots(box):
            falls = self.falls_through(start, end, pivot)
            where = f"between x = {_shown(start)} and x = {_shown(end)}"
            yield f"{where}, where a subexpression goes to 0" if falls else None

    # ------------------------------------------------------------------------------------------ proofs
    def falls_along(self, point: FloatArray, direction: FloatArray, powers: FloatArray) -> bool:
        """Say whether f goes to -inf along x_i = point_i + direction_i s^powers_i, which lies in the domain."""
        if self.x is None or not self._is_inside(point, direction, powers):
            return False
        path = [
            number(p) if d == 0 else Germ(Fraction(k), 0, d, d) if k < 0 else Germ(Fraction(k), 0, d, d, Fraction(p))
            for p, d, k in zip(point.tolist(), direction.tolist(), powers.tolist(), strict=True)
        ]
        return self._falls({self.x: path})

    def _is_inside(self, point: FloatArray, direction: FloatArray, powers: FloatArray) -> bool:
        """Say whether the whole path lies within the user's bounds."""
        # | direction, power   | needed                                                                      |
        # | 0                  | the point within its bounds                                                 |
        # | up, < 0            | no upper bound, the lower one below d/s for all s                           |
        # | up, 1              | the point within its bounds, the upper one at least e d above it            |
        # | down               | the same mirrored                                                           |
        if not np.isin(np.abs(direction), (0.0, 1.0)).all() or not np.isin(powers, (-2.0, -1.0, 1.0)).all():
            return False
        lo, hi = self.domain.inner_lo, self.domain.inner_hi
        far = (direction != 0) & (powers < 0)
        lower = np.where(direction < 0, -hi, lo)  # mirrored: all go up
        upper = np.where(direction < 0, -lo, hi)
        at = np.where(direction < 0, -point, point)
        near = (lower <= at) & (at <= upper) & np.isfinite(at)
        with np.errstate(over="ignore", invalid="ignore"):
            after = np.nextafter(at, np.inf)
            room = (direction == 0) | np.where(at == 0, upper >= _EPSILON, (after <= upper) & (after - at >= _EPSILON))
        return bool(np.where(far, (upper == np.inf) & (lower <= _HUGE), near & room).all())

    def falls_through(self, start: FloatArray, end: FloatArray, pivot: tuple[Node, int, int]) -> bool:
        """Say whether f goes to -inf where an element of a node goes to 0 from one side, between two points."""
        node, element, sign = pivot
        if self.x is None or not (self.domain.contains(start) and self.domain.contains(end)):
            return False
        if any(a.op in _JUMPS for a in ancestors([node])):
            return False
        lo, hi = np.minimum(start, end), np.maximum(start, end)
        box = [within(a, b) for a, b in zip(lo.tolist(), hi.tolist(), strict=True)]
        at_start, at_end = (self._at(node, element, p) for p in (start, end))
        around = self._element(node, element, box)
        if at_start is None or at_end is None or around is None:
            return False
        beyond = at_start[1] <= 0 if sign > 0 else at_start[0] >= 0
        reached = at_end[0] >= _EPSILON if sign > 0 else at_end[1] <= -_EPSILON
        if not (beyond and reached):
            return False
        given: list[Germ | None] = [None] * node.size
        given[element] = Germ(Fraction(1), 0, float(sign), float(sign))
        if node is self.x:
            return self._falls({node: [own if g is None else g for own, g in zip(box, given, strict=True)]})
        return self._falls({self.x: box, node: given})

    def _falls(self, start: Mapping[Node, Sequence[Germ | None]]) -> bool:
        try:
            return along(self.value, start).falls
        except Undefined:
            return False

    def _at(self, node: Node, element: int, point: FloatArray) -> tuple[float, float] | None:
        found = self._element(node, element, [within(v, v) for v in point.tolist()])
        return None if found is None else (found.lo, found.hi)

    def _element(self, node: Node, element: int, box: list[Germ]) -> Germ | None:
        """Return the range of an element over a box, where it is defined: a germ with c = 0 = k = j."""
        assert self.x is not None
        if node is self.x:
            return box[element]
        try:
            found = along(node, {self.x: box}, element)
        except Undefined:
            return None
        return found if found.k == 0 and found.j == 0 else None

    # ------------------------------------------------------------------------------------------ where to look (policy)
    def to_infinity(self, boxes: FloatArray) -> Iterator[tuple[FloatArray, FloatArray, FloatArray]]:
        n = self.domain.n
        ways = [
            [(0.0, 1.0)]
            + [(1.0, k) for k in (-1.0, -2.0) if hi == np.inf]
            + [(-1.0, k) for k in (-1.0, -2.0) if lo == -np.inf]
            for lo, hi in zip(self.domain.lo.tolist(), self.domain.hi.tolist(), strict=True)
        ]
        infinite = [i for i in range(n) if len(ways[i]) > 1]
        if not infinite:
            return
        points = [self._inner(np.zeros(n)), *(self._inner(_middle(box)) for box in _finite(boxes[:_BOXES]))]
        for point in points:
            for i in infinite:
                for direction, power in ways[i][1::2]:
                    yield point, _unit(n, i, direction), np.where(np.arange(n) == i, power, 1.0)
        if n <= 4:
            for path in product(*ways):
                ray = np.array(path)
                if ray[:, 0].any():
                    yield points[0], ray[:, 0], ray[:, 1]

    def to_points(self, box: FloatArray) -> Iterator[tuple[FloatArray, FloatArray, FloatArray]]:
        n = len(box)
        lines = [_unit(n, i, sign) for i in range(n) for sign in (-1.0, 1.0)]
        lines += [np.array(d) for d in product((-1.0, 1.0), repeat=n)] if 1 < n <= 4 else []
        for point in self._near(box):
            for direction in lines:
                yield point, direction, np.ones(n)

    def pivots(self, box: FloatArray) -> Iterator[tuple[FloatArray, FloatArray, tuple[Node, int, int]]]:
        ends = list(self._around(box))
        for node, element in self.edges:
            for start, end in product(ends, ends):
                if start is not end:
                    yield start, end, (node, element, 1)
                    yield start, end, (node, element, -1)

    def _inner(self, point: FloatArray) -> FloatArray:
        return np.clip(point, self.domain.inner_lo, self.domain.inner_hi)

    def _near(self, box: FloatArray) -> Iterator[FloatArray]:
        """Yield points of a small box with short numbers, and its corners."""
        with np.errstate(invalid="ignore", over="ignore"):
            middle = _middle(box)
            candidates = [np.round(middle, digits) for digits in (0, 1, 2, 3, 6, 9)]
        candidates += [box[:, 0], box[:, 1], middle]
        free = (np.clip(self.domain.inner_lo, -1e6, 1e6) + np.clip(self.domain.inner_hi, -1e6, 1e6)) / 2
        if 1 < len(box) <= 16:  # one variable at its edge, the others away from theirs
            candidates += [np.where(np.arange(len(box)) == i, end, free) for i in range(len(box)) for end in box.T]
        seen: set[bytes] = set()
        for point in candidates:
            point = self._inner(point) + 0.0
            if np.isfinite(point).all() and point.tobytes() not in seen:
                seen.add(point.tobytes())
                yield point

    def _around(self, box: FloatArray) -> Iterator[FloatArray]:
        """Yield the corners of a box a little wider, and its middle."""
        if not np.isfinite(box).all():
            return
        width = np.maximum(box[:, 1] - box[:, 0], 1e-9 * np.maximum(np.abs(box).max(1), 1e-3))
        outer = np.stack([box[:, 0] - width, box[:, 1] + width])
        corners = product((0, 1), repeat=len(box)) if len(box) <= 3 else [(0,) * len(box), (1,) * len(box)]
        for corner in corners:
            yield self._inner(outer[list(corner), np.arange(len(box))])
        yield self._inner(_middle(box))


def _unit(n: int, i: int, sign: float) -> FloatArray:
    direction = np.zeros(n)
    direction[i] = sign
    return direction


def _middle(box: FloatArray) -> FloatArray:
    middle: FloatArray = box[:, 0] / 2 + box[:, 1] / 2
    return middle


def _finite(boxes: FloatArray) -> Iterator[FloatArray]:
    for box in boxes:
        if np.isfinite(box).all():
            yield box


def _pivots(nodes: list[Node]) -> Iterator[tuple[Node, int]]:
    """Yield what is divided by, or taken the logarithm of, and what that is made of."""
    seen: set[Node] = set()
    pending = [node.args[_EDGES[node.op]] for node in nodes if node.op in _EDGES]
    while pending:
        node = pending.pop(0)
        if node in seen or node.op == "constant" or node.size > 64:
            continue
        seen.add(node)
        yield from ((node, i) for i in range(node.size))
        pending.extend(node.args if node.op in _INNER else ())
