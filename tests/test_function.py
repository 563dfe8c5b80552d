"""Traced functions: values, enclosures and gradients against NumPy and against ball arithmetic; shapes and errors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import exact_values
import infimum.core
import reference
import traced_objectives as traced_
from exact_values import Undecided, told
from infimum.backends import cpu
from infimum.errors import InfimumError, InvalidInterval, ShapeMismatch, TraceError
from infimum.function.function import Function, trace
from infimum.interval import Interval, empty
from objectives import Objective
from traced_objectives import EVERY, Both, FloatArray, boxes, domain, numpy_value, points, samples, traced

each = pytest.mark.parametrize("objective", EVERY, ids=lambda o: o.name)


# --- checks, which the mutation tests use as well --------------------------------------------------------------------


def wrong_values(objective: Objective, both: Both, count: int = 20) -> list[str]:
    """Points where F differs from NumPy by more than rounding, or leaves its own enclosure."""
    x = points(objective, count, seed=11)
    found = np.asarray(both.function(x))
    expected = np.array([numpy_value(objective, p) for p in x])
    tight = both.function.enclose(Interval(x, x))
    near = np.isclose(found, expected, rtol=1e-9, atol=1e-9, equal_nan=True)
    inside = ((tight.lo <= found) & (found <= tight.hi)) | np.isnan(found)
    return [f"{told(x[i])}: {found[i].hex()}, NumPy {expected[i].hex()}" for i in np.flatnonzero(~(near & inside))]


def values_outside(both: Both, lo: FloatArray, hi: FloatArray, count: int = 3) -> list[str]:
    """True values of the function, as it was traced, that its enclosure over a box does not contain."""
    found = both.function.enclose(Interval(lo, hi))
    bad = []
    for i, box in enumerate(samples(lo, hi, count, seed=12)):
        for x in box:
            try:
                true = exact_values.value(both.raw, x)
            except Undecided:
                continue
            ends = float(found.lo[i]), float(found.hi[i])
            if true is not None and exact_values.outside(true, *ends):
                bad.append(f"{told(x)}: {true} not in [{ends[0].hex()}, {ends[1].hex()}]")
    return bad


def slopes_outside(both: Both, lo: FloatArray, hi: FloatArray, count: int = 1) -> list[str]:
    """Difference quotients inside a box that the gradient's enclosure does not contain."""
    found = both.function.gradient_ends(lo, hi)
    bad = []
    for i, box in enumerate(samples(lo, hi, count, seed=13)):
        for x in box:
            try:
                true = exact_values.gradient(both.raw, x)
            except Undecided:
                continue
            for j, slope in enumerate(true):
                ends = float(found[0][i, j]), float(found[1][i, j])
                if slope is not None and exact_values.outside(slope, *ends, exact_values.SLACK):
                    bad.append(f"component {j} at {told(x)}: {slope} not in [{ends[0].hex()}, {ends[1].hex()}]")
    return bad


def wrong_slopes(both: Both, x: FloatArray) -> list[str]:
    """Smooth points where the plain gradient is not the derivative."""
    smooth = both.function.facts(Interval(x, x)).smooth
    _, found = both.function.value_and_gradient(x)
    bad = []
    for i in np.flatnonzero(smooth):
        true = exact_values.gradient(both.raw, x[i])
        assert None not in true, f"{told(x[i])} is called smooth, but the function is undefined nearby"
        size = 1 + max(float(abs(t)) for t in true)
        for j, slope in enumerate(true):
            if not abs(float(slope) - found[i, j]) <= 1e-9 * size:
                bad.append(f"component {j} at {told(x[i])}: {found[i, j].hex()}, true {slope}")
    return bad


# --- every objective -------------------------------------------------------------------------------------------------


@each
def test_values_are_those_of_numpy_to_rounding(objective: Objective) -> None:
    assert wrong_values(objective, traced(objective)) == []


@each
def test_enclosures_contain_the_values(objective: Objective) -> None:
    assert values_outside(traced(objective), *boxes(objective, 24, seed=21)) == []


