"""Hessians: enclosures of second derivatives, where they exist; sparse ones; their products with directions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flint
import numpy as np
import numpy.typing as npt
import pytest

import infimum
from infimum.function.function import Function
from infimum.graph import indexmap
from infimum.passes.hessian import pattern
from infimum.passes.hessian.tangent import Tangents
from infimum.problems import named
from jets import second_derivatives
from random_functions import RandomFunction, Undecided, random_function

FloatArray = npt.NDArray[np.float64]


def traced(f: Any, n: int) -> Function:
    with np.errstate(all="ignore"):
        return infimum.trace(f, n)


def contained(low: FloatArray, high: FloatArray, balls: Any) -> bool:
    """Whether every ball meets its interval: the numbers that they stand for are known to 80 digits."""
    ends = zip(low.ravel(), high.ravel(), balls.ravel(), strict=True)
    return all(not (ball < flint.arb(float(a)) or ball > flint.arb(float(b))) for a, b, ball in ends)


def boxes_of(f: RandomFunction, draw: np.random.Generator, count: int) -> tuple[FloatArray, FloatArray]:
    """Boxes of all widths within the function's own."""
    lo, hi = (np.clip(np.array(end), -20.0, 20.0) for end in zip(*f.bounds, strict=True))
    middle = lo + (hi - lo) * draw.random((count, f.n))
    reach = (hi - lo) * 10.0 ** draw.uniform(-4, -0.5, (count, 1))
    return np.maximum(lo, middle - reach), np.minimum(hi, middle + reach)


def violations(seeds: range, boxes: int = 6, points: int = 2) -> tuple[int, int]:
    """How many second derivatives were compared, and how many did not lie in their enclosure."""
    compared = wrong = 0
    for seed in seeds:
        f = random_function(seed)
        function, draw = traced(f, f.n), np.random.default_rng(seed)
        lo, hi = boxes_of(f, draw, boxes)
        low, high = function.hessian_ends(lo, hi)
        for k in np.flatnonzero(function.is_twice_smooth(lo, hi)):
            sparse = as_matrix(function, lo[k], hi[k])
            for point in lo[k] + (hi[k] - lo[k]) * draw.random((points, f.n)):
                try:
                    balls = second_derivatives(f.tree, np.clip(point, lo[k], hi[k]))
                except (Undecided, ZeroDivisionError):
                    continue
                compared += 1
                wrong += not (contained(low[k], high[k], balls) and contained(*sparse, balls))
    return compared, wrong


def test_the_hessian_of_random_functions_contains_every_second_derivative() -> None:
    compared, wrong = violations(range(100))
    assert compared > 300
    assert wrong == 0


@pytest.mark.torture
def test_the_hessian_of_many_random_functions_contains_every_second_derivative() -> None:
    compared, wrong = violations(range(2000), boxes=10)
    assert compared > 10_000
    assert wrong == 0


# --- where second derivatives exist ----------------------------------------------------------------------------------

ABOUT_ZERO = [(-1.0, 1.0), (0.0, 1.0), (0.0, 0.0), (-1.0, 0.0)]
BESIDE_ZERO = [(0.5, 1.0), (0.1, 0.1)]
KINKED: dict[str, Callable[[Any], Any]] = {
    "|x|": lambda x: np.abs(x[0]),
    "|x|^3": lambda x: np.abs(x[0]) ** 3,
    "x |x|": lambda x: x[0] * np.abs(x[0]),
    "max(x, 0)^2": lambda x: np.maximum(x[0], 0) ** 2,
    "where": lambda x: np.where(x[0] > 0, x[0] ** 3, -(x[0] ** 3)),
    "where that agrees": lambda x: np.where(x[0] >= 0, x[0] ** 2, x[0] ** 2 + x[0] ** 5),
    "floor": lambda x: np.floor(x[0]) * x[0] ** 3 + x[0] ** 2,
    "sign": lambda x: np.sign(x[0]) * x[0] ** 2,
    "cbrt": lambda x: np.cbrt(x[0]) ** 7,
    "hypot": lambda x: np.hypot(x[0], x[0]) ** 3,
    "mod": lambda x: np.mod(x[0], 1.0) ** 2,
    "min of three": lambda x: np.min([x[0] ** 2, x[0] ** 3, x[0] ** 2 + x[0] ** 5]),
}
BORDERED: dict[str, Callable[[Any], Any]] = {
    "x^1.5": lambda x: x[0] ** 1.5,
    "x^2.5": lambda x: x[0] ** 2.5,
    "sqrt": lambda x: np.sqrt(x[0]) ** 5,
    "x log x": lambda x: x[0] * np.log(x[0]),
    "entropy": lambda x: __import__("scipy.special").special.xlogy(x[0], x[0]),
    "1/x": lambda x: 1 / x[0],
}
ENTIRE: dict[str, Callable[[Any], Any]] = {
    "x^3": lambda x: x[0] ** 3,
    "polynomial": lambda x: (x[0] - 1) ** 4 * x[0],
    "exp": lambda x: np.exp(-(x[0] ** 2)),
    "where elsewhere": lambda x: np.where(x[0] > 2, np.abs(x[0]), x[0] ** 2),
    "floor elsewhere": lambda x: np.floor(x[0] / 8 + 0.5) * x[0] ** 3 + x[0] ** 2,
    "abs elsewhere": lambda x: np.abs(x[0] - 3) ** 3,
    "sqrt elsewhere": lambda x: np.where(x[0] > 2, 0.0, np.sqrt(2 + x[0])),
}


