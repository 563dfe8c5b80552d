"""Matrix products with proved bounds, by the processor's fastest routine (PROOF).

What is assumed of NumPy's matrix product is only this: an element is the sum of its p products, each multiplied and all
added in double precision or better, in any order, fused or not; an overflow leaves an infinity or NaN. No rounding mode
but to nearest, no Strassen. Subnormal operands and results may be flushed to 0. Then, with u = 2^-53 and p u <= 1/4,

    |fl(P Q) - P Q| <= gamma |P| |Q| + t,      gamma = p u / (1 - p u) <= p 2^-52 =: g
because a product passes through p roundings at most (one of its own, p - 1 additions), each a factor 1 + d, |d| <= u.
Underflow: a product loses 2^-1022 at most, an addition likewise where results are flushed, and a subnormal operand
that is read as 0 costs 2^-1022 times the other one. In all at most 2 p 2^-1022 (1 + max|P| + max|Q|) before later
roundings, of which (1 + gamma) is at most 2:

    t = p 2^-1020 (1 + max|P| + max|Q|)

For P, Q >= 0 this turns round: P Q <= (fl(P Q) + t) / (1 - gamma), and 1 / (1 - gamma) <= 1 + g.

For every P' within R of P and Q' within S of Q, element by element,

    |P' Q' - fl(P Q)| <= |P' - P| |Q'| + |P| |Q' - Q| + |P Q - fl(P Q)| <= (R + g |P|)(|Q| + S) + |P| S + t

Elementwise steps are rounded to nearest; `above` and `below` make up for up to four such roundings (and underflows) of
a number: v (1 + 2^-50) + 2^-1000 is more than v divided by (1 - u)^4, the last two roundings included.
An infinity or NaN anywhere becomes an infinite radius: nothing is known.
"""

from __future__ import annotations

import numpy as np

from infimum.boxes import Ends, FloatArray

_SMALL = 2.0**-50
_TINY = 2.0**-1000


def above(v: FloatArray) -> FloatArray:
    """Return at least what v stands for: what four roundings to nearest at most made v; +inf where v is NaN."""
    found = v + (np.abs(v) * _SMALL + _TINY)
    return np.where(np.isnan(found), np.inf, found)


def below(v: FloatArray) -> FloatArray:
    """Return at most what v stands for; -inf where v is NaN."""
    found = v - (np.abs(v) * _SMALL + _TINY)
    return np.where(np.isnan(found), -np.inf, found)


def centred(lo: FloatArray, hi: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return centres, and radii around them that cover the intervals."""
    c = 0.5 * lo + 0.5 * hi
    c = np.where(np.isfinite(c), c, 0.0)
    return c, above(np.maximum(np.maximum(hi - c, c - lo), 0.0))


def ends(mid: FloatArray, radius: FloatArray) -> Ends:
    """Return the intervals of these centres and radii; the entire line where one is not known."""
    known = np.isfinite(mid) & np.isfinite(radius)
    return np.where(known, below(mid - radius), -np.inf), np.where(known, above(mid + radius), np.inf)


def sums(a: Ends, b: Ends) -> Ends:
    """Contain x + y for every x in a and y in b."""
    return below(a[0] + b[0]), above(a[1] + b[1])


def differences(a: Ends, b: Ends) -> Ends:
    """Contain x - y for every x in a and y in b."""
    return below(a[0] - b[1]), above(a[1] - b[0])


def _g(p: int) -> float:
    assert p <= 2**51, p
    return p * 2.0**-52


class Bound:
    """A matrix (p, m) that is not negative: the right-hand factor of products bounded from above."""

    def __init__(self, values: FloatArray) -> None:
        self.values = np.ascontiguousarray(values)
        self._largest = float(np.max(self.values, initial=0.0))

    def times(self, p: FloatArray) -> FloatArray:
        """Return at least P Q, for a P that is not negative."""
        return above((p @ self.values + self.underflow(p)) * (1.0 + _g(p.shape[1])))

    def underflow(self, p: FloatArray) -> float:
        """Return t for a product of |P| with a matrix up to this one, rounded upwards by a factor of 2."""
        return float(p.shape[1] * 2.0**-1019 * (1.0 + np.max(p, initial=0.0) + self._largest))


class Factor:
    """A matrix Q (p, m) known up to S: the right-hand factor of products."""

    def __init__(self, mid: FloatArray, radius: FloatArray | None = None) -> None:
        self.mid = np.ascontiguousarray(mid)
        self.radius = radius
        self._size = Bound(np.abs(self.mid) if radius is None else above(np.abs(self.mid) + radius))
        self._radius = None if radius is None else Bound(radius)

    def times(self, p: FloatArray, radius: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
        """Return centres and radii of P' Q', for every P' within the radius of P and every Q' of this matrix."""
        size = np.abs(p)
        reach = above(_g(p.shape[1]) * size + (0.0 if radius is None else radius))
        bound = above(self._size.times(reach) + self._size.underflow(size))
        if self._radius is not None:
            bound = above(bound + self._radius.times(size))
        return p @ self.mid, bound


def defect(inverse: Factor, forward: Factor) -> Bound:
    """Return at least |I - C A|, transposed: |I - A^T C^T|, of C and A transposed."""
    mid, radius = inverse.times(forward.mid, forward.radius)
    return Bound(above(np.abs(mid - np.eye(len(mid))) + radius))
