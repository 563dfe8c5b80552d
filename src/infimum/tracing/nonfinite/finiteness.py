"""Where NumPy finds a node finite, infinite or NaN, as expressions of x that are true or false.

NumPy computes on with infinities and NaN, and some of its functions make numbers of them again: exp(-inf) is 0, and a
comparison with NaN is false. The core knows real numbers only: where a node is not finite it is undefined there. So the
tracer asks for the states of an operand wherever an operation could make a number of what is none (operations.py).

    state     at a point where
    finite    the node is a real number
    plus      NumPy has +inf: a pole of certain sign, or what follows from one
    minus     NumPy has -inf
    doubt     it is not finite, and which of the others it is is not known
    NaN       none of these
Overflow is rounding, not a pole: exp(1000) is a real number. Variables are +0.0 where they are 0; what becomes of the
sign of a zero is followed, since 1/0.0 and 1/-0.0 differ.

A truth is a node that is 0 or 1 everywhere (and defined everywhere), or simply True or False. Whatever can be decided
over the whole domain is: most truths are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from infimum.graph.constant import Constant
from infimum.graph.indexmap import IndexMap, broadcast
from infimum.graph.node import Graph, Node
from infimum.tracing.ranges import Ranges

Truth = Node | bool


class States(NamedTuple):
    """Truths, of which at most one holds at a point."""

    finite: Truth = True
    plus: Truth = False
    minus: Truth = False
    doubt: Truth = False


FINITE = States()


class Logic:
    """Truths made of truths and comparisons, decided where the domain decides them."""

    def __init__(self, graph: Graph, ranges: Ranges) -> None:
        self.graph = graph
        self.ranges = ranges
        self.known: dict[Node, States] = {}  # truths are finite everywhere

    def number(self, value: float) -> Node:
        """Return a constant."""
        return self.graph.node("constant", (), 1, Constant(np.array([value])))

    def node(self, op: str, *args: Node) -> Node:
        """Return an elementwise node."""
        return self.graph.node(op, args, max(a.size for a in args))

    def as_node(self, truth: Truth) -> Node:
        """Return the truth as a node."""
        return truth if isinstance(truth, Node) else self.number(float(truth))

    def compare(self, op: str, a: Node, b: Node | float, when: Truth = True) -> Truth:
        """Return the truth of a comparison where `when` holds, else False. `when` implies that both are finite."""
        other = b if isinstance(b, Node) else self.number(b)
        if when is False:
            return False
        found = self.decided(self.node(op, a, other))
        return self._total(found) if when is True else self.choose(when, found, False)

    def decided(self, node: Node) -> Truth:
        """Return True or False where the domain decides a node of truth values, else the node."""
        lo, hi = self.ranges.of(node)
        if np.all(hi <= 0) if type(hi) is not float else hi <= 0:
            return False  # or nowhere defined, and then nobody asks
        return True if (np.all(lo >= 1) if type(lo) is not float else lo >= 1) else node

    def _total(self, truth: Truth) -> Truth:
        """Return the truth, which is known to be defined everywhere."""
        if isinstance(truth, Node):
            self.known[truth] = FINITE
        return truth

    def both(self, *truths: Truth) -> Truth:
        """Return whether all hold."""
        return self._joined("min", True, truths)

    def either(self, *truths: Truth) -> Truth:
        """Return whether one holds."""
        return self._joined("max", False, truths)

    def _joined(self, op: str, idle: bool, truths: tuple[Truth, ...]) -> Truth:
        """Return the truths joined; an idle one changes nothing, and its opposite decides."""
        found: Truth = idle
        for truth in truths:
            if isinstance(truth, bool) or isinstance(found, bool):
                found = truth if found is idle else found if truth is idle else not idle
            elif truth is not found:
                found = self._total(self.decided(self.node(op, found, truth)))
        return found

    def negation(self, truth: Truth) -> Truth:
        """Return whether the truth does not hold."""
        if isinstance(truth, bool):
            return not truth
        if truth.op == "sub" and truth.args[0] is self.number(1.0):
            return truth.args[1]
        return self._total(self.node("sub", self.number(1.0), truth))

    def choose(self, condition: Truth, a: Truth, b: Truth) -> Truth:
        """Return one truth where the condition holds and the other where it does not."""
        if isinstance(condition, bool):
            return a if condition else b
        if isinstance(a, bool) and isinstance(b, bool):
            return a if a == b else condition if a else self.negation(condition)
        return self._total(self.decided(self.node("where", condition, self.as_node(a), self.as_node(b))))

    # ------------------------------------------------------------------------------------------ arrays of truths
    def full(self, truth: Truth, size: int) -> Truth:
        """Return the truth with `size` elements."""
        if isinstance(truth, bool) or truth.size == size:
            return truth
        return self._total(self.graph.node("take", (truth,), size, broadcast(size)))

    def take(self, truth: Truth, m: IndexMap, source: int, missing: bool) -> Truth:
        """Return the truths that the map reads; `missing` where it reads none."""
        if isinstance(truth, bool):
            return truth if truth == missing or bool((m.indices() >= 0).all()) else self._present(m, truth)
        wide = self.full(truth, source)
        if not missing:
            return self._total(self.decided(self.graph.node("take", (self.as_node(wide),), m.size, m)))
        return self.negation(self.take(self.negation(wide), m, source, False))

    def _present(self, m: IndexMap, truth: bool) -> Truth:
        present = (m.indices() >= 0) == truth
        return self.graph.node("constant", (), m.size, Constant(present.astype(float)))

    def concat(self, truths: list[Truth], sizes: list[int]) -> Truth:
        """Return the truths one after the other."""
        if all(isinstance(t, bool) and t == truths[0] for t in truths):
            return truths[0]
        pieces = [self.as_node(self.full(self.as_node(t), size)) for t, size in zip(truths, sizes, strict=True)]
        return self._total(self.decided(self.graph.node("concat", pieces, sum(sizes))))

    def group(self, op: str, truth: Truth, size: int, width: int) -> Truth:
        """Return for each group of `width` whether all ("min_of") or any ("max_of") hold."""
        if isinstance(truth, bool) or width == 1:
            return truth
        wide = self.as_node(self.full(truth, size))
        return self._total(self.decided(self.graph.node(op, (wide,), size // width, width)))
