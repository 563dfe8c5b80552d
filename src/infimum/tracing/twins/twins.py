"""Twins: the user's functions with NumPy's and math's callables replaced by ones that trace.

A twin shares its original's code and state and differs in the names it sees: a copy of its globals, closure cells and
methods in which every callable of NumPy and math is replaced, by identity. The user's own module stays as it is.
"""

from __future__ import annotations

import functools
import math
import random
from collections import deque
from collections.abc import Callable
from fractions import Fraction
from types import BuiltinFunctionType, CellType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from infimum.exact.number import Exact, ExactArray, exact
from infimum.tracing.math_rules import MATH
from infimum.tracing.scipy_rules import SCIPY
from infimum.tracing.selected import Selected
from infimum.tracing.squares import COMPOSED
from infimum.tracing.traced import TracedArray
from infimum.tracing.tracer import Tracer
from infimum.tracing.twins import builtins, classes, functions
from infimum.tracing.twins.functions import contents
from infimum.tracing.twins.numpy import NumpyTwin, RandomTwin
from infimum.tracing.twins.numpy_classes import numpy_class
from infimum.tracing.twins.origin import origin, origin_of
from infimum.tracing.twins.snapshots import Snapshots, holds_traced
from infimum.tracing.values import plain

_PLAIN = frozenset(
    {int, float, bool, str, bytes, complex, type(None), type(...), TracedArray, Selected, Exact, ExactArray, Fraction,
     range, slice, set, frozenset, np.float64, np.int64, np.bool_}
)  # fmt: skip
_DISPATCHED = type(np.sum)
CACHED = type(functools.lru_cache(lambda: None))
_SEEN_THROUGH = frozenset({"math", "time", "os", "uuid", "warnings"})  # of the standard library's modules
_LONGEST = 1000  # containers longer than this hold data, not functions


class ModuleTwin(ModuleType):
    """A module whose callables are twins."""

    def __init__(self, twins: Twins, module: ModuleType) -> None:
        super().__init__(module.__name__)
        self.__dict__["_original"] = module
        self.__dict__["_twins"] = twins

    def __getattr__(self, name: str) -> Any:
        found = self._twins.of(getattr(self._original, name))
        if origin(self._original.__name__) == "numpy":
            self.__dict__[name] = found
        return found


