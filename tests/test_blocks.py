"""A function taken apart into blocks is the same function, and the blocks' answers make up its own."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import numpy.typing as npt
import pytest

import exact_values
import infimum
from contractions import level, mean_value
from infimum.domain import read_bounds
from infimum.errors import InvalidOption
from infimum.function.blocks import Separated, separate
from infimum.function.function import Function
from infimum.graph import indexmap
from infimum.graph.build import Build
from infimum.graph.constant import Constant
from infimum.graph.node import Graph
from infimum.interval.folds import fold
from infimum.passes.separate.blocks import blocks
from infimum.passes.separate.reads import components
from infimum.search.product import Answers, Product, share

FloatArray = npt.NDArray[np.float64]
pi = infimum.pi


# --- functions -------------------------------------------------------------------------------------------------------


def powell(x: Any) -> Any:
    a, b, c, d = x[0::4], x[1::4], x[2::4], x[3::4]
    return np.sum((a + 10 * b) ** 2 + 5 * (c - d) ** 2 + (b - 2 * c) ** 4 + 10 * (a - d) ** 4)


def loop(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        total = total + (x[i] - i) ** 2 * math.sqrt(i + 1) - np.cos(3 * x[i])
    return total


def loop_of_pairs(x: Any) -> Any:
    total = 3.5
    for i in range(0, len(x), 2):
        total -= np.exp(-((x[i] - x[i + 1]) ** 2)) / (i + 2)
    return total


def edges_differ(x: Any) -> Any:
    return (x[0] - 1) ** 4 + np.sum(x[1:-1] ** 2) / 7 + np.abs(x[-1]) - np.sqrt(x[-1] + 9)


def pieces(x: Any) -> Any:
    half = len(x) // 2
    both = np.concatenate([np.sin(x[:half]), x[half:] ** 2 - 1])
    return np.sum(np.arange(1, len(x) + 1) * both) - 2 * np.sum(both[1:])


def rows(x: Any) -> Any:
    return np.sum(np.sqrt(1 + np.sum(x.reshape(-1, 2) ** 2, axis=1)) + np.prod(x.reshape(-1, 2), axis=1))


def nested(x: Any) -> Any:
    return np.sum(np.sum(x.reshape(2, -1) ** 2 * np.array([[2.0], [3.0]]), axis=1) * np.array([0.1, -0.7])) + np.mean(x)


def halves(x: Any) -> Any:
    half = len(x) // 2
    return np.linalg.norm(x[:half] - 1) + np.max(np.abs(x[half:])) * 0.3


def windows(x: Any) -> Any:
    before = np.concatenate([[0.0], x[:-1]])
    return np.sum(np.where(np.arange(len(x)) % 3 == 0, 0.0, 1.0) * (x - before) ** 2) + np.sum(x**4)


def running(x: Any) -> Any:
    half = len(x) // 2
    return np.sum(np.cumsum(x[:half]) ** 2) + np.sum(x[half:] ** 2)


def unread(x: Any) -> Any:
    return np.sum(x[::2] ** 2) + 0.25


def shared_scalar(x: Any) -> Any:
    return np.sum(np.arange(1.0, 5.0) * np.cos(x[0])) + np.sum(x[1:] ** 2)


def exact_numbers(x: Any) -> Any:
    i = infimum.exact(np.arange(1, len(x) + 1))
    return np.sum(np.sqrt(i) * (x - pi * i) ** 2) / infimum.exact("0.3") - np.sum(np.sqrt(i))


def crossed(x: Any) -> Any:
    pair = np.arange(len(x) // 2)
    a, b = 2 * pair + pair % 2, 2 * pair + 1 - pair % 2
    return np.sum((x[a] - x[b] ** 2) ** 2)


def uniform_constants(x: Any) -> Any:
    weights = np.array([2.0, 2.0, 2.0, *range(3, len(x))])
    return np.sum(weights * np.concatenate([np.cos(x[:3]) - 7, x[3:] - 1]))


# name: the function, and how many blocks n variables make
CASES: dict[str, tuple[Callable[[Any], Any], Callable[[int], int]]] = {
    "styblinski_tang": (lambda x: 0.5 * np.sum(x**4 - 16 * x**2 + 5 * x), lambda n: n),
    "rastrigin": (lambda x: 10 * len(x) + np.sum(x**2 - 10 * np.cos(2 * pi * x)), lambda n: n),
    "schwefel": (lambda x: 418.9829 * len(x) - np.sum(x * np.sin(np.sqrt(np.abs(x)))), lambda n: n),
    "michalewicz": (
        lambda x: -np.sum(np.sin(x) * np.sin(np.arange(1, len(x) + 1) * x**2 / pi) ** 20),
        lambda n: n,
    ),
    "qing": (lambda x: np.sum((x**2 - np.arange(1, len(x) + 1)) ** 2), lambda n: n),
    "alpine": (lambda x: np.sum(np.abs(x * np.sin(x) + 0.1 * x)), lambda n: n),
    "pairs": (lambda x: np.sum((x[::2] - x[1::2] ** 2) ** 2), lambda n: n // 2),
    "mean": (lambda x: np.mean(x**2 + np.sin(x)), lambda n: n),
    "two_sums": (lambda x: np.sum(x**2) + np.sum(np.cos(x)) * 3, lambda n: n),
    "maximised": (lambda x: -np.sum(x**2 - np.cos(x)), lambda n: n),
    "powell": (powell, lambda n: n // 4),
    "loop": (loop, lambda n: n),
    "loop_of_pairs": (loop_of_pairs, lambda n: n // 2),
    "edges_differ": (edges_differ, lambda n: n),
    "pieces": (pieces, lambda n: n),
    "rows": (rows, lambda n: n // 2),
    "nested": (nested, lambda n: n),
    "halves": (halves, lambda n: 2),
    "windows": (windows, lambda n: (n + 2) // 3),
    "running": (running, lambda n: n - n // 2 + 1),
    "unread": (unread, lambda n: n),
    "shared_scalar": (shared_scalar, lambda n: n),
    "crossed": (crossed, lambda n: n // 2),
    "uniform_constants": (uniform_constants, lambda n: n),
    "exact_numbers": (exact_numbers, lambda n: n),
}
COUPLED: dict[str, Callable[[Any], Any]] = {
    "rosenbrock": lambda x: np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2),
    "dixon_price": lambda x: (x[0] - 1) ** 2 + np.sum(np.arange(2, len(x) + 1) * (2 * x[1:] ** 2 - x[:-1]) ** 2),
    "griewank": lambda x: 1 + np.sum(x**2) / 4000 - np.prod(np.cos(x / np.sqrt(np.arange(1, len(x) + 1)))),
    "norm": lambda x: np.sqrt(np.sum(x**2)),
    "constant_beyond_doubles": lambda x: np.sum(x**2) + infimum.exact(10) ** 400,
    "factor_beyond_doubles": lambda x: np.sum(x**2) * infimum.exact(10) ** 400,
}


def _taken_apart(name: str, n: int) -> tuple[Function, Separated]:
    n = 8 if name == "powell" and n == 6 else n
    f = infimum.trace(CASES[name][0], n)
    found = separate(f)
    assert found is not None
    return f, found


def _points(n: int, count: int, seed: int) -> FloatArray:
    return np.random.default_rng(seed).uniform(-2.5, 2.5, (count, n))


def _ball(lo: float, hi: float) -> Any:
    return flint.arb(lo) if lo == hi else flint.arb(lo).union(flint.arb(hi))


def _exact_sum(found: Separated, constant: Constant, x: FloatArray) -> Any:
    """constant + sum of the blocks' values at x, in balls; gathered constants as the balls that enclose them."""
    with exact_values.precision(256):
        total = exact_values.constants(Graph().node("constant", (), 1, constant))[0]
        for alike in found.classes:
            for own, lo, hi in zip(alike.variables, alike.lo, alike.hi, strict=True):
                columns = [_ball(a, b) for a, b in zip(lo.tolist(), hi.tolist(), strict=True)]
                total = total + exact_values.value(alike.function.value_node, [*x[own].tolist(), *columns])
        return total