def twice(f: Any, box: tuple[float, float]) -> bool:
    lo, hi = (np.array([[end, 2.0]]) for end in box)
    return bool(traced(lambda x: f(x) * (1 + x[1] ** 2), 2).is_twice_smooth(lo, hi)[0])


@pytest.mark.parametrize("name", KINKED)
@pytest.mark.parametrize("box", ABOUT_ZERO)
def test_a_function_with_a_kink_is_not_twice_smooth_around_it(name: str, box: tuple[float, float]) -> None:
    assert not twice(KINKED[name], box)


@pytest.mark.parametrize("name", {**KINKED, **BORDERED})
@pytest.mark.parametrize("box", BESIDE_ZERO)
def test_beside_its_kink_it_is_twice_smooth(name: str, box: tuple[float, float]) -> None:
    beside = box if name not in ("mod", "floor") else (box[0], min(box[1], 0.75))
    assert twice({**KINKED, **BORDERED}[name], beside) is (name != "min of three" or box == (0.1, 0.1))


@pytest.mark.parametrize("name", BORDERED)
@pytest.mark.parametrize("box", [(0.0, 1.0), (0.0, 0.0)])
def test_at_the_edge_of_its_domain_it_is_not_twice_smooth(name: str, box: tuple[float, float]) -> None:
    assert not twice(BORDERED[name], box)


@pytest.mark.parametrize("name", ENTIRE)
@pytest.mark.parametrize("box", [*ABOUT_ZERO, *BESIDE_ZERO])
def test_a_function_whose_conditions_are_decided_is_twice_smooth(name: str, box: tuple[float, float]) -> None:
    assert twice(ENTIRE[name], box)


def test_a_slope_that_is_known_as_a_range_is_not_differentiated() -> None:
    def second(x: Any) -> Any:
        from scipy.special import psi

        return psi(x[0])

    box = np.array([1.0]), np.array([2.0])
    function = infimum.trace(second, 1, box=box)  # its slope is trigamma, whose own slope is known within a factor
    lo, hi = np.array([[1.0]]), np.array([[2.0]])
    assert function.is_twice_smooth(lo, hi).all()
    low, high = function.hessian_ends(lo, hi)
    assert low[0, 0, 0] < -2.404 < high[0, 0, 0]  # -2 zeta(3), at 1
    third = Function(function.gradient_node, 1, "trigamma")
    assert not third.is_twice_smooth(lo, hi).any()


# --- sparse ----------------------------------------------------------------------------------------------------------


def grid_energy(side: int) -> Callable[[Any], Any]:
    def energy(x: Any) -> Any:
        u = x.reshape(side, side)
        d = np.sum((u[1:] - u[:-1]) ** 2) + np.sum((u[:, 1:] - u[:, :-1]) ** 2)
        return 0.5 * d + np.sum(np.exp(u)) / side**2 - np.sum(u) / side

    return energy


def chain_by_loop(x: Any) -> Any:
    total = 0.0
    for i in range(len(x) - 2):
        total = total + (x[i] * x[i + 2] - np.sin(x[i + 1])) ** 2
    return total


def products_and_maxima(x: Any) -> Any:
    return np.prod(1 + x**2) + np.max(x[:3] * x[1:4]) + np.cumsum(x * np.roll(x, 2))[-3]


SPARSE: dict[str, tuple[Callable[[Any], Any], int]] = {
    "trid": (named("trid", 12).f, 12),
    "grid": (grid_energy(4), 16),
    "loop": (chain_by_loop, 9),
    "rosenbrock": (named("rosenbrock", 8).f, 8),
    "arrow": (lambda x: np.sum(x[0] * x[1:] ** 2) + np.sum(np.cos(x)), 7),
    "dense": (products_and_maxima, 6),
    "affine": (lambda x: 3 * x[0] - x[2], 4),
    "one": (lambda x: x[0] ** 4, 1),
    "separable": (lambda x: np.sum(x**4), 10),
    "far pairs": (lambda x: np.sum(x[:5] * x[::-1][:5] ** 2) + x[3] * x[7] * x[1], 10),
    "recurrence": (lambda x: np.cumsum(x**2)[-1] * x[0], 5),
}


