"""What a node carries beside its operands, with its type."""

from __future__ import annotations

import numpy as np

from infimum.exact.number import Exact
from infimum.graph.constant import Constant
from infimum.graph.indexmap import IndexMap
from infimum.graph.node import Node


def value_of(node: Node) -> Constant:
    """Return the numbers of a constant."""
    assert isinstance(node.data, Constant), node
    return node.data


def map_of(node: Node) -> IndexMap:
    """Return the index map of a take."""
    assert isinstance(node.data, IndexMap), node
    return node.data


def integer_of(node: Node) -> int:
    """Return the width of a reduction, or the exponent of a power."""
    assert isinstance(node.data, int), node
    return node.data


def others_of(node: Node) -> tuple[str, int]:
    """Return the operation and the width of an `others`."""
    assert isinstance(node.data, tuple), node
    op, width = node.data
    return str(op), int(width)


def exact_scalar(node: Node) -> Exact | None:
    """Return the exact value of a scalar constant."""
    if node.op != "constant" or node.size != 1 or not value_of(node).is_exact:
        return None
    doubles = value_of(node).doubles
    if doubles is not None and not np.isfinite(doubles).all():
        return None
    return value_of(node).exact_elements()[0]


def is_number(node: Node, value: float) -> bool:
    """Return whether a node is this very number."""
    return (
        node.op == "constant"
        and node.size == 1
        and value_of(node).doubles is not None
        and value_of(node).points()[0] == value
    )


def is_double(node: Node) -> bool:
    return node.op == "constant" and value_of(node).doubles is not None
