"""Success means that the goals hold on the final numbers: for both methods, whatever the function is."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import infimum
from goal_problems import INF, Problem, problem
from infimum import problems
from infimum.errors import InternalError, InvalidOption, UnreachableTolerance
from infimum.search import goals, method, verdict
from infimum.search.auto import search as auto
from infimum.search.auto import separable
from infimum.search.goals import Goals
from infimum.search.outcome import Outcome, Proof
from infimum.search.status import Status

# --- what the goals mean, written down a second time -----------------------------------------------------------------


def asked(options: dict[str, Any], bounds: Any) -> tuple[float | None, float, list[list[Fraction]]]:
    """ftol, fatol, and for each variable the widths that its boxes must stay below."""
    is_paper = options.get("method") == "paper"
    ftol, fatol = options.get("ftol", "default"), options.get("fatol", "default")
    if ftol == "default":
        ftol = 1e-6 if not is_paper else None if fatol in ("default", None) else 0
    fatol = 1e-9 if fatol == "default" else fatol or 0
    xtol = options.get("xtol", 1e-4 if is_paper and options.get("xrtol") is None else None)
    widths: list[list[Fraction]] = [[] for _ in bounds]
    for given, relative in ((xtol, False), (options.get("xrtol"), True)):
        if given is None:
            continue
        pairs = (
            given.items()
            if isinstance(given, dict)
            else enumerate(given if isinstance(given, list) else [given] * len(bounds))
        )
        for i, width in pairs:
            lo, hi = bounds[i]
            if width is not None and not (relative and lo == hi):
                widths[i].append(Fraction(width) * (Fraction(hi) - Fraction(lo) if relative else 1))
    return ftol, fatol, widths


def unmet(result: Any, options: dict[str, Any], bounds: Any) -> list[str]:
    """What of the goals does not hold, in exact numbers, read off the result alone."""
    ftol, fatol, widths = asked(options, bounds)
    lo, hi = (float(end) for end in (result.optimum.lo, result.optimum.hi))
    said = [] if result.x is not None else ["no point"]
    if not (math.isfinite(lo) and math.isfinite(hi)):
        said.append(f"no bound: [{lo}, {hi}]")
    elif ftol is not None:
        value = Fraction(lo if options.get("maximize") else hi)
        if Fraction(hi) - Fraction(lo) > max(Fraction(ftol) * abs(value), Fraction(fatol)):
            said.append(f"value: [{lo}, {hi}]")
    for variables, boxes in result.blocks:
        for k, i in enumerate(variables):
            for a, b in boxes[:, k]:
                for width in widths[i]:
                    if not math.isfinite(b - a) or not Fraction(float(b)) - Fraction(float(a)) < width:
                        said.append(f"width: x[{i}] in [{a}, {b}]")
    return said


def found(one: Problem) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return infimum.minimize(one.f, one.bounds, threads=1, progress=False, backend="cpu", **one.options)


def holds(one: Problem) -> Status:
    """Success, and no other status, means that nothing is unmet; a goal that was missed is named."""
    result = found(one)
    missing = unmet(result, one.options, one.bounds)
    assert result.success == (result.status == Status.PROVED), one.text
    assert not (result.success and missing), (one.text, one.options, missing[:3], str(result))
    if result.status == Status.GOAL_MISSED:
        assert missing, (one.text, one.options, str(result))
        assert "Box " in result.message and "x[" in result.message, result.message
    return Status(result.status)


# --- on any function -------------------------------------------------------------------------------------------------


def hold(count: int) -> Counter[Status]:
    return Counter(holds(problem(seed)) for seed in range(count))


def test_success_is_never_claimed_with_a_missed_goal(pytestconfig: pytest.Config) -> None:
    count = pytestconfig.getoption("--arguments") // 100
    seen = hold(count)
    assert seen[Status.PROVED] > count / 10 and seen[Status.GOAL_MISSED] > count / 100, seen


def test_the_sample_notices_a_search_that_is_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    judged = verdict.judged
    for place in (method, separable):
        monkeypatch.setattr(place, "judged", lambda one, asked: judged(one, asked) if one.x is None else one)
    with pytest.raises(AssertionError, match=r"value|width|no point|no bound"):
        hold(40)


@pytest.mark.parametrize("broken", [
    (Goals, "is_value_met", lambda self, lower, upper: True),
    (Goals, "is_value_met", lambda self, lower, upper: upper - lower <= (self.ftol or 1) * max(1, abs(upper))),
    (verdict, "_too_wide", lambda outcome, widths: None),
    (verdict, "is_wide", lambda lo, hi, widths: hi - lo > 100 * widths),
], ids=["any value", "the old gap", "any width", "a hundred times the width"])  # fmt: skip
def test_the_sample_notices_a_broken_verdict(broken: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*broken)
    with pytest.raises(AssertionError):
        hold(80)


NAMED: dict[str, tuple[Any, Any]] = {
    "sin(x)/x": (lambda x: np.sin(x[0]) / x[0], [(-1, 1)]),
    "x**x": (lambda x: x[0] ** x[0], [(0, 1)]),
    "x log x": (lambda x: x[0] * np.log(x[0]), [(0, 1)]),
    "steps": (lambda x: (np.floor(x[0]) + 0.5) ** 2, [(-3, 3)]),
    "pole": (lambda x: 1 / x[0], [(-1, 1)]),
    "plane": (lambda x: x[0] ** 4 + x[1] ** 4 - 10 * x[0] * x[1] + x[0], [(-INF, INF)] * 2),
    "falling": (lambda x: np.exp(-x[0]), [(0, INF)]),
    "line": (lambda x: x[0] + x[1] ** 2, [(-INF, INF)] * 2),
    "hole": (lambda x: np.where(x[0] > 0, x[0], 10.0), [(-1, 1)]),
    "blocks of steps": (lambda x: np.sum((np.floor(x) + 0.5) ** 2), [(-3, 3)] * 9),
}


@pytest.mark.parametrize("method", ["auto", "paper"])
@pytest.mark.parametrize(
    "goal", [{}, {"xtol": 1e-4}, {"ftol": None, "xtol": 1e-4}, {"ftol": 1e-3, "fatol": 0}], ids=str
)
@pytest.mark.parametrize("name", NAMED)
def test_success_is_never_claimed_on_functions_with_edges(name: str, goal: dict[str, Any], method: str) -> None:
    f, bounds = NAMED[name]
    limits = {"time_limit": 0.5, "max_iter": 20 if len(bounds) > 2 else 300, "max_regions": 20_000}
    holds(Problem(name, f, bounds, {"method": method, **limits, **goal}))


# --- blocks ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shift", [0.0, 1e-7, -12.5, 1e6])
def test_the_gap_of_the_whole_is_shared_by_blocks_whatever_its_size(shift: float) -> None:
    n = 12

    def f(x: Any) -> Any:
        return np.sum((x**2 - np.arange(1, n + 1)) ** 2 * (2 + np.sin(5 * x))) + shift

    for given in ({}, {"fatol": 0}, {"ftol": 0, "fatol": 1e-5}, {"xtol": 1e-4}):
        options = {"time_limit": 20, **given}
        if shift == 0 and given == {"fatol": 0}:
            options["max_iter"] = 50  # a gap of a millionth of nothing
        status = holds(Problem(f"shift {shift}", f, [(-4, 5)] * n, options))
        assert status == Status.PROVED or (shift == 0 and given == {"fatol": 0}), (shift, given, status)


def test_minima_of_blocks_that_cancel_leave_a_smaller_gap() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.cos(3 * x[:6]) + x[:6] ** 2 / 9) * 1000 - np.sum(np.cos(3 * x[6:]) + x[6:] ** 2 / 9) * 1000

    result = infimum.minimize(f, [(-2, 2.5)] * 12, time_limit=20)
    assert result.success and unmet(result, {}, [(-2, 2.5)] * 12) == []


# --- units -----------------------------------------------------------------------------------------------------------

LOAD = np.array([77.6, 114.9, 141.1, 190.8, 239.9, 289.0, 332.8, 378.4, 434.8, 477.3, 536.8, 593.1, 689.1, 760.0])
SEEN = np.array([10.07, 14.73, 17.94, 23.93, 29.61, 35.18, 40.02, 44.82, 50.76, 55.05, 61.01, 66.40, 75.47, 81.78])


def misra1b(b: Any) -> Any:
    """NIST's regression; certified: 7.5464681533e-2 at 337.99746163, 3.9039091287e-4."""
    return np.sum((SEEN - b[0] * (1 - (1 + b[1] * LOAD / 2) ** -2)) ** 2)


