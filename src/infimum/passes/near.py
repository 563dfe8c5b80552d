"""What a node comes close to around a box: enclosures that see beyond a jump at the box's edge.

floor(x) is 5 on [5, 5.5], yet 4 just below; x >= 0 holds on [0, 1], yet not just below. Whoever argues by walking out
of the box (`smooth`, the hull of all slopes at a kink) needs the values on both sides. For every node there are

    open    it is defined on an open neighbourhood of the box: a fact, 1 where certain; None: nothing to check
    near    an enclosure of every limit of its values at points that tend to a point of the box; right where it is open

    node                      near                                                    open, beside its operands
    without jumps below       itself                                                  its own rule
    comparison                itself on near operands where they are open and         -
                              strictly apart, else [0, 1]; right everywhere
    floor ceil trunc rounds   itself on near operands, wider by 1 where it may step   -
    sign                      the same, [-1, 1] where it may step                     -
    mod                       the same, between 0 and the divisor where it may step   0 not in the divisor
    atan2                     the same, its whole range at its cut                    not at the origin
    any of these of steps     itself, too, where each operand tends to one number     -
    a fact                    1 where it is certain around the box, else [0, 1]       -
    where                     the branch that the near condition chooses, or both     the branch chosen, or both
    abs min max cbrt hypot    itself on near operands                                 -
    other operations          itself on near operands                                 strictly inside its domain
    structural                itself on near operands                                 every element that it reads
Near nodes stand for one number at a time, like the nodes they are near to, but enclose it in a set of their own: they
are made as they stand.
"""

from __future__ import annotations

from infimum.graph.build import Build
from infimum.graph.node import REDUCTIONS, Node, ancestors, is_fact
from infimum.graph.payload import integer_of, map_of
from infimum.ops import OPERATIONS

Fact = Node | None
_TRUTH = 0.0, 1.0


class Near:
    """Near enclosures of what an output is made of. A graph without jumps stands for itself."""

    def __init__(self, build: Build, output: Node) -> None:
        self.build = build
        self._near: dict[Node, Node] = {}
        self._open: dict[Node, Fact] = {}
        self._steps: set[Node] = set()
        nodes = ancestors([output])
        if any(jumps(node.op) for node in nodes):
            for node in nodes:
                self._open[node] = self._opened(node)
                self._near[node] = self._made(node)
                if node.op == "constant" or is_stepwise(node.op) or (node.args and self._steps.issuperset(node.args)):
                    self._steps.add(node)

    def of(self, node: Node) -> Node:
        """Return the node's near enclosure."""
        return self._near.get(node, node)

    def is_open(self, node: Node) -> Fact:
        """Return whether the node is certainly defined around the box; asked where there are jumps alone."""
        return self._open[node]

    def is_step(self, node: Node) -> bool:
        """Return whether the node depends on x through steps alone: it is constant where it tends to one number."""
        return node in self._steps

    def operands(self, node: Node) -> tuple[Node, ...]:
        """Return the near enclosures of its operands."""
        return tuple(self.of(a) for a in node.args)

    def own(self, kind: str, node: Node) -> Node:
        """Return a fact of the node's own operation around the box."""
        return self.build.graph.node(f"{kind}:{node.op}", self.operands(node), node.size, node.data)

    def is_point(self, node: Node) -> Node:
        """Return whether a node tends to one number: steps are constant there."""
        return self.build.graph.node("is_equal", (self.of(node), self.of(node)), node.size)

    def between_jumps(self, node: Node) -> Node:
        """Return whether an operation certainly meets no jump of its own: floor(x) >= 3 meets none on [3.25, 3.5]."""
        own = self.own("smooth", node)
        moving = [a for a in node.args if a.op != "constant"]
        if not moving or not self._steps.issuperset(moving):
            return own
        still = all_of(self.build, [self.is_point(a) for a in moving])
        assert still is not None
        return self.build.apply("max", own, still)

    # ------------------------------------------------------------------------------------------ enclosures
    def _made(self, node: Node) -> Node:
        b = self.build
        near = self.operands(node)
        if not jumps(node.op):
            return node if near == node.args else b.graph.node(node.op, near, node.size, node.data)
        if is_fact(node.op):
            return self._where(self._certain(node), b.number(1), b.between(*_TRUTH), node.size)
        itself = b.graph.node(node.op, near, node.size, node.data)
        row = OPERATIONS[node.op]
        assert row.jump is not None
        if row.values == "truths":
            return self._where(self._certain(node), itself, b.between(*_TRUTH), node.size)
        beyond = b.between(row.jump.lo, row.jump.hi)
        if row.jump.of == "divisor":
            beyond = b.graph.node("mul", (near[1], beyond), node.size)
        elif row.jump.of == "value":
            beyond = b.graph.node("add", (itself, beyond), node.size)
        return self._where(self.between_jumps(node), itself, beyond, node.size)

    def _certain(self, node: Node) -> Node:
        """Return whether a comparison or a fact is the same on an open neighbourhood."""
        if not is_fact(node.op):
            own = self.between_jumps(node)
        elif node.op.startswith("smooth:"):
            own = self.build.graph.node(node.op, self.operands(node), node.size, node.data)
        else:
            own = self.build.number(1)  # defined:neg and the like, of what is defined around the box
        both = all_of(self.build, [*(self._open[a] for a in node.args), own])
        assert both is not None
        return both

    def _where(self, condition: Node, x: Node, y: Node, size: int) -> Node:
        return self.build.graph.node("where", (condition, x, y), size)

    # ------------------------------------------------------------------------------------------ definition
    def _opened(self, node: Node) -> Fact:
        if is_fact(node.op):
            return None
        below = [self._open[a] for a in node.args]
        if node.op == "where":
            return chosen(self.build, self.of(node.args[0]), *below)
        if node.op not in OPERATIONS:
            return through(self.build, node, below)
        if not is_checked(node) or OPERATIONS[node.op].facts == "defined":
            return all_of(self.build, below)
        # Where an operation that jumps is defined it is so nearby; others are smooth inside the edges of their domain.
        return all_of(self.build, [*below, self.own("defined" if jumps(node.op) else "smooth", node)])