def _enclosed_sum(found: Separated, lo: FloatArray, hi: FloatArray) -> tuple[float, float]:
    ends = [
        alike.function.range_ends(*alike.boxes(lo[alike.variables], hi[alike.variables])) for alike in found.classes
    ]
    low = np.concatenate([*(a for a, _ in ends), [found.lo]])
    high = np.concatenate([*(b for _, b in ends), [found.hi]])
    a, b = fold("add", (low, high))
    return float(a), float(b)


# --- the same function ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [6, 1000])
@pytest.mark.parametrize("name", CASES)
def test_the_blocks_are_the_connected_components(name: str, n: int) -> None:
    f, found = _taken_apart(name, n)
    assert found.count == CASES[name][1](f.n)
    every = np.concatenate([alike.variables.ravel() for alike in found.classes])
    assert np.array_equal(np.sort(every), np.arange(f.n)), "every variable is in exactly one block"
    assert len(found.classes) <= 6


@pytest.mark.parametrize("n", [6, 1000])
@pytest.mark.parametrize("name", COUPLED)
def test_what_hangs_together_is_not_taken_apart(name: str, n: int) -> None:
    assert separate(infimum.trace(COUPLED[name], n)) is None


@pytest.mark.parametrize("name", CASES)
def test_the_sum_is_the_same_real_number(name: str) -> None:
    f, found = _taken_apart(name, 6)
    graph = blocks(f.value_node, f.n)
    assert graph is not None
    numbers = all(np.array_equal(alike.lo, alike.hi) for alike in found.classes) and graph.constant.is_exact
    for x in _points(f.n, 3, 1):
        true, told = exact_values.value(f.value_node, x.tolist()), _exact_sum(found, graph.constant, x)
        assert true.overlaps(told), (x, true, told)
        assert abs(true - told) < (2.0**-180 if numbers else 2.0**-35), (x, true, told)


