"""What lines through a graph are made from, for those who may not read graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from infimum.concurrency import cached_property
from infimum.function.lines.descent import Below, Descent
from infimum.graph.node import Node
from infimum.graph.payload import value_of
from infimum.passes.line_blocks import Block, Blocks, reciprocal
from infimum.passes.lowering.lower import lower
from infimum.passes.lowering.program import Program

if TYPE_CHECKING:
    from infimum.backends.placement import Place
    from infimum.function.function import Function

FloatArray = npt.NDArray[np.float64]

_MOST_ELEMENTS = 20_000


class LinePrograms:
    """What is made from one expression of n variables."""

    def __init__(self, output: Node, n: int) -> None:
        self.output, self.n = output, n
        self.blocks = Blocks(output)
        self.nodes = [node for node in self.blocks.nodes if node.op not in ("x", "constant")]
        self.size = sum(node.size for node in self.nodes)
        self._made: dict[Node, tuple[Block, Program] | None] = {}
        self._reciprocals: dict[Node, tuple[Block, Program]] = {}

    @cached_property
    def values(self) -> Program:
        """Return all nodes."""
        return lower(self.nodes, self.n)

    def block(self, node: Node) -> tuple[Block, Program] | None:
        """Return a node as a block with its Program, None where it is none."""
        if node not in self._made:
            found = self.blocks.block(node)
            self._made[node] = None if found is None else (found, lower(found.outputs, node.size))
        return self._made[node]

    def reciprocal(self, node: Node) -> tuple[Block, Program]:
        """Return 1/v, v the divisor of a quotient, with its Program."""
        if node not in self._reciprocals:
            made = reciprocal(node.args[1], node.size)
            self._reciprocals[node] = made, lower(made.outputs, node.size)
        return self._reciprocals[node]


class GraphLines:
    """Linear functions below one function."""

    def __init__(self, programs: LinePrograms, place: Place) -> None:
        self._programs = programs
        self._place = place

    def below(self, lo: FloatArray, hi: FloatArray, at: FloatArray, *, threads: int = 1) -> Below:
        """Return linear functions below f on finite boxes (k, n), good ones near points of them."""
        made = self._programs
        ranges = dict(zip(made.nodes, self._place.run(made.values, lo, hi, threads=threads), strict=True))
        points = self._place.run(made.values, at, at, "point", threads=threads)
        values = {node: found for node, (found, _) in zip(made.nodes, points, strict=True)}
        for node in made.blocks.nodes:
            if node.op == "x":
                ranges[node], values[node] = (lo, hi), at
            elif node.op == "constant":
                ends = value_of(node).enclosure()
                shape = (len(lo), node.size)
                ranges[node] = np.broadcast_to(ends[0], shape), np.broadcast_to(ends[1], shape)
                values[node] = 0.5 * ranges[node][0] + 0.5 * ranges[node][1]
        return Descent(made, self._place, ranges, values, threads).run(len(lo))


def graph_lines(function: Function) -> GraphLines | None:
    """Return the lines through a function's graph; None where it is too large, or a variable or a number alone."""
    found = LinePrograms(function.programs.value_node, function.n)
    return GraphLines(found, function.place) if 0 < found.size <= _MOST_ELEMENTS else None
