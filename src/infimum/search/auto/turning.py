"""Whether a search goes on over rotated boxes, and along which axes (POLICY): measured, once it is seen to be long.

The axes are the eigenvectors of the Hessian at the best point, in units of what is left of each variable: along the
last ones f changes most, along the first ones least. Whether that helps is not seen from them. So points in some open
boxes are followed down both searches, and down the new one also some that lie anywhere in it: by the volume of the box
in which each is discarded, the boxes that either search will take are estimated (Knuth's way to measure a tree).
"""

from __future__ import annotations

import numpy as np

from infimum.boxes import Boxes, FloatArray, concatenated
from infimum.contractors.contractor import foreign_names, is_own
from infimum.contractors.rotated import RotatedBoxes, rotated_boxes
from infimum.deadline import Late, ask
from infimum.function.rotation import rotation
from infimum.search.auto.bisection import proposed_cuts
from infimum.search.auto.rotated import RotatedSearch
from infimum.search.auto.search import Search
from infimum.search.auto.tuning import LEVELS, MOST_ROTATED, MUCH_FEWER, TRIALS, TRIED
from infimum.search.outcome import Outcome
from infimum.search.status import Status

_LEAST_WIDTH = 2.0**-40  # asked for of a variable, in units of the largest number in its range
_TINY = 2.0**-1000


def searched(search: Search) -> tuple[Search, Outcome]:
    """Search on to the end, over rotated boxes where these are seen to be far fewer; return what was searched last."""
    if isinstance(search, RotatedSearch) or not _may_turn(search):
        return search, search.run()
    for cuts in TRIALS:
        if search.cuts >= cuts:
            continue
        found = search.run(cuts=cuts)
        if found.status != Status.RUNNING:
            return search, found
        turned = _turned(search)
        if turned is not None:
            return turned, turned.run()
    return search, search.run()


def _may_turn(search: Search) -> bool:
    """Return whether the search was asked for it, nothing of the user's reads its boxes, and the domain has ends."""
    options, domain = search.options, search.domain
    is_asked = "rotated" in options.contractors
    is_ours = is_own(options.split) and not foreign_names(options.contractors)
    if not (is_asked and is_ours and 2 <= domain.n <= MOST_ROTATED):
        return False
    size = np.maximum(np.abs(domain.lo), np.abs(domain.hi))
    if not np.isfinite(size).all():
        return False
    widths = search.goals.widths(domain.n)
    return widths is None or bool((widths >= _LEAST_WIDTH * size).all())


def _turned(search: Search) -> RotatedSearch | None:
    """Return a search over rotated boxes that goes on from here, where there are far fewer, and time to see it."""
    try:
        with search.options.clock():
            frame = _frame(search)
            if frame is None:
                return None
            turned = RotatedSearch(search, frame)
            return turned if _is_better(search, turned) else None
    except Late:
        return None


# ------------------------------------------------------------------------------------------------ the axes
def _frame(search: Search) -> RotatedBoxes | None:
    """Return rotated boxes for what is left of the domain, None where the axes are not known."""
    left = concatenated([search.open.all(), search.done.all()])
    x = search.points.x
    if x is None or search.lower() == -np.inf or search.function.hessian_cost is None:
        return None
    lo, hi = left.lo.min(0), left.hi.max(0)
    matrix = _axes(search.function.hessian(x), hi - lo)
    if matrix is None:
        return None
    found = rotation(search.function, np.clip(x, lo, hi), matrix)
    return None if found is None else rotated_boxes(found, (lo, hi), search.domain)


def _axes(hessian: FloatArray, width: FloatArray) -> FloatArray | None:
    """Return the eigenvectors of the Hessian in these units, as columns in the units of x; None without any."""
    scaled = hessian * np.outer(width, width)
    if not ((width > 0).all() and np.isfinite(scaled).all() and scaled.any()):
        return None
    try:
        _, vectors = np.linalg.eigh(scaled)
    except np.linalg.LinAlgError:
        return None
    found: FloatArray = width[:, None] * vectors
    return found if np.isfinite(found).all() else None


