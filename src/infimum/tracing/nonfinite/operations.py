"""What NumPy makes of operands that are infinite or NaN, where it makes a number of them.

    operation                  operand                      result
    exp, expm1, tanh, atan,    ±inf                         NumPy's own, where that is finite
    sign, 1/u, u**-n
    u / v                      v infinite, u finite         0
    max, min                   -inf (+inf)                  the other one
    a comparison               NaN                          false; infinities compare as they do
    u**0, 1**v                 anything                     1
    mod(u, v)                  v infinite, the sign of u    u
    atan2                      the origin, infinities       NumPy's own
    fmax, fmin                 NaN                          the other one
Where the operand's states are in doubt and the result depends on them, the function is refused. Operands that are
always finite, as nearly all are, give the plain node.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from infimum.exact.number import exact, pi
from infimum.graph.constant import constant
from infimum.graph.node import Node
from infimum.ops import OPERATIONS, Operation, names_with
from infimum.tracing.nonfinite.finiteness import FINITE, States, Truth
from infimum.tracing.nonfinite.rules import StatesOf, at_infinity
from infimum.tracing.ranges import Ends, Ranges
from infimum.tracing.refusal import refusal

if TYPE_CHECKING:
    from infimum.tracing.tracer import Tracer


def _has_limit(row: Operation) -> bool:
    """Return whether NumPy's value at an infinite operand is a number."""
    with np.errstate(all="ignore"):
        return row.arity == 1 and any(np.isfinite(row.point(infinity)) for infinity in (np.inf, -np.inf))


_LIMITS = names_with(lambda row: row.name == "pown" or _has_limit(row))
_NARROWER = names_with(lambda row: row.domain is not None and row.domain.numbers_outside)
ABSORBING = _LIMITS | _NARROWER | {"div", "max", "min", "mod", "atan2"}
_HUGE = float(np.finfo(np.float64).max)


