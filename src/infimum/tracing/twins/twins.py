"""Twins: the user's functions with NumPy's and math's callables replaced by ones that trace.

A twin shares its original's code and state and differs in the names it sees: a copy of its globals, closure cells and
methods in which every callable of NumPy and math is replaced, by identity. The user's own module stays as it is.
"""

from __future__ import annotations

import builtins
import functools
import math
import random
import sys
import sysconfig
import warnings
from collections import deque
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FunctionType,
    MethodType,
    ModuleType,
    UnionType,
)
from typing import Any

import numpy as np

from infimum.exact.number import Exact, ExactArray, exact
from infimum.tracing.math_rules import BUILTINS, MATH, SCIPY
from infimum.tracing.negative import Negative
from infimum.tracing.python.clock import CHANCE, CLOCKS, Moment
from infimum.tracing.python.numbers import as_float, as_int, number_class
from infimum.tracing.refusal import refusal
from infimum.tracing.selected import Selected
from infimum.tracing.traced import TracedArray
from infimum.tracing.tracer import Tracer
from infimum.tracing.twins.numpy import NumpyTwin, RandomTwin, foreign, numpy_class, unraised
from infimum.tracing.twins.restore import Leftovers, holds_traced
from infimum.tracing.values import is_symbolic, plain, unknown

_PLAIN = frozenset(
    {int, float, bool, str, bytes, complex, type(None), type(...), TracedArray, Selected, Exact, ExactArray, Fraction,
     range, slice, set, frozenset, np.float64, np.int64, np.bool_}
)  # fmt: skip
_COMPILED = frozenset({"scipy", "pandas", "sklearn", "torch", "jax", "tensorflow", "sympy", "numba", "cupy", "mpmath"})
_STDLIB = sysconfig.get_path("stdlib")
_DISPATCHED = type(np.sum)
CACHED = type(functools.lru_cache(lambda: None))
_TYPES = {"f": np.float64, "b": np.bool_, "i": np.int64, "F": float, "I": int, "B": bool}
_SEEN_THROUGH = frozenset({"math", "time", "os", "uuid", "warnings"})  # of the standard library's modules
# These are no functions of x themselves.
_SEARCHES = frozenset({("infimum.api.minimize", "minimize"), ("infimum.function.function", "trace")})
_LONGEST = 1000  # containers longer than this hold data, not functions


def room(name: str, file: str | None = None) -> str:
    """Whose code it is: "user", "numpy", "compiled", "library" (left alone)."""
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


class ModuleTwin(ModuleType):
    """A module whose callables are twins."""

    def __init__(self, twins: Twins, module: ModuleType) -> None:
        super().__init__(module.__name__)
        self.__dict__["_original"] = module
        self.__dict__["_twins"] = twins

    def __getattr__(self, name: str) -> Any:
        found = self._twins.of(getattr(self._original, name))
        if room(self._original.__name__) == "numpy":
            self.__dict__[name] = found
        return found


