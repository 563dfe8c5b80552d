"""Operations of the core on each element, shapes broadcast as NumPy does."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from infimum.graph.indexmap import of_view
from infimum.graph.node import Node
from infimum.ops import OPERATIONS
from infimum.tracing.nonfinite.operations import ABSORBING
from infimum.tracing.traced import Shape, TracedArray

if TYPE_CHECKING:
    from infimum.tracing.tracer import Tracer


def apply(t: Tracer, op: str, *values: Any, data: Any = None, boolean: bool = False) -> TracedArray:
    """Return an operation of the core on each element."""
    if len(values) != OPERATIONS[op].arity:
        raise TypeError(f"{op} takes {OPERATIONS[op].arity} argument(s), got {len(values)}")
    return lifted(t, lambda *nodes: operation(t, op, nodes, data), *values, boolean=boolean)


def operation(t: Tracer, op: str, nodes: tuple[Node, ...], data: Any = None) -> Node:
    """Return the node of an operation, with NumPy's values where an operand is infinite."""
    if op in ABSORBING and not (op == "pown" and data > 0):
        return t.nonfinite.applied(op, nodes, data)
    return t.graph.node(op, nodes, max(node.size for node in nodes), data)


def lifted(t: Tracer, make: Callable[..., Node], *values: Any, boolean: bool = False) -> TracedArray:
    """Return what `make` builds of the nodes of the operands, all of one shape."""
    operands = [t.operand(value) for value in values]
    if not any(shape for _, shape, _ in operands):
        return TracedArray(t, (), make(*(node for node, _, _ in operands)), kind="b" if boolean else "f")
    shape = np.broadcast_shapes(*(shape for _, shape, _ in operands))
    size = int(np.prod(shape, dtype=np.int64))
    if size == 0:
        return t.fresh(np.zeros(shape))  # type: ignore[no-any-return]
    nodes = [broadcast(t, node, own, shape) if node.size != 1 else node for node, own, _ in operands]
    return t.array(sized(t, make(*nodes), size), shape, kind="b" if boolean else "f")


def broadcast(t: Tracer, node: Node, own: Shape, shape: Shape) -> Node:
    """Return a node of shape `own` read in shape `shape`."""
    if own == shape or (own == shape[len(shape) - len(own) :] and node.size == np.prod(shape)):
        return node
    base = np.arange(node.size, dtype=np.int64)
    view = np.broadcast_to(base.reshape(own), shape)
    if view.size == node.size:
        return node
    way = of_view(view, base)
    return t.graph.node("take", (node,), way.size, way)


def sized(t: Tracer, node: Node, size: int) -> Node:
    """Return a node of `size` elements: one element is repeated."""
    return node if node.size == size else broadcast(t, node, (1,), (size,))
