"""Find the loops that tracing unrolled: many scalar terms of one form become one array node.

A Python loop over x[i] leaves n scalar expressions that differ only in the elements they read and in their constants.
Terms of a sum, product, minimum or maximum, and elements of an array assembled from scalars, are grouped by form; each
group of at least three is zipped into one array expression.

Guarantee: sums and products are reordered (true over the reals); all else is the same expression element by element.
"""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from infimum.graph import indexmap
from infimum.graph.constant import joined
from infimum.graph.node import Graph, Node, ancestors, users
from infimum.graph.payload import map_of, value_of
from infimum.ops import OPERATIONS

_SMALLEST = 3
_DEEPEST = 400
_CHAINS = {"add": "sum", "mul": "prod", "min": "min_of", "max": "max_of"}


def reroll(graph: Graph, outputs: list[Node]) -> list[Node]:
    """Return the same outputs with their unrolled loops rolled up again."""
    nodes = ancestors(outputs)
    if len(nodes) < 4 * _SMALLEST:
        return outputs
    return _Roller(graph, nodes).run(outputs)


class _Roller:
    def __init__(self, graph: Graph, nodes: list[Node]) -> None:
        self.graph = graph
        self.nodes = nodes
        self.counts = users(nodes)
        self.new: dict[Node, Node] = {}
        self.forms: dict[Node, tuple[int, int]] = {}  # form number and depth
        self.known: dict[Hashable, int] = {}
        self.inner = self._inner_links()

    def run(self, outputs: list[Node]) -> list[Node]:
        for node in self.nodes:
            if node in self.inner:
                continue  # rebuilt as part of the chain it belongs to
            self.new[node] = self._rebuilt(node)
        return [self.new[node] for node in outputs]

    def _inner_links(self) -> set[Node]:
        """Return the scalar chain nodes whose only reader continues the same chain."""
        found = set()
        for node in self.nodes:
            chain = _chain_of(node)
            if chain is None:
                continue
            for argument in node.args:
                if _chain_of(argument) == chain and self.counts[argument.number] == 1:
                    found.add(argument)
        return found

    def _rebuilt(self, node: Node) -> Node:
        chain = _chain_of(node)
        if chain is not None and any(a in self.inner for a in node.args):
            return self._rolled_chain(chain, node)
        if node.op == "concat" and len(node.args) >= _SMALLEST:
            return self._rolled_concat([self.new[a] for a in node.args])
        args = [self.new[a] for a in node.args]
        return self.graph.node(node.op, args, node.size, node.data)

    # ------------------------------------------------------------------------------------------ chains
    def _terms(self, node: Node) -> list[tuple[Node, bool]]:
        """Return the operands of a chain from left to right, with True for those that are subtracted."""
        found: list[tuple[Node, bool]] = []
        stack: list[tuple[Node, bool]] = [(node, False)]
        while stack:
            current, negative = stack.pop()
            if current is node or current in self.inner:
                flip = [negative, negative != (current.op == "sub")]
                if current.op == "neg":
                    flip = [not negative]
                stack.extend(reversed(list(zip(current.args, flip, strict=False))))
            else:
                found.append((self.new[current], negative))
        return found

    def _rolled_chain(self, chain: str, node: Node) -> Node:
        groups: dict[tuple[int, bool], list[Node]] = {}
        for term, negative in self._terms(node):
            groups.setdefault((self._form(term)[0], negative), []).append(term)
        parts: list[tuple[Node, bool]] = []
        loops: dict[int, list[tuple[Node, bool]]] = {}  # by length: what one loop added up comes back as one sum
        for (_, negative), alike in groups.items():
            for terms in self._by_constants(alike):
                if len(terms) >= _SMALLEST and self._form(terms[0])[1] <= _DEEPEST:
                    rolled = self._spread(self._zip(terms), len(terms))
                    loops.setdefault(len(terms), []).append((rolled, negative))
                else:
                    parts += [(term, negative) for term in terms]
        for length, bodies in loops.items():
            negative = all(minus for _, minus in bodies)
            body = self._joined(chain, [(node, minus and not negative) for node, minus in bodies])
            parts.append((self.graph.node(_CHAINS[chain], (body,), 1, length), negative))
        return self._joined(chain, parts)

    def _by_constants(self, terms: list[Node]) -> list[list[Node]]:
        """Return terms of one form grouped by their constants if the groups are equally long: 8 sin(7x), 6 sin(14x)."""
        if len(terms) < 2 * _SMALLEST:
            return [terms]
        groups: dict[Hashable, list[Node]] = {}
        for term in terms:
            groups.setdefault(self._constants(term), []).append(term)
        lengths = {len(group) for group in groups.values()}
        return list(groups.values()) if len(lengths) == 1 and lengths.pop() >= _SMALLEST else [terms]

    def _constants(self, node: Node) -> Hashable:
        """Return the constants in a term, in order."""
        if self._form(node)[1] > _DEEPEST or node.op in ("take", "x"):
            return None
        if node.op == "constant":
            return node.data
        return tuple(self._constants(a) for a in node.args)

    def _joined(self, chain: str, parts: list[tuple[Node, bool]]) -> Node:
        # Positive terms first, reductions last: however the terms were written down, the chain comes out the same.
        parts.sort(key=lambda part: (part[1], part[0].op in _CHAINS.values()))
        result, negative = parts[0]
        if negative:
            result = self.graph.node("neg", (result,), result.size)
        for part, minus in parts[1:]:
            result = self.graph.node("sub" if minus else chain, (result, part), result.size)
        return result

    def _rolled_concat(self, pieces: list[Node]) -> Node:
        """Return an array of scalars: each group of one form becomes an array, a table puts the elements in place."""
        if any(piece.size != 1 for piece in pieces):
            return self.graph.node("concat", pieces, sum(p.size for p in pieces))
        groups: dict[int, list[int]] = {}
        for position, piece in enumerate(pieces):
            groups.setdefault(self._form(piece)[0], []).append(position)
        blocks: list[Node] = []
        order = np.empty(len(pieces), np.int64)
        start = 0
        for positions in groups.values():
            members = [pieces[p] for p in positions]
            shallow = self._form(members[0])[1] <= _DEEPEST
            zipped = [self._spread(self._zip(members), len(members))] if shallow else members
            blocks += zipped
            order[positions] = start + np.arange(len(positions))
            start += len(positions)
        whole = blocks[0] if len(blocks) == 1 else self.graph.node("concat", blocks, len(pieces))
        m = indexmap.of_indices(order, len(pieces))
        return whole if indexmap.is_identity(m) else self.graph.node("take", (whole,), len(pieces), m)

    # ------------------------------------------------------------------------------------------ forms
    def _form(self, node: Node) -> tuple[int, int]:
        """Return a number shared by exactly the expressions that can be zipped, and the depth of the expression."""
        pending = [node]
        while pending:
            current = pending[-1]
            if current in self.forms:
                pending.pop()
                continue
            below = [] if current.op in ("take", "x", "constant") else [a for a in current.args if a not in self.forms]
            if below:
                pending.extend(below)
                continue
            self.forms[pending.pop()] = self._form_of(current)
        return self.forms[node]

    def _form_of(self, node: Node) -> tuple[int, int]:
        key: Hashable
        if node.op == "constant":
            key, depth = ("constant", node.size), 0
        elif node.op == "take":
            key, depth = ("take", node.args[0].number, node.size), 0
        elif node.op == "x" or (node.op not in OPERATIONS and node.op not in _CHAINS.values()):
            key, depth = ("same", node.number), 0  # only equal to itself
        else:
            below = [self.forms[a] for a in node.args]
            key = (node.op, node.size, node.data, tuple(form for form, _ in below))
            depth = 1 + max(d for _, d in below)
        return self.known.setdefault(key, len(self.known)), depth

    # ------------------------------------------------------------------------------------------ zipping
    def _spread(self, node: Node, size: int) -> Node:
        return node if node.size == size else self.graph.node("take", (node,), size, indexmap.broadcast(size))

    def _zip(self, nodes: list[Node]) -> Node:
        """Return one array [node][element] of expressions of one form; a scalar where all are the same scalar."""
        first, size = nodes[0], nodes[0].size
        if all(node is first for node in nodes):
            if size == 1:
                return first
            tiled = indexmap.affine([(len(nodes), 0), (size, 1)], 0, size)
            return self.graph.node("take", (first,), tiled.size, tiled)
        if first.op == "constant":
            whole = joined([value_of(node) for node in nodes])
            return self.graph.node("constant", (), whole.size, whole)
        if first.op == "take":
            indices = np.concatenate([map_of(node).indices() for node in nodes])
            m = indexmap.of_indices(indices, first.args[0].size)
            return self.graph.node("take", first.args, m.size, m)
        count = len(nodes)
        operands = [self._zip([node.args[i] for node in nodes]) for i in range(len(first.args))]
        if first.op in OPERATIONS:
            repeat = indexmap.affine([(count, 1), (size, 0)], 0, count)
            fitted = [
                self.graph.node("take", (o,), count * size, repeat) if size > 1 and o.size == count else o
                for o in operands
            ]
            return self.graph.node(first.op, fitted, count * size, first.data)
        full = self._spread(operands[0], count * first.args[0].size)
        return self.graph.node(first.op, (full,), count * size, first.data)


def _chain_of(node: Node) -> str | None:
    """Return the kind of chain a scalar node continues: subtraction and negation belong to sums."""
    if node.size != 1:
        return None
    if node.op in ("sub", "neg"):
        return "add"
    return node.op if node.op in _CHAINS else None