def test_a_fit_with_a_parameter_near_4e_4_is_proved_by_default() -> None:
    result = infimum.minimize(misra1b, [(0, 1000), (0, 0.01)], time_limit=30)
    assert result.success and float(result.minimum.wid) <= 1e-6 * float(result.minimum.hi)
    assert float(result.minimum.lo) <= 7.5464681533e-2 * (1 + 1e-10) and float(result.minimum.hi) >= 7.5464681532e-2
    assert result.nit < 200


@pytest.mark.parametrize("unit", [1e-12, 1e-3, 1.0, 1e9])
def test_relative_goals_do_not_depend_on_the_units(unit: float) -> None:
    """The same model with its variables in another unit, and its value in another."""

    def f(x: Any) -> Any:
        return (1 + np.sum((x / unit - 0.3) ** 2) + np.cos(7 * x[0] / unit) / 3) * unit

    result = infimum.minimize(f, [(-2 * unit, 3 * unit)] * 2, fatol=0, xrtol=1e-3, time_limit=20)
    assert result.success and float(result.minimum.wid) <= 1e-6 * abs(float(result.minimum.hi))
    assert (np.diff(result.boxes, axis=2) < 5e-3 * unit).all()


def test_widths_relative_to_no_width_are_refused() -> None:
    with pytest.raises(InvalidOption, match=r"xrtol is relative to the width of the domain.*variable 1.*Write xtol"):
        infimum.minimize(lambda x: np.sum(x**2), [(0, 1), (0, INF)], xrtol=1e-3)
    one = {"xrtol": {0: 1e-3}}
    assert holds(Problem("one", lambda x: np.sum(x**2), [(0, 1), (0, INF)], one)) == Status.PROVED
    fixed = {"xrtol": 1e-3, "xtol": None}
    assert holds(Problem("fixed", lambda x: np.sum(x**2), [(0, 1), (2, 2)], fixed)) == Status.PROVED


