"""Taylor: no point up to the upper bound is lost, nothing with a minimiser discarded, and each rule broken noticed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

import infimum
from claims import Claim, Truth, falsehoods
from contractions import Applied, boxes_around, missing
from coupled_functions import coupled_function, planted_squares
from infimum.boxes import Boxes, FloatArray, concatenated
from infimum.contractors import Known, edges, taylor, trial
from infimum.contractors.edges import ObliqueDomain, oblique
from infimum.contractors.taylor import Taylor
from infimum.core import linear
from infimum.domain import Domain, read_bounds
from infimum.function.function import Function, trace
from infimum.function.rotation import Rotation
from jets import second_derivatives
from random_functions import RandomFunction, Undecided, random_function
from test_contractors import known_points
from test_linear_algebra import Mutants, false_verdicts, mutants

__all__ = ["mutants"]  # a fixture

Patch = pytest.MonkeyPatch
Drawn = tuple[RandomFunction, int]
SEEDS = range(60)
BOXES = 10  # of a function


def _tree(text: str) -> Any:
    """A tree from a line such as "sub square x0 abs x1", operations first."""
    words = iter(text.split())

    def read() -> Any:
        word = next(words)
        if word[0] == "x":
            return ("x", int(word[1:]))
        if word[0] in "0123456789.-":
            return ("c", float(word))
        count = 2 if word in ("add", "sub", "mul", "div", "minimum", "maximum") else 1
        return (word, *(read() for _ in range(count)))

    return read()


# Concave along a variable or along a diagonal, with minimisers on edges and in corners; with kinks.
SHAPED = [
    RandomFunction(text, _tree(text), ((-2.0, 3.0),) * 2)
    for text in (
        "sub square x0 square x1",
        "mul x0 x1",
        "add mul -1 square add x0 x1 exp x0",
        "sub mul x0 mul x0 x0 square sub x1 0.3",
        "sub square x1 abs sub x0 0.25",
        "add minimum x0 0.5 square sub x1 x0",
        "sub sin mul 3 x0 mul square x1 x0",
        "add square sub square x0 x1 square sub x0 1",
    )
]


def shaped() -> Iterator[Drawn]:
    return ((f, seed) for seed in range(4) for f in SHAPED)


drawn = cache(lambda seed: coupled_function(seed) if seed % 2 else random_function(seed))
points_of = cache(known_points)


def everything(seeds: Iterable[int] = SEEDS) -> Iterator[Drawn]:
    yield from shaped()
    yield from ((drawn(seed), seed) for seed in seeds)


def boxes_of(f: RandomFunction, seed: int) -> tuple[FloatArray, list[Any], FloatArray, FloatArray]:
    """Points with their values, and a box around each."""
    x, values = points_of(f, seed)
    x, values = x[:BOXES], values[:BOXES]
    return x, values, *boxes_around(x, f.bounds, seed)


def traced(f: RandomFunction) -> tuple[Function, Domain]:
    domain = read_bounds(f.bounds, f.n)
    return trace(f, f.n, box=(domain.lo, domain.hi)), domain


def edged_everywhere(function: Function, domain: Domain) -> ObliqueDomain:
    """A domain of which every box reaches an edge."""
    as_it_is = Rotation(function, np.zeros(function.n), np.eye(function.n), function)
    nothing = np.full(function.n, np.inf)
    return oblique(domain.lo, domain.hi, as_it_is, (nothing, -nothing))


def lost(functions: Iterable[Drawn]) -> Iterator[str]:
    """Points up to the upper bound that are removed, and bounds above a value; edges are everywhere."""
    for f, seed in functions:
        x, values, lo, hi = boxes_of(f, seed)
        function, domain = traced(f)
        if not len(x) or not function.has_second_derivatives:
            continue
        anywhere = edged_everywhere(function, domain)
        upper = np.array([math.nextafter(float(v.upper()), math.inf) for v in values])
        kept = Applied(Taylor(function), function, anywhere).boxes(lo, hi, upper)
        yield from (f"{f.name}: {m}" for m in missing(x, kept.ends))
        yield from (f"{f.name}: {b.hex()}" for b, v in zip(kept.lower, values, strict=True) if not v >= b)


def misjudged(functions: Iterable[Drawn]) -> Iterator[str]:
    """Boxes that are discarded, or left with a face, though f may have a minimum in them by Arb's derivatives."""
    for f, seed in functions:
        x, _, lo, hi = boxes_of(f, seed)
        function, domain = traced(f)
        if not len(x) or not function.has_second_derivatives:
            continue
        kept = Applied(Taylor(function), function, domain).boxes(lo, hi)
        for k in np.flatnonzero(((kept.lo != lo) | (kept.hi != hi)).any(1)):
            try:
                second = np.array([[float(b.mid()) for b in row] for row in second_derivatives(f.tree, x[k])])
            except (Undecided, ZeroDivisionError):
                continue
            free = (domain.lo < lo[k]) & (hi[k] < domain.hi)
            name = f"{f.name}: {lo[k].tolist()} to {hi[k].tolist()}"
            close = 1e-9 * np.abs(second).max()
            if kept.is_empty()[k]:
                own = second[np.ix_(free, free)]
                if not free.any() or np.linalg.eigvalsh(own)[0] > close:
                    yield f"{name} may have a minimiser"
                continue
            for i in np.flatnonzero((kept.lo[k] != lo[k]) | (kept.hi[k] != hi[k])):
                at_lower, at_upper = lo[k, i] <= domain.lo[i], hi[k, i] >= domain.hi[i]
                left = domain.inner_lo[i] if at_lower else domain.inner_hi[i]
                if at_lower == at_upper or second[i, i] > close or not kept.lo[k, i] <= left <= kept.hi[k, i]:
                    yield f"{name} may have a minimiser beside its face along {i}"


