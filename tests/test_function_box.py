"""A function on a box that moves: what is remembered at a place is what Function says there."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from infimum import problems, trace
from infimum.domain import read_bounds
from infimum.errors import InvalidJacobian
from infimum.function.function import Function
from infimum.search.paper.partition import Uniform, cut
from objectives import ALL

FloatArray = npt.NDArray[np.float64]
PAPER = [(name, 7) for name in problems.names("paper")]


class Moving:
    """A box that a test moves."""

    def __init__(self, f: Function) -> None:
        self.lo, self.hi, self.moves = np.zeros(f.n), np.ones(f.n), 0
        self.f = f
        self.on_box = f.on_box(self.lo, self.hi, lambda: self.moves)

    def go(self, lo: FloatArray, hi: FloatArray) -> None:
        self.lo[:], self.hi[:] = lo, hi
        self.moves += 1

    def check(self) -> None:
        lo, hi = self.lo[None].copy(), self.hi[None].copy()
        defined, smooth = self.f.fact_arrays(lo, hi)
        assert self.on_box.facts == (defined[0], smooth[0])
        low, high = self.on_box.gradient()
        nowhere = low > high
        wanted = self.f.gradient_ends(lo, hi)
        assert np.array_equal(np.where(nowhere, -np.inf, low), wanted[0][0])
        assert np.array_equal(np.where(nowhere, np.inf, high), wanted[1][0])
        assert self.on_box.facts == (defined[0], smooth[0])
        extras, wanted_extras = self.on_box.extras(), self.f.stages.slopes.extra_ends(self.lo, self.hi)
        if wanted_extras is None:
            assert extras is None
        else:
            assert extras is not None
            assert all(np.array_equal(a, b) for a, b in zip(extras, wanted_extras, strict=True))


def _boxes(bounds: tuple[FloatArray, FloatArray], count: int, seed: int) -> list[tuple[FloatArray, FloatArray]]:
    random = np.random.default_rng(seed)
    lo, hi = bounds
    found = [(lo, hi)]
    for _ in range(count):
        a, b = (lo + (hi - lo) * random.random(lo.size) for _ in range(2))
        found.append((np.minimum(a, b), np.maximum(a, b)))
    return found


@pytest.mark.parametrize(("name", "n"), PAPER)
def test_facts_gradient_and_extras_of_the_papers_functions_are_those_of_the_function(name: str, n: int) -> None:
    problem = problems.named(name, n)
    domain = read_bounds(problem.bounds, n)
    moving = Moving(trace(problem.f, n, (), problem.jac))
    for lo, hi in _boxes((domain.lo, domain.hi), 6, 1):
        moving.go(lo, hi)
        moving.check()


@pytest.mark.parametrize("objective", ALL, ids=lambda o: o.name)
def test_facts_gradient_and_extras_are_those_of_the_function(objective: Any) -> None:
    moving = Moving(trace(objective.f, objective.n, objective.args))
    ends = np.full(objective.n, objective.bounds[0]), np.full(objective.n, objective.bounds[1])
    for lo, hi in _boxes(ends, 3, 2):
        moving.go(lo, hi)
        moving.check()


def test_what_is_known_of_a_place_is_not_what_was_known_of_the_last_one() -> None:
    moving = Moving(trace(lambda x: np.abs(x[0]) + x[1] ** 2, 2))
    moving.go(np.array([1.0, 1.0]), np.array([2.0, 2.0]))
    assert moving.on_box.facts == (True, True)
    moving.go(np.array([-1.0, 1.0]), np.array([2.0, 2.0]))
    assert moving.on_box.facts == (True, False)
    assert [end[0] for end in moving.on_box.gradient()] == [-1.0, 1.0]


def test_a_box_that_moves_unsaid_is_noticed() -> None:
    moving = Moving(trace(lambda x: np.sqrt(x[0]), 1))
    moving.go(np.array([1.0]), np.array([2.0]))
    moving.check()
    moving.lo[0] = -1.0
    with pytest.raises(AssertionError):
        moving.check()


def test_what_others_have_run_on_the_box_is_not_run_again() -> None:
    moving = Moving(trace(lambda x: np.abs(x[0]) + np.sqrt(np.sum(x**2)), 2))
    moving.go(np.array([1.0, 1.0]), np.array([2.0, 2.0]))
    whole = moving.on_box.whole
    assert whole is not None
    whole.run()
    moving.on_box.has_run()
    moving.check()
    for end in whole.ends:
        end[0] = 0.0  # would be 1 again after a run
    assert moving.on_box.facts == (False, False)
    moving.go(np.array([1.0, 1.0]), np.array([3.0, 2.0]))
    moving.check()


def test_a_gradient_of_the_users_is_not_left_out_by_a_run_of_others() -> None:
    assert Moving(trace(lambda x: np.sum(x**2), 2, (), lambda x: 2 * x)).on_box.whole is None


def test_a_wrong_formula_for_the_gradient_is_refused_in_the_middle_of_the_box() -> None:
    f = trace(lambda x: np.sum(x**2), 2, (), lambda x: 2.5 * x)
    moving = Moving(f)
    moving.go(np.array([1.0, 1.0]), np.array([2.0, 2.0]))
    moving.on_box.gradient()  # the ranges still meet
    with pytest.raises(InvalidJacobian, match="variable 0"):
        moving.on_box.check_jacobian()


def test_equal_parts_are_cut_where_the_partition_cuts() -> None:
    random = np.random.default_rng(3)
    wide = random.normal(size=40) * 10.0 ** random.integers(-5, 6, 40)
    lo = np.concatenate([wide, [-np.inf, -np.inf, 0.0, 1e308, -1e-320, 1.0, 1.0, -1.7e308, 0.0, 5e-324]])
    hi = np.concatenate([wide + random.exponential(size=40), [np.inf, 3.0, np.inf, np.inf, 1e-320]])
    hi = np.concatenate([hi, [1.0, np.nextafter(1.0, 2.0), 1.7e308, 5e-324, 1.5e-323]])
    f = trace(lambda x: np.sum(x**2), lo.size)
    for parts, count in [(2, 3), (3, 10), (4, 10), (7, 50), (64, 4), (1, 5)]:
        cycle, seen = 0, set()
        for _ in range(2 * lo.size):
            last = min(cycle + count, lo.size)
            can = np.nextafter(lo[cycle:last], hi[cycle:last]) < hi[cycle:last]
            following = last if last < lo.size else 0
            if not can.any():
                cycle = following
                continue
            variables = np.flatnonzero(can) + cycle
            working = f.stages.working((lo, hi), (lo, hi), None)
            region, after = working.split_equally(cycle, count, parts)
            found, edges = working.split_of(region)
            assert np.array_equal(found, variables) and after == following
            assert np.array_equal(edges, cut(Uniform(parts, count), lo[variables], hi[variables]))
            seen.update(found.tolist())
            cycle = following
        assert len(seen) == int((np.nextafter(lo, hi) < hi).sum())


def test_a_cycle_without_a_variable_to_split_is_passed_over() -> None:
    lo, hi = np.array([0.0, 0.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0, 0.0])
    working = trace(lambda x: np.sum(x**2), 4).stages.working((lo, hi), (lo, hi), None)
    region, after = working.split_equally(0, 1, 4)
    assert working.split_of(region)[0].tolist() == [2] and after == 3
    nothing = trace(lambda x: np.sum(x**2), 2).stages.working((lo[:2], hi[:2]), (lo[:2], hi[:2]), None)
    with pytest.raises(RuntimeError, match="no variable"):
        nothing.split_equally(0, 1, 4)


def test_moves_grow_when_the_box_does_not_stay() -> None:
    lo, hi = np.zeros(3), np.ones(3)
    working = trace(lambda x: np.sum(x**2), 3).stages.working((lo, hi), (lo, hi), None)
    region, _ = working.split_equally(0, 2, 4)
    before = working.moves
    working.go(region)
    assert working.moves == before
    working.go(region, 5, 64)
    assert working.moves > before