def test_without_a_width_no_time_is_spent_on_narrow_boxes() -> None:
    by_value = infimum.minimize(problems.qing(10))
    by_width = infimum.minimize(problems.qing(10), xtol=1e-9)
    assert by_value.success and by_width.success and by_value.nit < by_width.nit
    assert by_value.count() < by_width.count() == 2**10


# --- the verdict itself ----------------------------------------------------------------------------------------------


def outcome(**given: Any) -> Outcome:
    made: dict[str, Any] = {
        "lower": 1.0, "upper": 1.0, "boxes": np.array([[[0.0, 1.0]]]), "lower_bounds": np.array([1.0]),
        "x": np.zeros(1), "fun": 1.0, "status": Status.PROVED, "nit": 1, "boxes_evaluated": 1, "points_evaluated": 1,
        "seconds": 0.0,
    }  # fmt: skip
    return Outcome(**{**made, **given})


def test_a_gap_is_compared_without_rounding() -> None:
    draw = np.random.default_rng(8)
    for _ in range(2000):
        upper = float(draw.normal() * 10.0 ** draw.integers(-8, 8))
        ftol = float(10.0 ** -draw.integers(0, 15)) * float(draw.uniform(0.5, 1))
        lower = upper - ftol * abs(upper)
        for _ in range(int(draw.integers(0, 3))):
            lower = math.nextafter(lower, math.inf if draw.random() < 0.5 else -math.inf)
        exact = Fraction(upper) - Fraction(lower) <= Fraction(ftol) * abs(Fraction(upper))
        asked_for = Goals(ftol, 0.0)
        assert asked_for.is_value_met(lower, upper) == exact
        assert exact or not asked_for.are_close(lower, upper), "the search may be stricter, never laxer"
    assert Goals(0.0, 0.0).are_close(1.0, 1.0) and not Goals(0.0, 0.0).are_close(math.nextafter(1.0, 0.0), 1.0)
    assert not Goals(1e-6, 1e-9).are_close(0.0, INF) and not Goals(1.0, INF).is_value_met(-INF, 0.0)
    assert goals.is_wide(np.array([0.0]), np.array([INF]), np.array([1e300])).all()