def lost_in_cells(functions: Iterable[Drawn]) -> Iterator[str]:
    """The same of boxes that are cut into cells, one at a time; bounds also with the edges of the domain."""
    for f, seed in functions:
        x, values, lo, hi = boxes_of(f, seed)
        function, domain = traced(f)
        if not function.has_second_derivatives:
            continue
        anywhere = edged_everywhere(function, domain)
        for k, value in enumerate(values[:4]):
            box = Boxes(lo[k : k + 1], hi[k : k + 1])
            upper = math.nextafter(float(value.upper()), math.inf)
            for edged, limit in ((anywhere, upper), (domain, upper + abs(upper) + 1.0)):
                known = Known(function, edged, limit)
                known.hint(box, np.ones_like(box.lo))
                kept = Taylor(function).contract(box, known)
                if edged is anywhere:
                    yield from (f"{f.name}: {m}" for m in missing(x[k : k + 1], kept.ends))
                if not (kept.is_empty()[0] or value >= kept.lower[0]):
                    yield f"{f.name}: {kept.lower[0].hex()}"


@pytest.fixture
def cut_all(monkeypatch: Patch) -> None:
    """Boxes are cut into cells however far they are from being closed."""
    monkeypatch.setattr(taylor, "_NEAR", np.inf)
    monkeypatch.setattr(taylor, "_MOST_CELLS", 40)


def test_no_point_up_to_the_upper_bound_is_lost_and_no_bound_is_above_a_value() -> None:
    assert not list(lost(everything()))


def test_no_point_up_to_the_upper_bound_is_lost_in_cells(cut_all: None) -> None:
    assert not list(lost_in_cells(everything()))


def test_no_box_with_a_minimiser_is_discarded() -> None:
    assert not list(misjudged(everything()))


@pytest.mark.torture
def test_nothing_false_is_said_of_many_functions() -> None:
    assert not list(lost(everything(range(2000))))
    assert not list(misjudged(everything(range(2000))))


@pytest.mark.torture
def test_nothing_is_lost_in_cells_of_many_functions(cut_all: None) -> None:
    assert not list(lost_in_cells(everything(range(2000))))


def test_much_is_said_of_functions_that_are_smooth() -> None:
    raised = discarded = smooth = 0
    for f, seed in everything():
        x, _, lo, hi = boxes_of(f, seed)
        function, domain = traced(f)
        if not len(x) or not function.has_second_derivatives:
            continue
        kept = Applied(Taylor(function), function, domain).boxes(lo, hi)
        smooth += int(function.is_twice_smooth(lo, hi).sum())
        raised += int((np.isfinite(kept.lower) & ~kept.is_empty()).sum())
        discarded += int(kept.is_empty().sum())
    assert smooth > 300
    assert raised + discarded > 0.9 * smooth
    assert discarded > 50


# --- clusters --------------------------------------------------------------------------------------------------------


