"""Expressions along a path, as they go to a limit: powers of s and of log(1/s) with intervals as factors.

    value(s)  =  c + s^k L^j h,   L = log(1/s),   h in [lo, hi],   for every s in (0, e],  e = 2^-200

c is an exact number (0 unless s^k L^j tends to 0), k a fraction, j an integer. An operation on such values gives one
again, valid for the same s; where an operation is not certainly defined for all of them, there is none (Undefined).

    operation                        result
    add, sub, neg                    the larger of both powers, the other one's share of it within [0, largest ratio]
    mul, div, recip, sqr, pown,      powers and intervals each on their own
    abs, sqrt, pow to a number
    log                              -k L + j log(L) + log(h)
    exp of what grows beyond bounds  at least its exponent
    sin, tan, expm1, log1p, …        of what tends to 0: times sin(u)/u, … (the factors of their records)
    comparisons                      by the sign of the difference
    take, concat, reductions         element by element
    any other                        the core's operation on the range of all s, where it is defined

Guarantee: at every s in (0, e] where the path's own values are as given, every value is as computed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from infimum import core
from infimum.graph.node import Node, ancestors
from infimum.ops import OPERATIONS
from infimum.passes.unbounded.elements import elements

BITS = 200  # e = 2^-BITS
_LEAST_LOG, _MOST_LOG = 138, 139  # around log(1/e) = 138.62…
_MOST_ELEMENTS = 4000

Ends = tuple[float, float]


class Undefined(Exception):
    """Nothing is known of a value for every s."""


class Germ(NamedTuple):
    """c + s^k L^j h; see above."""

    k: Fraction
    j: int
    lo: float
    hi: float
    c: Fraction = Fraction(0)

    @property
    def falls(self) -> bool:
        """Return whether the value certainly goes to -inf."""
        return (self.k < 0 or (self.k == 0 and self.j > 0)) and self.hi < 0


def number(value: float | Fraction) -> Germ:
    """Return a constant that is known exactly."""
    return Germ(Fraction(1), 0, 0.0, 0.0, Fraction(value))


def within(lo: float, hi: float) -> Germ:
    """Return some number between two."""
    return Germ(Fraction(0), 0, lo, hi)


def along(output: Node, start: Mapping[Node, Sequence[Germ | None]], element: int = 0) -> Germ:
    """Return the value of an output's element where elements of some nodes are as given; what is not given is computed.

    A node for which all elements are given is a leaf; None stands for an element to be computed.
    """
    values: dict[Node, list[Germ]] = {}
    nodes = _needed(output, start)
    if sum(node.size for node in nodes) > _MOST_ELEMENTS:
        raise Undefined
    for node in nodes:
        given = start.get(node)
        if given is not None and None not in given:
            found = [g for g in given if g is not None]
        else:
            found = _elements(node, [values[a] for a in node.args])
            if given is not None:
                found = [own if g is None else g for own, g in zip(found, given, strict=True)]
        values[node] = found
    return values[output][element]


def _needed(output: Node, start: Mapping[Node, Sequence[Germ | None]]) -> list[Node]:
    leaves = {node for node, given in start.items() if None not in given}
    found: set[Node] = set()
    pending = [output]
    while pending:
        node = pending.pop()
        if node not in found:
            found.add(node)
            pending.extend(() if node in leaves else node.args)
    return [node for node in ancestors([output]) if node in found]


# ---------------------------------------------------------------------------------------------- whole nodes
def _elements(node: Node, args: list[list[Germ]]) -> list[Germ]:
    if node.op in ("x", "others", "recurrence"):
        raise Undefined
    return elements(node, args, number(0), _constant, _apply)


def _constant(lo: float, hi: float) -> Germ:
    if not (math.isfinite(lo) and math.isfinite(hi)):
        raise Undefined
    return number(lo) if lo == hi else within(lo, hi)


def _apply(op: str, row: tuple[Germ, ...], data: object) -> Germ:
    if op == "pown":
        assert isinstance(data, int)
        return _pown(row[0], data)
    if op in OPERATIONS and OPERATIONS[op].factors:
        g = _plain(row[0])
        if g.k > 0:
            return _factored(op, g)
    if op in _RULES:
        return _RULES[op](*row)
    if op == "where":
        condition = _range(row[0])
        if condition not in ((0.0, 0.0), (1.0, 1.0)):
            raise Undefined
        return row[1] if condition == (1.0, 1.0) else row[2]
    return within(*_core(op, *map(_range, row)))


def _factored(op: str, g: Germ) -> Germ:
    """Return the operation of what tends to 0: the operand times the factors of the operation's record."""
    operand = _range(g)
    result = _core(op, operand)
    for factor in OPERATIONS[op].factors:
        part = within(*_core(factor.op, operand if factor.of == "operand" else result))
        g = _mul(g, part) if factor.power > 0 else _div(g, part)
    return g


