"""Rotated boxes: every point keeps its place in them, edges of the user's are no edges of theirs, nothing is lost."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest

import infimum
from claims import Claim, Truth, falsehoods, truth_of
from infimum.boxes import Boxes, Ends, FloatArray
from infimum.contractors import edges
from infimum.contractors import rotated as frames
from infimum.contractors.edges import ObliqueDomain, oblique, touched
from infimum.contractors.known import Known
from infimum.contractors.linear import products
from infimum.contractors.linear.products import Bound, Factor
from infimum.contractors.rotated import RotatedBoxes, rotated_boxes
from infimum.domain import Domain, read_bounds
from infimum.errors import InternalError
from infimum.function.function import Function, trace
from infimum.function.rotation import Rotation, rotation
from infimum.passes.linear import rotated as rotated_pass
from infimum.search.auto import rotated as rotated_search
from infimum.search.auto import turning
from infimum.search.auto.rotated import RotatedSearch
from infimum.search.auto.search import Search
from infimum.search.auto.split_table import SPLIT_RULES
from infimum.search.outcome import Options, Outcome
from infimum.search.status import Status
from random_functions import RandomFunction, Undecided, exact, planted_function, random_function

Patch = pytest.MonkeyPatch
Rows = list[list[Fraction]]


# --- matrices, and exact numbers -------------------------------------------------------------------------------------


def matrix(seed: int, n: int, width: FloatArray | float = 1.0) -> FloatArray:
    """A rotation, a rotation of scaled variables, a shear, or any numbers; some times far from orthogonal."""
    draw = np.random.default_rng([seed, 4])
    turn = np.linalg.qr(draw.normal(size=(n, n)))[0]
    scale = width * 10.0 ** draw.uniform(-2, 2, n)
    kinds: list[FloatArray] = [
        turn * np.broadcast_to(width, n)[:, None],
        scale[:, None] * turn,
        (np.eye(n) + np.triu(draw.normal(size=(n, n)) * 10.0 ** draw.integers(-1, 3), 1))
        * np.broadcast_to(width, n)[:, None],
        draw.normal(size=(n, n)),
    ]
    return np.asarray(kinds[seed % len(kinds)])


def image(frame: Rotation, u: FloatArray) -> list[Fraction]:
    """p + V u, exactly."""
    rows = zip(frame.origin.tolist(), frame.matrix.tolist(), strict=True)
    return [
        sum((Fraction(v) * Fraction(w) for v, w in zip(row, u.tolist(), strict=True)), Fraction(p)) for p, row in rows
    ]


def solution(frame: Rotation, x: list[Fraction]) -> list[Fraction]:
    """The u with p + V u = x, exactly, by elimination."""
    n = len(x)
    rows = [
        [*map(Fraction, row), xi - Fraction(p)]
        for row, xi, p in zip(frame.matrix.tolist(), x, frame.origin.tolist(), strict=True)
    ]
    for k in range(n):
        pivot = next(i for i in range(k, n) if rows[i][k] != 0)
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(n):
            if i != k and rows[i][k] != 0:
                factor = rows[i][k] / rows[k][k]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [rows[k][n] / rows[k][k] for k in range(n)]


def holds(lo: FloatArray, hi: FloatArray, x: list[Fraction]) -> bool:
    return all(a <= v <= b for a, b, v in zip(lo.tolist(), hi.tolist(), x, strict=True))


# --- the function ----------------------------------------------------------------------------------------------------


def exact_value(f: RandomFunction, x: list[Fraction]) -> Any:
    """A ball around the value at a point that need not be of doubles, None where it cannot be told."""
    flint.ctx.prec = 300
    try:
        found = exact(f.tree, [flint.arb(v.numerator) / flint.arb(v.denominator) for v in x])
    except Undecided:
        return None
    return found if found.is_finite() else None


def wrong_values(seeds: range = range(60)) -> list[str]:
    """Values at p + V u, outside of what g is on a box of u."""
    found = []
    for seed in seeds:
        f = (random_function, planted_function)[seed % 2](seed)
        if f.n < 2 or not np.isfinite(f.bounds).all():
            continue
        draw = np.random.default_rng([seed, 1])
        domain = read_bounds(f.bounds)
        function = trace(f, f.n)
        frame = rotation(function, draw.uniform(domain.lo, domain.hi), matrix(seed, f.n))
        assert frame is not None
        inside = (draw.uniform(domain.lo, domain.hi, (6, f.n)) - frame.origin).T
        u = np.linalg.solve(frame.matrix, inside).T
        reach = np.repeat([[0.0], [0.0], [1e-9], [1e-3], [0.1], [1.0]], f.n, axis=1)
        low, high = frame.function.range_ends(u - reach, u + reach)
        for i in range(6):
            value = exact_value(f, image(frame, u[i]))
            if value is not None and (not low[i] <= high[i] or value < flint.arb(low[i]) or value > flint.arb(high[i])):
                found.append(f"{f.name}, V {frame.matrix.tolist()}, u {u[i].tolist()}")
    return found


def test_what_is_said_of_g_holds_f_at_every_rotated_point() -> None:
    assert not wrong_values()


def wrong_coefficients() -> list[str]:
    """Values of a linear form at p + V e_j, whose only roundings are those of A V and A p + b."""
    found = []
    for seed in range(30):
        draw = np.random.default_rng([seed, 6])
        a, b, n = draw.normal(size=3), float(draw.normal()), 3
        frame = rotation(trace(lambda x, a=a, b=b: a @ x + b, n), draw.normal(size=n) * (seed % 2), matrix(seed, n))
        assert frame is not None
        low, high = frame.function.range_ends(np.eye(n), np.eye(n))
        for j, u in enumerate(np.eye(n)):
            x = image(frame, u)
            value = sum((Fraction(v) * w for v, w in zip(a.tolist(), x, strict=True)), Fraction(b))
            if not holds(low[j : j + 1], high[j : j + 1], [value]):
                found.append(f"seed {seed}, column {j}")
    return found


def test_coefficients_hold_the_exact_products() -> None:
    assert not wrong_coefficients()


def test_coefficients_that_are_rounded_are_noticed(monkeypatch: Patch) -> None:
    def nearest(a: Ends, v: FloatArray) -> Ends:
        return a[0] @ v, a[0] @ v

    monkeypatch.setattr(rotated_pass, "_product", nearest)
    assert wrong_coefficients()


def test_an_origin_that_is_forgotten_is_noticed(monkeypatch: Patch) -> None:
    monkeypatch.setattr(rotated_pass, "_sum", lambda b, a, origin: b)
    assert wrong_values(range(20))


def test_linear_parts_are_multiplied_out() -> None:
    """Behind a matrix near to singular, the hull of p + V U would say nothing."""
    a = np.array([[1.0, 1.0], [1.0, 1.0 + 2.0**-20]])
    function = trace(lambda x: np.sum((a @ x) ** 2), 2)
    frame = rotation(function, np.zeros(2), np.linalg.inv(a))
    assert frame is not None
    _, high = frame.function.range_ends(np.full((1, 2), -1.0), np.full((1, 2), 1.0))
    assert high[0] < 2.1
    _, wide = function.range_ends(*(end for end in frame.image_ends(np.full((1, 2), -1.0), np.full((1, 2), 1.0))))
    assert wide[0] > 1e6


def test_a_function_without_variables_or_with_coefficients_that_overflow_has_no_rotation() -> None:
    assert rotation(trace(lambda x: 3.0 + 0 * x[0], 2), np.zeros(2), np.eye(2)) is None
    assert rotation(trace(lambda x: np.sum(1e300 * x), 2), np.zeros(2), np.full((2, 2), 1e300)) is None


# --- boxes -----------------------------------------------------------------------------------------------------------


def frame_of(seed: int) -> tuple[Rotation, Ends, Domain, RotatedBoxes | None]:
    """A random frame on a random box X of 2 to 4 variables, that may be far from the origin."""
    draw = np.random.default_rng([seed, 2])
    n = int(draw.integers(2, 5))
    middle = draw.choice([0.0, 1.0, 400.0, -1e6], n)
    width = 10.0 ** draw.uniform(-3, 3, n)
    lo, hi = middle - width * draw.random(n), middle + width * draw.random(n)
    domain = read_bounds(np.stack([lo, hi], 1))
    v = matrix(seed, n, width)
    if seed % 7 == 0:  # nearly singular: a row is another one but for 2^-k
        v[-1] = v[0] * (1 + 2.0 ** -draw.integers(20, 60)) if seed % 2 else v[0] + 2.0 ** -draw.integers(20, 60) * v[-1]
    made = rotation(trace(lambda x: np.sum(x**2), n), draw.uniform(lo, hi), v)
    assert made is not None
    return made, (lo, hi), domain, rotated_boxes(made, (lo, hi), domain)


def points_of(x: Ends, draw: np.random.Generator) -> Iterator[list[Fraction]]:
    """The corners of a box, and points in it."""
    corners = itertools.product(*zip(*(end.tolist() for end in x), strict=True))
    inside = (np.clip(draw.uniform(*x), *x).tolist() for _ in range(4))
    return ([Fraction(v) for v in point] for point in itertools.chain(corners, inside))


def lost_by_the_first_box(seeds: range = range(80)) -> list[str]:
    found = []
    for seed in seeds:
        made, x, _, frame = frame_of(seed)
        if frame is None:
            continue
        first = frame.first()
        for point in points_of(x, np.random.default_rng(seed)):
            if not holds(first.lo[0], first.hi[0], solution(made, point)):
                found.append(f"seed {seed}: V {made.matrix.tolist()}, x {point}")
    return found


def test_the_first_box_holds_the_u_of_every_x() -> None:
    assert not lost_by_the_first_box()


def test_matrices_that_are_not_surely_regular_are_refused() -> None:
    function = trace(lambda x: np.sum(x**2), 2)
    domain = read_bounds([(-1, 1)] * 2)
    singular = np.array([[1.0, 2.0], [2.0, 4.0]])
    barely = np.array([[1.0, 1.0], [1.0, 1.0 + 2.0**-52]])
    for v in (singular, barely, np.zeros((2, 2)), np.full((2, 2), np.nan), np.full((2, 2), 1e300), np.eye(2) * 1e-320):
        found = rotation(function, np.zeros(2), v)
        assert found is None or rotated_boxes(found, (domain.lo, domain.hi), domain) is None, v
    assert sum(frame_of(seed)[3] is None for seed in range(0, 84, 7)) in range(1, 12)
    assert all(frame_of(seed)[3] is not None for seed in range(84) if seed % 7)


def test_an_inverse_that_is_believed_is_noticed(monkeypatch: Patch) -> None:
    """A distorted V with eps = 0: no allowance for I - C V."""
    inverse = np.linalg.inv
    monkeypatch.setattr(frames.np.linalg, "inv", lambda v: inverse(v) * (1 + 1e-9))
    assert not lost_by_the_first_box(range(1, 20))
    monkeypatch.setattr(frames, "defect", lambda a, b: Bound(np.zeros((len(b.mid), len(b.mid)))))
    assert lost_by_the_first_box(range(1, 20))


def test_roundings_of_the_first_box_that_are_forgotten_are_noticed(monkeypatch: Patch) -> None:
    monkeypatch.setattr(
        Factor,
        "times",
        lambda self, p, radius=None: (p @ self.mid, 0 * p if radius is None else radius @ np.abs(self.mid)),
    )
    monkeypatch.setattr(frames, "defect", lambda a, b: Bound(np.zeros((len(b.mid), len(b.mid)))))
    for room in (frames, products):
        monkeypatch.setattr(room, "above", lambda v: v)
    monkeypatch.setattr(products, "below", lambda v: v)
    assert lost_by_the_first_box(range(1, 7))


def lost_on_the_way(seeds: range = range(60)) -> list[str]:
    """Points of X whose u lies in a box, lost by its contraction or by what is answered for it."""
    found = []
    for seed in seeds:
        made, x, _, frame = frame_of(seed)
        if frame is None:
            continue
        draw = np.random.default_rng([seed, 3])
        known = Known(made.function, frame.domain)
        u = np.linalg.solve(made.matrix, (draw.uniform(*x, (12, made.n)) - made.origin).T).T
        exactly = [image(made, row) for row in u]
        sides = draw.choice([0.0, 1.0], u.shape), 10.0 ** draw.uniform(-12, 1, (12, 1))
        boxes = Boxes(u - sides[0] * sides[1], u + (1 - sides[0]) * sides[1])
        left, seen = frame.contract(boxes, known), frame.seen(boxes)
        reaches = touched(frame.domain, *boxes.ends)[0].all(1)
        for i, point in enumerate(exactly):
            if not holds(*x, point):
                continue
            if not (
                holds(left.lo[i], left.hi[i], [Fraction(v) for v in u[i].tolist()])
                and holds(seen.lo[i], seen.hi[i], point)
            ):
                found.append(f"seed {seed}: u {u[i].tolist()} of {boxes.lo[i].tolist()}, {boxes.hi[i].tolist()}")
            inside = all(a < v < b for a, b, v in zip(*(end.tolist() for end in x), point, strict=True))
            if not inside and not reaches[i]:
                found.append(f"seed {seed}: the edge at u {u[i].tolist()}")
    return found


def test_a_point_of_x_is_neither_contracted_away_nor_left_out_of_the_answer() -> None:
    assert not lost_on_the_way()


def test_a_hull_that_is_rounded_inward_is_noticed(monkeypatch: Patch) -> None:
    image_ends = Rotation.image_ends

    def inward(self: Rotation, lo: FloatArray, hi: FloatArray) -> Ends:
        low, high = image_ends(self, lo, hi)
        return np.nextafter(np.nextafter(low, np.inf), np.inf), np.nextafter(np.nextafter(high, -np.inf), -np.inf)

    monkeypatch.setattr(Rotation, "image_ends", inward)
    assert lost_on_the_way()


def test_a_box_reaches_every_edge_or_none() -> None:
    function = trace(lambda x: np.sum(x**2), 2)
    as_it_is = Rotation(function, np.zeros(2), np.eye(2), function)
    domain = oblique(np.full(2, -3.0), np.full(2, 3.0), as_it_is, (np.full(2, -np.inf), np.ones(2)))
    lower, upper = touched(domain, np.full((3, 2), -3.0), np.array([[0.5, 0.5], [0.5, 1.5], [1.0, 0.5]]))
    assert lower.tolist() == upper.tolist() == [[False, False], [True, True], [True, True]]
    assert not domain.contains([0.0, 0.0])  # of no point it is known that the user's domain holds it


# --- searches --------------------------------------------------------------------------------------------------------


def turned(f: Any, bounds: Any, v: FloatArray | None = None, seed: int = 0, **options: Any) -> RotatedSearch:
    """A search that has not seen its domain, over rotated boxes."""
    domain = read_bounds(bounds)
    function = trace(f, domain.n, box=(domain.lo, domain.hi))
    given: dict[str, Any] = {"xtol": None, "ftol": 1e-4, "fatol": 1e-4, "batch": 8} | options
    search = Search(function, domain, Options(**given))
    search.iterations = 1
    search.open.add(Boxes(domain.lo[None], domain.hi[None]))
    width = domain.hi - domain.lo
    origin = np.random.default_rng(seed).uniform(domain.lo, domain.hi)
    made = rotation(function, origin, matrix(seed, domain.n, width) if v is None else v)
    assert made is not None
    frame = rotated_boxes(made, (domain.lo, domain.hi), domain)
    assert frame is not None
    return RotatedSearch(search, frame)


def steps(search: Search, most: int) -> Iterator[Outcome]:
    """What a search answers after each of its first iterations."""
    for _ in range(most):
        found = search.run(search.iterations + 1)
        yield found
        if found.status != Status.RUNNING:
            return


def claim(found: Outcome) -> Claim:
    return Claim(found.lower, found.upper, found.boxes, found.lower_bounds, found.x, found.status)


def false_claims(problems: Iterator[tuple[str, Any, Truth]], most: int = 6, blind: bool = False) -> Iterator[str]:
    """What is false in any answer of searches over rotated boxes, for problems with a planted minimiser.

    blind: no point is known but the best of a few, so that bounds are far apart.
    """
    for seed, (name, f, truth) in enumerate(problems):
        search = turned(f, truth.bounds, seed=seed)
        if blind:
            search.points.offer(min((x for x, _ in truth.points), key=lambda x: float(np.abs(f(x) - 1))))
            for way in ("offer_best", "descend"):
                setattr(search.points, way, lambda *given: "")
        try:
            for answer in steps(search, most):
                yield from (f"{name}, V number {seed}: {text}" for text in falsehoods(claim(answer), truth))
        except InternalError as error:
            yield f"{name}, V number {seed}: {error}"


def planted(seeds: range) -> Iterator[tuple[str, Any, Truth]]:
    """Random functions of few variables with a minimiser that is known."""
    for seed in seeds:
        f = planted_function(seed)
        if 2 <= f.n <= 4 and np.isfinite(f.bounds).all():
            yield f.name, f, truth_of(f)


def on_the_edge(seeds: range) -> Iterator[tuple[str, Any, Truth]]:
    """Coupled smooth functions with the minimum 0 at one point: inside, on an edge, or at a corner of the domain."""
    for seed in seeds:
        draw = np.random.default_rng([seed, 5])
        n = int(draw.integers(2, 5))
        lo, hi = draw.integers(-4, 0, n).astype(float), draw.integers(1, 5, n).astype(float)
        where = draw.integers(-1, 2, n) if seed % 3 else np.where(draw.random(n) < 0.5, -1, 1)  # every third: a corner
        p = np.where(where < 0, lo, np.where(where > 0, hi, np.round(draw.uniform(lo, hi), 2)))
        slope = -where * draw.integers(1, 4, n)  # it leads upward into the domain
        a, b = draw.normal(size=(n, n)), draw.normal(size=n)

        def f(x: Any, p: Any = p, slope: Any = slope, a: Any = a, b: Any = b) -> Any:
            d = x - p
            return np.sum((a @ d + d * d[::-1]) ** 2) + 0.5 * np.sum(d**2) + np.sin(b @ d) ** 2 + np.sum(slope * d)

        bounds = list(zip(lo.tolist(), hi.tolist(), strict=True))
        reach = 10.0 ** draw.uniform(-3, 1, (40, 1))
        points = [np.clip(p + d, lo, hi) for d in reach * draw.normal(size=(40, n))]
        values = [(x, flint.arb(float(f(x)), 1e-9)) for x in points]  # far more than NumPy's rounding errors
        yield f"edge {seed}", f, Truth(bounds, 0.0, [tuple(p.tolist())], values)


def test_no_minimiser_and_no_bound_is_false_after_any_iteration() -> None:
    assert not list(false_claims(planted(range(60))))


def test_no_minimiser_on_an_edge_or_at_a_corner_is_lost() -> None:
    assert not list(false_claims(on_the_edge(range(24)), most=8))
    assert not list(false_claims(on_the_edge(range(24, 36)), most=5, blind=True))


@pytest.mark.torture
def test_no_claim_of_many_searches_is_false() -> None:
    assert not list(false_claims(planted(range(60, 2000)), most=30))
    assert not list(false_claims(on_the_edge(range(40, 700)), most=60))
    assert not list(false_claims(on_the_edge(range(700, 1000)), most=12, blind=True))


def never(self: ObliqueDomain, lo: FloatArray, hi: FloatArray) -> Any:
    return np.zeros(len(lo), bool)


def test_slopes_believed_at_the_users_edges_are_noticed(break_rule: Callable[[int], None], monkeypatch: Patch) -> None:
    monkeypatch.setattr(ObliqueDomain, "reaches", never)
    break_rule(43)
    assert any(false_claims(on_the_edge(range(20)), most=12))


def test_edges_of_rotated_boxes_taken_for_the_users_are_noticed(monkeypatch: Patch) -> None:
    """The slope may lead out of the box of u, which is no edge: what is kept there is not where the minimum is."""

    def plain(lo: FloatArray, hi: FloatArray, rotation: Rotation, edges: Ends) -> Domain:
        return Domain(lo.copy(), hi.copy(), lo.copy(), hi.copy())

    monkeypatch.setattr(frames, "oblique", plain)
    assert any(false_claims(on_the_edge(range(20)), most=12))


def test_answers_of_hulls_that_are_rounded_inward_are_noticed(monkeypatch: Patch) -> None:
    image_ends = Rotation.image_ends

    def inward(self: Rotation, lo: FloatArray, hi: FloatArray) -> Ends:
        low, high = image_ends(self, lo, hi)
        share = 1e-3 * (high - low)
        return low + share, high - share

    monkeypatch.setattr(Rotation, "image_ends", inward)
    assert any(false_claims(on_the_edge(range(40)), most=12))


def test_bounds_of_rotated_boxes_given_to_their_hulls_are_noticed(monkeypatch: Patch) -> None:
    def left(self: RotatedSearch, status: Status) -> tuple[FloatArray, FloatArray]:
        boxes = Boxes(*(np.concatenate(arrays) for arrays in zip(self.open.all(), self.done.all(), strict=True)))
        boxes = boxes[boxes.lower <= self.upper]
        seen = self.frame.seen(boxes)
        some = ~seen.is_empty()
        return np.stack(seen.ends, 2)[some], boxes.lower[some]

    monkeypatch.setattr(RotatedSearch, "_left", left)
    assert any(false_claims(on_the_edge(range(40)), most=8, blind=True))


def test_points_below_the_upper_bound_stay_in_the_boxes() -> None:
    """By level and bounds alone, every point with f(x) <= upper is in a box that is left, at every iteration."""
    for seed, (_, f, truth) in enumerate(on_the_edge(range(12))):
        search = turned(f, truth.bounds, seed=seed, contractors=("level", "mean_value", "dual"), ftol=1e-8, fatol=1e-8)
        lo, hi = (np.array(end) for end in zip(*truth.bounds, strict=True))
        draw = np.random.default_rng(seed)
        reach = 10.0 ** draw.uniform(-4, 1, (400, 1))
        x = np.clip(np.array(truth.minimisers[0]) + reach * draw.normal(size=(400, lo.size)), lo, hi)
        values = search.function(x)
        for answer in steps(search, 8):
            low = x[values < answer.upper - 1e-9 * (1 + abs(answer.upper))]
            boxes = answer.boxes
            held = ((boxes[None, :, :, 0] <= low[:, None]) & (low[:, None] <= boxes[None, :, :, 1])).all(2).any(1)
            assert held.all(), (seed, low[~held][0].tolist())


# --- goals, limits and who decides -----------------------------------------------------------------------------------


def valley(x: Any) -> Any:
    """The square of a polynomial, fitted in monomials."""
    return np.sum(((_POWERS @ x) ** 2 - _Y) ** 2) + 1e-3 * (x[0] - 1) ** 2


_T = np.linspace(0, 1, 12)
_POWERS = np.stack([_T**j for j in range(4)], 1)
_Y = (_POWERS @ np.array([1.0, -1.0, 2.0, -1.0])) ** 2 + 0.01 * np.cos(7 * _T)
_BOX = [(-4.0, 4.0)] * 4
_LEAST = 1.2432146e-4
_CONTRACTORS = ("level", "monotone", "stationary", "mean_value", "rotated")


@pytest.fixture
def early(monkeypatch: Patch) -> None:
    """Turn soon, and whatever it promises."""
    monkeypatch.setattr(turning, "TRIALS", (700, 1400))
    monkeypatch.setattr(turning, "_is_better", lambda search, turned: True)


def work(result: Any) -> set[str]:
    return {name for step in result.history for name, _ in step.work}


def test_the_axes_are_those_of_the_curvature_at_the_best_point() -> None:
    """Where f is a quadratic, g is a sum of squares of single variables."""
    q = np.array([[2.0, 1.9], [1.9, 2.0]])
    axes = turning._axes(q, np.array([1.0, 3.0]))
    assert axes is not None
    turned_q = axes.T @ q @ axes
    assert abs(turned_q[0, 1]) < 1e-12 * turned_q[1, 1]
    assert turning._axes(np.full((2, 2), np.nan), np.ones(2)) is None
    assert turning._axes(q, np.array([1.0, 0.0])) is None
    assert turning._axes(np.zeros((2, 2)), np.ones(2)) is None


def test_a_long_search_of_a_narrow_valley_is_turned_by_itself(monkeypatch: Patch) -> None:
    monkeypatch.setattr(turning, "TRIALS", (400,))
    plain = infimum.minimize(valley, _BOX, ftol=1e-6, fatol=0, contractors=_CONTRACTORS[:-1], max_regions=8000)
    found = infimum.minimize(valley, _BOX, ftol=1e-6, fatol=0, contractors=_CONTRACTORS)
    assert not plain.success
    assert found.success
    assert "rotated" in work(found)
    assert found.boxes_evaluated < plain.boxes_evaluated
    assert found.minimum.lo <= _LEAST <= found.minimum.hi
    assert found.trust == ()


def test_a_function_that_boxes_fit_is_not_turned(monkeypatch: Patch) -> None:
    monkeypatch.setattr(turning, "TRIALS", (200,))
    answers: list[bool] = []
    is_better = turning._is_better

    def seen(search: Search, turned: RotatedSearch) -> bool:
        answers.append(is_better(search, turned))
        return answers[-1]

    monkeypatch.setattr(turning, "_is_better", seen)
    result = infimum.minimize(infimum.problems.named("paviani", 10), ftol=1e-3, contractors=_CONTRACTORS)
    assert result.success
    assert answers == [False]
    assert "rotated" not in work(result)


@pytest.mark.usefixtures("early")
@pytest.mark.parametrize("split", sorted(SPLIT_RULES))
def test_with_every_split_rule_the_goals_are_reached(split: str) -> None:
    result = infimum.minimize(valley, _BOX, ftol=1e-3, fatol=0, split=split, contractors=_CONTRACTORS, time_limit=20)
    assert "rotated" in work(result)
    assert result.success
    assert result.minimum.lo <= _LEAST <= result.minimum.hi


@pytest.mark.usefixtures("early")
def test_widths_are_those_of_the_users_variables() -> None:
    given: dict[str, Any] = {"ftol": 1e-2, "fatol": 0, "contractors": _CONTRACTORS}
    result = infimum.minimize(valley, _BOX, xtol=[1e-2, np.inf, 0.1, np.inf], time_limit=20, **given)
    assert "rotated" in work(result)
    assert result.success
    assert ((result.boxes[:, :, 1] - result.boxes[:, :, 0])[:, [0, 2]] < [1e-2, 0.1]).all()


def test_narrow_boxes_of_u_have_hulls_that_are_narrow_enough() -> None:
    for seed in range(1, 40):
        made, _, _, frame = frame_of(seed)
        if frame is None:
            continue
        widths = 10.0 ** np.random.default_rng(seed).uniform(-3, 0, made.n) * np.maximum(1, np.abs(made.origin))
        widths[0] = 1e300 if seed % 3 == 0 else widths[0]
        w = rotated_search._narrow_enough(made.matrix, widths)
        low, high = made.image_ends(-0.5 * w[None], 0.5 * w[None])
        assert ((high - low)[0] < widths).all()


@pytest.mark.usefixtures("early")
def test_limits_and_callbacks_end_a_turned_search_with_what_is_known() -> None:
    seen: list[int] = []

    def stop(state: Any) -> bool:
        seen.append(state.nit)
        return len(seen) == 25

    for options, status in (
        ({"max_iter": 30}, Status.ITERATIONS),
        ({"max_regions": 300}, Status.REGIONS),
        ({"memory_limit": 2**15}, Status.MEMORY),
        ({"time_limit": 0.6}, Status.TIME),
        ({"callback": stop}, Status.INTERRUPTED),
    ):
        result = infimum.minimize(valley, _BOX, ftol=1e-9, fatol=0, batch=16, contractors=_CONTRACTORS, **options)
        assert result.status in (status, Status.PROVED)
        assert result.minimum.lo <= _LEAST * (1 + 1e-6)
        assert result.minimum.lo <= valley(result.x) <= result.minimum.hi * (1 + 1e-12)
        assert ((result.boxes[:, :, 0] <= result.x) & (result.x <= result.boxes[:, :, 1])).all(1).any()
        assert [step.iteration for step in result.history] == list(range(1, result.nit + 1))
        lowers = [step.lower for step in result.history]
        assert lowers == sorted(lowers)


@pytest.mark.usefixtures("early")
def test_blocks_and_maxima_are_turned_too() -> None:
    def both(x: Any) -> Any:
        return valley(x[:4]) + 2 * valley(x[4:] + 0.1)

    one = infimum.minimize(valley, _BOX, ftol=1e-4, fatol=0, contractors=_CONTRACTORS)
    found = infimum.minimize(both, _BOX * 2, ftol=1e-3, fatol=0, contractors=_CONTRACTORS)
    assert one.success
    assert found.success
    assert found.minimum.hi >= one.minimum.lo
    most = infimum.minimize(lambda x: -valley(x), _BOX, ftol=1e-4, fatol=0, contractors=_CONTRACTORS, maximize=True)
    assert most.success
    assert -one.minimum.hi <= most.maximum.hi
    assert most.maximum.lo <= -one.minimum.lo


class Own:
    """A contractor, or a split rule, of the user's."""

    def contract(self, boxes: Boxes, known: Known) -> Boxes:
        assert (boxes.lo >= -4).all()
        assert (boxes.hi <= 4).all()
        return boxes

    def cuts(self, boxes: Boxes, known: Known) -> Any:
        assert known.function.name == "valley"
        return SPLIT_RULES["smear"].cuts(boxes, known)


