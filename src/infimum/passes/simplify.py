"""Rebuild a traced graph as simple nodes: what the user wrote, with every rewrite of build.py applied."""

from __future__ import annotations

from infimum.graph.build import CHEAP, Build
from infimum.graph.node import REDUCTIONS, Node, ancestors, users
from infimum.graph.payload import integer_of, map_of, others_of, value_of
from infimum.ops import OPERATIONS


def simplify(outputs: list[Node], variables: int) -> tuple[Build, list[Node]]:
    """Return the same outputs on a new graph.

    Guarantee: every output denotes the same real function, defined on the same set.
    """
    build = Build(variables)
    nodes = ancestors(outputs)
    counts = users(nodes)
    new: dict[Node, Node] = {}
    for node in nodes:
        args = [new[a] for a in node.args]
        made = rebuilt(build, node, args)
        # An expensive node that several others read is stored once, not recomputed behind each reader's index map.
        if node.op in OPERATIONS and node.op not in CHEAP and node.size > 1 and counts.get(node.number, 0) > 1:
            build.keep.add(made)
        new[node] = made
    return build, [new[node] for node in outputs]


def rebuilt(build: Build, node: Node, args: list[Node]) -> Node:
    """Return one node again, on new operands."""
    if node.op == "x":
        return build.x
    if node.op == "constant":
        return build.constant(value_of(node))
    if node.op in OPERATIONS:
        return build.apply(node.op, *args, data=node.data)
    if node.op == "take":
        m = map_of(node)
        return build.take(build.full(args[0], m.source), m)
    if node.op == "concat":
        return build.concat([build.full(a, old.size) for a, old in zip(args, node.args, strict=True)])
    if node.op in REDUCTIONS:
        return _reduction(build, node, args[0])
    if node.op == "others":
        op, width = others_of(node)
        return build.others(op, build.full(args[0], node.args[0].size), width)
    assert node.op == "recurrence", node.op
    return build.recurrence(args[0], args[1], node.size, bool(node.data))


def _reduction(build: Build, node: Node, arg: Node) -> Node:
    width = integer_of(node)
    if arg.size == 1 and node.op == "prod":
        return build.full(build.apply("pown", arg, data=width), node.size)
    if arg.size == 1:  # every group is the same scalar repeated
        return build.full(build.reduce(node.op, arg, width), node.size)
    return build.reduce(node.op, arg, width)