@each
def test_gradients_are_the_derivatives(objective: Objective) -> None:
    assert wrong_slopes(traced(objective), points(objective, 4, seed=31)) == []


@each
def test_gradient_enclosures_contain_the_slopes(objective: Objective) -> None:
    assert slopes_outside(traced(objective), *boxes(objective, 6, seed=41)) == []


@each
def test_gradient_enclosures_at_points_are_tight(objective: Objective) -> None:
    x = points(objective, 8, seed=51)
    function = traced(objective).function
    smooth = function.facts(Interval(x, x)).smooth
    found = function.gradient(Interval(x, x))
    size = 1 + np.maximum(np.abs(found.lo), np.abs(found.hi)).max(axis=1)
    bad = smooth & ((found.hi - found.lo).max(axis=1) > 1e-8 * size)
    assert not bad.any(), told(x[np.argmax(bad)])


def bits_off(function: Function, lo: FloatArray, hi: FloatArray) -> list[str]:
    """Which of value and gradient the virtual machine computes otherwise than the reference."""
    slow = reference.enclose([function.value_node, function.gradient_node], lo, hi)
    programs = function.programs.value, function.programs.gradient
    fast = [cpu.run(program, lo, hi, "interval", threads=1)[0] for program in programs]
    return [name for name, s, f in zip(("value", "gradient"), slow, fast, strict=True) if not _same(s, f)]


@each
def test_every_bit_is_that_of_the_reference(objective: Objective) -> None:
    assert bits_off(traced(objective).function, *boxes(objective, 24, seed=61)) == []


@each
def test_every_variant_and_number_of_threads_gives_the_same_bits(objective: Objective) -> None:
    lo, hi = boxes(objective, 40, seed=71)
    box = Interval(lo, hi)
    function = traced(objective).function
    value, gradient = function.enclose(box), function.gradient(box)
    for variant in infimum.core.variants():
        for threads in (1, 2):
            v = function.enclose(box, variant=variant, threads=threads)
            g = function.gradient(box, variant=variant, threads=threads)
            assert _same((v.lo, v.hi), (value.lo, value.hi)), (variant, threads)
            assert _same((g.lo, g.hi), (gradient.lo, gradient.hi)), (variant, threads)


@each
def test_the_batch_does_not_matter(objective: Objective) -> None:
    lo, hi = boxes(objective, 9, seed=81)
    function = traced(objective).function
    together = function.enclose(Interval(lo, hi))
    alone = [function.enclose(Interval(a, b)) for a, b in zip(lo, hi, strict=True)]
    assert _same((together.lo, together.hi), (np.array([e.lo for e in alone]), np.array([e.hi for e in alone])))


@each
def test_a_larger_box_has_a_larger_enclosure(objective: Objective) -> None:
    lo, hi = boxes(objective, 12, seed=91)
    function = traced(objective).function
    outer = function.enclose(Interval(lo, hi))
    part = samples(lo, hi, 2, seed=92)
    inner = function.enclose(Interval(part.min(axis=1), part.max(axis=1)))
    nothing = inner.lo > inner.hi
    assert (nothing | ((outer.lo <= inner.lo) & (inner.hi <= outer.hi))).all()


@each
def test_show_names_every_step(objective: Objective) -> None:
    function = traced(objective).function
    text = function.show()
    lines = text.splitlines()
    assert lines[0] == function.name and lines[-1].startswith("  -> ")
    assert all(len(line) < 200 for line in lines)
    assert "x" in text and "<" not in text.split("\n", 1)[1], "a bare object's repr"


def _same(found: tuple[Any, Any], expected: tuple[Any, Any]) -> bool:
    return all(np.array_equal(_bits(f), _bits(e)) for f, e in zip(found, expected, strict=True))


def _bits(a: Any) -> Any:
    return np.ascontiguousarray(a, np.float64).view(np.int64)


