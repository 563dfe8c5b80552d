"""The gradient of a graph, as a graph: reverse mode, closed under itself.

Adjoints are gathered, never scattered: the transpose of an index map is a take again, so order and bits are fixed.
Products go through `others`, never through a division. At kinks a slope is the hull of all slopes nearby: slopes read
near enclosures of their operands (passes/near), so that (x >= 0) * x has both of its slopes at 0.
Under a `where`, the branch that is not chosen has the adjoint 0 and may be undefined: its slopes then count as 0 too.
Where it may be chosen and has no slope at all, its slope may be anything.

    node              adjoint of its operand, given its own adjoint g
    elementwise       g * slope (of its record), summed where the operand is a scalar
    take              g read through the transposed map
    concat            the pieces of g
    sum               g spread over its group
    prod              g spread, times the others
    min_of, max_of    g spread, where the element is below (above) the others, [0, g] where it may be equal
    others            of a sum: the others of g; of anything else: through an explicit tree
    recurrence        the recurrence from the other end
"""

from __future__ import annotations

import numpy as np

from infimum.graph import indexmap
from infimum.graph.build import Build
from infimum.graph.constant import Constant
from infimum.graph.indexmap import Affine, IndexMap, Window
from infimum.graph.node import REDUCTIONS, Node, ancestors
from infimum.graph.payload import integer_of, map_of, others_of, value_of
from infimum.ops import OPERATIONS
from infimum.ops.slopes import taken
from infimum.passes.near import Near
from infimum.passes.simplify import rebuilt

_ENTIRE = Constant(bounds=(np.array([-np.inf]), np.array([np.inf])))
_MANY = 64  # parts of a node that are put back one by one


def gradient(build: Build, output: Node) -> Node:
    """Return the partial derivatives of a scalar output by every x_i, as one array node."""
    adjoints: dict[Node, Node] = {output: build.number(1)}
    depends = _dependent(build, output)
    chosen = _chosen(output)
    near = Near(build, output)
    nodes = ancestors([output])
    shared = _read_in_many_pieces(nodes)
    pieces: dict[Node, list[tuple[Node, IndexMap]]] = {}
    for node in reversed(nodes):
        if node in pieces:
            part = _joined(build, pieces.pop(node), node.size)
            before = adjoints.get(node)
            adjoints[node] = part if before is None else build.apply("add", before, part)
        g = adjoints.get(node)
        if g is None or node is build.x or node not in depends:
            continue
        if node.op == "take" and node.args[0] in shared:
            pieces.setdefault(node.args[0], []).append((build.full(g, node.size), map_of(node)))
            continue
        for operand, part in _parts(near, node, g, node in chosen):
            if operand in depends and not _is_zero(part):
                before = adjoints.get(operand)
                adjoints[operand] = part if before is None else build.apply("add", before, part)
    return build.full(adjoints.get(build.x, build.number(0)), build.x.size)


def _read_in_many_pieces(nodes: list[Node]) -> set[Node]:
    """Return the nodes of which many small parts are taken, as by a loop over x[i]."""
    counts: dict[Node, int] = {}
    for node in nodes:
        if node.op == "take" and _MANY * node.size < node.args[0].size:
            counts[node.args[0]] = counts.get(node.args[0], 0) + 1
    return {node for node, count in counts.items() if count > _MANY}


def _joined(build: Build, pieces: list[tuple[Node, IndexMap]], size: int) -> Node:
    """Return the adjoint of a node read in many pieces, put back at once: each alone would cost the whole's size."""
    joined = build.concat([g for g, _ in pieces])
    indices = np.concatenate([m.indices() for _, m in pieces])
    return transposed(build, build.full(joined, indices.size), indexmap.of_indices(indices, size), size)


def _dependent(build: Build, output: Node) -> set[Node]:
    found: set[Node] = set()
    for node in ancestors([output]):
        if node is build.x or any(a in found for a in node.args):
            found.add(node)
    return found


def _chosen(output: Node) -> set[Node]:
    """Return what only some points need: everything under a branch of a `where`."""
    found: set[Node] = set()
    for node in reversed(ancestors([output])):
        if node in found:
            found.update(node.args)
        elif node.op == "where":
            found.update(node.args[1:])
    return found


