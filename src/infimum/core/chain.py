"""Chains of contractors that the core applies itself: boxes in, what is left of them out.

core/chain/spec.h has what crosses the C interface. infimum.contractors.links makes the links: the core trusts them.
"""

from __future__ import annotations

import ctypes
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from infimum.core import Core
from infimum.core import _core as _default
from infimum.core.codes import ChainKeeping, ChainKnown, ChainLink, ChainLook, Status
from infimum.core.tape import FAILURES, Tape, address, no_interval
from infimum.errors import InvalidInterval, ShapeMismatch

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]

TAKEN_UNIT = 2.0**32

Source = Callable[[], Tape | None]


class Link(NamedTuple):
    """One contractor as the core applies it.

    programs         the names of those that it runs: LEVEL, STATIONARY: one; MEAN_VALUE: f's and the form's
    passes, least    it is repeated so often at most, as long as it takes so much of a box away
    """

    kind: ChainLink
    programs: tuple[str, ...] = ()
    passes: int = 1
    least: float = 0.0


class Given(NamedTuple):
    """What a chain knows of the function and of the domain.

    programs    by name, each made when it is first needed. Those that links share, where there are any:
                    gradient    the derived one
                    jacobian    the user's, and whether it is defined
                    facts       whether f is defined, and smooth; the source returns None where it is both everywhere
                    image       a box as the edges see it
                    point       the function, which runs in plain doubles
    edges       lo and hi (n,): a side that reaches one may hold a minimiser with a slope
    ends        lo and hi (n,): where a minimiser is along a slope, infinite where that is not known
    """

    programs: Mapping[str, Source]
    edges: tuple[FloatArray, FloatArray]
    ends: tuple[FloatArray, FloatArray]


class Left(NamedTuple):
    """What a chain leaves of boxes.

    lo, hi, lower    of each box that is left
    rows             which of the boxes given it was
    slopes           their gradients, where has_slopes
    taken            by each link, in boxes: 1 for one that it removed, less for one that it narrowed
    evaluated        boxes on which f was contracted
    """

    lo: FloatArray
    hi: FloatArray
    lower: FloatArray
    rows: IntArray
    slopes: tuple[FloatArray, FloatArray]
    has_slopes: BoolArray
    taken: list[float]
    evaluated: int

    def map(self, move: Callable[[Any], Any]) -> Left:
        """Return the same with its arrays elsewhere."""
        lo, hi, lower, rows = (move(array) for array in self[:4])
        slopes = move(self.slopes[0]), move(self.slopes[1])
        return Left(lo, hi, lower, rows, slopes, move(self.has_slopes), self.taken, self.evaluated)


class Late(Exception):
    """There was no time for the chain."""


class NoInterval(Exception):
    """Among the boxes is one that has ends and is no interval."""


class NoGradient(Exception):
    """The user's derivative by `variable` is none: the box's side there, the derived slope, the user's."""

    def __init__(self, variable: int, ends: Sequence[float]) -> None:
        super().__init__(variable)
        self.variable = variable
        self.side, self.derived, self.given = (tuple(ends[i : i + 2]) for i in (0, 2, 4))


class _Link(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_int64) for name in ("kind", "first", "second", "passes")),
        ("least", ctypes.c_double),
    ]


class _Chain(ctypes.Structure):
    _fields_ = [
        *(
            (name, ctypes.c_int64)
            for name in ("n", "program_count", "link_count", "gradient", "jacobian", "facts", "image", "point")
        ),
        *((name, ctypes.c_void_p) for name in ("links", "edge_lo", "edge_hi", "end_lo", "end_hi")),
    ]


class _Job(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_int64) for name in ("count", "keeping", "threads")),
        *((name, ctypes.c_double) for name in ("upper", "seconds")),
        *(
            (name, ctypes.c_void_p)
            for name in (
                "in_lo", "in_hi", "in_lower", "limit", "lo", "hi", "lower", "slope_lo", "slope_hi", "row", "known",
                "taken",
            )
        ),
        *((name, ctypes.c_int64) for name in ("evaluated", "left", "which")),
        ("wrong", ctypes.c_double * 6),
    ]  # fmt: skip


class _CutJob(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_int64) for name in ("count", "known_count", "threads")),
        ("seconds", ctypes.c_double),
        *(
            (name, ctypes.c_void_p)
            for name in (
                "in_lo", "in_hi", "known_lo", "known_hi", "slope_lo", "slope_hi", "has", "hints", "widths", "stepped",
                "variable", "place",
            )
        ),
        ("which", ctypes.c_int64),
        ("wrong", ctypes.c_double * 6),
    ]  # fmt: skip