class Twins:
    """The twins of one trace, each original with one twin."""

    def __init__(self, tracer: Tracer) -> None:
        self.tracer = tracer
        self.originals: dict[int, Any] = {}  # by the identity of the twin
        self.globals: dict[int, dict[str, Any]] = {}  # copies of the user's globals, by identity
        self.waiting: dict[int, list[Callable[[Any], None]]] = {}  # what to do with a class that is being copied
        self.snapshots = Snapshots()
        self._twins: dict[int, tuple[Any, Any]] = {}  # original and twin, by the identity of the original
        self._open: set[int] = set()  # containers being looked through, which may hold themselves
        self._cells: list[tuple[CellType, Any]] = []  # the user's closure cells that are shared, as they were
        self.builtins = self.make_builtins()
        self.keep(exact, self.exact)

    function, class_, instance = functions.function_twin, classes.class_twin, classes.instance_twin
    make_builtins, type_of = builtins.tracing_builtins, builtins.type_of
    is_instance, imported = builtins.is_instance, builtins.imported

    def exact(self, *args: Any) -> Any:
        """Return infimum.exact(...) of the user's function."""
        return exact(*plain(args))

    def of(self, value: Any) -> Any:
        """Return the twin of a value; the value itself where nothing in it needs one."""
        kind = type(value)
        if kind in _PLAIN:
            return value
        known = self._twins.get(id(value))
        if known is not None:
            return known[1]
        if id(value) in self.originals or id(value) in self.waiting:
            return value
        if kind is list or kind is tuple or kind is dict:
            self.snapshots.take(value)
            return self._container(value)
        if kind is MethodType:
            return self._bound(value)
        made = self.make(value)
        if id(value) not in self._twins:
            self.keep(value, made)
        return made

    def keep(self, value: Any, made: Any) -> Any:
        """Remember the twin of a value, and return it."""
        self._twins[id(value)] = (value, made)
        if made is not value:
            self.originals[id(made)] = value
        return made

    def make(self, value: Any) -> Any:
        """Return a new twin of a value."""
        if isinstance(value, dict | list | deque):
            self.snapshots.take(value)
            return value
        if isinstance(value, ModuleType):
            return self._module(value)
        if isinstance(value, np.ufunc | _DISPATCHED | BuiltinFunctionType | FunctionType):
            return self._callable(value)
        if isinstance(value, COMPOSED):
            return value.around(self.of)
        if isinstance(value, functools.partial):
            args = [self.of(a) for a in value.args]
            return functools.partial(self.of(value.func), *args, **{k: self.of(v) for k, v in value.keywords.items()})
        if isinstance(value, CACHED):
            return self.of(value.__wrapped__)
        if isinstance(value, np.ndarray):
            return self.tracer.given(value) if type(value) is np.ndarray else value
        if _is_random(value):
            return RandomTwin(f"a {type(value).__name__}")
        if str(getattr(value, "__module__", None)).startswith("numpy.random") and callable(value):
            return RandomTwin(f"np.random.{getattr(value, '__name__', '')}")
        if isinstance(value, type):
            return self.class_(value)
        if isinstance(getattr(value, "py_func", None), FunctionType):
            return self.of(value.py_func)
        return numpy_class(self, value) or self.instance(value)

    def _module(self, module: ModuleType) -> Any:
        name = module.__name__
        if name in ("random", "secrets") or name.startswith("numpy.random"):
            return RandomTwin(name.replace("numpy", "np"))
        return module if origin_of(module) == "library" and name not in _SEEN_THROUGH else ModuleTwin(self, module)

    def _callable(self, value: Any) -> Any:
        if _is_random(getattr(value, "__self__", None)):
            return RandomTwin(value.__name__)
        if value in MATH or (isinstance(value, BuiltinFunctionType) and getattr(math, value.__name__, None) is value):
            return NumpyTwin(self.tracer, value, MATH.get(value))
        if isinstance(value, FunctionType):
            return self.function(value)
        place = origin(getattr(value, "__module__", None) or "numpy")
        if isinstance(value, np.ufunc | _DISPATCHED) or place in ("numpy", "compiled"):
            return NumpyTwin(self.tracer, value, SCIPY.get(value.__name__) if _is_scipy(value) else None)
        return value

    def cell(self, cell: CellType, empty: CellType) -> CellType:
        """Return the user's own closure cell where its content needs no twin (so that counters count), else `empty`."""
        known = self._twins.get(id(cell))
        if known is not None:
            return known[1]  # type: ignore[no-any-return]
        content = contents(cell)
        if content is cell or type(content) in _PLAIN:
            self._cells.append((cell, content))
            return self.keep(cell, cell)  # type: ignore[no-any-return]
        return self.keep(cell, empty)  # type: ignore[no-any-return]

    def _bound(self, method: MethodType) -> Any:
        if id(method.__func__) in self.originals:
            return method
        if _is_random(method.__self__):
            return RandomTwin(method.__name__)
        owner = self.of(method.__self__)
        if isinstance(method.__self__, ModuleType | type) and owner is method.__self__:
            return method
        return MethodType(self.of(method.__func__), owner)

    def _container(self, value: Any) -> Any:
        """Return the container itself, unless something in it has a twin."""
        if len(value) > _LONGEST or id(value) in self._open:
            return value
        self._open.add(id(value))
        try:
            return self._copied(value)
        finally:
            self._open.discard(id(value))

    def _copied(self, value: Any) -> Any:
        if type(value) is dict:
            parts = {k: self.of(v) for k, v in value.items()}
            return value if all(parts[k] is v for k, v in value.items()) else parts
        items = [self.of(v) for v in value]
        return value if all(a is b for a, b in zip(items, value, strict=True)) else type(value)(items)

    def clean(self) -> None:
        """Take traced values and twins out of the user's objects again; counters and the like stay."""
        self.snapshots.restore(self.originals)
        for cell, before in self._cells:
            if contents(cell) is not cell and holds_traced(cell.cell_contents):
                cell.cell_contents = before


def _is_random(value: Any) -> bool:
    """Return whether the value is a source of random numbers."""
    return isinstance(value, np.random.Generator | np.random.RandomState | np.random.BitGenerator | random.Random)


def _is_scipy(value: Any) -> bool:
    if isinstance(value, np.ufunc):
        return getattr(np, value.__name__, None) is not value
    return str(getattr(value, "__module__", "")).startswith("scipy")