def _times(build: Build, g: Node, slope: Node, chosen: bool) -> Node:
    """Return g * slope; 0 where g is 0 because the branch is not taken, whether the slope is defined there or not."""
    product = build.apply("mul", g, slope)
    if not chosen or build.is_total(slope):
        return product
    zero = build.number(0)
    exists = build.graph.node("defined:neg", (product,), product.size)
    anything = build.apply("where", exists, product, build.constant(_ENTIRE))
    return build.apply("where", build.apply("is_equal", g, zero), zero, anything)


def _is_zero(node: Node) -> bool:
    """Return whether a node is exactly 0: the nearest double of a constant may be 0 where it is not."""
    doubles = value_of(node).doubles if node.op == "constant" else None
    return doubles is not None and not doubles.any()


def _parts(near: Near, node: Node, g: Node, chosen: bool) -> list[tuple[Node, Node]]:
    """Return what a node with adjoint g (its own size, or a scalar for all elements) adds to its operands' adjoints."""
    if node.op in OPERATIONS:
        return _elementwise(near, node, g, chosen)
    build, a = near.build, node.args[0]
    if node.op == "take":
        return [(a, transposed(build, build.full(g, node.size), map_of(node), a.size))]
    if node.op == "concat":
        return _pieces(build, node, g)
    if node.op == "recurrence":
        return _recurrence(near, node, build.full(g, node.size), chosen)
    if node.op == "others":
        return _others(near, node, build.full(g, node.size), chosen)
    width = integer_of(node)
    spread = _spread(build, g, node.size, width)
    if node.op == "sum":
        return [(a, spread)]
    value, op = near.of(a), REDUCTIONS[node.op]
    others = build.others(op, value, width)
    slope = others if node.op == "prod" else taken(build, value, others, op)
    return [(a, _times(build, spread, slope, chosen))]


def _elementwise(near: Near, node: Node, g: Node, chosen: bool) -> list[tuple[Node, Node]]:
    build, slope = near.build, OPERATIONS[node.op].slope
    found = []
    for operand, s in zip(node.args, slope(build, near.operands(node), near.of(node)), strict=True):
        if _is_zero(s):
            continue
        part = _times(build, g, s, chosen)
        if operand.size == 1 and node.size > 1:
            part = build.reduce("sum", part, node.size)
        found.append((operand, part))
    return found


def _spread(build: Build, g: Node, groups: int, width: int) -> Node:
    """Return each group's adjoint for all of its elements; a scalar stays a scalar."""
    if g.size == 1:
        return g
    return build.take(g, indexmap.affine([(groups, 1), (width, 0)], 0, groups))


def transposed(build: Build, g: Node, m: IndexMap, size: int) -> Node:
    """Return the node whose element j is the sum of g[i] over every i that reads j through m."""
    if size == 1:
        (present,) = np.nonzero(m.indices() >= 0)
        read = build.take(g, indexmap.of_indices(present, m.size))
        return build.reduce("sum", read, present.size) if present.size else build.number(0)
    if isinstance(m, Affine | Window):
        line = _inverse_line(m, size)
        if line is not None:
            return build.take(g, line)
    total: Node | None = None
    for targets, positions in indexmap.readers(m):
        width = positions.shape[1]
        gathered = build.take(g, indexmap.of_indices(positions.ravel(), m.size))
        sums = build.reduce("sum", build.full(gathered, positions.size), width)
        place = np.full(size, -1, np.int64)
        place[targets] = np.arange(targets.size)
        placed = build.take(build.full(sums, targets.size), indexmap.of_indices(place, targets.size))
        total = placed if total is None else build.apply("add", total, placed)
    return total if total is not None else build.number(0)


def _inverse_line(m: Affine | Window, size: int) -> Window | None:
    """Return the window that inverts a contiguous line, forwards or backwards."""
    if isinstance(m, Window):
        step, offset = m.step, m.offset
    elif len(m.dims) == 1:
        step, offset = m.dims[0][1], m.offset
    elif not m.dims:
        step, offset = 1, m.offset
    else:
        return None
    return Window(size, -step * offset, step, m.size) if step in (1, -1) else None


def _pieces(build: Build, node: Node, g: Node) -> list[tuple[Node, Node]]:
    whole = build.full(g, node.size)
    found, start = [], 0
    for piece in node.args:
        part = build.take(whole, indexmap.affine([(piece.size, 1)], start, node.size))
        found.append((piece, part))
        start += piece.size
    return found


