"""One region, split in some variables, staged: what does not change is computed once, what changes is tabulated.

The children of a region are the digits (k_0, …, k_P-1), one part of each split variable. A term that reads split
variables at positions p_1 < … < p_d has 4^d values, tabulated once; the terms that read none are folded into the
hoisted part on the fixed tree. A child's z is the left fold: hoisted part first, then its touched terms, ordered by
their last position, then by number.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from infimum import core
from infimum.search.structure import Family, Pair, Structure

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]

NEUTRAL = {"add": 0.0, "mul": 1.0, "min": np.inf, "max": -np.inf}
POINTWISE = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}
MOST_POSITIONS = 3


@dataclass(frozen=True, eq=False)
class Split:
    """Which variables are split, and the edges of their parts: part k of variable i is [edges[i, k], edges[i, k+1]]."""

    variables: IndexArray
    edges: FloatArray  # (P, parts + 1)

    @property
    def parts(self) -> int:
        return int(self.edges.shape[1]) - 1

    @property
    def count(self) -> int:
        return len(self.variables)


@dataclass(frozen=True, eq=False)
class Term:
    """A touched term: the positions it reads, its table, and hulls[j], the hull over all but the first j positions."""

    number: int
    positions: tuple[int, ...]
    hulls: tuple[Pair, ...]


@dataclass(frozen=True, eq=False)
class Tables:
    """A family on a split region."""

    family: Family
    hoisted: Pair  # scalars
    terms: tuple[Term, ...]  # in the order of the fold


def touched(family: Family, split: Split, n: int) -> tuple[IndexArray, IndexArray]:
    """The terms that read a split variable, and the positions (terms, r) of what each reads, -1 for others."""
    position = np.full(n, -1, np.int64)
    position[split.variables] = np.arange(split.count)
    at = position[family.reads]
    (terms,) = np.nonzero((at >= 0).any(1)) if at.shape[1] else (np.empty(0, np.int64),)
    return terms, at[terms]


def stages(structure: Structure, split: Split) -> bool:
    """Whether no term reads more split variables than a table holds."""
    for family in structure.families:
        _, at = touched(family, split, structure.n)
        if any(len({int(p) for p in row if p >= 0}) > MOST_POSITIONS for row in at):
            return False
    return True


def tabulate(structure: Structure, split: Split, lo: FloatArray, hi: FloatArray) -> tuple[Tables, ...]:
    """Every family on the region [lo, hi], split."""
    return tuple(_tables(family, split, lo, hi) for family in structure.families)


def _tables(family: Family, split: Split, lo: FloatArray, hi: FloatArray) -> Tables:
    terms, at = touched(family, split, lo.size)
    every = np.arange(family.count)
    low, high = family.enclose(every, lo[family.reads], hi[family.reads])
    keep = np.ones(family.count, bool)
    keep[terms] = False
    neutral = NEUTRAL[family.op]
    hoisted = family.reduce(np.where(keep, low, neutral), np.where(keep, high, neutral))
    order = sorted(range(terms.size), key=lambda i: (int(at[i].max()), int(terms[i])))
    made = _term_tables(family, split, lo, hi, terms[order], at[order])
    return Tables(family, hoisted, made)


def _digits(positions: tuple[int, ...], parts: int) -> IndexArray:
    """All combinations of digits of the given positions, (combinations, positions), the last one fastest."""
    grids = np.indices((parts,) * len(positions)).reshape(len(positions), -1)
    return grids.T


def _term_tables(
    family: Family, split: Split, lo: FloatArray, hi: FloatArray, terms: IndexArray, at: IndexArray
) -> tuple[Term, ...]:
    rows_lo, rows_hi, numbers, shapes = [], [], [], []
    for number, row in zip(terms.tolist(), at, strict=True):
        positions = tuple(sorted({int(p) for p in row if p >= 0}))
        digits = _digits(positions, split.parts)
        reads = family.reads[number]
        low = np.repeat(lo[reads][None], len(digits), 0)
        high = np.repeat(hi[reads][None], len(digits), 0)
        for column, p in enumerate(row.tolist()):
            if p >= 0:
                digit = digits[:, positions.index(p)]
                low[:, column], high[:, column] = split.edges[p, digit], split.edges[p, digit + 1]
        rows_lo.append(low)
        rows_hi.append(high)
        numbers.append(np.full(len(digits), number))
        shapes.append((number, positions))
    if not shapes:
        return ()
    all_lo, all_hi = family.enclose(np.concatenate(numbers), np.concatenate(rows_lo), np.concatenate(rows_hi))
    found, start = [], 0
    for number, positions in shapes:
        shape = (split.parts,) * len(positions)
        size = int(np.prod(shape))
        table = (all_lo[start : start + size].reshape(shape), all_hi[start : start + size].reshape(shape))
        start += size
        found.append(Term(number, positions, _hulls(table)))
    return tuple(found)


def _hulls(table: Pair) -> tuple[Pair, ...]:
    """The hulls over the last axes: hulls[j] has j axes, hulls[-1] is the table itself."""
    hulls = [table]
    while hulls[0][0].ndim:
        hulls.insert(0, (hulls[0][0].min(-1), hulls[0][1].max(-1)))
    return tuple(hulls)


def met(op: str, a: Pair, b: Pair) -> Pair:
    """a ∘ b as intervals."""
    return core.apply(op, a, b)
