"""fit and least_squares: from measurements and a model to the enclosed least sum of squares, as SciPy's users write."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from infimum.api import data, parameters
from infimum.api import unknown as api_unknown
from infimum.api.covariance import covariance
from infimum.api.minimize import minimize
from infimum.api.options import called, truth
from infimum.domain import Domain, read_bounds
from infimum.errors import InvalidBounds, InvalidData
from infimum.function.residual_vector import ResidualVector
from infimum.interval.outward import FloatArray
from infimum.records.fit import Fit
from infimum.records.result import Result
from infimum.tracing.squares import Misfit, SumOfSquares

SHARE = 2.0**-40  # of the sum of the squares of the data: the absolute goal
_SMALLEST, _LARGEST = 1e-280, 1e300  # what that sum may be, so that squares neither vanish nor overflow
_MOST_PARAMETERS = 1000  # of which a covariance is estimated
_PASSED = tuple(
    name
    for name in inspect.signature(minimize).parameters
    if name not in ("f_or_problem", "bounds", "more", "args", "jac", "x0", "maximize", "unknown")
)


def fit(
    model: Callable[..., Any],
    xdata: Any,
    ydata: Any,
    *more: Any,
    bounds: Any = None,
    sigma: Any = None,
    absolute_sigma: bool = False,
    p0: npt.ArrayLike | None = None,
    **options: Any,
) -> Fit:
    """Fit a model to measurements: enclose the least sum of squares over the bounds, and every best parameter vector.

    model            model(x, *params) as scipy.optimize.curve_fit has it, in NumPy style
    xdata            what the model is called with: (m,), or (columns, m) for a model that reads x[0], x[1], …
    ydata            m measurements. Text, Decimals and Fractions are the numbers that are written, "0.1" one tenth;
                     doubles are themselves
    bounds           a pair (lo, hi) for each parameter, or scipy.optimize.Bounds; curve_fit's tuple (lower, upper) is
                     refused
    sigma            standard deviations, one for each measurement or one for all: residuals are divided by them
    absolute_sigma   of pcov, as in curve_fit: sigma is what it says, not only relative
    p0               a starting point, or several as rows: tried first
    options          as of minimize: ftol, fatol, xtol, time_limit, contractors, threads, callback, …. fatol is
                     2^-40 of the sum of (ydata / sigma)**2 where it is not given

    Guarantee: `rss` contains min over the bounds of sum(((model(xdata, *p) - ydata) / sigma)**2), and `boxes` every p
    that attains it, rounding errors included. pcov is an estimate in plain doubles, as curve_fit's.
    """
    api_unknown.refuse_more(more, "fit(model, xdata, ydata, bounds=…, p0=…, sigma=…)")
    _refuse_unknown(options, ("bounds", "sigma", "absolute_sigma", "p0"))
    called("model", model, "f where f(x, *params) returns one number for each measurement")
    absolute = bool(truth("absolute_sigma", absolute_sigma))
    pairs, takes = parameters.parameter_bounds(model, bounds, p0)
    domain = read_bounds(pairs)
    x, y = _independent(xdata), _measured(ydata)
    deviations = None if sigma is None else _deviations(sigma, y.shape[0])
    start = parameters.starts("p0", p0, domain)
    misfit = Misfit(model, x, y, deviations, y.shape[0])
    with np.errstate(all="ignore"):
        scaled = data.about(y) if deviations is None else data.about(y) / data.about(deviations)
    result = minimize(SumOfSquares(misfit), pairs, x0=start, **_goal(scaled, options), **options)
    names = parameters.names(takes, domain.n)
    rows = ResidualVector(misfit, domain.n, (), _box(domain))
    return Fit(result, names, _covariance(rows, result, domain, absolute, stacklevel=3))


def least_squares(
    residuals: Callable[..., Any],
    bounds: Any = None,
    *more: Any,
    args: Any = (),
    x0: npt.ArrayLike | None = None,
    **options: Any,
) -> Fit:
    """Enclose the least sum of squares of residuals over the bounds, and every point where it is attained.

    residuals   residuals(x, *args) returns an array of numbers, as scipy.optimize.least_squares has it
    bounds      a pair (lo, hi) for each variable, or scipy.optimize.Bounds; SciPy's tuple (lower, upper) is refused
    args        further arguments of the function
    x0          a starting point, or several as rows: tried first
    options     as of minimize. fatol is 2^-40 of the sum of the squares of the constants that the residuals subtract
                from functions of x, the data, where it is not given

    `rss` is the sum itself, `cost` half of it, as SciPy's; pcov is (J'J)^-1 rss / (m - n), inf where that is nothing.
    Guarantee: `rss` contains min over the bounds of sum(residuals(x, *args)**2), and `boxes` every x that attains it.
    """
    api_unknown.refuse_more(more, "least_squares(residuals, bounds, x0=…)")
    _refuse_unknown(options, ("bounds", "args", "x0"))
    called("residuals", residuals, "f where f(x) returns an array")
    if bounds is None:
        raise InvalidBounds("Bounds are missing. Write one pair for each variable, such as bounds=[(-1, 1)] * n.")
    shape = () if x0 is None else np.shape(x0)
    pairs = parameters.one_pair_each(bounds, shape[-1] if shape else None)
    domain = read_bounds(pairs)
    start = parameters.starts("x0", x0, domain)
    further = args if isinstance(args, tuple) else tuple(args) if isinstance(args, list) else (args,)
    traced = ResidualVector(residuals, domain.n, further, _box(domain))
    if not traced.offsets().size:
        raise InvalidData("residuals(x) returns no numbers. Return an array with one for each measurement.")
    result = minimize(
        SumOfSquares(residuals), pairs, args=further, x0=start, **_goal(traced.offsets(), options), **options
    )
    names = tuple(f"x[{i}]" for i in range(domain.n))
    return Fit(result, names, _covariance(traced, result, domain, absolute=False, stacklevel=None))


def _refuse_unknown(options: dict[str, Any], own: tuple[str, ...]) -> None:
    wrong = {name: value for name, value in options.items() if name not in _PASSED}
    if options.get("method") in ("lm", "trf", "dogbox"):
        wrong["method"] = options["method"]
    api_unknown.refuse(wrong, (*_PASSED, *own), of_a_fit=True)


def _independent(xdata: Any) -> Any:
    """Return what the model is called with: numbers where it is an array or has one, else the object itself."""
    if isinstance(xdata, list | tuple | np.ndarray | str) or hasattr(xdata, "__array__") or np.isscalar(xdata):
        return data.numbers("xdata", xdata)
    return xdata


def _measured(ydata: Any) -> data.Data:
    y = data.numbers("ydata", ydata)
    if y.ndim != 1:
        instead = "Give np.ravel of it, and a model that returns the same." if y.ndim > 1 else "Give a list."
        raise InvalidData(f"ydata has shape {y.shape}, where (m,) is meant. {instead}")
    return y


def _deviations(sigma: Any, rows: int) -> data.Data:
    """Return standard deviations, all of them positive."""
    found = data.numbers("sigma", sigma)
    if found.ndim == 2 and rows > 1 and found.shape == (rows, rows):
        raise InvalidData(
            "sigma is a matrix, a covariance, which is not read here. With "
            "W = np.linalg.inv(np.linalg.cholesky(sigma)), fit W @ ydata by a model that returns W @ model(x, *params)."
        )
    if found.shape not in ((), (rows,), (1,)):
        raise InvalidData(
            f"sigma has shape {found.shape}, and ydata {rows} rows. Give one number for each row, or one."
        )
    wrong = ~(data.about(found) > 0)
    if wrong.any():
        at = f"[{int(np.argmax(wrong))}]" if wrong.ndim else ""
        value = float(data.about(found)[wrong][0]) if wrong.ndim else float(data.about(found))
        raise InvalidData(
            f"sigma{at} is {value!r}, and a standard deviation is positive. Leave rows out that have none."
        )
    return found


def _goal(measured: FloatArray, options: dict[str, Any]) -> dict[str, Any]:
    """Return the absolute goal where none is given: a small part of the sum of squares of what was measured."""
    with np.errstate(all="ignore"):
        total = float(np.sum(np.square(measured)))
    largest = float(np.max(np.abs(measured), initial=0.0))
    if largest and not _SMALLEST <= total <= _LARGEST:
        raise InvalidData(
            f"The largest of the data is {largest:.3g}, of which the square is near the end of the doubles. Write "
            "them in other units, or give sigma."
        )
    of_the_paper = options.get("method") != "auto" and any(
        options.get(name) is not None for name in ("method", "partition", "sampling", "selection")
    )
    if "fatol" in options or of_the_paper or not total:
        return {}
    return {"fatol": SHARE * total}


def _box(domain: Domain) -> tuple[FloatArray, FloatArray]:
    return domain.lo, domain.hi


def _covariance(
    residuals: ResidualVector, result: Result, domain: Domain, absolute: bool, stacklevel: int | None
) -> FloatArray | None:
    """Return the covariance at the best point; None where there is no point, or there are too many parameters."""
    if result.x is None or domain.n > _MOST_PARAMETERS:
        return None
    free = domain.inner_lo < domain.inner_hi
    return covariance(residuals.jacobian(result.x), result.fun, free, absolute, stacklevel)
