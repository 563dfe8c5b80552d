"""Where to look for good points (POLICY): the paper's diagonal points of the children, chosen in plain doubles.

Each child has ten points on its diagonal, at the fractions 1/11 … 10/11 of every variable. Among the 10 * 4^10 points
of a region the best is looked for digit by digit from the tables of touched terms, for all fractions at once; whatever
is found is only a proposal, whose value is then proved by one interval evaluation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from infimum.backends import cpu
from infimum.search.partition import at_fraction
from infimum.search.structure import Family, Structure
from infimum.search.tables import POINTWISE, Split, touched

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]

FRACTIONS = np.arange(1, 11) / 11.0
_ROUNDS = 12


@dataclass(frozen=True, eq=False)
class _Points:
    """A family at the sample points: the untouched part per fraction, and a table per touched term and fraction."""

    op: str
    hoisted: FloatArray  # (fractions,)
    positions: tuple[tuple[int, ...], ...]
    tables: tuple[FloatArray, ...]  # (fractions, parts, …)


def proposal(structure: Structure, split: Split, lo: FloatArray, hi: FloatArray, start: IndexArray) -> FloatArray:
    """A sample point of the region, the best that digit-wise descent finds."""
    families = [_points(family, split, lo, hi) for family in structure.families]
    digits = np.repeat(start[None], FRACTIONS.size, 0)
    best = np.full(FRACTIONS.size, np.inf)
    for _ in range(_ROUNDS):
        digits, values = _better(structure, families, split, digits)
        if not (values < best).any():
            break
        best = values
    winner = int(best.argmin())
    return _point(split, lo, hi, digits[winner], FRACTIONS[winner])


def _better(
    structure: Structure, families: list[_Points], split: Split, digits: IndexArray
) -> tuple[IndexArray, FloatArray]:
    """Digits at least as good, and their values: every digit at its own best, or the best change of one digit."""
    f, count, parts = FRACTIONS.size, split.count, split.parts
    options = np.repeat(digits[:, None], count * parts, 1).reshape(f, count, parts, count)
    for position in range(count):
        options[:, position, :, position] = np.arange(parts)
    single = options.reshape(f, count * parts, count)
    values = _values(structure, families, single)
    one = values.argmin(1)
    rows = np.arange(f)
    together = values.reshape(f, count, parts).argmin(2)
    joint = _values(structure, families, together[:, None])[:, 0]
    take = joint <= values[rows, one]
    return np.where(take[:, None], together, single[rows, one]), np.minimum(joint, values[rows, one])


def _point(split: Split, lo: FloatArray, hi: FloatArray, digits: IndexArray, fraction: float) -> FloatArray:
    x = at_fraction(lo, hi, fraction)
    rows = np.arange(split.count)
    x[split.variables] = at_fraction(split.edges[rows, digits], split.edges[rows, digits + 1], fraction)
    return x


def _points(family: Family, split: Split, lo: FloatArray, hi: FloatArray) -> _Points:
    terms, at = touched(family, split, lo.size)
    keep = np.setdiff1d(np.arange(family.count), terms, assume_unique=True)
    x = at_fraction(lo, hi, FRACTIONS[:, None])  # (fractions, n)
    pointwise = POINTWISE[family.op]
    f = FRACTIONS.size
    if keep.size:
        rows = x[:, family.reads[keep]].reshape(f * keep.size, -1)
        values = family.values(np.tile(keep, f), rows).reshape(f, keep.size)
        hoisted = pointwise.reduce(values, 1)
    else:
        hoisted = np.full(f, 0.0 if family.op == "add" else 1.0 if family.op == "mul" else np.nan)
    tables, positions = [], []
    for number, row in zip(terms.tolist(), at, strict=True):
        where = tuple(sorted({int(p) for p in row if p >= 0}))
        grid = np.indices((split.parts,) * len(where)).reshape(len(where), -1)
        size = grid.shape[1]
        rows = np.repeat(x[:, None, family.reads[number]], size, 1)
        for column, p in enumerate(row.tolist()):
            if p >= 0:
                digit = grid[where.index(p)]
                rows[:, :, column] = at_fraction(split.edges[p, digit], split.edges[p, digit + 1], FRACTIONS[:, None])
        values = family.values(np.full(f * size, number), rows.reshape(f * size, -1))
        tables.append(values.reshape(f, *(split.parts,) * len(where)))
        positions.append(where)
    return _Points(family.op, hoisted, tuple(positions), tuple(tables))


def _values(structure: Structure, families: list[_Points], digits: IndexArray) -> FloatArray:
    """The function at the points with these digits (fractions, options, P), in plain doubles; inf where undefined."""
    f, options = digits.shape[:2]
    z = np.empty((f, options, len(families)))
    rows = np.arange(f)[:, None]
    for i, family in enumerate(families):
        pointwise = POINTWISE[family.op]
        fold = np.repeat(family.hoisted[:, None], options, 1)
        for table, where in zip(family.tables, family.positions, strict=True):
            value = table[(rows, *(digits[:, :, p] for p in where))]
            fold = np.where(np.isnan(fold), value, pointwise(fold, value))
        z[:, :, i] = fold
    flat = z.reshape(f * options, -1)
    ((values, _),) = cpu.run(structure.epilogue, flat, None, "point", threads=1)
    found = values[:, 0].reshape(f, options)
    return np.where(np.isnan(found), np.inf, found)