# ------------------------------------------------------------------------------------------------ the trial
def _is_better(search: Search, turned: RotatedSearch) -> bool:
    """Estimate how many boxes the search still takes, and how many it takes from the beginning over rotated boxes."""
    boxes = search.open.all()
    order = np.argsort(boxes.lower, kind="stable")
    count = min(TRIED, len(boxes))
    some = boxes[order[np.arange(count) * len(boxes) // count]]
    draw = np.random.default_rng(search.cuts)
    x = some.lo + draw.uniform(0.02, 0.98, some.lo.shape) * (some.hi - some.lo)
    size = _bits(some) + np.log2(len(boxes) / count)
    enough = _promised(search, x, some, size, np.inf, LEVELS) / MUCH_FEWER
    # Open boxes are where the search found it hard; all the others are to be discarded once more.
    around = Boxes(*(np.repeat(end[None], count, 0) for end in (turned.frame.domain.lo, turned.frame.domain.hi)))
    u, unit = _rotated(turned.frame, x)
    if not (np.isfinite(u).all() and np.isfinite(unit)):
        return False
    anywhere = around.lo + draw.uniform(0.0, 1.0, u.shape) * (around.hi - around.lo)
    sizes = np.concatenate([size - unit, _bits(around) - np.log2(count)])
    points, both = np.concatenate([u, anywhere]), concatenated([around, around])
    return _promised(turned, points, both, sizes, enough, LEVELS + 64 * boxes.n) <= enough


def _rotated(frame: RotatedBoxes, x: FloatArray) -> tuple[FloatArray, float]:
    """Return the u of points (k, n), and the logarithm to the base 2 of the volume that x has where u has 1."""
    origin, matrix = frame.rotation.origin, frame.rotation.matrix
    with np.errstate(all="ignore"):
        u = np.asarray(np.linalg.solve(matrix, (x - origin).T).T, np.float64)
        return u, float(np.linalg.slogdet(matrix)[1] / np.log(2.0))


def _promised(search: Search, points: FloatArray, boxes: Boxes, size: FloatArray, enough: float, levels: int) -> float:
    """Return about how many boxes it takes to discard the points' surroundings, each of 2^size.

    Each point is followed through the box around it, contracted and cut in two as the search would do it, until it is
    discarded or needs no cut: that box stands for all of its size. inf as soon as they are more than `enough`.
    """
    done = 0.0
    for _ in range(levels):
        ask()
        each = np.exp2(size - _bits(boxes))
        if done + float(each.sum()) > enough:
            return np.inf
        after = search.narrowed(boxes)
        (inside,) = np.nonzero(((after.lo <= points) & (points <= after.hi)).all(1))
        inside = inside[~search.goals.need_no_cut(after[inside], search.upper)]
        done += float(each.sum() - each[inside].sum())
        if not len(inside):
            return done
        points, size = points[inside], size[inside]
        boxes = _half_around(search, points, after[inside])
    return done + float(np.exp2(size - _bits(boxes)).sum())


def _half_around(search: Search, points: FloatArray, boxes: Boxes) -> Boxes:
    """Return of each box, cut in two as the search would do it, the half that holds its point."""
    variables, places = proposed_cuts(
        search.options.split, boxes, search.chain.known.under(search.upper, search.widths)
    )
    each = np.arange(len(boxes))
    lo, hi = boxes.lo.copy(), boxes.hi.copy()
    above = points[each, variables] >= places
    lo[each[above], variables[above]] = places[above]
    hi[each[~above], variables[~above]] = places[~above]
    return Boxes(lo, hi, boxes.lower)


def _bits(boxes: Boxes) -> FloatArray:
    """Return the logarithms (k,) of the boxes' volumes to the base 2."""
    found: FloatArray = np.log2(np.maximum(boxes.hi - boxes.lo, _TINY)).sum(1)
    return found
