"""Pool: what is added comes out once, the best first, as from a list that is sorted (broken rules: test_chain.py)."""

from __future__ import annotations

import gc
import resource
from typing import Any

import numpy as np
import pytest

from chain_reference import Listed, rows_of
from infimum.boxes import Boxes
from infimum.core import pool as core_pool
from infimum.errors import ShapeMismatch
from infimum.search import pool as module
from infimum.search.auto.bisection import bisected
from infimum.search.auto.split_rules import Cuts
from infimum.search.pool import Pool, written

Patch = pytest.MonkeyPatch


def some_boxes(draw: np.random.Generator, first: int, count: int, n: int) -> Boxes:
    """Boxes that differ from all others, with bounds that many share, some of them infinite or NaN."""
    lower = np.round(draw.uniform(-1, 1, count), int(draw.integers(1, 17)))
    special = draw.choice([-np.inf, np.inf, np.nan, -0.0, 1e308, -1e308, 5e-324], count)
    lower = np.where(draw.random(count) < 0.05, special, lower)
    lo = (first + np.arange(count * n, dtype=float)).reshape(count, n)
    hi = lo + 0.5
    if count and draw.random() < 0.3:
        lo[0], hi[-1] = -np.inf, np.inf
    return Boxes(lo, hi, lower)


def some_cuts(draw: np.random.Generator, boxes: Boxes) -> Cuts:
    """Cuts, some of which are not inside their sides."""
    rows, sides = np.arange(len(boxes)), draw.integers(boxes.n, size=len(boxes))
    low, high = np.clip(boxes.lo[rows, sides], -1e9, 1e9), np.clip(boxes.hi[rows, sides], -1e9, 1e9)
    inside = low + (high - low) * draw.uniform(0.1, 0.9, len(boxes))
    kind = draw.integers(12, size=len(boxes))
    at = np.select(
        [kind == 0, kind == 1, kind == 2, kind == 3], [low, high, high + 1, np.full(len(boxes), np.nan)], inside
    )
    return Cuts(sides, at)


def differences(seeds: Any = range(40)) -> list[str]:
    """Where a pool and a list that are treated alike are not alike."""
    return [found for seed in seeds for found in [_difference(seed)] if found]


def _difference(seed: int) -> str:
    draw = np.random.default_rng(seed)
    n = int(draw.choice([1, 2, 7, 40_000])) if seed % 10 == 0 else int(draw.choice([1, 2, 7]))
    pool, listed, made = Pool(n, threads=1 + seed % 3), Listed(), 0
    many = 3 if n > 7 else 150
    for turn in range(10 if n > 7 else 40):
        match draw.integers(5):
            case 0 | 1:
                boxes = some_boxes(draw, made, int(draw.integers(0, many)), n)
                made += 2 * boxes.lo.size
                pool.add(boxes)
                listed.add(boxes)
            case 2:
                most = int(draw.integers(-1, many + 50))
                if rows_of(pool.take(most)) != listed.take(most):
                    return f"{seed}: taken at {turn}"
            case 3:
                upper = float(draw.choice([np.round(draw.uniform(0, 1.5), 1), np.inf, -np.inf, np.nan]))
                pool.drop_above(upper)
                listed.drop_above(upper)
            case 4:
                boxes = some_boxes(draw, made, int(draw.integers(0, many)), n)
                made += 2 * boxes.lo.size
                cuts = some_cuts(draw, boxes)
                if pool.add_halves(boxes, *cuts) != listed.add_halves(boxes, *cuts):
                    return f"{seed}: cuts at {turn}"
        if len(pool) != len(listed.rows) or rows_of(pool.all()) != listed.rows:
            return f"{seed}: what is left at {turn}"
        if pool.lowest() != listed.lowest() or pool.count_up_to(0.3) != len(listed.up_to(0.3)):
            return f"{seed}: the lowest at {turn}"
        ends, bounds = written((pool, pool), n, 0.3)
        if rows_of(Boxes(ends[:, :, 0], ends[:, :, 1], bounds)) != 2 * listed.up_to(0.3):
            return f"{seed}: what is written at {turn}"
    if rows_of(pool.take(len(pool))) != listed.take(len(listed.rows)) or len(pool):
        return f"{seed}: the rest"
    return ""


def test_a_pool_is_a_sorted_list() -> None:
    assert not differences()


def test_boxes_are_written_down_some_at_a_time(monkeypatch: Patch) -> None:
    monkeypatch.setattr(module, "_AT_ONCE", 10)
    assert not differences(range(1, 9))


@pytest.mark.torture
def test_a_pool_is_a_sorted_list_for_very_many_seeds() -> None:
    assert not differences(range(40, 2000))


def test_halves_are_those_of_a_bisection() -> None:
    draw = np.random.default_rng(8)
    for seed in range(20):
        n = 1 + seed % 5
        boxes = some_boxes(draw, 0, 200, n)
        cuts = some_cuts(draw, boxes)
        one, other = Pool(n, threads=2), Pool(n)
        assert one.add_halves(boxes, *cuts) == len(bisected(boxes, cuts)) - len(boxes)
        other.add(bisected(boxes, cuts))
        assert rows_of(one.all()) == rows_of(other.all())


