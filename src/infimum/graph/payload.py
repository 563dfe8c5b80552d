"""What a node carries beside its operands, with its type."""

from __future__ import annotations

from infimum.graph.constant import Constant
from infimum.graph.indexmap import IndexMap
from infimum.graph.node import Node


def value_of(node: Node) -> Constant:
    """The numbers of a constant."""
    assert isinstance(node.data, Constant), node
    return node.data


def map_of(node: Node) -> IndexMap:
    """The index map of a take."""
    assert isinstance(node.data, IndexMap), node
    return node.data


def integer_of(node: Node) -> int:
    """The width of a reduction, or the exponent of a power."""
    assert isinstance(node.data, int), node
    return node.data


def others_of(node: Node) -> tuple[str, int]:
    """The operation and the width of an `others`."""
    assert isinstance(node.data, tuple), node
    op, width = node.data
    return str(op), int(width)
