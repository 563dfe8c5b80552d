"""Where a rational function can be at most a level, whatever the size of the box (PROOF).

For f = p/q with q > 0 on the domain, f(x) <= u where p(x) - u q(x) <= 0; a polynomial of which powers of single
variables are a lower bound (coercive.py) is at most 0 only where these are small. Where p - v q is above 0 everywhere
for a level v, v is a lower bound of f: so is one found that is approached at infinity alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from infimum.graph.node import Node
from infimum.passes.unbounded.coercive import Minorant, minorant, radii
from infimum.passes.unbounded.polynomials import Quotient, added, multiplied, quotient

FloatArray = npt.NDArray[np.float64]
Pairs = list[tuple[float, float]]

_BELOW = (4e-7, 1e-4, 1e-2, 1.0, 100.0)  # levels below the upper bound that are tried, relative
_LEAST = 2e-3  # at least as for an upper bound of this size


class Rational:
    """A quotient p/q with q > 0 over a domain, whose bounds are pairs of ends."""

    def __init__(self, found: Quotient, bounds: Pairs) -> None:
        self._quotient = found
        self._bounds = bounds

    def radii(self, upper: float) -> FloatArray | None:
        """Return sizes (n,) beyond which f is above `upper`, inf where none is known; None where nothing is."""
        found = self._minorant(upper)
        if found is None:
            return None
        size = np.full(len(self._bounds), np.inf)
        for i, radius in radii(found, Fraction(0)).items():
            size[i] = radius
        return size

    def lower(self, upper: float, above: float = -np.inf) -> float:
        """Return a number that f is nowhere below, as near to `upper` as is proved; only such above `above` count."""
        for share in _BELOW:
            level = upper - share * max(abs(upper), _LEAST)
            found = self._minorant(level) if level > above else None
            if found is not None and found.constant <= 0:
                return level
        return -np.inf

    def _minorant(self, level: float) -> Minorant | None:
        """Return one of p - level q, which is at most 0 where f is at most the level."""
        minus = Fraction(-level)
        return minorant(
            added(self._quotient.above, multiplied(self._quotient.below, {(): (minus, minus)})), self._bounds
        )


def rational(value: Node, ranges: Mapping[Node, Pairs], bounds: Pairs) -> Rational | None:
    """Return an expression as a quotient whose divisor is certainly positive, None where it is none.

    ranges: the ends of what is no polynomial in x (`polynomials.unread`) over the domain.
    """
    found = quotient(value, ranges)
    if found is None:
        return None
    below = minorant(found.below, bounds)
    return Rational(found, bounds) if below is not None and below.constant < 0 else None  # q >= -constant > 0
