"""The canonical form of exact constants: a rational combination of products of atoms.

    terms     ((monomial, coefficient), ...)   their sum; sorted, no coefficient zero
    monomial  ((atom, exponent), ...)          their product; sorted, no exponent zero, () is 1
    atom      pi, e, a function of terms, or a sum that stands as a factor ("group")

Equal forms denote equal numbers. The converse holds for rational numbers and rational multiples of pi, and as far
as these rules reach for others.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from infimum.errors import ExactDomainError

# A power of a rational number with more binary digits is refused rather than written out.
_MOST_BITS = 1 << 20


@dataclass(frozen=True)
class Atom:
    """A number that the rules do not take apart."""

    name: str
    args: tuple[Terms, ...] = ()

    @property
    def order(self) -> str:
        """Text by which atoms are sorted."""
        return f"{self.name}{self.args}" if self.args else self.name


Monomial = tuple[tuple[Atom, int], ...]
Terms = tuple[tuple[Monomial, Fraction], ...]

ZERO: Terms = ()
PI = Atom("pi")
E = Atom("e")


def rational(q: Fraction | int) -> Terms:
    """Return the form of a rational number."""
    return (((), Fraction(q)),) if q else ZERO


def of_atom(atom: Atom) -> Terms:
    """Return the form of one atom."""
    return ((((atom, 1),), Fraction(1)),)


def as_rational(x: Terms) -> Fraction | None:
    """Return the rational number that the form is, or None."""
    if not x:
        return Fraction(0)
    return x[0][1] if len(x) == 1 and x[0][0] == () else None


def square_of_root(x: Terms) -> Fraction | None:
    """Return q where the form is c sqrt(r) with rational c > 0 and r, and q = c**2 r; None for any other form."""
    if len(x) != 1 or x[0][1] <= 0 or len(x[0][0]) != 1:
        return None
    atom, exponent = x[0][0][0]
    inner = as_rational(atom.args[0]) if atom.name == "sqrt" and exponent == 1 else None
    return None if inner is None else inner * x[0][1] ** 2


def multiple_of_pi(x: Terms) -> Fraction | None:
    """Return the q for which the form is q * pi, or None."""
    if not x:
        return Fraction(0)
    return x[0][1] if len(x) == 1 and x[0][0] == ((PI, 1),) else None


def add(x: Terms, y: Terms) -> Terms:
    """Return the sum."""
    sums = dict(x)
    for monomial, coefficient in y:
        sums[monomial] = sums.get(monomial, Fraction(0)) + coefficient
    kept = [term for term in sums.items() if term[1]]
    return tuple(sorted(kept, key=lambda term: _order(term[0]))) if len(kept) > 1 else tuple(kept)


def scale(x: Terms, q: Fraction) -> Terms:
    """Return x times a rational number."""
    return tuple((monomial, coefficient * q) for monomial, coefficient in x) if q else ZERO


def neg(x: Terms) -> Terms:
    """Return -x."""
    return scale(x, Fraction(-1))


def mul(x: Terms, y: Terms) -> Terms:
    """Return the product."""
    # | x                | y                | product               |
    # | rational         | any              | y scaled              |
    # | one term         | any              | term by term          |
    # | several terms    | several terms, or a product with groups | a product of groups |
    for one, other in ((x, y), (y, x)):
        q = as_rational(one)
        if q is not None:
            return scale(other, q)
    if (len(x) > 1 or len(y) > 1) and _has_groups(x) and _has_groups(y):
        return _term_product(_factor(x), _factor(y))
    total = ZERO
    for a in x:
        for b in y:
            total = add(total, _term_product(a, b))
    return total


def inverse(x: Terms) -> Terms:
    """Return 1/x, for an x that is known not to be zero."""
    return integer_power(x, -1)


def integer_power(x: Terms, n: int) -> Terms:
    """Return x**n; for n < 0 x is known not to be zero."""
    if n == 0:
        return rational(1)
    if n == 1 or not x:
        return x
    monomial, coefficient = _factor(x)
    return _normal(tuple((atom, exponent * n) for atom, exponent in monomial), rational_power(coefficient, n))


def rational_power(q: Fraction, n: int) -> Fraction:
    """Return q**n, unless it has too many digits."""
    if max(q.numerator.bit_length(), q.denominator.bit_length()) * abs(n) > _MOST_BITS:
        raise ExactDomainError(f"({q})**{n} has too many digits to be kept exactly. Write it as a float or Interval.")
    return q**n


def _group(x: Terms) -> tuple[Monomial, Fraction]:
    """Return a sum as one factor, its first coefficient taken out so that multiples share the atom."""
    leading = x[0][1]
    return ((Atom("group", (scale(x, 1 / leading),)), 1),), leading


def _has_groups(x: Terms) -> bool:
    return len(x) > 1 or any(atom.name == "group" for atom, _ in x[0][0])


def _factor(x: Terms) -> tuple[Monomial, Fraction]:
    return _group(x) if len(x) > 1 else x[0]


def _term_product(a: tuple[Monomial, Fraction], b: tuple[Monomial, Fraction]) -> Terms:
    exponents = dict(a[0])
    for atom, exponent in b[0]:
        exponents[atom] = exponents.get(atom, 0) + exponent
    return _normal(tuple(exponents.items()), a[1] * b[1])


def _normal(factors: Monomial, coefficient: Fraction) -> Terms:
    """Return the product of the factors with roots and lone groups resolved."""
    # | factor      | becomes                          |
    # | sqrt(r)**k  | r**(k // 2) * sqrt(r)**(k mod 2) |
    # | group alone | its sum                          |
    kept: list[tuple[Atom, int]] = []
    outside = rational(coefficient)
    for atom, exponent in factors:
        if atom.name == "sqrt" and exponent not in (0, 1):
            outside = mul(outside, integer_power(atom.args[0], exponent // 2))
            exponent %= 2
        if exponent:
            kept.append((atom, exponent))
    if not kept:
        return outside
    if len(kept) == 1 and kept[0][0].name == "group" and kept[0][1] == 1:
        return mul(kept[0][0].args[0], outside)
    q = as_rational(outside)
    if q is not None:
        return ((tuple(sorted(kept, key=lambda factor: factor[0].order)), q),)
    return mul(((tuple(sorted(kept, key=lambda factor: factor[0].order)), Fraction(1)),), outside)


def _order(monomial: Monomial) -> tuple[tuple[str, int], ...]:
    return tuple((atom.order, exponent) for atom, exponent in monomial)


def text(x: Terms) -> str:
    """Return the form as one would write it."""
    q = as_rational(x)
    if q is not None:
        return str(q)
    parts = [_term_text(monomial, coefficient) for monomial, coefficient in reversed(x)]
    return " + ".join(parts).replace("+ -", "- ")


def _term_text(monomial: Monomial, q: Fraction) -> str:
    if not monomial:
        return str(q)
    above = [_factor_text(atom, k) for atom, k in monomial if k > 0]
    below = [_factor_text(atom, -k) for atom, k in monomial if k < 0]
    if abs(q.numerator) != 1 or not above:
        above.insert(0, str(abs(q.numerator)))
    if q.denominator != 1:
        below.insert(0, str(q.denominator))
    sign = "-" if q < 0 else ""
    return sign + "*".join(above) + "".join(f"/{factor}" for factor in below)


def _factor_text(atom: Atom, exponent: int) -> str:
    # | atom  | written      |
    # | pi, e | its name     |
    # | group | (sum)        |
    # | power | (x)**(y)     |
    # | other | name(x)      |
    if not atom.args:
        written = atom.name
    elif atom.name == "group":
        written = f"({text(atom.args[0])})"
    elif atom.name == "pow":
        written = f"({text(atom.args[0])})**({text(atom.args[1])})"
    else:
        written = f"{atom.name}({text(atom.args[0])})"
    return written if exponent == 1 else f"{written}**{exponent}"
