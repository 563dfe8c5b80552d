"""Exact constants: numbers that stay what they were written as.

``pi``, ``e``, ``exact("0.1")``, ``exact(1, 3)``, ``exact(np.arange(1, n + 1))`` are symbolic and stay exact under
arithmetic and NumPy functions with each other and with ints, floats and Fractions. Beside an Interval they become
the tightest interval around them; ``float()`` gives the nearest double.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from infimum.exact import form as exact_form
from infimum.exact.array import ExactArray, exact_array
from infimum.exact.functions import divide
from infimum.exact.scalar import Exact, read_form
from infimum.exact.ufuncs import staying_exact

__all__ = ["Exact", "ExactArray", "e", "exact", "pi", "staying_exact"]

pi = Exact(exact_form.of_atom(exact_form.PI))
e = Exact(exact_form.of_atom(exact_form.E))


def exact(value: object, denominator: object = None) -> Any:
    """Return the constant that is exactly the given number; an array of constants for an array.

    Text is read as written: exact("0.1") is one tenth, exact("1/3") a third. A float is that very double, so
    exact(0.1) is 0.1000000000000000055...; use the text for the decimal. exact(1, 3) is a third.
    """
    if denominator is not None:
        return Exact(divide(read_form(value), read_form(denominator)))
    if isinstance(value, ExactArray):
        return value
    if isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim):
        return exact_array(value)
    return Exact(read_form(value))
