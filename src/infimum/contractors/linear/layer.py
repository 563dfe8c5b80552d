"""LinearLayer: for f(x) = g(A x + b, x), contract y = A x + b under g <= upper, and x from y.

With a matrix C, close to an inverse of A, every x in X with A x + b = y has, for any c,

    x = c + C (y - A c - b) + (I - C A)(x - c)
whatever C and c are: they are chosen in doubles, and only I - C A is enclosed, once. Where A has no inverse, a
pseudo-inverse keeps what can be kept. Where the rows of |I - C A| sum up to e < 1 at most, the line above also bounds
the largest |x_i - c_i| by e times itself plus the largest |C (y - A c - b)|, whether X has ends or not.

An A or b known by intervals is any matrix and vector therein, the same throughout.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from infimum.boxes import Boxes, FloatArray, doubles, emptied, is_empty, limits, met, shrinkage
from infimum.concurrency import cached_property
from infimum.contractors.level import Level, Levelled
from infimum.contractors.linear.products import Bound, Factor, above, centred, differences, ends, sums
from infimum.deadline import ask
from infimum.function.function import Function
from infimum.passes.linear.layers import Layer, linear_layer

_MOST_WORK = 2**30  # multiplications by which a pseudo-inverse is sought
_SMALL = 8  # variables


class LinearLayer:
    """The level contractor through a linear layer. `passes` from x to y and back, as long as one takes `least` away."""

    def __init__(self, function: Function, layer: Layer, passes: int = 8, least: float = 0.05) -> None:
        self.n = function.n
        self.passes = passes
        self.least = least
        self.reads_x = layer.reads_x
        self.offset = layer.offset
        mid, radius = centred(*layer.matrix)
        is_known = bool((layer.matrix[0] == layer.matrix[1]).all())
        self.forward = Factor(mid.T, None if is_known else np.ascontiguousarray(radius.T))
        self.inverse, self.rest = _preconditioned(self.forward)
        behind = Function(layer.value, layer.inputs, f"{function.name} behind its linear layer")
        self.inner = behind.on(function.place)
        self._level = Level(self.inner, passes=60)

    @cached_property
    def is_regular(self) -> bool:
        """Whether the matrix certainly has an inverse."""
        rows, columns = self.inverse.mid.shape
        return rows == columns and self.norm < 1

    @property
    def is_worthwhile(self) -> bool:
        """Whether contraction of f itself will hardly do as well (POLICY).

        Where g reads x beside y, small or irregular layers have been seen to cost more than they bring.
        """
        return not self.reads_x or (self.is_regular and self.n >= _SMALL)

    @cached_property
    def norm(self) -> float:
        """At least the largest sum over a row of |I - C A|."""
        with np.errstate(all="ignore"):
            return float(self.rest.times(np.ones((1, self.n))).max())

    def contract(self, lo: FloatArray, hi: FloatArray, upper: npt.ArrayLike, *, threads: int = 1) -> Boxes:
        """Boxes around every point of each box with f(x) <= upper, one number or one for each box."""
        found = self.narrow(lo, hi, upper, threads=threads)
        return found.lo, found.hi

    def narrow(self, lo: FloatArray, hi: FloatArray, upper: npt.ArrayLike, *, threads: int = 1) -> Levelled:
        """The same, with the lower bounds that g has on the way."""
        low, high = doubles(lo, hi)
        limit, left = limits(low, upper), np.ones(len(low))
        lower = np.where(is_empty(low, high), np.inf, -np.inf)
        active = np.flatnonzero(~is_empty(low, high))
        y = self.image(low[active], high[active])
        count = 0
        while active.size and count < self.passes:
            ask()
            before = low[active], high[active]
            y, after, bound = self._passed(before, y, limit[active], threads)
            nothing = is_empty(*after) | is_empty(*y)
            low[active], high[active] = emptied(*after, nothing)
            lower[active] = np.where(nothing, np.inf, np.maximum(lower[active], bound))
            gone = np.where(nothing, 1.0, shrinkage(before, after))
            left[active] *= 1.0 - gone
            more = ~nothing & (gone >= self.least)
            active, y = active[more], (y[0][more], y[1][more])
            count += 1
        return Levelled(low, high, lower, count, 1.0 - left)

    def _passed(self, x: Boxes, y: Boxes, limit: FloatArray, threads: int) -> tuple[Boxes, Boxes, FloatArray]:
        """y and x contracted once each, and g's lower bounds on the boxes given."""
        found = self._level.narrow(*self._inputs(x, y), limit, threads=threads)
        start = self.n if self.reads_x else 0
        y = found.lo[:, start:], found.hi[:, start:]
        if self.reads_x:
            x = found.lo[:, :start], found.hi[:, :start]
        some = ~is_empty(*y)
        x = emptied(*x, ~some)
        lo, hi = x[0].copy(), x[1].copy()
        lo[some], hi[some] = met((lo[some], hi[some]), self.preimage((lo[some], hi[some]), (y[0][some], y[1][some])))
        some = ~is_empty(lo, hi)
        low, high = y[0].copy(), y[1].copy()
        low[some], high[some] = met((low[some], high[some]), self.image(lo[some], hi[some]))
        return (low, high), (lo, hi), found.lower

    def _inputs(self, x: Boxes, y: Boxes) -> Boxes:
        """Boxes of g's variables."""
        return (np.hstack([x[0], y[0]]), np.hstack([x[1], y[1]])) if self.reads_x else y

    def behind(self, lo: FloatArray, hi: FloatArray, upper: npt.ArrayLike, *, threads: int = 1) -> Boxes:
        """Boxes around A x + b for every x of each box with f(x) <= upper."""
        low, high = self._inputs((lo, hi), self.image(lo, hi))
        found = self._level.narrow(low, high, upper, threads=threads)
        start = self.n if self.reads_x else 0
        return found.lo[:, start:], found.hi[:, start:]

    def points(self, lo: FloatArray, hi: FloatArray, upper: npt.ArrayLike, *, threads: int = 1) -> FloatArray:
        """Where y may lie in the middle of what the level leaves of it (POLICY): good points of ill-conditioned A."""
        y = self.behind(lo, hi, upper, threads=threads)
        with np.errstate(all="ignore"):
            c, _ = centred(lo, hi)
            wanted, _ = centred(*y)
            beside = wanted - c @ self.forward.mid - centred(*self.offset)[0]
            return np.asarray(c + beside @ self.inverse.mid, np.float64)

    def image(self, lo: FloatArray, hi: FloatArray) -> Boxes:
        """Contain A x + b for every x of each box."""
        with np.errstate(all="ignore"):
            return sums(ends(*self.forward.times(*centred(lo, hi))), self.offset)

    def preimage(self, x: Boxes, y: Boxes) -> Boxes:
        """Contain every x of each box with A x + b in y; where nothing is known, the entire line."""
        with np.errstate(all="ignore"):
            c, radius = centred(*x)
            beside = differences(y, sums(ends(*self.forward.times(c)), self.offset))
            mid, reach = self.inverse.times(*centred(*beside))
            if self.norm < 1:
                largest = above((np.abs(mid) + reach).max(1, keepdims=True) / (1.0 - self.norm))
                radius = np.minimum(radius, largest)
            moved = ends(mid, above(reach + self.rest.times(radius)))
            return sums((c, c), moved)


