"""How fast the machine is just now: seconds on a shared one mean little without it."""

from __future__ import annotations

import time

import numpy as np

_LINKS = 200_000


def links(seconds: float) -> float:
    """Return the seconds as a number of dependent additions, of which this machine now does one after the other.

    A chain of additions waits for nothing but the processor: the figure is much the same on a busy day, and on every
    processor of a kind. Measured here, the best of five (a millisecond).
    """
    x, out, best = np.ones(_LINKS), np.empty(_LINKS), np.inf
    for _ in range(5):
        started = time.perf_counter()
        np.cumsum(x, out=out)
        best = min(best, time.perf_counter() - started)
    return seconds * _LINKS / best