@pytest.mark.parametrize(
    "bounds",
    [
        lambda draw, count: draw.normal(size=count),
        lambda draw, count: np.zeros(count),
        lambda draw, count: draw.integers(3, size=count) * 1e-300,
        lambda draw, count: np.where(draw.random(count) < 0.5, -1.7e308, 1.7e308),
        lambda draw, count: np.where(draw.random(count) < 0.9, -np.inf, draw.normal(size=count)),
        lambda draw, count: np.where(draw.random(count) < 0.9, np.nan, np.inf),
        lambda draw, count: draw.integers(1, 50, size=count) * 5e-324,
        lambda draw, count: draw.normal(size=count) * 10.0 ** draw.uniform(-300, 300, count),
    ],
    ids=["normal", "equal", "tiny", "huge", "unknown", "none", "subnormal", "all sizes"],
)
@pytest.mark.parametrize("threads", [1, 2, 7])
def test_the_smallest_of_very_many_come_out_in_order(bounds: Any, threads: int) -> None:
    draw = np.random.default_rng(4)
    count = 30_000
    lower = bounds(draw, count)
    lo = np.arange(count, dtype=float)[:, None]
    pool = Pool(1, threads)
    pool.add(Boxes(lo, lo + 1, lower))
    known = np.where(np.isnan(lower), -np.inf, lower)
    order = np.argsort(known, kind="stable")
    first = 0
    for most in (1, 10, 4095, 4097, 9000, 12_000, 100_000):
        found = pool.take(most)
        expected = order[first : first + most]
        assert found.lo[:, 0].tolist() == expected.tolist() and found.lower.tolist() == known[expected].tolist()
        assert (found.hi == found.lo + 1).all()
        first += len(found)
    assert first == count and len(pool) == 0


def test_a_million_boxes_come_out_as_they_went_in() -> None:
    draw, count = np.random.default_rng(2), 1_000_000
    lo = draw.normal(size=(count, 2))
    boxes = Boxes(lo, lo + 1, draw.integers(1000, size=count).astype(float))
    pool = Pool(2, threads=2)
    pool.add(boxes)
    order = np.argsort(boxes.lower, kind="stable")
    for first in range(0, 30_000, 10_000):
        found, own = pool.take(10_000), order[first : first + 10_000]
        assert np.array_equal(found.lo, lo[own]) and np.array_equal(found.lower, boxes.lower[own])
    rest = np.sort(order[30_000:])
    rest = rest[boxes.lower[rest] <= 500]
    pool.drop_above(500.0)
    found = pool.all()
    assert np.array_equal(found.lo, lo[rest]) and np.array_equal(found.hi, lo[rest] + 1)


def test_places_are_used_again() -> None:
    pool, box = Pool(30), np.zeros((4000, 30))
    boxes = Boxes(box, box + 1, np.arange(4000.0))
    pool.add(boxes)

    def turn() -> None:
        assert len(pool.take(1000)) == 1000
        pool.drop_above(3000.0)
        pool.add(boxes[: 4000 - len(pool)])

    for _ in range(20):
        turn()
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(400):  # 2 MB each
        turn()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000


def test_the_memory_of_pools_that_are_gone_is_free() -> None:
    box = np.zeros((2000, 100))
    before = 0
    for turn in range(200):
        pool = Pool(100)
        pool.add(Boxes(box, box + 1))
        if turn == 20:
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000


def test_boxes_that_were_added_may_be_written_to_afterwards() -> None:
    pool, lo = Pool(1), np.zeros((2, 1))
    pool.add(Boxes(lo, lo + 1))
    lo += 7
    assert pool.all().lo.tolist() == [[0.0], [0.0]]


def test_nothing_is_dropped_by_a_bound_that_is_no_number_and_none_is_taken_where_none_is_asked_for() -> None:
    pool, box = Pool(1), np.zeros((3, 1))
    pool.add(Boxes(box, box + 1, np.arange(3.0)))
    pool.drop_above(np.nan)
    assert len(pool.take(0)) == 0 and len(pool.take(-1)) == 0 and len(pool) == 3


def test_one_box_of_very_many_variables_needs_no_more_than_itself() -> None:
    n = 3_000_000
    pool, lo = Pool(n), np.zeros((1, n))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    pool.add(Boxes(lo, lo + 1))
    assert pool.take(1).hi.sum() == n
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # 24 MB an array, in kilobytes


def test_what_does_not_fit_a_pool_is_refused_and_changes_nothing() -> None:
    pool = core_pool.Pool(2)
    two, lower, sides = np.zeros((3, 2)), np.zeros(3), np.zeros(3, np.int64)
    pool.add(two, two + 1, lower)
    for boxes in (
        (np.zeros((3, 3)), np.zeros((3, 3)), lower), (two, np.zeros((2, 2)), lower), (two, two, np.zeros(4)),
        (np.zeros((3, 1)), np.zeros((3, 1)), lower), (np.zeros(6), np.zeros(6), lower), (two, two, np.zeros((3, 1))),
    ):  # fmt: skip
        with pytest.raises(ShapeMismatch, match="a pool of 2 variables"):
            pool.add(*boxes)
        with pytest.raises(ShapeMismatch, match="a pool of 2 variables"):
            pool.add_halves(*boxes, sides, lower)
    for cuts in ((sides[:2], lower), (sides, lower[:2]), (sides[:, None], lower)):
        with pytest.raises(ShapeMismatch, match="3 boxes have a cut each"):
            pool.add_halves(two, two + 1, lower, *cuts)
    for side in (-1, 2, 2**62):
        with pytest.raises(ValueError, match=f"from 0 to 1, got {side}"):
            pool.add_halves(two, two + 1, lower, np.array([0, side, 1]), lower + 0.5)
    assert len(pool) == 3
    with pytest.raises(ValueError, match="n = 0"):
        core_pool.Pool(0)


def test_a_pool_without_memory_says_so_and_keeps_what_it_has() -> None:
    pool = core_pool.Pool(2**58)
    one = np.empty((0, 2**58))
    pool.add(one, one, np.empty(0))
    assert len(pool) == 0
