"""Clocks and sources of chance: what they give differs at every call, so no formula of x may contain it."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable
from typing import Any

from infimum.tracing.refusal import refusal

CLOCKS = (time.time, time.perf_counter, time.monotonic, time.process_time, time.thread_time)
CHANCE = (
    os.urandom, os.times, os.getpid, uuid.uuid1, uuid.uuid4, time.time_ns, time.perf_counter_ns, time.monotonic_ns,
    time.process_time_ns, time.localtime, time.gmtime, time.strftime, time.ctime, time.asctime, time.clock_gettime,
)  # fmt: skip


def _refused() -> Any:
    return refusal(
        "The time decides about the value here, so the function is a different one at every call.",
        "Leave the time out of the objective; time limits are options of the search.",
    )


def _same(name: str) -> Callable[..., Any]:
    operator = getattr(float, name)
    return lambda self, *others: Moment(operator(self, *others)) if all(map(_is_number, others)) else NotImplemented


def _is_number(value: Any) -> bool:
    if not isinstance(value, int | float):
        raise _refused()
    return True


def _asked(self: Any, *args: Any) -> Any:
    raise _refused()


class Moment(float):
    """A time: it may be subtracted and printed, but neither decide a branch nor meet an expression."""

    __slots__ = ()
    for _name in ("__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__", "__truediv__", "__neg__"):
        locals()[_name] = _same(_name)
    for _name in ("__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__", "__bool__", "__int__", "__hash__",
                  "__mod__", "__rmod__", "__floordiv__", "__rfloordiv__", "__rtruediv__", "__pow__", "__rpow__",
                  "__floor__", "__ceil__", "__trunc__", "__divmod__"):  # fmt: skip
        locals()[_name] = _asked
    del _name
    refuse = _asked
