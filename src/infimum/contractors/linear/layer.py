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

from infimum.boxes import Boxes, Ends, FloatArray, emptied, is_empty, met, shrinkage
from infimum.concurrency import cached_property
from infimum.contractors.known import Known
from infimum.contractors.level import Level
from infimum.contractors.linear.products import Bound, Factor, above, centred, defect, differences, ends, sums
from infimum.deadline import ask
from infimum.domain import Domain
from infimum.function import expression
from infimum.function.function import Function

_MOST_WORK = 2**30  # multiplications by which a pseudo-inverse is sought
_SMALL = 8  # variables


class LinearLayer:
    """The level contractor through a linear layer of one function, for which it is made: `layered` does it.

    It goes from x to y and back `passes` times at most, as long as a pass takes `least` of a box away.
    """

    def __init__(self, layer: expression.LinearLayer, passes: int = 8, least: float = 0.05) -> None:
        self.n = layer.matrix[0].shape[1]
        self.passes = passes
        self.least = least
        self.reads_x = layer.reads_x
        self.offset = layer.offset
        mid, radius = centred(*layer.matrix)
        is_known = bool((layer.matrix[0] == layer.matrix[1]).all())
        self.forward = Factor(mid.T, None if is_known else np.ascontiguousarray(radius.T))
        self.inverse, self.rest = _preconditioned(self.forward)
        self.inner = layer.inner
        everything = np.full(self.inner.n, np.inf)
        self._everywhere = Domain(-everything, everything, -everything, everything)

    @cached_property
    def is_regular(self) -> bool:
        """Whether the matrix certainly has an inverse."""
        rows, columns = self.inverse.mid.shape
        return rows == columns and self.norm < 1

    @property
    def is_worthwhile(self) -> bool:
        """Whether contraction of f itself will hardly do as well. This is policy.

        Where g reads x like y, small or irregular layers have been seen to cost more than they bring.
        """
        return not self.reads_x or (self.is_regular and self.n >= _SMALL)

    @cached_property
    def norm(self) -> float:
        """At least the largest sum over a row of |I - C A|."""
        with np.errstate(all="ignore"):
            return float(self.rest.times(np.ones((1, self.n))).max())

    def contract(self, boxes: Boxes, known: Known) -> Boxes:
        """Return boxes around every point of each box with f(x) <= upper, and the lower bounds of g on the way."""
        low, high, limit = boxes.lo.copy(), boxes.hi.copy(), known.limits(boxes)
        nothing = boxes.is_empty()
        lower = np.where(nothing, np.inf, boxes.lower)
        active = np.flatnonzero(~nothing)
        y = self.image(low[active], high[active])
        for _ in range(self.passes):
            if not active.size:
                break
            ask()
            before = low[active], high[active]
            y, after, bound = self._passed(before, y, limit[active], known.threads)
            nothing = is_empty(*after) | is_empty(*y)
            low[active], high[active] = emptied(*after, nothing)
            lower[active] = np.where(nothing, np.inf, np.maximum(lower[active], bound))
            gone = np.where(nothing, 1.0, shrinkage(before, after))
            more = ~nothing & (gone >= self.least)
            active, y = active[more], (y[0][more], y[1][more])
        return Boxes(low, high, lower)

    def _passed(self, x: Ends, y: Ends, limit: FloatArray, threads: int) -> tuple[Ends, Ends, FloatArray]:
        """Return y and x contracted once each, and g's lower bounds on the boxes given."""
        found = self._levelled(x, y, limit, threads)
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

    def _levelled(self, x: Ends, y: Ends, limit: FloatArray, threads: int) -> Boxes:
        """Return the boxes of g's variables, contracted under g <= limit."""
        if self.reads_x:
            y = np.hstack([x[0], y[0]]), np.hstack([x[1], y[1]])
        return Level(passes=60).contract(Boxes(*y), Known(self.inner, self._everywhere, limit, threads))

    def behind(self, boxes: Boxes, known: Known) -> Ends:
        """Return boxes around A x + b for every x of each box with f(x) <= upper."""
        found = self._levelled(boxes.ends, self.image(*boxes.ends), known.limits(boxes), known.threads)
        start = self.n if self.reads_x else 0
        return found.lo[:, start:], found.hi[:, start:]

    def points(self, boxes: Boxes, known: Known) -> FloatArray:
        """Return points with y about in the middle of what the level leaves of it: good ones of an ill-conditioned A.

        They are policy: nothing is claimed of them.
        """
        y = self.behind(boxes, known)
        with np.errstate(all="ignore"):
            c, _ = centred(*boxes.ends)
            wanted, _ = centred(*y)
            like = wanted - c @ self.forward.mid - centred(*self.offset)[0]
            return np.asarray(c + like @ self.inverse.mid, np.float64)

    def image(self, lo: FloatArray, hi: FloatArray) -> Ends:
        """Contain A x + b for every x of each box."""
        with np.errstate(all="ignore"):
            return sums(ends(*self.forward.times(*centred(lo, hi))), self.offset)

    def preimage(self, x: Ends, y: Ends) -> Ends:
        """Contain every x of each box with A x + b in y; where nothing is known, the entire line."""
        with np.errstate(all="ignore"):
            c, radius = centred(*x)
            like = differences(y, sums(ends(*self.forward.times(c)), self.offset))
            mid, reach = self.inverse.times(*centred(*like))
            if self.norm < 1:
                largest = above((np.abs(mid) + reach).max(1, keepdims=True) / (1.0 - self.norm))
                radius = np.minimum(radius, largest)
            moved = ends(mid, above(reach + self.rest.times(radius)))
            return sums((c, c), moved)


def layered(function: Function, passes: int = 8) -> LinearLayer | None:
    """Return the contractor of a function that has a linear layer, None for one that has none."""
    layer = expression.linear_layer(function)
    return None if layer is None else LinearLayer(layer, passes)


def _preconditioned(forward: Factor) -> tuple[Factor, Bound]:
    """Return C, the better of two tries, and at least |I - C A|; both transposed. Any finite matrix C is right."""
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
            rest = defect(inverse, forward)
            if rest.values.sum(0).max() < 0.5:
                return inverse, rest
        inverse = Factor(found.T)
        return inverse, defect(inverse, forward)


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
