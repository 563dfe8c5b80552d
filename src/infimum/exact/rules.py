"""What NumPy's functions mean on canonical forms, by name."""

from __future__ import annotations

import operator
from typing import Any

from infimum.exact import form as exact_form
from infimum.exact import functions as exact_functions
from infimum.exact import value as exact_value
from infimum.exact.form import Terms


def trunc(x: Terms) -> int:
    """Be the number without what follows the point."""
    if exact_value.sign(x) >= 0:
        return exact_value.floor(x)
    return -exact_value.floor(exact_form.neg(x))


def _floor_quotient(x: Terms, y: Terms) -> Terms:
    return exact_form.rational(exact_value.floor(exact_functions.divide(x, y)))


def _remainder(x: Terms, y: Terms) -> Terms:
    return exact_form.add(x, exact_form.neg(exact_form.mul(y, _floor_quotient(x, y))))


def _function(name: str) -> Any:
    return lambda x: exact_functions.apply(name, x)


# NumPy's name of a function and its rule on canonical forms.
NUMBERS: dict[str, Any] = {
    "add": exact_form.add,
    "subtract": lambda x, y: exact_form.add(x, exact_form.neg(y)),
    "multiply": exact_form.mul,
    "divide": exact_functions.divide, "true_divide": exact_functions.divide,
    "power": exact_functions.power, "float_power": exact_functions.power, "pow": exact_functions.power,
    "floor_divide": _floor_quotient, "remainder": _remainder,
    "negative": exact_form.neg, "positive": lambda x: x,
    "absolute": exact_functions.absolute, "fabs": exact_functions.absolute,
    "square": lambda x: exact_form.integer_power(x, 2),
    "reciprocal": lambda x: exact_functions.divide(exact_form.rational(1), x),
    "floor": lambda x: exact_form.rational(exact_value.floor(x)),
    "ceil": lambda x: exact_form.rational(-exact_value.floor(exact_form.neg(x))),
    "trunc": lambda x: exact_form.rational(trunc(x)),
    "maximum": lambda x, y: x if exact_value.sign(exact_form.add(x, exact_form.neg(y))) >= 0 else y,
    "minimum": lambda x, y: x if exact_value.sign(exact_form.add(x, exact_form.neg(y))) <= 0 else y,
    "hypot": lambda x, y: exact_functions.apply(
        "sqrt", exact_form.add(exact_form.integer_power(x, 2), exact_form.integer_power(y, 2))
    ),
    "exp2": lambda x: exact_functions.power(exact_form.rational(2), x),
    "expm1": lambda x: exact_form.add(exact_functions.apply("exp", x), exact_form.rational(-1)),
    "log1p": lambda x: exact_functions.apply("log", exact_form.add(exact_form.rational(1), x)),
    "log2": lambda x: exact_functions.logarithm(x, 2),
    "log10": lambda x: exact_functions.logarithm(x, 10),
    "sign": lambda x: exact_form.rational(exact_value.sign(x)),
    **{name: _function(name) for name in ("sqrt", "cbrt", "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh")},
    "arcsin": _function("asin"), "arccos": _function("acos"), "arctan": _function("atan"),
    "asin": _function("asin"), "acos": _function("acos"), "atan": _function("atan"),
}  # fmt: skip

ORDER: dict[str, Any] = {
    "less": operator.lt, "less_equal": operator.le, "greater": operator.gt, "greater_equal": operator.ge,
    "equal": operator.eq, "not_equal": operator.ne,
}  # fmt: skip
