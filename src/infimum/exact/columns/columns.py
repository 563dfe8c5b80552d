"""Arrays of exact constants without an object for each: one term per element, its integers in columns.

    element   p/q * sqrt(a/b) * factor      p, q, a, b: arrays of integers; factor: one monomial for all elements

The columns are canonical: p/q and a/b are reduced, q, a, b > 0, a/b = 1 where there is no root, q = a = b = 1 where
p = 0. So equal columns are equal arrays of canonical forms (form.py), and the other way round. Elements of
another kind, and integers that are too long, are ``Unfit``; the caller then goes element by element.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from infimum.exact import form as exact_form
from infimum.exact.form import Atom, Monomial, Terms
from infimum.interval.outward import FloatArray

IntArray = npt.NDArray[np.int64]

LARGEST = 2**62  # integers in columns are smaller
ONE = np.ones((), np.int64)
_NO_ROOT = Fraction(1)


class Unfit(Exception):
    """There are no columns for it."""


@dataclass(frozen=True, eq=False)
class Columns:
    """p/q * sqrt(a/b) * factor, in an array of this shape; a column without axes is one number for all elements."""

    p: IntArray
    q: IntArray
    a: IntArray
    b: IntArray
    factor: Monomial
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def key(self) -> tuple[object, ...]:
        """What is equal for equal arrays alone."""
        return (*(column.tobytes() for column in (self.p, self.q, self.a, self.b)), self.factor, self.shape)

    @property
    def has_roots(self) -> bool:
        return self.a.ndim > 0 or self.b.ndim > 0 or bool(self.a != self.b)

    @property
    def is_rational(self) -> bool:
        """Every element is p/q."""
        return not self.factor and not self.has_roots

    def spread(self) -> list[IntArray]:
        """Return p, q, a and b, each in the full shape."""
        return [np.broadcast_to(column, self.shape) for column in (self.p, self.q, self.a, self.b)]

    def each(self, pick: Callable[[IntArray], IntArray]) -> Columns:
        """Return the elements picked or moved as `pick` does it with an array of this shape."""
        p, q, a, b = map(pick, self.spread())
        return reduced(p, q, a, b, self.factor)

    def take(self, indices: IntArray) -> Columns:
        """Return the elements at these indices of the flat array, 0 for -1."""
        p, q, a, b = (column.reshape(-1)[indices] for column in self.spread())
        return reduced(np.where(indices >= 0, p, 0), q, a, b, self.factor)

    def element(self, index: Any) -> Terms:
        """Return the canonical form of one element."""
        p, q, a, b = (int(column[index] if column.ndim else column) for column in (self.p, self.q, self.a, self.b))
        return _form(p, q, a, b, self.factor)

    def elements(self) -> list[Terms]:
        """Return the canonical forms of all elements, in row-major order."""
        p, q, a, b = (column.reshape(-1).tolist() for column in self.spread())
        return [_form(*row, self.factor) for row in zip(p, q, a, b, strict=True)]


def reduced(p: Any, q: Any, a: Any, b: Any, factor: Monomial, shape: tuple[int, ...] | None = None) -> Columns:
    """Return the canonical columns of p/q * sqrt(a/b) * factor, for q != 0 and a, b > 0."""
    shape = np.broadcast_shapes(*(np.shape(column) for column in (p, q, a, b))) if shape is None else shape
    if 0 in shape:
        raise Unfit
    if np.any(q < 0):
        p, q = np.where(q < 0, -p, p), np.abs(q)
    p, q = _lowest(p, q)
    zero = p == 0
    if np.any(zero):
        a, b = np.where(zero, 1, a), np.where(zero, 1, b)
    p, q, a, b = (_compact(column, shape) for column in (p, q, *_lowest(a, b)))
    return Columns(p, q, a, b, () if np.all(zero) else factor, shape)


def _lowest(over: Any, under: Any) -> tuple[Any, Any]:
    if np.all(under == 1):
        return over, under
    common = np.gcd(over, under)
    return over // common, under // common


def _compact(column: Any, shape: tuple[int, ...]) -> IntArray:
    column = np.asarray(column, np.int64)
    first = column.reshape(-1)[0]
    return np.asarray(first) if np.all(column == first) else np.broadcast_to(column, shape)


def fitting(values: Any) -> Any:
    """Return the integers, unless one is too long."""
    if max(int(np.max(values)), -int(np.min(values))) >= LARGEST:
        raise Unfit
    return values


# --- from numbers --------------------------------------------------------------------------------------------------


def of_integers(values: npt.NDArray[Any]) -> Columns:
    """Return an array of integers."""
    if not values.size:
        raise Unfit
    return reduced(fitting(values).astype(np.int64), ONE, ONE, ONE, ())


def of_doubles(values: FloatArray) -> Columns:
    """Return an array of doubles, each that very number."""
    # m * 2**k with an odd m: on one side of the fraction bar or on the other there must be room for 2**|k|.
    if not values.size or not np.isfinite(values).all():
        raise Unfit
    mantissa, exponent = np.frexp(values)
    m = (mantissa * 2.0**53).astype(np.int64)
    zeros = np.frexp((m & -m).astype(np.float64))[1] - np.where(m == 0, 0, 1)
    m, k = m >> zeros, np.where(m == 0, 0, exponent - 53 + zeros).astype(np.int64)
    if np.any(k < -61) or np.any(exponent > 61):
        raise Unfit
    return reduced(m << np.maximum(k, 0), ONE << np.maximum(-k, 0), ONE, ONE, ())


def of_forms(forms: Iterable[Terms], shape: tuple[int, ...]) -> Columns:
    """Return an array of canonical forms, given in row-major order."""
    rows: list[tuple[int, int, int, int]] = []
    factor: Monomial | None = None
    for form in forms:
        if not form:
            rows.append((0, 1, 1, 1))
            continue
        monomial, c = form[0]
        inside, rest = _root_and_rest(monomial)
        factor = rest if factor is None else factor
        row = (c.numerator, c.denominator, inside.numerator, inside.denominator)
        if len(form) > 1 or rest != factor or max(abs(row[0]), *row[1:]) >= LARGEST:
            raise Unfit
        rows.append(row)
    p, q, a, b = np.array(rows, np.int64).reshape(-1, 4).T.reshape(4, *shape)
    return reduced(p, q, a, b, factor or ())


def joined(parts: Sequence[Columns]) -> Columns:
    """Return the elements of one array after those of the other, in one flat array."""
    factors = {part.factor for part in parts if np.any(part.p)}
    if len(factors) > 1:
        raise Unfit
    columns = zip(*(part.spread() for part in parts), strict=True)
    p, q, a, b = (np.concatenate([piece.reshape(-1) for piece in column]) for column in columns)
    return reduced(p, q, a, b, factors.pop() if factors else ())


# --- to and from canonical forms -----------------------------------------------------------------------------------


def _root_and_rest(monomial: Monomial) -> tuple[Fraction, Monomial]:
    """Return the rational number under the monomial's root, 1 without a root, and the other factors."""
    # | factor              | where it goes                                                        |
    # | sqrt of a rational  | under the root, if it is the only one                                |
    # | other root, a group | unfit: products of these have rules of their own (form.mul)    |
    # | any other           | the rest                                                             |
    inside, rest = _NO_ROOT, []
    for atom, exponent in monomial:
        if atom.name not in ("sqrt", "group"):
            rest.append((atom, exponent))
            continue
        under = exact_form.as_rational(atom.args[0]) if atom.name == "sqrt" and exponent == 1 else None
        if under is None or inside is not _NO_ROOT:
            raise Unfit
        inside = under
    return inside, tuple(rest)


def _form(p: int, q: int, a: int, b: int, factor: Monomial) -> Terms:
    if p == 0:
        return exact_form.ZERO
    monomial = factor
    if a != b:
        root = (Atom("sqrt", (exact_form.rational(Fraction(a, b)),)), 1)
        monomial = tuple(sorted((root, *factor), key=lambda part: part[0].order)) if factor else (root,)
    return ((monomial, Fraction(p, q)),)
