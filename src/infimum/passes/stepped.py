"""Which variables steps read: floor, sign and the like, along which a function changes without a slope."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from infimum.graph.node import Node, ancestors
from infimum.graph.payload import map_of

BoolArray = npt.NDArray[np.bool_]

_STEPS = frozenset({"sign", "floor", "ceil", "trunc", "round_ties_to_even", "round_ties_to_away"})
_MOST_READS = 10**7  # pairs of nodes and variables


def stepped(value: Node, n: int) -> BoolArray:
    """Return which of the variables (n,) steps of an expression read; none where it is too large to look."""
    reads: dict[Node, BoolArray] = {}
    found = np.zeros(n, bool)
    nodes = ancestors([value])
    if not any(node.op in _STEPS for node in nodes) or len(nodes) * n > _MOST_READS:
        return found
    for node in nodes:
        mine = np.zeros(n, bool)
        if node.op == "x":
            mine[:] = True
        elif node.op == "take" and node.args[0].op == "x":
            indices = map_of(node).indices()
            mine[indices[indices >= 0]] = True
        else:
            for a in node.args:
                mine |= reads[a]
        reads[node] = mine
        if node.op in _STEPS:
            found |= mine
    return found
