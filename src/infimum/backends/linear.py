"""Small linear algebra where its arrays lie: core.linear's functions on the CPU or a GPU. Guarantee: the same bits."""

from __future__ import annotations

from infimum.backends.placement import is_on_device
from infimum.core import linear
from infimum.core.linear import BoolArray, Cpu, Ends, FloatArray, Quadratic, Runner


def is_positive(matrices: FloatArray, *, threads: int = 1) -> BoolArray:
    """Return which of the symmetric matrices (k, n, n) are certainly positive semidefinite."""
    return linear.is_positive(matrices, on=_runner(matrices, threads))


def box_minimum(
    matrices: FloatArray, slopes: FloatArray, lo: FloatArray, hi: FloatArray, *, rounds: int = 6, threads: int = 1
) -> FloatArray:
    """Return points t (k, n) of finite boxes at which slopes.t + t'(matrices)t/2 is about smallest: policy."""
    return linear.box_minimum(matrices, slopes, lo, hi, rounds=rounds, on=_runner(slopes, threads))


def least_squares_box(
    jacobians: FloatArray,
    residuals: FloatArray,
    *,
    weights: FloatArray | None = None,
    curvature: FloatArray | None = None,
    slopes: FloatArray | None = None,
    ends: Ends | None = None,
    rounds: int = 6,
    threads: int = 1,
) -> tuple[FloatArray, FloatArray]:
    """Return points t (k, n) at which a sum of squares is about smallest, and r + J t (k, m) there: policy."""
    return linear.least_squares_box(
        jacobians, residuals, weights=weights, curvature=curvature, slopes=slopes, ends=ends, rounds=rounds,
        on=_runner(residuals, threads),
    )  # fmt: skip


def quadratic(
    box: Ends,
    centres: FloatArray,
    value: FloatArray,
    slope: Ends,
    curvature: Ends,
    edge: BoolArray,
    limit: FloatArray,
    *,
    rounds: int = 3,
    threads: int = 1,
) -> Quadratic:
    """Return what second derivatives say of boxes (k, n), by core/linear/quadratic.h, which has the proof."""
    on = _runner(centres, threads)
    return linear.quadratic(box, centres, value, slope, curvature, edge, limit, rounds=rounds, on=on)


def _runner(array: FloatArray, threads: int) -> Runner:
    """Return what runs jobs where an array lies."""
    if not is_on_device(array):
        return Cpu(threads)
    from infimum.backends.cuda import linear as on_gpu  # which a search on the CPU does without

    return on_gpu.run
