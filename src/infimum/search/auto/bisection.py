"""Where a box is cut in two (POLICY).

rule          the variable that is cut
smear         along which the function changes most: the largest slope times width; where slopes are not known, not
              finite or all 0, the widest. A step has no slope: what it reads counts with the largest one
largest       the widest
round_robin   one after the other: the one that was halved least often, whether by cuts or by contraction
Variables that are narrow enough already come last.

Both halves share the cut and keep the outer ends, so that no choice can lose a point.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from infimum.fractions import at_fraction
from infimum.graph.node import Node, ancestors
from infimum.graph.payload import map_of
from infimum.ops import names_with

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]

BoolArray = npt.NDArray[np.bool_]

_STEPS = names_with(lambda row: row.values in ("integers", "signs"))
_MOST_READS = 10**7  # pairs of nodes and variables
SPLITS = ("smear", "largest", "round_robin")


def bisected(
    lo: FloatArray, hi: FloatArray, lower: FloatArray, at: IndexArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Every box cut in two along the variable `at`; a box that cannot be cut there stays whole."""
    rows = np.arange(len(lo))
    low, high = lo[rows, at], hi[rows, at]
    middle = np.clip(at_fraction(low, high, 0.5), low, high)
    inside = (middle > low) & (middle < high)
    left_hi, right_lo = hi.copy(), lo[inside].copy()
    left_hi[rows[inside], at[inside]] = middle[inside]
    right_lo[np.arange(len(right_lo)), at[inside]] = middle[inside]
    return (
        np.concatenate([lo, right_lo]),
        np.concatenate([left_hi, hi[inside]]),
        np.concatenate([lower, lower[inside]]),
    )


def with_steps(slopes: FloatArray, stepped: BoolArray) -> FloatArray:
    """Slopes (k, n), where a step's variables (n,) have no slope the largest of the box."""
    if not stepped.any():
        return slopes
    largest = slopes.max(1, keepdims=True)
    return np.where(stepped & (slopes == 0), largest, slopes)


def stepped(value: Node, n: int) -> BoolArray:
    """Which variables (n,) steps read."""
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


def chosen(
    lo: FloatArray,
    hi: FloatArray,
    widths: FloatArray | None,
    *,
    slopes: FloatArray | None = None,
    whole: FloatArray | None = None,
) -> IndexArray:
    """The variable to cut in each box; widths: as narrow as is wanted, None where nothing is.

    given                                       the largest
    slopes (k, n), all of a box finite, not 0   slope times width
    whole (n,), the domain's width              power of two in width / whole, the first of equal ones; an infinite
                                                domain counts as 1
    neither                                     width; an infinite one first
    """
    with np.errstate(all="ignore"):
        size = np.minimum(hi - lo, np.finfo(np.float64).max)
        if slopes is not None:
            weight = size * slopes
            usable = np.isfinite(weight).all(1, keepdims=True) & (weight > 0).any(1, keepdims=True)
            weight = np.where(usable, weight, size)
        elif whole is not None:
            halved = np.ceil(np.log2(size / np.where(np.isfinite(whole) & (whole > 0), whole, 1.0)))
            weight = 4096.0 + np.maximum(halved, -4095.0)
        else:
            weight = size
        middle = at_fraction(lo, hi, 0.5)
        stuck = ~((lo < middle) & (middle < hi))
        wide = size > 0 if widths is None else (size >= widths) & ~np.isinf(widths)
    weight = np.where(stuck, -1.0, weight)
    if widths is not None:
        any_wide = (wide & ~stuck).any(1, keepdims=True)
        weight = np.where(any_wide & ~wide, np.minimum(weight, -0.5), weight)
    found: IndexArray = np.argmax(weight, axis=1)
    return found
