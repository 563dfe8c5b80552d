"""The speed of the machine just now: on a shared one, seconds mean little without it."""

from __future__ import annotations

import time

import numpy as np

_ADDITIONS = 200_000


def as_additions(seconds: float) -> float:
    """Return how many dependent additions this machine now does in these seconds, one after the other.

    A chain of additions waits for nothing but the processor: the figure is much the same on a busy day, and on every
    processor of a kind. The best of five measurements counts (they take a millisecond).
    """
    x, out, best = np.ones(_ADDITIONS), np.empty(_ADDITIONS), np.inf
    for _ in range(5):
        started = time.perf_counter()
        np.cumsum(x, out=out)
        best = min(best, time.perf_counter() - started)
    return seconds * _ADDITIONS / best
