"""Limits are limits of effort, never of truth: time and iterations hold, and what is left is a true enclosure.

Time is measured as the processor's, which neighbours on a busy machine do not lengthen: where a limit is missed by much
(it was by a factor of 50), that shows as well.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from infimum import deadline
from infimum.api.minimize import minimize
from infimum.boxes import Boxes
from infimum.contractors import Level
from infimum.contractors.chain import ContractorChain
from infimum.deadline import Late
from infimum.function.function import trace
from infimum.ops import LARGEST_POWER
from infimum.records.merge import merged
from infimum.records.result import Result
from infimum.records.writing import plain
from infimum.search.pool import Pool
from infimum.search.status import Status
from infimum.search.witness import Witness

Patch = pytest.MonkeyPatch
Objective = Callable[[Any], Any]
FloatArray = npt.NDArray[np.float64]

RANDOM = np.random.default_rng(20_261_117)
DENSE = RANDOM.normal(size=(60, 60))
LARGE = RANDOM.normal(size=(400, 400))
ROTATION = np.linalg.qr(RANDOM.normal(size=(30, 30)))[0]
OFFSETS = RANDOM.normal(size=300)


def rotated(x: Any) -> Any:
    y = ROTATION @ x
    return np.sum(y**2 - 10 * np.cos(2 * np.pi * y) + 10)


def blocks(x: Any) -> Any:
    c = OFFSETS[: x.shape[0] // 2]
    return np.sum((x[::2] ** 2 - x[1::2]) ** 2 + c * np.sin(3 * x[::2] * x[1::2]) + (x[1::2] - c) ** 2)


def chained(x: Any) -> Any:
    """x[0], sin(x[0]) + x[1], sin(sin(x[0]) + x[1]) + x[2], …: a loop that nothing can be made of but a loop."""
    s = x[0]
    for i in range(1, x.shape[0]):
        s = np.sin(s) + x[i]
    return s


def wells(x: Any) -> Any:
    return np.sum((x**2 - 1) ** 2)


def spikes(x: Any) -> Any:
    return sum(np.where((np.abs(x - 0.1 * i) < 1e-6).all(), -1.0 * i, np.sum(x**2)) for i in range(8))


# --- time ------------------------------------------------------------------------------------------------------------

SLOW: dict[str, tuple[Objective, int, tuple[float, float], dict[str, Any]]] = {
    "children of a dense quadratic": (lambda x: np.sum((DENSE @ x) ** 2), 60, (-1, 2), {"method": "paper"}),
    "children of a rotated function": (rotated, 30, (-5, 6), {"method": "paper"}),
    "contraction of a dense function": (lambda x: x @ LARGE @ x + np.sum(np.cos(5 * x)), 400, (-1, 2), {}),
    "a layer and its inverse": (lambda x: np.sum(np.cos(LARGE @ x) + (LARGE @ x) ** 2), 400, (-1, 2), {}),
    "blocks that all differ": (blocks, 600, (-3, 3), {}),
    "boxes of a product": (wells, 19, (-2, 3), {}),
    "many variables": (lambda x: np.mean(x[1:] * x[:-1]) - np.exp(np.mean(np.cos(6 * x))), 200_000, (-35, 40), {}),
    "conditions": (spikes, 20_000, (-1, 2), {}),
    "samples by local descent": (
        lambda x: np.sum(np.sin(x[1:] * x[:-1])), 1000, (-9, 10), {"method": "paper", "sampling": "local"}
    ),
    "regions that are left": (lambda x: np.sum(np.sin(x[1:] * x[:-1])), 20_000, (-9, 10), {"method": "paper"}),
}  # fmt: skip


@pytest.mark.parametrize("name", SLOW)
def test_a_time_limit_holds(name: str) -> None:
    f, n, bounds, options = SLOW[name]
    minimize(f, [bounds] * n, time_limit=1e-9, threads=1, **options)  # imports
    limit, started = 0.3, time.process_time()
    result = minimize(f, [bounds] * n, time_limit=limit, threads=1, **options)
    assert time.process_time() - started <= limit + 1
    assert result.status in (Status.TIME, Status.PROVED)
    # A true enclosure: no point has a value below it, and none of the best points lies outside the boxes.
    values = np.asarray(trace(f, n)(np.random.default_rng(1).uniform(*bounds, (20, n))))
    assert result.minimum.lo <= min(values.min(), result.fun) and result.fun <= result.minimum.hi
    if name == "boxes of a product":
        assert result.minimum.lo <= 0 <= result.minimum.hi


@pytest.mark.parametrize("method", ["auto", "paper"])
@pytest.mark.parametrize("steps", [150, 2_000, 30_000])
def test_a_chain_of_any_length_is_searched_and_stopped_in_time(method: str, steps: int) -> None:
    before = time.process_time()
    trace(chained, steps)
    tracing = time.process_time() - before  # what no limit can shorten
    before, limit = time.process_time(), 0.5
    result = minimize(chained, [(-1, 2)] * steps, method=method, time_limit=limit, threads=1)
    assert time.process_time() - before <= limit + 1 + 4 * tracing
    assert result.status in (Status.TIME, Status.PROVED) and result.minimum.lo <= -2 + 1e-9
    assert result.fun >= -2 and result.minimum.hi <= 3


@pytest.mark.parametrize("is_defined", [False, True])
def test_the_domain_is_left_where_time_is_up_among_the_starts(
    is_defined: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def f(x: Any) -> Any:
        return (x[0] - 1) ** 2 + x[1] ** 2 if is_defined else np.sqrt(x[0] - 1) + x[1] ** 2

    def late(self: Witness, points: npt.NDArray[np.float64]) -> bool:
        self.offer(points[0])
        raise Late

    monkeypatch.setattr(Witness, "offer_all", late)
    starts = [[-1.0, 0.5], [-2.0, 0.25]]
    result = minimize(f, [(-3, 3)] * 2, x0=starts, time_limit=60)
    assert result.status == Status.TIME and result.boxes.tolist() == [[[-3.0, 3.0], [-3.0, 3.0]]]
    assert result.minimum.lo <= 0 <= result.minimum.hi


def test_a_point_is_proved_though_time_is_up_before_the_first_box_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(self: ContractorChain, *given: Any) -> None:
        raise Late

    monkeypatch.setattr(ContractorChain, "__init__", late)
    result = minimize(chained, [(-1, 2)] * 5, time_limit=60)
    assert result.status == Status.TIME and result.x is not None
    assert -2 <= result.minimum.lo <= result.fun <= result.minimum.hi <= 3


def test_a_long_loop_has_the_gradient_of_the_formula_and_costs_no_more_than_its_length() -> None:
    for n in (20, 200, 1000):
        function, x = trace(chained, n), np.random.default_rng(n).uniform(-1, 2, n)
        states = [x[0]]
        for i in range(1, n):
            states.append(np.sin(states[-1]) + x[i])
        slope, wanted = 1.0, np.empty(n)
        for i in reversed(range(n)):
            wanted[i] = slope
            slope *= np.cos(states[i - 1])
        found = function.gradient(np.stack([x, x], 1))
        assert (found.lo <= wanted + 1e-12).all() and (wanted - 1e-12 <= found.hi).all() and (found.wid < 1e-9).all()
    assert len(function.programs.gradient.instructions) < 12 * n


@pytest.mark.parametrize("method", ["auto", "paper"])
@pytest.mark.parametrize("f", [wells, blocks, chained])
def test_a_time_limit_that_is_not_reached_changes_no_bit(f: Objective, method: str) -> None:
    options: dict[str, Any] = {"method": method, "max_iter": 12, "xtol": 1e-2}
    free, limited = (minimize(f, [(-2, 3)] * 6, time_limit=limit, **options) for limit in (None, 1e6))
    assert free.listed.tobytes() == limited.listed.tobytes() and free.bounds.tobytes() == limited.bounds.tobytes()
    assert free.minimum.pairs().tobytes() == limited.minimum.pairs().tobytes()
    assert (free.nit, free.nfev) == (limited.nit, limited.nfev)


TURNED = np.linalg.qr(np.array([[1.0, 2.0], [3.0, 4.0]]))[0]
SIGNS = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])


def turned_wells(x: Any) -> Any:
    """Four minimisers, at TURNED.T @ SIGNS; neither stages nor falls apart."""
    return wells(TURNED @ x)


@pytest.mark.parametrize(
    ("f", "minimisers"), [(wells, np.hstack([SIGNS, SIGNS])), (turned_wells, SIGNS @ TURNED)], ids=["blocks", "whole"]
)
@pytest.mark.parametrize("method", ["auto", "paper"])
def test_a_search_that_is_late_at_any_moment_leaves_every_minimiser(
    f: Objective, minimisers: FloatArray, method: str, monkeypatch: Patch
) -> None:
    left = 0

    def ask() -> None:
        nonlocal left
        left -= 1
        if left < 0 and deadline.left() < np.inf:
            raise Late

    monkeypatch.setattr(deadline, "ask", ask)
    statuses = set()
    for moment in range(0, 120, 2):
        left = moment
        bounds = [(-2, 3)] * minimisers.shape[1]
        result = minimize(f, bounds, method=method, time_limit=1e6, max_iter=12)
        for x in minimisers:
            inside = (result.boxes[:, :, 0] <= x + 1e-12) & (x - 1e-12 <= result.boxes[:, :, 1])
            assert inside.all(1).any(), moment
        assert result.minimum.lo <= 0 <= result.minimum.hi
        statuses.add(result.status)
    assert Status.TIME in statuses or (method, f) == ("paper", wells)  # which stages, and asks for no batch


def test_what_belongs_to_the_user_is_not_hurried() -> None:
    function, seen = trace(wells, 3), []

    def callback(result: Result) -> None:
        time.sleep(0.02)
        seen.append(function.enclose([(-2, 3)] * 3))  # long after the limit

    result = minimize(blocks, [(-3, 3)] * 40, time_limit=0.01, callback=callback)
    assert result.status == Status.TIME and all(found.lo == 0 for found in seen)


# --- iterations ------------------------------------------------------------------------------------------------------


def test_the_limit_of_iterations_holds_over_blocks() -> None:
    whole = minimize(blocks, [(-3, 3)] * 10)
    assert whole.success and whole.nit > 10
    for most in range(1, whole.nit):
        result = minimize(blocks, [(-3, 3)] * 10, max_iter=most)
        assert result.nit <= most and result.status in (Status.ITERATIONS, Status.PROVED)
        assert result.minimum.lo <= whole.minimum.hi and whole.minimum.lo <= result.minimum.hi
        lo, hi = (np.array([own[:, :, end].min(0) if end == 0 else own[:, :, 1].max(0) for _, own in result.blocks])
                  for end in (0, 1))  # fmt: skip
        at = np.array([variables for variables, _ in result.blocks])
        assert (lo.ravel() <= whole.x[at].ravel() + 1e-3).all() and (whole.x[at].ravel() - 1e-3 <= hi.ravel()).all()


# --- bounds that are no numbers --------------------------------------------------------------------------------------


def test_a_bound_that_is_no_number_says_nothing() -> None:
    pool = Pool(1)
    box = np.zeros((3, 1))
    pool.add(Boxes(box, box + 1, np.array([1.0, np.nan, 3.0])))
    pool.drop_above(2.0)
    assert len(pool) == 2 and pool.lowest() == -np.inf and pool.take(1).lower.tolist() == [-np.inf]


@pytest.mark.parametrize("where", ["a pass", "the contractors", "children"])
def test_a_hostile_contractor_with_nan_for_a_bound_loses_no_minimiser(where: str, monkeypatch: Patch) -> None:
    draw = np.random.default_rng(5)

    def spoiled(lower: FloatArray) -> FloatArray:
        return np.where(draw.random(lower.shape) < 0.3, np.nan, lower)

    if where != "children":
        broken = Level if where == "a pass" else ContractorChain
        contract = broken.contract

        def contracted(*given: Any) -> Boxes:
            found = contract(*given)
            return found.with_lower(spoiled(found.lower))

        monkeypatch.setattr(broken, "contract", contracted)
    else:
        from infimum.function.function import Function

        ends = Function.range_ends
        monkeypatch.setattr(
            Function,
            "range_ends",
            lambda *a, **k: (lambda lo, hi: (spoiled(lo) if len(lo) > 1 else lo, hi))(*ends(*a, **k)),
        )
    method = "paper" if where == "children" else "auto"
    result = minimize(turned_wells, [(-2, 3)] * 2, method=method, max_iter=20)
    for x in SIGNS @ TURNED:
        inside = (result.boxes[:, :, 0] <= x + 1e-12) & (x - 1e-12 <= result.boxes[:, :, 1])
        assert inside.all(1).any()
    assert result.minimum.lo <= 0 and not np.isnan(result.bounds).any()


# --- huge exponents --------------------------------------------------------------------------------------------------

POWERS: dict[str, Objective] = {
    "of a power": lambda x: (x[0] ** 50_000) ** 50_000 + x[0],
    "of a power, negative": lambda x: ((x[0] ** 60_000) ** 60_000) ** -60_000 + x[0],
    "product": lambda x: x[0] ** (2**31 - 1) * x[0] ** 5 + x[0],
    "square": lambda x: (x[0] ** (2**31 - 1)) ** 2 + x[0],
    "quotient": lambda x: x[0] / x[0] ** (2**31 - 1) / x[0] ** 3 + x[0],
}


@pytest.mark.parametrize("method", ["auto", "paper"])
@pytest.mark.parametrize("name", POWERS)
def test_exponents_compose_no_further_than_the_core_takes_them(name: str, method: str) -> None:
    result = minimize(POWERS[name], [(0.5, 1.5)], method=method, max_iter=20)
    rising = name in ("of a power", "product", "square")  # 0 + x from 0.5 on; else x beyond 1, where the rest is 0
    assert (0.5 if rising else 1.0) in result.minimum or abs(result.minimum.lo - 1) < 1e-6
    assert LARGEST_POWER == 2**31


# --- joined boxes, plain numbers, Ctrl-C -----------------------------------------------------------------------------


def by_definition(boxes: FloatArray) -> FloatArray:
    """Join the first two boxes that touch, again and again."""
    left = [box.copy() for box in boxes]
    while True:
        pairs = ((i, j) for i in range(len(left)) for j in range(i + 1, len(left)))
        touch = next((p for p in pairs if (np.maximum(left[p[0]][:, 0], left[p[1]][:, 0])
                                           <= np.minimum(left[p[0]][:, 1], left[p[1]][:, 1])).all()), None)  # fmt: skip
        if touch is None:
            return np.array(left).reshape(boxes.shape if not left else (len(left), *boxes.shape[1:]))
        i, j = touch
        other = left.pop(j)
        left[i] = np.stack([np.minimum(left[i][:, 0], other[:, 0]), np.maximum(left[i][:, 1], other[:, 1])], 1)


def test_joined_boxes_are_those_of_the_definition() -> None:
    draw = np.random.default_rng(7)
    for trial in range(300):
        n, k = int(draw.integers(1, 4)), int(draw.integers(0, 25))
        lo = draw.integers(0, draw.integers(2, 25), (k, n)).astype(float)
        boxes = np.stack([lo, lo + draw.integers(0, 3, (k, n)) * draw.choice([0.5, 1.0])], 2)
        if k and trial % 5 == 0:
            boxes[draw.integers(k), 0] = -np.inf, 3.0
        assert np.array_equal(merged(boxes), by_definition(boxes))


def test_hundred_thousand_boxes_are_joined_in_no_time() -> None:
    side = np.arange(316.0)
    corners = np.stack(np.meshgrid(side, side), -1).reshape(-1, 2)
    angle = np.linspace(0, 2 * np.pi, 100_000, endpoint=False)
    circle = np.stack([np.cos(angle), np.sin(angle)], 1)
    before = time.process_time()
    assert len(merged(np.stack([corners, corners + 1], 2))) == 1
    assert len(merged(np.stack([corners, corners + 0.5], 2))) == len(corners)
    assert len(merged(np.stack([circle - 1e-4, circle + 1e-4], 2))) == 1
    assert len(merged(np.stack([circle - 1e-5, circle + 1e-5], 2))) == len(circle)
    assert time.process_time() - before < 10  # 25 minutes for the circle, pair by pair


def test_infinities_are_written_as_text_wherever_they_stand() -> None:
    draw = np.random.default_rng(3)
    for shape in ((), (1,), (4,), (3, 2), (5, 3, 2)):
        array = np.where(draw.random(shape) < 0.3, draw.choice([np.inf, -np.inf, np.nan], shape), draw.random(shape))
        assert plain(array) == plain(array.tolist())


def test_where_ctrl_c_is_ignored_it_stays_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        result = minimize(blocks, [(-3, 3)] * 4, callback=lambda _: signal.raise_signal(signal.SIGINT))
        assert result.success and signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


# --- the clock may jump at any moment --------------------------------------------------------------------------------


class _JumpingClock:
    """A clock that jumps far ahead after it was looked at so many times."""

    def __init__(self, looks: int) -> None:
        self.left = looks

    def perf_counter(self) -> float:
        self.left -= 1
        return time.perf_counter() + (1e6 if self.left < 0 else 0.0)


@pytest.mark.parametrize("method", ["auto", "paper"])
@pytest.mark.parametrize(
    ("f", "minimisers"),
    [
        (lambda x: np.maximum(np.abs(x[0] - 0.3), np.abs(x[1] - 0.1)), [(0.3, 0.1)]),
        (lambda x: np.floor(np.abs(x[0] - 0.5)) + np.floor(np.abs(x[1])), [(0.0, 0.5), (1.25, -0.75), (-0.25, 0.0)]),
        (lambda x: (x[0] ** 2 - 1) ** 2 + (x[1] ** 2 - 0.25) ** 2, [(1, 0.5), (1, -0.5), (-1, 0.5), (-1, -0.5)]),
    ],
)
def test_no_box_is_lost_whenever_time_is_up(
    f: Callable[[Any], Any], minimisers: Any, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped = 0
    for looks in (*range(1, 60), *range(60, 400, 17)):
        monkeypatch.setattr(deadline, "time", _JumpingClock(looks))
        result = minimize(f, [(-2, 2)] * 2, method=method, time_limit=100, max_iter=12)
        if result.status != Status.TIME:
            continue
        stopped += 1
        assert result.minimum.lo <= 0 <= result.minimum.hi
        boxes = result.boxes
        for point in minimisers:
            assert ((boxes[:, :, 0] <= point) & (point <= boxes[:, :, 1])).all(1).any(), f"after {looks} looks: {point}"
    assert stopped > 5 or method == "auto"  # which may be done before the clock is asked