def as_matrix(function: Function, lo: FloatArray, hi: FloatArray) -> tuple[FloatArray, FloatArray]:
    found = function.sparse_hessian(lo, hi)
    assert found is not None
    low, high = np.zeros((2, function.n, function.n))
    for matrix, end in ((low, found.low), (high, found.high)):
        matrix[found.rows, found.columns] = matrix[found.columns, found.rows] = end
    return low, high


def differences(function: Function, x: FloatArray) -> FloatArray:
    """The Hessian by differences of gradients."""
    ends = (x + sign * 1e-5 * np.eye(function.n) for sign in (1, -1))
    above, below = (np.asarray(function.value_and_gradient(points)[1]) for points in ends)
    return (above - below) / 2e-5


def by_directions(function: Function, x: FloatArray) -> FloatArray:
    """The Hessian by products with every unit vector, which know no pattern."""
    each = np.eye(function.n)
    return function.hessian_product(np.repeat(x[None], function.n, 0), each)


@pytest.mark.parametrize("name", SPARSE)
def test_the_pattern_holds_every_second_derivative_that_is_not_0(name: str) -> None:
    f, n = SPARSE[name]
    function, draw = traced(f, n), np.random.default_rng(n)
    found = function.programs.hessians.pattern
    assert found is not None
    held = np.zeros((n, n), bool)
    held[found.rows, found.columns] = held[found.columns, found.rows] = True
    for x in draw.uniform(-2, 2, (3, n)):
        assert not by_directions(function, x)[~held].any()
    for row in held:
        assert np.unique(found.colours[row]).size == row.sum()


@pytest.mark.parametrize("name", SPARSE)
def test_dense_sparse_and_product_agree(name: str) -> None:
    f, n = SPARSE[name]
    function, draw = traced(f, n), np.random.default_rng(n)
    x = draw.uniform(-1, 1, n)
    plain = by_directions(function, x)
    close = np.abs(plain).max() * 1e-12
    assert np.abs(function.hessian(x) - plain).max() <= close
    for low, high in (as_matrix(function, x, x), [end[0] for end in function.hessian_ends(x[None], x[None])]):
        assert (low <= high).all()
        assert (high - low).max() <= close
        assert (low - close <= plain).all()
        assert (plain <= high + close).all()
    assert np.abs(differences(function, x) - plain).max() < 1e-4


@pytest.mark.parametrize("name", SPARSE)
def test_value_gradient_and_hessian_are_those_that_are_asked_for_alone(name: str) -> None:
    f, n = SPARSE[name]
    function, draw = traced(f, n), np.random.default_rng(n)
    lo = draw.uniform(-1, 1, (5, n))
    hi = lo + 0.1 * draw.random((5, n))
    value, slope, second = function.second_order_ends(lo, hi)
    for found, alone in (
        (value, function.range_ends),
        (slope, function.gradient_ends),
        (second, function.hessian_ends),
    ):
        assert all(np.array_equal(a, b) for a, b in zip(found, alone(lo, hi), strict=True))


def test_few_colours_cost_few_gradients() -> None:
    for side, most in ((10, 7), (100, 7)):
        grid = traced(grid_energy(side), side * side).programs.hessians.pattern
        assert grid is not None
        assert grid.count <= most
    trid = traced(named("trid", 10_000).f, 10_000).programs.hessians.pattern
    assert trid is not None
    assert trid.count == 3
    draw = np.random.default_rng(3)
    edges = draw.integers(0, 2000, (3000, 2))
    graph = traced(lambda x: np.sum((x[edges[:, 0]] * x[edges[:, 1]]) ** 2), 2000).programs.hessians.pattern
    assert graph is not None
    assert graph.count <= 40


def test_a_dense_hessian_is_refused_where_it_would_be_too_large() -> None:
    function = traced(named("trid", 1000).f, 1000)
    assert function.hessian_cost is None
    with pytest.raises(infimum.errors.InvalidOption, match="sparse_hessian"):
        function.hessian_ends(np.zeros((1, 1000)), np.ones((1, 1000)))
    small = traced(named("trid", 50).f, 50).hessian_cost
    assert small is not None
    assert small < 20_000


def test_a_second_derivative_that_is_undefined_says_nothing() -> None:
    function = traced(lambda x: np.sqrt(x[0]) * x[1], 2)
    low, high = function.hessian_ends(np.array([[-2.0, 0.0], [1.0, 0.0]]), np.array([[-1.0, 1.0], [2.0, 1.0]]))
    assert (low[0, 0, 0], high[0, 0, 0]) == (-np.inf, np.inf)
    assert (low[0, 1, 0], high[0, 1, 0]) == (-np.inf, np.inf)
    assert (low[:, 1, 1] == 0).all()
    assert (high[:, 1, 1] == 0).all()
    assert np.isfinite(low[1]).all()


