"""The states of every operation's result, given those of its operands.

operand finite    what the table of domains below says
infinite          what NumPy itself makes of an infinity: it is asked
NaN               NaN, but for hypot and what operations.py makes of it
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from infimum.graph.node import REDUCTIONS, Graph, Node, bottom_up
from infimum.graph.payload import integer_of, map_of
from infimum.ops.records import OPERATIONS
from infimum.tracing.nonfinite.finiteness import FINITE, Logic, States, Truth
from infimum.tracing.nonfinite.zeros import Zeros
from infimum.tracing.ranges import Ranges


class StatesOf(Logic):
    """The states of nodes; each is made once."""

    def __init__(self, graph: Graph, ranges: Ranges) -> None:
        super().__init__(graph, ranges)
        self.zeros = Zeros(self)

    def of(self, node: Node) -> States:
        """Return where the node is finite, infinite, or neither."""
        found = self.known.get(node)
        if found is not None:
            return found
        return bottom_up(node, self.known, self._made)

    def _made(self, node: Node) -> States:
        below = [self.known[a] for a in node.args]
        if node.op in OPERATIONS:
            if all(state is FINITE for state in below) and node.op not in _PARTIAL:
                return FINITE
            rule = _BINARY.get(node.op)
            return rule(self, node, below) if rule else self._unary(node, below[0])
        if all(state is FINITE for state in below):
            return FINITE
        return self._structural(node, below)

    # ------------------------------------------------------------------------------------------ one operand
    def _unary(self, node: Node, u: States) -> States:
        (a,) = node.args
        finite, plus, minus, doubt = _DOMAINS.get(node.op, _no_edge)(self, node, a, u.finite)
        for infinite, value in ((u.plus, np.inf), (u.minus, -np.inf)):
            if infinite is not False:
                found = at_infinity(node, value)
                if np.isposinf(found):
                    plus = self.either(plus, infinite)
                elif np.isneginf(found):
                    minus = self.either(minus, infinite)
        return _states(finite, plus, minus, self.either(doubt, u.doubt))

    # ------------------------------------------------------------------------------------------ signs
    def positive(self, a: Node, u: States) -> Truth:
        """Return whether the node is above 0, +inf included."""
        return self.either(self.compare("is_less", self.number(0.0), a, u.finite), u.plus)

    def negative(self, a: Node, u: States) -> Truth:
        """Return whether the node is below 0, -inf included."""
        return self.either(self.compare("is_less", a, 0.0, u.finite), u.minus)

    def undefined(self, u: States) -> Truth:
        """Return whether NumPy has NaN there."""
        return self.negation(self.either(u.finite, u.plus, u.minus, u.doubt))

    def pole(self, b: Node, zero: Truth, above: Truth, below: Truth) -> tuple[Truth, Truth, Truth]:
        """Return where a/b is +inf, -inf, or one of them, b being 0 where `zero` holds, and a above or below 0."""
        if zero is False:
            return False, False, False
        negative = self.zeros.of(b)
        if negative is None:
            return False, False, self.both(zero, self.either(above, below))
        positive = self.negation(negative)
        return (
            self.both(zero, self.either(self.both(above, positive), self.both(below, negative))),
            self.both(zero, self.either(self.both(above, negative), self.both(below, positive))),
            False,
        )

    # ------------------------------------------------------------------------------------------ arrays
    def _structural(self, node: Node, below: list[States]) -> States:
        if node.op == "take":
            m, source = map_of(node), node.args[0].size
            return _states(*(self.take(part, m, source, i == 0) for i, part in enumerate(below[0])))
        if node.op == "concat":
            sizes = [a.size for a in node.args]
            return _states(*(self.concat([state[i] for state in below], sizes) for i in range(4)))
        if node.op in REDUCTIONS:
            return self._reduced(node, below[0])
        finite = self.both(
            *(self.group("min_of", s.finite, a.size, a.size) for s, a in zip(below, node.args, strict=True))
        )
        return _states(finite, False, False, self.negation(finite))

    def _reduced(self, node: Node, u: States) -> States:
        size, width = node.args[0].size, integer_of(node)

        def every(truth: Truth) -> Truth:
            return self.group("min_of", truth, size, width)

        def some(truth: Truth) -> Truth:
            return self.group("max_of", truth, size, width)

        finite, doubt = every(u.finite), some(u.doubt)
        if node.op == "sum":
            plus = self.both(some(u.plus), every(self.either(u.finite, u.plus)))
            minus = self.both(some(u.minus), every(self.either(u.finite, u.minus)))
        elif node.op == "prod":
            return _states(finite, False, False, self.negation(finite))
        else:
            known = every(self.either(u.finite, u.plus, u.minus))
            most, least = (u.plus, u.minus) if node.op == "max_of" else (u.minus, u.plus)
            outer, inner = self.both(some(most), known), every(least)
            plus, minus = (outer, inner) if node.op == "max_of" else (inner, outer)
        return _states(finite, plus, minus, self.both(doubt, self.negation(finite)))


def _states(finite: Truth, plus: Truth, minus: Truth, doubt: Truth) -> States:
    return FINITE if finite is True else States(finite, plus, minus, doubt)


def at_infinity(node: Node, value: float) -> float:
    """Return what NumPy makes of an infinite operand."""
    with np.errstate(all="ignore"):
        if node.op == "pown":
            return float(np.power(value, float(integer_of(node))))
        return float(OPERATIONS[node.op].point(value))


# ---------------------------------------------------------------------------------------------- edges of definition
# Where an operation is finite, +inf, -inf, or one of these, for an operand that is finite where `w` holds.
Edges = tuple[Truth, Truth, Truth, Truth]
Domain = Callable[[StatesOf, Node, Node, Truth], Edges]


def _no_edge(s: StatesOf, node: Node, a: Node, w: Truth) -> Edges:
    return w, False, False, False


def _from(least: float) -> Domain:
    return lambda s, node, a, w: (s.compare("is_less_equal", s.number(least), a, w), False, False, False)


def _above(least: float) -> Domain:
    return lambda s, node, a, w: (
        s.compare("is_less", s.number(least), a, w), False, s.compare("is_equal", a, least, w), False
    )  # fmt: skip


def _within_one(s: StatesOf, node: Node, a: Node, w: Truth) -> Edges:
    size = s.node("abs", a)
    return s.compare("is_less_equal", size, 1.0, w), False, False, False


def _inside_one(s: StatesOf, node: Node, a: Node, w: Truth) -> Edges:
    inside = s.compare("is_less", s.node("abs", a), 1.0, w)
    return inside, s.compare("is_equal", a, 1.0, w), s.compare("is_equal", a, -1.0, w), False


def _tangent(s: StatesOf, node: Node, a: Node, w: Truth) -> Edges:
    pole = s.compare("is_equal", s.node("cos", a), 0.0, w)  # at a number that no double is: NumPy has no value there
    return s.both(w, s.negation(pole)), False, False, False


def _reciprocal(s: StatesOf, node: Node, a: Node, w: Truth) -> Edges:
    zero = s.compare("is_equal", a, 0.0, w)
    return s.both(w, s.negation(zero)), *s.pole(a, zero, True, False)


def _power(s: StatesOf, node: Node, a: Node, w: Truth) -> Edges:
    n = integer_of(node)
    if n >= 0:
        return (w if n else True), False, False, False
    if n % 2:
        return _reciprocal(s, node, a, w)
    zero = s.compare("is_equal", a, 0.0, w)
    return s.both(w, s.negation(zero)), zero, False, False


_DOMAINS: dict[str, Domain] = {
    "sqrt": _from(0.0), "acosh": _from(1.0), "log": _above(0.0), "log2": _above(0.0), "log10": _above(0.0),
    "log1p": _above(-1.0), "asin": _within_one, "acos": _within_one, "atanh": _inside_one, "tan": _tangent,
    "recip": _reciprocal, "pown": _power,
}  # fmt: skip


# ---------------------------------------------------------------------------------------------- two operands
Rule = Callable[[StatesOf, Node, list[States]], States]


def _add(s: StatesOf, node: Node, below: list[States]) -> States:
    a, b = below
    if node.op == "sub":
        b = States(b.finite, b.minus, b.plus, b.doubt)
    plus = s.either(s.both(a.plus, s.either(b.finite, b.plus)), s.both(a.finite, b.plus))
    minus = s.either(s.both(a.minus, s.either(b.finite, b.minus)), s.both(a.finite, b.minus))
    return _states(s.both(a.finite, b.finite), plus, minus, s.either(a.doubt, b.doubt))


def _mul(s: StatesOf, node: Node, below: list[States]) -> States:
    (x, y), (a, b) = node.args, below
    plus: Truth = False
    minus: Truth = False
    for u, other, v in ((a, y, b), (b, x, a)):
        if u.plus is False and u.minus is False:
            continue
        above, under = s.positive(other, v), s.negative(other, v)
        plus = s.either(plus, s.both(u.plus, above), s.both(u.minus, under))
        minus = s.either(minus, s.both(u.plus, under), s.both(u.minus, above))
    return _states(s.both(a.finite, b.finite), plus, minus, s.either(a.doubt, b.doubt))


def _div(s: StatesOf, node: Node, below: list[States]) -> States:
    (x, y), (a, b) = node.args, below
    zero = s.compare("is_equal", y, 0.0, b.finite)
    above, under = s.positive(x, a), s.negative(x, a)
    plus, minus, doubt = s.pole(y, zero, above, under)
    if a.plus is not False or a.minus is not False:
        up, down = s.compare("is_less", s.number(0.0), y, b.finite), s.compare("is_less", y, 0.0, b.finite)
        plus = s.either(plus, s.both(a.plus, up), s.both(a.minus, down))
        minus = s.either(minus, s.both(a.plus, down), s.both(a.minus, up))
    finite = s.both(a.finite, b.finite, s.negation(zero))
    return _states(finite, plus, minus, s.either(doubt, a.doubt, b.doubt))


def _extreme(s: StatesOf, node: Node, below: list[States]) -> States:
    a, b = below
    if node.op == "min":
        a, b = (States(u.finite, u.minus, u.plus, u.doubt) for u in (a, b))
    known = [s.either(u.finite, u.plus, u.minus) for u in (a, b)]
    plus = s.either(s.both(a.plus, known[1]), s.both(b.plus, known[0]))
    minus = s.both(a.minus, b.minus)
    if node.op == "min":
        plus, minus = minus, plus
    return _states(s.both(a.finite, b.finite), plus, minus, s.either(a.doubt, b.doubt))


def _hypot(s: StatesOf, node: Node, below: list[States]) -> States:
    a, b = below
    infinite = s.either(a.plus, a.minus, b.plus, b.minus)
    return _states(
        s.both(a.finite, b.finite), infinite, False, s.both(s.either(a.doubt, b.doubt), s.negation(infinite))
    )


def _mod(s: StatesOf, node: Node, below: list[States]) -> States:
    a, b = below
    zero = s.compare("is_equal", node.args[1], 0.0, b.finite)
    doubt = s.either(a.doubt, b.doubt, b.plus, b.minus)
    return _states(s.both(a.finite, b.finite, s.negation(zero)), False, False, doubt)


def _atan2(s: StatesOf, node: Node, below: list[States]) -> States:
    a, b = below
    origin = s.both(*(s.compare("is_equal", x, 0.0, u.finite) for x, u in zip(node.args, below, strict=True)))
    return _states(s.both(a.finite, b.finite, s.negation(origin)), False, False, s.either(a.doubt, b.doubt))


def _pow(s: StatesOf, node: Node, below: list[States]) -> States:
    (x, y), (a, b) = node.args, below
    both = s.both(a.finite, b.finite)
    zero = s.compare("is_equal", x, 0.0, both)
    up, down = s.compare("is_less", s.number(0.0), y, both), s.compare("is_less", y, 0.0, both)
    finite = s.either(s.compare("is_less", s.number(0.0), x, both), s.both(zero, up))
    rises = s.both(a.plus, s.compare("is_less", s.number(0.0), y, b.finite))
    pole = s.both(zero, down)
    doubt = s.either(a.doubt, b.doubt, a.minus, b.plus, b.minus)
    if pole is not False and s.zeros.of(x) is not False:
        return _states(finite, rises, False, s.either(doubt, pole))
    return _states(finite, s.either(rises, pole), False, doubt)


def _comparison(s: StatesOf, node: Node, below: list[States]) -> States:
    finite = s.both(*(u.finite for u in below))
    return _states(finite, False, False, s.negation(finite))


def _where(s: StatesOf, node: Node, below: list[States]) -> States:
    condition, a, b = below
    chooser = s.decided(node.args[0])
    parts = [s.both(condition.finite, s.choose(chooser, x, y)) for x, y in zip(a, b, strict=True)]
    return _states(*parts)


_BINARY: dict[str, Rule] = {
    "add": _add, "sub": _add, "mul": _mul, "div": _div, "min": _extreme, "max": _extreme, "hypot": _hypot,
    "mod": _mod, "atan2": _atan2, "pow": _pow, "where": _where,
    "is_less": _comparison, "is_less_equal": _comparison, "is_equal": _comparison,
}  # fmt: skip
_PARTIAL = frozenset(_DOMAINS) | {"div", "mod", "atan2", "pow"}