class Twins:
    """The twins of one trace, each original with one twin."""

    def __init__(self, tracer: Tracer) -> None:
        self.tracer = tracer
        self._twin: dict[int, tuple[Any, Any]] = {}
        self._original: dict[int, Any] = {}
        self._globals: dict[int, dict[str, Any]] = {}
        self._building: dict[int, list[Callable[[Any], None]]] = {}
        self._open: set[int] = set()  # containers being looked through, which may hold themselves
        self._leftovers = Leftovers()
        self._cells: list[tuple[CellType, Any]] = []
        self._builtins = self._make_builtins()
        self._keep(exact, self._exact)

    def _exact(self, *args: Any) -> Any:
        return exact(*plain(args))

    def of(self, value: Any) -> Any:
        """The twin of a value; the value itself where nothing in it needs one."""
        kind = type(value)
        if kind in _PLAIN:
            return value
        known = self._twin.get(id(value))
        if known is not None:
            return known[1]
        if id(value) in self._original or id(value) in self._building:
            return value
        if kind is list or kind is tuple or kind is dict:
            self._leftovers.watch(value)
            return self._container(value)
        if kind is MethodType:
            return self._bound(value)
        made = self._make(value)
        if id(value) not in self._twin:
            self._keep(value, made)
        return made

    def _keep(self, value: Any, made: Any) -> Any:
        self._twin[id(value)] = (value, made)
        if made is not value:
            self._original[id(made)] = value
        return made

    def _make(self, value: Any) -> Any:
        if isinstance(value, dict | list | deque):
            self._leftovers.watch(value)
            return value
        if isinstance(value, ModuleType):
            return self._module(value)
        if isinstance(value, np.ufunc | _DISPATCHED | BuiltinFunctionType | FunctionType):
            return self._callable(value)
        if isinstance(value, Negative):
            return Negative(self.of(value.f))
        if isinstance(value, functools.partial):
            args = [self.of(a) for a in value.args]
            return functools.partial(self.of(value.func), *args, **{k: self.of(v) for k, v in value.keywords.items()})
        if isinstance(value, CACHED):
            return self.of(value.__wrapped__)
        if isinstance(value, np.ndarray):
            return self.tracer.given(value) if type(value) is np.ndarray else value
        if is_random(value):
            return RandomTwin(self.tracer, f"a {type(value).__name__}")
        if str(getattr(value, "__module__", None)).startswith("numpy.random") and callable(value):
            return RandomTwin(self.tracer, f"np.random.{getattr(value, '__name__', '')}")
        if isinstance(value, type):
            return self._class(value)
        if isinstance(getattr(value, "py_func", None), FunctionType):
            return self.of(value.py_func)
        return numpy_class(self, value) or self._instance(value)

    # Modules and functions

    def _module(self, module: ModuleType) -> Any:
        name = module.__name__
        if name in ("random", "secrets") or name.startswith("numpy.random"):
            return RandomTwin(self.tracer, name.replace("numpy", "np"))
        place = room(name, getattr(module, "__file__", None))
        return module if place == "library" and name not in _SEEN_THROUGH else ModuleTwin(self, module)

    def _callable(self, value: Any) -> Any:
        if is_random(getattr(value, "__self__", None)):
            return RandomTwin(self.tracer, value.__name__)
        if value in MATH or (isinstance(value, BuiltinFunctionType) and getattr(math, value.__name__, None) is value):
            return NumpyTwin(self.tracer, value, MATH.get(value))
        if isinstance(value, FunctionType):
            return self._function(value)
        place = room(getattr(value, "__module__", None) or "numpy")
        if isinstance(value, np.ufunc | _DISPATCHED) or place in ("numpy", "compiled"):
            return NumpyTwin(self.tracer, value, SCIPY.get(value.__name__) if self._is_scipy(value) else None)
        return value

    @staticmethod
    def _is_scipy(value: Any) -> bool:
        if isinstance(value, np.ufunc):
            return getattr(np, value.__name__, None) is not value
        return str(getattr(value, "__module__", "")).startswith("scipy")

    def _no_search(self, *args: Any, **kwargs: Any) -> Any:
        raise self.tracer.refused(
            refusal("A search inside the function cannot be traced.", "Run it outside, and use its result inside.")
        )

    def _function(self, function: FunctionType) -> Any:
        spot = function.__globals__
        place = room(spot.get("__name__") or "", spot.get("__file__"))
        if (function.__module__, function.__name__) in _SEARCHES:
            return self._no_search
        if place == "library":
            return function
        if place == "numpy" and isinstance(wrapped := getattr(function, "__wrapped__", None), FunctionType):
            inner = wrapped.__globals__.get("__name__") or ""
            if room(inner, wrapped.__globals__.get("__file__")) == "user":
                return self.of(wrapped)  # decorated by np.errstate(...)
        if place == "numpy":
            return NumpyTwin(self.tracer, function, None)
        if place == "compiled":
            return foreign(self.tracer, function, SCIPY.get(function.__name__))
        space = self._globals.get(id(spot))
        if space is None:
            space = self._globals[id(spot)] = {**spot, "__builtins__": self._builtins}
        cells = tuple(CellType() for _ in function.__closure__ or ())
        shared = tuple(map(self._cell, function.__closure__ or (), cells))
        made = FunctionType(function.__code__, space, function.__name__, None, shared or None)
        self._keep(function, made)
        self._leftovers.watch(function.__dict__)
        made.__dict__ = function.__dict__
        made.__qualname__, made.__module__ = function.__qualname__, function.__module__
        made.__defaults__ = self.of(function.__defaults__) if function.__defaults__ else None
        made.__kwdefaults__ = self.of(function.__kwdefaults__) if function.__kwdefaults__ else None
        for old, new in zip(function.__closure__ or (), shared, strict=True):
            if new is not old:
                self._later(contents(old), functools.partial(setattr, new, "cell_contents"))
        self._fill(space, spot, function.__code__)
        return made

    def _cell(self, cell: CellType, empty: CellType) -> CellType:
        """The user's own cell where its content needs no twin (so that counters count), else a new one."""
        known = self._twin.get(id(cell))
        if known is not None:
            return known[1]  # type: ignore[no-any-return]
        content = contents(cell)
        if content is cell or type(content) in _PLAIN:
            self._cells.append((cell, content))
            return self._keep(cell, cell)  # type: ignore[no-any-return]
        return self._keep(cell, empty)  # type: ignore[no-any-return]

    def _fill(self, space: dict[str, Any], spot: dict[str, Any], code: CodeType) -> None:
        """Replace the globals that this code names."""
        for name in _names(code):
            if name in spot and space.get(name) is spot[name]:
                self._later(spot[name], functools.partial(space.__setitem__, name))

    def _later(self, value: Any, put: Callable[[Any], None]) -> None:
        """Put the twin of a value where it belongs, as soon as it is finished."""
        waiting = self._building.get(id(value))
        if waiting is not None:
            waiting.append(put)
        else:
            put(self.of(value))

    def _bound(self, method: MethodType) -> Any:
        if id(method.__func__) in self._original:
            return method
        if is_random(method.__self__):
            return RandomTwin(self.tracer, method.__name__)
        owner = self.of(method.__self__)
        if isinstance(method.__self__, ModuleType | type) and owner is method.__self__:
            return method
        return MethodType(self.of(method.__func__), owner)

    def _container(self, value: Any) -> Any:
        """The container itself, unless something in it has a twin."""
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

    # Classes and their instances

    def _exact_class(self, kind: type) -> type:
        """Decimal or Fraction: of numbers alone, since an error of theirs might be caught."""
        tracer = self.tracer

        def make(cls: type, *args: Any, **kwargs: Any) -> Any:
            if is_symbolic(args):
                raise tracer.refused(unknown(kind))
            return kind(*plain(args), **kwargs)

        return type(kind.__name__, (kind,), {"__new__": make})

    def _class(self, cls: type) -> Any:
        if cls is Decimal or cls is Fraction:
            return self._exact_class(cls)
        special = numpy_class(self, cls)
        if special is not None:
            return special
        place = room(cls.__module__, getattr(sys.modules.get(cls.__module__), "__file__", None))
        plain_kind = type(cls) is type or type(cls).__name__ == "ABCMeta"
        left_alone = issubclass(cls, BaseException | np.ndarray | tuple) or any(map(_is_compiled, cls.__mro__[:-1]))
        if place != "user" or not plain_kind or left_alone:
            return cls
        self._building[id(cls)] = []
        try:
            bases = tuple(self.of(base) for base in cls.__bases__)
            made: Any = type(cls).__call__(type(cls), cls.__name__, bases, self._namespace(cls))
        except Exception:
            # A class that cannot be made twice is left alone: NumPy's functions still trace inside it.
            made = cls
        self._keep(cls, made)
        for put in self._building.pop(id(cls)):
            put(made)
        return made

    def _namespace(self, cls: type) -> dict[str, Any]:
        slots = cls.__dict__.get("__slots__", ())
        left_out = {"__dict__", "__weakref__", "_abc_impl", "__abstractmethods__"}
        left_out |= {slots} if isinstance(slots, str) else set(slots)
        space = {k: self._member(v) for k, v in cls.__dict__.items() if k not in left_out}
        look_up = space.get("__getattribute__") or _inherited(cls)
        of = self.of
        space["__getattribute__"] = lambda this, name: of(look_up(this, name))
        return space

    def _member(self, value: Any) -> Any:
        if isinstance(value, property):
            return property(*(self.of(f) if f else None for f in (value.fget, value.fset, value.fdel)))
        if isinstance(value, staticmethod | classmethod):
            return type(value)(self.of(value.__func__))
        if isinstance(value, functools.cached_property):
            return functools.cached_property(self.of(value.func))
        self._leftovers.watch(value)
        return self.of(value) if isinstance(value, FunctionType) else value

    def _instance(self, value: Any) -> Any:
        cls = type(value)
        twin = self.of(cls)
        self._leftovers.watch(getattr(value, "__dict__", None))
        if twin is cls:
            return value
        try:
            made = object.__new__(twin)
            if hasattr(value, "__dict__"):
                object.__setattr__(made, "__dict__", value.__dict__)
            for kind in cls.__mro__:
                slots = kind.__dict__.get("__slots__", ())
                for name in (slots,) if isinstance(slots, str) else slots:
                    if name not in ("__dict__", "__weakref__") and hasattr(value, name):
                        object.__setattr__(made, name, getattr(value, name))
        except (TypeError, AttributeError):
            return value
        return made

    # Python's own functions

    def _make_builtins(self) -> dict[str, Any]:
        found = dict(vars(builtins))
        for name, rule in BUILTINS.items():
            found[name] = functools.partial(rule, self.tracer)
        for kind, convert in ((float, as_float), (int, as_int)):
            made = number_class(kind, functools.partial(convert, self.tracer), self._isinstance)
            found[kind.__name__] = self._keep(kind, made)
        found["isinstance"] = self._isinstance
        found["hasattr"] = self._hasattr
        found["type"] = self._type
        found["id"] = _identity
        found["hash"] = _hashed
        found["__import__"] = self._import
        for clock in CLOCKS:
            self._keep(clock, lambda clock=clock: Moment(clock()))
        for strict in (np.seterr, np.errstate, warnings.simplefilter, warnings.filterwarnings):
            self._keep(strict, unraised(strict))
        for source in CHANCE:
            self._keep(source, RandomTwin(self.tracer, source.__name__))
        return found

    def _type(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        if args:
            return type(value, *args, **kwargs)
        if isinstance(value, TracedArray):
            return self.of(np.ndarray if value.buffer is not None else _TYPES[value.kind])
        return self.of(type(value))

    def _hasattr(self, value: Any, name: str) -> bool:
        if isinstance(value, TracedArray):
            return hasattr(np.ndarray if value.buffer is not None else _TYPES[value.kind], name)
        return hasattr(value, name)

    def _isinstance(self, value: Any, kinds: Any) -> bool:
        if isinstance(kinds, tuple | UnionType):
            parts = kinds if isinstance(kinds, tuple) else kinds.__args__
            return any(self._isinstance(value, kind) for kind in parts)
        original = self._original.get(id(kinds), kinds) if kinds != self._type else type
        if isinstance(value, TracedArray) and isinstance(kinds, type):
            return issubclass(np.ndarray if value.buffer is not None else _TYPES[value.kind], original)
        return isinstance(value, original) or (
            original is not kinds and type(kinds) is type and isinstance(value, kinds)
        )

    def _import(self, name: str, spot: Any = None, local: Any = None, names: Any = (), level: int = 0) -> Any:
        return self.of(builtins.__import__(name, spot, local, names or (), level))

    def clean(self) -> None:
        """Take traced values and twins out of the user's objects again; counters and the like stay."""
        self._leftovers.clean(self._original)
        for cell, before_call in self._cells:
            if contents(cell) is not cell and holds_traced(cell.cell_contents):
                cell.cell_contents = before_call


def _identity(value: Any) -> int:
    if isinstance(value, TracedArray):
        raise refusal("The place of an array in memory differs at every call.", "Leave id() out.")
    return id(value)


def _hashed(value: Any) -> int:
    if getattr(type(value), "__hash__", None) is object.__hash__:
        raise refusal("The hash of an object is its place in memory, which differs at every call.", "Leave it out.")
    return hash(value)


def is_random(value: Any) -> bool:
    """Whether the value is a source of random numbers."""
    return isinstance(value, np.random.Generator | np.random.RandomState | np.random.BitGenerator | random.Random)


def _is_compiled(cls: type) -> bool:
    """Whether a class was made by compiled code: its instances have parts that no copy of the class knows."""
    kinds: Any = (type(object.__init__), type(str.join))
    return any(isinstance(v, kinds) and v.__objclass__ is cls for v in cls.__dict__.values())


def _inherited(cls: type) -> Callable[[Any, str], Any]:
    """How attributes are found by the classes above, before any twin of theirs."""
    ways = (kind.__dict__.get("__getattribute__") for kind in cls.__mro__[1:])
    return next(way for way in ways if way is not None)  # type: ignore[no-any-return]


def contents(cell: CellType) -> Any:
    """What a closure cell holds; the cell itself if it is empty."""
    try:
        return cell.cell_contents
    except ValueError:
        return cell


def _names(code: CodeType) -> set[str]:
    """The names that a piece of code, and the code inside it, may look up."""
    found = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found |= _names(constant)
    return found