# --- mutants ---------------------------------------------------------------------------------------------------------

MIXED: list[tuple[Callable[[Any], Any], int]] = [
    (lambda x: np.sum(x / (1 + x**2)) + x[0] / (2 + x[1]) + 1 / (3 + x[2]), 3),
    (lambda x: np.where(x[0] > 5, x[0] ** 2, x[0] ** 3 * x[1]) + np.where(x[1] < 5, np.sqrt(7 + x[1]), x[1]), 2),
    (lambda x: x[0] * x[1] * np.exp(x[2]) + np.arctan2(x[0] + 3, x[1]) + np.power(x[0] + 2, x[1] + 2), 3),
    *SPARSE.values(),
]


def are_right() -> bool:
    """Whether dense and sparse Hessians of some functions contain, but for rounding, differences of gradients."""
    for f, n in MIXED:
        function = traced(f, n)
        x = np.linspace(0.2, 1.0, n)
        wanted, close = differences(function, x), 1e-4
        for low, high in (as_matrix(function, x, x), [end[0] for end in function.hessian_ends(x[None], x[None])]):
            if ((low > wanted + close) | (high < wanted - close)).any():
                return False
    return True


def test_the_hessians_of_mixed_functions_are_right() -> None:
    assert are_right()


@pytest.mark.parametrize("op", ["div", "mul", "pow"])
def test_a_slope_that_is_left_out_is_noticed(op: str, monkeypatch: pytest.MonkeyPatch) -> None:
    elementwise = Tangents._elementwise

    def mutant(self: Tangents, node: Any, below: Any) -> Any:
        return elementwise(self, node, [below[0], None] if node.op == op and below[0] else below)

    monkeypatch.setattr(Tangents, "_elementwise", mutant)
    assert not are_right()


def test_tangents_of_the_wrong_branch_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Tangents, "_where", lambda self, node, below: below[1])
    assert not are_right()


def test_products_without_the_tangents_of_the_others_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Tangents, "_others", lambda self, node, a, t: None)
    assert not are_right()


def test_a_recurrence_without_its_factors_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    recurrence = Tangents._recurrence

    def mutant(self: Tangents, node: Any, below: Any) -> Any:
        return recurrence(self, node, [None, below[1]]) if below[1] else None

    monkeypatch.setattr(Tangents, "_recurrence", mutant)
    function = traced(lambda x: np.sum(np.cumprod(1 + x**2)), 4)
    x = np.linspace(0.2, 1.0, 4)
    low, high = as_matrix(function, x, x)
    wanted = differences(function, x)
    assert ((low > wanted + 1e-4) | (high < wanted - 1e-4)).any()


def test_an_entry_that_the_pattern_lacks_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    reads = pattern._reads

    def mutant(output: Any, n: int) -> Any:
        found = reads(output, n)
        rows, columns = np.divmod(found, n)
        off = np.flatnonzero(rows != columns)
        if not off.size:
            return found
        i, j = int(rows[off[0]]), int(columns[off[0]])
        return found[~((rows == i) & (columns == j) | (rows == j) & (columns == i))]

    monkeypatch.setattr(pattern, "_reads", mutant)
    assert not are_right()


def test_a_colour_that_neighbours_share_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pattern, "_colours", lambda rows, columns, n: np.zeros(n, np.int64))
    assert not are_right()


def test_every_slope_but_those_known_as_ranges_is_one_number() -> None:
    """A slope that is a range at a point where the operation is smooth must say so in its record."""
    from infimum.backends import cpu
    from infimum.graph.build import Build
    from infimum.ops import OPERATIONS
    from infimum.passes.lowering.lower import lower

    for name, row in OPERATIONS.items():
        if row.values != "reals" or name in ("where", "min", "max", "mod", "abs"):
            continue
        build = Build(row.arity)
        operands = [build.take(build.x, indexmap.affine([], i, row.arity)) for i in range(row.arity)]
        node = build.graph.node(name, operands, 1, 3 if name == "pown" else None)
        point = np.array([[1.25, 0.75][: row.arity]]) if name not in ("asin", "acos", "atanh") else np.array([[0.25]])
        if name == "atan2":
            point = np.array([[1.25, 0.75]])
        program = lower([build.full(s, 1) for s in row.slope(build, tuple(operands), node)], row.arity)
        for low, high in cpu.run(program, point, point):
            is_range = bool((high - low > 1e-9 * (1 + np.abs(high))).any())
            assert is_range is not row.has_second, name
