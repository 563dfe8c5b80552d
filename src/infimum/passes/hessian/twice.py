"""Whether a function that is smooth is twice so: the gradient's expression may then be differentiated.

The facts of passes/facts say that around a box every operation of f is smooth and every condition is decided. Where the
core calls an operation smooth it is analytic there (core/facts.h: roots, logarithms and powers strictly inside their
domains, |u| and cbrt where u is not 0, min and max where one operand is strictly beyond the other, hypot away from the
origin; the rest is entire, or a quotient with a divisor that is not 0). So f is a composition of analytic functions on
a neighbourhood of the box, and twice continuously differentiable: |x|^3, x |x| and max(x, 0)^2, which are so at 0 by
luck of their ends or not at all, are not smooth there by their operations.

That the gradient's *expression* can be differentiated is another matter. A slope that is known as a range of numbers
only (of trigamma, `has_second` of its record) varies within that range, and the tangent of the range's ends is not its
tangent: where such an operation depends on x, nothing is said of second derivatives.
"""

from __future__ import annotations

from infimum.graph.node import Node, ancestors
from infimum.ops import OPERATIONS


def has_second(value: Node) -> bool:
    """Return whether the gradient of an expression has a tangent that encloses its second derivatives."""
    varies: set[Node] = set()
    for node in ancestors([value]):
        if node.op == "x" or any(a in varies for a in node.args):
            varies.add(node)
            if node.op in OPERATIONS and not OPERATIONS[node.op].has_second:
                return False
    return True
