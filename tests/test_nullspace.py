"""NullSpace: no bound is above a value, vectors are orthogonal as claimed, and each rule broken is noticed."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest

from fit_claims import drawn, false_claims
from infimum.boxes import Boxes, FloatArray
from infimum.contractors.fits import orthogonal, ratio_dual, shift_dual
from infimum.contractors.fits.nullspace import nullspace
from infimum.contractors.fits.orthogonal import Orthogonal
from infimum.contractors.known import Known
from infimum.domain import read_bounds
from infimum.function.function import trace
from infimum.function.linear_parameters import Shifts
from infimum.function.outer import DualLines
from infimum.graph.build import Build
from infimum.graph.constant import Constant
from infimum.passes.linear_parameters import ratio, shift

Patch = pytest.MonkeyPatch
SEEDS = range(20)
KINDS = ("grids", "ratios")


def claims(seeds: Any, kinds: Any = KINDS) -> tuple[list[str], int]:
    return false_claims(nullspace, ((drawn(kind, seed), seed) for seed in seeds for kind in kinds))


def test_no_bound_is_above_a_value_and_no_point_up_to_the_upper_bound_is_lost() -> None:
    found, bounded = claims(SEEDS)
    assert not found
    assert bounded > 300


@pytest.mark.torture
@pytest.mark.parametrize("kind", KINDS)
def test_no_claim_about_many_random_fits_is_false(kind: str) -> None:
    found, bounded = claims(range(len(SEEDS), 2000), (kind,))
    assert not found
    assert bounded > 10_000


# ---------------------------------------------------------------------------------------------- grids
def test_times_that_are_no_grid_as_doubles_need_ranges_of_c() -> None:
    for t, needed in ((np.arange(9.0), False), (np.arange(9.0) * 0.25, False), (np.arange(9.0) * 0.1, True)):
        f = trace(lambda x, t=t: np.sum((x[0] * np.exp(-x[1] * t) + x[2] * np.cos(x[3] * t) - 1) ** 2), 4)
        assert f.shifts is not None and f.shifts.has_slack.tolist() == [needed] * 2
        known = Known(f, read_bounds([(None, None), (0, 1)] * 2, 4), np.array([1e300]))
        contractor = nullspace(f)
        assert contractor is not None
        lo, hi = np.array([[-np.inf, 0.1, -np.inf, 0.5]]), np.array([[np.inf, 0.2, np.inf, 0.6]])
        assert (contractor.contract(Boxes(lo, hi), known).lower == -np.inf).all() == needed


@pytest.mark.parametrize("t", [[0.0, 1.0, 3.0, 4.0, 5.0, 6.0], [0.0, 1.0, 1.0, 2.0, 3.0, 4.0], [0.0] * 6, [0.0, 1.0]])
def test_times_that_are_no_grid_have_no_filters(t: list[float]) -> None:
    f = trace(lambda x: np.sum((x[0] * np.exp(-x[1] * np.array(t)) + x[2] - 1) ** 2), 3)
    assert f.shifts is None


def _grids_too_near() -> int:
    """Count times that are farther from their grid than is said."""
    draw = np.random.default_rng(5)
    count = 0
    for _ in range(50):
        m, h = int(draw.integers(3, 30)), float(draw.choice([0.05, 0.1, 1 / 3, 7.0, -0.3]))
        t = draw.normal() + h * np.arange(m) + draw.choice([0.0, 1e-9]) * draw.uniform(-1, 1, m)
        found = shift._grid(Constant(t), m)
        assert found is not None
        step, apart = found
        for k, own in enumerate(t.tolist()):
            count += abs(Fraction(own) - Fraction(t[0]) - step * k) > Fraction(float(apart[k]))
    return count


def _slack_too_little() -> int:
    """Count bounds that are above what is left when twice the slack is taken off."""
    draw = np.random.default_rng(6)
    least, slack = draw.normal(size=200), draw.normal(size=200) ** 2

    class Fixed:
        has_slack, linear = np.array([True]), np.array([0])

        def slack(self, *args: Any, **more: Any) -> FloatArray:
            return slack

    dual = object.__new__(shift_dual.ShiftDual)
    dual.shifts = Fixed()  # type: ignore[assignment]
    nothing = np.zeros((200, 1))
    found = dual._without_slack(least, (nothing, nothing), (nothing, nothing), (nothing, nothing), nothing, 1)
    exact = [Fraction(a) - 2 * Fraction(b) for a, b in zip(least.tolist(), slack.tolist(), strict=True)]
    return sum(Fraction(a) > b for a, b in zip(found.tolist(), exact, strict=True))


@pytest.mark.parametrize("wrong", [_grids_too_near, _slack_too_little])
def test_what_is_rounded_is_rounded_to_the_safe_side(wrong: Callable[[], int], monkeypatch: Patch) -> None:
    assert not wrong()
    monkeypatch.setattr(np, "nextafter", lambda x, towards: x)
    assert wrong()


# ---------------------------------------------------------------------------------------------- orthogonal vectors
def wrong_boxes(seeds: range = range(40)) -> list[str]:
    """Boxes of Orthogonal that do not contain the orthogonal part of a vector, in balls; X is anywhere in its ends."""
    found = []
    for seed in seeds:
        draw = np.random.default_rng(seed)
        m, j = int(draw.integers(3, 8)), int(draw.integers(1, 3))
        x = draw.normal(size=(m, j)) * 10.0 ** draw.integers(-6, 6, (1, j))
        wide = draw.choice([0.0, 1e-9]) * np.abs(x)
        space = Orthogonal((x - wide, x + wide))
        if not space.is_known:
            continue
        u = draw.normal(size=(1, m))
        u = space.projected(u) if seed % 2 else u
        lo, hi = space.around(u)
        for sign in (-1.0, 0.0, 1.0):
            exact = [[float(v) for v in row] for row in (x + sign * wide)]
            flint.ctx.prec = 400
            own, right = flint.arb_mat(exact), flint.arb_mat([[float(v)] for v in u[0]])
            gram = own.transpose() * own
            part = right - own * gram.solve(own.transpose() * right)
            inside = all(lo[0, i] <= part[i, 0] and part[i, 0] <= hi[0, i] for i in range(m))
            if not inside:
                found.append(f"{seed}: {m} {j}")
    return found


def test_the_box_around_a_vector_contains_an_orthogonal_one() -> None:
    assert not wrong_boxes()


def _far_from_orthonormal(x: FloatArray) -> FloatArray:
    found: FloatArray = 0.85 * _TRIANGLE(x)
    return found


_TRIANGLE = orthogonal._triangle


def test_the_box_is_right_for_any_basis(monkeypatch: Patch) -> None:
    monkeypatch.setattr(orthogonal, "_triangle", _far_from_orthonormal)
    assert not wrong_boxes()


def test_columns_that_depend_on_each_other_are_not_known() -> None:
    x = np.random.default_rng(3).normal(size=(6, 2))
    columns = np.column_stack([x, x.sum(1)])
    assert not Orthogonal((columns, columns)).is_known
    assert not Orthogonal((x[:1], x[:1])).is_known
    assert Orthogonal((x, x)).is_known


def test_a_radius_that_is_too_small_is_noticed(monkeypatch: Patch) -> None:
    monkeypatch.setattr(orthogonal, "_triangle", _far_from_orthonormal)
    monkeypatch.setattr(orthogonal, "_MOST_ERROR", 0.9)
    init = Orthogonal.__init__

    def wrong(self: Orthogonal, columns: Any) -> None:
        init(self, columns)
        self._least = orthogonal.Interval(1.0)

    assert not wrong_boxes()
    monkeypatch.setattr(Orthogonal, "__init__", wrong)
    assert wrong_boxes()


def test_no_radius_is_noticed(monkeypatch: Patch) -> None:
    monkeypatch.setattr(Orthogonal, "around", lambda self, u: (u, u))
    assert wrong_boxes()


# ---------------------------------------------------------------------------------------------- each rule broken
def _without_one_corner(kind: Any, at: int) -> Callable[[Patch], None]:
    init = kind.__init__

    def wrong(self: Any, found: Any) -> None:
        init(self, found)
        self._corners = np.delete(self._corners, at, 0)

    return lambda patch: patch.setattr(kind, "__init__", wrong)


def _grid(how: Callable[[Any, Any], Any]) -> Callable[[Patch], None]:
    def wrong(times: Any, m: int) -> Any:
        found = _GRID(times, m)
        return None if found is None else how(*found)

    return lambda patch: patch.setattr(shift, "_grid", wrong)


def _filter_off(b: Any, coefficients: Any, v: Any) -> Any:
    first = b.apply("mul", b.number(1 + 1e-4), coefficients[0])
    return _ADJOINT(b, [first, *coefficients[1:]], v)


def _waves_of_another_sign(b: Any, coefficients: Any, v: Any) -> Any:
    if len(coefficients) == 3:
        coefficients = [coefficients[0], b.apply("neg", coefficients[1]), coefficients[2]]
    return _ADJOINT(b, coefficients, v)


def _built(subtract: Callable[..., Any]) -> Callable[[Patch], None]:
    """G with another difference than 2 y r - y^2, which is the only one that it is made of."""

    class Wrong(Build):
        def apply(self, op: str, *args: Any, **more: Any) -> Any:
            return subtract(super().apply, *args) if op == "sub" else super().apply(op, *args, **more)

    def patched(patch: Patch) -> None:
        patch.setattr(shift, "Build", Wrong)
        patch.setattr(ratio, "Build", Wrong)

    return patched


def _nothing_free(self: Any, ratios: Any) -> None:
    _INIT(self, ratios)
    nothing = np.empty((ratios.m, 0))
    self.space = Orthogonal((nothing, nothing))


def _middles(self: Shifts, lo: FloatArray, hi: FloatArray, **more: Any) -> Any:
    low, high = _ATOMS(self, lo, hi, **more)
    return 0.5 * low + 0.5 * high, 0.5 * low + 0.5 * high


def _for_no_c(self: Shifts, p: Any, z: Any, v: Any, size: Any, **more: Any) -> Any:
    return _SLACK(self, p, z, v, 0.0 * size, **more)


def _not_orthogonal(patch: Patch) -> None:
    patch.setattr(Orthogonal, "projected", lambda self, u: u * (1 + 0.01 * np.arange(u.shape[1])))
    patch.setattr(Orthogonal, "around", lambda self, u: (u, u))


_GRID, _ADJOINT, _SLACK, _ATOMS = shift._grid, shift._adjoint, Shifts.slack, Shifts.atom_ends
_INIT = ratio_dual.RatioDual.__init__

# What is broken, how, and the kind of fits that shows it.
MUTANTS: dict[str, tuple[str, Callable[[Patch], None]]] = {
    "the square's sign in grids": ("grids", _built(lambda apply, a, b: apply("add", a, b))),
    "the square's sign in ratios": ("ratios", _built(lambda apply, a, b: apply("add", a, b))),
    "no square in grids": ("grids", _built(lambda apply, a, b: a)),
    "no square in ratios": ("ratios", _built(lambda apply, a, b: a)),
    "a vertex of grids is left out": ("grids", _without_one_corner(shift_dual.ShiftDual, 0)),
    "another vertex of grids is left out": ("grids", _without_one_corner(shift_dual.ShiftDual, -1)),
    "a vertex of ratios is left out": ("ratios", _without_one_corner(ratio_dual.RatioDual, 0)),
    "another vertex of ratios is left out": ("ratios", _without_one_corner(ratio_dual.RatioDual, -1)),
    "numbers in the middle of their ranges": ("grids", lambda patch: patch.setattr(Shifts, "atom_ends", _middles)),
    "a step that is off": ("grids", _grid(lambda step, apart: (step * Fraction(10001, 10000), apart))),
    "times are taken for a grid": ("grids", _grid(lambda step, apart: (step, 0.0 * apart))),
    "the ranges of c are forgotten": ("grids", lambda patch: patch.setattr(Shifts, "slack", _for_no_c)),
    "a coefficient of a filter is off": ("grids", lambda patch: patch.setattr(shift, "_adjoint", _filter_off)),
    "a wave's filter": ("grids", lambda patch: patch.setattr(shift, "_adjoint", _waves_of_another_sign)),
    "free columns are forgotten": (
        "ratios", lambda patch: patch.setattr(ratio_dual.RatioDual, "__init__", _nothing_free)
    ),
    "vectors are not orthogonal": ("ratios", _not_orthogonal),
    "what is not affine is kept": (
        "ratios", lambda patch: patch.setattr(ratio, "_is_multi_affine", lambda monomial: True)
    ),
    "H is forgotten on the way out": (
        "grids", lambda patch: patch.setattr(DualLines, "least", lambda self, lower: lower)
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_each_rule_broken_is_noticed(name: str, monkeypatch: Patch) -> None:
    kind, broken = MUTANTS[name]
    broken(monkeypatch)
    assert any(claims([seed], (kind,))[0] for seed in range(300))


def _below_zero() -> bool:
    """Whether the bound of a fit whose minimum is 0 is, with a fixed column that a filter fits to four digits."""
    t = np.arange(12.0)
    fixed = 1 + 1e-4 * np.sin(t**2)
    y = np.exp(-0.5 * t) + 100 * fixed
    f = trace(lambda x: np.sum((x[0] * np.exp(-x[1] * t) + x[2] * fixed - y) ** 2), 3)
    contractor = nullspace(f)
    assert contractor is not None
    known = Known(f, read_bounds([(0, 2), (0, 1), (0, 200)], 3), np.array([1e300]))
    found = contractor.contract(Boxes(np.array([[1.0, 0.5, 100.0]]), np.array([[1.0, 0.5, 100.0]])), known)
    return bool(found.lower[0] < 1e-12)


def test_what_a_fixed_filter_leaves_counts(monkeypatch: Patch) -> None:
    monkeypatch.setattr(shift, "_FITS", 1e-3)
    assert _below_zero()
    monkeypatch.setattr(shift, "_filtered", lambda fixed, column, m: np.zeros(m - fixed.size + 1))
    assert not _below_zero()
