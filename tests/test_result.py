"""Results: read as SciPy's, printed truthfully, and merged without losing a point."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import infimum
from infimum.interval import Interval, is_empty
from infimum.records.merge import merged
from infimum.records.result import Result, result_of
from infimum.records.writing import enclosure
from infimum.search.outcome import Outcome, Progress
from infimum.search.status import Status

INF = float("inf")


def outcome(**given: Any) -> Outcome:
    made = {
        "lower": -1.0, "upper": -0.9999, "boxes": np.array([[[0, 1], [2, 3]], [[1, 2], [3, 4]]]),
        "lower_bounds": np.array([-1.0, -0.99995]), "x": np.array([0.5, 2.5]), "fun": -0.99991,
        "status": Status.PROVED, "nit": 7, "boxes_evaluated": 60, "points_evaluated": 10, "seconds": 0.25,
        "product": None, "proof": None, "missed": None, "history": [Progress(1, -2.0, 0.0, 5, 0.1)],
    }  # fmt: skip
    return Outcome(**{**made, **given})


def test_every_promised_name_is_an_attribute_and_a_key() -> None:
    result = result_of(outcome())
    names = [
        "minimum",
        "boxes",
        "lower_bounds",
        "gap",
        "x",
        "fun",
        "success",
        "status",
        "message",
        "nit",
        "nfev",
        "boxes_evaluated",
        "points_evaluated",
        "nregions",
        "seconds",
        "history",
        "backend",
        "trust",
    ]
    assert list(result) == names == list(result.keys())
    for name in names:
        assert result[name] is getattr(result, name) or np.array_equal(result[name], getattr(result, name))
    assert "x" in result and "y" not in result and result.get("y") is None
    assert (result.minimum.lo, result.minimum.hi) == (-1.0, -0.9999)
    assert result.success and result.status == 0 and result.nregions == 2
    assert result.history == [Progress(1, -2.0, 0.0, 5, 0.1)]
    with pytest.raises(KeyError):
        result["optimum"]


def test_a_maximum_is_the_negated_minimum() -> None:
    result = result_of(outcome(), maximize=True)
    assert (result.maximum.lo, result.maximum.hi) == (0.9999, 1.0)
    assert result.fun == 0.99991 and result.upper_bounds.tolist() == [1.0, 0.99995]
    assert result.history == [Progress(1, 0.0, 2.0, 5, 0.1)] and not np.signbit(result.history[0].lower)
    assert "maximum" in result and "minimum" not in result and "upper_bounds" in result
    with pytest.raises(AttributeError, match=r"maximised, so there is no minimum: read result\.maximum"):
        result.minimum  # noqa: B018
    with pytest.raises(AttributeError, match="minimised, so there is no maximum"):
        result_of(outcome()).maximum  # noqa: B018


@pytest.mark.parametrize("status", list(Status))
def test_every_status_is_a_sentence(status: Status) -> None:
    result = result_of(outcome(status=status))
    assert result.message == status.sentence and result.message.endswith(".")
    assert result.success == (status == 0)


def test_the_numbers_of_the_statuses_are_fixed() -> None:
    names = ["PROVED", "TIME", "ITERATIONS", "REGIONS", "MEMORY", "INTERRUPTED", "UNDEFINED", "NO_POINT", "GOAL_MISSED"]
    names += ["UNBOUNDED", "NOT_ATTAINED"]
    assert [Status[name].value for name in names] == list(range(11))


def test_undefined_everywhere_has_no_minimum() -> None:
    nothing = outcome(
        status=6, lower=INF, upper=INF, boxes=np.empty((0, 2, 2)), lower_bounds=np.empty(0), x=None, fun=np.nan
    )
    result = result_of(nothing)
    assert is_empty(result.minimum) and not result.success and result.nregions == 0
    assert "undefined" in str(result) and "[empty]" in str(result)
    assert len(result.merged()) == 0


def test_an_unbounded_box_is_mentioned() -> None:
    result = result_of(outcome(boxes=np.array([[[0, INF], [1, 2]]]), lower_bounds=np.array([-1.0]), lower=-INF))
    assert "may lie at infinity" in result.message and "may be unbounded below" in result.message
    assert "unbounded above" in result_of(outcome(lower=-INF), maximize=True).message
    assert "-inf" in str(result)


def test_results_compare_by_identity() -> None:
    first, second = result_of(outcome()), result_of(outcome())
    assert first == first and first != second and len({first, second}) == 2 and bool(first)


def test_a_result_can_be_read_by_people() -> None:
    text = str(result_of(outcome()))
    assert re.search(r"minimum  \[-1, -0\.9999\], width 0\.0001", text)
    assert (
        "7 iterations, 60 boxes and 10 points evaluated, 0.25 s" in text and "2 boxes" in text and "0 (proved)" in text
    )
    assert "at x = [0.5, 2.5]" in text
    many = result_of(outcome(boxes=np.zeros((9, 50, 2)), lower_bounds=np.zeros(9), x=np.zeros(50)))
    assert "and 6 more" in str(many) and "50 variables" in str(many) and len(str(many).splitlines()) < 12


def test_printed_enclosures_contain_the_true_ones_and_are_hardly_wider() -> None:
    random = np.random.default_rng(4)
    for _ in range(500):
        lo = float(random.normal() * 10.0 ** random.integers(-12, 12))
        hi = lo + float(abs(lo) * 10.0 ** random.integers(-15, 3))
        text = enclosure(Interval(lo, hi))
        low, high = (Fraction(part) for part in (text.strip("[]").split(", ") * 2)[:2])
        assert low <= Fraction(lo) and Fraction(hi) <= high, (lo.hex(), hi.hex(), text)
        if hi > lo:
            assert float(high - low) <= 1.2 * float(Fraction(hi) - Fraction(lo)) + 1e-16 * abs(lo)
    assert enclosure(Interval(-5.684341886080809e-14, 3.46831246389457e-07)) == "[-5.69e-14, 3.47e-7]"
    assert enclosure(Interval(-3.5, -3.49999999854914)) == "[-3.5, -3.4999999985]"


def test_a_result_becomes_json_and_back() -> None:
    result = result_of(outcome(lower=-INF))
    read = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert read["minimum"] == ["-inf", -0.9999] and read["status"] == 0 and read["x"] == [0.5, 2.5]
    assert read["history"][0]["iteration"] == 1 and np.array_equal(read["boxes"], result.boxes)


# --- merging -------------------------------------------------------------------------------------------------------


def test_boxes_that_touch_in_all_variables_become_their_hull() -> None:
    assert result_of(outcome()).merged().tolist() == [[[0, 2], [2, 4]]]
    apart = np.array([[[0, 1], [0, 1]], [[1, 2], [1.5, 2]]])
    assert merged(apart).tolist() == apart.tolist()


def test_a_chain_of_boxes_becomes_one_and_a_hull_joins_what_it_meets() -> None:
    chain = np.array([[[i, i + 1], [0, 1]] for i in (0, 2, 1, 3, 7)], float)
    assert merged(chain).tolist() == [[[0, 4], [0, 1]], [[7, 8], [0, 1]]]
    # The hull of the first two contains the third, which touches neither of them.
    stairs = np.array([[[0, 1], [0, 1]], [[1, 2], [1, 2]], [[1.5, 1.6], [0.2, 0.3]]])
    assert merged(stairs).tolist() == [[[0, 2], [0, 2]]]


def test_merging_loses_no_box_and_leaves_none_touching() -> None:
    random = np.random.default_rng(11)
    for count, n in [(1, 3), (40, 1), (60, 2), (80, 3)]:
        lo = random.uniform(0, 10, (count, n))
        boxes = np.stack([lo, lo + random.uniform(0, 1.5, (count, n))], -1)
        joined = merged(boxes)
        held = (joined[None, :, :, 0] <= boxes[:, None, :, 0]) & (boxes[:, None, :, 1] <= joined[None, :, :, 1])
        assert (held.all(-1).sum(1) == 1).all()
        meets = (joined[None, :, :, 0] <= joined[:, None, :, 1]) & (joined[:, None, :, 0] <= joined[None, :, :, 1])
        assert np.array_equal(meets.all(-1), np.eye(len(joined), dtype=bool))


def test_a_result_is_frozen() -> None:
    result = result_of(outcome())
    assert isinstance(result, Result)
    with pytest.raises(AttributeError):
        result.nit = 3  # type: ignore[misc]


@pytest.mark.parametrize("maximize", [False, True])
def test_a_result_under_way_does_not_deny_the_point_that_is_known(maximize: bool) -> None:
    shown: list[str] = []
    infimum.minimize(
        lambda x: np.sin(5 * x[0]) * np.cos(3 * x[1]) + x[0], [(-2, 2)] * 2,
        callback=lambda so_far: shown.append(str(so_far)), maximize=maximize,
    )  # fmt: skip
    assert shown and all("no point where" not in text for text in shown)
    assert "the point is told when the search ends" in shown[-1]
