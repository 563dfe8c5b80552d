"""Linear layers: found however they are written, enclosed with all roundings, and contracted without a loss."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import infimum
from contractions import boxes_around, layer_slopes, missing
from contractions import layer as contracted_by_layer
from infimum.boxes import Boxes, Ends, FloatArray
from infimum.contractors import Known
from infimum.contractors.chain import ContractorChain
from infimum.contractors.linear import layer as linear
from infimum.contractors.linear import products as linear_products
from infimum.contractors.linear import slopes as linear_slopes
from infimum.contractors.linear.layer import LinearLayer, layered
from infimum.contractors.linear.products import Bound, Factor, centred, differences, ends, sums
from infimum.contractors.linear.slopes import LayerSlopes
from infimum.domain import read_bounds
from infimum.function.function import Function, trace
from infimum.passes.linear.layers import Layer, linear_layer
from infimum.problems.moved import rotated, rotation
from infimum.search.auto.search import search
from infimum.search.outcome import Options

Patch = pytest.MonkeyPatch
INF = math.inf


def drawn(seed: int, shape: tuple[int, ...], reach: float = 1.0) -> FloatArray:
    """Numbers of either sign with magnitudes 10^-reach to 10^reach, and some zeros."""
    draw = np.random.default_rng(seed)
    values = draw.choice([-1.0, 1.0], shape) * 10.0 ** draw.uniform(-reach, reach, shape) * draw.uniform(1, 2, shape)
    return np.where(draw.random(shape) < 0.1, 0.0, values)


# --- products --------------------------------------------------------------------------------------------------------


def exact_product(p: Any, q: Any) -> list[list[Fraction]]:
    rows, columns = ([[Fraction(v) for v in row] for row in m] for m in (p, zip(*q, strict=True)))
    return [[sum((a * b for a, b in zip(row, col, strict=True)), Fraction(0)) for col in columns] for row in rows]


def within(values: list[list[Fraction]], box: Ends) -> bool:
    """Whether exact numbers lie in intervals."""
    return all(
        (lo == -INF or Fraction(lo) <= v) and (hi == INF or v <= Fraction(hi))
        for row, lows, highs in zip(values, box[0].tolist(), box[1].tolist(), strict=True)
        for v, lo, hi in zip(row, lows, highs, strict=True)
    )


def near(values: list[list[Fraction]], mid: FloatArray, radius: FloatArray) -> bool:
    """Whether exact numbers lie no further from their centres than the radii say."""
    known = zip([v for row in values for v in row], mid.ravel().tolist(), radius.ravel().tolist(), strict=True)
    return all(abs(v - Fraction(m)) <= Fraction(r) for v, m, r in known if r < INF and math.isfinite(m))


REACHES = (1.0, 5.0, 100.0, 160.0, 300.0)  # the last two underflow and overflow


def wrong_products() -> list[str]:
    """Products, of matrices and of some that are as far away as their radii say, outside of their enclosures."""
    found = []
    for seed in range(40):
        reach = REACHES[seed % len(REACHES)]
        draw = np.random.default_rng(seed)
        rows, inner, columns = draw.integers(1, 7, 3)
        p, q = drawn(seed, (rows, inner), reach), drawn(seed + 100, (inner, columns), reach)
        share = (0.0, 1e-17, 1e-8, 2.0)[seed % 4]
        r, s = share * np.abs(p), share * np.abs(q)
        with np.errstate(all="ignore"):
            mid, radius = Factor(q, s if share else None).times(p, r if share else None)
        for _ in range(4):
            signs_p, signs_q = (draw.integers(-1, 2, m.shape) for m in (p, q))
            far_p, far_q = (
                [[Fraction(v) + int(k) * Fraction(d) for v, d, k in zip(*rows, strict=True)]
                 for rows in zip(m.tolist(), e.tolist(), k.tolist(), strict=True)]
                for m, e, k in ((p, r, signs_p), (q, s, signs_q))
            )  # fmt: skip
            if not near(exact_product(far_p, far_q), mid, radius):
                found.append(f"seed {seed}: {p.tolist()} times {q.tolist()}")
    return found


def test_every_product_lies_in_its_enclosure() -> None:
    assert not wrong_products()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_products_that_are_not_negative_are_bounded_from_above() -> None:
    for seed in range(30):
        p, q = (np.abs(drawn(seed + k, (5, 5), REACHES[seed % len(REACHES)])) for k in (0, 500))
        assert within(exact_product(p, q), (np.zeros((5, 5)), Bound(q).times(p)))


def test_enclosures_of_products_are_narrow() -> None:
    r = rotation(60)
    mid, radius = Factor(r).times(np.ones((1, 60)))
    assert radius.max() < 1e-12
    assert (np.abs(mid - r.sum(0)) <= radius).all()


def test_long_products_are_bounded_as_short_ones() -> None:
    draw = np.random.default_rng(5)
    p, q = draw.uniform(0.1, 1, (1, 3000)), draw.uniform(0.1, 1, (3000, 2))
    assert within(exact_product(p, q), ends(*Factor(q).times(p)))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_sums_differences_and_centres_cover_what_they_stand_for() -> None:
    for seed in range(30):
        a, b = (np.sort(drawn(seed + k, (2, 1, 8), REACHES[seed % len(REACHES)]), axis=0) for k in (0, 700))
        for i in (0, 1):
            x, y = ([Fraction(v) for v in end[i][0].tolist()] for end in (a, b))
            assert within([[v + w for v, w in zip(x, y, strict=True)]], sums((a[0], a[1]), (b[0], b[1])))
            assert within([[v - w for v, w in zip(x, y, strict=True)]], differences((a[0], a[1]), (b[0], b[1])))
            c, radius = centred(a[0], a[1])
            assert all(
                abs(v - Fraction(m)) <= Fraction(r) for v, m, r in zip(x, c[0], radius[0], strict=True) if r < INF
            )


def test_what_overflows_is_anything() -> None:
    with np.errstate(all="ignore"):
        big = np.full((1, 2), 1.5e308)
        assert [v.tolist() for v in sums((big, big), (big, big))] == [[[-INF, -INF]], [[INF, INF]]]
        low, high = ends(*Factor(np.full((2, 2), 1e308)).times(big))
        assert (low == -INF).all()
        assert (high == INF).all()


def test_products_without_the_rounding_term_are_noticed(monkeypatch: Patch) -> None:
    monkeypatch.setattr(linear_products, "_g", lambda p: 0.0)
    assert wrong_products()


def test_products_without_the_radius_are_noticed(monkeypatch: Patch) -> None:
    whole = Factor.times
    monkeypatch.setattr(Factor, "times", lambda self, p, radius=None: whole(self, p))
    assert wrong_products()


def test_elementwise_steps_without_their_rounding_are_noticed(monkeypatch: Patch) -> None:
    for name in ("above", "below"):
        monkeypatch.setattr(linear_products, name, lambda v: v)
    with pytest.raises(AssertionError):
        test_sums_differences_and_centres_cover_what_they_stand_for()


# --- finding the layer -----------------------------------------------------------------------------------------------

A = np.array([[1.5, -2.0, 0.25], [0.1, 3.0, 1.0], [-1.0, 0.7, 2.0]])
S = np.array([0.1, -0.2, 0.3])
THIRDS = infimum.exact(np.arange(1, 10).reshape(3, 3)) / 3


def bowl(y: Any) -> Any:
    return np.sum(y**2 - np.cos(y))


WAYS: dict[str, tuple[Callable[[Any], Any], Any, Any]] = {
    "A @ x": (lambda x: bowl(A @ x), A, 0 * S),
    "x @ A": (lambda x: bowl(x @ A), A.T, 0 * S),
    "np.dot": (lambda x: bowl(np.dot(A, x)), A, 0 * S),
    "A @ (x - s)": (lambda x: bowl(A @ (x - S)), A, None),
    "A @ x + b": (lambda x: bowl(A @ x + S), A, 0 * S),
    "2 (A @ x) / 3": (lambda x: bowl(2 * (A @ x) / 3 - 1), A, 0 * S),
    "A @ (2 x)": (lambda x: bowl(A @ (2 * x)), 2 * A, 0 * S),
    "A @ -x": (lambda x: bowl(A @ -x), -A, 0 * S),
    "A @ x - x": (lambda x: bowl(A @ x - 2 * x), A - 2 * np.eye(3), 0 * S),
    "sums of products": (lambda x: bowl(np.sum(A * x, axis=1)), A, 0 * S),
    "rows one by one": (lambda x: sum(bowl(A[i] @ x) for i in range(3)), A, 0 * S),
    "terms one by one": (
        lambda x: sum(bowl(A[i, 0] * x[0] + A[i, 1] * x[1] + A[i, 2] * x[2]) for i in range(3)), A, 0 * S),
    "A @ x[::-1]": (lambda x: bowl(A @ x[::-1]), A[:, ::-1], 0 * S),
    "einsum-like": (lambda x: bowl((x[None, :] * A).sum(1)), A, 0 * S),
    "twice": (lambda x: bowl(A @ (A @ x)), None, 0 * S),
    "tall": (lambda x: bowl(np.vstack([A, A[:1] + 1]) @ x), np.vstack([A, A[:1] + 1]), np.zeros(4)),
    "wide": (lambda x: bowl(A[:2] @ x), A[:2], np.zeros(2)),
    "exact": (lambda x: bowl(THIRDS @ x), np.arange(1, 10).reshape(3, 3) / 3, 0 * S),
    "with x": (lambda x: bowl(A @ x) + np.sum(np.exp(x)), A, 0 * S),
    "with x inside": (lambda x: bowl(A @ x * x), A, 0 * S),
    "neighbours": (lambda x: np.sum((A @ x)[1:] * (A @ x)[:-1] ** 2), A, 0 * S),
}  # fmt: skip


def layer_of(f: Callable[[Any], Any], n: int = 3) -> Layer:
    found = linear_layer(trace(f, n).value_node, n)
    assert found is not None
    return found


@pytest.mark.parametrize("way", WAYS)
def test_a_layer_is_found_however_it_is_written(way: str) -> None:
    f, matrix, offset = WAYS[way]
    layer = layer_of(f)
    if matrix is not None:
        order = np.lexsort(layer.matrix[0].T), np.lexsort(np.asarray(matrix).T)
        assert np.allclose(layer.matrix[0][order[0]], np.asarray(matrix)[order[1]], rtol=1e-14)
    if offset is not None:
        assert np.allclose(layer.offset[0], offset)
    assert (layer.matrix[1] - layer.matrix[0] <= 1e-14).all()
    assert (layer.offset[1] - layer.offset[0] <= 1e-14).all()
    assert layer.reads_x == way.startswith("with x")


@pytest.mark.parametrize("way", WAYS)
def test_the_function_is_what_stands_behind_its_layer(way: str) -> None:
    f, _, _ = WAYS[way]
    function, layer = trace(f, 3), layer_of(f)
    inner = Function(layer.value, layer.inputs, way)
    contractor = layered(function)
    assert contractor is not None
    x = np.random.default_rng(3).uniform(-3, 3, (20, 3))
    y = contractor.image(x, x)
    pair = (np.hstack([x, y[0]]), np.hstack([x, y[1]])) if layer.reads_x else y
    low, high = inner.range_ends(*pair)
    value = function.range_ends(x, x)
    assert ((low <= value[1]) & (value[0] <= high)).all()
    assert (high - low < 1e-9 * (1 + np.abs(low))).all()


def test_coefficients_and_offsets_contain_the_exact_ones() -> None:
    layer = layer_of(lambda x: bowl(A @ (x - S)))
    exact = exact_product(A, -S[:, None])
    assert within(exact, (layer.offset[0][:, None], layer.offset[1][:, None]))
    layer = layer_of(lambda x: bowl(THIRDS @ (x / 3 - S)))
    ninths = [[Fraction(3 * i + j + 1, 9) for j in range(3)] for i in range(3)]
    assert within(ninths, layer.matrix)
    shifts = exact_product([[3 * v for v in row] for row in ninths], -S[:, None])
    assert within(shifts, (layer.offset[0][:, None], layer.offset[1][:, None]))
    layer = layer_of(lambda x: bowl(A @ x + 0.1 * (A @ x) + x))
    added = [[Fraction(v) + Fraction(0.1) * Fraction(v) + (i == j) for j, v in enumerate(row)]
             for i, row in enumerate(A.tolist())]  # fmt: skip
    assert within(added, layer.matrix)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(x**2),
        lambda x: np.sum(x) ** 2,
        lambda x: np.sum((A @ x**2) ** 2),
        lambda x: np.sum((2 * x - 1) ** 2),
        lambda x: np.sum((x * x[0]) ** 2),
        lambda x: np.sum((A @ np.sin(x)) ** 2),
        lambda x: np.sum((x / (x[0] + x[1])) ** 2),
    ],
)
def test_where_there_is_no_layer_none_is_found(f: Callable[[Any], Any]) -> None:
    assert linear_layer(trace(f, 3).value_node, 3) is None


def test_large_and_sparse_ones_are_left_alone() -> None:
    assert linear_layer(trace(lambda x: np.sum((x[1:] - x[:-1]) ** 2), 500).value_node, 500) is None
    assert linear_layer(trace(lambda x: np.sum((x[1:] - x[:-1]) ** 2), 10**5).value_node, 10**5) is None


# --- contraction -----------------------------------------------------------------------------------------------------


def matrices(seed: int) -> tuple[str, Any]:
    """Matrices of every kind in turn."""
    draw = np.random.default_rng(seed)
    n = int(draw.integers(2, 6))
    a = draw.standard_normal((n, n))
    kind = ("regular", "orthogonal", "tall", "wide", "singular", "nearly singular", "scaled", "exact")[seed % 8]
    if kind == "orthogonal":
        a = np.linalg.qr(a)[0]
    elif kind == "tall":
        a = draw.standard_normal((n + 2, n))
    elif kind == "wide":
        a = draw.standard_normal((2, n + 1))
    elif kind == "singular":
        a[-1] = a[0]
    elif kind == "nearly singular":
        a[-1] = a[0] + 1e-13 * a[-1]
    elif kind == "scaled":
        a = a * 10.0 ** draw.integers(-9, 9, n)[:, None]
    elif kind == "exact":
        return kind, infimum.exact(draw.integers(-9, 10, (n, n))) / 7
    return kind, a


def rastrigin(y: Any) -> Any:
    return np.sum(y**2 + 10 - 10 * np.cos(2 * np.pi * y))


def cone(y: Any) -> Any:
    return np.sqrt(np.sum(y**2)) + np.sum(np.abs(y))


INNER: tuple[Callable[[Any, Any], Any], ...] = (
    lambda y, x: np.sum(y**2),
    lambda y, x: rastrigin(y),
    lambda y, x: cone(y),
    lambda y, x: np.sum(y**2) + 0.1 * np.sum(np.cos(3 * x)),
    lambda y, x: np.sum(np.exp(y) - y) + x[0] ** 2,
    lambda y, x: np.max(np.abs(y)),
)


def lost_points(seeds: range = range(96)) -> list[str]:
    """Points with f(x) <= upper that the contractor removes, or that lie below its lower bounds."""
    found = []
    for seed in seeds:
        kind, a = matrices(seed)
        n = a.shape[1]
        draw = np.random.default_rng(seed + 1000)
        s = draw.uniform(-1, 1, n)
        g = INNER[seed % len(INNER)]
        function = trace(lambda x, a=a, s=s, g=g: g(a @ (x - s), x), n)
        x = np.vstack([draw.uniform(-3, 3, (6, n)), s + 1e-3 * draw.standard_normal((6, n)), s])
        upper = function.range_ends(x, x)[1]
        boxes = boxes_around(x, [(-50.0, 50.0)] * n, seed)
        kept = contracted_by_layer(function).boxes(*boxes, upper)
        found += [f"{kind} {seed}: {m}" for m in missing(x, (kept.lo, kept.hi))]
        found += [f"{kind} {seed}: {b}" for b, v in zip(kept.lower, upper, strict=True) if b > v]
    return found


def test_no_point_below_the_level_is_ever_removed() -> None:
    assert not lost_points()


def test_no_point_of_a_line_of_solutions_is_removed() -> None:
    """Behind a singular matrix whole lines are minimisers; all of them stay."""
    a = np.array([[1.0, 1.0], [2.0, 2.0]])
    contractor = contracted_by_layer(trace(lambda x: np.sum((a @ x) ** 2), 2))
    lo, hi = contractor.contract(np.full((1, 2), -3.0), np.full((1, 2), 3.0), 0.0)
    assert (lo <= -3).all()
    assert (hi >= 3).all()


def forgotten_rest(inverse: Factor, forward: Factor) -> Bound:
    return Bound(np.zeros((len(forward.mid), len(forward.mid))))


def test_a_contractor_without_i_minus_ca_is_noticed(monkeypatch: Patch) -> None:
    monkeypatch.setattr(linear, "defect", forgotten_rest)
    assert lost_points()


def test_a_contractor_without_the_offset_is_noticed(monkeypatch: Patch) -> None:
    monkeypatch.setattr(LinearLayer, "offset", property(lambda self: (0.0, 0.0), lambda self, value: None), False)
    assert lost_points(range(16))


def test_a_contractor_without_roundings_is_noticed(monkeypatch: Patch) -> None:
    """At the point itself, the box being that point, every enclosure must hold it."""
    a, s = rotation(40), np.random.default_rng(1).uniform(-1, 1, 40)
    function = trace(lambda x: bowl(a @ (x - s)), 40)

    def kept() -> bool:
        contractor = layered(function)
        assert contractor is not None
        x = np.random.default_rng(2).uniform(-5, 5, (20, 40))
        exact = exact_product(x, a.T)
        shift = exact_product([s], a.T)[0]
        values = [[v - w for v, w in zip(row, shift, strict=True)] for row in exact]
        return within(values, contractor.image(x, x))

    assert kept()
    monkeypatch.setattr(linear_products, "_g", lambda p: 0.0)
    assert not kept()


def test_boxes_without_ends_are_contracted_where_the_matrix_has_an_inverse() -> None:
    contractor = contracted_by_layer(trace(lambda x: bowl(A @ (x - S)), 3))
    lo, hi = np.array([[-INF, -1.0, -INF]]), np.array([[INF, INF, 2.0]])
    found = contractor.boxes(lo, hi, 1.0)
    assert (found.hi - found.lo).max() < 20
    assert not missing(S[None], (found.lo, found.hi))
    unknown = contractor.boxes(lo, hi, INF)
    assert (unknown.lo <= lo).all()
    assert (unknown.hi >= hi).all()


def test_boxes_without_ends_stay_so_where_it_has_none() -> None:
    contractor = contracted_by_layer(trace(lambda x: np.sum((np.ones((2, 2)) @ x) ** 2), 2))
    lo, hi = contractor.contract(np.full((1, 2), -INF), np.full((1, 2), INF), 1.0)
    assert (lo == -INF).all()
    assert (hi == INF).all()


def test_enormous_numbers_remove_nothing_false() -> None:
    for scale in (1e-300, 1e300, 1e307):
        function = trace(lambda x, scale=scale: np.sum(np.abs((scale * A) @ x)), 3)
        contractor = contracted_by_layer(function)
        x = np.array([[1.0, 2.0, -1.0], [1e-5, 0.0, 0.0]])
        upper = function.range_ends(x, x)[1]
        assert not missing(x, contractor.contract(x - 3, x + 2, upper))


def test_empty_boxes_stay_empty() -> None:
    contractor = contracted_by_layer(trace(lambda x: bowl(A @ x), 3))
    found = contractor.boxes(np.array([[1.0, 0, 0], [-1, -1, -1]]), np.array([[0.0, 1, 1], [1, 1, 1]]), 1.0)
    assert found.lower[0] == INF
    assert not (found.lo[0] <= found.hi[0]).all()
    assert (found.lo[1] <= found.hi[1]).all()


def test_a_turned_function_of_50_variables_is_contracted_at_once() -> None:
    problem = rotated("rastrigin")(50)
    function, domain = trace(problem.f, 50), read_bounds(problem.bounds, 50)
    contractor = contracted_by_layer(function)
    found = contractor.boxes(domain.lo[None], domain.hi[None], 1e-8)
    assert (found.hi - found.lo).max() < 1e-3
    assert not missing(np.asarray(problem.minimiser)[None], (found.lo, found.hi))
    assert found.lower[0] >= -1e-9
    assert (contractor.boxes(domain.lo[None], domain.hi[None], -1e-3).lower == INF).all()


def test_good_points_are_found_behind_an_ill_conditioned_matrix() -> None:
    u, v, s = rotation(30), rotation(30)[::-1], np.linspace(-2, 2, 30)
    a = u * np.geomspace(1, 1e-9, 30) @ v
    function = trace(lambda x: rastrigin(a @ (x - s)), 30)
    contractor = layered(function)
    assert contractor is not None
    known = Known(function, read_bounds([(-5.0, 5.0)] * 30, 30), 1e-7)
    x = contractor.points(Boxes(np.full((1, 30), -5.0), np.full((1, 30), 5.0)), known)
    assert function.range_ends(x, x)[1][0] < 1e-9


# --- slopes behind the layer -----------------------------------------------------------------------------------------


def lost_minimisers() -> list[str]:
    """Boxes around a minimiser that lose it when slices of y are cut off."""
    found = []
    for seed in range(48):
        kind, a = matrices(seed)
        n = a.shape[1]
        draw = np.random.default_rng(seed)
        s = draw.uniform(-1, 1, n)
        g = (lambda y: np.sum(y**2), rastrigin, cone)[seed % 3]
        function = trace(lambda x, a=a, s=s, g=g: g(a @ (x - s)), n)
        bounds = [(-50.0, 50.0)] * n
        x = np.repeat(s[None], 12, axis=0)
        upper = INF if seed % 2 else float(function.range_ends(x[:1], x[:1])[1][0])
        kept = layer_slopes(function, read_bounds(bounds, n)).contract(*boxes_around(x, bounds, seed), upper)
        found += [f"{kind} {seed}: {m}" for m in missing(x, kept)]
    return found


def test_no_minimiser_is_cut_off_with_a_slice() -> None:
    assert not lost_minimisers()


def cut(f: Callable[[Any], Any], lo: list[float], hi: list[float], bounds: Any = ((-9.0, 9.0),) * 2) -> Ends:
    return layer_slopes(trace(f, 2), read_bounds(bounds, 2)).contract(np.array([lo]), np.array([hi]))


TURN = np.array([[0.6, -0.8], [0.8, 0.6]])


def test_slices_with_a_slope_are_cut_off() -> None:
    lo, hi = cut(lambda x: rastrigin(TURN @ x), [-0.1, -0.1], [0.1, 0.1])
    assert (hi - lo).max() < 1e-4
    assert not missing(np.zeros((1, 2)), (lo, hi))


def edge() -> Ends:
    """Minimisers lie at the domain's edges, with slopes."""
    return cut(lambda x: np.sum(np.exp(TURN @ x)), [0.0, -0.5], [1.0, 1.0], ((0.0, 9.0), (-9.0, 9.0)))


