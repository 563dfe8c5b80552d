"""One exact constant, and the reading of numbers that are known exactly."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from infimum.errors import ExactDomainError, UnsupportedValue
from infimum.exact import form as exact_form
from infimum.exact import rules as exact_rules
from infimum.exact import value as exact_value
from infimum.exact.form import Terms
from infimum.interval import Interval
from infimum.interval.operators import UfuncOperators
from infimum.interval.outward import FloatArray, fraction
from infimum.interval.reading import describe
from infimum.interval.text import read_fraction


class ExactOperators(UfuncOperators):
    """What one exact constant and an array of them share: every operator is a NumPy function, applied exactly."""

    __slots__ = ()
    __array_priority__ = 900.0

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        from infimum.exact.number import apply_ufunc  # which knows both classes

        return apply_ufunc(ufunc, method, inputs, kwargs)


class Exact(ExactOperators):
    """One real number, kept as an expression in rationals, pi, e and elementary functions."""

    __slots__ = ("_terms",)

    _terms: Terms

    def __init__(self, terms: Terms) -> None:
        self._terms = terms

    @property
    def form(self) -> Terms:
        """The canonical form (form.py)."""
        return self._terms

    def as_fraction(self) -> Fraction | None:
        """Return the rational number this is, or None."""
        return exact_form.as_rational(self._terms)

    def as_rational_multiple_of_pi(self) -> Fraction | None:
        """Return the q with which this is q * pi, or None."""
        return exact_form.multiple_of_pi(self._terms)

    def enclose(self) -> Interval:
        """Return the tightest interval: the number itself if it is a double, else the two doubles next to it.

        Where 6,144 bits do not decide on which side of a double the number lies, both neighbours stay inside.
        """
        return Interval(*exact_value.enclosure(self._terms))

    def __interval__(self) -> tuple[FloatArray, FloatArray]:
        lo, hi = exact_value.enclosure(self._terms)
        return np.asarray(lo), np.asarray(hi)

    def __float__(self) -> float:
        return exact_value.nearest_double(self._terms)

    def __floor__(self) -> int:
        return exact_value.floor(self._terms)

    def __ceil__(self) -> int:
        return -exact_value.floor(exact_form.neg(self._terms))

    def __trunc__(self) -> int:
        return exact_rules.trunc(self._terms)

    __int__ = __trunc__

    def __bool__(self) -> bool:
        return exact_value.sign(self._terms) != 0

    def __repr__(self) -> str:
        q = self.as_fraction()
        if q is None:
            return exact_form.text(self._terms)
        return f"exact({q})" if q.denominator == 1 else f"exact('{q}')"

    def __hash__(self) -> int:
        q = self.as_fraction()
        return hash(self._terms) if q is None else hash(q)


def read_form(value: object) -> Terms:
    """Return the form of a number that is known exactly."""
    if isinstance(value, str):
        return exact_form.rational(read_fraction(value))
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, Decimal) and value.is_finite():
        return exact_form.rational(Fraction(value))
    if isinstance(value, (Exact, int, float, Fraction, np.integer, np.floating, np.bool_)):
        return form_of(value)
    raise UnsupportedValue(
        f"exact({describe(value)}): {type(value).__name__} is no exact number. "
        "Give an int, a Fraction, a Decimal, a float, text such as '0.1', or an array of such."
    )


def form_of(value: Any) -> Terms:
    """Return the form of an exact constant or of a number of Python's or NumPy's."""
    if isinstance(value, Exact):
        return value._terms
    if isinstance(value, (int, Fraction)):
        return exact_form.rational(value)
    if not np.isfinite(value):
        raise ExactDomainError(f"{value!r} beside an exact constant: it is no real number.")
    if isinstance(value, (np.integer, np.bool_)):
        return exact_form.rational(int(value))
    # Of longer floats NumPy knows the ratio; a double's own bits cannot be flushed to zero on the way.
    q = fraction(float(value)) if value == float(value) else Fraction(*value.as_integer_ratio())
    return exact_form.rational(q)


def simplest(form: Terms) -> int | Fraction | Exact:
    """Return a number in the simplest of the three classes that hold it."""
    q = exact_form.as_rational(form)
    if q is None:
        return Exact(form)
    return q.numerator if q.denominator == 1 else q
