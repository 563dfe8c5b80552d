"""Where an operation of one operand is convex, concave, rising and falling, by ranges of its operand.

A Curve is right for every interval of operands that lies in one of its spans, as far as the operation is defined there:
on what is left it is convex (concave, rising, falling). Two more things hold, so that compositions of what is not
affine are defined on convex sets (passes/convex/convexity.py):

    convex and rising, concave and falling     it is defined below every operand of the interval that it is defined at
    convex and falling, concave and rising     likewise above
"""

from __future__ import annotations

import math
from typing import NamedTuple


class Span(NamedTuple):
    """Operands from lo to hi; where `of` is named, intervals of operands on which that operation lies in [lo, hi]."""

    lo: float = -math.inf
    hi: float = math.inf
    of: str = ""


Spans = tuple[Span, ...]

EVERYWHERE: Spans = (Span(),)
ABOVE_ZERO: Spans = (Span(lo=0.0),)
BELOW_ZERO: Spans = (Span(hi=0.0),)


class Curve(NamedTuple):
    """The spans of one operation; none is named where nothing is known."""

    convex: Spans = ()
    concave: Spans = ()
    rises: Spans = ()
    falls: Spans = ()


CONVEX_RISING = Curve(convex=EVERYWHERE, rises=EVERYWHERE)  # of a domain without a lower end
CONCAVE_RISING = Curve(concave=EVERYWHERE, rises=EVERYWHERE)  # of a domain without an upper end
VALLEY = Curve(convex=EVERYWHERE, rises=ABOVE_ZERO, falls=BELOW_ZERO)  # convex, lowest at 0
FLATTENING = Curve(convex=BELOW_ZERO, concave=ABOVE_ZERO, rises=EVERYWHERE)  # rising, steepest at 0
STEEPENING = Curve(convex=ABOVE_ZERO, concave=BELOW_ZERO, rises=EVERYWHERE)  # rising, flattest at 0
MAGNITUDE = Curve(EVERYWHERE, (*ABOVE_ZERO, *BELOW_ZERO), ABOVE_ZERO, BELOW_ZERO)


def wave(itself: str, slope: str, sign: int) -> Curve:
    """Return the curve of a sine or cosine: its second derivative is itself, turned; its slope is `sign` times another.

    Where it is at least 0 on a whole interval it is concave there, where at most 0 convex.
    """
    up, down = (Span(lo=0.0, of=slope),), (Span(hi=0.0, of=slope),)
    rises, falls = (up, down) if sign > 0 else (down, up)
    return Curve((Span(hi=0.0, of=itself),), (Span(lo=0.0, of=itself),), rises, falls)


def integer_power(k: int) -> Curve:
    """Return the curve of t^k for a whole number k other than 0.

    k              convex      concave     rises      falls
    1              anywhere    anywhere    anywhere
    even, > 0      anywhere                t >= 0     t <= 0
    odd, > 1       t >= 0      t <= 0      anywhere
    even, < 0      one side                t <= 0     t >= 0
    odd, < 0       t >= 0      t <= 0                 one side
    """
    sides = (*ABOVE_ZERO, *BELOW_ZERO)
    if k == 1:
        return Curve(EVERYWHERE, EVERYWHERE, EVERYWHERE)
    if k > 0:
        return VALLEY if k % 2 == 0 else STEEPENING
    if k % 2 == 0:
        return Curve(convex=sides, rises=BELOW_ZERO, falls=ABOVE_ZERO)
    return Curve(convex=ABOVE_ZERO, concave=BELOW_ZERO, falls=sides)


def power(least: float, most: float) -> Curve:
    """Return the curve of t^p, t >= 0 (t > 0 for p < 0), for every p from least to most.

    p          convex    concave    rises     falls
    >= 1       yes                  t >= 0
    0 to 1               yes        yes
    < 0        yes                            yes
    """
    if least >= 1.0:
        return Curve(convex=EVERYWHERE, rises=ABOVE_ZERO)
    if least >= 0.0 and most <= 1.0:
        return CONCAVE_RISING
    return Curve(convex=EVERYWHERE, falls=EVERYWHERE) if most < 0.0 else Curve()