def kink() -> Ends:
    """y = 0.1 is the minimiser, and no slope is 0."""
    return cut(lambda x: np.sum(np.where(TURN @ x < 0.1, 10 + TURN @ x, TURN @ x)), [0.0, -1.0], [1.0, 1.0])


def line() -> Ends:
    """y = (0, 0) is the minimiser, since A is singular; the slopes there are -2 and 2."""
    return cut(lambda x: np.sum((np.ones((2, 2)) @ x - np.array([1.0, -1.0])) ** 2), [-0.1, 0.0], [0.3, 0.2])


def test_edges_kinks_and_singular_matrices_keep_their_slices() -> None:
    assert [v.tolist() for v in edge()] == [[[0.0, -0.5]], [[1.0, 1.0]]]
    assert [v.tolist() for v in kink()] == [[[0.0, -1.0]], [[1.0, 1.0]]]
    assert [v.tolist() for v in line()] == [[[-0.1, 0.0]], [[0.3, 0.2]]]


def beside() -> Ends:
    """At the minimiser the slopes along x and y cancel; those along y alone are not 0."""
    return cut(lambda x: np.sum((TURN @ x) ** 2) + 10 * np.sum(x[0] ** 2 - x[0]), [-0.3, -0.3], [0.6, 0.7])


def test_what_reads_x_beside_y_keeps_its_slices() -> None:
    assert [v.tolist() for v in beside()] == [[[-0.3, -0.3]], [[0.6, 0.7]]]


