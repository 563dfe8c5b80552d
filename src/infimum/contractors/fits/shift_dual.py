"""The null-space dual of exponentials and waves on a grid: y = T(z)'v, T a product of filters with numbers z.

sum r_k^2 >= G(z; v) - 2 slack (passes/linear_parameters/shift), G concave in each z_i: the least of the vertices of the
ranges of z counts. G is given the b for which it is computed best: near the exponentials' own fit at the vertex.

Policy: v (saddle.py). For z independent at random with means p and variances s, E |T'v|^2 adds up |T_s' v|^2 over all
sets of filters left out, each times the variances of those: v is a least-squares fit of h by the stack (banded.py), by
its QR factorisation, never by its Gram matrix.
"""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np

from infimum.boxes import Ends, FloatArray
from infimum.contractors.fits.banded import BandedFit
from infimum.contractors.fits.saddle import Bounds, Fitted, best_vectors
from infimum.function.linear_parameters import Shifts

_LARGEST = 1e150  # of powers that a fit is made of; squares of larger ones overflow


class ShiftDual:
    """The bounds of one function."""

    def __init__(self, shifts: Shifts) -> None:
        self.shifts = shifts
        self.parameters = shifts.parameters
        self.count = len(shifts.is_wave)
        self._corners = np.array(list(itertools.product((False, True), repeat=self.count)), bool)
        self._sets = [np.array(own, np.int64) for r in range(self.count + 1) for own in _sets(self.count, r)]

    def bounds(self, lo: FloatArray, hi: FloatArray, threads: int) -> Bounds:
        """Return what is known of the sum of squares on boxes (k, n) of all variables."""
        box = lo[:, self.parameters], hi[:, self.parameters]
        z = self.shifts.atom_ends(*box, threads=threads)
        usable = (np.isfinite(z[0]) & np.isfinite(z[1]) & (z[0] <= z[1])).all(1)
        found = Bounds(np.full(len(lo), -np.inf), np.ones_like(box[0]), np.full(len(lo), np.inf))
        own = np.flatnonzero(usable)
        if own.size:
            part = self._bounds((lo[own], hi[own]), (box[0][own], box[1][own]), (z[0][own], z[1][own]), threads)
            for whole, new in zip(found, part, strict=True):
                whole[own] = new
        return found

    def _bounds(self, box: Ends, p: Ends, z: Ends, threads: int) -> Bounds:
        v, mean = best_vectors(*z, partial(self._fitted, *z), partial(self._least, *z))
        least = np.full(len(v), np.inf)
        for corner in self._corners:
            at = np.where(corner, z[1], z[0])
            bottom, top = self.shifts.bound_ends(at, self._near(at), v, threads=threads)
            least = np.minimum(least, np.where(bottom <= top, bottom, -np.inf))
        least = self._without_slack(least, box, p, z, v, threads)
        costs = self._costs(z, v)
        shared = costs @ self.shifts.reads.astype(float) * (p[1] > p[0])
        return Bounds(least, shared, self._fitted(mean, mean, mean).h)

    def _without_slack(self, least: FloatArray, box: Ends, p: Ends, z: Ends, v: FloatArray, threads: int) -> FloatArray:
        """Return the bounds less twice the slack, -inf where a range of c that counts is infinite."""
        counts = self.shifts.has_slack
        if not counts.any():
            return least
        own = self.shifts.linear
        size = np.where(counts, np.maximum(np.abs(box[0][:, own]), np.abs(box[1][:, own])), 0.0)
        finite = np.isfinite(size).all(1)
        slack = self.shifts.slack(p, z, v, np.where(np.isfinite(size), size, 0.0), threads=threads)
        with np.errstate(all="ignore"):
            found = np.nextafter(least - 2.0 * slack, -np.inf)
        return np.where(finite & ~np.isnan(found), found, -np.inf)

    # ------------------------------------------------------------------------------------------ policy
    def _kernel(self, z: FloatArray, without: frozenset[int]) -> FloatArray:
        """Return the coefficients (k, order + 1) of the filters, from E^0 on, but for some."""
        found = np.repeat(self.shifts.fixed[None], len(z), 0)
        for i, is_wave in enumerate(self.shifts.is_wave):
            if i not in without:
                one = np.ones(len(z))
                own = np.stack([one, -z[:, i], one] if is_wave else [-z[:, i], one], 1)
                found = _convolved(own, found)
        return found

    def _y(self, z: FloatArray, v: FloatArray, without: frozenset[int] = frozenset()) -> FloatArray:
        return _convolved(self._kernel(z, without), v)

    def _fitted(self, lo: FloatArray, hi: FloatArray, p: FloatArray) -> Fitted:
        """Return the best v for the mean p."""
        variance = np.maximum((hi - p) * (p - lo), 0.0)
        kernels = [(own, self._kernel(p, frozenset(own.tolist()))) for own in self._sets]
        scaled = [np.sqrt(variance[:, own].prod(1))[:, None] * kernel for own, kernel in kernels]
        fit = BandedFit(scaled, self.shifts.h, self.shifts.length)
        v = fit.v
        by_set = [_convolved(kernel, v) for _, kernel in kernels]
        slopes, turned = [], []
        rest = self.shifts.h - by_set[0]
        for i in range(self.count):
            own = self._turn(p, v, i, frozenset())
            slope = 2 * (own * self.shifts.h).sum(1)
            for (without, _), y in zip(kernels, by_set, strict=True):
                left = variance[:, [j for j in without if j != i]].prod(1)
                if i in without:
                    slope = slope - (hi + lo - 2 * p)[:, i] * left * (y * y).sum(1)
                else:
                    moved = self._turn(p, v, i, frozenset(without.tolist()))
                    slope = slope - 2 * left * (y * moved).sum(1)
            slopes.append(slope)
            turned.append(self._turned_back(p, rest, i))
        moved = np.stack(turned, 2)  # (k, n, q): how T (h - y) turns with z_i
        inner = fit.turned(moved)
        return Fitted(v, fit.value, np.stack(slopes, 1), 2 * np.einsum("kni,knj->kij", inner, inner))

    def _turn(self, z: FloatArray, v: FloatArray, i: int, without: frozenset[int]) -> FloatArray:
        """Return the derivative of T'v by z_i: minus the other filters' T'v, one step on for a wave."""
        y = -self._y(z, v, without | {i})
        edge = np.zeros((len(y), 1))
        return np.concatenate([edge, y, edge] if self.shifts.is_wave[i] else [y, edge], 1)

    def _turned_back(self, z: FloatArray, rest: FloatArray, i: int) -> FloatArray:
        """Return the derivative of T x by z_i for a vector x (k, m)."""
        kernel = self._kernel(z, frozenset({i}))
        size = rest.shape[1] - kernel.shape[1] + 1
        total = np.zeros((len(rest), size))
        for j in range(kernel.shape[1]):
            total -= kernel[:, j : j + 1] * rest[:, j : j + size]
        return total[:, 1:-1] if self.shifts.is_wave[i] else total[:, :-1]

    def _least(self, lo: FloatArray, hi: FloatArray, v: FloatArray) -> FloatArray:
        found = np.full(len(v), np.inf)
        for corner in self._corners:
            y = self._y(np.where(corner, hi, lo), v)
            found = np.minimum(found, (y * (2 * self.shifts.h - y)).sum(1))
        return np.where(np.isnan(found), -np.inf, found)

    def _near(self, z: FloatArray) -> FloatArray:
        """Return b for which h + sum b_j z_j^k is small."""
        waves = np.array(self.shifts.is_wave)
        k = np.arange(self.shifts.m)
        with np.errstate(all="ignore"):
            powers = np.where(waves, 0.0, z)[:, None, :] ** k[:, None]
        powers = np.where(waves | ~(np.abs(powers) < _LARGEST), 0.0, powers)
        found = -np.linalg.pinv(powers, rcond=1e-13) @ self.shifts.h
        return np.where(np.isfinite(found), found, 0.0)

    def _costs(self, z: Ends, v: FloatArray) -> FloatArray:
        """Return what the width of each atom costs."""
        middle = 0.5 * z[0] + 0.5 * z[1]
        found = np.zeros_like(middle)
        for i in range(self.count):
            y = self._y(middle, v, frozenset({i}))
            found[:, i] = (z[1] - z[0])[:, i] ** 2 * (y * y).sum(1)
        return found


def _sets(count: int, size: int) -> list[tuple[int, ...]]:
    return list(itertools.combinations(range(count), size))


def _convolved(kernel: FloatArray, v: FloatArray) -> FloatArray:
    """Return sum over j of f_j v_(k-j)."""
    found = np.zeros((len(v), v.shape[1] + kernel.shape[1] - 1))
    for j in range(kernel.shape[1]):
        found[:, j : j + v.shape[1]] += kernel[:, j : j + 1] * v
    return found