# ---------------------------------------------------------------------------------------------- intervals
def _core(op: str, *operands: Ends, param: int = 0) -> Ends:
    """Return the core's operation, defined on all of its operands."""
    pairs = [(np.array([lo]), np.array([hi])) for lo, hi in operands]
    lo, hi = core.apply(op, *pairs, param=param)
    defined, _ = core.facts(op, *pairs, param=param)
    if not bool(defined[0]) or not lo[0] <= hi[0]:
        raise Undefined
    return float(lo[0]), float(hi[0])


def _ratio(k: Fraction, j: int) -> Ends:
    """Return the range of s^k L^j over (0, e]: [0, T] where it tends to 0, [F, inf] where it grows, 1 for k = j = 0."""
    # s^k L^j rises with s where k L > j, which holds for all s up to e if k * 138 >= j, and for k = 0 > j.
    if k == 0 and j == 0:
        return 1.0, 1.0
    if k < 0 or (k == 0 and j > 0):
        _, most = _ratio(-k, -j)
        return _core("div", (1.0, 1.0), (most, most))[0], math.inf
    if k * _LEAST_LOG < j:
        raise Undefined
    power = max(math.ceil(-BITS * k), -900)
    logs = _MOST_LOG**j if j > 0 else _LEAST_LOG**-j
    if logs > 2**50:
        raise Undefined
    most = float(logs) if j >= 0 else _core("recip", (float(logs), float(logs)))[1]
    return 0.0, math.ldexp(most, power)


def _range(g: Germ) -> Ends:
    """Return ends around all values."""
    ends = _core("mul", (g.lo, g.hi), _ratio(g.k, g.j))
    return _core("add", ends, _around(g.c)) if g.c else ends


def _around(c: Fraction) -> Ends:
    try:
        near = float(c)
    except OverflowError:
        huge = math.nextafter(math.inf, 0.0)
        return (huge, math.inf) if c > 0 else (-math.inf, -huge)
    return (near, near) if Fraction(near) == c else (math.nextafter(near, -math.inf), math.nextafter(near, math.inf))


def _plain(g: Germ) -> Germ:
    """Return the same without a constant beside the power."""
    return g if not g.c else within(*_range(g))


def _is_exact(g: Germ) -> bool:
    return g.lo == g.hi == 0.0


# ---------------------------------------------------------------------------------------------- arithmetic
def _neg(g: Germ) -> Germ:
    return Germ(g.k, g.j, -g.hi, -g.lo, -g.c)


def _add(a: Germ, b: Germ) -> Germ:
    c = a.c + b.c
    if _is_exact(a) or _is_exact(b):
        rest = b if _is_exact(a) else a
        grows = rest.k < 0 or (rest.k == 0 and rest.j >= 0)
        if not grows or not c:
            return Germ(rest.k, rest.j, rest.lo, rest.hi, c)
        a, b = Germ(rest.k, rest.j, rest.lo, rest.hi), within(*_around(c))
        c = Fraction(0)
    if (b.k, -b.j) < (a.k, -a.j):
        a, b = b, a
    share = _core("mul", (b.lo, b.hi), _ratio(b.k - a.k, b.j - a.j))
    total = Germ(a.k, a.j, *_core("add", (a.lo, a.hi), share), c)
    return total if a.k > 0 or not c else _add(Germ(a.k, a.j, total.lo, total.hi), number(c))


def _sub(a: Germ, b: Germ) -> Germ:
    return _add(a, _neg(b))


