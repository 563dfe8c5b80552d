"""The derivatives of an array expression by each variable, as graphs: forward mode, one direction at a time (POLICY).

    node              tangent, given those of its operands
    constant          none
    x                 1 where the variable is, else 0
    elementwise       the sum of slope * tangent over its operands
    take, concat      the same of the tangents
    sum               the sum of the tangents
    prod              the sum of the others * tangent
    min_of, max_of    the sum of the tangents where the element is the smallest (largest)
    recurrence        the recurrence of the same factors: t_i = a_i t_(i-1) + (a'_i y_(i-1) + b'_i)

Kinks have the slopes of the graph's gradient: intervals, of which plain doubles take some number. Nothing is claimed.
"""

from __future__ import annotations

import numpy as np

from infimum.graph.build import Build
from infimum.graph.indexmap import Window
from infimum.graph.node import REDUCTIONS, Node, ancestors
from infimum.graph.payload import integer_of, is_number
from infimum.ops import OPERATIONS
from infimum.ops.slopes import taken
from infimum.passes.simplify import rebuilt


def tangents(build: Build, output: Node) -> list[Node]:
    """Return for each variable the derivative of every element of the output by it."""
    nodes = ancestors([output])
    return [build.full(_tangent(build, nodes, i), output.size) for i in range(build.x.size)]


def _tangent(build: Build, nodes: list[Node], i: int) -> Node:
    """Return the derivative of the last of some nodes by variable i; the nodes stand in the order of their making."""
    zero = build.number(0)
    unit = np.zeros(build.x.size)
    unit[i] = 1.0
    found: dict[Node, Node] = {}
    for node in nodes:
        if node is build.x:
            found[node] = build.number(unit)
        elif all(is_number(found[a], 0.0) for a in node.args):
            found[node] = zero
        else:
            found[node] = _of(build, node, [found[a] for a in node.args])
    return found[nodes[-1]]


def _of(build: Build, node: Node, inner: list[Node]) -> Node:
    """Return the tangent of a node from those of its operands."""
    if node.op in OPERATIONS:
        slopes = OPERATIONS[node.op].slope(build, node.args, node)
        terms = [_times(build, s, t) for s, t in zip(slopes, inner, strict=True)]
        return _sum(build, [term for term in terms if not is_number(term, 0.0)])
    if node.op in ("take", "concat", "sum"):
        return rebuilt(build, node, [build.full(t, a.size) for a, t in zip(node.args, inner, strict=True)])
    if node.op == "recurrence":
        before = build.take(node, Window(node.size, 1 if node.data else -1, 1, node.size))
        added = _sum(build, [_times(build, before, inner[0]), inner[1]])
        return build.recurrence(node.args[0], added, node.size, bool(node.data))
    (a,), op, width = node.args, REDUCTIONS[node.op], integer_of(node)
    others = build.others(op, a, width)
    slope = others if node.op == "prod" else taken(build, a, others, op)
    return build.reduce("sum", build.full(_times(build, slope, inner[0]), a.size), width)


def _times(build: Build, slope: Node, tangent: Node) -> Node:
    """Return a product; 0 where the tangent is 0 throughout, even where there is no slope."""
    return tangent if is_number(tangent, 0.0) else build.apply("mul", slope, tangent)


def _sum(build: Build, terms: list[Node]) -> Node:
    total = build.number(0)
    for term in terms:
        total = term if is_number(total, 0.0) else build.apply("add", total, term)
    return total
