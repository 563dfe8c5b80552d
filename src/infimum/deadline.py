"""A moment after which a search stops: asked wherever work may take long (POLICY).

A search opens `until(moment)`; batches of boxes, passes over large expressions and loops over many of anything `ask`.
`Late` then unwinds to the search, which gives back the boxes that it had taken: the answer is as true, and wider. What
an answer cannot do without, and whatever belongs to the user, runs `unhurried`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from math import inf

_MOMENT: ContextVar[float] = ContextVar("infimum_moment", default=inf)


class Late(BaseException):
    """The moment has passed. No Exception, so that no handler of the user's takes it for an error of theirs."""


def left() -> float:
    """The seconds until the moment: none where it has passed, infinitely many where there is none."""
    moment = _MOMENT.get()
    return inf if moment == inf else max(0.0, moment - time.perf_counter())


def ask() -> None:
    """Raise Late once the moment has passed."""
    moment = _MOMENT.get()
    if moment != inf and time.perf_counter() >= moment:
        raise Late


@contextmanager
def until(moment: float) -> Iterator[None]:
    """Work inside ends at a moment of time.perf_counter(), inf for none."""
    token = _MOMENT.set(moment)
    try:
        yield
    finally:
        _MOMENT.reset(token)


def unhurried() -> AbstractContextManager[None]:
    """Work inside is done whatever the time."""
    return until(inf)
