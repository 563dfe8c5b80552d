"""Boxes that touch, joined into their hulls.

There is one answer, whatever the order of joining: of all ways to put the boxes into groups whose hulls do not touch,
the finest (two such ways, met group by group, are one more). So touching boxes are joined as they are found:

    split       boxes on two sides of a gap along some variable are kept apart
    neighbours  boxes next to each other in some order are compared: most of a connected heap goes at once
    pairs       what may touch along the variable in which fewest may is compared, so many at a time
until no pair is left that touches.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from infimum.interval.outward import FloatArray
from infimum.passes.separate.reads import components

IndexArray = npt.NDArray[np.int64]
Pairs = tuple[IndexArray, IndexArray]

_AT_ONCE = 2**20  # pairs that are compared at a time
_EACH = 16  # pairs for each box, after which those that touch are joined before others are looked at
_ORDERS = 8  # in which neighbours are looked at


def merged(boxes: FloatArray) -> FloatArray:
    """Return boxes (k, n, 2) of which no two touch, and which contain all that were given.

    Two boxes touch if their intervals have a number in common in every variable. A hull may touch a box that none of
    its parts does; it is joined too. Hulls are ordered by their first boxes.
    """
    if len(boxes) < 2 or boxes.shape[1] == 0:
        return boxes.copy()
    lo, hi = np.ascontiguousarray(boxes[:, :, 0].T), np.ascontiguousarray(boxes[:, :, 1].T)  # (n, k)
    while True:
        ranks = _ranks(lo, hi)
        group = _apart(*ranks)
        a, b = _neighbours(*ranks, group)
        if 2 * a.size < lo.shape[1]:  # else a second look at fewer boxes is cheaper
            a, b = _joined([(a, b), _some_pairs(*ranks, group)])
        if not a.size:
            return np.stack([lo.T, hi.T], 2)
        root = components(lo.shape[1], a, b)
        order = np.argsort(root, kind="stable")
        _, first = np.unique(root[order], return_index=True)
        lo = np.minimum.reduceat(lo[:, order], first, axis=1)
        hi = np.maximum.reduceat(hi[:, order], first, axis=1)


def _ranks(lo: FloatArray, hi: FloatArray) -> Pairs:
    """Return the ends as whole numbers (n, k) in the same order, variable by variable."""
    low, high = np.empty(lo.shape, np.int64), np.empty(lo.shape, np.int64)
    for i in range(len(lo)):
        values = np.unique(np.concatenate([lo[i], hi[i]]))
        low[i], high[i] = np.searchsorted(values, lo[i]), np.searchsorted(values, hi[i])
    return low, high


def _apart(lo: IndexArray, hi: IndexArray) -> IndexArray:
    """Return a group for each box. Boxes of different groups are on two sides of a gap: they do not touch."""
    group = np.zeros(lo.shape[1], np.int64)
    most = 2 * lo.shape[1] + 1
    steady = i = 0
    while steady < len(lo):
        start, end = group * most + lo[i], group * most + hi[i]
        order = np.argsort(start, kind="stable")
        reach = np.maximum.accumulate(end[order])
        gap = np.concatenate([[False], start[order][1:] > reach[:-1]])
        before = int(group.max())
        group[order] = np.cumsum(gap)
        steady = steady + 1 if int(group.max()) == before else 0
        i = (i + 1) % len(lo)
    return group


def _neighbours(lo: IndexArray, hi: IndexArray, group: IndexArray) -> Pairs:
    """Return the pairs that touch among those next to each other, ordered with each variable as the last."""
    found: list[Pairs] = []
    spread = np.argsort([-np.unique(low).size for low in lo], kind="stable")[:_ORDERS]
    for i in spread:
        others = [lo[j] for j in spread if j != i]
        order = np.lexsort([lo[i], *others, group])
        found.append(_touching(lo, hi, group, order[:-1], order[1:]))
    return _joined(found)


def _some_pairs(lo: IndexArray, hi: IndexArray, group: IndexArray) -> Pairs:
    """Return pairs that touch: the first ones where there are many, none only where no pair does."""
    most = 2 * lo.shape[1] + 1
    best: tuple[int, IndexArray, IndexArray] | None = None
    for low, high in zip(lo, hi, strict=True):
        start = group * most + low
        order = np.argsort(start, kind="stable")
        last = np.searchsorted(start[order], (group * most + high)[order], side="right")
        count = last - np.arange(last.size) - 1  # of those after it in this order that start before it ends
        if best is None or int(count.sum()) < best[0]:
            best = int(count.sum()), order, count
    assert best is not None
    _, order, count = best
    total = np.cumsum(count)
    found: list[Pairs] = []
    first = 0
    while first < count.size and not (found and total[first - 1] > _EACH * count.size):
        last = max(first + 1, int(np.searchsorted(total, (total[first - 1] if first else 0) + _AT_ONCE, side="right")))
        own = count[first:last]
        place = np.repeat(np.arange(first, last), own)
        other = place + 1 + np.arange(place.size) - np.repeat(np.cumsum(own) - own, own)
        touching = _touching(lo, hi, group, order[place], order[other])
        found += [touching] if touching[0].size else []
        first = last
    return _joined(found)


def _touching(lo: IndexArray, hi: IndexArray, group: IndexArray, a: IndexArray, b: IndexArray) -> Pairs:
    """Return those of the pairs that touch."""
    same = group[a] == group[b]
    a, b = a[same], b[same]
    for low, high in zip(lo, hi, strict=True):
        touch = (low[a] <= high[b]) & (low[b] <= high[a])
        a, b = a[touch], b[touch]
        if not a.size:
            break
    return a, b


def _joined(found: list[Pairs]) -> Pairs:
    empty = np.empty(0, np.int64)
    return np.concatenate([empty, *(a for a, _ in found)]), np.concatenate([empty, *(b for _, b in found)])