@pytest.mark.parametrize(
    ("given", "asked_for", "status"),
    [
        ({}, Goals(1e-6, 0.0), Status.PROVED),
        ({"status": Status.TIME}, Goals(1e-6, 0.0), Status.PROVED),
        ({"status": Status.TIME}, Goals(), Status.TIME),
        ({"status": Status.INTERRUPTED}, Goals(1e-6, 0.0), Status.INTERRUPTED),
        ({"status": Status.RUNNING, "lower": -INF}, Goals(1e-6, 0.0), Status.RUNNING),
        ({"lower": 0.5, "lower_bounds": np.array([0.5])}, Goals(1e-6, 0.0), Status.GOAL_MISSED),
        ({"lower": 0.5, "status": Status.ITERATIONS}, Goals(1e-6, 0.0), Status.ITERATIONS),
        ({"lower": -INF}, Goals(None, 0.0, 2.0), Status.GOAL_MISSED),
        ({}, Goals(None, 0.0, 1.0), Status.GOAL_MISSED),
        ({}, Goals(None, 0.0, math.nextafter(1.0, 2.0)), Status.PROVED),
        ({"boxes": np.array([[[0.0, INF]]])}, Goals(None, 0.0, 1e300), Status.GOAL_MISSED),
        ({"boxes": np.array([[[0.0, INF]]])}, Goals(None, 0.0, np.array([INF])), Status.PROVED),
        ({"x": None, "upper": INF}, Goals(None, 0.0, 2.0), Status.NO_POINT),
        ({"x": None, "upper": INF, "status": Status.MEMORY}, Goals(None, 0.0, 2.0), Status.MEMORY),
        ({"x": None, "upper": INF, "boxes": np.empty((0, 1, 2))}, Goals(1e-6, 0.0), Status.UNDEFINED),
        ({"proof": Proof(Status.UNBOUNDED, "A pole.")}, Goals(1e-6, 0.0), Status.UNBOUNDED),
        ({"proof": Proof(Status.NOT_ATTAINED, "An edge.")}, Goals(1e-6, 0.0), Status.NOT_ATTAINED),
        ({"proof": Proof(Status.UNBOUNDED, "A pole."), "x": None, "upper": INF}, Goals(1e-6, 0.0), Status.UNBOUNDED),
        ({"proof": Proof(Status.UNBOUNDED, "A pole."), "status": Status.TIME}, Goals(1e-6, 0.0), Status.UNBOUNDED),
    ],
)
def test_every_row_of_the_verdict(given: dict[str, Any], asked_for: Goals, status: Status) -> None:
    assert verdict.judged(outcome(**given), asked_for).status == status


def test_a_point_without_a_box_is_a_fault_and_no_claim() -> None:
    with pytest.raises(InternalError, match="no claim is made"):
        verdict.judged(outcome(boxes=np.empty((0, 1, 2))), Goals(1e-6, 0.0))


def test_a_proof_ends_the_search_and_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    iterate = auto.Search._iterate

    def proving(self: Any) -> None:
        iterate(self)
        self.proof = Proof(Status.UNBOUNDED, "1/x has a pole of one sign at 0.")

    monkeypatch.setattr(auto.Search, "_iterate", proving)
    result = infimum.minimize(lambda x: 1 / x[0], [(-1, 1)])
    assert result.status == 9 and not result.success and result.nit == 1 and "pole of one sign" in result.message
    blocks = infimum.minimize(lambda x: np.sum(np.cos(x) + 1 / x), [(-1, 1)] * 12)
    assert blocks.status == 9 and "pole of one sign" in blocks.message


def test_an_unreachable_width_is_missed_and_said() -> None:
    with pytest.warns(UnreachableTolerance, match="the goal will be missed"):
        result = infimum.minimize(lambda x: np.sin(x[0]) + x[0] / 3, [(-9, 9)], xtol=1e-20, time_limit=20)
    assert (
        result.status == Status.GOAL_MISSED and "x[0]" in result.message and "cannot be split further" in result.message
    )


def test_the_message_names_the_box_the_numbers_and_the_reason() -> None:
    low = infimum.minimize(lambda x: 1 / x[0], [(-1, 1)], ftol=None, xtol=1e-2)
    high = infimum.minimize(lambda x: 1 / x[0], [(-1, 1)], ftol=None, xtol=1e-2, maximize=True)
    for result, word in ((low, "below"), (high, "above")):
        if result.status == Status.GOAL_MISSED:
            assert f"may be unbounded {word}" in result.message and "Box 1 of" in result.message
    assert isinstance(low.to_dict()["message"], str) and isinstance(SimpleNamespace(**low), SimpleNamespace)