def layered(function: Function, passes: int = 8) -> LinearLayer | None:
    """The contractor of a function that has a linear layer, None for one that has none."""
    layer = linear_layer(function.value_node, function.n)
    return None if layer is None else LinearLayer(function, layer, passes)


def _preconditioned(forward: Factor) -> tuple[Factor, Bound]:
    """C, the better of two tries (POLICY: any finite matrix is right), and at least |I - C A|; both transposed."""
    a = forward.mid.T
    found = np.zeros(a.shape[::-1])
    with np.errstate(all="ignore"):
        for choose in (_inverse, _pseudo_inverse):
            ask()
            try:
                chosen = choose(a)
            except np.linalg.LinAlgError:
                continue
            found = np.where(np.isfinite(chosen), chosen, 0.0)
            ask()
            inverse = Factor(found.T)
            rest = _rest(inverse, forward)
            if rest.values.sum(0).max() < 0.5:
                return inverse, rest
        inverse = Factor(found.T)
        return inverse, _rest(inverse, forward)


def _inverse(a: FloatArray) -> FloatArray:
    if a.shape[0] < a.shape[1]:
        raise np.linalg.LinAlgError
    if a.shape[0] == a.shape[1]:
        return np.asarray(np.linalg.inv(a), np.float64)
    q, r = np.linalg.qr(a)
    return np.asarray(np.linalg.solve(r, q.T), np.float64)


def _pseudo_inverse(a: FloatArray) -> FloatArray:
    if a.size * min(a.shape) > _MOST_WORK:
        raise np.linalg.LinAlgError
    return np.asarray(np.linalg.pinv(a, rcond=1e-12), np.float64)


def _rest(inverse: Factor, forward: Factor) -> Bound:
    """At least |I - C A|, transposed: |I - A^T C^T|."""
    mid, radius = inverse.times(forward.mid, forward.radius)
    return Bound(above(np.abs(mid - np.eye(len(mid))) + radius))
