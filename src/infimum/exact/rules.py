"""What NumPy's functions mean on canonical forms, by name."""

from __future__ import annotations

import operator
from typing import Any

from infimum.exact import form as exact_form
from infimum.exact import functions as exact_functions
from infimum.exact import series
from infimum.exact import value as exact_value
from infimum.exact.form import Terms
from infimum.ops import ufunc_names


def trunc(x: Terms) -> int:
    """Return the number without what follows the point."""
    if exact_value.sign(x) >= 0:
        return exact_value.floor(x)
    return -exact_value.floor(exact_form.neg(x))


def _floor_quotient(x: Terms, y: Terms) -> Terms:
    return exact_form.rational(exact_value.floor(exact_functions.divide(x, y)))


def _remainder(x: Terms, y: Terms) -> Terms:
    return exact_form.add(x, exact_form.neg(exact_form.mul(y, _floor_quotient(x, y))))


def _function(name: str) -> Any:
    return lambda x: exact_functions.apply(name, x)


_RULES: dict[str, Any] = {
    "add": exact_form.add,
    "sub": lambda x, y: exact_form.add(x, exact_form.neg(y)),
    "mul": exact_form.mul,
    "div": exact_functions.divide,
    "pow": exact_functions.power,
    "mod": _remainder,
    "neg": exact_form.neg,
    "abs": exact_functions.absolute,
    "sqr": lambda x: exact_form.integer_power(x, 2),
    "recip": lambda x: exact_functions.divide(exact_form.rational(1), x),
    "floor": lambda x: exact_form.rational(exact_value.floor(x)),
    "ceil": lambda x: exact_form.rational(-exact_value.floor(exact_form.neg(x))),
    "trunc": lambda x: exact_form.rational(trunc(x)),
    "max": lambda x, y: x if exact_value.sign(exact_form.add(x, exact_form.neg(y))) >= 0 else y,
    "min": lambda x, y: x if exact_value.sign(exact_form.add(x, exact_form.neg(y))) <= 0 else y,
    "hypot": lambda x, y: exact_functions.apply(
        "sqrt", exact_form.add(exact_form.integer_power(x, 2), exact_form.integer_power(y, 2))
    ),
    "exp2": lambda x: exact_functions.power(exact_form.rational(2), x),
    "expm1": lambda x: exact_form.add(exact_functions.apply("exp", x), exact_form.rational(-1)),
    "log1p": lambda x: exact_functions.apply("log", exact_form.add(exact_form.rational(1), x)),
    "log2": lambda x: exact_functions.logarithm(x, 2),
    "log10": lambda x: exact_functions.logarithm(x, 10),
    "sign": lambda x: exact_form.rational(exact_value.sign(x)),
    **{name: _function(name) for name in series.FUNCTIONS},
}

# NumPy's name of a universal function and its rule on canonical forms.
NUMBERS: dict[str, Any] = {name: rule for op, rule in _RULES.items() for name in ufunc_names(op)}
NUMBERS |= {"floor_divide": _floor_quotient, "positive": lambda x: x}

ORDER: dict[str, Any] = {
    "less": operator.lt, "less_equal": operator.le, "greater": operator.gt, "greater_equal": operator.ge,
    "equal": operator.eq, "not_equal": operator.ne,
}  # fmt: skip
