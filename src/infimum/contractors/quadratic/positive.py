"""Whether every symmetric matrix within ends is positive semidefinite, for one matrix of any size (PROOF).

With D a diagonal of powers of two, the matrices D Q D lie within M +- R, M and R symmetric, and Q is positive
semidefinite where D Q D is. Let A be M with its diagonal lowered by delta or so, and L *any* matrix of doubles; then

    D Q D = L L' + (A - L L') + (M - A) + (D Q D - M),

whose terms are positive semidefinite; at least -|A - L L'|; at least the least element d of a diagonal; at least -|R|.
So d >= |A - L L'| + |R| is enough, where the norm of a symmetric matrix is at most its largest sum of a row's absolute
values. L is what LAPACK or SuperLU give as the Cholesky factor of A: they are not believed. With P the product L L' as
NumPy or SciPy compute it, |A - L L'| <= |A - P| + gamma |L| |L'|, gamma for the most terms of an element (rounded.py).
Rows of Q that are exactly 0 are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from infimum.contractors.quadratic.rounded import TINY, apart, gamma, upward

if TYPE_CHECKING:
    from infimum.function.hessians import SparseHessian

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]

MOST_DENSE = 500  # variables; larger matrices are dense where a share of their elements is not 0
_SHARE = 0.1
_TRIES = 3


class Scaled(NamedTuple):
    """D Q D within middle +- radius, arrays or SciPy's sparse ones, for the rows `kept` of Q; D is 2^exponents."""

    kept: IndexArray
    exponents: IndexArray
    middle: Any
    radius: Any


def scaled(matrix: SparseHessian, n: int) -> Scaled | None:
    """Return a matrix scaled to a diagonal of about 1; None where an element of its diagonal may be negative."""
    kept = np.unique(
        np.concatenate([own[(matrix.low != 0) | (matrix.high != 0)] for own in (matrix.rows, matrix.columns)])
    )
    place = np.full(n, -1, np.int64)
    place[kept] = np.arange(kept.size)
    some = (place[matrix.rows] >= 0) & (place[matrix.columns] >= 0)
    rows, columns = place[matrix.rows[some]], place[matrix.columns[some]]
    low, high = matrix.low[some], matrix.high[some]
    diagonal = np.zeros(kept.size)
    on = rows == columns
    diagonal[rows[on]] = np.where(low[on] >= 0, high[on], 0.0)
    if not ((diagonal > 0) & np.isfinite(diagonal)).all() or not np.isfinite([low, high]).all():
        return None
    exponents = -np.rint(np.log2(diagonal) / 2).astype(np.int64)
    shift = exponents[rows] + exponents[columns]
    low, high = np.ldexp(low, shift), np.ldexp(high, shift)  # exact but for underflow, which `radius` makes up for
    middle = 0.5 * low + 0.5 * high
    radius = np.nextafter(np.maximum(apart(middle, low), apart(middle, high)), np.inf)
    if not (np.isfinite(middle).all() and np.isfinite(radius).all()):
        return None
    many = kept.size > MOST_DENSE and rows.size < _SHARE * kept.size**2
    make = _sparse if many else _dense
    return Scaled(kept, exponents, *(make(values, rows, columns, kept.size) for values in (middle, radius)))


def is_positive(matrix: Scaled) -> bool:
    """Return whether every matrix of the kind is certainly positive semidefinite."""
    n = matrix.kept.size
    if not n:
        return True
    spread = upward(_row_sums(matrix.radius), n)
    most = float(spread.max())
    delta = 4.0 * gamma(n + 1) * n + (1.0 + 2.0**-20) * most
    for _ in range(_TRIES):
        lowered = _lowered(matrix.middle, delta)
        factor = _factor(lowered)
        if factor is None:
            return False
        lost = float(upward(_lost(lowered, *factor) + spread, 2).max())
        diagonal = matrix.middle.diagonal() - lowered.diagonal()
        if float(np.nextafter(diagonal, -np.inf).min()) >= lost:
            return True
        delta = 2.0 * lost
    return False


# ---------------------------------------------------------------------------------------------- dense or sparse
def _dense(values: FloatArray, rows: IndexArray, columns: IndexArray, n: int) -> FloatArray:
    found = np.zeros((n, n))
    found[rows, columns] = found[columns, rows] = values
    return found


def _sparse(values: FloatArray, rows: IndexArray, columns: IndexArray, n: int) -> Any:
    from scipy.sparse import csc_array  # type: ignore[import-untyped, unused-ignore]

    off = rows != columns
    at = np.concatenate([rows, columns[off]]), np.concatenate([columns, rows[off]])
    return csc_array((np.concatenate([values, values[off]]), at), (n, n))


def _row_sums(matrix: Any) -> FloatArray:
    return np.asarray(abs(matrix).sum(axis=1)).ravel()


def _lowered(matrix: Any, delta: float) -> Any:
    found = matrix.copy()
    if isinstance(found, np.ndarray):
        found[np.diag_indices(len(found))] -= delta
    else:
        found.setdiag(found.diagonal() - delta)
    return found


def _factor(matrix: Any) -> tuple[Any, IndexArray | None] | None:
    """Return L and the order of rows in which L L' is about the matrix (None: their own); None without such."""
    with np.errstate(all="ignore"):
        if isinstance(matrix, np.ndarray):
            try:
                factor = np.linalg.cholesky(matrix)
            except np.linalg.LinAlgError:
                return None
            return (factor, None) if np.isfinite(factor).all() else None
        from scipy.sparse import csc_array  # type: ignore[import-untyped, unused-ignore]
        from scipy.sparse.linalg import splu  # type: ignore[import-untyped, unused-ignore]

        try:
            found = splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
        except RuntimeError:
            return None
        pivots = found.U.diagonal()
        if not (pivots > 0).all() or not np.array_equal(found.perm_r, found.perm_c):
            return None
        factor = csc_array(found.L)
        factor.data = factor.data * np.repeat(np.sqrt(pivots), np.diff(factor.indptr))
        return (factor, np.argsort(found.perm_c)) if np.isfinite(factor.data).all() else None


def _lost(matrix: Any, factor: Any, order: IndexArray | None) -> FloatArray:
    """Return at least the sums of the rows of |A - L L'|, in some order of the rows."""
    n = matrix.shape[0]
    given = matrix if order is None else matrix[order][:, order]
    magnitude = abs(factor)
    terms = n if order is None else int(np.diff(magnitude.tocsr().indptr).max())
    rounding = upward(magnitude @ upward(np.asarray(magnitude.sum(axis=0)).ravel(), n), n)
    found = upward(_row_sums(given - factor @ factor.T), n + 1) + gamma(terms) * rounding * 2.0 + n * n * TINY
    result: FloatArray = upward(found, 2)
    return result