@pytest.mark.parametrize("n", [6, 1000])
@pytest.mark.parametrize("name", CASES)
def test_enclosures_of_the_sum_contain_the_function(name: str, n: int) -> None:
    f, found = _taken_apart(name, n)
    rng = np.random.default_rng(2)
    for x in _points(f.n, 4, 3):
        radius = rng.choice([0.0, 0.01, 1.0])
        lo, hi = _enclosed_sum(found, x - radius, x + radius)
        whole_lo, whole_hi = f.range_ends(x[None], x[None])
        assert lo <= whole_hi[0]
        assert whole_lo[0] <= hi
        if radius == 0.0:  # and is as tight as the function's own
            assert hi - lo <= 4 * (whole_hi[0] - whole_lo[0]) + 1e-13 * f.n * max(1.0, abs(lo))
    assert math.isclose(
        found.lo + sum(float(np.sum(a.function(np.hstack([x[a.variables], a.lo])))) for a in found.classes),
        float(f(x)),
        rel_tol=1e-9,
        abs_tol=1e-9,
    )


def test_undefined_points_stay_undefined() -> None:
    f = infimum.trace(lambda x: np.sum(np.sqrt(x[:3]) * 0.0) + np.sum(x[3:] ** 2), 5)
    found = separate(f)
    assert found is not None
    roots = next(alike for alike in found.classes if 0 in alike.variables)
    lo, hi = roots.function.range_ends(np.array([[-2.0]]), np.array([[-1.0]]))
    assert lo[0] > hi[0]
    assert not roots.function.facts([(-1, 1)]).defined


def test_what_zero_is_multiplied_with_must_be_defined() -> None:
    found = separate(infimum.trace(lambda x: np.sum(np.array([0.0, 1.0, 2.0]) * np.sqrt(x)), 3))
    assert found is not None
    for alike in found.classes:
        lo, hi = alike.boxes(np.full((alike.count, 1), -2.0), np.full((alike.count, 1), -1.0))
        low, high = alike.function.range_ends(lo, hi)
        assert (low > high).all()


