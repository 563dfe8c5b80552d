"""The slow truth: a graph evaluated node by node with the core's operations, for differential tests.

It reads the graph, not the Program, so that it shares nothing with lowering and the VM but the core's operations and
the definition of the fixed tree:

    chunks of 256 terms; in a chunk, term i meets i + 128, then i + 64, … i + 1, a missing partner leaving it as it is;
    the chunks' results are a new sequence, treated the same way until one is left
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from infimum import core
from infimum.graph.node import REDUCTIONS, Node, ancestors
from infimum.graph.payload import integer_of, map_of, others_of, value_of

FloatArray = npt.NDArray[np.float64]
Pair = tuple[FloatArray, FloatArray]

_NEUTRAL = {"add": 0.0, "mul": 1.0, "min": np.inf, "max": -np.inf}
CHUNK = 256


def enclose(outputs: list[Node], lo: FloatArray, hi: FloatArray) -> list[Pair]:
    """Contain every output over each box, boxes of shape (k, n); results of shape (k, size)."""
    values: dict[Node, Pair] = {}
    boxes = lo.shape[0]
    for node in ancestors(outputs):
        pair = _value(node, [values[a] for a in node.args], lo, hi)
        values[node] = (np.broadcast_to(pair[0], (boxes, node.size)), np.broadcast_to(pair[1], (boxes, node.size)))
    return [values[node] for node in outputs]


def _value(node: Node, args: list[Pair], lo: FloatArray, hi: FloatArray) -> Pair:
    if node.op == "x":
        return lo, hi
    if node.op == "constant":
        low, high = value_of(node).enclosure()
        return low[None, :], high[None, :]
    if node.op == "take":
        i = map_of(node).indices()
        return np.where(i >= 0, args[0][0][:, i], 0.0), np.where(i >= 0, args[0][1][:, i], 0.0)
    if node.op == "concat":
        return np.concatenate([a[0] for a in args], 1), np.concatenate([a[1] for a in args], 1)
    if node.op in REDUCTIONS:
        return _grouped(args[0], integer_of(node), lambda group: reduced(REDUCTIONS[node.op], group))
    if node.op == "others":
        op, width = others_of(node)
        return _grouped(args[0], width, lambda group: others(op, group))
    if node.op == "recurrence":
        return _recurrence(args[0], args[1], bool(node.data))
    return _elementwise(node, args)


def _elementwise(node: Node, args: list[Pair]) -> Pair:
    param = node.data if isinstance(node.data, int) else 0
    which, _, op = node.op.rpartition(":")
    if which:
        defined, smooth = core.facts(op, *args, param=param)
        fact = (defined if which == "defined" else smooth).astype(float)
        return fact, fact
    return core.apply(node.op, *args, param=param)


def _grouped(pair: Pair, width: int, of_group: Callable[[Pair], Pair]) -> Pair:
    """Apply a function of the last axis to groups of `width` elements."""
    boxes = pair[0].shape[0]
    lo, hi = of_group((pair[0].reshape(boxes, -1, width), pair[1].reshape(boxes, -1, width)))
    return lo.reshape(boxes, -1), hi.reshape(boxes, -1)


def reduced(op: str, terms: Pair) -> Pair:
    """The fixed tree over the last axis, which is left with one element."""
    while terms[0].shape[-1] > 1:
        chunks = _chunked(terms)
        half = CHUNK // 2
        while half:
            left = (chunks[0][..., :half], chunks[1][..., :half])
            right = (chunks[0][..., half : 2 * half], chunks[1][..., half : 2 * half])
            chunks = _met(op, left, right)
            half //= 2
        terms = (chunks[0][..., 0], chunks[1][..., 0])
    return terms


def _chunked(terms: Pair) -> Pair:
    """The last axis in rows of 256, missing terms as NaN."""
    missing = -terms[0].shape[-1] % CHUNK
    pad = [(0, 0)] * (terms[0].ndim - 1) + [(0, missing)]
    shape = (*terms[0].shape[:-1], -1, CHUNK)
    lo, hi = (np.pad(end, pad, constant_values=np.nan).reshape(shape) for end in terms)
    return lo, hi


def _met(op: str, left: Pair, right: Pair) -> Pair:
    """left ∘ right where both are there, else the one that is."""
    here, there = ~np.isnan(left[0]), ~np.isnan(right[0])
    safe_left = (np.where(here, left[0], 0.0), np.where(here, left[1], 0.0))
    safe_right = (np.where(there, right[0], 0.0), np.where(there, right[1], 0.0))
    lo, hi = core.apply(op, safe_left, safe_right)
    both = here & there
    only = np.where(here, left[0], right[0]), np.where(here, left[1], right[1])
    return np.where(both, lo, only[0]), np.where(both, hi, only[1])


def others(op: str, terms: Pair) -> Pair:
    """For each element of the last axis the reduction of all others: outside(child) = outside(parent) ∘ sibling."""
    count = terms[0].shape[-1]
    if count == 1:
        return np.full_like(terms[0], _NEUTRAL[op]), np.full_like(terms[1], _NEUTRAL[op])
    chunks = _chunked(terms)
    levels = [chunks]
    half = CHUNK // 2
    while half:
        above = levels[-1]
        left, right = (above[0][..., :half], above[1][..., :half]), (above[0][..., half:], above[1][..., half:])
        levels.append(_met(op, left, right))
        half //= 2
    roots = (levels[-1][0][..., 0], levels[-1][1][..., 0])
    if roots[0].shape[-1] > 1:
        outside = others(op, roots)
        outside = (outside[0][..., None], outside[1][..., None])
    else:
        outside = (np.full_like(roots[0], np.nan)[..., None],) * 2
    for level in reversed(levels[:-1]):
        half = level[0].shape[-1] // 2
        swapped = (
            np.concatenate([level[0][..., half:], level[0][..., :half]], -1),
            np.concatenate([level[1][..., half:], level[1][..., :half]], -1),
        )
        parent = (np.concatenate([outside[0]] * 2, -1), np.concatenate([outside[1]] * 2, -1))
        outside = _met(op, parent, swapped)
    lo, hi = (end.reshape(*terms[0].shape[:-1], -1)[..., :count] for end in outside)
    return lo, hi


def _recurrence(a: Pair, b: Pair, reverse: bool) -> Pair:
    size = b[0].shape[1]
    lo, hi = np.empty_like(b[0]), np.empty_like(b[1])
    before = (np.zeros(b[0].shape[0]), np.zeros(b[0].shape[0]))
    for i in range(size - 1, -1, -1) if reverse else range(size):
        product = core.apply("mul", (a[0][:, i], a[1][:, i]), before)
        before = core.apply("add", product, (b[0][:, i], b[1][:, i]))
        lo[:, i], hi[:, i] = before
    return lo, hi
