"""Small verified linear algebra over many boxes at once: arrays of doubles in, arrays of doubles out.

Proved (core/linear has the arguments): `is_positive`, `quadratic`. Policy, in plain doubles: `box_minimum`,
`least_squares_box`.
A box is a lane of its own: it gets the same bits in any company, on every variant and for any number of threads.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from infimum.core import Core
from infimum.core import _core as _default
from infimum.core.codes import LinearLimit, LinearRoutine, QuadraticFact, Status
from infimum.core.tape import FAILURES, address

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Ends = tuple[FloatArray, FloatArray]

MOST = int(LinearLimit.MOST)  # variables; larger matrices are not for batches


class _Job(ctypes.Structure):
    """`infimum_linear_job` (core/abi.h)."""

    _fields_ = [
        *((name, ctypes.c_int64) for name in ("count", "n", "m", "rounds")),
        ("in_", ctypes.c_void_p * 12),
        ("marks", ctypes.c_void_p),
        ("out", ctypes.c_void_p * 6),
        ("flags", ctypes.c_void_p),
    ]


def is_positive(
    matrices: FloatArray, *, threads: int = 1, variant: str | None = None, core: Core = _default
) -> BoolArray:
    """Return which of the symmetric matrices (k, n, n) are certainly positive semidefinite.

    Guarantee: True only for a matrix of finite doubles that equals its transpose and has no negative eigenvalue.
    """
    count, n, _ = matrices.shape
    flags = np.zeros(count, np.uint8)
    _run(core, LinearRoutine.IS_POSITIVE, (count, n), [matrices], [], flags=flags, threads=threads, variant=variant)
    return flags.astype(bool)


def box_minimum(
    matrices: FloatArray,
    slopes: FloatArray,
    lo: FloatArray,
    hi: FloatArray,
    *,
    rounds: int = 6,
    threads: int = 1,
    variant: str | None = None,
    core: Core = _default,
) -> FloatArray:
    """Return points t (k, n) of finite boxes at which slopes.t + t'(matrices)t/2 is about smallest: policy."""
    found = np.zeros(slopes.shape)
    arrays = [matrices, slopes, lo, hi]
    _run(
        core, LinearRoutine.BOX_MINIMUM, slopes.shape, arrays, [found], rounds=rounds, threads=threads, variant=variant
    )
    return found


def least_squares_box(
    jacobians: FloatArray,
    residuals: FloatArray,
    sweeps: int = 6,
    *,
    threads: int = 1,
    variant: str | None = None,
    core: Core = _default,
) -> FloatArray:
    """Return points t (k, n) of [-1, 1]^n at which |r + J t| is about smallest, for J (k, m, n) and r (k, m): policy.

    sweeps: rounds of two sweeps over the variables and a Newton step, on the Gram matrix.
    """
    count, m, n = jacobians.shape
    found = np.zeros((count, n))
    arrays = [jacobians, residuals]
    _run(
        core, LinearRoutine.LEAST_SQUARES, (count, n), arrays, [found],
        m=m, rounds=sweeps, threads=threads, variant=variant,
    )  # fmt: skip
    return found


class Quadratic(NamedTuple):
    """What value, slope and curvature say of boxes.

    lower         (k,) f is nowhere below it in the box; -inf where nothing is said
    lo, hi        (k, n) the points of the box with f(x) <= limit; empty (lo > hi) where there is none
    points        (k, n) points of the box with a small value: policy
    convex        (k,) f is certainly convex on the box
    no_minimiser  (k,) no minimiser over the domain lies in the box
    concave       (k, n) f is certainly strictly concave along the variable, all over the box
    """

    lower: FloatArray
    lo: FloatArray
    hi: FloatArray
    points: FloatArray
    convex: BoolArray
    no_minimiser: BoolArray
    concave: BoolArray


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
    variant: str | None = None,
    core: Core = _default,
) -> Quadratic:
    """Return what second derivatives say of boxes (k, n), by core/linear/quadratic.h, which has the proof.

    f must have continuous second derivatives on a convex neighbourhood of each box: `curvature` (k, n, n) encloses them
    on it, `slope` (k, n) the gradient at the centres (k, n), and f is at least `value` (k,) there. `edge` (k, n) says
    in which components a box may reach the edge of the domain. Of boxes with numbers that are not finite nothing is
    said.
    """
    count, n = centres.shape
    arrays = [*box, centres, value, *slope, *curvature, limit]
    marks = np.ascontiguousarray(edge, np.uint8)
    flags = np.zeros((count, n + 1), np.uint8)
    lower, low, high, points = np.empty(count), *(np.empty((count, n)) for _ in range(3))
    _run(
        core, LinearRoutine.QUADRATIC, (count, n), arrays, [lower, low, high, points],
        rounds=rounds, marks=marks, flags=flags, threads=threads, variant=variant,
    )  # fmt: skip
    facts = flags[:, 0]
    convex, none = ((facts & int(fact)).astype(bool) for fact in QuadraticFact)
    return Quadratic(lower, low, high, points, convex, none, flags[:, 1:].astype(bool))


def _run(
    core: Core,
    routine: LinearRoutine,
    shape: tuple[int, ...],
    arrays: Sequence[FloatArray],
    out: Sequence[FloatArray],
    *,
    m: int = 0,
    rounds: int = 0,
    marks: npt.NDArray[Any] | None = None,
    flags: npt.NDArray[np.uint8] | None = None,
    threads: int = 1,
    variant: str | None = None,
) -> None:
    count, n = shape
    given = [np.ascontiguousarray(array, np.float64) for array in arrays]
    job = _Job(count, n, m, rounds)
    job.in_[: len(given)] = [address(array) for array in given]
    job.out[: len(out)] = [address(array) for array in out]
    if marks is not None:
        job.marks = address(marks)
    if flags is not None:
        job.flags = address(flags)
    status = core.run_linear(int(routine), ctypes.byref(job), variant, threads)
    if status == Status.NO_MEMORY:
        raise MemoryError(f"there is not enough memory for matrices of {n} variables")
    if status:
        raise RuntimeError(f"linear algebra failed in the core: {FAILURES[Status(status)]}")
