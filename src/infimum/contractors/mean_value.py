"""MeanValue: f(x) lies in f(c) + f'(X) (x - c) for every x in a box X and c in X, where f is smooth.

The centre is policy: any point of the box is right. The lower bound is best, for slopes [l, u] and X_i = [a, b], at

    0 <= l       a
    u <= 0       b
    l < 0 < u    (u a - l b) / (u - l)
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from infimum.boxes import Boxes, FloatArray, doubles, emptied, for_each, is_empty, limits, met
from infimum.contractors.known import Known
from infimum.contractors.stationary import smooth
from infimum.function.function import Function
from infimum.graph import indexmap
from infimum.graph.build import Build
from infimum.graph.node import Node
from infimum.passes.contract.contraction import contraction
from infimum.passes.lowering.program import Program


class MeanValue:
    """The mean-value form. Boxes on which f is not smooth have no bound and stay as they are."""

    def __init__(self, function: Function, known: Known | None = None) -> None:
        self.function = function
        self.known = function if known is None else known

    def lower(self, lo: FloatArray, hi: FloatArray, *, threads: int = 1) -> FloatArray:
        """Bounds (k,) of f on each box from below: the better of the mean-value and of the natural form."""
        lo, hi = doubles(lo, hi)
        natural, _ = self.function.sharp_ends(lo, hi, threads=threads)
        _, _, bound = self._passed(lo, hi, limits(lo, np.inf), threads)
        return np.maximum(natural, bound)

    def contract(self, lo: FloatArray, hi: FloatArray, upper: npt.ArrayLike, *, threads: int = 1) -> Boxes:
        """Boxes around every point of each box with f(x) <= upper."""
        low, high, _ = self.narrow(lo, hi, upper, threads=threads)
        return low, high

    def narrow(
        self, lo: FloatArray, hi: FloatArray, upper: npt.ArrayLike, *, threads: int = 1
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """`contract`, with the form's lower bounds (k,) on the boxes given."""
        lo, hi = doubles(lo, hi)
        limit = limits(lo, upper)
        found_lo, found_hi, bound = self._passed(lo, hi, limit, threads)
        low, high = met((lo, hi), (found_lo, found_hi))
        return *emptied(low, high, bound > limit), bound

    def _passed(
        self, lo: FloatArray, hi: FloatArray, limit: FloatArray, threads: int
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """One pass over the linear form: contracted boxes, and the form's lower bounds (-inf where f is not smooth)."""
        low, high = lo.copy(), hi.copy()
        bound = for_each(lo, -np.inf)
        some = np.flatnonzero(~is_empty(lo, hi))
        is_smooth = smooth(self.known, low[some], high[some], threads)
        active = some[is_smooth]
        if not active.size:
            return low, high, bound
        box = low[active], high[active]
        slopes = self.known.gradient_ends(low[some], high[some], threads=threads)
        slope = slopes[0][is_smooth], slopes[1][is_smooth]
        c = centre(box, slope)
        value = self.function.range_ends(c, c, threads=threads)
        wanted = for_each(c, -np.inf), limit[active]
        columns = [(end, c, d, v[:, None], w[:, None]) for end, d, v, w in zip(box, slope, value, wanted, strict=True)]
        (form_lo, form_hi), (least, _) = self.function.place.run(
            form_program(self.function.n), np.hstack(columns[0]), np.hstack(columns[1]), threads=threads
        )
        low[active], high[active] = form_lo, form_hi
        bound[active] = least[:, 0]
        return low, high, bound


@lru_cache(maxsize=16)
def form_program(n: int) -> Program:
    """The contraction of a linear form of n variables: the same for every function."""
    return contraction([linear_form(n)], n, parameters=2 * n + 1)


def linear_form(n: int) -> Node:
    """v + sum of g_i (x_i - c_i), of the variables x, c, g (n of each) and v."""
    build = Build(3 * n + 1)
    x, c, g = (build.take(build.x, indexmap.affine([(n, 1)], start, 3 * n + 1)) for start in (0, n, 2 * n))
    terms = build.apply("mul", g, build.apply("sub", x, c))
    v = build.take(build.x, indexmap.affine([], 3 * n, 3 * n + 1))
    return build.apply("add", v, build.reduce("sum", terms, n))


def centre(box: Boxes, slope: Boxes) -> FloatArray:
    """The point of each box that makes the lower bound highest; the middle where no slope is known."""
    (a, b), (low, high) = box, slope
    a, b = np.maximum(a, -np.finfo(np.float64).max), np.minimum(b, np.finfo(np.float64).max)
    with np.errstate(all="ignore"):
        between = (high * a - low * b) / (high - low)
        between = np.where(np.isfinite(between), between, 0.5 * a + 0.5 * b)
    found = np.where(low >= 0, a, np.where(high <= 0, b, between))
    clipped: FloatArray = np.clip(found, a, b)
    return clipped
