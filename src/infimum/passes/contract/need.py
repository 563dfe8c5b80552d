"""Where a node's value is certainly needed for the constraints to have a value at all.

    user                    needs its operand
    a branch of `where`     where the condition is certain to choose it, and the `where` itself is needed
    take                    in the elements that are read
    recurrence, others      unknown: nowhere for certain
    a fact of an operation  nowhere: it has an answer where the operand has none
    any other               where it is needed itself

A need is a node of truth values: 1 where certain. Nodes that are defined everywhere have none: nobody need ask.
"""

from __future__ import annotations

import numpy as np

from infimum.graph import indexmap
from infimum.graph.indexmap import IndexMap
from infimum.graph.node import REDUCTIONS, Node, is_fact
from infimum.graph.payload import integer_of, map_of
from infimum.passes.contract.sets import Sets, inverse


class Need:
    """The needs of nodes; complete for a node when all its users have passed theirs on."""

    def __init__(self, sets: Sets, outputs: list[Node]) -> None:
        self.sets = sets
        self.always = set(outputs)
        self.known: dict[Node, Node] = {}

    def of(self, node: Node) -> Node | None:
        """Return where a node is needed, of its size or a scalar; None: everywhere, or it is defined everywhere."""
        return None if node in self.always else self.known.get(node)

    def pass_on(self, node: Node) -> None:
        """Tell the operands where this node needs them; only those that can be undefined ask."""
        need = None if node in self.always else self.known.get(node, self.sets.zero)
        for i, operand in enumerate(node.args):
            if operand in self.always or self.sets.build.is_total(operand):
                continue
            found = self._of_operand(node, i, need)
            if found is None:
                self.always.add(operand)
                self.known.pop(operand, None)
            else:
                before = self.known.get(operand)
                self.known[operand] = found if before is None else self.sets.op("max", before, found)

    def _of_operand(self, node: Node, i: int, need: Node | None) -> Node | None:
        """Return the need for operand i, of its size or a scalar; None: everywhere."""
        operand = node.args[i]
        if node.op == "where" and i > 0:
            need = self._of_branch(node, i, need)
        if node.op == "take":
            return self._through(need, map_of(node), operand.size)
        if node.op in ("recurrence", "others") or is_fact(node.op):
            return self.sets.zero
        if need is None:
            return None
        if node.op in REDUCTIONS:
            return self.sets.spread(need, node.size, integer_of(node))
        if node.op == "concat":
            start = sum(a.size for a in node.args[:i])
            return self.sets.take(
                self.sets.full(need, node.size), indexmap.affine([(operand.size, 1)], start, node.size)
            )
        return self._any(need, node.size) if operand.size < node.size else need

    def _any(self, need: Node, size: int) -> Node:
        return need if need.size == 1 else self.sets.reduce("max_of", need, size)

    def _of_branch(self, node: Node, i: int, need: Node | None) -> Node:
        yes, no = (self.sets.one, self.sets.zero) if i == 1 else (self.sets.zero, self.sets.one)
        taken = self.sets.op("where", node.args[0], yes, no)
        return taken if need is None else self.sets.op("where", need, taken, self.sets.zero)

    def _through(self, need: Node | None, m: IndexMap, size: int) -> Node | None:
        """Return which sources a needed element reads: known where a source has one reader, else left open."""
        indices = m.indices()
        if need is None:
            read = np.zeros(size)
            read[indices[indices >= 0]] = 1.0
            return None if read.all() else self.sets.build.number(read)
        if size == 1:
            return self._any(need, m.size) if (indices >= 0).all() else self.sets.zero
        back = inverse(m, size)
        if back is None:
            return self.sets.zero
        return self.sets.take(self.sets.full(need, m.size), indexmap.of_indices(back, m.size))
