"""Boxes that wait, in the core's memory (core/pool.cpp): the best are selected, what stays is not moved."""

from __future__ import annotations

import ctypes
import weakref

import numpy as np
import numpy.typing as npt

from infimum.core import _core as _default
from infimum.core.codes import Status
from infimum.core.tape import FAILURES, address

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Arrays = tuple[FloatArray, FloatArray, FloatArray]

_LIBRARY = _default.library
_LIBRARY.infimum_pool_make.restype = ctypes.c_void_p
_LIBRARY.infimum_pool_lowest.restype = ctypes.c_double
for _name in ("infimum_pool_count", "infimum_pool_count_up_to"):
    getattr(_LIBRARY, _name).restype = ctypes.c_int64


class Pool:
    """Boxes of n variables, arrays (k, n), (k, n) and (k,) of doubles, in contiguous rows."""

    def __init__(self, n: int, threads: int = 1) -> None:
        self.n = n
        self._threads = threads
        made = _LIBRARY.infimum_pool_make(ctypes.c_int64(n))
        if not made:
            raise MemoryError("there is not enough memory for a pool of boxes")
        self._made = ctypes.c_void_p(made)
        weakref.finalize(self, _LIBRARY.infimum_pool_free, self._made)

    def __len__(self) -> int:
        return int(_LIBRARY.infimum_pool_count(self._made))

    def lowest(self) -> float:
        """Return the smallest lower bound, +inf where there is no box."""
        return float(_LIBRARY.infimum_pool_lowest(self._made))

    def count_up_to(self, upper: float) -> int:
        """Return how many bounds are at most `upper`."""
        return int(_LIBRARY.infimum_pool_count_up_to(self._made, ctypes.c_double(upper)))

    def drop_above(self, upper: float) -> None:
        """Forget boxes whose lower bound is above `upper`."""
        _LIBRARY.infimum_pool_drop_above(self._made, ctypes.c_double(upper))

    def add(self, lo: FloatArray, hi: FloatArray, lower: FloatArray) -> None:
        """Keep these boxes as well. A bound that is no number says nothing."""
        arrays = [np.ascontiguousarray(array, np.float64) for array in (lo, hi, lower)]
        _check(_LIBRARY.infimum_pool_add(self._made, _count(lo), *_pointers(arrays), self._threads))

    def add_halves(self, lo: FloatArray, hi: FloatArray, lower: FloatArray, sides: IntArray, at: FloatArray) -> int:
        """Keep boxes cut in two along a side each, where the number `at` is inside it; return how many were cut.

        First halves and boxes that are whole come first, in the order of the boxes, then the second halves.
        """
        arrays = [np.ascontiguousarray(array, np.float64) for array in (lo, hi, lower)]
        cuts = ctypes.c_int64()
        own = [np.ascontiguousarray(sides, np.int64), np.ascontiguousarray(at, np.float64)]
        pointers = (*_pointers(arrays), *(ctypes.c_void_p(address(array)) for array in own))
        status = _LIBRARY.infimum_pool_add_halves(
            self._made, _count(lo), *pointers, ctypes.byref(cuts), self._threads
        )
        _check(status)
        return cuts.value

    def take(self, most: int) -> Arrays:
        """Remove and return up to `most` boxes, those with the smallest lower bounds; of equal ones, the oldest."""
        found = _room(min(most, len(self)), self.n)
        taken = ctypes.c_int64()
        status = _LIBRARY.infimum_pool_take(
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
        status = _LIBRARY.infimum_pool_read(
            self._made, ctypes.c_double(upper), ctypes.byref(where), ctypes.c_int64(most), *_pointers(found),
            ctypes.byref(count),
        )  # fmt: skip
        _check(status)
        lo, hi, lower = (array[: count.value] for array in found)
        return (lo, hi, lower), where.value


def _room(count: int, n: int) -> Arrays:
    return np.empty((count, n)), np.empty((count, n)), np.empty(count)


def _count(lo: FloatArray) -> ctypes.c_int64:
    return ctypes.c_int64(len(lo))


def _pointers(arrays: tuple[FloatArray, ...] | list[FloatArray]) -> list[ctypes.c_void_p]:
    return [ctypes.c_void_p(address(array)) for array in arrays]


def _check(status: int) -> None:
    if status == Status.NO_MEMORY:
        raise MemoryError("there is not enough memory for more boxes")
    if status:
        raise RuntimeError(f"a pool failed in the core: {FAILURES[Status(status)]}")
