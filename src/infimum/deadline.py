"""The moment at which a search stops (POLICY): whatever may take long asks whether it has passed.

A search opens `until(moment)`; batches of boxes, passes over large expressions and long loops call `ask`, which raises
`Late`. The search catches it and gives back the boxes that it had taken: the answer is as true, and wider. What an
answer cannot do without, and what belongs to the user, runs `unhurried`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from math import inf

_MOMENT: ContextVar[float] = ContextVar("infimum_moment", default=inf)


class Late(BaseException):
    """The moment has passed. This is no Exception: no handler of the user's takes it for an error of theirs."""


def left() -> float:
    """Return the seconds until the moment: 0 where it has passed, inf where there is none."""
    moment = _MOMENT.get()
    return inf if moment == inf else max(0.0, moment - time.perf_counter())


def ask() -> None:
    """Raise Late once the moment has passed."""
    moment = _MOMENT.get()
    if moment != inf and time.perf_counter() >= moment:
        raise Late


@contextmanager
def until(moment: float) -> Iterator[None]:
    """Let what runs inside end at a moment of time.perf_counter(); inf for none."""
    token = _MOMENT.set(moment)
    try:
        yield
    finally:
        _MOMENT.reset(token)


def unhurried() -> AbstractContextManager[None]:
    """Let what runs inside take the time that it needs."""
    return until(inf)
