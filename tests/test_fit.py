"""fit and least_squares: SciPy's answers with a proof."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest
from flint import arb
from scipy import optimize

import infimum
from infimum.api import data, fit
from infimum.errors import InvalidData
from infimum.function.function import trace
from infimum.function.residual_vector import ResidualVector
from infimum.problems import fits
from infimum.tracing.squares import Misfit, SumOfSquares

flint.ctx.prec = 300
X = np.linspace(0.0, 5.0, 25)
NOISE = 0.01 * np.random.default_rng(7).standard_normal(25)


def decay(x: Any, a: Any, b: Any) -> Any:
    return a * np.exp(-b * x)


def above(x: Any, a: Any, b: Any, c: Any) -> Any:
    return a * np.exp(-b * x) + c


def line(x: Any, a: Any, b: Any) -> Any:
    return a * x + b


def plane(x: Any, a: Any, b: Any) -> Any:
    return a * x[0] + b * np.sin(x[1])


def bell(x: Any, h: Any, m: Any, w: Any) -> Any:
    return h / (1 + ((x - m) / w) ** 2)


Y = decay(X, 3.0, 0.7) + NOISE
BOX = [(0, 10), (0, 5)]
MODELS: list[tuple[Callable[..., Any], Any, tuple[float, ...], list[tuple[float, float]]]] = [
    (decay, X, (3.0, 0.7), [(0, 10), (0, 5)]),
    (above, X, (3.0, 0.7, 0.5), [(0, 10), (0.1, 5), (-5, 5)]),
    (line, X, (-2.0, 0.5), [(-10, 10), (-10, 10)]),
    (plane, np.stack([X, X**2]), (0.3, 1.5), [(-4, 4), (-4, 4)]),
    (bell, X, (2.0, 2.2, 0.9), [(0, 5), (0, 5), (0.2, 3)]),
]
every_model = pytest.mark.parametrize(("model", "x", "p", "box"), MODELS, ids=[m[0].__name__ for m in MODELS])


# --- as SciPy's ------------------------------------------------------------------------------------------------------


@every_model
@pytest.mark.parametrize("absolute", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_parameters_and_covariance_are_curve_fits(
    model: Any, x: Any, p: Any, box: Any, weighted: bool, absolute: bool
) -> None:
    y = model(x, *p) + NOISE
    sigma = 0.01 * (1 + X) if weighted else None
    found = infimum.fit(model, x, y, bounds=box, sigma=sigma, absolute_sigma=absolute, ftol=1e-4)
    popt, pcov = optimize.curve_fit(
        model, x, y, p0=p, bounds=tuple(zip(*box, strict=True)), sigma=sigma, absolute_sigma=absolute
    )
    assert found.success and found.status == 0
    assert np.abs(found.popt - popt).max() < 1e-5 * found.perr.max()
    assert np.allclose(found.pcov, pcov, rtol=1e-4, atol=1e-12)
    unpacked, covariance = found
    assert unpacked is found.popt and covariance is found.pcov


@every_model
def test_least_squares_finds_what_scipys_does(model: Any, x: Any, p: Any, box: Any) -> None:
    y = model(x, *p) + NOISE
    found = infimum.least_squares(lambda q, x: model(x, *q) - y, box, args=(x,), x0=p, ftol=1e-4)
    theirs = optimize.least_squares(lambda q: model(x, *q) - y, p, bounds=tuple(zip(*box, strict=True)), gtol=1e-12)
    assert found.success
    assert found.cost.lo <= theirs.cost * (1 + 1e-9) and theirs.cost <= found.cost.hi * (1 + 1e-9)
    assert np.abs(found.x - theirs.x).max() < 1e-5 * found.perr.max()
    wanted = np.linalg.inv(theirs.jac.T @ theirs.jac) * 2 * theirs.cost / (len(y) - len(p))
    assert np.allclose(found.pcov, wanted, rtol=1e-4)


def test_the_errors_are_those_that_nist_certifies() -> None:
    certified = {
        "nist_misra1a": (2.7070075241, 7.2668688436e-06),
        "nist_boxbod": (12.354515176, 0.10455993237),
        "nist_danwood": (0.018281973860, 0.051726610913),
    }
    for name, deviations in certified.items():
        given = fits.FITS[name]
        x, y = fits.measurements(name)
        box = [(infimum.exact(lo), infimum.exact(hi)) for lo, hi in given.bounds]
        found = infimum.fit(lambda x, *b, model=given.model: model(b, x, None), x, y, bounds=box, ftol=1e-2)
        assert np.allclose(found.perr, deviations, rtol=1e-6)
        assert np.allclose(found.popt, given.at, rtol=1e-6)


def test_derivatives_of_residuals_are_right() -> None:
    cases: list[tuple[Any, int]] = [
        (lambda p: above(X, *p) - Y, 3),
        (lambda p: [10 * (p[1] - p[0] ** 2), 1 - p[0]], 2),
        (lambda p: np.abs(p[0]) * np.maximum(X, p[1]) / 3 - Y, 2),
        (lambda p: np.cumprod(p) - np.cumsum(p**2), 4),
        (lambda p: np.array([p[0] * v + p[1] * p[2] for v in X[:6]]), 3),
        (lambda p: np.dot(np.vander(X, 4), p) - Y, 4),
        (lambda p: p[0] * np.arctan(p[1]), 2),
        (lambda p: [2 * p[0] - 1, 3.0], 2),
    ]
    for f, n in cases:
        at = np.random.default_rng(n).uniform(0.3, 0.8, n)
        found = ResidualVector(f, n, (), (np.zeros(n), np.ones(n))).jacobian(at)
        steps = 1e-6 * np.eye(n)
        slopes = [(np.atleast_1d(f(at + h)) - np.atleast_1d(f(at - h))) / 2e-6 for h in steps]
        assert np.allclose(found, np.transpose(slopes), atol=1e-8), f


# --- what is proved --------------------------------------------------------------------------------------------------


def planted(seed: int) -> tuple[Any, Any, tuple[float, ...], list[tuple[float, float]]]:
    """A model, x, parameters and bounds, drawn from a few families."""
    draw = np.random.default_rng(seed)
    m = int(draw.integers(4, 12))
    x = np.sort(draw.uniform(0, 4, m))
    a, b = float(draw.uniform(0.5, 3)), float(draw.uniform(0.2, 2))
    models = [decay, line, lambda x, a, b: a * np.sqrt(x + b), lambda x, a, b: np.log(1 + a * x) * b]
    return models[seed % 4], x, (a, b), [(0.0, a + float(draw.uniform(0, 3))), (0.1, b + float(draw.uniform(0, 3)))]


@pytest.mark.parametrize("seed", range(12))
def test_planted_parameters_are_inside_a_box(seed: int) -> None:
    model, x, p, box = planted(seed)
    y = model(x, *p)
    found = infimum.fit(model, x, y, bounds=box, time_limit=10)
    assert found.rss.lo <= float(np.sum((model(x, *found.popt) - y) ** 2)) + 1e-25
    # y is rounded, so the planted point may lie beside the best one: by some units in the last place of the model.
    near = 1e-11
    inside = (found.boxes[:, :, 0] - near <= p) & (p <= found.boxes[:, :, 1] + near)
    assert inside.all(axis=1).any()
    assert found.rss.lo <= 1e-24
    assert (found.ranges[:, 0] - near <= p).all() and (p <= found.ranges[:, 1] + near).all()


def exact_sum(model: str, x: list[Any], y: list[Any], sigma: list[Any], p: Any) -> Any:
    """The sum of squares of a model at doubles p, in Arb; data are text or doubles."""
    a, b = (arb(float(v)) for v in p)
    number = {str: lambda v: arb(Fraction(v).numerator) / Fraction(v).denominator}
    total = arb(0)
    for u, v, s in zip(x, y, sigma, strict=True):
        u, v, s = (number.get(type(w), arb)(w) for w in (u, v, s))
        found = a * (-b * u).exp() if model == "decay" else a * u + b
        total += ((found - v) / s) ** 2
    return total


def holds_in_arb(model: Any, name: str, x: Any, y: Any, sigma: Any) -> None:
    """The enclosure of the sum of squares at points contains its value; a fit's is not above the value at popt."""
    misfit = Misfit(model, *(data.numbers(what, v) for what, v in (("x", x), ("y", y), ("sigma", sigma))), len(y))
    traced = trace(SumOfSquares(misfit), 2, compare=False)
    for p in np.random.default_rng(3).uniform(0.1, 2, (20, 2)):
        value, range_ = exact_sum(name, x, y, sigma, p), traced.enclose(infimum.Interval(p))
        assert arb(float(range_.lo)) <= value and value <= arb(float(range_.hi)), p.tolist()
    found = infimum.fit(model, x, y, bounds=[(0, 3), (0, 3)], sigma=sigma)
    assert arb(float(found.rss.lo)) <= exact_sum(name, x, y, sigma, found.popt)


