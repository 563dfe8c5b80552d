"""Intervals on the host: the class, the operations of IEEE 1788, relations and numbers.

Knows:      doubles, text, NumPy's protocols, the compiled core's operations.
Never knows: graphs, searches, what an interval is used for.
Hands on:   Interval and functions from intervals to intervals, bools and floats.
Trust:      proof. Every result contains every value it stands for.
"""

from infimum.interval.interval import Interval
from infimum.interval.operations import (
    Facts, abs, acos, acosh, add, asin, asinh, atan, atan2, atanh, cbrt, ceil, convex_hull, cos, cosh, cospi, div,
    empty, entire, exp, exp2, exp10, expm1, facts, floor, fma, hull, hypot, intersection, log, log1p, log2, log10,
    max, min, mod, mul, neg, nums_to_interval, pos, pow, pown, recip, round_ties_to_away, round_ties_to_even, sign,
    sin, sinh, sinpi, sqr, sqrt, sub, tan, tanh, text_to_interval, trunc,
)  # fmt: skip
from infimum.interval.relations import (
    disjoint, equal, inf, interior, is_common_interval, is_empty, is_entire, is_member, is_singleton, less, mag, mid,
    mid_rad, mig, overlap, precedes, rad, strict_less, strict_precedes, subset, sup, wid,
)  # fmt: skip

__all__ = [
    "Facts", "Interval", "abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil",
    "convex_hull", "cos", "cosh", "cospi", "disjoint", "div", "empty", "entire", "equal", "exp", "exp10", "exp2",
    "expm1", "facts", "floor", "fma", "hull", "hypot", "inf", "interior", "intersection", "is_common_interval",
    "is_empty", "is_entire", "is_member", "is_singleton", "less", "log", "log10", "log1p", "log2", "mag", "max", "mid",
    "mid_rad", "mig", "min", "mod", "mul", "neg", "nums_to_interval", "overlap", "pos", "pow", "pown", "precedes",
    "rad", "recip", "round_ties_to_away", "round_ties_to_even", "sign", "sin", "sinh", "sinpi", "sqr", "sqrt",
    "strict_less", "strict_precedes", "sub", "subset", "sup", "tan", "tanh", "text_to_interval", "trunc", "wid",
]  # fmt: skip