class _LookJob(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_int64) for name in ("count", "best_count", "threads")),
        ("seconds", ctypes.c_double),
        *(
            (name, ctypes.c_void_p)
            for name in ("in_lo", "in_hi", "least", "most", "widths", "points", "values", "looks")
        ),
        ("which", ctypes.c_int64),
        ("wrong", ctypes.c_double * 6),
    ]  # fmt: skip


class Look(NamedTuple):
    """What is seen of boxes.

    points      (m, n) their middles with the smallest values in plain doubles, the smallest first
    can_be_cut  (k,) which have a side with a double inside it
    is_wide     (k,) which have such a side that is wider than is asked for
    """

    points: FloatArray
    can_be_cut: BoolArray
    is_wide: BoolArray


class Slopes(NamedTuple):
    """Boxes (k, n) whose gradients are known, where `has` (k,) says so."""

    boxes: tuple[FloatArray, FloatArray]
    slopes: tuple[FloatArray, FloatArray]
    has: BoolArray


class Chain:
    """Links, one after the other, for a function of n variables on a domain. It may run in several threads at once."""

    def __init__(
        self, n: int, links: Sequence[Link], given: Given, *, variant: str | None = None, core: Core = _default
    ) -> None:
        self.n = n
        self.count = len(links)
        self._core = core
        self._sources = list(given.programs.values())
        number = {name: i for i, name in enumerate(given.programs)}
        rows = (_Link * max(1, len(links)))()
        for row, link in zip(rows, links, strict=False):
            first, second = (*(number[name] for name in link.programs), -1, -1)[:2]
            row.kind, row.first, row.second, row.passes, row.least = (
                int(link.kind),
                first,
                second,
                link.passes,
                link.least,
            )
        ends = [_read("an edge", end, (n,)) for end in (*given.edges, *given.ends)]
        shared = (number.get(name, -1) for name in ("gradient", "jacobian", "facts", "image", "point"))
        spec = _Chain(n, len(number), len(links), *shared, ctypes.addressof(rows), *map(address, ends))
        self._keep: list[Any] = [rows, ends]
        made = ctypes.c_void_p()
        status = core.library.infimum_chain_make(core.number(variant), ctypes.byref(spec), ctypes.byref(made))
        if status:
            raise RuntimeError(f"a chain could not be made: {FAILURES[Status(status)]}")
        self._made = made
        # When Python ends, other threads may still run the chain.
        weakref.finalize(self, core.library.infimum_chain_free, made).atexit = False

    def _call(self, call: Any, job: _Job | _CutJob | _LookJob) -> None:
        """Call the core, as often as it needs another program; what making them takes is part of the time."""
        began, seconds = time.perf_counter(), job.seconds
        status = call(self._made, ctypes.byref(job))
        while status == Status.NO_PROGRAM:
            self._provide(job.which)
            job.seconds = seconds - (time.perf_counter() - began)
            status = call(self._made, ctypes.byref(job))
        if status == Status.LATE:
            raise Late
        if status == Status.NO_GRADIENT:
            raise NoGradient(job.which, list(job.wrong))
        if status == Status.NO_INTERVAL:
            raise NoInterval
        if status == Status.NO_MEMORY:
            raise MemoryError("there is not enough memory to contract these boxes")
        if status:
            raise RuntimeError(f"a chain failed in the core: {FAILURES[Status(status)]}")

    def _provide(self, which: int) -> None:
        """Make a program and hand it to the core."""
        tape = self._sources[which]()
        self._keep.append(tape)
        program = None if tape is None else ctypes.byref(tape.structure)
        status = self._core.library.infimum_chain_provide(self._made, ctypes.c_int64(which), program)
        if status:
            raise RuntimeError(f"a chain refused a program: {FAILURES[Status(status)]}")

    def run(
        self,
        boxes: tuple[FloatArray, FloatArray, FloatArray],
        limit: FloatArray,
        *,
        upper: float = np.inf,
        keeping: ChainKeeping = ChainKeeping.KEEP_ALL,
        seconds: float = np.inf,
        threads: int = 1,
    ) -> Left:
        """Return what the links leave of boxes (k, n), (k, n), (k,) where f is to be at most a limit (k,).

        Guarantee: the same bits for every variant and every number of threads.
        """
        count = len(boxes[0])
        sizes = {"lo": (count, self.n), "hi": (count, self.n), "lower": (count,), "limit": (count,)}
        lo, hi, lower, most = (_read(*row) for row in zip(sizes, (*boxes, limit), sizes.values(), strict=True))
        if np.isnan(most).any():
            raise InvalidInterval("the number that f may be at most is NaN.")
        found = [np.empty_like(lo) for _ in range(4)]
        bound, row, known = np.empty(count), np.empty(count, np.int64), np.zeros(count, np.uint8)
        taken = np.zeros(max(1, self.count), np.int64)
        outputs = found[0], found[1], bound, found[2], found[3], row, known, taken
        job = _Job(
            count, int(keeping), threads, upper, min(seconds, 1e300), *map(address, (lo, hi, lower, most, *outputs))
        )
        try:
            self._call(self._core.library.infimum_chain_run, job)
        except NoInterval:
            ends = np.column_stack([lo, np.full(count, -np.inf)]), np.column_stack([hi, most])
            raise InvalidInterval(no_interval(*ends)) from None
        left = slice(0, job.left)
        has_slopes = (known[left] & int(ChainKnown.HAS_SLOPE)) != 0
        slopes = found[2][left], found[3][left]
        return Left(
            found[0][left], found[1][left], bound[left], row[left], slopes, has_slopes,
            (taken[: self.count] / TAKEN_UNIT).tolist(), int(job.evaluated),
        )  # fmt: skip

    def look(
        self,
        boxes: tuple[FloatArray, FloatArray],
        within: tuple[FloatArray, FloatArray],
        most: int,
        *,
        widths: FloatArray | None = None,
        seconds: float = np.inf,
        threads: int = 1,
    ) -> Look:
        """Return what is seen of boxes (k, n): up to `most` of their middles, moved into a box of ends (n,)."""
        count = len(boxes[0])
        lo, hi = (_read(name, end, (count, self.n)) for name, end in zip(("lo", "hi"), boxes, strict=True))
        ends = [_read("an end", end, (self.n,)) for end in within]
        wanted = None if widths is None else _read("widths", widths, (self.n,))
        points, values, looks = np.empty((most, self.n)), np.empty(most), np.zeros(count, np.uint8)
        arrays = (lo, hi, *ends, wanted, points, values, looks)
        pointers = (None if array is None else address(array) for array in arrays)
        self._call(
            self._core.library.infimum_chain_look, _LookJob(count, most, threads, min(seconds, 1e300), *pointers)
        )
        cut, wide = ((looks & int(look)) != 0 for look in (ChainLook.CAN_BE_CUT, ChainLook.IS_WIDE))
        return Look(points[values < np.inf], cut, wide)

    def cuts(
        self,
        boxes: tuple[FloatArray, FloatArray],
        known: Slopes | None = None,
        *,
        hints: FloatArray | None = None,
        widths: FloatArray | None = None,
        stepped: BoolArray | None = None,
        seconds: float = np.inf,
        threads: int = 1,
    ) -> tuple[IntArray, FloatArray]:
        """Return for boxes (k, n) the variable along which each is cut, and the number at which (core/chain/rules.h).

        known      boxes of which these are some, in their order
        hints      weights (k, n), NaN for none
        widths     (n,) how narrow the boxes are to become
        stepped    (n,) along which variables f changes without a slope
        """
        count = len(boxes[0])
        lo, hi = (_read("an end", array, (count, self.n)) for array in boxes)
        variable, place = np.empty(count, np.int64), np.empty(count)
        given: list[Any] = [None] * 5
        if known is not None:
            rows = len(known.has)
            given = [_read("what is known", array, (rows, self.n)) for array in (*known.boxes, *known.slopes)]
            given.append(_read("what is known", known.has, (rows,), np.uint8))
        arrays = [
            lo, hi, *given,
            None if hints is None else _read("hints", hints, (count, self.n)),
            None if widths is None else _read("widths", widths, (self.n,)),
            None if stepped is None or not stepped.any() else _read("stepped", stepped, (self.n,), np.uint8),
            variable, place,
        ]  # fmt: skip
        pointers = (None if array is None else address(array) for array in arrays)
        job = _CutJob(count, 0 if known is None else len(known.has), threads, min(seconds, 1e300), *pointers)
        try:
            self._call(self._core.library.infimum_chain_cut, job)
        except NoInterval:
            raise InvalidInterval(no_interval(lo, hi)) from None
        return variable, place


def _read(
    name: str, given: npt.ArrayLike, shape: tuple[int, ...], kind: npt.DTypeLike = np.float64
) -> npt.NDArray[Any]:
    """Return what the core reads in place: a contiguous array of this shape. It trusts what it is given."""
    found = np.ascontiguousarray(given, kind)
    if found.shape != shape:
        raise ShapeMismatch(f"{name} has the shape {found.shape}, where {shape} is meant")
    return found
