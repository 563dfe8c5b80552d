"""The null-space dual of quotients of polynomials: r = N / D, y = D u, u orthogonal to the free columns X.

For every such u, sum r_k^2 >= G(p; u) = sum u_k (2 N°_k(p) - u_k D_k(p)^2) (passes/linear_parameters/ratio), which is
concave in each p_i: the least of the vertices of a box counts. X is known by intervals, and u by a box that contains an
orthogonal vector (orthogonal.py): G is enclosed on that.

Policy: u (saddle.py). The mean of G over vertices is N°(p) and E D^2 in place of N° and D^2, so that the best u for a
mean p is one weighted least-squares fit.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from functools import partial

import numpy as np

from infimum.boxes import FloatArray
from infimum.contractors.fits.orthogonal import Orthogonal
from infimum.contractors.fits.saddle import Bounds, Fitted, best_vectors
from infimum.function.linear_parameters import Ratios


class RatioDual:
    """The bounds of one function."""

    def __init__(self, ratios: Ratios) -> None:
        self.ratios = ratios
        self.parameters = ratios.parameters
        self.space = Orthogonal(ratios.free)
        self._corners = np.array(list(itertools.product((False, True), repeat=self.parameters.size)), bool)

    @property
    def is_usable(self) -> bool:
        """Whether orthogonality can be proved."""
        return self.space.is_known

    def bounds(self, lo: FloatArray, hi: FloatArray, threads: int) -> Bounds:
        """Return what is known of the sum of squares on boxes (k, n) of all variables."""
        lo, hi = lo[:, self.parameters], hi[:, self.parameters]
        u, p = self._best(lo, hi)
        least = np.full(len(lo), np.inf)
        low, high = self.space.around(u)
        for corner in self._corners:
            bottom, top = self.ratios.bound_ends(np.where(corner, hi, lo), (low, high), threads=threads)
            least = np.minimum(least, np.where(bottom <= top, bottom, -np.inf))
        middle = 0.5 * lo + 0.5 * hi
        slopes = _slopes(self.ratios.below, middle, self.ratios.m)
        costs = (hi - lo) ** 2 * np.einsum("km,kmq->kq", u * u, slopes**2)
        own = _values(self.ratios.below, p, self.ratios.m) ** 2
        values = self._fitted(p, p, np.repeat(own[:, None], len(self._corners), 1), p).h
        return Bounds(least, costs, values)

    # ------------------------------------------------------------------------------------------ policy
    def _best(self, lo: FloatArray, hi: FloatArray) -> tuple[FloatArray, FloatArray]:
        at = [np.where(corner, hi, lo) for corner in self._corners]
        squares = np.stack([_values(self.ratios.below, p, self.ratios.m) for p in at], 1) ** 2  # (k, vertices, m)
        kept = np.stack([_values(self.ratios.kept, p, self.ratios.m) for p in at], 1)
        fitted = partial(self._fitted, lo, hi, squares)
        u, p = best_vectors(lo, hi, fitted, partial(self._least, kept, squares))
        return self.space.projected(u), p

    def _fitted(self, lo: FloatArray, hi: FloatArray, squares: FloatArray, p: FloatArray) -> Fitted:
        share, turned = _shares(self._corners, lo, hi, p)
        mean = np.einsum("kv,kvm->km", share, squares)
        changes = np.einsum("kvq,kvm->kmq", turned, squares)
        mean = mean + 1e-14 * mean.max(1, keepdims=True) + 1e-300
        root = np.sqrt(mean)
        q = np.linalg.qr(self.space.basis[None] / root[:, :, None])[0]
        target = _values(self.ratios.kept, p, self.ratios.m)
        left = target / root
        left = left - np.einsum("kmj,kj->km", q, np.einsum("kmj,km->kj", q, left))
        u = left / root
        h = (left**2).sum(1)
        slopes = _slopes(self.ratios.kept, p, self.ratios.m)
        slope = 2 * np.einsum("km,kmq->kq", u, slopes) - np.einsum("km,kmq->kq", u * u, changes)
        moved = (slopes - u[:, :, None] * changes) / root[:, :, None]
        moved = moved - np.einsum("kmj,kjq->kmq", q, np.einsum("kmj,kmq->kjq", q, moved))
        return Fitted(u, h, slope, 2 * np.einsum("kmq,kmr->kqr", moved, moved))

    def _least(self, values: FloatArray, squares: FloatArray, u: FloatArray) -> FloatArray:
        own = self.space.projected(u)[:, None]
        found: FloatArray = (own * (2 * values - own * squares)).sum(2).min(1)
        return found


def _shares(corners: FloatArray, lo: FloatArray, hi: FloatArray, p: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the probability (k, v) of each vertex under the product with mean p, and its derivatives (k, v, q)."""
    width = hi - lo
    with np.errstate(all="ignore"):
        high = np.where(width > 0, (p - lo) / width, 0.5)
        turn = np.where(width > 0, 1 / width, 0.0)
    each = np.where(corners[None], high[:, None], 1 - high[:, None])  # (k, v, q)
    share = each.prod(2)
    sign = np.where(corners[None], 1.0, -1.0) * turn[:, None]
    q = lo.shape[1]
    others = np.stack([np.delete(each, i, 2).prod(2) for i in range(q)], 2)
    return share, sign * others


def _values(polynomial: Mapping[tuple[int, ...], FloatArray], p: FloatArray, m: int) -> FloatArray:
    total = np.zeros((len(p), m))
    for places, numbers in polynomial.items():
        total = total + p[:, list(places)].prod(1)[:, None] * numbers
    return total


def _slopes(polynomial: Mapping[tuple[int, ...], FloatArray], p: FloatArray, m: int) -> FloatArray:
    """Return the derivatives (k, m, q) of a polynomial that is affine in each variable."""
    found = np.zeros((len(p), m, p.shape[1]))
    for places, numbers in polynomial.items():
        for i in places:
            rest = [j for j in places if j != i]
            found[:, :, i] += p[:, rest].prod(1)[:, None] * numbers
    return found
