"""Nodes: hash-consed, flat, array-valued expressions of x.

Every node is an array of `size` numbers; shapes live in the tracer alone. An elementwise node takes operands of its own
size or of size 1. Beside the elementwise operations (ops/) there are

    op           args     data          element i is
    x            -        -             the variable x_i
    constant     -        Constant      the constant's element i
    take         a        IndexMap      a[map(i)], 0 where the map says none
    concat       a, b, …  -             the pieces one after the other
    sum prod     a        width         the reduction of a[i*width : (i+1)*width] over the fixed tree
    min_of max_of a       width         likewise
    others       a        (op, width)   the reduction `op` of i's group without element i itself
    recurrence   a, b     reverse       y_i = a_i y_(i-1) + b_i (y_-1 = 0), from the other end if reverse
    defined:op   as of op as of op      1 where the operation is certainly defined, else 0: a fact of a whole box
    smooth:op    as of op as of op      likewise: certainly smooth
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeVar

from infimum.deadline import ask

T = TypeVar("T")

STRUCTURAL = frozenset({"x", "constant", "take", "concat", "sum", "prod", "min_of", "max_of", "others", "recurrence"})
_OFTEN = 1023  # new nodes after which the time is asked
REDUCTIONS = {"sum": "add", "prod": "mul", "min_of": "min", "max_of": "max"}


def is_fact(op: str) -> bool:
    """Return whether an operation is a fact of another one; it has an answer even where that one has none."""
    return ":" in op


class Node:
    """One expression; two nodes of a graph are the same object exactly when they are the same expression."""

    __slots__ = ("args", "data", "number", "op", "size")

    def __init__(self, number: int, op: str, args: tuple[Node, ...], size: int, data: Hashable) -> None:
        self.number = number
        self.op = op
        self.args = args
        self.size = size
        self.data = data

    def __repr__(self) -> str:
        return f"<{self.number}: {self.op} of {self.size}>"


class Graph:
    """The nodes made so far, each expression once. Arguments always have smaller numbers than their users."""

    def __init__(self) -> None:
        self._known: dict[Hashable, Node] = {}
        self._count = 0

    def node(self, op: str, args: Iterable[Node] = (), size: int = 1, data: Hashable = None) -> Node:
        """Return the one node for this expression, as it stands."""
        operands = tuple(args)
        key = (op, tuple(a.number for a in operands), size, data)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = Node(self._count, op, operands, size, data)
            self._count += 1
            if not self._count & _OFTEN:
                ask()
        return found

    def __len__(self) -> int:
        return self._count


def ancestors(outputs: Iterable[Node]) -> list[Node]:
    """Return every node the outputs need, arguments before users."""
    ask()  # every pass begins here
    seen: dict[int, Node] = {}
    stack = list(outputs)
    while stack:
        node = stack.pop()
        if node.number not in seen:
            seen[node.number] = node
            stack.extend(node.args)
    return [seen[number] for number in sorted(seen)]


def bottom_up(node: Node, known: dict[Node, T], make: Callable[[Node], T]) -> T:
    """Return what is known of a node; what is not yet known of it and of those below is made first, operands first."""
    pending = [node]  # deep expressions are walked without recursion
    while pending:
        current = pending[-1]
        below = [] if current in known else [a for a in current.args if a not in known]
        if below:
            pending.extend(below)
            continue
        pending.pop()
        if current not in known:
            known[current] = make(current)
    return known[node]


def users(nodes: Iterable[Node]) -> dict[int, int]:
    """Return how many times each node is read, by number."""
    counts: dict[int, int] = {}
    for node in nodes:
        for argument in node.args:
            counts[argument.number] = counts.get(argument.number, 0) + 1
    return counts


def walk(node: Node) -> Iterator[Node]:
    """Return the nodes under one output, arguments first."""
    yield from ancestors([node])
