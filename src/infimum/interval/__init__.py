"""Intervals on the host: the class, the operations of IEEE 1788 and their reverses, relations and numbers.

Knows:      doubles, text, NumPy's protocols, the compiled core's operations.
Never knows: graphs, searches, what an interval is used for.
Hands on:   Interval and functions from intervals to intervals, bools and floats.
Trust:      proof. Every result contains every value it stands for.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from infimum.interval.interval import Interval
from infimum.interval.operations import (
    ELEMENTWISE,
    Facts,
    convex_hull,
    empty,
    entire,
    facts,
    fma,
    hull,
    intersection,
    nums_to_interval,
    pos,
    pown,
    text_to_interval,
)  # fmt: skip
from infimum.interval.relations import (
    disjoint,
    equal,
    inf,
    interior,
    is_common_interval,
    is_empty,
    is_entire,
    is_member,
    is_singleton,
    less,
    mag,
    mid,
    mid_rad,
    mig,
    overlap,
    precedes,
    rad,
    strict_less,
    strict_precedes,
    subset,
    sup,
    wid,
)  # fmt: skip
from infimum.interval.reverse import (
    REVERSES,
    atan2_rev1,
    atan2_rev2,
    cancel_minus,
    cancel_plus,
    mul_rev,
    mul_rev_to_pair,
    pow_rev1,
    pow_rev2,
    pown_rev,
)  # fmt: skip

# The functions of one and of two operands, one for each record of an operation: sin, atan2, sin_rev, …
globals().update(ELEMENTWISE | REVERSES)
if TYPE_CHECKING:

    def __getattr__(name: str) -> Callable[..., Interval]: ...


__all__ = [
    *ELEMENTWISE,
    *REVERSES,
    "Facts",
    "Interval",
    "atan2_rev1",
    "atan2_rev2",
    "cancel_minus",
    "cancel_plus",
    "convex_hull",
    "disjoint",
    "empty",
    "entire",
    "equal",
    "facts",
    "fma",
    "hull",
    "inf",
    "interior",
    "intersection",
    "is_common_interval",
    "is_empty",
    "is_entire",
    "is_member",
    "is_singleton",
    "less",
    "mag",
    "mid",
    "mid_rad",
    "mig",
    "mul_rev",
    "mul_rev_to_pair",
    "nums_to_interval",
    "overlap",
    "pos",
    "pow_rev1",
    "pow_rev2",
    "pown",
    "pown_rev",
    "precedes",
    "rad",
    "strict_less",
    "strict_precedes",
    "subset",
    "sup",
    "text_to_interval",
    "wid",
]  # fmt: skip
