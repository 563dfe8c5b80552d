"""Sums of doubles with their errors, and the least of a multiple.

A sum of p doubles, added in any order, is off by at most p 2^-53 / (1 - p 2^-53) <= p 2^-52 times the sum of their
sizes; where it underflows it is exact.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from infimum.interval import Interval

FloatArray = npt.NDArray[np.float64]
Ends = tuple[FloatArray, FloatArray]

U = 2.0**-52
TINY = 2.0**-1000


def total(parts: list[tuple[FloatArray, FloatArray]]) -> tuple[FloatArray, FloatArray]:
    """Return the sum of what was asked for, and the radius around it."""
    if len(parts) == 1:
        return parts[0]
    count = len(parts)
    s = np.sum([own for own, _ in parts], axis=0) + 0.0
    size = np.sum([np.abs(own) for own, _ in parts], axis=0)
    return s, over(np.sum([r for _, r in parts], axis=0) + count * U * size, count)


def over(v: FloatArray, count: int) -> FloatArray:
    """Return at least what a sum of so many numbers from 0 on, added in any order and scaled, stands for."""
    found: FloatArray = v * (1.0 + (count + 8) * U) + np.where(v > 0, TINY, 0.0)
    return found


def down(v: FloatArray) -> FloatArray:
    """Return at most what v, rounded once, stands for."""
    found: FloatArray = np.nextafter(v, -np.inf)
    return found


def sum_down(b: FloatArray) -> FloatArray:
    """Return at most the sums (k,) of numbers (k, count)."""
    count = b.shape[1]
    with np.errstate(all="ignore"):
        total = b.sum(1)
        found = total - over(2 * count * U * np.abs(b).sum(1), count)
    return np.where(np.isfinite(found), down(found), -np.inf)


def least_multiple(s: FloatArray, ends: Ends) -> FloatArray:
    """Return at most the least of s v.

    Nothing is said where v has no value: f need not read it. If f does not, s is 0, and what is left out is 0 too.
    """
    nowhere = ends[0] > ends[1]
    known = (ends[0] <= ends[1]) & (ends[0] < np.inf) & (ends[1] > -np.inf)
    v = Interval(np.where(known, ends[0], -np.inf), np.where(known, ends[1], np.inf))
    found: FloatArray = np.where(s == 0, 0.0, np.where(nowhere, -np.inf, (Interval(s) * v).lo))
    return found