def test_the_objectives_are_mostly_smooth_and_defined() -> None:
    """The checks above skip what is undefined: that must be the exception."""
    smooth = [traced(o).function.facts(Interval(p, p)) for o in EVERY for p in [points(o, 4, seed=31)]]
    assert np.mean([f.smooth for f in smooth]) > 0.85
    assert np.mean([f.defined for f in smooth]) > 0.95


# --- random expressions ----------------------------------------------------------------------------------------------

UNARY: list[Callable[[Any], Any]] = [
    np.sin, np.cos, np.exp, np.abs, np.sqrt, np.log, np.tanh, np.arctan, np.square, np.floor, np.sign, np.cbrt,
    lambda t: t**3, lambda t: t**-1, lambda t: t**-2, lambda t: 1 / t, lambda t: -t, lambda t: 3 - t, lambda t: 0.1 * t,
    lambda t: np.cos(2 * infimum.pi * t), lambda t: t**0.5, lambda t: np.where(t > 0, np.sqrt(t), -t), np.arcsin,
    lambda t: np.cumsum(t), lambda t: t[::-1], lambda t: np.roll(t, 1), lambda t: t * np.arange(1, 4),
]  # fmt: skip
BINARY: list[Callable[[Any, Any], Any]] = [
    np.add, np.subtract, np.multiply, np.divide, np.maximum, np.minimum, lambda a, b: np.where(a < b, a, b * b),
    lambda a, b: np.where(a <= b, np.log(b), np.sqrt(a)), np.hypot, lambda a, b: a * b[0], lambda a, b: a - b[-1],
]  # fmt: skip
FOLDS: list[Callable[[Any], Any]] = [np.sum, np.prod, np.max, np.min, np.mean, lambda t: t @ t]


def _expression(steps: list[tuple[int, int, int]], fold: int) -> Callable[[Any], Any]:
    """A program of random steps, each on two earlier results."""

    def f(x: Any) -> Any:
        known = [x, x * 0.75 + 0.5]
        for which, i, j in steps:
            a, b = known[i % len(known)], known[j % len(known)]
            kinds = len(UNARY) + 2 * len(BINARY)
            k = which % kinds
            known.append(UNARY[k](a) if k < len(UNARY) else BINARY[(k - len(UNARY)) % len(BINARY)](a, b))
        return FOLDS[fold % len(FOLDS)](known[-1]) + 0.125 * x[0]

    return f


_STEP = st.tuples(st.integers(0, 999), st.integers(0, 9), st.integers(0, 9))


@settings(max_examples=400, deadline=None, derandomize=True, database=None)
@given(st.lists(_STEP, min_size=1, max_size=7), st.integers(0, 5), st.integers(0, 2**31), st.floats(-14, 0.5))
def test_random_expressions_are_enclosed_with_their_gradients(
    steps: list[tuple[int, int, int]], fold: int, seed: int, size: float
) -> None:
    f = _expression(steps, fold)
    try:
        with np.errstate(all="ignore"):
            both = Both(traced_.trace_graph(f, 3).output, trace(f, 3))
    except TraceError:  # what NumPy makes of an infinity on the way is not known for certain
        reject()
    random = np.random.default_rng(seed)
    centre = random.uniform(-2, 3, (4, 3))
    reach = 10.0**size * random.uniform(0, 1, (4, 3))
    lo, hi = centre - reach, centre + reach
    assert values_outside(both, lo, hi, 2) == []
    assert slopes_outside(both, lo, hi, 1) == []
    assert bits_off(both.function, lo, hi) == []
    for i in np.flatnonzero(both.function.facts(Interval(lo, hi)).defined):
        for x in samples(lo[i : i + 1], hi[i : i + 1], 3, seed=14)[0]:
            try:
                true = exact_values.value(both.raw, x)
            except Undecided:
                continue
            assert true is not None, f"{told(x)} lies in a box that is called defined"


# --- the interface ---------------------------------------------------------------------------------------------------


def bowl(x: Any) -> Any:
    return x[0] ** 2 + 3 * x[1]


