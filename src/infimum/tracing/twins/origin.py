"""Whose code a module, a function or a class is."""

from __future__ import annotations

import sys
import sysconfig
from types import FunctionType, ModuleType

_COMPILED = frozenset({"scipy", "pandas", "sklearn", "torch", "jax", "tensorflow", "sympy", "numba", "cupy", "mpmath"})
_STDLIB = sysconfig.get_path("stdlib")


def origin(name: str, file: str | None = None) -> str:
    """Return whose code a module is: "user", "numpy", "compiled" or "library" (left alone)."""
    root = name.partition(".")[0]
    if root == "numpy":
        return "numpy"
    if root in _COMPILED:
        return "compiled"
    if root == "infimum" and name != "infimum" and not name.startswith("infimum.problems"):
        return "library"
    if root in sys.stdlib_module_names and (file is None or (file.startswith(_STDLIB) and "site-packages" not in file)):
        return "library" if root != "__main__" else "user"
    return "user"


def origin_of(value: ModuleType | FunctionType | type) -> str:
    """Return whose code a module, a function or a class is."""
    if isinstance(value, FunctionType):
        return origin(value.__globals__.get("__name__") or "", value.__globals__.get("__file__"))
    if isinstance(value, ModuleType):
        return origin(value.__name__, getattr(value, "__file__", None))
    return origin(value.__module__, getattr(sys.modules.get(value.__module__), "__file__", None))
