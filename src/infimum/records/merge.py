"""Boxes that touch, joined into their hulls."""

from __future__ import annotations

import numpy as np

from infimum.interval.outward import FloatArray


def merged(boxes: FloatArray) -> FloatArray:
    """Be boxes (k, n, 2) of which no two touch, and which contain all that were given.

    Two boxes touch if their intervals have a number in common in every variable. A hull may touch a box that none of
    its parts does; it is joined too.
    """
    while True:
        joined = _joined_once(boxes)
        if len(joined) == len(boxes):
            return joined
        boxes = joined


def _joined_once(boxes: FloatArray) -> FloatArray:
    """Be the hull of every connected group of boxes, ordered by the first box of each group."""
    if len(boxes) < 2 or boxes.shape[1] == 0:
        return boxes.copy()
    group = np.arange(len(boxes))
    for i, others in _touching(boxes):
        roots = {_root(group, j) for j in (i, *others)}
        group[list(roots)] = min(roots)
    roots_of = [_root(group, i) for i in range(len(boxes))]
    members = {root: [i for i, r in enumerate(roots_of) if r == root] for root in dict.fromkeys(sorted(roots_of))}
    if len(members) == len(boxes):
        return boxes.copy()
    hulls = [np.stack([boxes[m, :, 0].min(0), boxes[m, :, 1].max(0)], -1) for m in members.values()]
    return np.stack(hulls)


def _root(group: np.ndarray[tuple[int], np.dtype[np.int64]], i: int) -> int:
    while group[i] != i:
        group[i] = group[group[i]]
        i = int(group[i])
    return i


def _touching(boxes: FloatArray) -> list[tuple[int, list[int]]]:
    """For each box those that touch it, found along the variable in which the boxes are spread most."""
    lo, hi = boxes[:, :, 0], boxes[:, :, 1]
    spread = [np.unique(column).size for column in lo.T]
    axis = int(np.argmax(spread))
    order = np.argsort(lo[:, axis], kind="stable")
    starts = lo[order, axis]
    found = []
    for place, i in enumerate(order.tolist()):
        # Those that start later than this one ends cannot touch it; those before it have looked at it already.
        near = order[place + 1 : int(np.searchsorted(starts, hi[i, axis], side="right"))]
        touch = ((lo[near] <= hi[i]) & (lo[i] <= hi[near])).all(axis=1)
        if touch.any():
            found.append((i, near[touch].tolist()))
    return found
