"""Boxes that wait, in the core's memory (core/pool.cpp): the best are selected, what stays is not moved."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from infimum.core import Core
from infimum.core import _core as _default
from infimum.core.codes import Status
from infimum.core.tape import FAILURES, address
from infimum.errors import ShapeMismatch

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Arrays = tuple[FloatArray, FloatArray, FloatArray]


def _declared(library: ctypes.CDLL) -> ctypes.CDLL:
    """Return the library; it is told what the pool's calls return."""
    library.infimum_pool_make.restype = ctypes.c_void_p
    library.infimum_pool_lowest.restype = ctypes.c_double
    for name in ("infimum_pool_count", "infimum_pool_count_up_to"):
        getattr(library, name).restype = ctypes.c_int64
    return library


class Pool:
    """Boxes of n variables, arrays (k, n), (k, n) and (k,) of doubles, in contiguous rows."""

    def __init__(self, n: int, threads: int = 1, *, core: Core = _default) -> None:
        if n < 1:
            raise ValueError(f"boxes have a variable at least, got n = {n}")
        self.n = n
        self._threads = threads
        self._library = _declared(core.library)
        made = self._library.infimum_pool_make(ctypes.c_int64(n))
        if not made:
            raise MemoryError("there is not enough memory for a pool of boxes")
        self._made = ctypes.c_void_p(made)
        # When Python ends, other threads may still use the pool.
        weakref.finalize(self, self._library.infimum_pool_free, self._made).atexit = False

    def __len__(self) -> int:
        return int(self._library.infimum_pool_count(self._made))

    def lowest(self) -> float:
        """Return the smallest lower bound, +inf where there is no box."""
        return float(self._library.infimum_pool_lowest(self._made))

    def count_up_to(self, upper: float) -> int:
        """Return how many bounds are at most `upper`."""
        return int(self._library.infimum_pool_count_up_to(self._made, ctypes.c_double(upper)))

    def drop_above(self, upper: float) -> None:
        """Forget boxes whose lower bound is above `upper`."""
        self._library.infimum_pool_drop_above(self._made, ctypes.c_double(upper))

    def add(self, lo: FloatArray, hi: FloatArray, lower: FloatArray) -> None:
        """Keep these boxes as well. A bound that is no number says nothing."""
        arrays = self._read(lo, hi, lower)
        _check(self._library.infimum_pool_add(self._made, _count(arrays[0]), *_pointers(arrays), self._threads))

    def add_halves(self, lo: FloatArray, hi: FloatArray, lower: FloatArray, sides: IntArray, at: FloatArray) -> int:
        """Keep boxes cut in two along a side each, where the number `at` is inside it; return how many were cut.

        First halves and boxes that are whole come first, in the order of the boxes, then the second halves.
        """
        arrays: list[npt.NDArray[Any]] = self._read(lo, hi, lower)
        arrays += [np.ascontiguousarray(sides, np.int64), np.ascontiguousarray(at, np.float64)]
        cuts, shape = ctypes.c_int64(), arrays[2].shape
        if arrays[3].shape != shape or arrays[4].shape != shape:
            raise ShapeMismatch(f"{shape[0]} boxes have a cut each, got shapes {arrays[3].shape} and {arrays[4].shape}")
        status = self._library.infimum_pool_add_halves(
            self._made, _count(arrays[0]), *_pointers(arrays), ctypes.byref(cuts), self._threads
        )
        if status == Status.BAD_SIZES:
            wrong = arrays[3][(arrays[3] < 0) | (arrays[3] >= self.n)][0]
            raise ValueError(f"a box is cut along a side from 0 to {self.n - 1}, got {wrong}")
        _check(status)
        return cuts.value

    def take(self, most: int) -> Arrays:
        """Remove and return up to `most` boxes, those with the smallest lower bounds; of equal ones, the oldest."""
        found = _room(max(0, min(most, len(self))), self.n)
        taken = ctypes.c_int64()
        status = self._library.infimum_pool_take(
            self._made, ctypes.c_int64(len(found[2])), *_pointers(found), ctypes.byref(taken), self._threads
        )
        _check(status)
        return found

    def read(self, upper: float, at: int, most: int) -> tuple[Arrays, int]:
        """Return up to `most` boxes with bounds up to `upper`, the oldest first, of the at-th and later ones.

        Also return where to go on.
        """
        found = _room(most, self.n)
        where, count = ctypes.c_int64(at), ctypes.c_int64()
        status = self._library.infimum_pool_read(
            self._made, ctypes.c_double(upper), ctypes.byref(where), ctypes.c_int64(most), *_pointers(found),
            ctypes.byref(count),
        )  # fmt: skip
        _check(status)
        lo, hi, lower = (array[: count.value] for array in found)
        return (lo, hi, lower), where.value

    def _read(self, lo: FloatArray, hi: FloatArray, lower: FloatArray) -> list[FloatArray]:
        """Return what the core copies: contiguous arrays. It trusts their shapes."""
        found = [np.ascontiguousarray(array, np.float64) for array in (lo, hi, lower)]
        shape = (len(found[2]), self.n)
        if found[2].ndim != 1 or found[0].shape != shape or found[1].shape != shape:
            shapes = ", ".join(str(array.shape) for array in found)
            raise ShapeMismatch(f"a pool of {self.n} variables takes (k, {self.n}), (k, {self.n}), (k,), got {shapes}")
        return found


def _room(count: int, n: int) -> Arrays:
    return np.empty((count, n)), np.empty((count, n)), np.empty(count)


def _count(lo: FloatArray) -> ctypes.c_int64:
    return ctypes.c_int64(len(lo))


def _pointers(arrays: Sequence[npt.NDArray[Any]]) -> list[ctypes.c_void_p]:
    return [ctypes.c_void_p(address(array)) for array in arrays]


def _check(status: int) -> None:
    if status == Status.NO_MEMORY:
        raise MemoryError("there is not enough memory for more boxes")
    if status:
        raise RuntimeError(f"a pool failed in the core: {FAILURES[Status(status)]}")
