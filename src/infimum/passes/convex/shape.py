"""What is known of a node's shape, and the rule for an operation of one operand."""

from __future__ import annotations

from typing import NamedTuple

from infimum.graph.node import Node
from infimum.ops.curves import Curve
from infimum.passes.convex.truths import Truth, Truths


class Shape(NamedTuple):
    """Whether a node is certainly convex, and whether it is concave; both: affine.

    Each is said of the points of a box at which the node is defined, and that these form a convex set.
    """

    convex: Truth
    concave: Truth


AFFINE = Shape(True, True)
NEITHER = Shape(False, False)


def turned(shape: Shape) -> Shape:
    """Return the shape of minus the node."""
    return Shape(shape.concave, shape.convex)


def added(truths: Truths, *shapes: Shape) -> Shape:
    """Return the shape of a sum."""
    return Shape(
        truths.both(*(shape.convex for shape in shapes)),
        truths.both(*(shape.concave for shape in shapes)),
    )


def scaled(truths: Truths, shape: Shape, nonnegative: Truth, nonpositive: Truth) -> Shape:
    """Return the shape of the node times something that does not depend on x, of such a sign."""
    if shape in (AFFINE, NEITHER):
        return shape
    t = truths
    convex = t.either(t.both(nonnegative, shape.convex), t.both(nonpositive, shape.concave))
    concave = t.either(t.both(nonnegative, shape.concave), t.both(nonpositive, shape.convex))
    return Shape(convex, concave)


def composed(truths: Truths, curve: Curve, u: Node, shape: Shape) -> Shape:
    """Return the shape of h(u), for an operation h of this curve on the range of u.

    h          u            h falls or rises    then h(u) is
    convex     affine                           convex
    convex     convex       rises               convex
    convex     concave      falls               convex
    concave    affine                           concave
    concave    concave      rises               concave
    concave    convex       falls               concave

    For x and y where h(u) is defined and z between them, u(z) lies on the side of the mean of u(x) and u(y) to which h
    does not rise (fall), and h is defined there (ops/curves.py): the hull of the range of u is looked at, so that this
    holds for the mean as well.
    """
    t = truths
    affine = t.both(shape.convex, shape.concave)
    found: list[Truth] = []
    for spans, bends, bends_back in (
        (curve.convex, shape.convex, shape.concave),
        (curve.concave, shape.concave, shape.convex),
    ):
        if not spans or (bends is False and bends_back is False):
            found.append(False)
            continue
        rising = t.both(bends, t.spans(u, curve.rises)) if affine is not True and bends is not False else False
        falling = (
            t.both(bends_back, t.spans(u, curve.falls)) if affine is not True and bends_back is not False else False
        )
        found.append(t.both(t.either(affine, rising, falling), t.spans(u, spans)))
    return Shape(found[0], found[1])
