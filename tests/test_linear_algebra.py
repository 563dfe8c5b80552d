"""Small verified linear algebra: what is said to be positive is, bounds hold, and each rounding matters."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import infimum.core
from infimum.core import linear

FloatArray = npt.NDArray[np.float64]
VARIANTS = infimum.core.variants()


# --- positive semidefinite -------------------------------------------------------------------------------------------


def is_semidefinite(matrix: Any) -> bool:
    """Decide it exactly, by elimination in fractions: a pivot 0 needs a row of zeros."""
    rows = [[Fraction(float(a)) for a in row] for row in matrix.tolist()]
    n = len(rows)
    for j in range(n):
        pivot = rows[j][j]
        if pivot < 0 or (pivot == 0 and any(rows[j][k] for k in range(j, n))):
            return False
        if pivot == 0:
            continue
        for i in range(j + 1, n):
            if rows[i][j]:
                factor = rows[i][j] / pivot
                for k in range(i, n):
                    rows[i][k] -= factor * rows[j][k]
                    rows[k][i] = rows[i][k]
    return True


def symmetric(matrices: FloatArray) -> FloatArray:
    """The lower triangles, mirrored."""
    return np.asarray(np.tril(matrices) + np.tril(matrices, -1).swapaxes(-1, -2))


def near_singular(draw: np.random.Generator, count: int, n: int) -> Any:
    """Gram matrices in small integers, shifted to either side of being singular by a few units of the last place."""
    columns = draw.integers(-9, 10, (count, n, max(1, n - 1))).astype(float)
    found = columns @ columns.swapaxes(1, 2)
    at = np.arange(n)
    shift = draw.integers(-4, 2, (count, n)) * (draw.random((count, n)) < 0.4)
    found[:, at, at] += shift * np.spacing(found[:, at, at])
    return found


def graded(matrices: FloatArray, draw: np.random.Generator) -> FloatArray:
    """The same with rows and columns scaled by anything from 1e-75 to 1e75, and so elements from 1e-150 to 1e150."""
    scale = 10.0 ** draw.uniform(-75, 75, matrices.shape[:2])
    return symmetric(matrices * scale[:, :, None] * scale[:, None, :])


def monomials(degree: int, points: int = 30) -> FloatArray:
    x = np.linspace(0, 10, points)
    powers = np.vander(x, degree + 1, increasing=True)
    return symmetric((powers.T @ powers)[None])


def candidates(seed: int) -> list[FloatArray]:
    draw = np.random.default_rng(seed)
    found = []
    for n in (1, 2, 3, 5, 8):
        normal = draw.normal(size=(12, n, n))
        found += [symmetric(normal), symmetric(normal @ normal.swapaxes(1, 2)), near_singular(draw, 24, n)]
        found += [graded(near_singular(draw, 12, n), draw), graded(found[1], draw)]
    return found


def false_verdicts(seeds: range, **how: Any) -> list[str]:
    """Matrices that are said to be positive semidefinite and are not."""
    wrong = []
    for seed in seeds:
        for matrices in candidates(seed):
            said = linear.is_positive(matrices, **how)
            wrong += [str(matrices[i].tolist()) for i in np.flatnonzero(said) if not is_semidefinite(matrices[i])]
    return wrong


def test_what_is_said_to_be_positive_is() -> None:
    assert not false_verdicts(range(6))


def test_most_of_what_is_positive_is_said_to_be() -> None:
    for n in (1, 4, 20, 100):
        factor = np.random.default_rng(n).normal(size=(5, n, n + 2))
        assert linear.is_positive(symmetric(factor @ factor.swapaxes(1, 2))).all()
    assert linear.is_positive(np.eye(3)[None] * 1e-320).all()
    assert linear.is_positive(monomials(8)).all()


def test_scale_does_not_matter() -> None:
    draw = np.random.default_rng(5)
    factor = draw.normal(size=(40, 6, 9))
    assert linear.is_positive(graded(symmetric(factor @ factor.swapaxes(1, 2)), draw)).all()


def test_what_is_no_matrix_of_numbers_is_not_positive() -> None:
    for bad in (np.nan, np.inf, -np.inf):
        for at in ((0, 0), (2, 1), (1, 2), (2, 2)):
            matrix = 4 * np.eye(3)
            matrix[at] = bad
            assert not linear.is_positive(matrix[None]).any()
    assert not linear.is_positive(np.array([[[1.0, 1e-3], [0.0, 1.0]]])).any()
    assert not linear.is_positive(np.zeros((1, 2, 2))).any()


# --- least squares and minima in a box -------------------------------------------------------------------------------


def test_least_squares_within_a_box_are_about_least() -> None:
    optimize = pytest.importorskip("scipy.optimize")
    draw = np.random.default_rng(1)
    for n, m in ((1, 1), (3, 5), (5, 15), (8, 30)):
        jacobian, residual = draw.normal(size=(20, m, n)), 3 * draw.normal(size=(20, m))
        t = linear.least_squares_box(jacobian, residual, 8)
        assert (np.abs(t) <= 1).all()
        for i in range(20):
            best = optimize.lsq_linear(jacobian[i], -residual[i], (-1, 1), method="bvls").cost
            assert 0.5 * np.sum((residual[i] + jacobian[i] @ t[i]) ** 2) <= best * (1 + 1e-9) + 1e-12


def test_a_minimum_stays_in_its_box_whatever_is_given() -> None:
    draw = np.random.default_rng(2)
    matrices, slopes = draw.normal(size=(50, 4, 4)), draw.normal(size=(50, 4))
    matrices[0], slopes[1], matrices[2, 1, 1] = np.nan, np.inf, -np.inf
    lo, hi = -draw.random((50, 4)), draw.random((50, 4))
    lo[3], hi[3] = 0.5, 0.5
    t = linear.box_minimum(matrices, slopes, lo, hi)
    fine = np.arange(50) > 2
    assert np.isfinite(t).all() and ((lo <= t) & (t <= hi))[fine].all()


# --- the same everywhere ---------------------------------------------------------------------------------------------


def bits(array: npt.NDArray[Any]) -> bytes:
    return np.ascontiguousarray(array).tobytes()


@pytest.mark.parametrize("count", [1, 7, 8, 29])
def test_every_variant_and_number_of_threads_gives_the_same_bits(count: int) -> None:
    draw = np.random.default_rng(count)
    for n in (1, 3, 9):
        matrices = np.concatenate([near_singular(draw, count, n), graded(near_singular(draw, count, n), draw)])[:count]
        jacobian, residual = draw.normal(size=(count, n + 2, n)), draw.normal(size=(count, n + 2))
        ends = -np.ones((count, n)), np.ones((count, n))
        found = {
            (
                bits(linear.is_positive(matrices, **how)),
                bits(linear.least_squares_box(jacobian, residual, **how)),
                bits(linear.box_minimum(matrices, residual[:, :n], *ends, **how)),
            )
            for how in [{"variant": v} for v in VARIANTS] + [{"threads": 3}]
        }
        assert len(found) == 1
        alone = [linear.least_squares_box(jacobian[i : i + 1], residual[i : i + 1]) for i in range(count)]
        assert bits(np.concatenate(alone)) in next(iter(found))
