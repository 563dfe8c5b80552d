"""The search tells the truth: no minimiser is ever lost, whatever stops it, and laziness changes nothing."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

import infimum
from infimum import problems
from infimum.domain import read_bounds
from infimum.errors import InternalError
from infimum.function.box import OnBox
from infimum.function.function import trace
from infimum.search.outcome import Options, Outcome
from infimum.search.paper import search as paper
from infimum.search.paper.partition import Uniform, cut
from infimum.search.paper.regions import Regions
from infimum.search.paper.sampling import Look, Midpoint
from infimum.search.status import Status

FloatArray = npt.NDArray[np.float64]


class Case(NamedTuple):
    """A function whose minimisers are known."""

    name: str
    f: Callable[..., Any]
    bounds: list[tuple[float, float]]
    minimisers: list[list[float]]
    minimum: float


_SIGNS = [[a, b] for a in (-1.0, 1.0) for b in (-1.0, 1.0)]
CASES = [
    Case("root of x-1, undefined below", lambda x: np.sqrt(x[0] - 1), [(0, 3)], [[1.0]], 0.0),
    Case("jump at 0", lambda x: np.where(x[0] < 0, 10.0, x[0]), [(-1, 1)], [[0.0]], 0.0),
    Case("two kinks", lambda x: np.sum(np.abs(np.abs(x) - 1)), [(-2, 2)] * 2, _SIGNS, 0.0),
    Case("corner", lambda x: x[0] + x[1], [(-1, 2)] * 2, [[-1.0, -1.0]], -2.0),
    Case("edge", lambda x: (x[0] - 5) ** 2 + x[1] ** 2, [(-1, 2)] * 2, [[2.0, 0.0]], 9.0),
    Case("pole", lambda x: 1 / x[0] ** 2 + x[0] ** 2, [(-3, 3)], [[-1.0], [1.0]], 2.0),
    Case("floor", lambda x: np.floor(x[0]) + (x[0] - 0.25) ** 2, [(-1, 1)], [[-0.0 - 1e-300]], -1 + 0.0625),
    Case("max of lines", lambda x: np.max(np.stack([x[0], -x[0], x[1] - 1, 1 - x[1]])), [(-2, 3)] * 2, [[0, 1.0]], 0.0),
    Case("log", lambda x: x[0] * np.log(x[0]), [(0, 2)], [[1 / math.e]], -1 / math.e),
    Case("whole line", lambda x: (x[0] - 3) ** 2 / (1 + (x[0] - 3) ** 2), [(-math.inf, math.inf)], [[3.0]], 0.0),
    Case("half line", lambda x: x[0] + 4 / x[0], [(0, math.inf)], [[2.0]], 4.0),
    Case("decades", lambda x: np.log(x[0] / 100) ** 2, [(1e-8, 1e8)], [[100.0]], 0.0),
    Case("fixed variable", lambda x: (x[0] - 1) ** 2 + x[1] ** 2, [(-2, 2), (0.5, 0.5)], [[1.0, 0.5]], 0.25),
    Case("three terms, product", lambda x: np.prod(np.cos(x)) + np.sum(x**2), [(-4, 4)] * 3, [[0.0] * 3], 1.0),
]  # fmt: skip
CASES.append(Case("dense coupling", lambda x: np.sum((_A @ x) ** 2), [(-1, 2)] * 3, [[0.0] * 3], 0.0))
_A = np.array([[2.0, 1.0, 0.5], [0.0, 1.0, -1.0], [1.0, 0.25, 3.0]])

every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def _search(case: Case, **options: Any) -> Outcome:
    f = trace(case.f, len(case.bounds))
    return paper.search(f, read_bounds(case.bounds), Options(**options))


def _holds(outcome: Outcome, x: list[float]) -> bool:
    """Whether some box contains the point."""
    point = np.array(x)
    return bool(((outcome.boxes[:, :, 0] <= point) & (point <= outcome.boxes[:, :, 1])).all(1).any())


@every_case
@pytest.mark.parametrize("iterations", [1, 2, 3, 5, 9, 20])
def test_no_minimiser_is_ever_discarded(case: Case, iterations: int) -> None:
    outcome = _search(case, max_iter=iterations)
    slack = 1e-9 * (1 + abs(case.minimum))
    assert outcome.lower <= case.minimum + slack and case.minimum - slack <= outcome.upper
    for minimiser in case.minimisers:
        if case.name != "floor":  # its infimum is approached at 0 from below, where the boxes end at 0
            assert _holds(outcome, minimiser), (case.name, iterations, minimiser, outcome.boxes)


@every_case
def test_a_search_that_is_stopped_at_once_tells_the_truth(case: Case) -> None:
    outcome = _search(case, time_limit=0.0)
    assert outcome.status == Status.TIME
    assert outcome.lower <= case.minimum + 1e-9 <= outcome.upper + 2e-9
    assert all(_holds(outcome, m) for m in case.minimisers if case.name != "floor")


@pytest.mark.parametrize("name", problems.names("paper"))
@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_the_papers_problems_keep_their_minimiser_at_every_stage(name: str, n: int) -> None:
    if name == "rosenbrock" and n == 1:
        pytest.skip("needs two variables")
    problem = problems.named(name, n)
    f = trace(problem.f, n)
    domain = read_bounds(problem.bounds, n)
    minimiser = [float(v) for v in problem.minimiser]
    for iterations in (1, 2, 4, 8, 16):
        outcome = paper.search(f, domain, Options(max_iter=iterations))
        assert outcome.lower <= float(problem.minimum) + 1e-12 <= outcome.upper + 1e-11
        near = [np.nextafter(v, v + d) for v in minimiser for d in (0,)]
        inside = (outcome.boxes[:, :, 0] - 1e-15 <= near) & (near <= outcome.boxes[:, :, 1] + 1e-15)
        assert inside.all(1).any(), (name, n, iterations)


# --- cuts ---------------------------------------------------------------------------------------------------------


def test_children_share_their_cuts_and_keep_the_outer_ends() -> None:
    random = np.random.default_rng(6)
    lo = np.concatenate([random.normal(size=50), [-np.inf, -np.inf, 0.0, 1e308, -1e-320]])
    hi = np.concatenate([lo[:50] + random.exponential(size=50), [np.inf, 3.0, np.inf, np.inf, 1e-320]])
    edges = cut(Uniform(4), lo, hi)
    assert np.array_equal(edges[:, 0], lo) and np.array_equal(edges[:, -1], hi)
    assert (np.diff(edges[:50], axis=1) >= 0).all() and not np.isnan(edges).any()
    assert np.isfinite(edges[:, 1:-1]).all()


# --- lazy and enumerated -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["rastrigin", "rosenbrock", "griewank", "ackley", "levy"])
def test_lazy_and_enumerated_lists_select_the_same_regions(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = problems.named(name, 3)
    lazy = _trail(problem)
    monkeypatch.setattr(infimum.core.Staging, "tabulate", lambda *_: 2)
    enumerated = _trail(problem)
    assert len(lazy) > 3
    for (lo, hi), (low, high) in zip(lazy, enumerated, strict=True):
        assert np.array_equal(lo, low) and np.array_equal(hi, high)


def _trail(problem: Any) -> list[tuple[FloatArray, FloatArray]]:
    """The regions that a search splits, in order, sampled at their middle."""
    found: list[tuple[FloatArray, FloatArray]] = []

    class Spy(Midpoint):
        def propose(self, look: Look) -> FloatArray:
            found.append((look.lo.copy(), look.hi.copy()))
            return super().propose(look)

    f = trace(problem.f, problem.n)
    paper.search(f, read_bounds(problem.bounds, problem.n), Options(max_iter=25, sampling=Spy()))
    return found


# --- broken on purpose -------------------------------------------------------------------------------------------


def test_a_discard_that_ignores_smoothness_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OnBox, "facts", (True, True))
    with pytest.raises((AssertionError, InternalError)):
        test_no_minimiser_is_ever_discarded(CASES[0], 9)


def test_a_discard_that_ignores_the_edges_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(self: Any, region: int, index: int) -> bool:
        self.go(region, index)
        low, high = self.function.gradient_ends(self.box.lo[None], self.box.hi[None])
        return bool(((low[0] > 0) | (high[0] < 0)).any())

    monkeypatch.setattr(Regions, "_cannot_hold_a_minimiser", careless)
    monkeypatch.setattr(infimum.function.function.Function, "gradient_is_staged", False)
    with pytest.raises((AssertionError, InternalError)):
        test_no_minimiser_is_ever_discarded(CASES[3], 9)


def test_a_fact_that_is_certainly_false_is_not_taken_for_smoothness(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(infimum.function.programs, "facts", lambda build, value: (build.number(1), build.number(0)))
    assert not trace(lambda x: np.sum(x**2), 3).is_smooth_everywhere
