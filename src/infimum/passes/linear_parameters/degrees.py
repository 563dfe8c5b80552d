"""Which variables residuals are affine in, together: a set of which no two meet in a product.

Two variables *meet* where a second derivative by them may be other than 0; a variable may meet itself.

    node                          its operands' variables meet
    x, constant                   -
    neg, add, sub, take, concat   not
    sum, others of a sum          not
    mul                           each of one with each of the other
    div                           each of either with each of the divisor's
    where                         each of the condition with each
    recurrence                    each with each, unless the factors are constant
    any other                     each with each, element by element

Each element of a node is then affine in such a set c, from the leaves up: of a product's two elements one does not read
c, as what they read would meet, and that one is a number; likewise a divisor, a condition, and the factors of a
recurrence. What no row of this table makes affine lets all that it reads meet itself, so that no c is among it.

Guarantee: an expression is affine in a set of variables of which no two meet, whatever numbers the others are.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from infimum.graph.node import Node, ancestors
from infimum.graph.payload import integer_of, map_of, others_of
from infimum.ops import OPERATIONS

BoolArray = npt.NDArray[np.bool_]

MOST_READS = 2**23  # elements times variables of a node
_EXACTLY = 20  # variables up to which the largest set is looked for
_OWN_RULE = frozenset({"neg", "add", "sub", "mul", "div", "where"})


def linear_variables(residuals: Node, n: int) -> BoolArray:
    """Return a largest set of variables (n,) that the residuals are affine in; a large one where they are many."""
    met = meetings(residuals, n)
    return _apart(met)


def meetings(output: Node, n: int) -> BoolArray:
    """Return which pairs of variables meet (n, n); all where the expression is too large to say."""
    met = np.zeros((n, n), bool)
    reads: dict[Node, BoolArray] = {}
    for node in ancestors([output]):
        if node.size * n > MOST_READS:
            return np.ones((n, n), bool)
        reads[node] = _reads(node, [reads[a] for a in node.args], n, met)
    used = reads[output].any(0)
    met[~used] = met[:, ~used] = True  # what is not read is no parameter
    return met


def _reads(node: Node, below: list[BoolArray], n: int, met: BoolArray) -> BoolArray:
    """Return which variables each element reads, (size, n), and note those that meet."""
    if node.op == "x":
        return np.eye(n, dtype=bool)
    if node.op == "constant":
        return np.zeros((node.size, n), bool)
    if node.op == "take":
        indices = map_of(node).indices()
        return np.where((indices >= 0)[:, None], below[0][indices], False)
    if node.op == "concat":
        return np.concatenate(below)
    if node.op in OPERATIONS:
        below = [np.broadcast_to(one, (node.size, n)) for one in below]
        if node.op == "mul":
            _meet(met, below[0], below[1])
        elif node.op == "div":
            _meet(met, below[0] | below[1], below[1])
        elif node.op == "where":
            _meet(met, np.logical_or.reduce(below), below[0])
        found: BoolArray = np.logical_or.reduce(below)
        if node.op not in _OWN_RULE:
            _meet(met, found, found)
        return found
    if node.op == "recurrence":
        return _recurrence(node, below, n, met)
    if node.op == "others":
        op, width = others_of(node)
        whole = _grouped(below[0], width)
        if op != "add":
            _meet(met, whole, whole)
        return np.repeat(whole, width, axis=0)
    whole = _grouped(below[0], integer_of(node))  # a reduction
    if node.op != "sum":
        _meet(met, whole, whole)
    return whole


def _recurrence(node: Node, below: list[BoolArray], n: int, met: BoolArray) -> BoolArray:
    factors, terms = (np.broadcast_to(one, (node.size, n)) for one in below)
    ends = slice(None, None, -1 if node.data else 1)
    either = np.asarray(factors | terms)[ends]
    found: BoolArray = np.asarray(np.logical_or.accumulate(either, axis=0))[ends]
    if factors.any():
        _meet(met, found, found)
    return found


def _grouped(reads: BoolArray, width: int) -> BoolArray:
    found: BoolArray = np.asarray(reads.reshape(-1, width, reads.shape[1]).any(1))
    return found


def _meet(met: BoolArray, a: BoolArray, b: BoolArray) -> None:
    together = a.T.astype(np.float32) @ b.astype(np.float32) > 0
    met |= together | together.T


# ---------------------------------------------------------------------------------------------- a set (POLICY)
def _apart(met: BoolArray) -> BoolArray:
    """Return variables of which no two meet: as many as there are, among few; of many, those that meet least first."""
    (usable,) = np.nonzero(~np.diagonal(met))
    order = sorted(usable.tolist(), key=lambda i: (int(met[i].sum()), i))
    chosen = _largest(met, order) if len(order) <= _EXACTLY else _first(met, order)
    found = np.zeros(len(met), bool)
    found[chosen] = True
    return found


def _first(met: BoolArray, order: list[int]) -> list[int]:
    chosen: list[int] = []
    for i in order:
        if not met[i, chosen].any():
            chosen.append(i)
    return chosen


def _largest(met: BoolArray, order: list[int]) -> list[int]:
    """Return a largest set, by trying each variable in and out; one that meets no other is always in."""
    best: list[int] = []

    def look(chosen: list[int], left: list[int]) -> None:
        nonlocal best
        if len(chosen) + len(left) <= len(best):
            return
        if not left:
            best = chosen
            return
        i, rest = left[0], left[1:]
        apart = [j for j in rest if not met[i, j]]
        look([*chosen, i], apart)
        if len(apart) < len(rest):
            look(chosen, rest)

    look([], order)
    return best
