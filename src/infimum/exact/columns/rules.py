"""What NumPy's functions mean on columns, by name: as exact_rules on every element, or Unfit."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from infimum.exact.columns.columns import LARGEST, ONE, Columns, IntArray, Unfit, fitting, reduced
from infimum.exact.form import Monomial
from infimum.ops import ufunc_names

_HIGHEST_POWER = 64


def _shape(x: Columns, y: Columns) -> tuple[int, ...]:
    return np.broadcast_shapes(x.shape, y.shape)


def _times(x: Any, y: Any) -> Any:
    """The product of integers, unless it might be too long."""
    if _magnitude(x) * _magnitude(y) >= LARGEST:
        raise Unfit
    return x * y


def _magnitude(x: Any) -> int:
    return max(int(np.max(x)), -int(np.min(x)))


def multiply(x: Columns, y: Columns) -> Columns:
    """Return the products."""
    # | roots               | of the product                       |
    # | one of the two is 1 | the other one                        |
    # | equal               | 1, and the coefficient takes it over |
    # | else                | two roots: unfit                     |
    first, second = x.a == x.b, y.a == y.b
    same = ~(first | second)
    if np.any(same & ((x.a != y.a) | (x.b != y.b))):
        raise Unfit
    p, q = _times(x.p, y.p), _times(x.q, y.q)
    if np.any(same):
        p, q = _times(p, np.where(same, x.a, 1)), _times(q, np.where(same, x.b, 1))
    a, b = (np.where(same, 1, np.where(first, v, u)) for u, v in ((x.a, y.a), (x.b, y.b)))
    return reduced(p, q, a, b, _merged(x.factor, y.factor), _shape(x, y))


def _merged(x: Monomial, y: Monomial) -> Monomial:
    exponents = dict(x)
    for atom, exponent in y:
        exponents[atom] = exponents.get(atom, 0) + exponent
    return tuple(sorted(((atom, k) for atom, k in exponents.items() if k), key=lambda part: part[0].order))


def add(x: Columns, y: Columns) -> Columns:
    """Return the sums of multiples of one number: with unlike roots or factors they are unfit."""
    nothing = x.p == 0
    if x.factor != y.factor or not np.all(nothing | (y.p == 0) | ((x.a == y.a) & (x.b == y.b))):
        raise Unfit
    p = fitting(_times(x.p, y.q) + _times(y.p, x.q))
    a, b = np.where(nothing, y.a, x.a), np.where(nothing, y.b, x.b)
    return reduced(p, _times(x.q, y.q), a, b, x.factor, _shape(x, y))


def negative(x: Columns) -> Columns:
    """Return -x."""
    return Columns(-x.p, x.q, x.a, x.b, x.factor, x.shape)


def subtract(x: Columns, y: Columns) -> Columns:
    """Return the differences."""
    return add(x, negative(y))


def reciprocal(x: Columns) -> Columns:
    """Return 1/x: 1/(p/q sqrt(a/b)) = (q b)/(p a) sqrt(a/b)."""
    if np.any(x.p == 0):
        raise Unfit
    factor = tuple((atom, -exponent) for atom, exponent in x.factor)
    return reduced(_times(x.q, x.b), _times(x.p, x.a), x.a, x.b, factor, x.shape)


def divide(x: Columns, y: Columns) -> Columns:
    """Return the quotients."""
    return multiply(x, reciprocal(y))


def sqrt(x: Columns) -> Columns:
    """Return the roots of rational numbers, rational where they are."""
    if not x.is_rational or np.any(x.p < 0):
        raise Unfit
    over, under = _integer_root(x.p), _integer_root(x.q)
    square = (over * over == x.p) & (under * under == x.q)
    p, q = np.where(square, over, 1), np.where(square, under, 1)
    return reduced(p, q, np.where(square, 1, x.p), np.where(square, 1, x.q), (), x.shape)


def _integer_root(x: IntArray) -> Any:
    """The largest integers whose squares are not above x; the root in doubles is less than 1 away from them."""
    root = np.sqrt(x.astype(np.float64)).astype(np.int64)
    root = root - (root * root > x)
    return root + ((root + 1) * (root + 1) <= x)


def power(x: Columns, y: Columns) -> Columns:
    """Return x to one power for all elements: a small integer, or one half."""
    if not y.is_rational or y.p.ndim or y.q.ndim:
        raise Unfit
    k, under = int(y.p), int(y.q)
    if (k, under) == (1, 2):
        return _like(sqrt(x), y)
    if under != 1 or abs(k) > _HIGHEST_POWER:
        raise Unfit
    square, found = (reciprocal(x) if k < 0 else x), reduced(ONE, ONE, ONE, ONE, (), _shape(x, y))
    k = abs(k)
    while k:
        found = multiply(found, square) if k % 2 else found
        k //= 2
        square = multiply(square, square) if k else square
    return found


def _like(x: Columns, y: Columns) -> Columns:
    return x if x.shape == _shape(x, y) else reduced(x.p, x.q, x.a, x.b, x.factor, _shape(x, y))


def absolute(x: Columns) -> Columns:
    """Return |x|, where the factor is known to be positive."""
    if any(atom.name not in ("pi", "e") for atom, _ in x.factor):
        raise Unfit
    return reduced(np.abs(x.p), x.q, x.a, x.b, x.factor, x.shape)


def floor_divide(x: Columns, y: Columns) -> Columns:
    """Return the largest integers that are not above x / y."""
    if not (x.is_rational and y.is_rational) or np.any(y.p == 0):
        raise Unfit
    return reduced(_times(x.p, y.q) // _times(x.q, y.p), ONE, ONE, ONE, (), _shape(x, y))


def remainder(x: Columns, y: Columns) -> Columns:
    """Return x less the multiple of y that floor_divide counts."""
    return subtract(x, multiply(y, floor_divide(x, y)))


def order(x: Columns, y: Columns) -> npt.NDArray[np.int64]:
    """Return the signs of x - y, for rational numbers."""
    if not (x.is_rational and y.is_rational):
        raise Unfit
    return np.broadcast_to(np.sign(_times(x.p, y.q) - _times(y.p, x.q)), _shape(x, y))


_OF_OPERATIONS: dict[str, Any] = {
    "add": add, "sub": subtract, "mul": multiply, "div": divide, "pow": power, "mod": remainder, "neg": negative,
    "abs": absolute, "sqr": lambda x: multiply(x, x), "recip": reciprocal, "sqrt": sqrt,
}  # fmt: skip
RULES: dict[str, Any] = {name: rule for op, rule in _OF_OPERATIONS.items() for name in ufunc_names(op)}
RULES |= {"floor_divide": floor_divide, "positive": lambda x: x}
