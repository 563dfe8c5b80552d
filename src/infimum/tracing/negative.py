"""The negative of a function, whose maximum is asked for: the tracer looks through it at the user's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


class Negative:
    """-f(x), a number or the partial derivatives of one."""

    def __init__(self, f: Callable[..., Any]) -> None:
        self.f = f
        self.__name__ = getattr(f, "__name__", type(f).__name__)
        self.__qualname__ = f"the negative of {getattr(f, '__qualname__', type(f).__qualname__)}"

    def around(self, of: Callable[[Any], Any]) -> Negative:
        """Return the negative of the twin."""
        return Negative(of(self.f))

    def __call__(self, x: Any, *args: Any) -> Any:
        found = self.f(x, *args)
        return [-part for part in found] if isinstance(found, list | tuple) else np.negative(found)
