"""Functions of one number that are polynomials between a few places, as Huber's loss: where they bend and rise.

    node                          is read as
    u                             t
    c - u, c + u, c' +- u         t and a number, where c' - c is one: the same for all elements
    a rational number             itself
    sum, difference, product,     the same of its operands
    whole power, multiple
    p < q and the like            1 or 0, on either side of the places where they are equal, and there
    where, |p|, min, max, sign    one operand or another, as comparisons say

All is done in fractions; a place that is no rational number is not read. What jumps on the way is read, too: pieces and
the values between them are known exactly. Something is said in the end of what is continuous alone.

Guarantee: a Curve is right for every interval of u that lies in one of its spans (ops/curves.py). What is read is
defined wherever u is.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from infimum.exact.form import as_rational
from infimum.graph.constant import Constant
from infimum.graph.node import Node
from infimum.graph.payload import exact_scalar, integer_of, value_of
from infimum.ops.curves import Curve, Span, Spans

Polynomial = tuple[Fraction, ...]  # coefficients, from that of t^0 on; the last one is not 0

_MOST_STEPS = 60  # nodes of one function
_MOST_DEGREE = 6
_MOST_PLACES = 12
_MOST_NUMBERS = 10_000
_ZERO, _ONE = Fraction(0), Fraction(1)
# Whether a comparison of p and q holds where p - q is below 0, 0, above 0.
_COMPARISONS = {
    "is_less": (True, False, False),
    "is_less_equal": (True, True, False),
    "is_equal": (False, True, False),
    "is_not_equal": (True, False, True),
}
KINKS = frozenset({"abs", "min", "max", "where", "sign", *_COMPARISONS})
READ = KINKS | {"add", "sub", "neg", "mul", "div", "sqr", "pown"}


class Pieces(NamedTuple):
    """Polynomials from -inf over the places to inf, and the values at the places."""

    places: tuple[Fraction, ...]
    values: tuple[Fraction, ...]
    of: tuple[Polynomial, ...]


_NOTHING = Pieces((), (), ((),))


class _Unread(Exception):
    """A node that is no such function."""


class Bent(NamedTuple):
    """Two lines a + b u, as (a, b); the one of them that is larger everywhere, sign 1, or smaller, -1."""

    u: Node
    lines: tuple[tuple[Fraction, Fraction], ...]
    sign: int


def curve_of(node: Node, varies: Callable[[Node], bool]) -> tuple[Curve, Node] | None:
    """Return the curve of a node with kinks as a function of one number, and that number; None where it is none."""
    read = _read(node, varies)
    return None if read is None else (_curve(read[0]), read[1])


def bent(node: Node, varies: Callable[[Node], bool]) -> Bent | None:
    """Return the two lines of a number times conditions, as u (t - (u < 0)); None where it is nothing of the kind."""
    if node.op != "mul" or not any(a.op in _COMPARISONS or _is_made_of_one(a) for a in node.args):
        return None
    read = _read(node, varies)
    if read is None or len(read[0].places) != 1 or any(len(piece) > 2 for piece in read[0].of):
        return None
    left, right = (_padded(piece, 2) for piece in read[0].of)
    return Bent(read[1], ((left[0], left[1]), (right[0], right[1])), 1 if left[1] < right[1] else -1)


def _is_made_of_one(node: Node) -> bool:
    return any(a.op in _COMPARISONS for a in node.args)


def _read(node: Node, varies: Callable[[Node], bool]) -> tuple[Pieces, Node] | None:
    """Return a node with kinks as a continuous function of one number, and that number; None where it is none."""
    u = _only_number(node, varies)
    if u is None:
        return None
    try:
        found = _Reading(u).of(node)
    except _Unread:
        return None
    return (found, u) if _is_continuous(found) else None


def _only_number(output: Node, varies: Callable[[Node], bool]) -> Node | None:
    """Return a node that a node with kinks is read from; None where there are several, or no kinks."""
    seen: set[Node] = set()
    found: Node | None = None
    waiting = [output]
    has_kinks = False
    while waiting:
        node = waiting.pop()
        if node in seen or not varies(node):
            continue
        seen.add(node)
        if node.op in READ and _numbers_are_single(node, varies):
            has_kinks = has_kinks or node.op in KINKS
            waiting += node.args
        elif found is None:
            found = node
        elif _moved(node).of is not _moved(found).of:
            return None
        if len(seen) > _MOST_STEPS:
            return None
    return found if has_kinks else None


def _numbers_are_single(node: Node, varies: Callable[[Node], bool]) -> bool:
    return all(varies(a) or (a.op == "constant" and a.size == 1) for a in node.args)


class _Moved(NamedTuple):
    """sign * of + by, with a number for each element."""

    of: Node
    sign: int
    by: Node | None


def _moved(node: Node) -> _Moved:
    """Return what a node is apart from numbers that are added to its elements."""
    if node.op in ("add", "sub"):
        left, right = node.args
        if left.op == "constant":
            return _Moved(right, 1 if node.op == "add" else -1, left)
        if right.op == "constant":
            return _Moved(left, 1, right)
    return _Moved(node, 1, None)


def _numbers(moved: _Moved, node: Node) -> list[Fraction]:
    """Return what is added to each element."""
    if moved.by is None:
        return [_ZERO]
    value = value_of(moved.by)
    if not value.is_exact or value.size > _MOST_NUMBERS or (value.doubles is not None and not _are_finite(value)):
        raise _Unread
    found = [as_rational(number.form) for number in value.exact_elements()]
    numbers = [number for number in found if number is not None]
    if len(numbers) < len(found):
        raise _Unread
    return [-number for number in numbers] if node.op == "sub" and node.args[1] is moved.by else numbers


def _are_finite(value: Constant) -> bool:
    return value.doubles is not None and bool(np.isfinite(value.doubles).all())


class _Reading:
    """Nodes as pieces of polynomials of one of them."""

    def __init__(self, u: Node) -> None:
        self._u = u
        self._known: dict[Node, Pieces] = {u: _polynomial((_ZERO, _ONE))}

    def of(self, node: Node) -> Pieces:
        """Return what a node is of the number."""
        if node not in self._known:
            self._known[node] = self._made(node)
        return self._known[node]

    def _made(self, node: Node) -> Pieces:
        if node.op == "constant":
            return _constant(node)
        if _moved(node).of is _moved(self._u).of:
            return self._beside(node)
        if node.op not in READ:
            raise _Unread
        found = [self.of(a) for a in node.args]
        if node.op in _COMPARISONS:
            return _compared(node.op, *found)
        match node.op:
            case "add":
                return _each(_sum, *found)
            case "sub":
                return _each(_difference, *found)
            case "neg":
                return _each(_negative, *found)
            case "mul":
                return _each(_product, *found)
            case "div":
                return _each(_product, found[0], _inverse(found[1]))
            case "sqr":
                return _each(_product, found[0], found[0])
            case "pown":
                return _power(found[0], integer_of(node))
            case "where":
                return _each(_chosen, *found)
            case "max" | "min":
                x, y = found
                return _each(_chosen, _compared("is_less", x, y), *((y, x) if node.op == "max" else (x, y)))
        rises, falls = (_compared("is_less", *pair) for pair in ((_NOTHING, found[0]), (found[0], _NOTHING)))
        sign = _each(_difference, rises, falls)
        return sign if node.op == "sign" else _each(_product, sign, found[0])

    def _beside(self, node: Node) -> Pieces:
        """Return what is made of the same node as u, with other numbers."""
        its, own = _moved(node), _moved(self._u)
        sign = its.sign * own.sign
        here, there = _numbers(its, node), _numbers(own, self._u)
        count = max(len(here), len(there))
        if not {len(here), len(there)} <= {1, count}:
            raise _Unread
        rest = {a - sign * b for a, b in zip(_repeated(here, count), _repeated(there, count), strict=True)}
        if len(rest) > 1:
            raise _Unread
        return _polynomial((rest.pop(), Fraction(sign)))


# ------------------------------------------------------------------------------------------ pieces


def _polynomial(coefficients: Polynomial) -> Pieces:
    return Pieces((), (), (_trimmed(list(coefficients)),))


def _constant(node: Node) -> Pieces:
    number = exact_scalar(node)
    found = None if number is None else as_rational(number.form)
    if found is None:
        raise _Unread
    return _polynomial((found,))


def _repeated(numbers: list[Fraction], count: int) -> list[Fraction]:
    return numbers * count if len(numbers) < count else numbers


def _inverse(pieces: Pieces) -> Pieces:
    if pieces.places or len(pieces.of[0]) != 1:
        raise _Unread
    return _polynomial((1 / pieces.of[0][0],))


def _power(base: Pieces, k: int) -> Pieces:
    if not 1 <= k <= _MOST_DEGREE:
        raise _Unread
    found = base
    for _ in range(k - 1):
        found = _each(_product, found, base)
    return found


def _each(operation: Callable[..., Polynomial], *operands: Pieces) -> Pieces:
    """Return the result of an operation on polynomials, piece by piece and place by place."""
    places = sorted({place for pieces in operands for place in pieces.places})
    values = [_value(operation(*(_there(pieces, t) for pieces in operands)), _ZERO) for t in places]
    return _joined(places, values, [operation(*(_at(pieces, t) for pieces in operands)) for t in _inside(places)])


def _compared(op: str, p: Pieces, q: Pieces) -> Pieces:
    """Return 1 where a comparison holds, else 0."""
    d = _each(_difference, p, q)
    roots = {root for piece, ends in zip(d.of, _ends(d), strict=True) for root in _roots(piece) if _is_in(root, ends)}
    cuts = sorted(roots.union(d.places))
    holds = _COMPARISONS[op]
    values = [Fraction(holds[1 + _sign(_there(d, t), t)]) for t in cuts]
    return _joined(cuts, values, [_trimmed([Fraction(holds[1 + _sign(_at(d, t), t)])]) for t in _inside(cuts)])


def _chosen(condition: Polynomial, x: Polynomial, y: Polynomial) -> Polynomial:
    if len(condition) > 1:
        raise _Unread
    return x if condition else y


def _is_continuous(pieces: Pieces) -> bool:
    sides = pairwise(pieces.of)
    return all(
        _value(left, t) == value == _value(right, t)
        for t, value, (left, right) in zip(pieces.places, pieces.values, sides, strict=True)
    )


def _joined(places: list[Fraction], values: list[Fraction], polynomials: list[Polynomial]) -> Pieces:
    """Return pieces, those that go on as they were as one."""
    kept: list[int] = []
    of = [polynomials[0]]
    for i, after in enumerate(polynomials[1:]):
        if after != of[-1] or values[i] != _value(after, places[i]):
            kept.append(i)
            of.append(after)
    if len(kept) > _MOST_PLACES or any(len(piece) > _MOST_DEGREE + 1 for piece in of):
        raise _Unread
    return Pieces(tuple(places[i] for i in kept), tuple(values[i] for i in kept), tuple(of))


def _ends(pieces: Pieces) -> list[tuple[Fraction | None, Fraction | None]]:
    return list(pairwise((None, *pieces.places, None)))


def _is_in(t: Fraction, ends: tuple[Fraction | None, Fraction | None]) -> bool:
    return (ends[0] is None or ends[0] <= t) and (ends[1] is None or t <= ends[1])


def _inside(places: Sequence[Fraction]) -> list[Fraction]:
    """Return a number within each piece."""
    if not places:
        return [_ZERO]
    return [places[0] - 1, *((a + b) / 2 for a, b in pairwise(places)), places[-1] + 1]


def _at(pieces: Pieces, t: Fraction) -> Polynomial:
    """Return the polynomial at a number between places."""
    return pieces.of[sum(place < t for place in pieces.places)]


def _there(pieces: Pieces, t: Fraction) -> Polynomial:
    """Return the value at a number, as a polynomial."""
    if t in pieces.places:
        return _trimmed([pieces.values[pieces.places.index(t)]])
    return _trimmed([_value(_at(pieces, t), t)])


# ------------------------------------------------------------------------------------------ polynomials


def _trimmed(coefficients: list[Fraction]) -> Polynomial:
    while coefficients and coefficients[-1] == 0:
        coefficients.pop()
    return tuple(coefficients)


def _value(p: Polynomial, t: Fraction) -> Fraction:
    found = _ZERO
    for coefficient in reversed(p):
        found = found * t + coefficient
    return found


def _sum(p: Polynomial, q: Polynomial) -> Polynomial:
    size = max(len(p), len(q))
    return _trimmed([a + b for a, b in zip(_padded(p, size), _padded(q, size), strict=True)])


def _padded(p: Polynomial, size: int) -> list[Fraction]:
    return [*p, *([_ZERO] * (size - len(p)))]


def _difference(p: Polynomial, q: Polynomial) -> Polynomial:
    return _sum(p, _negative(q))


def _negative(p: Polynomial) -> Polynomial:
    return tuple(-a for a in p)


def _product(p: Polynomial, q: Polynomial) -> Polynomial:
    found = [_ZERO] * max(0, len(p) + len(q) - 1)
    for i, a in enumerate(p):
        for j, b in enumerate(q):
            found[i + j] += a * b
    return _trimmed(found)


def _slope(p: Polynomial) -> Polynomial:
    return _trimmed([k * a for k, a in enumerate(p)][1:])


def _roots(p: Polynomial) -> list[Fraction]:
    """Return where a polynomial that is not 0 changes its sign or touches 0: all such places, or unread."""
    match len(p):
        case 0 | 1:
            return []
        case 2:
            return [-p[0] / p[1]]
        case 3:
            under = p[1] * p[1] - 4 * p[0] * p[2]
            if under < 0:
                return []
            root = _square_root(under)
            return sorted({(-p[1] - root) / (2 * p[2]), (-p[1] + root) / (2 * p[2])})
    if p[0] == 0:
        return sorted({_ZERO, *_roots(p[1:])})
    raise _Unread


def _square_root(q: Fraction) -> Fraction:
    found = Fraction(math.isqrt(q.numerator), math.isqrt(q.denominator))
    if found * found != q:
        raise _Unread
    return found


# ------------------------------------------------------------------------------------------ the curve


def _curve(pieces: Pieces) -> Curve:
    """Return on which intervals the pieces bend one way, and rise or fall."""
    places = set(pieces.places)
    for piece in pieces.of:
        for derivative in (_slope(piece), _slope(_slope(piece))):
            try:
                places.update(_roots(derivative))
            except _Unread:
                return Curve()
    cuts = sorted(places)
    parts = [_at(pieces, t) for t in _inside(cuts)]
    slopes = [_slope(part) for part in parts]
    bends = [_sign(_slope(slope), t) for slope, t in zip(slopes, _inside(cuts), strict=True)]
    goes = [_sign(slope, t) for slope, t in zip(slopes, _inside(cuts), strict=True)]
    turns = [_value(right, t) - _value(left, t) for (left, right), t in zip(pairwise(slopes), cuts, strict=True)]
    return Curve(
        convex=_runs(cuts, [sign >= 0 for sign in bends], [turn >= 0 for turn in turns]),
        concave=_runs(cuts, [sign <= 0 for sign in bends], [turn <= 0 for turn in turns]),
        rises=_runs(cuts, [sign >= 0 for sign in goes], [True] * len(cuts)),
        falls=_runs(cuts, [sign <= 0 for sign in goes], [True] * len(cuts)),
    )


def _sign(p: Polynomial, t: Fraction) -> int:
    value = _value(p, t)
    return (value > 0) - (value < 0)


def _runs(cuts: list[Fraction], holds: list[bool], goes_on: list[bool]) -> Spans:
    """Return the spans over which something holds on every part and goes on from each to the next."""
    found: list[Span] = []
    start = -math.inf if holds[0] else None
    for i, place in enumerate(cuts):
        if start is not None and not (holds[i + 1] and goes_on[i]):
            found.append(Span(start, _rounded(place, -1)))
            start = None
        if start is None and holds[i + 1]:
            start = _rounded(place, 1)
    if start is not None:
        found.append(Span(start, math.inf))
    return tuple(span for span in found if span.lo <= span.hi and span.lo < math.inf and span.hi > -math.inf)


def _rounded(place: Fraction, direction: int) -> float:
    """Return the next number that is not below the place, or not above it; an infinity where no double is."""
    try:
        found = float(place)
    except OverflowError:
        found = sys.float_info.max if place > 0 else -sys.float_info.max
    if (Fraction(found) - place) * direction < 0:
        found = math.nextafter(found, direction * math.inf)
    return found
