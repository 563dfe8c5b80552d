"""Pool: what is added comes out once, the best first, as from a list that is sorted; each part broken is noticed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from infimum.boxes import Boxes
from infimum.search import pool as module
from infimum.search.pool import Pool, written

Patch = pytest.MonkeyPatch
Row = tuple[float, tuple[float, ...]]


class Listed:
    """The same as a list of rows, the oldest first."""

    def __init__(self) -> None:
        self.rows: list[Row] = []

    def take(self, most: int) -> list[Row]:
        best = sorted(self.rows, key=lambda row: row[0])[:most]  # which is stable
        self.rows = [row for row in self.rows if row not in best]
        return best

    def up_to(self, upper: float) -> list[Row]:
        return [row for row in self.rows if row[0] <= upper]


def rows(boxes: Boxes) -> list[Row]:
    ends = np.hstack(boxes.ends).tolist()
    return [(float(low), tuple(row)) for low, row in zip(boxes.lower, ends, strict=True)]


def differences(seeds: Any = range(40)) -> list[str]:
    """Where a pool and a list that are treated alike are not alike."""
    return [found for seed in seeds for found in [_difference(seed)] if found]


def _difference(seed: int) -> str:
    draw = np.random.default_rng(seed)
    n = int(draw.choice([1, 2, 7]))
    pool, listed, made = Pool(n), Listed(), 0
    for turn in range(30):
        match draw.integers(4):
            case 0 | 1:
                count = int(draw.integers(0, 150))
                lower = np.round(draw.uniform(-1, 1, count), 1)
                lower = np.where(draw.random(count) < 0.02, draw.choice([-np.inf, np.inf], count), lower)
                lo = (made + np.arange(count * n, dtype=float)).reshape(count, n)
                made += count * n
                pool.add(Boxes(lo, lo + 0.5, lower))
                listed.rows += rows(Boxes(lo, lo + 0.5, lower))
            case 2:
                most = int(draw.integers(1, 200))
                if rows(pool.take(most)) != listed.take(most):
                    return f"{seed}: taken at {turn}"
            case 3:
                upper = float(np.round(draw.uniform(0, 1.5), 1))
                pool.drop_above(upper)
                listed.rows = listed.up_to(upper)
        if len(pool) != len(listed.rows) or rows(pool.all()) != listed.rows:
            return f"{seed}: what is left at {turn}"
        if pool.lowest() != min((row[0] for row in listed.rows), default=np.inf):
            return f"{seed}: the lowest at {turn}"
        ends, bounds = written((pool, pool), n, 0.3)
        if rows(Boxes(ends[:, :, 0], ends[:, :, 1], bounds)) != 2 * listed.up_to(0.3):
            return f"{seed}: what is written at {turn}"
    return ""


@pytest.mark.parametrize("numbers", [module._MOST_NUMBERS, 100])
def test_a_pool_is_a_sorted_list(numbers: int, monkeypatch: Patch) -> None:
    monkeypatch.setattr(module, "_MOST_NUMBERS", numbers)
    monkeypatch.setattr(module, "_AT_ONCE", numbers)
    assert not differences()


def test_places_are_used_again() -> None:
    pool, box = Pool(3), np.zeros((50, 3))
    for _ in range(100):
        pool.add(Boxes(box, box + 1, np.arange(50.0)))
        assert len(pool.take(25)) == 25
        pool.drop_above(30.0)
    assert int(pool._starts[-1]) <= 1024


def test_boxes_that_were_added_may_be_written_to_afterwards() -> None:
    pool, lo = Pool(1), np.zeros((2, 1))
    pool.add(Boxes(lo, lo + 1))
    lo += 7
    assert pool.all().lo.tolist() == [[0.0], [0.0]]


def test_nothing_is_dropped_by_a_bound_that_is_no_number_and_none_is_taken_where_none_is_asked_for() -> None:
    pool, box = Pool(1), np.zeros((3, 1))
    pool.add(Boxes(box, box + 1, np.arange(3.0)))
    pool.drop_above(np.nan)
    assert len(pool.take(0)) == 0 and len(pool) == 3


def test_one_box_of_very_many_variables_needs_no_more_than_itself() -> None:
    pool, lo = Pool(3_000_000), np.zeros((1, 3_000_000))
    pool.add(Boxes(lo, lo + 1))
    assert len(pool._slabs[0][0]) == 1 and pool.take(1).hi.sum() == 3_000_000


# --- broken on purpose -----------------------------------------------------------------------------------------------

_SMALLEST, _KEEP = module._smallest, Pool._keep


def _without_ties(numbers: Any, most: int) -> Any:
    found = _SMALLEST(numbers, most)
    return found if most >= len(numbers) else found[numbers[found] < numbers[found].max()]


def _in_no_order(numbers: Any, most: int) -> Any:
    return np.sort(_SMALLEST(numbers, most))


def _free_without_leave(self: Any, left: Any) -> None:
    self._free = np.concatenate([self._place[left][:1], self._free])
    _KEEP(self, left)


def _one_too_many(self: Any, left: Any) -> None:
    left = left.copy()
    left[np.flatnonzero(left)[:1]] = False
    _KEEP(self, left)


def _equal_ones_too(self: Any, upper: float) -> None:
    self._keep(self._lower < upper)


BROKEN: dict[str, Callable[[Patch], None]] = {
    "ties": lambda patch: patch.setattr(module, "_smallest", _without_ties),
    "order": lambda patch: patch.setattr(module, "_smallest", _in_no_order),
    "a place used twice": lambda patch: patch.setattr(Pool, "_keep", _free_without_leave),
    "a box lost": lambda patch: patch.setattr(Pool, "_keep", _one_too_many),
    "a box dropped at a tie": lambda patch: patch.setattr(Pool, "drop_above", _equal_ones_too),
    "a box taken that stays": lambda patch: patch.setattr(Pool, "_keep", lambda self, left: None),
}


@pytest.mark.parametrize("part", BROKEN)
def test_a_broken_part_is_noticed(part: str, monkeypatch: Patch) -> None:
    BROKEN[part](monkeypatch)
    assert differences(), part
