"""Powers as NumPy has them.

    exponent                        base > 0    base = 0                        base < 0
    0                               1           1                               1         also of NaN and infinities
    an integer                      an integer power; 1/0 for negative ones
    one half                        sqrt        0                               NaN
    any other constant c            pow         0 for c > 0, else infinite      NaN
    traced                          pow         1 at 0, 0 above, else infinite  an integer power where it is an integer
Integers from 2**31 on are even or odd, and no more.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from infimum.exact.array import ExactArray
from infimum.exact.number import Exact
from infimum.graph.indexmap import of_indices
from infimum.graph.node import Node
from infimum.graph.payload import value_of
from infimum.ops import names_with
from infimum.tracing.nonfinite.finiteness import FINITE
from infimum.tracing.refusal import refusal
from infimum.tracing.tracer import Tracer
from infimum.tracing.values import is_symbolic, plain

_LARGEST = 2**31
_STEPS = names_with(lambda row: row.values != "reals")
_KEEPS_WHOLE = names_with(lambda row: row.whole) | {"take", "concat", "sum", "prod", "min_of", "max_of"}


def power(t: Tracer, base: Any, exponent: Any) -> Any:
    """Return base**exponent."""
    if is_symbolic(exponent):
        return t.lifted(lambda a, b: _traced_power(t, a, b), base, exponent)
    known = plain(exponent)
    if isinstance(known, Exact | Fraction):
        fraction = known.as_fraction() if isinstance(known, Exact) else known
        if fraction is None or fraction.denominator not in (1, 2):
            return t.lifted(lambda a, b: _traced_power(t, a, b), base, known)
        known = int(fraction) if fraction.denominator == 1 else float(fraction)
    if isinstance(known, list | tuple):
        known = np.asarray(known)
    if isinstance(known, ExactArray):
        return t.lifted(lambda a, b: _traced_power(t, a, b), base, known)
    if np.iscomplexobj(known):
        raise refusal(f"The exponent {known!r} is no real number.", "Use real numbers throughout.")
    if not isinstance(known, int | float | np.ndarray | np.generic):
        return t.lifted(lambda a, b: _traced_power(t, a, b), base, known)
    if np.ndim(known) == 0:
        return t.lifted(lambda a: _power(t, a, known), base)
    exponents = np.asarray(known)
    shape = np.broadcast_shapes(np.shape(base), exponents.shape)
    if not exponents.size:
        return t.fresh(np.zeros(shape))
    node, own, _ = t.operand(base)
    wide = t.sized(t.broadcast(node, own, shape), math.prod(shape))
    if np.all(exponents == exponents.flat[0]):
        return t.array(t.sized(_power(t, wide, exponents.flat[0]), wide.size), shape)
    return t.array(_grouped(t, wide, np.broadcast_to(exponents, shape).ravel()), shape)


def _power(t: Tracer, base: Node, exponent: Any) -> Node:
    """Return the power with one constant exponent."""
    if isinstance(exponent, np.generic):
        exponent = exponent.item()
    if exponent == 0.5:
        t.nonfinite.refuse(t.nonfinite.of(base).minus, "A power")  # inf by one of NumPy's ways, NaN by another
        return t.nonfinite.zeros.forget(t.operation("sqrt", (base,)))  # (-0.0)**0.5 is +0.0, its sqrt -0.0
    if not math.isfinite(exponent) or exponent != math.floor(exponent):
        return _traced_power(t, base, t.number(float(exponent)))
    whole = int(exponent)
    if abs(whole) < _LARGEST:
        return t.operation("pown", (base,), whole)
    size = t.operation("pow", (t.operation("abs", (base,)), t.number(whole)))
    if whole % 2 == 0:
        return size
    return t.operation("where", (t.operation("is_less", (base, t.number(0.0))), t.operation("neg", (size,)), size))


def _grouped(t: Tracer, base: Node, exponents: Any) -> Node:
    """Return different powers element by element: one node for each integer, one for all others, put back in order."""
    whole = np.isfinite(exponents) & (exponents == np.floor(exponents))
    kinds = [exponents == value for value in np.unique(exponents[whole])]
    kinds += [~whole] if not whole.all() else []
    pieces, places = [], []
    for members in kinds:
        (at,) = np.nonzero(members)
        part = _taken(t, base, at)
        if whole[at[0]]:
            made = _power(t, part, exponents[at[0]])
        else:
            made = _traced_power(t, part, t.constant_node(exponents[at]))
        pieces.append(t.sized(made, at.size))
        places.append(at)
    return _put_back(t, pieces, places, base.size)


def _traced_power(t: Tracer, base: Node, exponent: Node) -> Node:
    """Return the power of an exponent that is traced, or no integer; elements whose base is always 0 apart."""
    s = t.nonfinite
    lo, hi = s.ranges.of(base)
    zero = np.broadcast_to((lo == 0) & (hi == 0), base.size)
    if not zero.any() or s.of(base) is not FINITE or s.zeros.of(base) is not False:
        return _any_power(t, base, exponent)
    if zero.all():
        return _power_of_zero(t, exponent)
    size = max(base.size, exponent.size)
    (there,), (rest,) = np.nonzero(zero), np.nonzero(~zero)
    made = _any_power(t, _taken(t, base, rest), _taken(t, exponent, rest))
    none = _power_of_zero(t, _taken(t, exponent, there))
    return _put_back(t, [t.sized(made, rest.size), t.sized(none, there.size)], [rest, there], size)


def _power_of_zero(t: Tracer, exponent: Node) -> Node:
    """Return 0**exponent: 0 above 0, 1 at 0, infinite below."""
    s = t.nonfinite
    b = s.of(exponent)
    found = s.where(
        s.compare("is_equal", exponent, 0.0, b.finite), s.number(1.0), t.operation("pow", (s.number(0.0), exponent))
    )
    return s.where(s.compare("is_less", s.number(0.0), exponent, b.finite), s.number(0.0), found)


def _taken(t: Tracer, node: Node, at: Any) -> Node:
    return node if node.size == 1 else t.graph.node("take", (node,), at.size, of_indices(at, node.size))


def _put_back(t: Tracer, pieces: list[Node], places: list[Any], size: int) -> Node:
    """Return an array of pieces, each of whose elements goes to its place."""
    back = np.empty(size, np.int64)
    back[np.concatenate(places)] = np.arange(size)
    return t.graph.node("take", (t.graph.node("concat", pieces, size),), size, of_indices(back, size))


def _any_power(t: Tracer, base: Node, exponent: Node) -> Node:
    s = t.nonfinite
    a, b = s.of(base), s.of(exponent)
    s.refuse(s.either(a.minus, b.plus, b.minus, a.doubt, b.doubt), "A power")
    found = t.operation("pow", (base, exponent))
    both = s.both(a.finite, b.finite)
    below = s.compare("is_less", base, 0.0, both)
    whole = _is_whole(t, exponent)
    if below is not False and whole is not False:
        size = t.operation("pow", (t.operation("neg", (base,)), exponent))
        even = s.compare("is_equal", t.graph.node("mod", (exponent, s.number(2.0)), exponent.size), 0.0, b.finite)
        signed = s.where(even, size, t.operation("neg", (size,)))
        found = s.where(s.both(below, whole), signed, found)
    if a.plus is not False:
        found = s.where(s.both(a.plus, s.compare("is_less", exponent, 0.0, b.finite)), s.number(0.0), found)
    beside = s.negation(s.compare("is_less", s.number(0.0), base, a.finite))  # where pow has no value of its own
    found = s.where(s.both(beside, s.compare("is_equal", exponent, 0.0, b.finite)), s.number(1.0), found)
    if b is not FINITE:
        found = s.where(s.compare("is_equal", base, 1.0, a.finite), s.number(1.0), found)
    return found


def _is_whole(t: Tracer, exponent: Node) -> Any:
    """Return where the exponent is an integer."""
    if _all_whole(exponent):
        return True
    if exponent.op == "constant" and exponent.size == 1 and value_of(exponent).doubles is not None:
        return False  # an integer would not have come here
    s = t.nonfinite
    return s.compare("is_equal", exponent, s.node("floor", exponent), s.of(exponent).finite)


def _all_whole(node: Node) -> bool:
    """Return whether a node is made of integers by its operations alone."""
    pending, seen = [node], set()
    while pending:
        current = pending.pop()
        if current in seen or current.op in _STEPS:
            continue
        seen.add(current)
        if current.op == "constant":
            doubles = value_of(current).doubles
            if doubles is None or not np.all(doubles == np.floor(doubles)):
                return False
        elif current.op == "where":
            pending.extend(current.args[1:])
        elif current.op in _KEEPS_WHOLE:
            pending.extend(current.args)
        else:
            return False
    return True
