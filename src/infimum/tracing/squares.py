"""Sums of squares, whose residuals are the user's: the tracer looks through them at the user's own functions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from infimum.errors import TraceError
from infimum.tracing.negative import Negative
from infimum.tracing.selected import Selected
from infimum.tracing.traced import TracedArray
from infimum.tracing.values import is_symbolic


class Misfit:
    """(model(x, *p) - y) / sigma, the residuals of a model of m measurements, as a function of the parameters p.

    sigma   None for residuals that are not divided
    rows    m, the number of measurements
    """

    def __init__(self, model: Callable[..., Any], x: Any, y: Any, sigma: Any, rows: int) -> None:
        self.model, self.x, self.y, self.sigma, self.rows = model, x, y, sigma, rows
        self.__wrapped__ = model  # for a message that names the user's file
        self.__name__ = name_of(model)
        self.__qualname__ = f"the misfit of {getattr(model, '__qualname__', type(model).__qualname__)}"

    def around(self, of: Callable[[Any], Any]) -> Misfit:
        """Return the misfit of the twins of model and data."""
        return Misfit(of(self.model), of(self.x), of(self.y), of(self.sigma), self.rows)

    def __call__(self, p: Any) -> Any:
        found = _as_array(self.model(self.x, *p), self.__name__)
        shape = np.shape(found)
        if shape not in ((self.rows,), (1,), ()):
            raise TraceError(self._wrong(shape))
        if is_symbolic(p) and not is_symbolic(found):
            raise TraceError(f"{self.__name__} does not depend on its parameters. Return a value computed from them.")
        difference = np.subtract(found, self.y)
        return difference if self.sigma is None else np.divide(difference, self.sigma)

    def _wrong(self, shape: tuple[int, ...]) -> str:
        given = np.shape(self.x)
        said = (
            f"{self.__name__} returns an array of shape {shape} for xdata of shape {given}, and ydata has {self.rows} "
        )
        if shape in ((self.rows, 1), (1, self.rows)):
            return said + "rows. Return np.ravel(…) of it."
        if len(given) == 2 and given[0] == self.rows and given[1] != self.rows:
            return said + "rows. Several columns are read as curve_fit reads them, (columns, rows): give xdata.T."
        return said + "rows. Return one number for each row."


class SumOfSquares:
    """The sum of the squares of residuals, an array without or with one axis."""

    def __init__(self, residuals: Callable[..., Any]) -> None:
        self.residuals = residuals
        self.__wrapped__ = getattr(residuals, "__wrapped__", residuals)
        self.__name__ = name_of(residuals)
        inner = getattr(residuals, "__qualname__", type(residuals).__qualname__)
        self.__qualname__ = f"the sum of squares of {inner}"

    def around(self, of: Callable[[Any], Any]) -> SumOfSquares:
        """Return the sum of squares of the twin."""
        return SumOfSquares(of(self.residuals))

    def __call__(self, x: Any, *args: Any) -> Any:
        return np.sum(np.square(vector(self.residuals(x, *args), self.__name__)))


COMPOSED = Negative | Misfit | SumOfSquares  # functions of ours around the user's; `around` makes their twins


def vector(found: Any, name: str) -> Any:
    """Return residuals as an array; refuse what is none, or has several axes."""
    found = _as_array(found, name)
    if np.ndim(found) > 1:
        raise TraceError(
            f"{name} returns an array of shape {np.shape(found)}, where residuals have one axis. "
            "Return np.ravel(…) of it."
        )
    return found


def described(f: Any, n: int) -> str:
    """Return in words what is traced as a function of n variables."""
    inner = f.residuals if isinstance(f, SumOfSquares) else f
    if isinstance(inner, Misfit):
        return f"the model with {n} parameters"
    what = "the objective" if inner is f else "the residuals"
    return f"{what} with n = {n} variables (x.shape == ({n},))"


def name_of(function: Any) -> str:
    """Return what messages call a function: its own name, or its class's."""
    while isinstance(function, functools.partial):
        function = function.func
    return str(getattr(function, "__name__", type(function).__name__))


def _as_array(found: Any, name: str) -> Any:
    """Return what the user's function returned as one array; refuse what is none."""
    # | returned              | read as                                |
    # | None                  | refused: a return statement is missing |
    # | of unknown length     | refused: rows are counted              |
    # | text, a dictionary, … | refused                                |
    # | list, tuple           | the array of its elements              |
    # | anything else         | itself                                 |
    if found is None:
        raise TraceError(f"{name} returns None. Does it lack a return statement?")
    if isinstance(found, Selected):
        raise TraceError(f"{name} returns an array of unknown length. Write np.where(condition, a, b) for every row.")
    if isinstance(found, str | bytes | dict | set):
        raise TraceError(f"{name} returns a {type(found).__name__}, where an array of numbers is meant.")
    if isinstance(found, list | tuple):
        traced = next((part for part in found if isinstance(part, TracedArray)), None)
        return np.array(found) if traced is None else traced.tracer.traced(found)
    return found