TEXTS = [f"{v:.2f}" for v in X]
MEASURED = [f"{v:.3f}" for v in Y]
DEVIATIONS = ["0.1", "0.3", "0.7"] * 8 + ["0.9"]


@pytest.mark.parametrize("model", [decay, line], ids=lambda m: m.__name__)
def test_the_sum_of_squares_is_that_of_the_decimals_written(model: Any) -> None:
    holds_in_arb(model, model.__name__, TEXTS, MEASURED, DEVIATIONS)
    holds_in_arb(model, model.__name__, X.tolist(), Y.tolist(), [0.1] * 25)


def test_an_exact_tenth_is_no_double() -> None:
    one, tenth = np.ones(1), 0.1
    for y, least in ((["0.1"], (Fraction(0.1) - Fraction(1, 10)) ** 2), ([0.1], Fraction(0))):
        misfit = Misfit(lambda x, a: a * x, one, data.numbers("y", y), None, 1)
        range_ = trace(SumOfSquares(misfit), 1, compare=False).enclose(infimum.Interval([tenth]))
        assert Fraction(float(range_.lo)) <= least <= Fraction(float(range_.hi))
        assert (float(range_.hi) > 0) == (least > 0)


def holds_for_decimals() -> None:
    holds_in_arb(line, "line", TEXTS, MEASURED, DEVIATIONS)
    test_an_exact_tenth_is_no_double()


