"""The Hessian times a direction, as a Program in x and the direction: its cost is that of a few gradients."""

from __future__ import annotations

from infimum.graph import indexmap
from infimum.graph.build import Build
from infimum.graph.indexmap import Window
from infimum.graph.node import Node, ancestors
from infimum.passes.hessian.tangent import Tangents
from infimum.passes.lowering.lower import lower
from infimum.passes.lowering.program import Program


def product(gradient: Node, n: int) -> Program:
    """Return the Program of 2n inputs, a box of x and then the direction, whose output is the Hessian's product."""
    build = Build(2 * n)
    x = build.take(build.x, indexmap.affine([(n, 1)], 0, 2 * n))
    seed = build.take(build.x, Window(2 * n, n, 1, 2 * n))  # x moves along the direction, and the direction stays
    made: dict[Node, Node] = {}
    for node in ancestors([gradient]):
        args = [made[a] for a in node.args]
        made[node] = x if node.op == "x" else build.graph.node(node.op, args, node.size, node.data)
    found = Tangents(build, seed).of(made[gradient])
    return lower([build.full(found or build.number(0), n)], 2 * n)