@pytest.fixture(scope="module")
def plain() -> Function:
    return trace(bowl, 2)


def test_one_point_gives_a_float_and_many_give_an_array(plain: Function) -> None:
    assert plain([1.0, 2.0]) == 7.0 and isinstance(plain([1, 2]), float)
    many = plain(np.array([[1.0, 2.0], [0.0, 0.0], [3.0, 1.0]]))
    assert isinstance(many, np.ndarray) and many.tolist() == [7.0, 0.0, 12.0]
    assert np.asarray(plain(np.empty((0, 2)))).shape == (0,)


def test_value_and_gradient_have_the_shapes_of_local_optimisers(plain: Function) -> None:
    value, slope = plain.value_and_gradient([1.0, 2.0])
    assert isinstance(value, float) and value == 7.0 and slope.tolist() == [2.0, 3.0]
    values, slopes = plain.value_and_gradient(np.ones((4, 2)))
    assert np.shape(values) == (4,) and slopes.shape == (4, 2)


def test_boxes_are_pairs_or_intervals_one_or_many(plain: Function) -> None:
    pairs = np.array([[1.0, 2.0], [-1.0, 0.5]])
    for one in (pairs, pairs.tolist(), [(1, 2), (-1, 0.5)], Interval.from_pairs(pairs)):
        found = plain.enclose(one)
        assert isinstance(found, Interval) and found.shape == () and (found.lo, found.hi) == (-2.0, 5.5)
        assert plain.gradient(one).shape == (2,)
        facts = plain.facts(one)
        assert facts.defined is True and facts.smooth is True
    many = np.stack([pairs] * 3)
    for several in (many, Interval.from_pairs(many)):
        assert plain.enclose(several).shape == (3,) and plain.gradient(several).shape == (3, 2)
        facts = plain.facts(several)
        assert np.shape(facts.defined) == np.shape(facts.smooth) == (3,)


def test_raw_pairs_of_two_axes_are_always_one_box() -> None:
    square = trace(lambda x: x[0] - x[1], 2)
    found = square.enclose([[0.0, 1.0], [2.0, 3.0]])
    assert found.shape == () and (found.lo, found.hi) == (-3.0, -1.0)


@pytest.mark.parametrize(
    "given", [1.0, [1.0], [1.0, 2.0, 3.0], np.zeros((2, 3)), np.zeros((1, 1, 2)), np.zeros((2, 2, 2))]
)
def test_points_of_the_wrong_shape_are_refused(plain: Function, given: Any) -> None:
    for ask in (plain, plain.value_and_gradient):
        with pytest.raises(ShapeMismatch, match=r"bowl takes points of shape \(2,\) or \(k, 2\), got"):
            ask(given)


@pytest.mark.parametrize(
    "given",
    [
        *[1.0, [1.0, 2.0], np.zeros((3, 2)), np.zeros((2, 3)), np.zeros((4, 3, 2))],
        *[Interval(0.0, 1.0), Interval(np.zeros(3), np.ones(3)), Interval(np.zeros((1, 1, 2)), np.ones((1, 1, 2)))],
    ],
)
def test_boxes_of_the_wrong_shape_are_refused(plain: Function, given: Any) -> None:
    for ask in (plain.enclose, plain.gradient, plain.facts):
        with pytest.raises(ShapeMismatch, match="bowl takes"):
            ask(given)


@pytest.mark.parametrize("given", [[(2, 1), (0, 1)], [(math.nan, 1), (0, 1)], [(0, math.nan), (0, 1)]])
def test_boxes_that_are_no_boxes_are_refused(plain: Function, given: Any) -> None:
    for ask in (plain.enclose, plain.gradient, plain.facts):
        with pytest.raises(InvalidInterval):
            ask(given)


def test_text_is_no_point(plain: Function) -> None:
    with pytest.raises((ValueError, InfimumError)):
        plain("a")  # type: ignore[arg-type]


