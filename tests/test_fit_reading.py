"""fit and least_squares read models, data and bounds as SciPy's users write them, and refuse what can be misread."""

from __future__ import annotations

import functools
import json
import pickle
import warnings
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import optimize

import infimum
from infimum.api import data, parameters
from infimum.errors import InvalidBounds, InvalidData, InvalidOption, TraceError, UnknownOption
from infimum.interval import equal, is_empty

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


Y = decay(X, 3.0, 0.7) + NOISE
BOX = [(0, 10), (0, 5)]


# --- models and data as users write them -----------------------------------------------------------------------------


class Cell:
    gain = 1.0

    def current(self, x: Any, a: Any, b: Any) -> Any:
        return self.gain * decay(x, a, b)

    def __call__(self, x: Any, a: Any, b: Any) -> Any:
        return decay(x, a, b)


def with_default(x: Any, a: Any, b: Any = 0.7) -> Any:
    return decay(x, a, b)


class Series:
    """What has NumPy's array, as pandas's columns have."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.asarray(self.values, dtype)


@pytest.mark.parametrize(
    "model",
    [
        lambda x, a, b: a * np.exp(-b * x),
        lambda x, *p: p[0] * np.exp(-p[1] * x),
        lambda x, a, b: [a * np.exp(-b * v) for v in x],
        np.vectorize(lambda x, a, b: a * np.exp(-b * x)),
        functools.partial(lambda k, x, a, b: k * a * np.exp(-b * x), 1.0),
        functools.partial(lambda x, a, b, k: k * a * np.exp(-b * x), k=1.0),
        Cell().current,
        Cell(),
        with_default,
    ],
)
def test_models_are_read_however_they_are_written(model: Any) -> None:
    found = infimum.fit(model, X, Y, bounds=BOX, ftol=1e-2)
    assert np.allclose(found.popt, optimize.curve_fit(decay, X, Y)[0], rtol=1e-6)


@pytest.mark.parametrize(
    "given",
    [
        list, tuple, Series, np.array, np.ma.array, lambda v: np.asarray(v, object), lambda v: [Fraction(w) for w in v],
        lambda v: [Decimal(w) for w in v], infimum.exact,
    ],
)  # fmt: skip
def test_data_are_read_however_they_are_held(given: Any) -> None:
    found = infimum.fit(decay, given(X.tolist()), given(Y.tolist()), bounds=BOX, ftol=1e-2)
    assert equal(found.rss, infimum.fit(decay, X, Y, bounds=BOX, ftol=1e-2).rss)


def test_short_floats_and_integers_are_the_numbers_that_they_are() -> None:
    short = Y.astype(np.float32)
    assert np.array_equal(data.numbers("y", short), short.astype(np.float64))
    assert data.numbers("y", [1, 2, True]).tolist() == [1.0, 2.0, 1.0]
    large = data.numbers("y", [2**53 + 1, 0])
    assert isinstance(large, infimum.exact([1]).__class__)
    assert [int(v) for v in large] == [2**53 + 1, 0]
    text = data.numbers("y", [["0.5", "3"], [0.25, Decimal("1e2")]])
    assert isinstance(text, np.ndarray) and text.tolist() == [[0.5, 3.0], [0.25, 100.0]]
    mixed = data.numbers("y", ["0.1", 0.1])
    assert [Fraction(v.as_fraction()) for v in mixed] == [Fraction(1, 10), Fraction(0.1)]


def test_several_columns_are_read_as_curve_fit_reads_them() -> None:
    u, v = X, np.cos(X)
    y = plane((u, v), 0.3, 1.5) + NOISE
    wanted = infimum.fit(plane, np.stack([u, v]), y, bounds=[(-4, 4)] * 2)
    assert np.allclose(infimum.fit(plane, (u, v), y, bounds=[(-4, 4)] * 2).popt, wanted.popt)
    assert np.allclose(infimum.fit(plane, [u.tolist(), v.tolist()], y, bounds=[(-4, 4)] * 2).popt, wanted.popt)
    with pytest.raises(TraceError, match=r"give xdata\.T"):
        infimum.fit(plane, np.stack([u, v], axis=1), y, bounds=[(-4, 4)] * 2)


def test_ten_thousand_rows_take_seconds() -> None:
    x = np.linspace(0, 5, 10_000)
    y = decay(x, 3.0, 0.7) + 0.01 * np.random.default_rng(0).standard_normal(x.size)
    found = infimum.fit(decay, x, y, bounds=BOX, ftol=1e-3)
    assert found.success and np.allclose(found.popt, [3.0, 0.7], atol=0.01)


def test_fewer_rows_than_parameters_leave_the_covariance_open() -> None:
    with pytest.warns(optimize.OptimizeWarning, match="1 measurement and 2 parameters leave no") as told:
        found = infimum.fit(line, [1.0], [2.0], bounds=[(0, 1), (0, 3)], fatol=1e-9, max_iter=20)
    assert told[0].filename == __file__
    assert np.isinf(found.pcov).all() and found.rss.lo <= 0.0
    with pytest.warns(optimize.OptimizeWarning, match="depend on each other"):
        found = infimum.fit(lambda x, a, b: (a + b) * x, X, X, bounds=[(0, 1)] * 2, max_iter=5)
    assert np.isinf(found.pcov).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = infimum.fit(line, [1.0, 2.0], [2.0, 3.0], bounds=[(0, 4), (0, 4)], sigma=0.1, absolute_sigma=True)
    assert np.isfinite(found.pcov).all()


def test_a_fixed_parameter_has_no_error() -> None:
    found = infimum.fit(above, X, Y, bounds=[(0, 10), (0, 5), (0.0, 0.0)], ftol=1e-2)
    _, pcov = optimize.curve_fit(decay, X, Y)
    assert np.allclose(found.pcov[:2, :2], pcov, rtol=1e-4) and not found.pcov[2].any() and not found.pcov[:, 2].any()


def test_a_model_that_is_defined_nowhere_has_no_parameters() -> None:
    found = infimum.fit(lambda x, a: np.sqrt(-1 - a) * x, X, Y, bounds=[(0, 1)])
    assert found.popt is None and found.pcov is None and is_empty(found.rss)
    assert "no point" in repr(found) and np.isnan(found.ranges).all()


def test_a_fit_prints_and_travels() -> None:
    found = infimum.fit(above, X, Y, bounds=[(0, 10), (0, 5), (-1, 1)], ftol=1e-2)
    text = repr(found)
    assert "popt  a = " in text and "not certified" in text and "every best fit has a in [" in text
    assert json.loads(json.dumps(found.to_dict()))["names"] == ["a", "b", "c"]
    copy = pickle.loads(pickle.dumps(found))
    assert equal(copy.rss, found.rss) and np.array_equal(copy.pcov, found.pcov)
    assert "x[1]" in repr(infimum.least_squares(lambda p: decay(X, *p) - Y, BOX, ftol=1e-1))
    assert infimum.fit(lambda x, a, *p: a + p[0] * x, X, Y, bounds=BOX, ftol=1e-1).names == ("a", "p[1]")


# --- bounds ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "bounds",
    [
        [(0, 10), (0, 5)], [[0, 10], [0, 5]], np.array([[0, 10], [0, 5]]), ((0, 10), (0, 5)), ([0, 10], [0, 5]),
        zip([0, 0], [10, 5], strict=True), optimize.Bounds([0, 0], [10, 5]), optimize.Bounds(0, [10, 5]),
    ],
)  # fmt: skip
def test_bounds_that_can_be_read_in_one_way_are(bounds: Any) -> None:
    pairs, _ = parameters.parameter_bounds(decay, bounds, None)
    assert [tuple(map(float, pair)) for pair in pairs] == [(0, 10), (0, 5)]


@pytest.mark.parametrize("bounds", [(0, np.inf), [0, np.inf], optimize.Bounds(0, np.inf)])
def test_one_pair_of_numbers_is_for_every_parameter(bounds: Any) -> None:
    pairs, _ = parameters.parameter_bounds(above, bounds, None)
    assert [tuple(pair) for pair in pairs] == [(0, np.inf)] * 3
    pairs, _ = parameters.parameter_bounds(lambda x, *p: p[0], bounds, [1, 2])
    assert len(pairs) == 2
    if not isinstance(bounds, optimize.Bounds):
        with pytest.raises(InvalidBounds, match="do not tell how many"):
            parameters.parameter_bounds(lambda x, *p: p[0], bounds, None)


def test_a_tuple_that_both_conventions_read_alike_is_read() -> None:
    for bounds in (((0, 5), (5, 10)), ((0, None), (None, 5)), ((-1, 1), (1, 3))):
        pairs, _ = parameters.parameter_bounds(decay, bounds, None)
        assert [tuple(pair) for pair in pairs] == list(bounds)


@pytest.mark.parametrize(
    ("bounds", "said"),
    [
        (([0, 0], [10, 5]), r"SciPy's \(lower, upper\).*\[\(0, 10\), \(0, 5\)\]"),
        ((np.zeros(2), np.ones(2)), r"\[\(0\.0, 1\.0\), \(0\.0, 1\.0\)\]"),
        (((0, 1), (5, 10)), r"two ways.*\[\(0, 1\), \(5, 10\)\].*\[\(0, 5\), \(1, 10\)\]"),
        (([0, 1], [5, 10]), "two ways"),
        (((0, 0), (np.inf, np.inf)), r"\[\(0, np\.inf\), \(0, np\.inf\)\]"),
        ((0, [10, 5]), r"\[\(0, 10\), \(0, 5\)\]"),
        (([0, 0], np.inf), r"\[\(0, np\.inf\), \(0, np\.inf\)\]"),
        (([0, 0, 0], [1, 2, 3]), r"\[\(0, 1\), \(0, 2\), \(0, 3\)\]"),
        ([[0, 0, 0], [1, 2, 3]], r"\[\(0, 1\), \(0, 2\), \(0, 3\)\]"),
        (np.array([[0, 0, 0], [1, 2, 3]]), r"\[\(0, 1\), \(0, 2\), \(0, 3\)\]"),
        (([0], [1]), r"\[\(0, 1\)\]"),
        ([(0, 1)], "takes the parameters a, b after x, and bounds were given for 1"),
        ([(0, 1)] * 3, "takes the parameters a, b after x, and bounds were given for 3"),
        ({"a": (0, 1), "b": (0, 1)}, "no bounds"),
        ("01", "no bounds"),
        (3, "no bounds"),
        (None, "missing"),
        ([(1, 0), (0, 1)], "Exchange them"),
        ((("a", 1), (2, 3)), "no number"),
    ],
)
def test_bounds_of_another_convention_are_refused_with_what_to_write(bounds: Any, said: str) -> None:
    with pytest.raises(InvalidBounds, match=f"(?s){said}"):
        infimum.fit(decay, X, Y, bounds=bounds, max_iter=1)
    if not isinstance(bounds, list) or len(bounds[0]) == 3:
        with pytest.raises(InvalidBounds):
            infimum.least_squares(lambda p: decay(X, *p) - Y, bounds, max_iter=1)


def test_a_tuple_is_no_pairs_where_it_can_be_scipys() -> None:
    draw = np.random.default_rng(5)
    for _ in range(300):
        (a, b), (c, d) = found = draw.integers(-3, 4, (2, 2)).tolist()
        pairs, scipys = a <= b and c <= d, a < c and b < d
        try:
            parameters.parameter_bounds(decay, tuple(map(tuple, found)), None)
            was_read = True
        except InvalidBounds:
            was_read = False
        assert was_read == (not scipys or b == c), found
        assert not was_read or pairs or not scipys


def test_a_tuple_that_is_always_pairs_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parameters, "_refuse_if_of_scipy", lambda *given: None)
    with pytest.raises(AssertionError):
        test_a_tuple_is_no_pairs_where_it_can_be_scipys()


# --- refusals --------------------------------------------------------------------------------------------------------


def holding(value: Any) -> list[Any]:
    return [*Y[:3].tolist(), value, *Y[4:].tolist()]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"ydata": holding(np.nan)}, r"ydata\[3\] is nan"),
        ({"ydata": holding(np.inf)}, r"ydata\[3\] is inf"),
        ({"ydata": holding(None)}, r"ydata\[3\] is None"),
        ({"ydata": holding("nan")}, r"ydata\[3\] is 'nan'"),
        ({"ydata": holding("1.0a")}, r"ydata\[3\] is '1.0a'"),
        ({"ydata": holding(1j)}, "complex"),
        ({"ydata": holding(infimum.Interval(0, 1))}, "one number"),
        ({"ydata": np.ma.masked_greater(Y, 2)}, r"ydata\[0\] is masked"),
        ({"ydata": Y[:, None]}, r"\(25, 1\)"),
        ({"ydata": 1.0}, r"\(\)"),
        ({"ydata": []}, "empty"),
        ({"xdata": [X.tolist(), [*X[:4].tolist(), np.nan, *X[5:].tolist()]]}, r"xdata\[1, 4\] is nan"),
        ({"xdata": np.arange(25).astype("M8[s]")}, "seconds since the first"),
        ({"xdata": [[1, 2], [3]]}, "differ in shape"),
        ({"sigma": np.eye(25)}, r"np\.linalg\.cholesky"),
        ({"sigma": 0}, "sigma is 0.0"),
        ({"sigma": [1] * 24 + [0]}, r"sigma\[24\] is 0\.0"),
        ({"sigma": [1] * 24 + ["-0.1"]}, r"sigma\[24\] is -0\.1"),
        ({"sigma": [1] * 24 + [np.inf]}, r"sigma\[24\] is inf"),
        ({"sigma": np.ones(3)}, r"shape \(3,\), and ydata 25 rows"),
    ],
)
def test_data_that_are_no_measurements_are_refused_by_row(given: dict[str, Any], said: str) -> None:
    call = {"xdata": X, "ydata": Y, "bounds": BOX} | given
    with pytest.raises(InvalidData, match=said):
        infimum.fit(decay, **call)


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (lambda x, a, b: None, "returns None"),
        (lambda x, a, b: "a", "returns a str"),
        (lambda x, a, b: x, "does not depend on its parameters"),
        (lambda x, a, b: a * x[:3] + b, r"shape \(3,\) for xdata of shape \(25,\), and ydata has 25 rows"),
        (lambda x, a, b: (a * x + b)[:, None], r"np\.ravel"),
        (lambda x, a, b: a * np.exp(1j * b * x), "1j is no real number"),
        (lambda x, a, b: a * x if a > 1 else b * x, r"np\.where\(a > 1, a \* x, b \* x\)"),
        (lambda x, a, b: infimum.fit(decay, X, Y, bounds=BOX).fun * a * x, "A search inside the function"),
    ],
)
def test_models_that_are_none_are_refused(model: Any, said: str) -> None:
    with pytest.raises(TraceError, match=said):
        infimum.fit(model, X, Y, bounds=BOX)


def test_models_that_cannot_be_called_are_refused() -> None:
    for model, said in (
        (lambda x, a, *, k: a * x, "functools.partial"),
        (functools.partial(above, a=1.0), "takes b by name alone"),
        (lambda: 1, "takes no arguments"),
    ):
        with pytest.raises(InvalidOption, match=said):
            infimum.fit(model, X, Y, bounds=BOX)
    with pytest.raises(InvalidOption, match="model"):
        infimum.fit(3, X, Y, bounds=BOX)  # type: ignore[arg-type]
    with pytest.raises(TypeError) as refused:
        infimum.fit(lambda x, a, b: x(a), X, Y, bounds=BOX)
    assert "the model with 2 parameters" in str(refused.value.__notes__)


def test_residuals_have_one_axis() -> None:
    with pytest.raises(TraceError, match="one axis"):
        infimum.least_squares(lambda p: np.outer(p, p), BOX)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = infimum.least_squares(lambda p: p[0] - 1.5, [(0, 10)])
    assert found.success and np.isinf(found.pcov).all()


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ({"x0": [1, 1]}, "p0"),
        ({"jac": None}, "derivatives come from the model"),
        ({"method": "trf"}, "local methods"),
        ({"loss": "soft_l1"}, "Sums of squares alone"),
        ({"maximize": True}, "least sum of squares"),
        ({"args": (1,)}, "functools.partial"),
        ({"weights": 1}, "sigma"),
        ({"maxfev": 100}, "max_iter"),
        ({"ftoll": 1}, "ftol"),
        ({"absolute_sgima": True}, "absolute_sigma"),
    ],
)
def test_options_of_others_are_refused_with_the_right_one(option: dict[str, Any], said: str) -> None:
    with pytest.raises(UnknownOption, match=said):
        infimum.fit(decay, X, Y, bounds=BOX, **option)
    if option.keys() & {"maximize", "jac", "loss"}:
        with pytest.raises(UnknownOption, match=said):
            infimum.least_squares(lambda p: decay(X, *p) - Y, BOX, **option)


def test_starting_points_have_a_number_for_each_parameter() -> None:
    assert infimum.fit(decay, X, Y, bounds=BOX, p0=[3, 1], ftol=1e-1).success
    assert infimum.fit(lambda x, a: a * x, X, Y, bounds=[(0, 1)], p0=0.5).success
    for p0 in ([1], [[1, 2, 3]], "a", np.ones((0, 2))):
        with pytest.raises(InvalidOption, match="p0 has shape"):
            infimum.fit(decay, X, Y, bounds=BOX, p0=p0)
    for p0, said in (([3, 6], r"p0\[1\] is 6"), ([[3, 1], [-1, 1]], r"p0\[1, 0\] is -1"), ([np.nan, 1], r"p0\[0\]")):
        with pytest.raises(InvalidOption, match=said):
            infimum.fit(decay, X, Y, bounds=BOX, p0=p0)
    with pytest.raises(InvalidOption):
        infimum.fit(decay, X, Y, bounds=BOX, p0=["a", 1])


def test_a_fit_can_be_stopped_and_watched() -> None:
    seen: list[Any] = []
    found = infimum.fit(decay, X, Y, bounds=BOX, callback=lambda result: seen.append(result) or True)
    assert seen and not found.success and found.rss.lo <= found.fun
