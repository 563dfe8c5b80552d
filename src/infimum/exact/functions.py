"""Functions of exact constants: exact values where they are rational, domains, otherwise an atom."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from infimum.errors import ExactDomainError
from infimum.exact import form
from infimum.exact.ball import floor_root
from infimum.exact.form import PI, Atom, E, Terms, add, as_rational, mul, neg, of_atom, rational, scale, text
from infimum.exact.value import sign

_HALF = Fraction(1, 2)
_THIRD = Fraction(1, 3)

# Where the sine of q*pi is rational, for 0 <= q < 2 (there are no others: Niven's theorem).
_SINES = {
    Fraction(0): Fraction(0), Fraction(1, 6): _HALF, Fraction(1, 2): Fraction(1), Fraction(5, 6): _HALF,
    Fraction(1): Fraction(0), Fraction(7, 6): -_HALF, Fraction(3, 2): Fraction(-1), Fraction(11, 6): -_HALF,
}  # fmt: skip
_TANGENTS = {Fraction(0): Fraction(0), Fraction(1, 4): Fraction(1), Fraction(3, 4): Fraction(-1)}
# The same, backwards: the angle in units of pi.
_ARCSINES = {Fraction(-1): -_HALF, -_HALF: Fraction(-1, 6), Fraction(0): Fraction(0), _HALF: Fraction(1, 6),
             Fraction(1): _HALF}  # fmt: skip
_ARCTANGENTS = {Fraction(-1): Fraction(-1, 4), Fraction(0): Fraction(0), Fraction(1): Fraction(1, 4)}
_AT_ZERO = {"sinh": 0, "cosh": 1, "tanh": 0}


def apply(name: str, x: Terms) -> Terms:
    """Return the form of the named function of x."""
    rule = _RULES.get(name)
    found = rule(x) if rule else None
    if found is None and name in _AT_ZERO and not x:
        return rational(_AT_ZERO[name])
    return of_atom(Atom(name, (x,))) if found is None else found


def divide(x: Terms, y: Terms) -> Terms:
    """Return x / y."""
    if sign(y) == 0:
        raise ExactDomainError(f"{text(x)} / {text(y)}: division by zero. An exact constant must be a real number.")
    return mul(x, form.inverse(y))


def power(x: Terms, y: Terms) -> Terms:
    """Return x**y."""
    # | x             | y             | x**y                          |
    # | any           | integer       | product (x != 0 where y < 0)  |
    # | e             | any           | exp(y)                        |
    # | 0             | > 0           | 0                             |
    # | < 0, or 0     | other         | no real number                |
    # | > 0           | 1/2, 1/3      | square or cube root           |
    # | perfect power | rational      | its root                      |
    # | > 0           | other         | an atom                       |
    p = as_rational(y)
    if p is not None and p.denominator == 1:
        return form.integer_power(x if p >= 0 else form.inverse(_nonzero(x, y)), abs(int(p)))
    if x == of_atom(E):
        return apply("exp", y)
    base = sign(x)
    if base == 0 and sign(y) > 0:
        return x
    if base <= 0:
        raise ExactDomainError(
            f"({text(x)})**({text(y)}) is no real number: the base must be positive. For an odd root write np.cbrt(x)."
        )
    if p == _HALF:
        return apply("sqrt", x)
    if p == _THIRD:
        return apply("cbrt", x)
    root = _rational_root(x, p.denominator) if p is not None else None
    if root is not None and p is not None:
        return rational(form.rational_power(root, p.numerator))
    return of_atom(Atom("pow", (x, y)))


def logarithm(x: Terms, base: int) -> Terms:
    """Return the logarithm of x to an integer base, an integer where x is a power of the base."""
    q = as_rational(x)
    if q is not None and q > 0 and 1 in (q.numerator, q.denominator):
        size = max(q.numerator, q.denominator)
        exponent = 0
        while size % base == 0:
            size, exponent = size // base, exponent + 1
        if size == 1:
            return rational(exponent if q >= 1 else -exponent)
    return divide(apply("log", x), apply("log", rational(base)))


def absolute(x: Terms) -> Terms:
    """Return |x|."""
    return neg(x) if sign(x) < 0 else x


def _nonzero(x: Terms, y: Terms) -> Terms:
    if sign(x) == 0:
        raise ExactDomainError(f"({text(x)})**({text(y)}): division by zero. An exact constant must be a real number.")
    return x


def _rational_root(x: Terms, k: int) -> Fraction | None:
    q = as_rational(x)
    if q is None:
        return None
    above, below = floor_root(q.numerator, k), floor_root(q.denominator, k)
    return Fraction(above, below) if above**k == q.numerator and below**k == q.denominator else None


def _sqrt(x: Terms) -> Terms | None:
    if sign(x) < 0:
        raise ExactDomainError(f"sqrt({text(x)}) is no real number: the argument is negative.")
    if not x:
        return x
    # sqrt(c * a**2m * ...) = sqrt(c) * |a**m * ...| where c is a square.
    monomial, coefficient = x[0]
    root = _rational_root(rational(coefficient), 2) if len(x) == 1 and coefficient > 0 else None
    if root is not None and all(exponent % 2 == 0 for _, exponent in monomial):
        return absolute(((tuple((atom, exponent // 2) for atom, exponent in monomial), root),))
    return None


def _cbrt(x: Terms) -> Terms | None:
    root = _rational_root(x, 3)
    return None if root is None else rational(root)


def _exp(x: Terms) -> Terms | None:
    q = as_rational(x)
    return form.integer_power(of_atom(E), int(q)) if q is not None and q.denominator == 1 else None


def _log(x: Terms) -> Terms | None:
    if sign(x) <= 0:
        raise ExactDomainError(f"log({text(x)}) is no real number: the argument must be positive.")
    if x == rational(1):
        return rational(0)
    monomial, coefficient = x[0]
    if len(x) > 1 or coefficient != 1 or len(monomial) != 1:
        return None
    atom, exponent = monomial[0]
    if atom == E:
        return rational(exponent)
    return scale(atom.args[0], Fraction(exponent)) if atom.name == "exp" else None


def _sin(x: Terms) -> Terms | None:
    q = form.multiple_of_pi(x)
    value = None if q is None else _SINES.get(q % 2)
    return None if value is None else rational(value)


def _cos(x: Terms) -> Terms | None:
    return _sin(add(x, scale(of_atom(PI), _HALF)))


def _tan(x: Terms) -> Terms | None:
    q = form.multiple_of_pi(x)
    if q is not None and q % 1 == _HALF:
        raise ExactDomainError(f"tan({text(x)}) is no real number: the cosine is zero there.")
    value = None if q is None else _TANGENTS.get(q % 1)
    return None if value is None else rational(value)


def _asin(x: Terms) -> Terms | None:
    _within_one("asin", x)
    return _angle(_ARCSINES, x)


def _acos(x: Terms) -> Terms | None:
    _within_one("acos", x)
    angle = _angle(_ARCSINES, x)
    return None if angle is None else add(scale(of_atom(PI), _HALF), neg(angle))


def _atan(x: Terms) -> Terms | None:
    return _angle(_ARCTANGENTS, x)


def _within_one(name: str, x: Terms) -> None:
    if sign(add(absolute(x), rational(-1))) > 0:
        raise ExactDomainError(f"{name}({text(x)}) is no real number: the argument must lie in [-1, 1].")


def _angle(table: dict[Fraction, Fraction], x: Terms) -> Terms | None:
    q = as_rational(x)
    turns = None if q is None else table.get(q)
    return None if turns is None else scale(of_atom(PI), turns)


_RULES: dict[str, Callable[[Terms], Terms | None]] = {
    "sqrt": _sqrt, "cbrt": _cbrt, "exp": _exp, "log": _log, "sin": _sin, "cos": _cos, "tan": _tan,
    "asin": _asin, "acos": _acos, "atan": _atan,
}  # fmt: skip
