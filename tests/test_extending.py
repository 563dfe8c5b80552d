"""Contractors and split rules of the user's own: what they may do, and that none can make a result false unseen."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import infimum
from infimum.boxes import Boxes
from infimum.contractors import Contractor, Known, Level, contractor
from infimum.contractors.table import NAMES
from infimum.domain import read_bounds
from infimum.errors import InternalError, InvalidOption
from infimum.function.function import trace
from infimum.search.auto import bisection, separable
from infimum.search.auto.bisection import bisected, proposed_cuts
from infimum.search.auto.split_rules import Cuts, SplitRule
from infimum.search.auto.split_table import SPLITS

FloatArray = npt.NDArray[np.float64]
Patch = pytest.MonkeyPatch
INF = np.inf
BOX = [(-3, 3), (-2, 2)]
CAMEL = -1.031628453489877


def camel(x: Any) -> Any:
    """Two minimisers, at (0.0898, -0.7127) and its negative; the minimum is -1.0316284534898774…"""
    return (4 - 2.1 * x[0] ** 2 + x[0] ** 4 / 3) * x[0] ** 2 + x[0] * x[1] + 4 * (x[1] ** 2 - 1) * x[1] ** 2


def qing(x: Any) -> Any:
    return np.sum((x**2 - np.arange(1, 7)) ** 2)


def found(**options: Any) -> Any:
    return infimum.minimize(camel, BOX, **{"threads": 1, "progress": False, "ftol": 1e-4, "max_iter": 20, **options})


def keeps_both_minimisers(result: Any) -> bool:
    points = np.array([[0.08984201, -0.71265640], [-0.08984201, 0.71265640]])
    inside = (result.boxes[:, None, :, 0] <= points + 1e-6) & (points - 1e-6 <= result.boxes[:, None, :, 1])
    return bool(inside.all(2).any(0).all()) and result.minimum.lo <= CAMEL <= result.minimum.hi


class Doing:
    """A contractor that does what a test says."""

    def __init__(self, do: Callable[[Boxes, Known], Any]) -> None:
        self.do = do

    def contract(self, boxes: Boxes, known: Known) -> Boxes:
        answer: Boxes = self.do(boxes, known)
        return answer


class Bounds:
    """Natural lower bounds: true, and of little use."""

    def contract(self, boxes: Boxes, known: Known) -> Boxes:
        low, _ = known.function.range_ends(*boxes.ends)
        return boxes.with_lower(np.maximum(boxes.lower, low)).emptied(low > known.upper)


class Sub(Level):
    """A subclass of infimum's own, which may be overridden: not infimum's own."""


# --- contractors: what they are for ----------------------------------------------------------------------------------


def test_an_object_contracts_beside_names_and_is_named_by_the_result() -> None:
    own = Bounds()
    result = found(contractors=["stationary", own, "level"])
    assert result.success and keeps_both_minimisers(result)
    assert result.trust == ("Bounds of test_extending",)
    assert result.message.endswith("The proof rests on infimum and on Bounds of test_extending.")
    assert "Bounds of test_extending" in repr(result)
    assert json.loads(json.dumps(result.to_dict()))["trust"] == ["Bounds of test_extending"]


def test_an_object_alone_contracts() -> None:
    near = Doing(lambda boxes, known: Boxes(np.maximum(boxes.lo, -1), np.minimum(boxes.hi, 1), boxes.lower))
    result = found(contractors=near, ftol=1e-2)
    assert result.success and keeps_both_minimisers(result) and (np.abs(result.boxes) <= 1).all()
    assert ("Doing", 0.583) in result.history[0].work  # two thirds of a variable, and half of the other


@pytest.mark.parametrize("given", [None, (), "level", ["level", Level(passes=9)]], ids=str)
def test_infimums_own_are_not_named(given: Any) -> None:
    result = found(contractors=given, ftol=1e-2)
    assert result.trust == () == tuple(result["trust"]) and "rests" not in result.message


def test_every_foreign_contractor_is_named_once() -> None:
    result = found(contractors=["level", Bounds(), Sub(), Bounds()], max_iter=1)
    assert result.trust == ("Bounds of test_extending", "Sub of test_extending")
    assert result.message.endswith("rests on infimum and on Bounds of test_extending and on Sub of test_extending.")


def test_what_is_reported_on_the_way_rests_on_it_too() -> None:
    seen: list[Any] = []
    found(contractors=Bounds(), callback=seen.append, max_iter=2)
    assert seen and all(result.trust == ("Bounds of test_extending",) for result in seen)


def test_infimums_run_first_and_the_users_in_their_order() -> None:
    order: list[str] = []

    def noted(name: str) -> Doing:
        return Doing(lambda boxes, known: order.append(name) or boxes)  # type: ignore[func-returns-value]

    found(contractors=[noted("first"), "level", noted("second")], max_iter=1)
    assert order[:2] == ["first", "second"]


def test_a_contractor_knows_the_function_that_it_is_asked_about() -> None:
    sizes: set[int] = set()

    def noted(boxes: Boxes, known: Known) -> Boxes:
        assert known.function.n == known.domain.n == boxes.n
        sizes.add(boxes.n)
        return boxes

    result = infimum.minimize(qing, [(-5, 5)] * 6, contractors=Doing(noted), max_iter=30, xtol=1e-3)
    assert 0 in result.minimum and sizes == {6} and result.trust == ("Doing of test_extending",)


def test_a_maximum_is_contracted_as_the_negative() -> None:
    result = infimum.minimize(lambda x: -camel(x), BOX, maximize=True, contractors=["level", Bounds()], ftol=1e-4)
    assert -CAMEL in result.maximum and result.trust


def test_what_is_known_is_the_functions_own() -> None:
    function, domain = trace(camel, 2), read_bounds(BOX, 2)
    known = Known(function, domain, -1.0)
    boxes = Boxes([[0.0, -1.0], [1.0, 1.0]], [[0.25, -0.5], [2.0, 2.0]])
    for mine, own in zip(known.gradient(boxes), function.gradient_ends(*boxes.ends), strict=True):
        np.testing.assert_array_equal(mine, own)
    assert known.smooth(boxes).all() and known.limits(boxes).tolist() == [-1.0, -1.0]


# --- contractors: what they cannot do --------------------------------------------------------------------------------


def larger(boxes: Boxes, known: Known) -> Boxes:
    return Boxes(boxes.lo - 1.0, boxes.hi + 1.0, boxes.lower - 1.0)


def test_no_box_grows_and_no_bound_falls() -> None:
    boxes = Boxes(np.zeros((2, 2)), np.ones((2, 2)), np.array([0.5, -INF]))
    known = Known(trace(camel, 2), read_bounds(BOX, 2))
    after = contractor.contracted_by(Doing(larger), boxes, known)
    assert all(np.array_equal(a, b) for a, b in zip(after, boxes, strict=True))
    for before, step in zip(*(found(contractors=c, ftol=1e-2).history for c in ((), Doing(larger))), strict=True):
        assert before[:4] == step[:4]


def written(boxes: Boxes, known: Known) -> Boxes:
    boxes.hi[:] = boxes.lo
    return boxes


HOSTILE: dict[str, tuple[Callable[[Boxes, Known], Any], str]] = {
    "nothing": (lambda boxes, known: None, "returned NoneType, where boxes are asked for"),
    "a pair": (lambda boxes, known: boxes.ends, "returned tuple, where boxes are asked for. Return infimum"),
    "fewer boxes": (lambda boxes, known: boxes[:0], r"shape \(0, 2\), where \(1, 2\) was given.*boxes\.emptied"),
    "fewer variables": (lambda boxes, known: Boxes(boxes.lo[:, :1], boxes.hi[:, :1]), r"boxes of shape \(1, 1\)"),
    "NaN in lo": (lambda boxes, known: Boxes(boxes.lo * np.nan, boxes.hi), "returned a NaN in lo"),
    "NaN in hi": (lambda boxes, known: Boxes(boxes.lo, boxes.hi * np.nan), "returned a NaN in hi"),
    "NaN in lower": (lambda boxes, known: boxes.with_lower(boxes.lower * np.nan), "returned a NaN in lower"),
    "no doubles": (lambda boxes, known: Boxes([[0, 2**53 + 1]], boxes.hi), "InvalidInterval: an end of a box"),
    "texts": (lambda boxes, known: Boxes([["a", "b"]], boxes.hi), "raised ValueError"),
    "an error": (lambda boxes, known: 1 / 0, "raised ZeroDivisionError: division by zero"),
    "into what was given": (written, "raised ValueError: .*read-only"),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_no_answer_is_refused_by_an_error_that_names_the_contractor(name: str) -> None:
    do, words = HOSTILE[name]
    with pytest.raises(InvalidOption, match=f"(?s)The contractor Doing of test_extending .*{words}"):
        found(contractors=["level", Doing(do)])


def test_a_false_proof_that_is_noticed_is_not_blamed_on_infimum_alone() -> None:
    with pytest.raises(InternalError, match=r"No box is left.*rests on infimum and on Doing of test_extending"):
        found(contractors=Doing(lambda boxes, known: boxes.emptied(np.ones(len(boxes), bool))), x0=[0.0, 0.5])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([Bounds], "no contractor <class 'test_extending.Bounds'>"),
        (Bounds, "is no list of names.*contract\\(boxes, known\\)"),
        ([1j], "no contractor 1j"),
        (["level", 3], "no contractor 3"),
    ],
    ids=str,
)
def test_what_is_no_contractor_is_refused(given: Any, words: str) -> None:
    with pytest.raises(InvalidOption, match=f"(?s){words}"):
        found(contractors=given)
    with pytest.raises(InvalidOption, match="belongs to method='auto'"):
        found(contractors=[Bounds()], method="paper")


# --- split rules -----------------------------------------------------------------------------------------------------


class Proposing:
    """A split rule that proposes what a test says."""

    def __init__(self, propose: Callable[[Boxes, Known], Any]) -> None:
        self.propose = propose

    def cuts(self, boxes: Boxes, known: Known) -> Cuts:
        answer: Cuts = self.propose(boxes, known)
        return answer


def constant(variable: int, place: float) -> Callable[[Boxes, Known], Any]:
    return lambda boxes, known: (np.full(len(boxes), variable), np.full(len(boxes), place))


TRUE_RULES: dict[str, Callable[[Boxes, Known], Any]] = {
    "in the middle": lambda boxes, known: (np.zeros(len(boxes), int), boxes.lo[:, 0] / 2 + boxes.hi[:, 0] / 2),
    "far outside": constant(0, 1e300),
    "at -inf": constant(1, -INF),
    "at +inf": constant(1, INF),
    "at the lower end": lambda boxes, known: (np.zeros(len(boxes), int), boxes.lo[:, 0]),
    "at zero, whole numbers": lambda boxes, known: ([0] * len(boxes), [0] * len(boxes)),
    "wherever": lambda boxes, known: (np.arange(len(boxes)) % 2, np.random.default_rng(1).normal(size=len(boxes))),
}


@pytest.mark.parametrize("name", TRUE_RULES)
def test_any_rule_leads_to_the_truth(name: str) -> None:
    result = found(split=Proposing(TRUE_RULES[name]), max_iter=6)
    assert keeps_both_minimisers(result) and result.trust == ()


@pytest.mark.parametrize("name", TRUE_RULES)
def test_no_rule_of_the_users_can_lose_a_point_or_stop_the_search(name: str) -> None:
    random = np.random.default_rng(3)
    lo = random.normal(size=(60, 2))
    hi = lo + np.abs(random.normal(size=(60, 2))) * random.choice([0.0, 1.0, 1e-300, 1e300, INF], (60, 2))
    points = np.clip(lo + random.uniform(size=lo.shape) * np.minimum(hi - lo, 1e300), lo, hi)
    known = Known(trace(camel, 2), read_bounds(BOX, 2))
    halves = bisected(Boxes(lo, hi, np.arange(60.0)), proposed_cuts(Proposing(TRUE_RULES[name]), Boxes(lo, hi), known))
    middle = lo / 2 + hi / 2
    for i, point in enumerate(points):
        mine = halves[halves.lower == i]
        assert ((mine.lo <= point) & (point <= mine.hi)).all(1).any()
        if ((lo[i] < middle[i]) & (middle[i] < hi[i])).any():
            assert len(mine) == 2 and not any(
                (half == lo[i]).all() and (top == hi[i]).all() for half, top, _ in zip(*mine, strict=True)
            )


WRONG_RULES: dict[str, tuple[Callable[[Boxes, Known], Any], str]] = {
    "NaN": (constant(0, np.nan), "returned NaN for a place"),
    "no such variable": (constant(2, 0.0), "returned the variable 2, where 0 to 1 are meant"),
    "a negative variable": (constant(-1, 0.0), "returned the variable -1"),
    "no whole number": (lambda boxes, known: (np.zeros(len(boxes)), np.zeros(len(boxes))), "variables of type float64"),
    "texts": (lambda boxes, known: (np.zeros(len(boxes), int), np.full(len(boxes), "a")), "places of type <U1"),
    "truths": (lambda boxes, known: (np.zeros(len(boxes), bool), np.zeros(len(boxes))), "variables of type bool"),
    "complex places": (lambda boxes, known: (np.zeros(len(boxes), int), 1j * np.zeros(len(boxes))), "type complex128"),
    "one for all": (lambda boxes, known: (0, 0.0), r"variables of shape \(\), not \(1,\)"),
    "a table": (lambda boxes, known: (np.zeros((len(boxes), 2), int), boxes.lo), r"variables of shape \(1, 2\)"),
    "nothing": (lambda boxes, known: None, "returned NoneType. Return a pair"),
    "three": (lambda boxes, known: ([0], [0], [0]), "returned tuple. Return a pair"),
    "an error": (lambda boxes, known: 1 / 0, "raised ZeroDivisionError"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG_RULES)
def test_what_is_no_cut_is_refused_by_an_error_that_names_the_rule(name: str) -> None:
    propose, words = WRONG_RULES[name]
    with pytest.raises(InvalidOption, match=f"The split rule Proposing of test_extending .*{words}"):
        found(split=Proposing(propose), contractors="level")


WRITES: dict[str, Callable[[Boxes, Known], Any]] = {
    "the lower bounds": lambda boxes, known: boxes.lower.fill(0.0),
    "the ends": lambda boxes, known: np.subtract(boxes.hi, boxes.lo, out=boxes.hi),
    "the domain": lambda boxes, known: known.domain.lo.fill(0.0),
    "the gradient": lambda boxes, known: known.gradient(boxes)[0].fill(1.0),
}


@pytest.mark.parametrize("name", WRITES)
def test_no_rule_and_no_contractor_can_write_to_what_it_is_given(name: str) -> None:
    with pytest.raises(InvalidOption, match=r"The split rule Proposing of test_extending raised ValueError.*read-only"):
        found(split=Proposing(WRITES[name]), contractors="level")
    with pytest.raises(InvalidOption, match=r"The contractor Doing of test_extending raised ValueError.*read-only"):
        found(contractors=["level", Doing(WRITES[name])])


def test_what_was_kept_of_the_gradient_cannot_be_written_to() -> None:
    known = Known(infimum.trace(lambda x: np.sin(3 * x[0] * x[1]), 2), read_bounds([(-2, 2)] * 2))
    boxes = Boxes(np.array([[0.0, 0.0], [1.0, 1.0]]), np.array([[0.5, 0.5], [2.0, 2.0]]))
    known.gradient(boxes), known.facts(boxes)
    known.keep(np.array([False, True]))
    answers = *known.gradient(boxes[1:]), *known.facts(boxes[1:])
    assert not any(answer.flags.writeable for answer in answers)


@pytest.mark.parametrize("given", [Proposing, 1j, "widest", 2], ids=str)
def test_what_is_no_rule_is_refused(given: Any) -> None:
    with pytest.raises(InvalidOption, match=r"is not offered. Write split='smear'.*cuts\(boxes, known\)"):
        found(split=given)


def test_a_contractor_sees_the_variables_of_the_whole_function() -> None:
    def upper_half(boxes: Boxes, known: Known) -> Boxes:
        """Keep x[0] >= 1/2, which is true of every minimiser; of x[1] it is not."""
        lo = boxes.lo.copy()
        lo[:, 0] = np.maximum(lo[:, 0], 0.5)
        return Boxes(lo, boxes.hi, boxes.lower)

    def waves(x: Any) -> Any:
        product = np.cos(7 * x) * np.cos(23 * x) * np.cos(61 * x)
        return np.sum(product + 0.3 * np.cos(191 * x) + 0.1 * x * x) - 0.1 * x[0]

    result = infimum.minimize(waves, [(-2, 2)] * 2, contractors=["level", Doing(upper_half)], xtol=1e-3)
    mirrored = result.x * [1, -1]
    assert result.success and waves(mirrored) == waves(result.x)
    assert ((result.boxes[:, :, 0] <= mirrored) & (mirrored <= result.boxes[:, :, 1])).all(1).any()


# --- broken on purpose -----------------------------------------------------------------------------------------------


def test_protocols_describe_what_there_is() -> None:
    assert isinstance(Bounds(), Contractor) and isinstance(Proposing(constant(0, 0.0)), SplitRule)
    assert "level" in NAMES and "smear" in SPLITS


def unmet(patch: Patch) -> None:
    patch.setattr(Boxes, "meet", lambda self, other: other)


def bounds_not_met(patch: Patch) -> None:
    meet = Boxes.meet
    patch.setattr(Boxes, "meet", lambda self, other: meet(self, other).with_lower(other.lower))


def unclamped(patch: Patch) -> None:
    patch.setattr(bisection, "_clamped", lambda cuts, boxes, known: cuts)


def writable(patch: Patch) -> None:
    patch.setattr(Boxes, "read_only", lambda boxes: boxes)


def separated(patch: Patch) -> None:
    patch.setattr(separable, "foreign_names", lambda contractors: ())


def unchecked(patch: Patch) -> None:
    patch.setattr(contractor, "_checked", lambda name, boxes, answer: answer)


def unchecked_cuts(patch: Patch) -> None:
    patch.setattr(bisection, "_checked", lambda name, boxes, answer: Cuts(*map(np.asarray, answer)))


def all_trusted(patch: Patch) -> None:
    patch.setattr(contractor, "is_own", lambda own: True)


def all_kept(name: str) -> Callable[[], None]:
    return lambda: test_no_rule_of_the_users_can_lose_a_point_or_stop_the_search(name)


BREAKS: list[tuple[Callable[[Patch], None], Callable[[], None]]] = [
    (unmet, test_no_box_grows_and_no_bound_falls),
    (bounds_not_met, test_no_box_grows_and_no_bound_falls),
    (unclamped, all_kept("at the lower end")),
    (writable, lambda: test_what_is_no_answer_is_refused_by_an_error_that_names_the_contractor("into what was given")),
    (writable, lambda: test_no_rule_and_no_contractor_can_write_to_what_it_is_given("the lower bounds")),
    (separated, test_a_contractor_sees_the_variables_of_the_whole_function),
    (unchecked, lambda: test_what_is_no_answer_is_refused_by_an_error_that_names_the_contractor("NaN in hi")),
    (unchecked_cuts, lambda: test_what_is_no_cut_is_refused_by_an_error_that_names_the_rule("a negative variable")),
    (all_trusted, test_every_foreign_contractor_is_named_once),
]


@pytest.mark.parametrize(("broken", "check"), BREAKS, ids=lambda part: part.__name__)
def test_a_broken_seam_is_noticed(
    broken: Callable[[Patch], None], check: Callable[[], None], monkeypatch: Patch
) -> None:
    broken(monkeypatch)
    with pytest.raises((AssertionError, InternalError, pytest.fail.Exception, ValueError, RuntimeError)):
        check()