@pytest.mark.parametrize("threads", [0, -1])
def test_there_is_at_least_one_thread(plain: Function, threads: int) -> None:
    with pytest.raises(ValueError, match=f"threads must be at least 1, got {threads}"):
        plain.enclose([(0, 1), (0, 1)], threads=threads)


def test_the_names_are_in_the_text(plain: Function) -> None:
    assert repr(plain) == "<infimum function bowl of 2 variables>"
    shown = plain.show()
    assert shown.startswith("bowl\n") and "sqr(" in shown and "x[0]" in shown and "x[1]" in shown


def test_a_long_program_is_shown_in_few_lines() -> None:
    assert len(trace(lambda x: np.sum(x**2 - 10 * np.cos(2 * infimum.pi * x)), 100_000).show().splitlines()) < 12


# --- degenerate boxes ------------------------------------------------------------------------------------------------


def test_a_point_box_is_enclosed_as_tightly_as_its_roundings(plain: Function) -> None:
    found = plain.enclose([(0.1, 0.1), (0.3, 0.3)])
    assert found.lo <= bowl([0.1, 0.3]) <= found.hi and 0 < found.hi - found.lo < 1e-15


def test_fixed_variables_beside_free_ones(plain: Function) -> None:
    found = plain.enclose([(2.0, 2.0), (0.0, 1.0)])
    assert (found.lo, found.hi) == (4.0, 7.0)


def test_infinite_bounds_are_allowed() -> None:
    f = trace(lambda x: np.exp(-(x[0] ** 2)) + x[1] ** 4 / (1 + x[1] ** 4), 2)
    found = f.enclose([(-math.inf, math.inf), (-math.inf, math.inf)])
    assert found.lo <= 0.0 and found.hi >= 2.0 and not math.isnan(found.lo) and not math.isnan(found.hi)
    facts = f.facts([(-math.inf, math.inf), (0, math.inf)])
    assert facts.defined and facts.smooth
    gradient = f.gradient([(0.0, math.inf), (-math.inf, 0.0)])
    assert not np.isnan(gradient.lo).any() and not np.isnan(gradient.hi).any()
    assert (gradient.lo <= 0).all() and (gradient.hi >= 0).all()


def test_the_empty_box_has_no_values_and_no_facts(plain: Function) -> None:
    pairs = np.array([[0.0, 1.0], [0.0, 1.0]])
    pairs[0] = np.asarray(empty().pairs())
    found = plain.enclose(Interval.from_pairs(pairs))
    assert found.lo > found.hi
    facts = trace(lambda x: np.sqrt(x[0]) + x[1], 2).facts(Interval.from_pairs(pairs))
    assert facts.defined is False and facts.smooth is False


def test_undefined_points_are_nan_and_undefined_boxes_empty() -> None:
    f = trace(lambda x: np.sqrt(x[0]) + np.log(x[1]), 2)
    assert math.isnan(float(f([-1.0, 1.0]))) and math.isnan(float(f([1.0, 0.0])))
    found = f.enclose([(-2, -1), (1, 2)])
    assert found.lo > found.hi
    clipped = f.enclose([(-1.0, 4.0), (1.0, 1.0)])
    assert (clipped.lo, clipped.hi) == (0.0, 2.0)


def test_all_domains_are_enclosed_at_once() -> None:
    for objective in EVERY:
        found = traced(objective).function.enclose(domain(objective))
        assert not math.isnan(found.lo) and found.lo <= found.hi, objective.name


def test_arguments_reach_the_function() -> None:
    f = trace(lambda x, a, b: a * x[0] + b, 1, args=(2.0, 5.0))
    assert f([3.0]) == 11.0


def test_derivative_of_an_unused_variable_is_zero() -> None:
    f = trace(lambda x: x[0] ** 2, 3)
    found = f.gradient([(1.0, 2.0)] * 3)
    assert found.lo.tolist() == [2.0, 0.0, 0.0] and found.hi.tolist() == [4.0, 0.0, 0.0]
