"""The tracer: one run of the user's function, and what a rule may ask of it.

Rules are functions of the tracer `t` and the arguments of the NumPy function that they stand for. The methods that they
call are functions of `t` as well, and stand in the file of their noun.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from infimum.errors import TraceError
from infimum.exact.number import Exact
from infimum.graph.node import Graph, Node
from infimum.tracing import broadcasting, calls, copies, indexing, operands
from infimum.tracing.buffer import Buffer
from infimum.tracing.nonfinite.operations import NonFinite
from infimum.tracing.python import numbers, raising
from infimum.tracing.ranges import Ends
from infimum.tracing.traced import TracedArray
from infimum.tracing.values import unknown

Rule = Callable[..., Any]


class Tracer:
    """One run of the user's function: its graph, the variables x, and the rules for NumPy's functions.

    box: the ends of the domain, where it is known; the traced function denotes the user's there.
    """

    def __init__(self, n: int, ufuncs: dict[Any, Rule], functions: dict[Any, Rule], box: Ends | None = None) -> None:
        self.graph = Graph()
        self.n = n
        self.nonfinite = NonFinite(self, box)
        self.mixed: set[Node] = set()  # numbers that are Python's own for some x, and NumPy's for others
        self.whole: set[Node] = set()  # those of them that are integers for some x
        self.ufuncs = ufuncs
        self.functions = functions
        self.numbers: dict[float, Node] = {}
        self.exact_numbers: dict[int, tuple[Exact, Node]] = {}  # by identity; the number is kept alive with its node
        self.met_exact = False
        self.refusals: list[TraceError] = []  # all of them (refusal.recorded), so that nobody can swallow one
        self.x = Buffer(self, n, None, self.graph.node("x", (), n))
        self.x.frozen = "x belongs to the caller; writing into it would change the caller's array."

    def variables(self) -> TracedArray:
        """Return the array that the user's function is called with."""
        return TracedArray(self, (self.n,), None, self.x)

    def ufunc_rule(self, ufunc: np.ufunc) -> Rule:
        """Return the rule of a universal function; refuse one that has none."""
        if ufunc not in self.ufuncs:
            raise unknown(ufunc)
        return self.ufuncs[ufunc]

    def adopt(self, ufunc: np.ufunc, rule: Rule) -> None:
        """Know a universal function of another library."""
        self.ufuncs = {**self.ufuncs, ufunc: rule}

    number, constant_node = operands.number, operands.constant_node
    array, fresh, given, boxed = operands.array, operands.fresh, operands.given, operands.boxed
    operand, traced, stacked, unlisted = operands.operand, operands.traced, operands.stacked, operands.unlisted
    refuse_mixed = operands.refuse_mixed
    apply, operation, lifted = broadcasting.apply, broadcasting.operation, broadcasting.lifted
    broadcast, sized = broadcasting.broadcast, broadcasting.sized
    ufunc, call, plain_call = calls.ufunc, calls.call, calls.plain_call
    item, picked, assign, assign_all, into = (
        indexing.item, indexing.picked, indexing.assign, indexing.assign_all, indexing.into,
    )  # fmt: skip
    copied, reordered, cast, size_of = copies.copied, copies.reordered, copies.cast, copies.size_of
    weak, rounded, python_operator = numbers.weak, numbers.rounded, numbers.operator
    may_raise = raising.may_raise
