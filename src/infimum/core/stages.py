"""The C interface of staging as Python sees it: structures in, one object with a working box and its regions out."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from infimum.core.codes import Reduction, StagingFailure
from infimum.core.tape import Standing, Tape, address

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_int, _double, _pointer = ctypes.c_int64, ctypes.c_double, ctypes.c_void_p
_FAULTS = {
    StagingFailure.FAULT: "a row is no interval, a program does not fit, or a region is split twice",
    StagingFailure.NOTHING_TO_SPLIT: "no variable of the box can be split",
}


class Terms(NamedTuple):
    """`infimum_family`: terms of one body under one reduction."""

    reduction: str
    variables: IntArray  # (count, reads)
    lo: FloatArray  # (count, constants)
    hi: FloatArray
    points: FloatArray
    tape: Tape


class Components(NamedTuple):
    """`infimum_slopes`: partial derivatives of one body."""

    variables: IntArray  # (count,)
    read: IntArray  # (count, reads)
    extra: IntArray  # (count, extras)
    lo: FloatArray  # (count, constants)
    hi: FloatArray
    tape: Tape


class Box(NamedTuple):
    """The domain outward and inward, the wanted widths (or None), and the fractions of the sample points."""

    lo: FloatArray
    hi: FloatArray
    inner_lo: FloatArray
    inner_hi: FloatArray
    widths: FloatArray | None
    fractions: FloatArray


class Sample(NamedTuple):
    """A sample point of a child: its value in plain doubles, and the proved range of it."""

    value: float
    lo: float
    hi: float
    child: int
    fraction: int


def _structure(name: str, integers: Sequence[str], pointers: Sequence[str]) -> type[ctypes.Structure]:
    fields = [*((field, _int) for field in integers), *((field, _pointer) for field in pointers)]
    return type(name, (ctypes.Structure,), {"_fields_": fields})


_Family = _structure(
    "_Family", ("reduction", "count", "reads", "constants"), ("variables", "lo", "hi", "points", "tape")
)
_Slopes = _structure(
    "_Slopes", ("count", "reads", "constants", "extras"), ("variables", "read", "extra", "lo", "hi", "tape")
)
_Whole = _structure(
    "_Whole",
    ("n", "family_count", "slopes_count", "fraction_count", "variant"),
    ("families", "epilogue", "slopes", "lo", "hi", "inner_lo", "inner_hi", "widths", "fractions"),
)


_ROWS: dict[str, tuple[Any, list[Any]]] = {
    "new": (_pointer, [_pointer]),
    "free": (None, [_pointer]),
    "lo": (_pointer, [_pointer]),
    "hi": (_pointer, [_pointer]),
    "wide": (_int, [_pointer]),
    "open": (_int, [_pointer]),
    "settle": (_int, [_pointer, _int, _double, _int]),
    "forget": (_int, [_pointer]),
    "bound": (_double, [_pointer, _int]),
    "left": (_int, [_pointer, _int]),
    "parent": (_int, [_pointer, _int]),
    "depth": (_int, [_pointer, _int]),
    "prefixes": (None, [_pointer, _int, _pointer, _pointer, _pointer]),
    "release": (None, [_pointer, _int]),
    "go": (_int, [_pointer, _int, _int, _int]),
    "moves": (_pointer, [_pointer]),
    "excludes": (_int, [_pointer, _pointer, _pointer]),
    "discards": (_int, [_pointer, _int, _int, _pointer]),
    "parts": (_int, [_pointer, _int]),
    "count": (_int, [_pointer, _int]),
    "read": (None, [_pointer, _int, _pointer, _pointer]),
    "split": (_int, [_pointer, _int, _int, _pointer, _pointer]),
    "split_equally": (_int, [_pointer, _int, _int, _int, _pointer]),
    "tabulate": (_int, [_pointer, _int, _int, _pointer, _pointer]),
    "pack": (_int, [_pointer, _int, _int, _pointer, _pointer]),
    "packed": (_pointer, [_pointer]),
    "packed_bytes": (_int, [_pointer]),
    "begin": (_int, [_pointer, _int, _double]),
    "point": (_int, [_pointer, _int, _int, _int, _pointer]),
    "sample": (_int, [_pointer, _int, *[_pointer] * 5]),
    "advance": (_int, [_pointer, _int, _double, _double, _int, _int, _pointer, _pointer]),
}
_CALLS = [name for name, (result, _) in _ROWS.items() if result is _int]


def declare(library: ctypes.CDLL) -> None:
    """Say what the functions take and return."""
    for name, (result, arguments) in _ROWS.items():
        function = getattr(library, f"infimum_staging_{name}")
        function.restype, function.argtypes = result, arguments


class Staging:
    """A working box and the regions split so far; docs/staging.md says what each step does.

    lo and hi are views of the working box: copy what is to be kept.
    """

    def __init__(
        self,
        library: ctypes.CDLL,
        variant: int,
        box: Box,
        families: Sequence[Terms],
        epilogue: Tape,
        slopes: Sequence[Components],
    ) -> None:
        self._library = library
        self._keep = (box, tuple(families), epilogue, tuple(slopes))
        self._handle = 0
        rows = (_Family * max(1, len(families)))(*(_family(f) for f in families))
        parts = (_Slopes * max(1, len(slopes)))(*(_components(c) for c in slopes))
        widths = 0 if box.widths is None else address(box.widths)
        whole = _Whole(
            box.lo.size, len(families), len(slopes), box.fractions.size, variant,
            ctypes.addressof(rows), ctypes.addressof(epilogue.structure), ctypes.addressof(parts),
            *(address(a) for a in (box.lo, box.hi, box.inner_lo, box.inner_hi)), widths, address(box.fractions),
        )  # fmt: skip
        self._arrays = (rows, parts)
        self._handle = library.infimum_staging_new(ctypes.byref(whole)) or 0
        if not self._handle:
            raise MemoryError(f"there is not enough memory for a search of {box.lo.size} variables")
        n = box.lo.size
        self.lo, self.hi = (
            self._view(f(self._handle), n) for f in (library.infimum_staging_lo, library.infimum_staging_hi)
        )
        self._moves = _int.from_address(library.infimum_staging_moves(self._handle))
        self._functions = {name: getattr(library, f"infimum_staging_{name}") for name in _CALLS}
        self._number, self._index, self._fraction = _int(), _int(), _int()
        self._value, self._low, self._high = _double(), _double(), _double()

    def __del__(self) -> None:
        if self._handle:
            self._library.infimum_staging_free(self._handle)

    @staticmethod
    def _view(start: int, n: int) -> FloatArray:
        found = np.ctypeslib.as_array(ctypes.cast(start, ctypes.POINTER(_double)), (n,))
        found.flags.writeable = False
        return found

    def _call(self, name: str, *arguments: Any) -> int:
        status: int = self._functions[name](self._handle, *arguments)
        if status >= 0:
            return status
        if status == StagingFailure.NO_MEMORY:
            raise MemoryError("there is not enough memory to go on with the search")
        raise RuntimeError(f"staging failed in the core: {_FAULTS[StagingFailure(status)]}")

    # ------------------------------------------------------------------------------------------ the box
    def go(self, region: int, index: int = -1, depth: int = 0) -> None:
        """Move the box to a region, or to all its children that begin with the first `depth` digits of an index."""
        self._call("go", region, index, depth)

    def wide(self) -> int:
        """Return how many variables are wider than wanted."""
        return self._call("wide")

    def open(self) -> int:
        """Return how many variables have a number well between their ends."""
        return self._call("open")

    @property
    def moves(self) -> int:
        """Return a number that grows whenever an end of the box changes."""
        return self._moves.value

    def excludes(self, slope: tuple[FloatArray, FloatArray]) -> bool:
        """Return whether an enclosed gradient says that the box holds no minimiser, if the function is smooth there."""
        return bool(self._call("excludes", address(slope[0]), address(slope[1])))

    def discards(self, region: int, index: int, there: Standing) -> bool:
        """Move the box to a child, run a program there, and return whether it says that the child holds no minimiser.

        Its outputs must be whether the function is defined, whether it is smooth, …, its gradient. Guarantee: it is
        what `go`, `run`, these two facts and `excludes` say one after the other.
        """
        return self._call("discards", region, index, ctypes.byref(there.structure)) == 1

    def split_equally(self, first: int, count: int, parts: int) -> tuple[int, int]:
        """Split variables of a cycle into equal parts: the new region, and the first variable of the next cycle.

        Of `count` variables from the first one those that can be split; of the next `count` where none can.
        """
        region = self._call("split_equally", first, count, parts, ctypes.byref(self._number))
        return region, self._number.value

    def split_of(self, region: int) -> tuple[IntArray, FloatArray]:
        """Return the variables of a region's split, and the edges (variables, parts + 1) of their parts."""
        count, parts = self._call("count", region), self._call("parts", region)
        variables, edges = np.empty(count, np.int64), np.empty((count, parts + 1))
        self._library.infimum_staging_read(self._handle, region, address(variables), address(edges))
        return variables, edges

    def split(self, variables: IntArray, edges: FloatArray) -> int:
        """Split what the box is; the number of the new region."""
        variables = np.ascontiguousarray(variables, np.int64)
        edges = np.ascontiguousarray(edges, np.float64)
        return self._call("split", len(variables), edges.shape[1] - 1, address(variables), address(edges))

    # ------------------------------------------------------------------------------------------ a region
    def tabulate(self, region: int, masked: bool, extra: tuple[FloatArray, FloatArray] | None = None) -> int:
        """Make the tables of the region that the box is, and return one of codes.Tables.

        PARTIAL: a partial derivative is missing in the masks, or all are.
        """
        pair = (0, 0) if extra is None else (address(extra[0]), address(extra[1]))
        return self._call("tabulate", region, masked, *pair)

    def pack(
        self, region: int, masked: bool, extra: tuple[FloatArray, FloatArray] | None = None
    ) -> tuple[int, int, int]:
        """Describe the region that the box is to a device: what `tabulate` says, then address and size of the bytes.

        What changed since the last call is told once (core/staging/packed.h), so that tabulate is no longer right here.
        """
        pair = (0, 0) if extra is None else (address(extra[0]), address(extra[1]))
        kind = self._call("pack", region, masked, *pair)
        return kind, self._library.infimum_staging_packed(self._handle), self._call("packed_bytes")

    def begin(self, region: int, upper: float) -> None:
        """Put the first prefixes of a region just tabulated on its list."""
        self._call("begin", region, upper)

    def sample(self, region: int) -> Sample | None:
        """Return the best sample point of the tabulated region that the box is; None where no sample has a value."""
        ref = ctypes.byref
        numbers = (ref(self._value), ref(self._low), ref(self._high), ref(self._index), ref(self._fraction))
        if not self._call("sample", region, *numbers):
            return None
        return Sample(self._value.value, self._low.value, self._high.value, self._index.value, self._fraction.value)

    def point(self, region: int, index: int, fraction: int) -> FloatArray:
        """Return the sample point of a child; the box goes to the region."""
        x = np.empty(self.lo.size)
        self._call("point", region, index, fraction, address(x))
        return x

    def advance(
        self, region: int, upper: float, other_bound: float = np.inf, other: int = -1, most: int = 4096
    ) -> tuple[int, float, int]:
        """Emit the best child: one of codes.Advance, and for a child its lower bound and its index."""
        found = self._call(
            "advance", region, upper, other_bound, other, most, ctypes.byref(self._value), ctypes.byref(self._index)
        )
        return found, self._value.value, self._index.value

    def settle(self, region: int, upper: float, most: int = 4096) -> int:
        """Open prefixes until a child comes first, and return one of codes.Settle."""
        return self._call("settle", region, upper, most)

    def leave(self) -> None:
        """Do nothing: there is no device to leave."""

    def forget(self) -> None:
        """Take nothing for known of the box: the next tables are made from all of it."""
        self._call("forget")

    def bound(self, region: int) -> float:
        """Return a bound that no lower bound of a child left lies below; inf when none is left."""
        return float(self._library.infimum_staging_bound(self._handle, region))

    def left(self, region: int) -> int:
        """Return how many prefixes and children are left."""
        return self._call("left", region)

    def prefixes(self, region: int) -> tuple[FloatArray, IntArray, IntArray]:
        """Return lower bounds, indices and fixed digits of what is left; it covers every child not emitted."""
        count = self.left(region)
        bounds, indices, depths = np.empty(count), np.empty(count, np.int64), np.empty(count, np.int64)
        self._library.infimum_staging_prefixes(self._handle, region, address(bounds), address(indices), address(depths))
        return bounds, indices, depths

    def release(self, region: int) -> None:
        """Forget a region of which no child can be wanted any more; its descendants stay."""
        self._library.infimum_staging_release(self._handle, region)

    def parent(self, region: int) -> int:
        """Return the region whose child this one is; -1 for the first."""
        return int(self._library.infimum_staging_parent(self._handle, region))

    def depth(self, region: int) -> int:
        """Return how many regions lie above this one."""
        return int(self._library.infimum_staging_depth(self._handle, region))


def _family(f: Terms) -> Any:
    return _Family(
        Reduction[f.reduction.upper()], *f.variables.shape, f.lo.shape[1],
        *(address(a) for a in (f.variables, f.lo, f.hi, f.points)), ctypes.addressof(f.tape.structure),
    )  # fmt: skip


def _components(c: Components) -> Any:
    return _Slopes(
        *c.read.shape, c.lo.shape[1], c.extra.shape[1],
        *(address(a) for a in (c.variables, c.read, c.extra, c.lo, c.hi)), ctypes.addressof(c.tape.structure),
    )  # fmt: skip
