"""The user's function on plain numbers, with exact constants as the nearest doubles.

On plain numbers exact constants would compute symbolically, at great cost; for a comparison in doubles they need not.
"""

from __future__ import annotations

import builtins
import functools
from types import BuiltinFunctionType, CellType, FunctionType, ModuleType
from typing import Any

import numpy as np

from infimum.exact.number import Exact, ExactArray, exact
from infimum.tracing.negative import Negative
from infimum.tracing.twins.twins import CACHED, ModuleTwin, Twins, contents, room


class PlainTwins(Twins):
    """Twins for plain numbers: exact constants become the nearest doubles, everything else stays as it is."""

    def of(self, value: Any) -> Any:
        if isinstance(value, Exact):
            return float(value)
        if isinstance(value, ExactArray):
            return _nearest(value)
        return super().of(value)

    def _exact(self, *args: Any) -> Any:
        if len(args) == 1 and isinstance(args[0], np.ndarray) and args[0].dtype.kind in "biuf":
            return args[0].astype(float)
        return _nearest(exact(*args))

    def _make(self, value: Any) -> Any:
        if isinstance(value, ModuleType):
            place = room(value.__name__, getattr(value, "__file__", None))
            return ModuleTwin(self, value) if place == "user" else value
        if isinstance(value, FunctionType):
            spot = value.__globals__
            place = room(spot.get("__name__") or "", spot.get("__file__"))
            return self._function(value) if place == "user" else value
        if isinstance(value, functools.partial | CACHED | Negative):
            return super()._make(value)
        if isinstance(value, type):
            return self._class(value) if room(value.__module__) == "user" else value
        if isinstance(value, np.ndarray | np.ufunc | BuiltinFunctionType | np.random.Generator):
            return value
        return self._instance(value)

    def _cell(self, cell: CellType, empty: CellType) -> CellType:
        return super()._cell(cell, empty) if not isinstance(contents(cell), Exact | ExactArray) else empty

    def _make_builtins(self) -> dict[str, Any]:
        return {**vars(builtins), "isinstance": self._isinstance, "__import__": self._import}


def _nearest(value: Any) -> Any:
    """The nearest doubles of an exact constant or an array of them."""
    if isinstance(value, ExactArray):
        return np.array(value, dtype=float)
    return float(value)