@pytest.mark.parametrize(
    "changed",
    [
        data.about,  # decimals become doubles
        lambda found: data.about(found).astype(np.float32).astype(float),
        lambda found: found[np.maximum(np.arange(len(found)) - 1, 0)],  # a row twice, another one lost
    ],
)
def test_a_fit_of_other_data_is_noticed(changed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    read = data.numbers
    monkeypatch.setattr(data, "numbers", lambda name, given: changed(read(name, given)))
    with pytest.raises(AssertionError):
        holds_for_decimals()


def test_weights_that_are_left_out_or_inverted_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def unweighted(self: Misfit, p: Any) -> Any:
        return self.model(self.x, *p) - self.y

    def inverted(self: Misfit, p: Any) -> Any:
        return (self.model(self.x, *p) - self.y) * self.sigma

    for wrong in (unweighted, inverted):
        monkeypatch.setattr(Misfit, "__call__", wrong)
        with pytest.raises(AssertionError):
            holds_in_arb(line, "line", TEXTS, MEASURED, DEVIATIONS)


# --- goals -----------------------------------------------------------------------------------------------------------


def test_a_small_sum_is_not_proved_by_an_absolute_tolerance() -> None:
    y = 1e-5 * Y
    level = {"contractors": ("level", "stationary")}  # slow ones: others are far below any tolerance at once
    found = infimum.fit(decay, X, y, bounds=[(0, 1e-4), (0, 5)], **level)
    assert found.success and found.rss.hi < 1e-12
    assert found.rss.wid <= 1e-6 * found.rss.hi
    again = infimum.least_squares(lambda p: decay(X, *p) - y, [(0, 1e-4), (0, 5)], **level)
    assert again.success and again.rss.wid <= 1e-6 * again.rss.hi
    loose = infimum.minimize(lambda p: np.sum((decay(X, *p) - y) ** 2), [(0, 1e-4), (0, 5)], **level)
    assert loose.success and loose.minimum.lo == 0.0  # what is guarded against


def test_a_fit_with_the_goal_of_minimize_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fit, "_goal", lambda measured, options: {})
    with pytest.raises(AssertionError):
        test_a_small_sum_is_not_proved_by_an_absolute_tolerance()


