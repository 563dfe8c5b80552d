"""Vectors that are certainly orthogonal to the columns of a matrix X (PROOF).

For any double matrix T, B = X T is enclosed once. Where |B'B - I| <= e < 1 in the Frobenius norm, the smallest singular
value of B is at least sqrt(1 - e); so B has full rank, T an inverse, and X the range of B. For any u,

    u° = u - B (B'B)^-1 B'u,     |u - u°| = sqrt(w'(B'B)^-1 w) <= |w| / sqrt(1 - e),     w = B'u
is orthogonal to X, so that the box of this radius around u contains such a vector. T makes B about orthonormal, by a QR
factorisation of X, its columns scaled by powers of 2: never by its Gram matrix.
"""

from __future__ import annotations

import numpy as np

from infimum.boxes import Ends, FloatArray
from infimum.contractors.linear.products import Factor, centred
from infimum.interval import Interval

_MOST_ERROR = 0.5


class Orthogonal:
    """The vectors of m elements orthogonal to the columns of X (m, j); `is_known`: whether B is good enough."""

    def __init__(self, columns: Ends) -> None:
        mid, radius = centred(*columns)
        self.basis = _basis(mid)  # about orthonormal: policy
        factor = _triangle(mid)
        own, spread = Factor(factor).times(mid, radius)
        self._matrix = Factor(own, spread)
        gram, error = self._matrix.times(np.ascontiguousarray(own.T), np.ascontiguousarray(spread.T))
        apart = _around(gram, error) - np.eye(gram.shape[0])
        size = np.sqrt(np.sum(apart**2)) if apart.size else Interval(0.0)
        self.is_known = bool(size.hi < _MOST_ERROR)
        self._least = np.sqrt(1 - size) if self.is_known else Interval(0.0)

    def projected(self, u: FloatArray) -> FloatArray:
        """Return about the orthogonal part of vectors (k, m), 0 for what is no number: policy."""
        for _ in range(2):
            u = u - (u @ self.basis) @ self.basis.T
        return np.where(np.isfinite(u), u, 0.0)

    def around(self, u: FloatArray) -> Ends:
        """Return for each of the vectors (k, m) a box that contains an orthogonal one."""
        if not self.basis.shape[1]:
            return u, u
        products = _around(*self._matrix.times(u))
        radius = (np.sqrt(np.sum(products**2, axis=1)) / self._least)[:, None]
        found = Interval(u) + Interval(-radius.hi, radius.hi)
        return found.lo, found.hi


def _around(mid: FloatArray, radius: FloatArray) -> Interval:
    """Return the intervals of these centres and radii; the entire line where one is not known."""
    known = np.isfinite(mid) & np.isfinite(radius)
    reach = np.where(known, radius, np.inf)
    found: Interval = Interval(np.where(known, mid, 0.0)) + Interval(-reach, reach)
    return found


def _scales(x: FloatArray) -> FloatArray:
    size = np.abs(x).max(0)
    return np.where(size > 0, np.exp2(-np.round(np.log2(np.where(size > 0, size, 1.0)))), 1.0)


def _basis(x: FloatArray) -> FloatArray:
    q: FloatArray = np.linalg.qr(x * _scales(x))[0]
    return q


def _triangle(x: FloatArray) -> FloatArray:
    """Return T with X T about orthonormal; the identity where X has no full rank."""
    scales = _scales(x)
    r = np.linalg.qr(x * scales)[1]
    if not r.size or not (np.abs(np.diagonal(r)) > 1e-300).all() or r.shape[0] < r.shape[1]:
        return np.eye(x.shape[1])
    return np.triu(scales[:, None] * np.linalg.inv(r))
