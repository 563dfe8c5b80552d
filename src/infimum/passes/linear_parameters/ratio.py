"""Residuals as quotients of polynomials: r_k(x) = N_k(x) / D_k(p), p the variables that the divisors read.

Walking up, each array is a quotient of two polynomials of the variables, whose coefficients are arrays of intervals:

    node                                 is read as
    x, constant, take, concat            a variable, numbers, elements of what is below
    sum                                  the sums of polynomials; of quotients none
    neg, add, sub, mul, div, recip,      the same of quotients
    sqr, pown
    any other                            nothing: there is no quotient

D must be affine in each p alone. The terms of N that are so in p, and read nothing else, are *kept*; the others are
*free*: sum over j of X_kj mu_j(x), the mu_j products of variables. For every u that is orthogonal to the columns X_j,
and so for every x, y = D u gives

    sum r_k^2 >= sum 2 y_k r_k - y_k^2 = G(p) = sum_k u_k (2 N°_k(p) - u_k D_k(p)^2),   N° what N keeps
as u_k D_k r_k = u_k N_k, and the sum of u_k X_kj mu_j is 0. With the other p fixed N° is affine in p_i, and D^2 the
square of an affine function, times -u_k^2: G is concave in each p_i alone, and its least value on a box is at a vertex,
from any point one variable after the other. The numbers X, N°, D are some in their intervals, the same at every vertex,
and G is enclosed for all of them. Poles and columns that coalesce do no harm.

Guarantee: wherever the residuals are defined, this holds with numbers X_kj in the intervals, and with N°, D likewise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from infimum import core
from infimum.graph import indexmap
from infimum.graph.build import Build
from infimum.graph.constant import of_bounds
from infimum.graph.node import Node, ancestors
from infimum.graph.payload import integer_of, map_of, value_of

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]
Ends = tuple[FloatArray, FloatArray]
Monomial = tuple[tuple[int, int], ...]  # (variable, power), in the order of variables
Polynomial = dict[Monomial, Ends]

MOST_PARAMETERS = 6  # p, as a box of them has 2^6 vertices
_MOST_TERMS = 64
_MOST_NUMBERS = 2**20  # elements times terms
_LARGEST_POWER = 6


class _Unread(Exception):
    """No quotient, or one that is not worth reading."""


@dataclass(frozen=True, eq=False)
class Ratio:
    """Residuals N / D of m elements.

    parameters     the numbers of the variables p (q)
    below, kept    D and N°: for each set of places among p the coefficients of their product
    free           X (m, j) as ends, its columns products of variables that are not p, or more than affine in p
    monomials      of the columns of X
    """

    parameters: IndexArray
    below: dict[tuple[int, ...], Ends]
    kept: dict[tuple[int, ...], Ends]
    free: Ends
    monomials: tuple[Monomial, ...]
    m: int


def ratio(residuals: Node, n: int) -> Ratio | None:
    """Return residuals as a quotient with divisors that depend on x; None where they are none."""
    if not any(_divides(node) for node in ancestors([residuals])):
        return None
    try:
        above, below = _Quotients(n).of(residuals)
    except _Unread:
        return None
    if below is None:
        return None
    m = residuals.size
    parameters = sorted({variable for monomial in below for variable, _ in monomial})
    if not parameters or len(parameters) > MOST_PARAMETERS or not all(map(_is_multi_affine, below)):
        return None
    place = {variable: i for i, variable in enumerate(parameters)}
    kept: dict[tuple[int, ...], Ends] = {}
    free: Polynomial = {}
    for monomial, ends in above.items():
        if _is_multi_affine(monomial) and all(variable in place for variable, _ in monomial):
            kept[tuple(place[variable] for variable, _ in monomial)] = _spread(ends, m)
        else:
            free[monomial] = _spread(ends, m)
    columns = [np.stack([ends[i] for ends in free.values()], 1) if free else np.empty((m, 0)) for i in (0, 1)]
    divisor = {tuple(place[variable] for variable, _ in monomial): _spread(e, m) for monomial, e in below.items()}
    numbers = np.array(parameters, np.int64)
    return Ratio(numbers, divisor, kept, (columns[0], columns[1]), tuple(free), m)


def bound(found: Ratio) -> tuple[Node, int]:
    """Return G as an expression of p (q) and u (m), and the number of inputs."""
    q, m = found.parameters.size, found.m
    b = Build(q + m)
    u = b.take(b.x, indexmap.affine([(m, 1)], q, q + m))
    kept, below = _value(b, found.kept, m), _value(b, found.below, m)
    twice = b.apply("mul", b.number(2), kept)
    each = b.apply("mul", u, b.apply("sub", twice, b.apply("mul", u, b.apply("sqr", below))))
    return b.reduce("sum", b.full(each, m), m), q + m


def _value(b: Build, polynomial: dict[tuple[int, ...], Ends], m: int) -> Node:
    total = b.number(0)
    for places, ends in polynomial.items():
        term = b.constant(of_bounds(*ends))
        for i in places:
            term = b.apply("mul", term, b.take(b.x, indexmap.affine([], i, b.x.size)))
        total = b.apply("add", total, term)
    return b.full(total, m)


def _is_multi_affine(monomial: Monomial) -> bool:
    return all(power == 1 for _, power in monomial)


# ---------------------------------------------------------------------------------------------- quotients
def _divides(node: Node) -> bool:
    return node.op in ("div", "recip") or (node.op == "pown" and integer_of(node) < 0)


Quotient = tuple[Polynomial, Polynomial | None]  # above, below: None for 1


class _Quotients:
    def __init__(self, n: int) -> None:
        self.n = n

    def of(self, output: Node) -> Quotient:
        made: dict[Node, Quotient] = {}
        for node in ancestors([output]):
            made[node] = self._made(node, [made[a] for a in node.args])
        return made[output]

    def _made(self, node: Node, args: list[Quotient]) -> Quotient:
        if node.op == "x":
            return self._inputs(np.arange(self.n)), None
        if node.op == "constant":
            lo, hi = value_of(node).enclosure()
            if not (np.isfinite(lo).all() and np.isfinite(hi).all()):
                raise _Unread
            return {(): (lo, hi)}, None
        if node.op == "take":
            indices = map_of(node).indices()
            if node.args[0].op == "x":
                return self._inputs(indices), None
            return _taken(args[0], indices, node.args[0].size)
        if node.op == "concat":
            return _joined(args, [a.size for a in node.args])
        if node.op == "sum" and args[0][1] is None:
            return {k: _summed(_spread(e, node.args[0].size), integer_of(node)) for k, e in args[0][0].items()}, None
        if node.op == "pown" and abs(integer_of(node)) <= _LARGEST_POWER:
            return _power(args[0], integer_of(node))
        rule = _RULES.get(node.op)
        if rule is None:
            raise _Unread
        return rule(*args)

    def _inputs(self, indices: IndexArray) -> Polynomial:
        found: Polynomial = {}
        for variable in np.unique(indices[indices >= 0]).tolist():
            own = (indices == variable).astype(float)
            found[((variable, 1),)] = (own, own)
        return found


def _spread(ends: Ends, size: int) -> Ends:
    return ends if ends[0].size == size else (np.full(size, ends[0][0]), np.full(size, ends[1][0]))


def _both(op: str, a: Ends, b: Ends) -> Ends:
    size = max(a[0].size, b[0].size)
    a, b = _spread(a, size), _spread(b, size)
    found: Ends = core.apply(op, a, b)
    return found


def _checked(polynomial: Polynomial) -> Polynomial:
    """Return a polynomial without terms that are 0; refuse one that is too long, or has no numbers."""
    found = {k: (lo, hi) for k, (lo, hi) in polynomial.items() if lo.any() or hi.any()}
    if len(found) > _MOST_TERMS or sum(lo.size for lo, _ in found.values()) > _MOST_NUMBERS:
        raise _Unread
    if not all(np.isfinite(lo).all() and np.isfinite(hi).all() for lo, hi in found.values()):
        raise _Unread
    return found


def _times(a: Polynomial, b: Polynomial) -> Polynomial:
    found: Polynomial = {}
    for left, one in a.items():
        for right, other in b.items():
            powers = dict(left)
            for variable, power in right:
                powers[variable] = powers.get(variable, 0) + power
            monomial = tuple(sorted(powers.items()))
            product = _both("mul", one, other)
            found[monomial] = _both("add", found[monomial], product) if monomial in found else product
    return _checked(found)


def _negated(a: Polynomial) -> Polynomial:
    return {k: (-hi, -lo) for k, (lo, hi) in a.items()}


def _plus(a: Polynomial, b: Polynomial) -> Polynomial:
    found = dict(a)
    for monomial, ends in b.items():
        found[monomial] = _both("add", found[monomial], ends) if monomial in found else ends
    return _checked(found)


def _product(a: Polynomial | None, b: Polynomial | None) -> Polynomial | None:
    if a is None or b is None:
        return b if a is None else a
    return _times(a, b)


def _added(a: Quotient, b: Quotient) -> Quotient:
    # | divisors       | sum                                |
    # | none, or equal | of what is above                   |
    # | other          | each above times the other's below |
    if _are_same(a[1], b[1]):
        return _plus(a[0], b[0]), a[1]
    left = a[0] if b[1] is None else _times(a[0], b[1])
    right = b[0] if a[1] is None else _times(b[0], a[1])
    return _plus(left, right), _product(a[1], b[1])


def _are_same(a: Polynomial | None, b: Polynomial | None) -> bool:
    if a is None or b is None:
        return a is b
    return a is b or (
        a.keys() == b.keys()
        and all(np.array_equal(x, y) for k in a for x, y in zip(a[k], b[k], strict=True))
        and all(np.array_equal(*ends) for ends in a.values())
    )


def _inverted(a: Quotient) -> Quotient:
    below, above = a
    if not below:
        raise _Unread
    above = above if above is not None else {(): (np.ones(1), np.ones(1))}
    if set(below) == {()}:  # numbers: the quotients of the coefficients
        ends = below[()]
        if ((ends[0] <= 0) & (ends[1] >= 0)).any():
            raise _Unread
        return _checked({k: _both("div", e, ends) for k, e in above.items()}), None
    return above, below


def _multiplied(a: Quotient, b: Quotient) -> Quotient:
    return _times(a[0], b[0]), _product(a[1], b[1])


def _power(a: Quotient, power: int) -> Quotient:
    if power < 0:
        return _power(_inverted(a), -power)
    found: Quotient = ({(): (np.ones(1), np.ones(1))}, None)
    for _ in range(power):
        found = _multiplied(found, a)
    return found


def _taken(a: Quotient, indices: IndexArray, source: int) -> Quotient:
    there = indices >= 0

    def read(polynomial: Polynomial, missing: float) -> Polynomial:
        found = {}
        for k, ends in polynomial.items():
            lo, hi = _spread(ends, source)
            nothing = missing if k == () else 0.0
            found[k] = (np.where(there, lo[indices], nothing), np.where(there, hi[indices], nothing))
        if missing and not there.all() and () not in polynomial:
            found[()] = (np.where(there, 0.0, missing),) * 2
        return _checked(found)

    return read(a[0], 0.0), None if a[1] is None else read(a[1], 1.0)


def _joined(pieces: list[Quotient], sizes: list[int]) -> Quotient:
    one: Polynomial = {(): (np.ones(1), np.ones(1))}

    def whole(parts: list[Polynomial]) -> Polynomial:
        found = {}
        for k in dict.fromkeys(key for part in parts for key in part):
            zero = (np.zeros(1), np.zeros(1))
            ends = [_spread(part.get(k, zero), size) for part, size in zip(parts, sizes, strict=True)]
            found[k] = (np.concatenate([lo for lo, _ in ends]), np.concatenate([hi for _, hi in ends]))
        return _checked(found)

    above = whole([a for a, _ in pieces])
    if all(below is None for _, below in pieces):
        return above, None
    return above, whole([one if below is None else below for _, below in pieces])


def _summed(ends: Ends, width: int) -> Ends:
    lo, hi = (end.reshape(-1, width) for end in ends)
    total = lo[:, 0].copy(), hi[:, 0].copy()
    for i in range(1, width):
        total = core.apply("add", total, (lo[:, i].copy(), hi[:, i].copy()))
    return total


_RULES: dict[str, Callable[..., Quotient]] = {
    "neg": lambda a: (_negated(a[0]), a[1]),
    "add": _added,
    "sub": lambda a, b: _added(a, (_negated(b[0]), b[1])),
    "mul": _multiplied,
    "div": lambda a, b: _multiplied(a, _inverted(b)),
    "recip": _inverted,
    "sqr": lambda a: _power(a, 2),
}
