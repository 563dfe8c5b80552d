"""The states of every operation's result, given those of its operands.

operand finite    what the domain or the rule in the operation's record says
infinite          what NumPy itself makes of an infinity: it is asked
NaN               NaN, but for hypot and what operations.py makes of it
"""

from __future__ import annotations

import numpy as np

from infimum.graph.node import REDUCTIONS, Graph, Node, bottom_up
from infimum.graph.payload import integer_of, map_of
from infimum.ops import OPERATIONS
from infimum.ops.record import Domain
from infimum.tracing.nonfinite.finiteness import FINITE, Logic, States, Truth
from infimum.tracing.nonfinite.zeros import Zeros
from infimum.tracing.ranges import Ranges

Parts = tuple[Truth, Truth, Truth, Truth]  # finite, +inf, -inf, doubt


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
        row = OPERATIONS.get(node.op)
        if all(state is FINITE for state in below) and (row is None or row.facts != "checked"):
            return FINITE
        if row is None:
            return self._structural(node, below)
        if row.nonfinite is not None:
            return _states(*row.nonfinite(self, node, below))
        edges = self._edges(node.args[0], row.domain, below[0].finite)
        return _states(*self.through(node, below[0], edges))

    # ------------------------------------------------------------------------------------------ one operand
    def through(self, node: Node, u: States, edges: Parts) -> Parts:
        """Return the states of an operation of one operand with states u, given those where the operand is finite."""
        finite, plus, minus, doubt = edges
        for infinite, value in ((u.plus, np.inf), (u.minus, -np.inf)):
            if infinite is not False:
                found = at_infinity(node, value)
                if np.isposinf(found):
                    plus = self.either(plus, infinite)
                elif np.isneginf(found):
                    minus = self.either(minus, infinite)
        return finite, plus, minus, self.either(doubt, u.doubt)

    def _edges(self, a: Node, domain: Domain | None, w: Truth) -> Parts:
        """Return the states of an operation with this domain, of a node that is finite where `w` holds."""
        if domain is None:
            return w, False, False, False
        order = "is_less" if domain.has_pole else "is_less_equal"
        if domain.most == np.inf:
            finite = self.compare(order, self.number(domain.least), a, w)
        else:  # both ends lie equally far from 0
            finite = self.compare(order, self.node("abs", a), domain.most, w)
        at: dict[float | None, Truth] = {np.inf: False, -np.inf: False}
        for end, pole in ((domain.most, domain.at_most), (domain.least, domain.at_least)):
            if pole is not None:
                at[pole] = self.either(at[pole], self.compare("is_equal", a, end, w))
        return finite, at[np.inf], at[-np.inf], False

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