@pytest.mark.usefixtures("early")
@pytest.mark.parametrize(
    "options", [{"contractors": (*_CONTRACTORS, Own())}, {"split": Own(), "contractors": _CONTRACTORS}]
)
def test_what_the_user_gives_never_sees_rotated_boxes(options: dict[str, Any]) -> None:
    result = infimum.minimize(valley, _BOX, ftol=1e-2, fatol=0, max_iter=16, **options)
    assert "rotated" not in work(result)


@pytest.mark.usefixtures("early")
@pytest.mark.parametrize("is_named", [False, True])
def test_without_its_name_no_search_is_turned(is_named: bool) -> None:
    names = _CONTRACTORS if is_named else _CONTRACTORS[:-1]
    result = infimum.minimize(valley, _BOX, ftol=1e-2, fatol=0, max_iter=16, contractors=names)
    assert ("rotated" in work(result)) == is_named


def test_a_trial_promises_about_as_many_boxes_as_there_are() -> None:
    function = trace(lambda x: np.sin(3 * x[0] * x[1]) + x[0] * np.cos(2 * x[1]) + 0.3 * x[1], 2)
    options = Options(contractors=(), ftol=1e-2, fatol=1e-2, xtol=None)
    search = Search(function, read_bounds([(-1, 1)] * 2), options)
    assert search.run().status == Status.PROVED
    count = 256
    boxes = Boxes(np.full((count, 2), -1.0), np.ones((count, 2)))
    points = np.random.default_rng(3).uniform(-1, 1, (count, 2))
    size = turning._bits(boxes) - np.log2(count)
    promised = turning._promised(search, points, boxes, size, np.inf, 60)
    assert (
        search.cuts / 8 < promised < search.cuts * 2
    )  # while boxes are few, the search cuts them several times at once
    assert turning._promised(search, points, boxes, size, promised / 2, 60) == np.inf


def test_an_unbounded_domain_or_one_variable_is_left_alone() -> None:
    for bounds in ([(None, 1), (0, 1)], [(0, 1)]):
        domain = read_bounds(bounds)
        search = Search(trace(lambda x: np.sum(x**2), domain.n), domain, Options())
        assert not turning._may_turn(search)


def test_touched_edges_of_the_user_are_as_before() -> None:
    domain = read_bounds([(0, 1)] * 2)
    lower, upper = edges.touched(domain, np.array([[0.0, 0.5]]), np.array([[0.5, 1.0]]))
    assert lower.tolist() == [[True, False]]
    assert upper.tolist() == [[False, True]]


def test_a_function_is_the_same_behind_its_frame() -> None:
    function: Function = trace(valley, 4)
    made = rotation(function, np.ones(4), matrix(0, 4))
    assert made is not None
    u = np.random.default_rng(0).normal(size=(5, 4))
    assert np.allclose(made.function(u), function(made.points(u)), rtol=1e-9)