def _scaled(g: Germ, factor: Fraction) -> Germ:
    return Germ(g.k, g.j, *_core("mul", (g.lo, g.hi), _around(factor)), g.c * factor)


def _mul(a: Germ, b: Germ) -> Germ:
    for this, other in ((a, b), (b, a)):
        if _is_exact(this):
            return _scaled(other, this.c) if this.c else number(0)
    a, b = _plain(a), _plain(b)
    return Germ(a.k + b.k, a.j + b.j, *_core("mul", (a.lo, a.hi), (b.lo, b.hi)))


def _recip(g: Germ) -> Germ:
    g = _plain(g)
    return Germ(-g.k, -g.j, *_core("recip", (g.lo, g.hi)))


def _div(a: Germ, b: Germ) -> Germ:
    return _mul(a, _recip(b))


def _pown(g: Germ, n: int) -> Germ:
    g = _plain(g)
    return Germ(g.k * n, g.j * n, *_core("pown", (g.lo, g.hi), param=n))


def _sqrt(g: Germ) -> Germ:
    g = _plain(g)
    if g.j % 2:
        raise Undefined
    return Germ(g.k / 2, g.j // 2, *_core("sqrt", (g.lo, g.hi)))


def _abs(g: Germ) -> Germ:
    g = _plain(g)
    return Germ(g.k, g.j, *_core("abs", (g.lo, g.hi)))


def _log(g: Germ) -> Germ:
    g = _plain(g)
    inner = within(*_core("log", (g.lo, g.hi)))  # h > 0, or it is not defined
    total = _add(Germ(Fraction(0), 1, 0.0, 0.0), inner)
    if g.j:  # log(L)/L falls from log(138)/138 < 0.0358 to 0
        total = _add(total, Germ(Fraction(0), 1, *_core("mul", (0.0, 0.0358), (float(g.j), float(g.j)))))
    return _add(total, Germ(Fraction(0), 1, *_core("neg", _around(g.k)))) if g.k else total


def _exp(g: Germ) -> Germ:
    g = _plain(g)
    if (g.k < 0 or (g.k == 0 and g.j > 0)) and g.lo > 0:
        return Germ(g.k, g.j, g.lo, math.inf)
    return within(*_core("exp", _range(g)))


def _pow(a: Germ, b: Germ) -> Germ:
    base = _plain(a)
    if _is_exact(b) and base.j == 0:
        return Germ(base.k * b.c, 0, *_core("pow", (base.lo, base.hi), _around(b.c)))
    return _exp(_mul(b, _log(base)))


def _signed(g: Germ) -> int:
    """Return the certain sign of a value: -1, 0, 1."""
    if _is_exact(g):
        return (g.c > 0) - (g.c < 0)
    g = _plain(g)
    if g.lo > 0 or g.hi < 0:
        return 1 if g.lo > 0 else -1
    raise Undefined


def _less(a: Germ, b: Germ) -> Germ:
    return number(int(_signed(_sub(a, b)) < 0))


def _less_equal(a: Germ, b: Germ) -> Germ:
    return number(int(_signed(_sub(a, b)) <= 0))


def _equal(a: Germ, b: Germ) -> Germ:
    return number(int(_signed(_sub(a, b)) == 0))


def _min(a: Germ, b: Germ) -> Germ:
    return a if _signed(_sub(a, b)) <= 0 else b


def _max(a: Germ, b: Germ) -> Germ:
    return b if _signed(_sub(a, b)) <= 0 else a


_RULES: dict[str, Callable[..., Germ]] = {
    "neg": _neg, "recip": _recip, "sqr": lambda g: _pown(g, 2), "sqrt": _sqrt, "abs": _abs, "log": _log, "exp": _exp,
    "log2": lambda g: _div(_log(g), within(*_core("log", (2.0, 2.0)))),
    "log10": lambda g: _div(_log(g), within(*_core("log", (10.0, 10.0)))),
    "log1p": lambda g: _log(_add(number(1), _plain(g))), "sign": lambda g: number(_signed(g)),
    "add": _add, "sub": _sub, "mul": _mul, "div": _div, "pow": _pow, "min": _min, "max": _max, "is_less": _less,
    "is_less_equal": _less_equal, "is_equal": _equal,
}  # fmt: skip