def test_missing_elements_and_pieces_keep_their_places() -> None:
    """Groups of three of which some elements are missing, and lie in the two pieces in any order."""
    n = 7
    build = Build(n)
    first, rest = (build.take(build.x, indexmap.affine([(k, 1)], start, n)) for k, start in ((3, 0), (4, 3)))
    whole = build.graph.node("concat", (build.apply("sin", first), build.apply("sqr", rest)), n)
    order = indexmap.of_indices([3, 4, 0, -1, 1, 5, 2, -1, 6], n)
    taken = build.graph.node("take", (build.apply("cos", whole),), 9, order)
    weighted = build.apply("mul", build.constant(Constant(np.arange(1.0, 10.0))), taken)
    value = build.reduce("sum", build.apply("exp", build.graph.node("sum", (weighted,), 3, 3)), 3)
    f = Function(value, n, "groups")
    found, graph = separate(f), blocks(f.value_node, n)
    assert found is not None
    assert graph is not None
    assert sorted(own.tolist() for alike in found.classes for own in alike.variables) == [[0, 3, 4], [1, 5], [2, 6]]
    for x in _points(n, 3, 9):
        true, told = exact_values.value(f.value_node, x.tolist()), _exact_sum(found, graph.constant, x)
        assert abs(true - told) < 2.0**-150


@pytest.mark.parametrize("seed", range(60))
def test_random_sums_are_taken_apart_truly(seed: int) -> None:
    f = infimum.trace(_random_sum(seed), 8)
    graph = blocks(f.value_node, 8)
    found = separate(f)
    if found is None or graph is None:
        return
    for x in _points(8, 2, seed):
        true, told = exact_values.value(f.value_node, x.tolist()), _exact_sum(found, graph.constant, x)
        assert true.overlaps(told)
        assert abs(true - told) < 2.0**-35, (seed, true, told)
    _assert_no_block_reads_another(f, found, seed)


def _assert_no_block_reads_another(f: Function, found: Separated, seed: int) -> None:
    """f(x with two blocks changed) - f(x) is the sum of the two single changes."""
    rng = np.random.default_rng(seed)
    every = [own for alike in found.classes for own in alike.variables]
    x, y = rng.uniform(0.5, 2.0, (2, f.n))
    for first, second in itertools.combinations(every[:3], 2):
        one, other, both = x.copy(), x.copy(), x.copy()
        one[first], other[second] = y[first], y[second]
        both[first], both[second] = y[first], y[second]
        values = [exact_values.value(f.value_node, p.tolist()) for p in (both, one, other, x)]
        assert abs(values[0] - values[1] - values[2] + values[3]) < 2.0**-35


def _random_sum(seed: int) -> Callable[[Any], Any]:
    """A sum of sums over random selections, with factors, constants and scalars of every kind that the tracer knows."""
    rng = np.random.default_rng(seed)
    parts = []
    for _ in range(int(rng.integers(1, 5))):
        own = rng.permutation(8)[: 2 * int(rng.integers(1, 4))]
        shifts, weights = rng.uniform(-1, 1, own.size), rng.integers(-2, 3, own.size).astype(float)
        factor = 1.0 if rng.random() < 0.5 else float(rng.uniform(-3, 3))
        parts.append((KINDS[int(rng.integers(len(KINDS)))], own, shifts, weights, factor))
    start = float(rng.integers(-3, 4))

    def f(x: Any) -> Any:
        total = start
        for kind, own, shifts, weights, factor in parts:
            total = total + factor * kind(x[own], shifts, weights)
        return total

    return f


