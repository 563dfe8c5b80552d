"""Quadratic functions: how they are found, which matrices are positive, and what tangents leave of boxes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import infimum
from infimum.boxes import Boxes
from infimum.contractors.known import Known
from infimum.contractors.quadratic import below, convex, positive, rounded
from infimum.contractors.quadratic.below import Below
from infimum.contractors.quadratic.contractor import quadratic
from infimum.contractors.quadratic.convex import Convex
from infimum.domain import read_bounds
from infimum.function import expression
from infimum.function.function import Function
from infimum.function.hessians import SparseHessian
from infimum.problems import named

FloatArray = npt.NDArray[np.float64]

A = np.array([[1.0, 2.0, -1.0], [0.5, -0.25, 3.0], [2.0, 0.0, 1.0], [-1.5, 1.0, 0.0]])
B = np.array([1.0, -2.0, 0.5, 3.0])
SQUARE = A[:3]


def traced(f: Any, n: int) -> Function:
    with np.errstate(all="ignore"):
        return infimum.trace(f, n)


# --- detection -------------------------------------------------------------------------------------------------------

GRAM = 2 * A.T @ A
SPELLINGS: dict[str, tuple[Callable[[Any], Any], FloatArray]] = {
    "x @ Q @ x": (lambda x: x @ SQUARE @ x + B[:3] @ x, SQUARE + SQUARE.T),
    "dot": (lambda x: np.dot(x, SQUARE @ x), SQUARE + SQUARE.T),
    "einsum": (lambda x: np.einsum("i,ij,j", x, SQUARE, x), SQUARE + SQUARE.T),
    "squares": (lambda x: np.sum((A @ x - B) ** 2), GRAM),
    "residual @ residual": (lambda x: (A @ x - B) @ (A @ x - B), GRAM),
    "product": (lambda x: np.sum((A @ x - B) * (A @ x - B)), GRAM),
    "norm": (lambda x: np.linalg.norm(A @ x - B) ** 2, GRAM),
    "root": (lambda x: np.sqrt(np.sum((A @ x - B) ** 2)) ** 2, GRAM),
    "mean": (lambda x: np.mean((A @ x - B) ** 2), GRAM / 4),
    "variance": (lambda x: np.var(A @ x), GRAM / 4 - 2 * np.outer(A.sum(0), A.sum(0)) / 16),
    "absolute": (lambda x: np.sum(np.abs(A @ x - B) ** 2), GRAM),
    "weights": (lambda x: np.sum((A @ x - B) ** 2 / 0.25), 4 * GRAM),
    "negative": (lambda x: -np.sum((A @ x - B) ** 2), -GRAM),
    "loops": (
        lambda x: sum((sum(A[k, i] * x[i] for i in range(3)) - B[k]) ** 2 for k in range(4)),
        GRAM,
    ),
    "hypot": (lambda x: np.hypot(x[0], x[1]) ** 2 + x[2], np.diag([2.0, 2.0, 0.0])),
    "polynomial": (lambda x: np.sum((np.polyval(x, [0.0, 1.0, 2.0]) - 1) ** 2), None),
    "running sums": (lambda x: np.sum(np.cumsum(x) ** 2), 2 * np.tril(np.ones((3, 3))).T @ np.tril(np.ones((3, 3)))),
    "differences": (lambda x: np.sum(np.diff(x) ** 2), np.array([[2.0, -2, 0], [-2, 4, -2], [0, -2, 2]])),
    "choice of constants": (
        lambda x: np.where(np.array([1.0, -1.0, 2.0]) > 0, x**2, 3 * x).sum(),
        np.diag([2.0, 0, 2]),
    ),
}
OTHERS: dict[str, Callable[[Any], Any]] = {
    "cubic": lambda x: x[0] ** 3 + x[1] + x[2],
    "product of three": lambda x: np.prod(x),
    "x |x|": lambda x: x[0] * np.abs(x[0]) + x[1] + x[2],
    "root": lambda x: np.sqrt(x @ x),
    "root of what may be negative": lambda x: np.sqrt(x[0] * x[1]) ** 2 + x[2],
    "largest": lambda x: np.max(x) ** 2,
    "condition": lambda x: np.where(x[0] > 0, x[0] ** 2, x[1] ** 2) + x[2],
    "floor": lambda x: np.floor(x[0]) ** 2 + x[1] * x[2],
    "quotient": lambda x: (x @ x) / (1 + x[0] ** 2),
    "division by 0": lambda x: (x @ x) / (np.sin(0.0) * 1.0 + 0 * x[0]),
    "sine": lambda x: x @ x + np.sin(x[0]),
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_a_quadratic_function_is_found_through_its_spelling(name: str) -> None:
    f, wanted = SPELLINGS[name]
    found = traced(f, 3).quadratic
    assert found is not None
    low, high = found.dense(3)
    assert (low <= high).all()
    assert (high - low).max() < 1e-13
    if wanted is not None:
        assert (low - 1e-12 <= wanted).all()
        assert (wanted <= high + 1e-12).all()
    draw = np.random.default_rng(0)
    x, h = draw.normal(size=3), np.eye(3)
    for i, j in itertools.product(range(3), repeat=2):  # second differences are exact, but for rounding
        second = f(x + h[i] + h[j]) - f(x + h[i]) - f(x + h[j]) + f(x)
        assert low[i, j] - 1e-11 <= second <= high[i, j] + 1e-11


@pytest.mark.parametrize("name", OTHERS)
def test_no_other_function_is_taken_for_a_quadratic_one(name: str) -> None:
    try:
        function = traced(OTHERS[name], 3)
    except infimum.errors.InfimumError:
        return
    assert function.quadratic is None


def test_a_sparse_matrix_is_handed_over_as_such() -> None:
    found = traced(named("trid", 1000).f, 1000).quadratic
    assert found is not None
    assert found.rows.size == 1999
    assert (found.low == found.high).all()
    assert set(found.low.tolist()) == {2.0, -1.0}


# --- which matrices are positive -------------------------------------------------------------------------------------


def is_positive_exactly(matrix: list[list[Fraction]]) -> bool:
    """Whether a symmetric matrix is positive semidefinite, by elimination in fractions."""
    rows = [row[:] for row in matrix]
    n = len(rows)
    for k in range(n):
        if rows[k][k] < 0 or (rows[k][k] == 0 and any(rows[k][k:])):
            return False
        if rows[k][k] == 0:
            continue
        for i in range(k + 1, n):
            part = rows[i][k] / rows[k][k]
            for j in range(k, n):
                rows[i][j] -= part * rows[k][j]
    return True


def fractions_of(matrix: FloatArray) -> list[list[Fraction]]:
    return [[Fraction(float(v)) for v in row] for row in matrix]


def as_triangle(low: FloatArray, high: FloatArray) -> SparseHessian:
    rows, columns = np.tril_indices(len(low))
    return SparseHessian(rows, columns, low[rows, columns], high[rows, columns])


def verdict(low: FloatArray, high: FloatArray) -> bool:
    found = positive.scaled(as_triangle(low, high), len(low))
    return found is not None and positive.is_positive(found)


def nearly_singular(draw: np.random.Generator) -> FloatArray:
    """A symmetric matrix whose least eigenvalue is about 0, on either side, with rows of all sizes."""
    n = int(draw.integers(1, 8))
    factor = draw.normal(size=(max(1, n - int(draw.integers(0, 2))), n)) * 2.0 ** draw.integers(-20, 20, n)
    matrix = factor.T @ factor
    matrix[np.diag_indices(n)] *= 1 + draw.choice([0, 1e-16, -1e-16, 1e-15, -1e-15, 1e-14, -1e-14, 1e-12])
    return np.asarray((matrix + matrix.T) / 2)


def false_verdicts(count: int) -> tuple[int, int]:
    """How many matrices were called positive, and how many of these are not."""
    draw = np.random.default_rng(7)
    said = wrong = 0
    for _ in range(count):
        matrix = nearly_singular(draw)
        if verdict(matrix, matrix):
            said += 1
            wrong += not is_positive_exactly(fractions_of(matrix))
    return said, wrong


@pytest.mark.parametrize("most_dense", [500, 0])
def test_a_matrix_that_is_called_positive_is(most_dense: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(positive, "MOST_DENSE", most_dense)
    monkeypatch.setattr(positive, "_SHARE", 2.0)
    said, wrong = false_verdicts(300 if most_dense else 100)
    assert said > 10
    assert wrong == 0


def test_without_its_error_bound_a_factor_proves_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(positive, "_lost", lambda matrix, factor, order: -np.ones(matrix.shape[0]))
    monkeypatch.setattr(positive, "_lowered", lambda matrix, delta: matrix.copy())
    assert false_verdicts(300)[1] > 0


def test_every_matrix_between_ends_counts() -> None:
    middle = np.array([[1.0, 0.5], [0.5, 1.0]])
    assert verdict(middle - 0.2, middle + 0.2)
    assert not verdict(middle - 0.3, middle + 0.3)  # [[0.7, 0.8], [0.8, 0.7]]
    assert not verdict(np.array([[-1.0, 0], [0, 1]]), np.eye(2))
    assert verdict(np.zeros((3, 3)), np.zeros((3, 3)))
    assert not verdict(np.array([[0.0, 1], [1, 1]]), np.array([[0.0, 1], [1, 1]]))
    assert verdict(np.diag([0.0, 1e-300, 1e300]), np.diag([0.0, 1e-300, 1e300]))
    assert not verdict(np.diag([1.0, np.inf]), np.diag([1.0, np.inf]))


def test_ill_scaled_gram_matrices_are_seen_to_be_positive() -> None:
    for top, degree in itertools.product((1.0, 10.0), range(3, 9)):
        powers = np.linspace(0, top, 30)[:, None] ** np.arange(degree + 1)
        gram = powers.T @ powers
        assert verdict(np.nextafter(gram, -np.inf), np.nextafter(gram, np.inf))


def test_sums_are_rounded_upward() -> None:
    draw = np.random.default_rng(0)
    for terms in (1, 3, 100, 2000):
        a, b = draw.random((2, terms))
        exact = sum(Fraction(float(p)) * Fraction(float(q)) for p, q in zip(a, b, strict=True))
        assert exact <= Fraction(float(rounded.upward(a @ b, terms))) <= exact * Fraction(1 + 1e-8)
        assert Fraction(rounded.gamma(terms)) >= Fraction(terms, 2**53) / (1 - Fraction(terms, 2**53))


# --- what tangents leave ---------------------------------------------------------------------------------------------


class Case:
    """A random quadratic function with small integers, over a box; and its value in fractions."""

    def __init__(self, seed: int, convex: bool) -> None:
        self.draw = np.random.default_rng(seed)
        n = self.n = int(self.draw.integers(1, 4))
        if convex:
            factor = self.draw.integers(-3, 4, (n + 2, n)).astype(float)
            self.matrix = factor.T @ factor + np.diag(self.draw.integers(0, 2, n) * 0.5)
        else:
            upper = np.triu(self.draw.integers(-9, 10, (n, n))).astype(float)
            self.matrix = upper + np.triu(upper, 1).T
        self.slope = self.draw.integers(-9, 10, n).astype(float) / 4
        low = self.draw.integers(-4, 2, n).astype(float)
        self.bounds = [(float(a), float(a + w)) for a, w in zip(low, self.draw.integers(1, 6, n), strict=True)]
        self.function = traced(lambda x: x @ self.matrix @ x / 2 + self.slope @ x, n)
        self.exact = fractions_of(self.matrix), [Fraction(float(v)) for v in self.slope]

    def value(self, x: Any) -> Fraction:
        matrix, slope = self.exact
        p = [v if isinstance(v, Fraction) else Fraction(float(v)) for v in x]
        both = sum(matrix[i][j] * p[i] * p[j] for i in range(self.n) for j in range(self.n))
        return Fraction(both) / 2 + sum(s * v for s, v in zip(slope, p, strict=True))

    def minimisers(self) -> Iterator[list[Fraction]]:
        """The stationary points of all faces of the box, among them a global minimiser."""
        matrix, slope = self.exact
        for sides in itertools.product((0, 1, None), repeat=self.n):
            free = [i for i, side in enumerate(sides) if side is None]
            x = [Fraction(0) if s is None else Fraction(self.bounds[i][s]) for i, s in enumerate(sides)]
            found = _solved(
                [[matrix[i][j] for j in free] for i in free],
                [-slope[i] - sum(matrix[i][j] * x[j] for j in range(self.n) if j not in free) for i in free],
            )
            if found is None:
                continue
            for i, v in zip(free, found, strict=True):
                x[i] = v
            if all(Fraction(lo) <= v <= Fraction(hi) for v, (lo, hi) in zip(x, self.bounds, strict=True)):
                yield x

    def best(self) -> tuple[Fraction, list[list[Fraction]]]:
        found = [(self.value(x), x) for x in self.minimisers()]
        least = min(value for value, _ in found)
        return least, [x for value, x in found if value == least]

    def boxes(self, count: int = 6) -> Boxes:
        """Boxes within the domain, many of which reach its edges."""
        lo, hi = (np.array(end) for end in zip(*self.bounds, strict=True))
        parts = np.sort(np.round(self.draw.random((2, count, self.n)) * 8) / 8, axis=0)
        parts = np.where(self.draw.random((1, count, 1)) < 0.3, np.array([0.0, 1.0])[:, None, None], parts)
        return Boxes(lo + (hi - lo) * parts[0], lo + (hi - lo) * parts[1])


def _solved(matrix: list[list[Fraction]], right: list[Fraction]) -> list[Fraction] | None:
    rows = [[*row, r] for row, r in zip(matrix, right, strict=True)]
    n = len(rows)
    for k in range(n):
        at = next((i for i in range(k, n) if rows[i][k] != 0), None)
        if at is None:
            return None
        rows[k], rows[at] = rows[at], rows[k]
        rows[k] = [v / rows[k][k] for v in rows[k]]
        for i in range(n):
            if i != k and rows[i][k] != 0:
                rows[i] = [a - rows[i][k] * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [row[n] for row in rows]


def contains(boxes: Boxes, k: int, x: Any) -> bool:
    if not (np.isfinite(boxes.lo[k]) & np.isfinite(boxes.hi[k])).all():
        return False  # empty
    ends = zip(boxes.lo[k].tolist(), x, boxes.hi[k].tolist(), strict=True)
    return all(Fraction(lo) <= v <= Fraction(hi) for lo, v, hi in ends)


def losses(case: Case, make: Callable[[Case], Any], *, all_points: bool) -> int:
    """How many points with a value up to the level, or minimisers, were lost; and bounds that are not below f."""
    contractor = make(case)
    if contractor is None:
        return 0
    least, minimisers = case.best()
    above = Fraction(case.draw.choice([0.0, 0.125, 2.0, 50.0]))
    level = float(least + above) if above else np.nextafter(float(least), np.inf)
    boxes = case.boxes()
    known = Known(case.function, read_bounds(case.bounds), upper=level)
    after = contractor.contract(boxes, known)
    wrong = 0
    for k in range(len(boxes)):
        lower = Fraction(float(after.lower[k])) if np.isfinite(after.lower[k]) else None
        for x in minimisers:
            if contains(boxes, k, x):
                wrong += not contains(after, k, x)
        if after.lower[k] == np.inf and not after.is_empty()[k]:
            wrong += 1
        share = case.draw.integers(0, 17, (24, case.n)) / 16
        for point in boxes.lo[k] + (boxes.hi[k] - boxes.lo[k]) * share:
            x = [Fraction(float(v)) for v in point]
            value = case.value(x)
            left = contains(after, k, x)
            wrong += all_points and value <= Fraction(level) and not left
            wrong += left and lower is not None and value < lower
    return wrong


def made_convex(case: Case) -> Convex | None:
    matrix = case.function.quadratic
    assert matrix is not None
    found = positive.scaled(matrix, case.n)
    usable = found is not None and found.kept.size and positive.is_positive(found)
    return Convex(case.function, found) if usable and found is not None else None


def made_below(case: Case) -> Below:
    matrix = case.function.quadratic
    assert matrix is not None
    return Below(case.function, matrix)


def convex_losses(count: int) -> int:
    return sum(losses(Case(seed, convex=True), made_convex, all_points=True) for seed in range(count))


def below_losses(count: int) -> int:
    return sum(losses(Case(seed, convex=seed % 4 == 0), made_below, all_points=False) for seed in range(count))


def test_the_tangents_of_convex_functions_lose_no_point_up_to_the_level() -> None:
    assert convex_losses(40) == 0


def test_the_convex_functions_below_others_lose_no_minimiser() -> None:
    assert below_losses(80) == 0


@pytest.mark.torture
def test_thousands_of_quadratic_functions_lose_nothing() -> None:
    assert convex_losses(2000) == 0
    assert below_losses(2000) == 0


def test_the_bounds_are_not_only_true_but_tight() -> None:
    for seed in range(20):
        case = Case(seed, convex=True)
        contractor = made_convex(case)
        if contractor is None:
            continue
        boxes = Boxes(*(np.array([end]) for end in zip(*case.bounds, strict=True)))
        least = float(case.best()[0])
        known = Known(case.function, read_bounds(case.bounds), upper=np.nextafter(least, np.inf))
        after = contractor.contract(boxes, known)
        assert after.lower[0] >= least - 1e-12 * (1 + abs(least))


# --- mutants ---------------------------------------------------------------------------------------------------------


def test_a_convex_tangent_without_its_fall_over_the_box_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def flat(function: Any, box: Any, slope: Any, *args: Any, **options: Any) -> Any:
        return expression.form_contraction_ends(function, box, (0 * slope[0], 0 * slope[1]), *args, **options)

    monkeypatch.setattr(convex, "form_contraction_ends", flat)
    monkeypatch.setattr(convex.Convex, "_points", lambda self, lo, hi: hi)
    assert convex_losses(16) > 0


def test_a_reach_that_is_too_short_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    reach = convex.reach
    monkeypatch.setattr(convex, "reach", lambda matrix: convex.Reach(*(0.25 * part for part in reach(matrix) or ())))
    assert convex_losses(16) > 0


def test_a_function_that_is_not_convex_taken_for_one_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(below, "is_positive", lambda matrices: np.ones(len(matrices), bool))
    assert below_losses(48) > 0


def test_negative_shifts_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    # diag(4, -1) would be made positive by (-4, 1): the sum is small, but what is left is no bound.
    def shifted(self: Below, lo: FloatArray, hi: FloatArray) -> Any:
        points, s, weights = plain(self, lo, hi)
        return points, s - np.diag(self.middle).clip(0) * 0.9, weights

    plain = below.Below._shifted
    monkeypatch.setattr(below.Below, "_shifted", shifted)
    assert below_losses(24) > 0


def test_shifts_that_are_not_taken_off_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def kept(function: Any, points: Any, box: Any, shifts: Any, value: Any, slope: Any, *, threads: int = 1) -> Any:
        return value, slope

    monkeypatch.setattr(below, "shifted_ends", kept)
    assert below_losses(24) > 0


def test_concave_variables_that_leave_their_faces_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    make = below.Below.__init__

    def mutant(self: Below, function: Function, matrix: SparseHessian) -> None:
        make(self, function, matrix)
        self.concave = ~self.concave

    monkeypatch.setattr(below.Below, "__init__", mutant)
    assert below_losses(24) > 0


def test_directions_that_leave_the_domain_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    function = traced(lambda x: (x[0] - 0.5) ** 2 + (x[1] - 0.5) ** 2 + 0.25 * x[0] * x[2] - 3 * x[2], 3)
    matrix = function.quadratic
    assert matrix is not None
    edge = Boxes(np.array([[0.2, 0.3, 0.8]]), np.array([[0.6, 0.7, 1.0]]))  # about the minimiser (3/8, 1/2, 1)
    known = Known(function, read_bounds([(0, 1)] * 3))
    contractor = Below(function, matrix)
    assert not contractor.contract(edge, known).is_empty().any()
    inside = Boxes(edge.lo, np.array([[0.6, 0.7, 0.9]]))
    assert contractor._without_concave(inside, known.domain).is_empty().all()
    curves = below.Below._curves_down
    monkeypatch.setattr(below.Below, "_curves_down", lambda self, free: curves(self, np.ones_like(free)))
    assert contractor.contract(edge, known).is_empty().all()


def test_a_radius_that_is_forgotten_is_noticed() -> None:
    middle = np.array([[1.0, 1.0], [1.0, 1.0]])
    wide = np.full((2, 2), 0.25)
    rough = SparseHessian(*np.tril_indices(2), *(end[np.tril_indices(2)] for end in (middle - wide, middle + wide)))
    function = traced(lambda x: (x[0] + x[1]) ** 2 / 2, 2)
    contractor = Below(function, rough)
    lo, hi = np.zeros((1, 2)), np.ones((1, 2))
    assert (contractor._shifted(lo, hi)[1] > 0).any()  # [[1, 1.25], [1.25, 1]] is not positive without shifts
    contractor.radius = np.zeros((2, 2))
    contractor.middle = middle + 1e-9 * np.eye(2)
    assert not (contractor._shifted(lo, hi)[1] > 0).any()


# --- whole searches --------------------------------------------------------------------------------------------------


def cuts(result: Any) -> int:
    return int(sum(dict(step.work).get("split", 0) for step in result.history))


def regression(n: int) -> Callable[[Any], Any]:
    draw = np.random.default_rng(n)
    a = draw.normal(size=(3 * n, n))
    y = a @ draw.normal(size=n) + 0.3 * draw.normal(size=3 * n)
    return lambda x: np.sum((a @ x - y) ** 2)


def polyfit(degree: int, top: float) -> Callable[[Any], Any]:
    draw = np.random.default_rng(degree)
    t = np.linspace(0, top, 30)
    y = np.sin(3 * t / top) + 0.1 * draw.normal(size=30)
    powers = np.vander(t, degree + 1)
    return lambda c: np.sum((powers @ c - y) ** 2)


@pytest.mark.parametrize("n", [5, 8, 20, 50])
def test_a_regression_is_closed_at_the_root(n: int) -> None:
    result = infimum.minimize(regression(n), [(-10, 10)] * n, ftol=1e-6)
    assert result.success
    assert cuts(result) == 0


@pytest.mark.parametrize("top", [1.0, 10.0])
@pytest.mark.parametrize("degree", [3, 5, 8])
def test_a_polynomial_fit_is_closed_at_the_root(degree: int, top: float) -> None:
    result = infimum.minimize(polyfit(degree, top), [(-1e4, 1e4)] * (degree + 1), ftol=1e-6)
    assert result.success
    assert cuts(result) == 0


@pytest.mark.parametrize("n", [50, 1000, 10_000])
def test_trid_is_closed_at_the_root(n: int) -> None:
    problem = named("trid", n)
    result = infimum.minimize(problem.f, problem.bounds, ftol=1e-6)
    assert result.success
    assert cuts(result) == 0
    assert result.optimum.lo <= -n * (n + 4) * (n - 1) / 6 <= result.optimum.hi


def test_a_minimum_on_the_edge_is_closed_at_the_root() -> None:
    result = infimum.minimize(regression(8), [(-0.3, 0.3)] * 8, ftol=1e-9)
    assert result.success
    assert cuts(result) == 0


def test_a_maximum_of_a_concave_function_is_closed_at_the_root() -> None:
    f = regression(6)
    result = infimum.minimize(lambda x: 3 - f(x), [(-10, 10)] * 6, maximize=True, ftol=1e-6)
    assert result.success
    assert cuts(result) == 0


def box_qp(n: int, seed: int) -> Callable[[Any], Any]:
    draw = np.random.default_rng(seed)
    upper = np.triu(draw.integers(-50, 51, (n, n))).astype(float)
    matrix, slope = upper + np.triu(upper, 1).T, draw.integers(-50, 51, n).astype(float)
    return lambda x: x @ matrix @ x / 2 + slope @ x


def test_dense_box_constrained_programs_need_few_boxes() -> None:
    result = infimum.minimize(box_qp(20, 0), [(0, 1)] * 20, ftol=1e-6)
    assert result.success
    assert cuts(result) < 200


def test_whole_searches_enclose_the_exact_minimum() -> None:
    for seed in range(16):
        case = Case(seed, convex=False)
        result = infimum.minimize(
            lambda x, case=case: x @ case.matrix @ x / 2 + case.slope @ x, case.bounds, ftol=1e-9, fatol=1e-9
        )
        least, minimisers = case.best()
        assert result.success
        assert Fraction(float(result.optimum.lo)) <= least <= Fraction(float(result.optimum.hi))
        for x in minimisers:
            pairs = np.asarray(result.boxes.pairs()) if hasattr(result.boxes, "pairs") else np.asarray(result.boxes)
            inside = [
                all(Fraction(float(a)) <= v <= Fraction(float(b)) for v, (a, b) in zip(x, box, strict=True))
                for box in pairs.reshape(-1, case.n, 2)
            ]
            assert any(inside)


def test_a_quadratic_function_of_a_line_or_half_line_is_left_to_others() -> None:
    assert infimum.minimize(lambda x: (x[0] - 3) ** 2, [(None, None)]).success
    unbounded = infimum.minimize(lambda x: -(x[0] ** 2) + x[1], [(0, None), (0, 1)], time_limit=5)
    assert not unbounded.success or unbounded.optimum.lo == -np.inf
    assert quadratic(traced(lambda x: np.sin(x[0]), 1)) is None
    assert quadratic(traced(lambda x: 3 * x[0], 1)) is None


@pytest.mark.parametrize(
    ("f", "bounds"),
    [
        (lambda x: x[0] * x[1], [(-1e81, 1e81)] * 2),
        (lambda x: 1e165 * x[0] * x[1], [(-1, 1)] * 2),
        (lambda x: -(x[0] ** 2), [(-1e100, 1e120)]),
        (lambda x: (x[0] + x[1]) ** 2 + 1e-3 * x[0], [(-1e90, 1e90)] * 2),
        (lambda x: 1e300 * x[0] * x[1] - 1e300 * x[0], [(-1e5, 1e5)] * 2),
        (lambda x: 1e-300 * x[0] * x[1], [(-1, 1)] * 2),
    ],
    ids=["product", "steep", "concave", "convex", "steepest", "flat"],
)
def test_units_do_not_matter_to_the_choice_of_shifts(f: Any, bounds: Any) -> None:
    result = infimum.minimize(f, bounds, time_limit=20)
    ends = np.array([[lo, hi] for lo, hi in bounds])
    corners = np.stack(np.meshgrid(*ends), -1).reshape(-1, len(bounds))
    with np.errstate(all="ignore"):
        assert result.minimum.lo <= min(f(corner) for corner in corners)
    assert result.status in (infimum.Status.PROVED, infimum.Status.GOAL_MISSED)
