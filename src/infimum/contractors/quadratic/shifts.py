"""Small shifts that make a matrix positive semidefinite, for many matrices at once (POLICY).

Shor's bound of a quadratic function over |t_i| <= 1 is that of t'St/2 + g't + sum of sigma_i (t_i^2 - 1)/2 over all t,
sigma >= 0, made as high as possible: the least sum of all sigma for which [[sigma_0, g'], [g, S + diag sigma]] is
positive semidefinite. Newton's method for sum sigma - mu (log det + sum log sigma_i), mu the smallest for which a step
is of moderate length in the barrier's own metric: some 10 to 16 steps. All iterates are strictly inside.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from infimum.backends.linear import is_positive

FloatArray = npt.NDArray[np.float64]

_LENGTH = 3.0  # of a step in the barrier's metric
_INSIDE = 0.8  # of the way to the edge
_LEAST = 1e-7  # mu, of the scale
_SHORTER = 14


def shifts(matrices: FloatArray, slopes: FloatArray) -> FloatArray:
    """Return sigma (k, n) > 0 for S (k, n, n) and g (k, n); NaN where none is found."""
    k, n = slopes.shape
    bordered = np.zeros((k, n + 1, n + 1))
    bordered[:, 1:, 1:] = matrices
    bordered[:, 0, 1:] = bordered[:, 1:, 0] = slopes
    # In units of the largest entry, so that squares of inverses are no 0. What has no finite entries gets a 1.
    _, powers = np.frexp(np.abs(bordered).max((1, 2)))
    with np.errstate(all="ignore"):
        bordered = np.ldexp(bordered, -powers[:, None, None])
        bordered = np.where(np.isfinite(bordered).all((1, 2), keepdims=True), bordered, np.eye(n + 1))
        try:
            found: FloatArray = np.ldexp(_least(bordered, steps=8 + n // 6)[:, 1:], powers[:, None])
        except np.linalg.LinAlgError:
            found = np.full((k, n), np.nan)
        return found


def _least(matrices: FloatArray, steps: int) -> FloatArray:
    """Return sigma, all but the first one > 0, of about least sum that makes the matrices positive semidefinite."""
    k, n, _ = matrices.shape
    at = np.arange(n)
    signed = np.ones(n)
    signed[0] = 0.0
    scale = np.maximum(-np.linalg.eigvalsh(matrices)[:, 0], np.abs(matrices).max((1, 2)) * 2.0**-20) + 1e-290
    sigma = np.repeat(1.5 * scale[:, None], n, 1)
    mu = np.full(k, np.inf)
    moved = matrices.copy()
    for _ in range(steps):
        moved[:, at, at] = matrices[:, at, at] + sigma
        inverse = np.linalg.inv(moved)
        metric = inverse * inverse
        metric[:, at, at] += signed / sigma**2
        pull = inverse[:, at, at] + signed / sigma
        found = np.linalg.solve(metric, np.stack([np.ones((k, n)), pull], 2))
        down, out = found[:, :, 0], found[:, :, 1]  # a step is out - down / mu
        a, b, c = down.sum(1), out.sum(1), (pull * out).sum(1)
        root = np.sqrt(np.maximum(b * b - a * (c - _LENGTH**2), 0.0))
        mu = np.fmax(np.fmin(mu, a / (b + root)), _LEAST * scale)
        step = out - down / mu[:, None]
        length = np.sqrt(np.maximum(a / mu**2 - 2 * b / mu + c, 0.0))
        part = np.ones(k)
        for _ in range(_SHORTER):
            tried = sigma + (part / _INSIDE)[:, None] * step
            moved[:, at, at] = matrices[:, at, at] + tried
            outside = (~is_positive(moved) | (tried[:, 1:] <= 0).any(1)) & (length * part > 0.9)
            if not outside.any():
                break
            part = np.where(outside, 0.7 * part, part)
        sigma = np.where(np.isfinite(step).all(1, keepdims=True), sigma + part[:, None] * step, sigma)
    return sigma
