"""Small verified linear algebra over many boxes at once: arrays of doubles in, arrays of doubles out.

Proved (core/linear has the arguments): `is_positive`, `quadratic`. Policy, in plain doubles: `box_minimum`,
`least_squares_box`.
A box is a lane of its own: it gets the same bits in any company, on every variant and for any number of threads. What
runs a job is a `Runner`: `Cpu` here, the GPU's is backends/cuda/linear.py.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

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
    """`infimum_linear_job` (core/linear/job.h)."""

    _fields_ = [
        *((name, ctypes.c_int64) for name in ("count", "n", "m", "rounds")),
        ("in_", ctypes.c_void_p * 12),
        ("marks", ctypes.c_void_p),
        ("out", ctypes.c_void_p * 6),
        ("flags", ctypes.c_void_p),
    ]


@dataclass(frozen=True)
class Job:
    """What core/linear/run.h does with `count` boxes of n variables.

    given    arrays (count, …) of doubles, None for one that is left out
    marks    (count, n) of truth values, or none
    sizes    how many doubles of a box are given back in each array
    flags    how many bytes of a box
    """

    routine: LinearRoutine
    shape: tuple[int, int]
    given: tuple[FloatArray | None, ...]
    sizes: tuple[int, ...] = ()
    flags: int = 0
    marks: BoolArray | None = None
    m: int = 0
    rounds: int = 0


class Found(NamedTuple):
    """What a job gives back: arrays (count, size) of doubles, and bytes (count, flags)."""

    arrays: list[FloatArray]
    flags: npt.NDArray[np.uint8]


Runner = Callable[[Job], Found]


@dataclass(frozen=True)
class Cpu:
    """The CPU as a runner."""

    threads: int = 1
    variant: str | None = None
    core: Core = _default

    def __call__(self, job: Job) -> Found:
        """Run a job."""
        count, n = job.shape
        given = [None if array is None else np.ascontiguousarray(array, np.float64) for array in job.given]
        found = Found([np.empty((count, size)) for size in job.sizes], np.empty((count, job.flags), np.uint8))
        request = _Job(count, n, job.m, job.rounds)
        request.in_[: len(given)] = [None if array is None else address(array) for array in given]
        request.out[: len(found.arrays)] = [address(array) for array in found.arrays]
        if job.marks is not None:
            marks = np.ascontiguousarray(job.marks, np.uint8)
            request.marks = address(marks)
        if job.flags:
            request.flags = address(found.flags)
        status = self.core.run_linear(int(job.routine), ctypes.byref(request), self.variant, self.threads)
        if status == Status.NO_MEMORY:
            raise MemoryError(f"there is not enough memory for matrices of {n} variables")
        if status:
            raise RuntimeError(f"linear algebra failed in the core: {FAILURES[Status(status)]}")
        return found


ON_CPU = Cpu()


def is_positive(matrices: FloatArray, *, on: Runner = ON_CPU) -> BoolArray:
    """Return which of the symmetric matrices (k, n, n) are certainly positive semidefinite.

    Guarantee: True only for a matrix of finite doubles that equals its transpose and has no negative eigenvalue.
    """
    found = on(Job(LinearRoutine.IS_POSITIVE, _shape(matrices), (matrices,), flags=1))
    return found.flags[:, 0].astype(bool)


def box_minimum(
    matrices: FloatArray,
    slopes: FloatArray,
    lo: FloatArray,
    hi: FloatArray,
    *,
    rounds: int = 6,
    on: Runner = ON_CPU,
) -> FloatArray:
    """Return points t (k, n) of finite boxes at which slopes.t + t'(matrices)t/2 is about smallest: policy.

    rounds: each two sweeps over the variables and a Newton step.
    """
    shape = _shape(slopes)
    job = Job(LinearRoutine.BOX_MINIMUM, shape, (matrices, slopes, lo, hi), sizes=shape[1:], rounds=rounds)
    return on(job).arrays[0]


def least_squares_box(
    jacobians: FloatArray,
    residuals: FloatArray,
    *,
    weights: FloatArray | None = None,
    curvature: FloatArray | None = None,
    slopes: FloatArray | None = None,
    ends: Ends | None = None,
    rounds: int = 6,
    on: Runner = ON_CPU,
) -> tuple[FloatArray, FloatArray]:
    """Return points t (k, n) at which a sum of squares is about smallest, and r + J t (k, m) there: policy.

    The sum is |r + J t|^2/2 + slopes.t + t'(curvature)t/2 for J (k, m, n) and r (k, m). With weights w (k, m) its
    quadratic part is t'(J'diag(w)J + curvature)t/2. t lies between the ends, (k, n) each; in [-1, 1] if there are none.
    """
    count, m, n = jacobians.shape
    lo, hi = (None, None) if ends is None else ends
    given = jacobians, residuals, weights, curvature, slopes, lo, hi
    job = Job(LinearRoutine.LEAST_SQUARES, (count, n), given, sizes=(n, m), m=m, rounds=rounds)
    t, rest = on(job).arrays
    return t, rest


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
    on: Runner = ON_CPU,
) -> Quadratic:
    """Return what second derivatives say of boxes (k, n), by core/linear/quadratic.h, which has the proof.

    f must have continuous second derivatives on a convex neighbourhood of each box: `curvature` (k, n, n) encloses them
    on it, `slope` (k, n) the gradient at the centres (k, n), and f is at least `value` (k,) there. `edge` (k, n) says
    in which components a box may reach the edge of the domain. Of boxes with numbers that are not finite nothing is
    said.
    """
    count, n = _shape(centres)
    job = Job(
        LinearRoutine.QUADRATIC, (count, n), (*box, centres, value, *slope, *curvature, limit),
        sizes=(1, n, n, n), flags=n + 1, marks=edge, rounds=rounds,
    )  # fmt: skip
    (lower, low, high, points), flags = on(job)
    facts = flags[:, 0]
    convex, none = ((facts & int(fact)).astype(bool) for fact in QuadraticFact)
    return Quadratic(lower[:, 0], low, high, points, convex, none, flags[:, 1:].astype(bool))


def _shape(array: FloatArray) -> tuple[int, int]:
    """Return how many boxes there are, and how many variables."""
    return len(array), int(array.shape[1])