def goal_of(call: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The options that a fit gives to minimize."""
    seen: list[dict[str, Any]] = []

    def spy(*args: Any, **options: Any) -> Any:
        seen.append(options)
        return infimum.minimize(*args, **{**options, "max_iter": 1})

    with monkeypatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setattr(fit, "minimize", spy)
        call()
    return seen[0]


def test_the_absolute_goal_is_a_share_of_the_data(monkeypatch: pytest.MonkeyPatch) -> None:
    def fatol(call: Callable[[], Any]) -> Any:
        return goal_of(call, monkeypatch).get("fatol")

    total = float(np.sum(Y**2))
    assert fatol(lambda: infimum.fit(decay, X, Y, bounds=BOX)) == pytest.approx(2.0**-40 * total)
    assert fatol(lambda: infimum.fit(decay, X, Y, bounds=BOX, sigma=0.1)) == pytest.approx(100 * 2.0**-40 * total)
    assert fatol(lambda: infimum.fit(decay, X, Y, bounds=BOX, fatol=1.0)) == 1.0
    assert fatol(lambda: infimum.fit(decay, X, 0 * Y, bounds=BOX)) is None
    assert fatol(lambda: infimum.fit(decay, X, Y, bounds=BOX, sampling="latin")) is None
    for residuals in (
        lambda p: decay(X, *p) - Y,
        lambda p: Y - decay(X, *p),
        lambda p: [p[0] * np.exp(-p[1] * u) - v for u, v in zip(X, Y, strict=True)],
        lambda p: np.concatenate([Y[:3] - decay(X[:3], *p), -(Y[3:] - decay(X[3:], *p))]),
    ):
        assert fatol(lambda f=residuals: infimum.least_squares(f, BOX)) == pytest.approx(2.0**-40 * total)
    weighted = fatol(lambda: infimum.least_squares(lambda p: (decay(X, *p) - Y) / 0.1, BOX))
    assert weighted == pytest.approx(100 * 2.0**-40 * total)
    assert fatol(lambda: infimum.least_squares(lambda p: [p[0], p[1] * p[0]], BOX)) is None


def test_units_do_not_matter() -> None:
    one = infimum.fit(decay, X, Y, bounds=BOX)
    small = infimum.fit(decay, X, 2.0**-100 * Y, bounds=[(0, 10 * 2.0**-100), (0, 5)])
    assert small.success and small.rss.hi == pytest.approx(2.0**-200 * one.rss.hi, rel=1e-6)
    with pytest.raises(InvalidData, match="other units"):
        infimum.fit(decay, X, 1e-160 * Y, bounds=[(0, 1e-159), (0, 5)])
    with pytest.raises(InvalidData, match="other units"):
        infimum.fit(decay, X, 1e160 * Y, bounds=[(0, 1e161), (0, 5)])


def test_residuals_without_a_number_are_refused() -> None:
    with pytest.raises(InvalidData, match="residuals\\(x\\) returns no numbers"):
        infimum.least_squares(lambda x: [], [(-1, 1)])


def test_text_may_stand_in_an_exponent() -> None:
    """Exact decimals as exponents were refused."""
    t, y = ["0.1", "0.2", "0.4", "0.5"], [1.9, 1.8, 1.6, 1.5]
    found = infimum.fit(lambda t, a, p: a * p**t, t, y, bounds=[(0, 5), (0.1, 2)])
    assert found.success and 0.3 < found.popt[1] < 1


def test_ten_thousand_rows_take_no_more_boxes_than_a_few() -> None:
    cuts = []
    for rows in (500, 10_000):
        x = np.linspace(0, 10, rows)
        y = 3 * np.exp(-0.5 * x) + 1 + 0.1 * np.random.default_rng(1).standard_normal(rows)
        result = infimum.fit(lambda x, a, b, c: a * np.exp(-b * x) + c, x, y, bounds=[(0, 10), (0, 5), (-5, 5)])
        assert result.success
        cuts.append(result.result.boxes_evaluated)
    assert cuts[1] < 2 * cuts[0] + 200
