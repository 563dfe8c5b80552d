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
from infimum.tracing.squares import COMPOSED
from infimum.tracing.twins.functions import contents
from infimum.tracing.twins.origin import origin_of
from infimum.tracing.twins.twins import CACHED, ModuleTwin, Twins


class PlainTwins(Twins):
    """Twins for plain numbers: exact constants become the nearest doubles, everything else stays as it is."""

    def of(self, value: Any) -> Any:
        if isinstance(value, Exact):
            return float(value)
        if isinstance(value, ExactArray):
            return _nearest(value)
        return super().of(value)

    def exact(self, *args: Any) -> Any:
        if len(args) == 1 and isinstance(args[0], np.ndarray) and args[0].dtype.kind in "biuf":
            return args[0].astype(float)
        return _nearest(exact(*args))

    def make(self, value: Any) -> Any:
        if isinstance(value, functools.partial | CACHED | COMPOSED):
            return super().make(value)
        if isinstance(value, np.ndarray | np.ufunc | BuiltinFunctionType | np.random.Generator):
            return value
        if isinstance(value, ModuleType | FunctionType | type) and origin_of(value) != "user":
            return value
        if isinstance(value, ModuleType):
            return ModuleTwin(self, value)
        if isinstance(value, FunctionType):
            return self.function(value)
        return self.class_(value) if isinstance(value, type) else self.instance(value)

    def cell(self, cell: CellType, empty: CellType) -> CellType:
        return super().cell(cell, empty) if not isinstance(contents(cell), Exact | ExactArray) else empty

    def make_builtins(self) -> dict[str, Any]:
        return {**vars(builtins), "isinstance": self.is_instance, "__import__": self.imported}


def _nearest(value: Any) -> Any:
    """Return the nearest doubles of an exact constant or an array of them."""
    if isinstance(value, ExactArray):
        return np.array(value, dtype=float)
    return float(value)