class NonFinite(StatesOf):
    """Nodes with NumPy's values where an operand is not finite."""

    def __init__(self, tracer: Tracer, box: Ends | None) -> None:
        super().__init__(tracer.graph, Ranges(tracer.n, box))
        self.tracer = tracer

    def where(self, condition: Truth, a: Node, b: Node) -> Node:
        """Return a where the condition holds, else b."""
        if isinstance(condition, bool):
            return a if condition else b
        return self.node("where", condition, a, b)

    def refuse(self, doubt: Truth, name: str) -> None:
        """Refuse what is in doubt anywhere in the domain."""
        if doubt is not False:
            raise refusal(
                f"{name} meets a value that may be infinite or undefined here, and what NumPy makes of it is not "
                "known for certain.",
                "Write np.where(condition, a, b) with the condition under which the value is finite, or move the "
                "bounds away from it.",
            )

    def applied(self, op: str, args: tuple[Node, ...], data: object = None) -> Node:
        """Return the node of an operation that can make a number of an infinite operand."""
        made = self.graph.node(op, args, max(a.size for a in args), data)
        if op == "atan2":
            return self._atan2(made)
        if op in _NARROWER:
            self._refuse_outside(op, args[0])
            return made
        states = [self.of(a) for a in args]
        if all(state is FINITE for state in states):
            return made
        if op in _LIMITS:
            return self._limit(made, states[0])
        if op == "div":
            return self._quotient(made, states)
        if op == "mod":
            return self._remainder(made, states)
        return self._extreme(made, states)

    # ------------------------------------------------------------------------------------------ one operand
    def _refuse_outside(self, op: str, a: Node) -> None:
        """Refuse an operand that may lie where NumPy has numbers and the core has none."""
        record, domain = OPERATIONS[op], OPERATIONS[op].domain
        assert domain is not None
        name = " or ".join(dict.fromkeys((*record.math, *record.scipy)))
        if not np.all(self.ranges.of(a)[0] >= domain.least):
            raise refusal(
                f"{name} is offered for numbers above {domain.least:g}, and its operand may be below here.",
                "Narrow the bounds, or write np.maximum(t, 1e-300) for the operand t.",
            )

    def _limit(self, made: Node, u: States) -> Node:
        if made.op == "pown" and made.data == 0:
            return self.number(1.0)
        found = made
        for infinite, value in ((u.plus, np.inf), (u.minus, -np.inf)):
            limit = at_infinity(made, value)
            if np.isfinite(limit):
                self.refuse(u.doubt, f"np.{made.op}")
                # All limits are integers, but for those of the arc tangent.
                exactly = limit if limit == round(limit) else pi / exact(2) * exact(int(np.sign(limit)))
                found = self._met(infinite, self._constant(exactly), found)
        return found

    def _met(self, infinite: Truth, limit: Node, made: Node) -> Node:
        """Return the limit where an operand is infinite, else the node; the sign of a limit 0 is not followed."""
        return made if infinite is False else self.zeros.forget(self.where(infinite, limit, made))

    def raising(self, made: Node, args: tuple[Node, ...], mixed: bool = False) -> Node:
        """Return the node without its poles: where Python's own numbers raise an error, there is no value.

        mixed: the operands are NumPy's numbers or Python's, as x says; then what a pole is depends on x.
        """
        u = self.of(made)
        pole = self.both(self.either(u.plus, u.minus, u.doubt), *(self.of(a).finite for a in args))
        self.refuse(pole if mixed else False, "A number that is Python's own for some x")
        return self.where(pole, self.node("log", self.number(-1.0)), made)

    def _constant(self, value: object) -> Node:
        return self.graph.node("constant", (), 1, constant(value))

    # ------------------------------------------------------------------------------------------ two operands
    def _quotient(self, made: Node, states: list[States]) -> Node:
        a, b = states
        self.refuse(self.both(b.doubt, a.finite), "A quotient")
        return self._met(self.both(a.finite, self.either(b.plus, b.minus)), self.number(0.0), made)

    def _remainder(self, made: Node, states: list[States]) -> Node:
        x = made.args[0]
        a, b = states
        self.refuse(self.both(b.doubt, a.finite), "np.mod")
        up = self.both(b.plus, self.compare("is_less_equal", self.number(0.0), x, a.finite))
        down = self.both(b.minus, self.compare("is_less_equal", x, 0.0, a.finite))
        return self.where(self.either(up, down), x, made)

    def _extreme(self, made: Node, states: list[States]) -> Node:
        (x, y), (a, b) = made.args, states
        self.refuse(self.either(a.doubt, b.doubt), f"np.{made.op}imum")
        idle = [u.minus if made.op == "max" else u.plus for u in (a, b)]
        found = self.where(self.both(idle[0], b.finite), y, made)
        return self.where(self.both(idle[1], a.finite), x, found)

    def extremes(self, made: Node) -> Node:
        """Return the node of a reduction by min_of or max_of, elements of the idle infinity left out."""
        (a,) = made.args
        u = self.of(a)
        if u is FINITE:
            return made
        self.refuse(u.doubt, f"np.{made.op[:3]}")
        idle, neutral = (u.minus, -_HUGE) if made.op == "max_of" else (u.plus, _HUGE)
        if idle is False:
            return made
        width = a.size // made.size
        some = self.both(
            self.group("min_of", self.either(u.finite, idle), a.size, width),
            self.group("max_of", idle, a.size, width),
            self.group("max_of", u.finite, a.size, width),
        )
        filled = self.where(idle, self.number(neutral), a)
        return self.where(some, self.graph.node(made.op, (filled,), made.size, made.data), made)

    def _atan2(self, made: Node) -> Node:
        (y, x), (b, a) = made.args, [self.of(arg) for arg in made.args]
        found = made
        for infinite, half in ((b.plus, pi / exact(2)), (b.minus, -pi / exact(2))):
            found = self.where(self.both(infinite, a.finite), self._constant(half), found)
        found = self.where(self.both(a.plus, b.finite), self.number(0.0), found)
        infinite = self.both(self.either(a.plus, a.minus), self.either(b.plus, b.minus))
        self.refuse(self.either(infinite, self.both(a.minus, b.finite), a.doubt, b.doubt), "np.arctan2")
        both = self.both(a.finite, b.finite)
        flat = self.compare("is_equal", y, 0.0, both)
        behind, origin = self.compare("is_less", x, 0.0, both), self.compare("is_equal", x, 0.0, both)
        below, left = self.zeros.of(y), self.zeros.of(x)
        centre = self.both(flat, origin)
        turned = centre if left is None else self.both(centre, left)
        self.refuse(turned if left is None else False, "np.arctan2")
        cut = self.either(self.both(flat, behind), turned)
        self.refuse(cut if below is None else False, "np.arctan2")
        found = self.where(centre, self.number(0.0), found)
        found = self.where(turned, self._constant(pi), found)
        return self.where(self.both(cut, below or False), self._constant(-pi), found)

    # ------------------------------------------------------------------------------------------ truths
    def compared(self, op: str, a: Node, b: Node) -> Node:
        """Return a comparison as NumPy has it: false with NaN, infinities in their order."""
        u, v = self.of(a), self.of(b)
        if u is FINITE and v is FINITE:
            return self.node(op, a, b)
        self.refuse(self.either(u.doubt, v.doubt), "A comparison")
        finite = self.compare(op, a, b, self.both(u.finite, v.finite))
        if op == "is_equal":
            infinite = self.either(self.both(u.plus, v.plus), self.both(u.minus, v.minus))
        elif op == "is_less":
            infinite = self.either(self.both(u.minus, self.either(v.finite, v.plus)), self.both(u.finite, v.plus))
        else:
            known = [self.either(s.finite, s.plus, s.minus) for s in (u, v)]
            infinite = self.either(self.both(u.minus, known[1]), self.both(v.plus, known[0]))
        return self.as_node(self.either(finite, infinite))

    def is_nan(self, a: Node) -> Truth:
        """Return where NumPy has NaN."""
        u = self.of(a)
        self.refuse(u.doubt, "np.isnan")
        return False if u is FINITE else self.undefined(u)

    def is_infinite(self, a: Node) -> Truth:
        """Return where NumPy has an infinity."""
        u = self.of(a)
        self.refuse(u.doubt, "np.isinf")
        return self.either(u.plus, u.minus)

    def is_finite(self, a: Node) -> Truth:
        """Return where NumPy has a number."""
        return self.of(a).finite

    def is_negative(self, a: Node) -> Truth:
        """Return the sign bit: below 0, or -0.0."""
        u = self.of(a)
        self.refuse(self.negation(self.either(u.finite, u.plus, u.minus)), "The sign of a number")
        sign = self.zeros.of(a)
        if sign is None:
            self.refuse(self.compare("is_equal", a, 0.0, u.finite), "The sign of a zero")
            sign = False
        return self.either(self.negative(a, u), sign)

    def ignoring_nan(self, made: Node) -> Node:
        """Return min or max of two, of which one that is NaN is left out."""
        x, y = made.args
        found = self.applied(made.op, made.args)
        for one, other in ((x, y), (y, x)):
            found = self.where(self.is_nan(one), other, found)
        return found
