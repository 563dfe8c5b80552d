"""Least squares with stacked filters, whose matrices are banded, for many boxes at once (POLICY).

A filter f takes v (n) to f_0 v_i + f_1 v_(i-1) + ..: row i reads v_(i-d) to v_i. Rows enter a QR factorisation in the
order of the first column that they read, so that it never holds more than a window of the largest d columns.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from infimum.boxes import FloatArray


class BandedFit:
    """The v (k, n) that makes |K_1 v - h|^2 + |K_2 v|^2 + .. least, K_s the filters (k, d_s + 1) and h (m,).

    v, value    the fit, and how much of |h|^2 it takes away
    """

    def __init__(self, filters: Sequence[FloatArray], h: FloatArray, n: int) -> None:
        self.n = n
        self.width = max(f.shape[1] for f in filters)
        count = len(filters[0])
        self.band = np.zeros((count, n, self.width))
        right = np.zeros((count, n))
        window = np.zeros((count, self.width, self.width + 1))
        for j in range(n):
            rows = np.concatenate(
                [window, *(self._rows(f, j, h if s == 0 else None) for s, f in enumerate(filters))], 1
            )
            r: FloatArray = np.asarray(np.linalg.qr(rows, mode="r"))
            self.band[:, j], right[:, j] = r[:, 0, :-1], r[:, 0, -1]
            window = np.zeros_like(window)
            window[:, : self.width - 1, : self.width - 1] = r[:, 1 : self.width, 1 : self.width]
            window[:, : self.width - 1, -1] = r[:, 1 : self.width, -1]
        diagonal = self.band[:, :, 0]
        self._inverse = np.where(np.abs(diagonal) > 1e-300, 1.0 / np.where(diagonal == 0, 1.0, diagonal), 0.0)
        self.v = self._back(right)
        self.value = (right**2).sum(1)

    def turned(self, g: FloatArray) -> FloatArray:
        """Return R^-T g for (k, n, q): the inverse of K'K is the product of its transpose and itself."""
        found = np.zeros_like(g)
        for j in range(self.n):
            left = g[:, j]
            for c in range(1, min(self.width, j + 1)):
                left = left - self.band[:, j - c, c, None] * found[:, j - c]
            found[:, j] = left * self._inverse[:, j, None]
        return found

    def _back(self, right: FloatArray) -> FloatArray:
        found = np.zeros_like(right)
        for j in range(self.n - 1, -1, -1):
            left = right[:, j]
            for c in range(1, min(self.width, self.n - j)):
                left = left - self.band[:, j, c] * found[:, j + c]
            found[:, j] = left * self._inverse[:, j]
        return np.where(np.isfinite(found), found, 0.0)

    def _rows(self, f: FloatArray, j: int, h: FloatArray | None) -> FloatArray:
        """Return the rows of a filter that read column j first, as entries of the columns from j on, and h."""
        d = f.shape[1] - 1
        rows = range(d + 1) if j == 0 else range(j + d, j + d + 1)
        found = np.zeros((len(f), len(rows), self.width + 1))
        for at, i in enumerate(rows):
            for c in range(j, min(i, self.n - 1) + 1):
                found[:, at, c - j] = f[:, i - c]
            if h is not None:
                found[:, at, -1] = h[i]
        return found
