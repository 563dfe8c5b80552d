"""Staging by its definition, slowly: every child of a split region evaluated alone, in Python.

A child's value is the epilogue on the left folds: the terms that the split does not touch, reduced on the fixed tree;
then the touched ones in the order of their last split position, then of their number.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from infimum import core
from infimum.backends import cpu
from infimum.fractions import FRACTIONS, at_fraction
from infimum.staging.structure import Family, Structure
from reference import reduced

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]
Digits = tuple[int, ...]
NEUTRAL = {"add": 0.0, "mul": 1.0, "min": np.inf, "max": -np.inf}


def all_digits(variables: IndexArray, edges: FloatArray) -> Iterator[Digits]:
    """Every child."""
    return itertools.product(range(edges.shape[1] - 1), repeat=len(variables))


def index_of(digits: Digits, parts: int) -> int:
    """A child's number: the first digit counts least."""
    return sum(k * parts**i for i, k in enumerate(digits))


def child_box(
    lo: FloatArray, hi: FloatArray, variables: IndexArray, edges: FloatArray, digits: Digits
) -> tuple[FloatArray, FloatArray]:
    """The box of a child."""
    low, high = lo.copy(), hi.copy()
    rows = np.arange(len(variables))
    low[variables], high[variables] = edges[rows, digits], edges[rows, np.array(digits) + 1]
    return low, high


def bounds_of_children(
    made: Structure, lo: FloatArray, hi: FloatArray, variables: IndexArray, edges: FloatArray
) -> list[tuple[float, int, Digits]]:
    """(lower bound, index, digits) of every child where the function is defined somewhere, in order."""
    found = []
    for digits in all_digits(variables, edges):
        low, high = child_box(lo, hi, variables, edges, digits)
        bottom, top = value(made, low, high, (lo, hi), variables)
        if bottom <= top:
            found.append((bottom, index_of(digits, edges.shape[1] - 1), digits))
    return sorted(found)


def value(
    made: Structure, lo: FloatArray, hi: FloatArray, region: tuple[FloatArray, FloatArray], variables: IndexArray
) -> tuple[float, float]:
    """The enclosure of a child [lo, hi] of a region split in some variables."""
    z = np.array([_fold(family, lo, hi, variables) for family in made.families])
    ((bottom, top),) = cpu.run(made.epilogue, z[None, :, 0], z[None, :, 1])
    return float(bottom[0, 0]), float(top[0, 0])


def _fold(family: Family, lo: FloatArray, hi: FloatArray, variables: IndexArray) -> tuple[float, float]:
    position = {int(v): p for p, v in enumerate(variables)}
    last = np.array([max((position.get(int(v), -1) for v in row), default=-1) for row in family.reads])
    low, high = (np.concatenate([end[family.reads], own], 1) for end, own in ((lo, family.lo), (hi, family.hi)))
    ((a, b),) = cpu.run(family.program, low, high)
    a, b = a[:, 0], b[:, 0]
    rest = NEUTRAL[family.op]
    still = last < 0
    fold: Any = reduced(family.op, (np.where(still, a, rest)[None], np.where(still, b, rest)[None]))
    fold = (np.ravel(fold[0])[:1], np.ravel(fold[1])[:1])
    for term in sorted(np.flatnonzero(~still).tolist(), key=lambda t: (last[t], t)):
        fold = core.apply(family.op, fold, (a[term : term + 1], b[term : term + 1]))
    return float(fold[0][0]), float(fold[1][0])


def best_sample(function: Any, lo: FloatArray, hi: FloatArray, variables: IndexArray, edges: FloatArray) -> float:
    """The smallest value in plain doubles over all children's sample points."""
    found = np.inf
    for digits in all_digits(variables, edges):
        low, high = child_box(lo, hi, variables, edges, digits)
        values = np.asarray(function(np.stack([at_fraction(low, high, float(t)) for t in FRACTIONS])))
        found = min(found, float(np.where(np.isnan(values), np.inf, values).min()))
    return found
