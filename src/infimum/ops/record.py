"""The record of an elementwise operation: everything that the rooms above need to know of it.

A new operation is a row of core/operations.def with its C++ code, and a record in one of the files beside this one. A
record has a line or two for each of these groups:

names
    name           the core's operation, which encloses its range and knows its facts
    arity          the number of operands; `pown` also carries an integer in the node's data
    numpy          the NumPy functions that denote it
    math           the functions of Python's math module that denote it
    scipy          the functions of scipy.special that denote it
    formula        its value in words, of operands t and s: with one, infimum.interval offers the operation
values
    point          its value in doubles, as NumPy computes it
    raises         whether math's function raises an error for some numbers
    values         which numbers it can have; all but "reals" are constant between their jumps
    nonnegative    whether it is never below 0
    monotone       whether it is monotone in each operand: its range over a box then ends at corners of the box
    jump           what it may be on the other side of a jump; None: it has no jumps
    pole           the operand at whose zeros it may be infinite
    whole          how large it is where its operands are integers of at most these sizes; None: it may be no integer
    ulps, slack    how far NumPy's value may be from the real one: units in the last place, and an absolute error
calculus
    facts          "everywhere": defined and smooth on all reals; "defined": defined there; "checked": the core is asked
    slope          the partial derivatives as expressions; at kinks the hull of all slopes nearby
    has_second     whether the slope is a function where the operation is smooth, not a range that only contains it
    reverse        for each operand a set that contains all its values for which the result lies in a given set
    factors        the operation as its operand times functions without a zero, where it is 0 at 0
    exact          whether it is folded exactly when its operands are exact constants
shape
    curve          of one operand: where it is convex, concave, rising and falling; None: not known
infinities and zeros, as NumPy has them
    domain         for one operand: the numbers for which it is defined, and its poles
    nonfinite      where it is finite or infinite, given where its operands are; None: as its domain says
    zero           when a result 0 is -0.0: "positive" never, "operand" where the operand is, "rounded" also where the
                   operand is below 0; None: the tracer has a rule for it
cost
    commutative    whether its operands may be put in order
    cheap          whether it is computed again sooner than stored
    keeps_zero     whether it is 0 where all operands are
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

from infimum.ops.curves import Curve

Node = Any  # an expression of whoever builds it: this room stands below graphs
Truth = Any  # True, False, or an expression that is 0 or 1
Logic = Any  # what joins truths and compares expressions over the domain: StatesOf of tracing/nonfinite
TINY = 2.0**-1072  # more than an underflow may lose


class Builder(Protocol):
    """What a slope is built with."""

    def apply(self, op: str, *args: Node, data: Any = None) -> Node:
        """Return the simplest expression for an operation."""

    def number(self, value: Any) -> Node:
        """Return a constant."""

    def between(self, lo: float, hi: float) -> Node:
        """Return a constant of which only an interval is known."""

    def pi(self, times: int = 1) -> Node:
        """Return an exact multiple of pi."""

    def is_above(self, x: Node, bound: float) -> bool:
        """Return whether an expression is a constant above a number."""


States = Any  # four truths: finite, +inf, -inf, one of the infinities or NaN
Slope = Callable[[Builder, tuple[Node, ...], Node], tuple[Node, ...]]  # of operands and value
Reverse = Callable[[Callable[..., Node], Sequence[Node], Node, Any], tuple[Node | None, ...]]
Nonfinite = Callable[[Logic, Node, list[Any]], States]


class Domain(NamedTuple):
    """The numbers from least to most; at each end NumPy's pole, or None where the operation is defined.

    numbers_outside    NumPy has numbers outside as well: operands that may lie there are refused
    """

    least: float = -math.inf
    most: float = math.inf
    at_least: float | None = None
    at_most: float | None = None
    numbers_outside: bool = False

    @property
    def has_pole(self) -> bool:
        """Return whether NumPy gives an infinity at an end."""
        return self.at_least is not None or self.at_most is not None


class Jump(NamedTuple):
    """What an operation may be beyond a jump: between lo and hi, added to its own value or times its divisor."""

    lo: float
    hi: float
    of: Literal["", "value", "divisor"] = ""


class Factor(NamedTuple):
    """A power of a core operation, of the operand or of the result."""

    op: str
    power: int
    of: Literal["operand", "result"] = "operand"


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One operation; see the table above."""

    name: str
    arity: int = 1
    numpy: tuple[str, ...] = ()
    math: tuple[str, ...] = ()
    scipy: tuple[str, ...] = ()
    formula: str = ""
    point: Callable[..., Any]
    raises: bool = True
    values: Literal["reals", "integers", "signs", "truths"] = "reals"
    nonnegative: bool = False
    monotone: bool = False
    jump: Jump | None = None
    pole: int | None = None
    whole: Callable[..., float] | None = None
    ulps: int = 4
    slack: float = TINY
    facts: Literal["everywhere", "defined", "checked"] = "checked"
    slope: Slope
    has_second: bool = True
    reverse: Reverse | None = None
    factors: tuple[Factor, ...] = ()
    exact: bool = False
    curve: Curve | None = None
    domain: Domain | None = None
    nonfinite: Nonfinite | None = None
    zero: Literal["positive", "operand", "rounded"] | None = None
    commutative: bool = False
    cheap: bool = False
    keeps_zero: bool = False
