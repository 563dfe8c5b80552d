"""Where a function of one variable is convex and where concave: the reals cut into a few pieces, each with a proof.

    a piece is      where
    convex          composition rules say so of all of it (Function.shape_arrays)
                    or it is made of cells that meet, each with phi'' >= 0 and smooth on a neighbourhood of it
    concave         likewise, and it is defined on all of it
    neither         nothing is known of it

Cells are halved where nothing is known, until they are narrow: the piece around a point of inflection is 2^-20 of it
wide.

Guarantee: the pieces cover all from lo to hi. On the points of a convex piece at which phi is defined, a convex set,
it is convex; on a concave piece it is defined everywhere, and concave. A cell is smooth on a neighbourhood of its ends,
so that slopes agree where cells meet.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from infimum.function.function import Function

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

CONVEX, CONCAVE, NEITHER = 1, -1, 0
_MOST_PIECES = 12
_HALVINGS = 24
_MOST_CELLS = 1024  # of which nothing is known yet, all of them halved
_POWERS = 2.0 ** np.arange(-40, 41, 2)
_MOST = np.finfo(float).max


class Piece(NamedTuple):
    """From lo to hi: CONVEX, CONCAVE or NEITHER."""

    lo: float
    hi: float
    bend: int


def pieces(phi: Function, lo: float = -np.inf, hi: float = np.inf) -> list[Piece]:
    """Return the pieces of a function of one variable from lo to hi; one that says nothing where there are too many."""
    parts = [Piece(max(p.lo, lo), min(p.hi, hi), p.bend) for p in _of_the_reals(phi) if p.lo < hi and p.hi > lo]
    return parts if 0 < len(parts) <= _MOST_PIECES else [Piece(lo, hi, NEITHER)]


def is_affine(phi: Function) -> bool:
    """Return whether composition rules say that a function is affine."""
    convex, concave = phi.shape_arrays(np.array([[-np.inf]]), np.array([[np.inf]]))
    return bool(convex[0] and concave[0])


def _of_the_reals(phi: Function) -> list[Piece]:
    everything = Piece(-np.inf, np.inf, NEITHER)
    ends = np.concatenate([[-np.inf], -_POWERS[::-1], [0.0], _POWERS, [np.inf]])
    bend = _by_rules(phi, np.array([-np.inf]), np.array([np.inf]))
    if bend[0] != NEITHER:
        return [everything._replace(bend=int(bend[0]))]
    sides = np.array([-np.inf, 0.0, np.inf])
    bends = _by_rules(phi, sides[:-1], sides[1:])
    found: list[Piece] = []
    for lo, hi, bend in zip(sides[:-1], sides[1:], bends, strict=True):
        if bend != NEITHER:
            found.append(Piece(lo, hi, int(bend)))
        else:
            found += _refined(phi, ends[(ends >= lo) & (ends <= hi)])
    return found


def _refined(phi: Function, ends: FloatArray) -> list[Piece]:
    """Return the pieces of what lies between the first and the last of the ends, which are in order."""
    lo, hi = ends[:-1], ends[1:]
    bend = _by_curvature(phi, lo, hi)
    for _ in range(_HALVINGS):
        open_ = _worth_halving(lo, hi, bend)
        middle = _middle(lo[open_], hi[open_])
        inside = (middle > lo[open_]) & (middle < hi[open_])
        open_, middle = open_[inside], middle[inside]
        if not open_.size:
            break
        halves = (lo[open_], middle), (middle, hi[open_])
        rest = np.ones(len(bend), bool)
        rest[open_] = False
        lo = np.concatenate([lo[rest], *(a for a, _ in halves)])
        hi = np.concatenate([hi[rest], *(b for _, b in halves)])
        bend = np.concatenate([bend[rest], *(_by_curvature(phi, a, b) for a, b in halves)])
        order = np.argsort(lo, kind="stable")
        lo, hi, bend = lo[order], hi[order], bend[order]
    return _merged(lo, hi, bend)


def _worth_halving(lo: FloatArray, hi: FloatArray, bend: IntArray) -> IntArray:
    """Return the cells of which nothing is known; where there are too many, those that meet one that is known."""
    unknown = (bend == NEITHER) & np.isfinite(lo) & np.isfinite(hi)
    if unknown.sum() > _MOST_CELLS:
        known = np.concatenate([[False], bend != NEITHER, [False]])
        unknown &= known[:-2] | known[2:]
    return np.flatnonzero(unknown)


def _middle(lo: FloatArray, hi: FloatArray) -> FloatArray:
    """Return the geometric middle of what is wide, the arithmetic one of what is not."""
    apart = (lo > 0) & (hi > 1.01 * lo)
    below = (hi < 0) & (lo < 1.01 * hi)
    with np.errstate(all="ignore"):
        root = np.sqrt(np.abs(lo)) * np.sqrt(np.abs(hi))
    return np.where(apart, root, np.where(below, -root, 0.5 * lo + 0.5 * hi))


def _merged(lo: FloatArray, hi: FloatArray, bend: IntArray) -> list[Piece]:
    starts = np.flatnonzero(np.diff(bend, prepend=bend[0] + 5))
    last = np.append(starts[1:], bend.size) - 1
    return [Piece(float(lo[i]), float(hi[j]), int(bend[i])) for i, j in zip(starts, last, strict=True)]


def _by_rules(phi: Function, lo: FloatArray, hi: FloatArray) -> IntArray:
    """Return the bend of ranges (k,) as composition rules tell it."""
    convex, concave = phi.shape_arrays(lo[:, None], hi[:, None])
    defined, _ = phi.fact_arrays(lo[:, None], hi[:, None])
    return np.where(convex, CONVEX, np.where(concave & defined, CONCAVE, NEITHER))


def _by_curvature(phi: Function, lo: FloatArray, hi: FloatArray) -> IntArray:
    """Return the bend of cells (k,) around which phi is smooth, by the sign of its second derivative."""
    box = lo[:, None], hi[:, None]
    smooth = phi.is_twice_smooth(*box)
    low, high = (end[:, 0, 0] for end in phi.hessian_ends(*box))
    known = smooth & (low <= high)
    return np.where(known & (low >= 0), CONVEX, np.where(known & (high <= 0), CONCAVE, NEITHER))
