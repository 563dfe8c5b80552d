"""Linear layers: f(x) = g(A x + b, x), where rows of A read several variables (rotated functions, regressions).

Walking down from f, the layer's rows are the first expressions met that are affine in x and add up variables:

    node                                 affine where
    x, constant                          always
    neg, add, sub, take, concat, sum     all operands are
    mul                                  one operand is, and the other does not depend on x
    div                                  the first operand is, and the second does not depend on x and is not 0
    any other                            never; what depends on x nowhere is only affine where these rules say so

A row is an element of an affine `sum`, or of an affine `add` or `sub` of two operands that both depend on x; 2 y + 1 is
none: g scales and shifts the row y itself. Affine expressions are defined everywhere, so g(A x + b, x) is defined where
f is.

Guarantee: at every x, f(x) is g(A x + b, x) for a matrix A and a vector b within the layer's intervals.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from infimum.graph import indexmap
from infimum.graph.build import Build
from infimum.graph.node import Node, ancestors
from infimum.graph.payload import value_of
from infimum.passes.linear.forms import MOST_ENTRIES, Ends, Forms
from infimum.passes.simplify import rebuilt

_SPARSE = 4  # a layer has at least one entry in so many; sparse ones are better served by contraction of f itself


@dataclass(frozen=True)
class Layer:
    """y = A x + b and the rest of the function, g.

    matrix, offset    the ends of A (m, n) and b (m,)
    value             g, an expression of y (m variables), or of x and then y (n + m variables) where it reads x as well
    """

    matrix: Ends
    offset: Ends
    value: Node
    reads_x: bool

    @property
    def inputs(self) -> int:
        """Return how many variables g has."""
        rows, columns = (int(extent) for extent in self.matrix[0].shape)
        return rows + columns if self.reads_x else rows


def linear_layer(value: Node, n: int) -> Layer | None:
    """Return the layer of a simplified expression of n variables; None where there is none worth the name."""
    nodes = ancestors([value])
    varies = varying(nodes)
    rows = _rows(value, affine(nodes, varies), varies)
    m = sum(node.size for node in rows)
    if m < 2 or m * n > MOST_ENTRIES:
        return None
    form = Forms(n, varies).of(rows)
    if form is None:
        return None
    matrix = form.dense(n)
    filled = np.count_nonzero(np.maximum(*(np.abs(end) for end in matrix)), axis=1)
    if not all(np.isfinite(end).all() for end in (*matrix, *form.offset)):
        return None
    if filled.max() < 2 or filled.sum() * _SPARSE < m * n:
        return None
    g, reads_x = _above(value, rows, n)
    return Layer(matrix, form.offset, g, reads_x)


# ---------------------------------------------------------------------------------------------- which rows
def varying(nodes: list[Node]) -> set[Node]:
    """Return the nodes that depend on x."""
    found: set[Node] = set()
    for node in nodes:
        if node.op == "x" or any(a in found for a in node.args):
            found.add(node)
    return found


def affine(nodes: list[Node], varies: set[Node]) -> set[Node]:
    """Return the nodes that are affine, by the table above."""
    found: set[Node] = set()
    for node in nodes:
        known = [a in found for a in node.args]
        if node.op in ("x", "constant"):
            fits = True
        elif node.op in ("neg", "add", "sub", "take", "concat", "sum"):
            fits = all(known)
        elif node.op == "mul":
            fits = all(known) and sum(a in varies for a in node.args) <= 1
        elif node.op == "div":
            fits = all(known) and node.args[1].op == "constant" and _misses_zero(node.args[1])
        else:
            fits = False
        if fits:
            found.add(node)
    return found


def _misses_zero(node: Node) -> bool:
    lo, hi = value_of(node).enclosure()
    return bool(((lo > 0) | (hi < 0)).all())


def _rows(value: Node, linear: set[Node], varies: set[Node]) -> list[Node]:
    """Return the first nodes on every way down that are affine and add up variables."""

    def is_row(node: Node) -> bool:
        adds = node.op == "sum" or (node.op in ("add", "sub") and all(a in varies for a in node.args))
        return node in linear and adds

    return tops(value, varies, is_row)


def tops(value: Node, varies: set[Node], is_top: Callable[[Node], bool]) -> list[Node]:
    """Return the first nodes on every way down that depend on x and are what is looked for."""
    found: dict[int, Node] = {}
    seen: set[Node] = set()
    pending = [value]
    while pending:
        node = pending.pop()
        if node in seen or node not in varies:
            continue
        seen.add(node)
        if is_top(node):
            found[node.number] = node
        else:
            pending.extend(node.args)
    return [found[number] for number in sorted(found)]


def _above(value: Node, rows: list[Node], n: int) -> tuple[Node, bool]:
    """Return g, the expression with variables in place of the rows, and whether it reads x too."""
    above = reached(value, set(rows))
    reads_x = any(node.op == "x" for node in above)
    start = n if reads_x else 0
    build = Build(start + sum(node.size for node in rows))
    new: dict[Node, Node] = {}
    for node in rows:
        new[node] = _line(build, start, node.size)
        start += node.size
    for node in above:
        if node.op == "x":
            new[node] = _line(build, 0, n)
        elif node not in new:
            new[node] = rebuilt(build, node, [new[a] for a in node.args])
    return new[value], reads_x


def reached(value: Node, rows: set[Node]) -> list[Node]:
    """Return the nodes that the expression needs when it is given the rows, arguments before users."""
    seen: dict[int, Node] = {}
    pending = [value]
    while pending:
        node = pending.pop()
        if node.number not in seen:
            seen[node.number] = node
            pending.extend(() if node in rows else node.args)
    return [seen[number] for number in sorted(seen)]


def _line(build: Build, start: int, size: int) -> Node:
    return build.take(build.x, indexmap.affine([(size, 1)], start, build.x.size))
