"""Tangents: the derivative of expressions along a direction, in forward mode.

The tangent of a node is what its value changes by, to first order, as x moves along a seed. Of the gradient it is the
Hessian times the seed. What does not depend on the seed has no tangent (None): it is left out, not computed as 0.

    node                 tangent
    x                    the seed
    elementwise          the sum of its operands' tangents times its slopes (of its record)
    div                  (t_a - y t_b) / b
    where                that of the branch chosen; the condition has none
    0 for an adjoint 0   that of what the adjoint multiplies (derive), 0 where the adjoint is 0 on the whole box
    take, concat, sum    the same of the tangents
    prod                 the sum of the tangents times the others
    min_of, max_of       the sum of the tangents, each where its element is below (above) the others
    others               of a sum: the others of the tangents; of anything else: through an explicit tree
    recurrence           t_i = a_i t_(i-1) + (ta_i y_(i-1) + tb_i)
    constants, steps     none

Guarantee: on a box around which every operation of f is smooth, the tangent of f's gradient contains the Hessian times
the seed at every point. There f is a composition of analytic functions (is_twice_smooth). The gradient's own expression
is f's gradient there; where it has a kink or a hull that f has not (a slope of hypot is clamped to [-1, 1]), it is
still directionally differentiable, and the hull of slopes contains its one-sided derivatives, as the chain rule goes
through them node by node; both sides are the Hessian's. Elsewhere nothing is claimed.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from infimum import core
from infimum.graph.build import Build
from infimum.graph.constant import of_bounds
from infimum.graph.indexmap import Window
from infimum.graph.node import REDUCTIONS, Node, bottom_up, is_fact
from infimum.graph.payload import integer_of, is_number, map_of, others_of, value_of
from infimum.ops import OPERATIONS
from infimum.ops.slopes import taken
from infimum.passes.derive import tree_of_others

Tangent = Node | None


class Tangents:
    """The tangents of expressions along one seed, an array of n numbers or a single one for all."""

    def __init__(self, build: Build, seed: Node) -> None:
        self.build = build
        self._known: dict[Node, Tangent] = {build.x: None if _is_zero(seed) else seed}

    def of(self, node: Node) -> Tangent:
        """Return the node's tangent, of the node's size or a single number for all elements; None where it is 0."""
        return bottom_up(node, self._known, self._made)

    def _made(self, node: Node) -> Tangent:
        below = [self._known[a] for a in node.args]
        if is_fact(node.op) or all(t is None for t in below):
            return None
        if node.op in OPERATIONS:
            made = self._elementwise(node, below)
        elif node.op == "concat":
            zero = self.build.number(0)
            pieces = zip(below, node.args, strict=True)
            made = self.build.concat([self.build.full(t or zero, a.size) for t, a in pieces])
        elif node.op == "recurrence":
            made = self._recurrence(node, below)
        else:
            (t,), (a,) = below, node.args
            assert t is not None
            made = self._structural(node, a, t)
        return None if made is None or _is_zero(made) else made

    # ------------------------------------------------------------------------------------------ elementwise
    def _elementwise(self, node: Node, below: list[Tangent]) -> Tangent:
        build = self.build
        if node.op == "where":
            return self._where(node, below)
        if node.op == "div":
            top, bottom = below
            if bottom is not None:
                lost = build.apply("mul", node, bottom)
                top = build.apply("neg", lost) if top is None else build.apply("sub", top, lost)
            assert top is not None
            return build.apply("div", top, node.args[1])
        total: Tangent = None
        slopes = OPERATIONS[node.op].slope(build, node.args, node)
        for t, slope in zip(below, slopes, strict=True):
            if t is not None and not _is_zero(slope):
                total = self._plus(total, build.apply("mul", t, slope))
        return total

    def _where(self, node: Node, below: list[Tangent]) -> Tangent:
        build = self.build
        condition, x, y = node.args
        zero = build.number(0)
        if is_number(x, 0.0) and y.op == "where" and is_fact(y.args[0].op) and condition.op == "is_equal":
            # derive's g * slope where g may be 0: a hull with 0 is needed nowhere, as it is that product itself
            product = self._known[y.args[1]]
            never = build.graph.node("defined:sqrt", (build.apply("sub", condition, build.number(1)),), condition.size)
            return None if product is None else build.apply("where", never, zero, product)
        if below[1] is None and below[2] is None:
            return None
        return build.apply("where", condition, below[1] or zero, below[2] or zero)

    # ------------------------------------------------------------------------------------------ structure
    def _structural(self, node: Node, a: Node, t: Node) -> Tangent:
        build = self.build
        if node.op == "take":
            m = map_of(node)
            is_whole = t.size == 1 and bool((m.indices() >= 0).all())
            return t if is_whole else build.take(build.full(t, a.size), m)
        if node.op == "others":
            return self._others(node, a, t)
        width = integer_of(node)
        if node.op != "sum":
            op = REDUCTIONS[node.op]
            others = build.others(op, a, width)
            t = build.apply("mul", t, others if node.op == "prod" else taken(build, a, others, op))
        return summed(build, t, a.size, width)

    def _others(self, node: Node, a: Node, t: Node) -> Tangent:
        build = self.build
        op, width = others_of(node)
        if op == "add":
            return build.others("add", build.full(t, a.size), width)
        build.keep.add(a)  # no rewrite looks inside it
        explicit = tree_of_others(build, a, op, width)
        return self.of(explicit)

    def _recurrence(self, node: Node, below: list[Tangent]) -> Tangent:
        build, (ta, tb) = self.build, below
        term = tb
        if ta is not None:
            before = build.take(node, Window(node.size, 1 if node.data else -1, 1, node.size))
            term = self._plus(tb, build.apply("mul", ta, before))
        assert term is not None
        return build.recurrence(node.args[0], term, node.size, bool(node.data))

    def _plus(self, a: Tangent, b: Node) -> Node:
        return b if a is None else self.build.apply("add", a, b)


def summed(build: Build, node: Node, size: int, width: int) -> Node:
    """Return the sums of groups of an array of `size` elements, or of one number for all; those of constants folded."""
    if node.size == 1:
        return build.apply("mul", build.number(width), node)
    if node.op != "constant":
        return build.reduce("sum", node, width)
    lo, hi = (np.ascontiguousarray(end.reshape(-1, width).T) for end in value_of(node).enclosure())
    while len(lo) > 1:
        half = len(lo) // 2
        ends = core.apply("add", (lo[:half], hi[:half]), (lo[half : 2 * half], hi[half : 2 * half]))
        lo, hi = (
            np.vstack([end.reshape(half, -1), rest[2 * half :]]) for end, rest in zip(ends, (lo, hi), strict=True)
        )
    return build.constant(of_bounds(lo[0], hi[0]))


def unit(build: Build, indices: npt.NDArray[np.int64], n: int) -> Node:
    """Return the seed that is 1 at these indices and 0 elsewhere."""
    seed = np.zeros(n)
    seed[indices] = 1.0
    return build.number(seed)


def _is_zero(node: Node) -> bool:
    doubles = value_of(node).doubles if node.op == "constant" else None
    return doubles is not None and not doubles.any()
