"""The covariance of fitted parameters, as SciPy's curve_fit estimates it: plain doubles, nothing is claimed (POLICY).

measurements m, free parameters n             covariance
J has full column rank, absolute_sigma        (J'J)^-1
J has full column rank, m > n                 (J'J)^-1 * rss / (m - n)
m <= n and not absolute_sigma; rank below n   inf, with a warning
A parameter that its bounds fix is none: its row and column are 0.
"""

from __future__ import annotations

import warnings

import numpy as np
import numpy.typing as npt

from infimum.interval.outward import FloatArray
from infimum.records.writing import counted


def covariance(
    jacobian: FloatArray, rss: float, free: npt.NDArray[np.bool_], absolute: bool, stacklevel: int | None
) -> FloatArray:
    """Return the covariance (n, n) of parameters from the Jacobian (m, n) of the residuals at the best of them.

    free         which parameters their bounds leave free
    stacklevel   of the warning, from the caller on; None for no warning
    """
    m, n = jacobian.shape[0], int(free.sum())
    found = np.zeros((free.size, free.size))
    inner = _inverse(jacobian[:, free]) if n else np.zeros((0, 0))
    if inner is not None and not absolute:
        inner = inner * (rss / max(m - n, 1)) if m > n or not n else None
    if inner is None:
        if stacklevel is not None:
            _warn(m, n, absolute, stacklevel + 2)
        inner = np.full((n, n), np.inf)
    found[np.ix_(free, free)] = inner
    return found


def _inverse(jacobian: FloatArray) -> FloatArray | None:
    """Return (J'J)^-1; None where J has no full rank in doubles, or is not finite."""
    if not np.isfinite(jacobian).all() or jacobian.shape[0] < jacobian.shape[1]:
        return None
    sizes = np.abs(jacobian).max(axis=0)
    if not sizes.all():
        return None
    try:
        _, values, rows = np.linalg.svd(jacobian / sizes, full_matrices=False)
    except np.linalg.LinAlgError:
        return None
    if values[-1] <= np.finfo(np.float64).eps * max(jacobian.shape) * values[0]:
        return None
    half = rows.T / values / sizes[:, None]
    return np.asarray(half @ half.T, np.float64)


def _warn(m: int, n: int, absolute: bool, stacklevel: int) -> None:
    from scipy.optimize import OptimizeWarning  # type: ignore[import-untyped, unused-ignore]

    why = "the derivatives of the residuals depend on each other there, or are not finite"
    if m < n or (m == n and not absolute):
        many = f"{counted(m, 'measurement')} and {counted(n, 'parameter')}"
        why = f"{many} leave no measurement to estimate errors from"
    warnings.warn(
        f"The covariance of the parameters could not be estimated: {why}. The enclosures hold all the same.",
        OptimizeWarning,
        stacklevel=stacklevel,
    )
