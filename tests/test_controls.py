"""What can be chosen of the default method, and what its history says; whatever is chosen, the result is true."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import infimum
from claims import Claim, Truth, falsehoods
from infimum import problems
from infimum.api.progress import line
from infimum.boxes import Boxes
from infimum.cli.main import main
from infimum.contractors import Known, MeanValue, Monotone, Stationary, known
from infimum.contractors.chain import ContractorChain
from infimum.contractors.enclosure import Enclosure
from infimum.contractors.table import DEFAULT, NAMES
from infimum.domain import Domain, read_bounds
from infimum.errors import InternalError, InvalidOption
from infimum.function.function import trace
from infimum.search.auto.bisection import bisected
from infimum.search.auto.descent import descended, dived
from infimum.search.auto.points import Points
from infimum.search.auto.split_table import SPLIT_RULES, SPLITS
from infimum.search.outcome import POINTS, Progress, work_summary
from random_functions import planted_function

FloatArray = npt.NDArray[np.float64]
Patch = pytest.MonkeyPatch
INF = math.inf


def valley(x: Any) -> Any:
    return (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2


def camel(x: Any) -> Any:
    """Two minimisers, at (0.0898, -0.7127) and its negative; the minimum is -1.0316284534898774…"""
    return (4 - 2.1 * x[0] ** 2 + x[0] ** 4 / 3) * x[0] ** 2 + x[0] * x[1] + 4 * (x[1] ** 2 - 1) * x[1] ** 2


def steps(x: Any) -> Any:
    """Flat nearly everywhere: no slope leads anywhere."""
    y = np.floor(8 * x) / 8
    return np.sum((y - np.array([0.5, -1.25, 2.0])) ** 2) + np.abs(y[0] * y[1] * y[2] + 1.25)


CAMEL = -1.031628453489877
BOX = [(-3, 3), (-2, 2)]


def found(f: Any, bounds: Any = None, **options: Any) -> Any:
    return infimum.minimize(f, bounds, **{"threads": 1, "progress": False, **options})


def choices() -> list[tuple[str, ...]]:
    return [(), NAMES, *((name,) for name in NAMES), *itertools.combinations(NAMES, 2)]


# --- contractors by name ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("names", choices(), ids="+".join)
def test_any_choice_of_contractors_is_true(names: tuple[str, ...]) -> None:
    for seed in range(20, 28):
        f = planted_function(seed)
        truth = Truth(f.bounds, 0.0, [f.minimiser], [], f.value)
        result = found(f, f.bounds, contractors=names, max_iter=6)
        if result.product is None:
            assert not falsehoods(Claim.of(result), truth), f.name
        assert float(result.minimum.lo) <= 0 <= float(result.minimum.hi), f.name


@pytest.mark.parametrize("names", [(), ("level",), "mean_value", ["stationary", "level"], None], ids=str)
def test_the_goals_are_reached_with_few_contractors_and_with_none(names: Any) -> None:
    gap = 1e-5 if names != () else 1e-2
    result = found(camel, BOX, contractors=names, ftol=gap, xtol=None)
    assert result.success and CAMEL - 2 * gap <= result.minimum.lo <= CAMEL <= result.minimum.hi
    worked_by = {name for step in result.history for name, _ in step.work}
    given = DEFAULT if names is None else (names,) if isinstance(names, str) else names
    assert worked_by & set(NAMES) <= set(given)


def test_without_contractors_boxes_where_the_function_is_undefined_are_dropped() -> None:
    result = found(lambda x: np.sqrt(x[0] - 1) + x[1] ** 2, [(-4, 3), (-1, 1)], contractors=(), ftol=1e-3, xtol=None)
    assert result.success and 0 in result.minimum
    assert (result.boxes[:, 0, 1] >= 1).all()
    nowhere = found(lambda x: np.log(-1 - x[0] ** 2), [(-1, 1)], contractors=())
    assert nowhere.status.name == "UNDEFINED"


def test_a_contractor_that_is_not_named_never_runs(monkeypatch: Patch) -> None:
    def refused(*args: Any, **how: Any) -> Any:
        raise RuntimeError("ran")

    for made in (Monotone, Stationary, MeanValue):
        monkeypatch.setattr(made, "link", property(refused))
    assert found(camel, BOX, contractors="level", ftol=1e-4, xtol=None).success
    with pytest.raises(RuntimeError, match="ran"):
        found(camel, BOX, contractors=("level", "stationary"), ftol=1e-4, xtol=None)


def test_names_alone_choose_the_method_they_belong_to() -> None:
    assert (
        found(camel, BOX, contractors="level", max_iter=1)
        .history[0]
        .main_work.startswith(("level", "descent", "middle"))
    )
    assert found(camel, BOX, split="largest", max_iter=1).nit == 1


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"contractors": "levels"}, r"no contractor 'levels'\. Did you mean 'level'\? There are 'linear', 'level'"),
        ({"contractors": ["mean-value"]}, "no contractor 'mean-value'. Did you mean 'mean_value'?"),
        ({"contractors": ("level", "HC4")}, r"no contractor 'HC4'\. There are"),
        ({"contractors": 3}, r"contractors=3 is no list of names\. Write contractors=\('level', 'quadratic'\)"),
        ({"contractors": [3]}, "no contractor 3"),
        ({"contractors": "level", "method": "paper"}, "contractors='level' belongs to method='auto'"),
        ({"contractors": (), "method": "paper"}, r"contractors=\(\) belongs to method='auto'"),
        ({"contractors": "level", "partition": "golden"}, "partition='golden' belongs to method='paper'"),
        ({"split": "widest"}, "split='widest' is not offered. Write split='smear' or 'largest' or 'round_robin'"),
        ({"split": "largest", "method": "paper"}, "split='largest' belongs to method='auto'"),
        ({"split": 2}, "split=2 is not offered"),
    ],
    ids=str,
)
def test_controls_that_mean_nothing_are_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidOption, match=words):
        infimum.minimize(camel, BOX, **given)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--contractors", "level,stationary"], 0, "status  0 (proved)"),
        (["--contractors", "none", "--split", "round_robin", "--xtol", "none", "--ftol", "1e-2"], 0, "0 (proved)"),
        (["--contractors", "level, mean_value", "--split", "largest"], 0, "0 (proved)"),
        (["--contractors", "levle"], 2, "Did you mean 'level'?"),
        (["--split", "smeer"], 2, "split='smeer' is not offered"),
        (["--contractors", "level", "--method", "paper"], 2, "belongs to method='auto'"),
    ],
    ids=str,
)
def test_the_command_takes_names(
    arguments: list[str], code: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["solve", "levy", "--dim", "2", "--threads", "1", *arguments]) == code
    written = capsys.readouterr()
    assert words in (written.err if code else written.out)


def a_raised_bound(patch: Patch) -> None:
    real = Enclosure.contract

    def broken(self: Enclosure, boxes: Boxes, known: Known) -> Boxes:
        found = real(self, boxes, known)
        return found.with_lower(found.lower + 0.01)

    patch.setattr(Enclosure, "contract", broken)


def partly_undefined_boxes_dropped(patch: Patch) -> None:
    def broken(self: Enclosure, boxes: Boxes, known: Known) -> Boxes:
        least, _ = known.function.sharp_ends(*boxes.ends)
        return boxes.with_lower(np.maximum(boxes.lower, least)).emptied(~known.facts(boxes)[0])

    patch.setattr(Enclosure, "contract", broken)


def equal_bounds_dropped(patch: Patch) -> None:
    real = ContractorChain._some

    def broken(self: ContractorChain, boxes: Boxes, upper: float) -> Any:
        return real(self, boxes, math.nextafter(upper, -INF))

    patch.setattr(ContractorChain, "_some", broken)


@pytest.mark.parametrize("broken", [a_raised_bound, partly_undefined_boxes_dropped, equal_bounds_dropped])
def test_a_broken_bound_is_noticed_without_contractors(broken: Callable[[Patch], None], monkeypatch: Patch) -> None:
    def everything_holds() -> None:
        test_any_choice_of_contractors_is_true(())
        test_without_contractors_boxes_where_the_function_is_undefined_are_dropped()

    broken(monkeypatch)
    with pytest.raises((AssertionError, InternalError)):
        everything_holds()


# --- where boxes are cut ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("split", SPLITS)
def test_every_rule_finds_the_same_truth(split: str) -> None:
    for seed in range(40, 50):
        f = planted_function(seed)
        result = found(f, f.bounds, split=split, max_iter=8)
        assert float(result.minimum.lo) <= 0 <= float(result.minimum.hi), f.name
        if result.product is None:
            assert not falsehoods(Claim.of(result), Truth(f.bounds, 0.0, [f.minimiser], [], f.value)), f.name


def test_the_rules_go_different_ways() -> None:
    def skewed(x: Any) -> Any:
        return np.sin(40 * x[0]) * x[1] + 0.01 * x[2] ** 2 + x[0] * x[2] * 0.1

    box = [(-1, 1), (-2, 2), (-9, 9)]
    results = {split: found(skewed, box, split=split, ftol=1e-2, xtol=None, contractors=()) for split in SPLITS}
    assert all(result.success for result in results.values())
    assert max(result.minimum.lo for result in results.values()) <= min(r.minimum.hi for r in results.values())
    assert len({tuple(step.regions for step in result.history) for result in results.values()}) == len(SPLITS)
    default = found(skewed, box, ftol=1e-2, xtol=None, contractors=())
    assert [step[:4] for step in default.history] == [step[:4] for step in results["smear"].history]


class Told(Known):
    """What a test tells of the slopes."""

    slopes: FloatArray

    def gradient(self, boxes: Boxes) -> Any:
        return -self.slopes, self.slopes


def proposed(
    split: str, lo: FloatArray, hi: FloatArray, *, slopes: Any = 1.0, whole: Any = 1.0, widths: Any = None
) -> Any:
    n = lo.shape[1]
    zero = np.zeros(n)
    domain = Domain(zero, zero + whole, zero, zero + whole)
    known = Told(trace(lambda x: np.sum(x), n), domain, widths=widths)
    object.__setattr__(known, "slopes", np.broadcast_to(slopes, lo.shape))
    known.remember(Boxes(lo, hi), (-np.abs(known.slopes), np.abs(known.slopes)), np.ones(len(lo), bool))
    return SPLIT_RULES[split].cuts(Boxes(lo, hi), known)


def variables(split: str, lo: FloatArray, hi: FloatArray, **told: Any) -> list[int]:
    found: list[int] = proposed(split, lo, hi, **told).variables.tolist()
    return found


def test_smear_cuts_where_the_function_changes_and_largest_the_widest() -> None:
    lo, hi = np.zeros((2, 3)), np.array([[1.0, 2.0, 4.0], [1.0, 2.0, 4.0]])
    slopes = np.array([[10.0, 1.0, 1.0], [1.0, INF, 1.0]])
    assert variables("smear", lo, hi, slopes=slopes) == [0, 2]  # where a slope is infinite, the widest
    assert variables("largest", lo, hi) == [2, 2]
    narrow = np.array([1e-3, 1e-3, 5.0])
    assert variables("largest", lo, hi, widths=narrow) == [1, 1]  # a variable that is narrow enough comes last


def test_round_robin_cuts_one_variable_after_the_other() -> None:
    lo, hi, whole = np.array([[0.0, -8.0, 3.0]]), np.array([[1.0, 8.0, 3.5]]), np.array([1.0, 16.0, 0.5])
    order = []
    for _ in range(9):
        cuts = proposed("round_robin", lo, hi, whole=whole)
        order.append(int(cuts.variables[0]))
        lo, hi = bisected(Boxes(lo, hi), cuts)[:1].ends
    assert order == [0, 1, 2] * 3


@pytest.mark.parametrize("whole", [[INF, 1.0], [1e-300, 1.0], [0.0, 1.0]], ids=str)
def test_round_robin_starves_no_variable(whole: list[float]) -> None:
    width = np.array([1e-300 if whole[0] == 1e-300 else 0.0 if whole[0] == 0 else INF, 1.0])
    lo, hi = np.array([[0.0, 0.0]]), width[None].copy()
    cut = []
    for _ in range(3000):
        cuts = proposed("round_robin", lo, hi, whole=np.array(whole))
        cut.append(int(cuts.variables[0]))
        lo, hi = bisected(Boxes(lo, hi), cuts)[:1].ends
    assert 1 in cut and (0 in cut or width[0] == 0)
    assert (hi - lo).max() < 1e-3


@pytest.mark.parametrize("split", SPLITS)
def test_no_rule_can_lose_a_point(split: str) -> None:
    random = np.random.default_rng(3)
    lo = random.normal(size=(50, 4))
    hi = lo + np.abs(random.normal(size=(50, 4))) * random.choice([0.0, 1.0, 1e-300, 1e300], (50, 4))
    points = np.clip(lo + random.uniform(size=lo.shape) * (hi - lo), lo, hi)
    cuts = proposed(split, lo, hi, slopes=np.abs(random.normal(size=lo.shape)))
    low, high, lower = bisected(Boxes(lo, hi, np.arange(50.0)), cuts)
    for point, bound in zip(points, range(50), strict=True):
        assert ((low <= point) & (point <= high)).all(1)[lower == bound].any()


# --- what the history says -------------------------------------------------------------------------------------------


def test_the_history_names_what_did_the_work() -> None:
    result = found(camel, BOX, ftol=1e-8, xtol=None)
    names = {name for step in result.history for name, _ in step.work}
    assert names <= {*NAMES, *POINTS, "split"} and "split" in names and names & set(NAMES) and names & set(POINTS)
    for before, step in itertools.pairwise(result.history):
        lowered = any(name in POINTS for name, _ in step.work)
        assert lowered == (step.upper < before.upper)
        boxes = [number for name, number in step.work if name in NAMES]
        assert boxes == sorted(boxes, reverse=True) and all(number > 0 for number in boxes)
        assert sum(boxes) <= 2 * before.regions  # contracted twice, where a better point was found
        assert step.main_work
    one = found(problems.levy(1000)).history[0]
    assert one.main_work == "level, probe" and dict(one.work)["level"] == pytest.approx(1.0)


def test_a_start_is_named_where_it_is_good() -> None:
    assert ("start", 1.0) in found(valley, [(-2, 2), (-1, 3)], x0=[1.0, 1.0], max_iter=1).history[0].work


def test_the_papers_method_names_samples_and_discards() -> None:
    result = found(problems.griewank(20), method="paper", max_iter=30)
    words = {step.main_work for step in result.history}
    assert words <= {"", "sample", "discard", "discard, sample"} and "sample" in words
    for before, step in itertools.pairwise(result.history):
        assert (("sample", 1.0) in step.work) == (step.upper < before.upper)


def test_work_survives_a_maximum_blocks_json_and_the_display() -> None:
    result = found(lambda x: -camel(x), BOX, maximize=True, ftol=1e-6, xtol=None)
    assert any(name in NAMES for step in result.history for name, _ in step.work)
    written = json.loads(json.dumps(result.to_dict()))["history"][0]
    assert [list(pair) for pair in result.history[0].work] == written["work"]
    seen: list[Any] = []
    found(problems.qing(12), callback=seen.append, ftol=1e-6)
    assert all(result.history[0].main_work for result in seen)
    text = line(Progress(3, 0.0, 1.0, 17, 1.0, (("level", 3.0), ("descent", 1.0), ("split", 4.0))), "f")
    assert "17 regions  level, descent  3/s" in text


@pytest.mark.parametrize(
    ("work", "word"),
    [
        ((), ""),
        ((("split", 4.0),), "split"),
        ((("level", 2.0), ("monotone", 1.0), ("split", 4.0)), "level"),
        ((("probe", 1.0), ("descent", 1.0), ("split", 1.0)), "probe"),
        ((("discard", 3.0), ("sample", 1.0)), "discard, sample"),
    ],
)
def test_a_word_or_two_say_what_an_iteration_did(work: Any, word: str) -> None:
    assert Progress(1, 0.0, 1.0, 1, 0.0, work).main_work == word


def test_work_is_ordered_and_progress_needs_none() -> None:
    assert work_summary({"level": 1.0, "monotone": 2.3456}, {"split": 3, "probe": 1}) == (
        ("monotone", 2.35), ("level", 1.0), ("probe", 1), ("split", 3),
    )  # fmt: skip
    assert Progress(1, 0.0, 1.0, 2, 0.1).work == ()


# --- points ----------------------------------------------------------------------------------------------------------


def test_a_dive_finds_good_points_where_no_slope_leads_down(monkeypatch: Patch) -> None:
    def fine(x: Any) -> Any:
        y = np.floor(50 * x) / 50
        return np.sum((y - np.array([0.52, -1.26, 2.0])) ** 2) + np.abs(y[0] * y[1] * y[2] + 1.3104)

    def uppers() -> Any:
        return found(fine, [(-4.1, 4.3)] * 3, ftol=1e-9, xtol=None, max_iter=4, contractors=("mean_value",))

    with_dives = uppers()
    assert any(name == "dive" for step in with_dives.history for name, _ in step.work)
    monkeypatch.setattr(Points, "descend", lambda self, starts, boxes=None: "")
    assert with_dives.minimum.hi <= uppers().minimum.hi


def test_a_dive_stays_in_its_box_and_looks_at_the_halves() -> None:
    lo, hi = np.array([-1.0, 2.0]), np.array([3.0, 2.5])
    asked: list[FloatArray] = []

    def f(x: FloatArray) -> FloatArray:
        asked.append(x)
        return np.abs(x[:, 0] - 2.9) + np.abs(x[:, 1] - 2.01)

    point = dived(f, lo, hi)
    assert np.abs(point - [2.9, 2.01]).max() < 1e-3
    assert ((np.vstack(asked) >= lo) & (np.vstack(asked) <= hi)).all()


def test_a_dive_survives_undefined_points_and_infinite_boxes() -> None:
    point = dived(lambda x: np.where(x[:, 0] < 0, np.nan, np.abs(x[:, 0] - 7)), np.array([-INF]), np.array([INF]))
    assert abs(point[0] - 7) < 1
    assert np.isfinite(dived(lambda x: np.full(len(x), np.nan), np.array([-1.0]), np.array([1.0]))).all()


def test_a_descent_reaches_the_minimum_whatever_the_scales() -> None:
    scales = np.array([1e-4, 1.0, 1e5])

    def f(x: FloatArray) -> tuple[float, FloatArray]:
        y = x / scales - 0.3
        return 2.0 + float(y @ y) + float(y[0] * y[1]), (2 * y + np.array([y[1], y[0], 0.0])) / scales

    count = 0

    def counted(x: FloatArray) -> tuple[float, FloatArray]:
        nonlocal count
        count += 1
        return f(x)

    end = descended(counted, 0.9 * scales, -scales, scales)
    assert f(end)[0] - 2.0 < 1e-10 and count < 60


def test_no_descent_is_made_twice(monkeypatch: Patch) -> None:
    starts: list[bytes] = []
    real = descended

    def seen(f: Any, start: FloatArray, *rest: Any, **how: Any) -> FloatArray:
        starts.append(start.tobytes())
        return real(f, start, *rest, **how)

    monkeypatch.setattr("infimum.search.auto.points.descended", seen)
    found(problems.schwefel(5), ftol=1e-6, xtol=None, max_iter=4)
    assert len(starts) == len(set(starts)) > 0


# --- gradients are evaluated once ------------------------------------------------------------------------------------


def counted(function: Any, monkeypatch: Patch) -> Callable[[], int]:
    boxes = [0]
    real = function.gradient_ends

    def gradient_ends(lo: FloatArray, hi: FloatArray, **how: Any) -> Any:
        boxes[0] += len(lo)
        return real(lo, hi, **how)

    monkeypatch.setattr(function, "gradient_ends", gradient_ends)
    return lambda: boxes[0]


def test_what_is_remembered_is_the_functions_own() -> None:
    random = np.random.default_rng(7)
    function = trace(camel, 2)
    memory = Known(function, read_bounds(BOX, 2))
    lo = random.uniform(-2, 1, (30, 2))
    hi = lo + random.uniform(0, 1, (30, 2))
    for _ in range(40):
        kind = random.integers(0, 5)
        if kind == 0:  # some boxes shrink
            some = random.uniform(size=30) < 0.3
            hi = np.where(some[:, None], (lo + hi) / 2, hi)
        elif kind == 1 and len(lo) > 3:  # some are dropped
            some = random.uniform(size=len(lo)) < 0.8
            some[:3] = True
            memory.keep(some)
            lo, hi = lo[some], hi[some]
        elif kind == 2:  # others take their place, in place
            lo -= 0.25
        if len(lo) != 30:
            lo, hi = np.resize(lo, (30, 2)), np.resize(hi, (30, 2))
        for mine, own in zip(memory.gradient(Boxes(lo, hi)), function.gradient_ends(lo, hi), strict=True):
            np.testing.assert_array_equal(mine, own)
        for mine, own in zip(memory.facts(Boxes(lo, hi)), function.fact_arrays(lo, hi), strict=True):
            np.testing.assert_array_equal(mine, own)


def test_a_box_that_stays_as_it_is_is_evaluated_once(monkeypatch: Patch) -> None:
    function, domain = trace(camel, 2), read_bounds(BOX, 2)
    chain = ContractorChain(function, domain, contractors=("monotone", "mean_value"))
    found = chain.contract(Boxes(domain.lo[None], domain.hi[None]), INF)
    assert (found.lo == domain.lo).all() and (found.hi == domain.hi).all()
    known_slopes, count = chain.known.remembered(), counted(function, monkeypatch)
    assert known_slopes is not None and known_slopes.has.all()
    for ends, again in zip(known_slopes.slopes, function.gradient_ends(*found.ends), strict=True):
        assert np.array_equal(ends, again)
    chain.known.gradient(found)
    assert count() == 1, "only the test has asked"


def test_a_stale_memory_is_noticed(monkeypatch: Patch) -> None:
    def stale(self: Any, boxes: Boxes, ask: Callable[[FloatArray, FloatArray], Any]) -> Any:
        if not self._answers or len(self._lo) != len(boxes):
            self._lo, self._answers = boxes.lo, ask(*boxes.ends)
        return self._answers

    monkeypatch.setattr(known._Memory, "of", stale)
    with pytest.raises((AssertionError, InternalError)):
        test_what_is_remembered_is_the_functions_own()