KINDS: list[Callable[[Any, FloatArray, FloatArray], Any]] = [
    lambda v, c, w: np.sum(v[: len(v) // 2] * v[len(v) // 2 :]),
    lambda v, c, w: np.sum(np.cos(v) - 3 * v),
    lambda v, c, w: np.sum((v - c) ** 2 * w),
    lambda v, c, w: np.sum(np.array([2.0, 5.0]) * np.sum(v.reshape(2, -1), axis=1)) / 3,
    lambda v, c, w: np.mean(np.concatenate([v[:1] ** 2, np.sin(v[1:]) + 1])) * pi,
    lambda v, c, w: v[0] * v[-1] - (v[0] - np.exp(v[-1] / 4)),
    lambda v, c, w: np.sum(np.abs(v) / np.arange(1, len(v) + 1) + v[0]),
    lambda v, c, w: np.sum(w / 2 * (c * v[0] - v) + c),
]


# --- bodies are Functions ------------------------------------------------------------------------------------------


def test_blocks_of_one_form_are_one_class_with_columns_of_constants() -> None:
    _, found = _taken_apart("qing", 1000)
    (alike,) = found.classes
    assert (alike.count, alike.width, alike.function.n) == (1000, 1, 2)
    assert np.array_equal(alike.lo[:, 0], np.arange(1, 1001))
    assert np.array_equal(alike.lo, alike.hi)


def test_exact_constants_become_columns_that_contain_them() -> None:
    _, found = _taken_apart("michalewicz", 6)
    (alike,) = found.classes
    with exact_values.precision(256):
        for i, (lo, hi) in enumerate(zip(alike.lo[:, 0].tolist(), alike.hi[:, 0].tolist(), strict=True)):
            assert not exact_values.outside(flint.arb(i + 1) / flint.arb.pi(), lo, hi)
            assert hi <= np.nextafter(np.nextafter(lo, np.inf), np.inf)
    assert (alike.lo < alike.hi).any()
    for ends, columns in zip(alike.boxes(*np.zeros((2, 6, 1))), (alike.lo, alike.hi), strict=True):
        assert np.array_equal(ends[:, 1:], columns)


def test_a_variable_that_is_not_read_is_a_block_of_value_zero() -> None:
    _, found = _taken_apart("unread", 6)
    zero = next(alike for alike in found.classes if 1 in alike.variables)
    assert np.array_equal(zero.variables[:, 0], [1, 3, 5])
    lo, hi = np.full((3, 1), -1.0), np.full((3, 1), 2.0)
    for end in zero.function.range_ends(lo, hi):
        assert np.array_equal(end, np.zeros(3))
    kept_lo, kept_hi = level(zero.function).contract(lo, hi, 0.0)
    assert np.array_equal(kept_lo, lo)
    assert np.array_equal(kept_hi, hi)


@pytest.mark.parametrize("name", ["qing", "michalewicz", "powell", "rows", "halves"])
def test_contractors_keep_the_minimiser_of_every_block(name: str) -> None:
    f, found = _taken_apart(name, 6)
    domain = read_bounds([(-3, 4)] * f.n)
    for alike in found.classes:
        lo, hi = alike.boxes(domain.lo[alike.variables], domain.hi[alike.variables])
        grid = np.random.default_rng(4).uniform(-3, 4, (3000, alike.width))
        for b in range(alike.count):
            member = np.full(len(grid), b)
            low, high = alike.boxes(grid, grid, member)
            values = alike.function.range_ends(low, high)[1]
            best, upper = grid[np.argmin(values)], float(values.min())
            box = lo[b : b + 1], hi[b : b + 1]
            for kept in (
                level(alike.function).contract(*box, upper),
                mean_value(alike.function).contract(*box, upper),
            ):
                assert (kept[0][0, : alike.width] <= best).all()
                assert (best <= kept[1][0, : alike.width]).all()


def test_likes_are_searched_once() -> None:
    _, found = _taken_apart("styblinski_tang", 6)
    (alike,) = found.classes
    first, of = alike.distinct(read_bounds([(-5, 5)] * 6))
    assert (first.size, of.tolist()) == (1, [0] * 6)
    first, of = alike.distinct(read_bounds([(-5, 5)] * 4 + [(-5, 4)] * 2))
    assert first.size == 2
    assert len(set(of[:4].tolist())) == len(set(of[4:].tolist())) == 1


def test_components_of_random_graphs() -> None:
    rng = np.random.default_rng(5)
    for _ in range(50):
        count = int(rng.integers(1, 40))
        a, b = rng.integers(0, count, (2, int(rng.integers(0, 40))))
        label = list(range(count))
        for _ in range(count):
            for i, j in zip(a.tolist(), b.tolist(), strict=True):
                label[i] = label[j] = min(label[i], label[j])
        assert components(count, a, b).tolist() == label


# --- the product ---------------------------------------------------------------------------------------------------


def _answers(variables: list[list[int]], lists: list[list[tuple[float, float, float]]], upper: list[float]) -> Answers:
    """Blocks of one or more variables whose boxes are cubes (lo, hi, lower bound)."""
    own = np.array(variables, np.int64)
    flat = [box for boxes in lists for box in boxes]
    lo, hi = (np.array([[box[i]] * own.shape[1] for box in flat]).reshape(-1, own.shape[1]) for i in (0, 1))
    starts = np.cumsum([0, *(len(boxes) for boxes in lists)])
    x = np.array([[boxes[0][0] if boxes else 0.0] * own.shape[1] for boxes in lists])
    return Answers(own, starts, lo, hi, np.array([box[2] for box in flat]), np.array(upper), x)


def test_the_minimum_is_the_sum_rounded_outward() -> None:
    count = 1000
    low = np.random.default_rng(6).uniform(-1, 1, count)
    answers = _answers([[i] for i in range(count)], [[(0.0, 1.0, float(v)), (2.0, 3.0, 5.0)] for v in low], list(low))
    lower, upper = Product(count, 0.1, 0.1, (answers,)).minimum()
    true = sum((Fraction(float(v)) for v in low), Fraction(0.1))
    assert Fraction(lower) < true < Fraction(upper)
    assert upper - lower < 1e-12


def test_the_product_has_as_many_boxes_as_its_lists_multiply_to() -> None:
    two = [(0.0, 1.0, -1.0), (2.0, 3.0, -1.0)]
    product = Product(50, 0.0, 0.0, (_answers([[i] for i in range(50)], [two] * 50, [0.0] * 50),))
    assert product.count() == 2**50
    with pytest.raises(InvalidOption, match=r"1125899906842624|2\^50"):
        product.boxes()
    assert np.array_equal(product.hull(), np.tile([0.0, 3.0], (50, 1)))
    assert (product.widths() >= 1.0).all()
    assert (product.widths() < 1.0 + 1e-12).all()


def test_written_down_boxes_are_the_product() -> None:
    first = _answers([[3], [0]], [[(0, 1, 1), (2, 3, 2)], [(7, 8, 10)]], [1.0, 10.0])
    second = _answers([[1, 2]], [[(-1, 0, 100), (4, 5, 200), (6, 6, 300)]], [100.0])
    product = Product(4, 0.5, 0.5, (first, second))
    boxes, bounds = product.boxes()
    expected = [
        ([(7, 8), b[:2], b[:2], a[:2]], 0.5 + a[2] + 10 + b[2])
        for a in [(0, 1, 1), (2, 3, 2)]
        for b in [(-1, 0, 100), (4, 5, 200), (6, 6, 300)]
    ]
    assert product.count() == len(boxes) == 6
    assert np.array_equal(boxes, np.array([box for box, _ in expected], float))
    assert np.array_equal(bounds, [bound for _, bound in expected])
    x = product.x()
    assert x is not None
    assert x.tolist() == [7.0, -1.0, -1.0, 0.0]
    assert product.minimum() == (111.5, 111.5)


def test_blocks_without_boxes_bounds_or_points_are_told() -> None:
    good = _answers([[0]], [[(0, 1, 1)]], [1.0])
    undefined = Product(2, 0.0, 0.0, (good, _answers([[1]], [[]], [math.inf])))
    assert undefined.minimum() == (math.inf, math.inf)
    assert undefined.count() == 0
    assert undefined.x() is None
    assert undefined.boxes()[0].shape == (0, 2, 2)
    assert (undefined.hull()[:, 0] > undefined.hull()[:, 1]).all()
    no_point = Product(2, 0.0, 0.0, (good, _answers([[1]], [[(0, 1, 3)]], [math.inf])))
    assert no_point.minimum() == (4.0, math.inf)
    unbounded = Product(2, 0.0, 0.0, (good, _answers([[1]], [[(0, 1, -math.inf)]], [2.0])))
    assert unbounded.minimum() == (-math.inf, 3.0)
    assert unbounded.boxes()[1].tolist() == [-math.inf]
    emptied = Product(2, 0.0, 0.0, (good, _answers([[1]], [[(0, 1, math.inf), (2, 3, 4)]], [4.0])))
    assert emptied.minimum() == (5.0, 5.0)
    assert emptied.boxes()[1].tolist() == [np.finfo(float).max, 5.0]


def test_widths_are_rounded_up() -> None:
    product = Product(
        2, 0.0, 0.0, (_answers([[0], [1]], [[(-1e-30, 1.0, 0), (5.0, 5.0, 0)], [(3.0, 3.0, 0)]], [0, 0]),)
    )
    assert 1.0 < product.widths()[0] < 1.0 + 1e-12
    assert product.widths()[1] == 0.0


def test_answers_are_copied_to_likes() -> None:
    own = _answers([[0], [1]], [[(0, 1, 1), (2, 3, 2)], [(7, 8, 10)]], [1.0, 10.0])
    many = own.copied(np.arange(3)[:, None], np.array([1, 0, 1]))
    assert many.starts.tolist() == [0, 1, 3, 4]
    assert many.lo[:, 0].tolist() == [7, 0, 2, 7]
    assert many.lower_bounds.tolist() == [10, 1, 2, 10]
    assert many.upper.tolist() == [10, 1, 10]


def test_gaps_that_every_block_keeps_make_up_the_whole() -> None:
    gap = share(1e-6 * 50, (1.0, 1.0), 1000)
    assert 0.999e-6 * 50 < 1000 * gap < 1e-6 * 50
    assert 0 < 10 * share(1e-6, (1.0, 1.0 + 1e-7), 10) <= 1e-6 - 0.999e-7
    assert share(0.0, (1.0, 1.0), 10) == 0.0
    assert 0 < share(1e-12, (1.0, 1.0 + 1e-9), 10) < 1e-9, "out of reach: the constant alone is wider"


def test_the_answers_of_styblinski_tang_combine() -> None:
    """The blocks' minima, found on a fine grid of boxes, make up the known minimum -39.16616570377142 n."""
    n = 1000
    _, found = _taken_apart("styblinski_tang", n)
    (alike,) = found.classes
    first, of = alike.distinct(read_bounds([(-5, 5)] * n))
    edges = np.linspace(-5, 5, 40001)
    lo, hi = edges[:-1, None], edges[1:, None]
    bounds = mean_value(alike.function).boxes(*alike.boxes(lo, hi, np.full(len(lo), first[0]))).lower
    values = alike.function.range_ends(*alike.boxes(lo, lo, np.full(len(lo), first[0])))[1]
    keep = bounds <= values.min()
    one = Answers(
        alike.variables[first], np.array([0, keep.sum()]), lo[keep], hi[keep], bounds[keep],
        values.min()[None], lo[np.argmin(values)][None],
    )  # fmt: skip
    product = Product(n, found.lo, found.hi, (one.copied(alike.variables, of),))
    lower, upper = product.minimum()
    assert lower <= -39.16616570377142 * n <= upper
    assert upper - lower < 1e-2
    assert (np.abs(product.hull() + 2.903534) < 1e-2).all()
    assert product.count() == int(keep.sum()) ** n