def applied(f: Any, bounds: Any) -> Applied:
    domain = read_bounds(bounds, len(bounds))
    function = trace(f, len(bounds), box=(domain.lo, domain.hi))
    return Applied(Taylor(function), function, domain)


def valley(x: Any) -> Any:
    return 1 + (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2


@pytest.mark.parametrize("width", [1e-2, 1e-4, 1e-6])
def test_a_box_around_a_minimum_is_bounded_by_it_and_narrowed_to_what_the_level_leaves(width: float) -> None:
    one = applied(valley, [(-2, 2)] * 2)
    lo, hi = np.array([[1 - 0.03 * width, 1 - 0.01 * width]]), np.array([[1 + 0.01 * width, 1 + 0.02 * width]])
    kept = one.boxes(lo, hi, 1 + 2.0**-50)
    assert 1 - 1e-13 < kept.lower[0] <= 1
    assert (kept.hi - kept.lo).max() < 1e-5
    assert one.boxes(lo, hi, 1 - 1e-12).is_empty().all()


def test_a_box_beside_a_minimum_is_discarded() -> None:
    one = applied(valley, [(-2, 2)] * 2)
    lo, hi = np.array([[1.001, 1.0015]]), np.array([[1.002, 1.0025]])
    assert one.boxes(lo, hi, 1.0).is_empty().all()


def test_what_is_concave_leaves_the_face_on_the_edge() -> None:
    one = applied(lambda x: -(x[0] ** 2) + x[1] ** 2, [(-1, 2)] * 2)
    lo, hi = np.array([[-1.0, -0.5], [-0.5, -0.5], [-1.0, -0.5]]), np.array([[0.0, 0.5], [0.5, 0.5], [2.0, 0.5]])
    kept = one.boxes(lo, hi)
    assert kept.lo[0, 0] == kept.hi[0, 0] == -1
    assert kept.is_empty().tolist() == [False, True, False]
    assert np.array_equal(kept.lo[2], lo[2]) and np.array_equal(kept.hi[2], hi[2])


def test_a_face_holds_the_edge_that_the_user_wrote() -> None:
    one = applied(lambda x: -(x[0] ** 2) + x[1] ** 2, [(infimum.exact("0.1"), infimum.exact("0.7")), (-1, 1)])
    edge = one.known[1]
    kept = one.boxes(np.array([[edge.lo[0], -1.0]]), np.array([[0.5, 1.0]]))
    assert kept.lo[0, 0] <= Fraction(1, 10) <= kept.hi[0, 0] < 0.1 + 1e-15


def test_boxes_with_infinite_ends_and_empty_ones_stay_as_they_are() -> None:
    one = applied(lambda x: -(x[0] ** 2), [(-np.inf, np.inf)])
    lo, hi = np.array([[0.0], [-np.inf], [np.inf]]), np.array([[np.inf], [1.0], [-np.inf]])
    kept = one.boxes(lo, hi, -5.0)
    assert np.array_equal(kept.lo, lo) and np.array_equal(kept.hi, hi)


def test_long_searches_and_short_ones_say_the_same_of_a_box() -> None:
    one = applied(valley, [(-2, 2)] * 2)
    boxes = np.array([[0.9, 0.9]]), np.array([[1.1, 1.1]])
    short = one.boxes(*boxes, 1.0)
    one.contractor._seen = 10**9  # type: ignore[attr-defined]
    long = one.boxes(*boxes, 1.0)
    for a, b in zip(short, long, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9)


@pytest.fixture
def at_once(monkeypatch: Patch) -> None:
    """Contractors that are tried are tried from the first box on."""
    monkeypatch.setattr(trial, "LEAST", 1)
    monkeypatch.setattr(trial, "EARLY", 0)


@pytest.mark.parametrize(("name", "few"), [("goldstein_price", 1.25), ("hartmann6", 1.1), ("paviani", 1.1)])
def test_the_last_digits_cost_hardly_any_boxes(name: str, few: float) -> None:
    problem = infimum.problems.named(name)

    def cuts(ftol: float) -> float:
        found = infimum.minimize(problem, ftol=ftol, fatol=0, threads=1)
        assert found.success
        return float(sum(dict(step.work).get("split", 0) for step in found.history))

    assert cuts(1e-10) <= few * cuts(1e-3)


@pytest.mark.parametrize("seed", range(20))
def test_no_box_with_a_planted_minimiser_is_discarded(seed: int, at_once: None) -> None:
    f, minimum = planted_squares(seed)
    truth = Truth(f.bounds, Fraction(minimum), [list(f.minimiser or ())])
    for iterations in (1, 2, 3, 5, 8):
        result = infimum.minimize(f, f.bounds, max_iter=iterations, threads=1, contractors=("level", "taylor"))
        assert not falsehoods(Claim.of(result), truth)


@pytest.mark.torture
@pytest.mark.parametrize("seed", range(20, 500))
def test_no_box_with_one_of_many_planted_minimisers_is_discarded(seed: int, at_once: None) -> None:
    f, minimum = planted_squares(seed)
    truth = Truth(f.bounds, Fraction(minimum), [list(f.minimiser or ())])
    for options in ({"contractors": ("level", "taylor")}, {}):
        result = infimum.minimize(f, f.bounds, max_iter=25, threads=1, time_limit=20, **options)
        assert not falsehoods(Claim.of(result), truth)


# --- broken on purpose -----------------------------------------------------------------------------------------------


def _nowhere(domain: Domain, lo: FloatArray, hi: FloatArray) -> Any:
    return np.zeros(lo.shape, bool), np.zeros(lo.shape, bool)


def _ignores_edges(patch: Patch) -> None:
    patch.setattr(taylor, "touched", _nowhere)
    patch.setattr(edges, "touched", _nowhere)


def _ignores_edges_of_faces(patch: Patch) -> None:
    patch.setattr(taylor, "faces", lambda domain, box, concave: (box, concave.any(axis=1)))


def _at_centre(patch: Patch) -> None:
    own = Taylor._curvature
    patch.setattr(Taylor, "_curvature", lambda self, box, threads: own(self, (0.5 * (box[0] + box[1]),) * 2, threads))


def _smooth(patch: Patch) -> None:
    patch.setattr(Function, "is_twice_smooth", lambda self, lo, hi, **how: np.ones(len(lo), bool))


MUTANTS: dict[str, Callable[[Patch], None]] = {
    "edges are ignored": _ignores_edges,
    "edges are ignored by faces": _ignores_edges_of_faces,
    "the centre's curvature for the box's": _at_centre,
    "C2 is ignored": _smooth,
}


@pytest.mark.parametrize("name", MUTANTS)
def test_each_rule_broken_is_noticed(name: str, monkeypatch: Patch) -> None:
    MUTANTS[name](monkeypatch)
    assert any(lost(everything())) or any(misjudged(everything()))


def _forgets_halves(patch: Patch) -> None:
    patch.setattr(taylor, "concatenated", lambda parts: concatenated([parts[0], parts[0][: len(parts[1])]]))


def _forgets_cells_that_are_gone(patch: Patch) -> None:
    own = Taylor._told

    def mutant(self: Taylor, *given: Any) -> Any:
        found = own(self, *given)
        return found._replace(bound=np.full_like(found.bound, np.inf))

    patch.setattr(Taylor, "_told", mutant)


MUTANTS_OF_CELLS: dict[str, Callable[[Patch], None]] = {
    "upper halves are forgotten": _forgets_halves,
    "cells that have no minimiser are forgotten": _forgets_cells_that_are_gone,
}


@pytest.mark.parametrize("name", MUTANTS_OF_CELLS)
def test_each_rule_of_cells_broken_is_noticed(name: str, cut_all: None, monkeypatch: Patch) -> None:
    MUTANTS_OF_CELLS[name](monkeypatch)
    assert any(lost_in_cells(everything()))


CORE = {
    "what is added to the curvature is not taken from the bound": "term mul_ru(mul_ru(more",
    "the radii of the curvature are forgotten": "term select(tau > zero, div_ru(q.spread",
    "nothing is taken from what is factored": "bound (n + 2)",
}


@cache
def places(mutants: Mutants) -> dict[int, str]:
    return {number: mutants.site(number) for number in mutants.numbers}


@pytest.mark.parametrize("name", CORE)
def test_each_rule_of_the_core_broken_is_noticed(name: str, mutants: Mutants, monkeypatch: Patch) -> None:
    (number,) = (number for number, place in places(mutants).items() if CORE[name] in place)
    on = mutants.runner
    monkeypatch.setattr(taylor, "quadratic", lambda *given, threads: linear.quadratic(*given, on=on))
    mutants.site(-1)
    assert not any(lost(shaped()))
    mutants.site(number)
    assert any(lost(everything())) or false_verdicts(range(3), on=on)
    mutants.site(-1)