def _recurrence(near: Near, node: Node, g: Node, chosen: bool) -> list[tuple[Node, Node]]:
    """Return db = mu and da_i = mu_i y_(i-1) with mu_i = g_i + a_(i+1) mu_(i+1); mirrored for a reversed recurrence."""
    build, (by_a, by_b) = near.build, node.args
    a = near.of(by_a)
    ahead = -1 if node.data else 1
    size = node.size
    shift = Window(size, ahead, 1, size)
    factors = build.take(a, shift)
    if chosen and not build.is_total(a):  # a factor that no adjoint needs counts as 0, even where it is undefined
        needed = build.recurrence(build.number(1), build.apply("abs", g), size, not node.data)
        unused = build.apply("is_equal", build.take(needed, shift), build.number(0))
        factors = build.apply("where", unused, build.number(0), factors)
    mu = build.recurrence(factors, g, size, not node.data)
    before = build.take(near.of(node), Window(size, -ahead, 1, size))
    return [(by_b, mu), (by_a, _times(build, mu, before, chosen))]


def _others(near: Near, node: Node, g: Node, chosen: bool) -> list[tuple[Node, Node]]:
    build = near.build
    op, width = others_of(node)
    (a,) = node.args
    if op == "add":
        return [(a, build.others("add", g, width))]
    # The tree is built and derived on a leaf that stands for `a`, so that no rewrite looks inside `a`.
    leaf = build.opaque(a)
    explicit = tree_of_others(build, leaf, op, width)
    adjoints: dict[Node, Node] = {explicit: g}
    depends = {leaf}
    inside = ancestors([explicit])
    for inner in inside:
        if any(argument in depends for argument in inner.args):
            depends.add(inner)
    for inner in reversed(inside):
        if inner in adjoints and inner in depends and inner is not leaf:
            for operand, part in _parts(near, inner, adjoints[inner], chosen):
                before = adjoints.get(operand)
                adjoints[operand] = part if before is None else build.apply("add", before, part)
    return [(a, _replaced(build, adjoints[leaf], leaf, near.of(a)))] if leaf in adjoints else []


def _replaced(build: Build, node: Node, leaf: Node, by: Node) -> Node:
    """Return the expression with another node in place of a leaf."""
    new = {leaf: by}
    for inner in ancestors([node]):
        if any(argument in new for argument in inner.args):
            new[inner] = rebuilt(build, inner, [new.get(argument, argument) for argument in inner.args])
    return new.get(node, node)


def tree_of_others(build: Build, a: Node, op: str, width: int) -> Node:
    """Return `others` as elementwise nodes: products of the halves that do not hold the element, level by level."""
    neutral = build.number({"mul": 1.0, "add": 0.0, "min": np.inf, "max": -np.inf}[op])
    size = a.size
    group, place = np.divmod(np.arange(size), width)
    result = neutral
    level, count, span = a, width, 1
    while count > 1:
        # level holds, per group, `count` products of `span` neighbours; the sibling of block k is block k ^ 1
        sibling = (place // span) ^ 1
        inside = sibling < count
        index = np.where(inside, group * count + sibling, -1)
        term = build.take(level, indexmap.of_indices(index, level.size))
        if not inside.all():
            mask = build.number(inside.astype(float))
            term = build.apply("where", mask, term, neutral)
        result = term if result is neutral else build.apply(op, result, term)
        level, count = _halved(build, level, op, size // width, count, neutral)
        span *= 2
    return build.full(result, size)


def _halved(build: Build, level: Node, op: str, groups: int, count: int, neutral: Node) -> tuple[Node, int]:
    half = (count + 1) // 2
    base = (np.arange(groups) * count)[:, None] + 2 * np.arange(half)
    left = build.take(level, indexmap.of_indices(base.ravel(), level.size))
    partner = np.where(2 * np.arange(half) + 1 < count, base + 1, -1).ravel()
    right = build.take(level, indexmap.of_indices(partner, level.size))
    if (partner < 0).any():
        right = build.apply("where", build.number((partner >= 0).astype(float)), right, neutral)
    return build.full(build.apply(op, left, right), groups * half), half
