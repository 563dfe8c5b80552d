"""Where a rational function on an unbounded box can be at most a level (PROOF).

For f = p/q with q > 0 on the domain, f(x) <= u where p(x) - u q(x) <= 0; a polynomial of which powers of single
variables are a lower bound (passes/unbounded/coercive) is at most 0 only where these are small. Where p - v q is above
0 everywhere for a level v, v is a lower bound of f: so is one found that is approached at infinity alone.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from infimum.backends import cpu
from infimum.domain import Domain
from infimum.function.function import Function
from infimum.passes.lowering.lower import lower
from infimum.passes.unbounded.coercive import Minorant, minorant, radii
from infimum.passes.unbounded.polynomials import Quotient, added, multiplied, quotient, unread

FloatArray = npt.NDArray[np.float64]

_MOST_VARIABLES = 64
_MOST_NODES = 1000
_BELOW = (4e-7, 1e-4, 1e-2, 1.0, 100.0)  # levels below the upper bound that are tried, relative
_LEAST = 2e-3  # at least as for an upper bound of this size


class UnboundedBoxes:
    """Contract boxes of an unbounded domain under f(x) <= upper; nothing is done on bounded domains."""

    def __init__(self, function: Function, domain: Domain) -> None:
        self.domain = domain
        self.bounds = list(zip(domain.lo.tolist(), domain.hi.tolist(), strict=True))
        infinite = bool(np.isinf(domain.lo).any() or np.isinf(domain.hi).any())
        small = domain.n <= _MOST_VARIABLES and domain.lo.ndim == 1
        self._quotient = self._read(function) if infinite and small else None
        self._radii: tuple[float, FloatArray | None] = (np.inf, None)
        self._lower = -np.inf

    def met(
        self, lo: FloatArray, hi: FloatArray, lower: FloatArray, upper: float
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The part of boxes (k, n) where f can be at most `upper`, their bounds raised; the others are dropped."""
        if self._quotient is None or not np.isfinite(upper):
            return lo, hi, lower
        if upper != self._radii[0]:
            self._radii = (upper, self._found(upper))
            self._lower = max(self._lower, self._bound(upper))
        lower = np.maximum(lower, self._lower)
        size = self._radii[1]
        if size is None:
            return lo, hi, lower
        lo, hi = np.maximum(lo, -size), np.minimum(hi, size)
        left = (lo <= hi).all(1)
        return lo[left], hi[left], lower[left]

    def _read(self, function: Function) -> Quotient | None:
        value = function.value_node
        others = unread(value)
        ranges = {}
        if sum(node.size for node in others) > _MOST_NODES:
            return None
        if others:
            ends = cpu.run(lower(others, function.n), self.domain.lo[None], self.domain.hi[None])
            ranges = {
                node: list(zip(low[0].tolist(), high[0].tolist(), strict=True))
                for node, (low, high) in zip(others, ends, strict=True)
            }
        found = quotient(value, ranges)
        if found is None:
            return None
        below = minorant(found.below, self.bounds)
        return found if below is not None and below.constant < 0 else None  # q >= -constant > 0

    def _minorant(self, level: float) -> Minorant | None:
        """Of p - level q, which is at most 0 where f is at most the level."""
        assert self._quotient is not None
        minus = Fraction(-level)
        return minorant(
            added(self._quotient.above, multiplied(self._quotient.below, {(): (minus, minus)})), self.bounds
        )

    def _found(self, upper: float) -> FloatArray | None:
        """Sizes (n,) beyond which f is above `upper`."""
        found = self._minorant(upper)
        if found is None:
            return None
        size = np.full(self.domain.n, np.inf)
        for i, radius in radii(found, Fraction(0)).items():
            size[i] = radius
        return size

    def _bound(self, upper: float) -> float:
        """A number that f is nowhere below, as near to `upper` as is proved."""
        for share in _BELOW:
            level = upper - share * max(abs(upper), _LEAST)
            found = self._minorant(level) if level > self._lower else None
            if found is not None and found.constant <= 0:
                return level
        return -np.inf