def test_slices_cut_off_without_a_reason_are_noticed(monkeypatch: Patch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(linear_slopes, "touched", lambda domain, lo, hi: (np.zeros(lo.shape, bool),) * 2)
        with pytest.raises(AssertionError):
            test_edges_kinks_and_singular_matrices_keep_their_slices()
    with monkeypatch.context() as patch:
        patch.setattr(LayerSlopes, "_is_smooth", lambda self, y, threads: True)
        with pytest.raises(AssertionError):
            test_edges_kinks_and_singular_matrices_keep_their_slices()
    with monkeypatch.context() as patch:
        patch.setattr(LinearLayer, "is_regular", True)
        with pytest.raises(AssertionError):
            test_edges_kinks_and_singular_matrices_keep_their_slices()


# --- in the search ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [3, 80])
@pytest.mark.parametrize("name", ["rastrigin", "griewank", "ackley", "levy"])
def test_turned_functions_are_solved_without_a_split(name: str, n: int) -> None:
    problem = rotated(name)(n)
    found = search(trace(problem.f, n), read_bounds(problem.bounds, n), Options(xtol=1e-4, ftol=1e-6, max_iter=3))
    assert found.nit == 1
    assert found.lower <= 0 <= found.upper <= found.lower + 1e-6
    boxes = found.boxes[:, :, 0], found.boxes[:, :, 1]
    assert (boxes[1] - boxes[0]).max() < 1e-4
    assert len(found.boxes) == 1
    assert not missing(np.asarray(problem.minimiser)[None], boxes)


def test_the_contractor_waits_for_layers_that_are_worth_it() -> None:
    turn = rotation(9)
    for n, f, used in (
        (3, lambda x: bowl(A @ x), True),
        (3, lambda x: bowl(A @ x) + x[0] ** 2, False),
        (9, lambda x: bowl(turn @ x) + x[0] ** 2, True),
        (9, lambda x: bowl(turn[:8] @ x) + x[0] ** 2, False),
    ):
        assert (ContractorChain(trace(f, n), read_bounds([(-1.0, 1.0)] * n, n))._linear is not None) == used


def test_the_layer_is_used_by_name() -> None:
    problem = rotated("rastrigin")(20)
    function, domain = trace(problem.f, 20), read_bounds(problem.bounds, 20)
    box, level = Boxes(domain.lo[None], domain.hi[None]), np.array([1e-6])
    for names, narrow in ((("linear",), True), (("level",), False)):
        found = ContractorChain(function, domain, contractors=names).contract_to_level(box, level)
        assert bool((found.hi - found.lo).max() < 0.1) == narrow