def is_stepwise(op: str) -> bool:
    """Return whether an operation is constant between its jumps."""
    return is_fact(op) or (op in OPERATIONS and OPERATIONS[op].values != "reals")


def jumps(op: str) -> bool:
    """Return whether an operation jumps anywhere."""
    return is_fact(op) or (op in OPERATIONS and OPERATIONS[op].jump is not None)


def is_checked(node: Node) -> bool:
    """Return whether its operation is undefined, or not smooth, anywhere on the reals."""
    positive = node.op == "pown" and isinstance(node.data, int) and node.data >= 0
    return OPERATIONS[node.op].facts != "everywhere" and not positive


# ---------------------------------------------------------------------------------------------- facts combined
# A fact node is never empty, so that the hull in an open `where` loses none: conditions are asked only where defined.


def all_of(build: Build, facts: list[Fact]) -> Fact:
    """Return whether all hold."""
    result: Fact = None
    for fact in facts:
        if fact is not None:
            result = fact if result is None else build.apply("min", result, fact)
    return result


def certain(build: Build, fact: Fact) -> Node:
    """Return whether a fact holds of every element."""
    return build.number(1) if fact is None else build.reduce("min_of", fact, fact.size)


def chosen(build: Build, condition: Node, valid: Fact, x: Fact, y: Fact) -> Fact:
    """Return the fact of the branch chosen, of both where the condition is open; and that the condition is valid."""
    if x is None and y is None:
        return valid
    one = build.number(1)
    branches = build.apply("where", condition, x or one, y or one)
    return branches if valid is None else build.apply("where", valid, branches, build.number(0))


def grouped(build: Build, node: Node, fact: Fact) -> Fact:
    """Return whether the fact holds of every element of a reduction's groups."""
    return None if fact is None else build.reduce("min_of", build.full(fact, node.args[0].size), integer_of(node))


def through(build: Build, node: Node, below: list[Fact]) -> Fact:
    """Return the operands' facts at the elements that a structural node reads."""
    if all(fact is None for fact in below):
        return None
    if node.op == "take":
        assert below[0] is not None
        false = build.apply("sub", build.number(1), build.full(below[0], node.args[0].size))
        return build.apply("sub", build.number(1), build.take(false, map_of(node)))  # a missing element is 0: smooth
    if node.op == "concat":
        one = build.number(1)
        return build.concat([build.full(f or one, a.size) for f, a in zip(below, node.args, strict=True)])
    if node.op in REDUCTIONS:
        return grouped(build, node, below[0])
    return certain(build, all_of(build, [build.full(f, node.size) if f is not None else None for f in below]))
