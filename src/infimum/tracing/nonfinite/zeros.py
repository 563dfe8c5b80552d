"""The sign of a zero, where NumPy's result depends on it: 1/0.0 is +inf, 1/-0.0 is -inf.

A variable that is 0 is +0.0. For every node: where it is -0.0, as a truth; None where that is not known.

    node                      is -0.0 where
    x, a constant             never; not known of a constant that is -0.0 anywhere
    -u                        u is +0.0
    u + v                     both are -0.0; a sum that cancels is +0.0
    u * v, u / v              their signs differ
    sqrt, odd functions       the operand is -0.0
    even functions, exp, …    never
    ceil, trunc, rounds       it is 0 and the operand below 0, or -0.0
    mod                       it is 0 and the divisor below 0
    where                     the branch that is taken is
    min, max                  known only where no operand is ever -0.0
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from infimum.graph.node import Node, bottom_up
from infimum.graph.payload import integer_of, map_of
from infimum.ops import OPERATIONS

if TYPE_CHECKING:
    from infimum.tracing.nonfinite.finiteness import Truth
    from infimum.tracing.nonfinite.rules import StatesOf


class Zeros:
    """Where nodes are -0.0; each is found once."""

    def __init__(self, states: StatesOf) -> None:
        self._states = states
        self._known: dict[Node, Truth | None] = {}

    def forget(self, node: Node) -> Node:
        """Return the node, whose zeros have signs of their own: it is built otherwise than NumPy computes it."""
        self._known[node] = None
        return node

    def of(self, node: Node) -> Truth | None:
        """Return where the node is -0.0 if it is 0, None if that is not known."""
        return bottom_up(node, self._known, self._made)

    def _made(self, node: Node) -> Truth | None:
        s, op = self._states, node.op
        below = [self._known[a] for a in node.args]
        rule = OPERATIONS[op].zero if op in OPERATIONS else None
        if rule == "positive" or op in ("x", "constant") or (op == "pown" and integer_of(node) % 2 == 0):
            return False
        if any(part is None for part in below):
            return None
        signs: list[Truth] = [part for part in below if part is not None]
        if rule == "operand" or op == "pown":
            return signs[0]
        if op == "neg":
            return s.both(self._is_zero(node.args[0]), s.negation(signs[0]))
        if op == "add":
            return s.both(*signs)
        if op == "sub":
            return s.both(signs[0], self._is_zero(node.args[1]), s.negation(signs[1]))
        if op in ("mul", "div"):
            if node.args[0] is node.args[1]:
                return False
            return s.both(self._is_zero(node), self._differ(node, signs))
        if rule == "rounded":
            return s.both(self._is_zero(node), s.either(s.negative(node.args[0], s.of(node.args[0])), signs[0]))
        if op == "mod":
            return s.both(self._is_zero(node), s.negative(node.args[1], s.of(node.args[1])))
        if op == "where":
            return s.choose(s.decided(node.args[0]), signs[1], signs[2])
        if op == "take":
            return s.take(signs[0], map_of(node), node.args[0].size, False)
        if op == "concat":
            return s.concat(signs, [a.size for a in node.args])
        return False if all(sign is False for sign in signs) and op != "prod" else None

    def _is_zero(self, node: Node) -> Truth:
        return self._states.compare("is_equal", node, 0.0, self._states.of(node).finite)

    def _differ(self, node: Node, signs: list[Truth]) -> Truth:
        """Return whether the operands' signs differ, zeros with theirs."""
        s = self._states
        first, second = (s.either(s.negative(a, s.of(a)), sign) for a, sign in zip(node.args, signs, strict=True))
        return s.either(s.both(first, s.negation(second)), s.both(second, s.negation(first)))
