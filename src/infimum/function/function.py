"""A traced function: what the user wrote, as something that can be enclosed over boxes.

`trace` is the line from a Python function to a Program; `Function` evaluates the Programs it needs, each made once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from infimum.backends import cpu
from infimum.backends.cuda import compile as cuda
from infimum.backends.cuda.emit import emit
from infimum.backends.placement import Place, like, place, to_host
from infimum.concurrency import cached_property
from infimum.errors import InvalidOption, NotAPoint, ShapeMismatch
from infimum.function.box import Nodes, OnBox
from infimum.function.conditions import ConditionBox, condition_boxes
from infimum.function.jacobian import Jacobian, trace_jacobian
from infimum.function.watch import Comparison, Watch
from infimum.graph.build import is_number
from infimum.graph.node import Node
from infimum.graph.show import show
from infimum.interval import Interval
from infimum.interval.reading import as_array, ends
from infimum.passes.contract.contraction import contraction
from infimum.passes.derive import gradient
from infimum.passes.facts import facts
from infimum.passes.lowering.lower import lower
from infimum.passes.lowering.program import Program
from infimum.passes.reroll import reroll
from infimum.passes.sharper.limits import with_limits
from infimum.passes.sharper.squares import sharper
from infimum.passes.sharper.steps import with_corners
from infimum.passes.simplify import simplify
from infimum.staging.working import Staged, Stages, equal_parts, stages
from infimum.tracing.trace import Traced, trace_graph

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


class Facts(NamedTuple):
    """defined: on the whole box; smooth: differentiable on an open neighbourhood of it."""

    defined: bool | BoolArray
    smooth: bool | BoolArray


def trace(
    f: Callable[..., Any],
    n: int,
    args: Sequence[Any] = (),
    jac: Callable[..., Any] | None = None,
    box: tuple[FloatArray, FloatArray] | None = None,
) -> Function:
    """Turn a NumPy function of n variables into one that can be enclosed, differentiated and shown.

    jac, where given, returns the n partial derivatives; enclosures of the gradient are met with its own. box, where
    given, are the ends of the domain: what is said of the function then holds there, and not beyond.
    """
    with np.errstate(all="ignore"):
        function = trace_unwatched(f, n, args, jac, box)
        if box is None:
            function.watch.without_bounds()
        else:
            function.watch.begin(*box)
    return function


def trace_unwatched(
    f: Callable[..., Any],
    n: int,
    args: Sequence[Any] = (),
    jac: Callable[..., Any] | None = None,
    box: tuple[FloatArray, FloatArray] | None = None,
) -> Function:
    """Do as `trace` does, and leave the comparison with the user's own function to the caller: `watch` makes it."""

    def again() -> Traced:
        return trace_graph(f, n, tuple(args), box)

    traced = again()
    (rolled,) = reroll(traced.graph, [traced.output])
    own = Comparison(traced, rolled, again)
    given, beside = (None, []) if jac is None else trace_jacobian(jac, n, args, box)
    function = Function(rolled, n, _name(f), given, Watch([own, *beside]))
    own.simplified = lambda: function.value_program
    return function


def _name(f: Any) -> str:
    return str(getattr(f, "__name__", type(f).__name__))


class Function:
    """A real function of n variables; made by `trace`."""

    def __init__(
        self, output: Node, n: int, name: str, jacobian: Jacobian | None = None, watch: Watch | None = None
    ) -> None:
        self.n = n
        self.watch = watch or Watch([])
        self.name = name
        self.place: Place = Place()
        self._jacobian = jacobian
        self._build, (self._value,) = simplify([output], n)

    def __repr__(self) -> str:
        return f"<infimum function {self.name} of {self.n} variables>"

    def on(self, where: str | Place) -> Function:
        """The same function with its batches on "cpu", or on "cuda" as far as that saves time; the same bits."""
        moved = copy(self)
        moved.place = place(where) if isinstance(where, str) else where
        return moved

    @property
    def value_node(self) -> Node:
        """The simplified expression: what staging and contraction read."""
        return self._value

    @property
    def gradient_node(self) -> Node:
        """The partial derivatives as one array expression."""
        return self._gradient

    @cached_property
    def is_smooth_everywhere(self) -> bool:
        """Defined and smooth on all reals, by its operations alone: no box needs a check."""
        return all(is_number(fact, 1.0) for fact in facts(self._build, self._value))

    @cached_property
    def is_defined_everywhere(self) -> bool:
        """Defined on all reals, by its operations alone."""
        return is_number(facts(self._build, self._value)[0], 1.0)

    @property
    def gradient_is_staged(self) -> bool:
        """Whether the masks of a smooth region hold all that the gradient's enclosures say of its children."""
        given = self._jacobian is None or self._jacobian.is_defined_everywhere
        return given and self.stages.slopes.complete

    @property
    def has_jacobian(self) -> bool:
        """Whether the gradient's enclosures also rest on a formula of the user's."""
        return self._jacobian is not None

    # ------------------------------------------------------------------------------------------ the programs
    @property
    def value_program(self) -> Program:
        """What backends run for the value."""
        return self._value_program

    @cached_property
    def _gradient(self) -> Node:
        return gradient(self._build, self._value)

    @cached_property
    def _value_program(self) -> Program:
        return lower([self._value], self.n)

    @cached_property
    def _gradient_program(self) -> Program:
        return lower([self._gradient], self.n)

    @cached_property
    def _both_program(self) -> Program:
        return lower([self._value, self._gradient], self.n)

    @cached_property
    def _facts_program(self) -> Program:
        return lower(list(facts(self._build, self._value)), self.n)

    @cached_property
    def _sharp(self) -> Node:
        return with_corners(with_limits(sharper(self._value, self.n), self.n), self.n)

    @cached_property
    def _sharp_program(self) -> Program:
        return self._value_program if self._sharp is self._value else lower([self._sharp], self.n)

    @cached_property
    def _level_program(self) -> Program:
        return contraction([self._sharp], self.n)

    @cached_property
    def _slope_program(self) -> Program:
        return contraction([self._gradient], self.n)

    # ------------------------------------------------------------------------------------------ plain doubles
    def __call__(
        self, points: npt.ArrayLike, *, threads: int = 1, backend: Literal["cpu", "cuda"] | None = None
    ) -> float | FloatArray:
        """The value at a point (n,) as a float, or at points (k, n) as an array; NaN where undefined."""
        x, single = self._points(points)
        ((value, _),) = self._run(backend, self._value_program, x, x, "point", None, threads)
        return float(value[0, 0]) if single else value[:, 0]

    def value_and_gradient(
        self, points: npt.ArrayLike, *, threads: int = 1
    ) -> tuple[float, FloatArray] | tuple[FloatArray, FloatArray]:
        """Value and gradient in plain doubles, as local optimisers want them."""
        x, single = self._points(points)
        (value, _), (slope, _) = self.place.run(self._both_program, x, x, "point", threads=threads)
        return (float(value[0, 0]), slope[0]) if single else (value[:, 0], slope)

    # ------------------------------------------------------------------------------------------ boxes
    # backend: "cpu", "cuda" for a GPU, or None for where the function is (`on`); the same bits.

    def enclose(
        self, boxes: Any, *, variant: str | None = None, threads: int = 1, backend: Literal["cpu", "cuda"] | None = None
    ) -> Interval:
        """Contain every value that the function takes on each box (where it is defined)."""
        lo, hi, single = self._boxes(boxes)
        low, high = self.range_ends(lo, hi, variant=variant, threads=threads, backend=backend)
        return _interval(low, high, single)

    def gradient(
        self, boxes: Any, *, variant: str | None = None, threads: int = 1, backend: Literal["cpu", "cuda"] | None = None
    ) -> Interval:
        """Contain every gradient on each box; at kinks the hull of all slopes nearby."""
        lo, hi, single = self._boxes(boxes)
        low, high = self.gradient_ends(lo, hi, variant=variant, threads=threads, backend=backend)
        if not self.is_smooth_everywhere:
            rough = ~self.fact_arrays(lo, hi, threads=threads, backend=backend)[1] & (lo <= hi).all(1)
            if rough.any():  # beside its edge a box may have slopes that vanish on it, in products of 0 and infinity
                around = np.nextafter(lo[rough], -np.inf), np.nextafter(hi[rough], np.inf)
                found = self.gradient_ends(*around, variant=variant, threads=threads, backend=backend)
                low, high = low.copy(), high.copy()
                low[rough], high[rough] = np.minimum(low[rough], found[0]), np.maximum(high[rough], found[1])
        return _interval(low, high, single)

    def facts(self, boxes: Any, *, threads: int = 1, backend: Literal["cpu", "cuda"] | None = None) -> Facts:
        """Say whether the function is certainly defined on each box, and certainly smooth around it."""
        lo, hi, single = self._boxes(boxes)
        defined, smooth = self.fact_arrays(lo, hi, threads=threads, backend=backend)
        return Facts(bool(defined[0]), bool(smooth[0])) if single else Facts(defined, smooth)

    # The same on plain arrays (k, n) of lower and upper ends, for those who call a million times.

    def range_ends(
        self,
        lo: FloatArray,
        hi: FloatArray,
        *,
        variant: str | None = None,
        threads: int = 1,
        backend: str | None = None,
    ) -> tuple[FloatArray, FloatArray]:
        """The ends (k,) of `enclose`."""
        ((low, high),) = self._run(backend, self._value_program, lo, hi, "interval", variant, threads)
        return low[:, 0], high[:, 0]

    def sharp_ends(self, lo: FloatArray, hi: FloatArray, *, threads: int = 1) -> tuple[FloatArray, FloatArray]:
        """Return ends (k,) within those of `enclose` that contain every value too (passes/sharper)."""
        self.place.boxes_evaluated += len(lo)
        ((low, high),) = self.place.run(self._sharp_program, lo, hi, threads=threads)
        return low[:, 0], high[:, 0]

    def gradient_ends(
        self,
        lo: FloatArray,
        hi: FloatArray,
        *,
        variant: str | None = None,
        threads: int = 1,
        backend: str | None = None,
    ) -> tuple[FloatArray, FloatArray]:
        """The ends (k, n) of `gradient`. A slope that exists nowhere on the box (of sqrt at 0) may be anything."""
        ((low, high),) = self._run(backend, self._gradient_program, lo, hi, "interval", variant, threads)
        nowhere = low > high
        if nowhere.any():
            low, high = np.where(nowhere, -np.inf, low), np.where(nowhere, np.inf, high)
        if self._jacobian is None:
            return low, high
        smooth = np.ones(len(lo), bool)
        if not self.is_smooth_everywhere:
            smooth = to_host(self.fact_arrays(lo, hi, threads=threads, backend=backend)[1])
        found = self._jacobian.met(to_host(lo), to_host(hi), (to_host(low), to_host(high)), smooth, threads)
        return like(found[0], lo), like(found[1], lo)

    def fact_arrays(
        self, lo: FloatArray, hi: FloatArray, *, threads: int = 1, backend: str | None = None
    ) -> tuple[BoolArray, BoolArray]:
        """`defined` and `smooth` as arrays (k,)."""
        (defined, _), (smooth, _) = self._run(backend, self._facts_program, lo, hi, "interval", None, threads)
        return defined[:, 0] == 1.0, (smooth[:, 0] == 1.0) & (defined[:, 0] == 1.0)

    def contraction_ends(
        self, lo: FloatArray, hi: FloatArray, upper: npt.ArrayLike, *, variant: str | None = None, threads: int = 1
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Ends (k, n) around every point of each box with a value up to `upper`, and the ends (k,) of `sharp_ends`.

        One pass forward and back. A box of which any component comes out empty (lo > hi) has no such point.
        """
        self.place.boxes_evaluated += len(lo)
        wanted = np.empty_like(hi[:, :1])
        wanted[:, 0] = upper
        low, high = np.hstack([lo, np.full_like(wanted, -np.inf)]), np.hstack([hi, wanted])
        found, value = self.place.run(self._level_program, low, high, variant=variant, threads=threads)
        return *found, value[0][:, 0], value[1][:, 0]

    def slope_contraction_ends(
        self,
        lo: FloatArray,
        hi: FloatArray,
        wanted: tuple[FloatArray, FloatArray],
        *,
        variant: str | None = None,
        threads: int = 1,
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Ends (k, n) around every point of each box with a gradient within `wanted`, and the ends of the gradient.

        One pass forward and back, for boxes around which the function is smooth; empty as for `contraction_ends`.
        """
        low, high = np.hstack([lo, wanted[0]]), np.hstack([hi, wanted[1]])
        found, slope = self.place.run(self._slope_program, low, high, variant=variant, threads=threads)
        return *found, *slope

    def staged(self, box: Any, variables: npt.ArrayLike, parts: int | npt.ArrayLike = 4) -> Staged:
        """One box, split in some variables: its children in the order of their lower bounds, and its best sample point.

        parts: into how many equal parts each variable is cut, or the edges (variables, parts + 1) of the parts.
        """
        lo, hi, single = self._boxes(box)
        if not single:
            raise ShapeMismatch(f"{self.name} is staged on one box at a time, got {len(lo)}")
        split = np.asarray(variables, np.int64)
        edges = np.asarray(parts, np.float64)
        if edges.ndim == 0:
            edges = equal_parts(lo[0, split], hi[0, split], int(edges))
        smooth = self.is_smooth_everywhere or bool(self.fact_arrays(lo, hi)[1][0])
        return Staged(self.stages, (lo[0], hi[0]), split, edges, smooth)

    @cached_property
    def stages(self) -> Stages:
        """What of the function stages."""
        jacobian = [] if self._jacobian is None or not self._jacobian.is_defined_everywhere else [self._jacobian.node]
        return stages(self._value, [self._gradient, *jacobian], self.n)

    @cached_property
    def condition_boxes(self) -> list[ConditionBox]:
        """Return boxes on which a condition of the function can hold, or can fail: where it may jump down."""
        return condition_boxes(self._value, self.n)

    def on_box(self, lo: FloatArray, hi: FloatArray, moves: Callable[[], int]) -> OnBox:
        """What is known of the function on [lo, hi], arrays (n,) that others move; `moves` grows when they do."""
        given = None if self._jacobian is None else self._jacobian.outputs
        nodes = Nodes(self._gradient, facts(self._build, self._value), self.stages.slopes.whole, given)
        return OnBox(nodes, lo, hi, moves)

    def show(self, backend: Literal["graph", "cpu", "cuda"] = "graph") -> str:
        """The value as text: the expression graph, one line a node; its Program; or its CUDA C++."""
        if backend == "graph":
            return show([self._value], self.name)
        if backend == "cpu":
            return self._value_program.show()
        if backend == "cuda":
            return emit(self._value_program).text
        raise InvalidOption(f"a function is shown as 'graph', 'cpu' or 'cuda', got {backend!r}")

    def _run(
        self,
        backend: str | None,
        program: Program,
        lo: FloatArray,
        hi: FloatArray,
        mode: cpu.Mode,
        variant: str | None,
        threads: int,
    ) -> list[tuple[FloatArray, FloatArray]]:
        if backend == "cuda":
            return cuda.run(program, lo, hi, mode)
        where = self.place if backend is None else place(backend)
        return where.run(program, lo, hi, mode, variant, threads)

    # ------------------------------------------------------------------------------------------ reading input
    def _points(self, points: npt.ArrayLike) -> tuple[FloatArray, bool]:
        x = _doubles(points)
        if x.ndim not in (1, 2) or x.shape[-1] != self.n:
            raise ShapeMismatch(f"{self.name} takes points of shape ({self.n},) or (k, {self.n}), got {x.shape}")
        return np.atleast_2d(x), x.ndim == 1

    def _boxes(self, boxes: Any) -> tuple[FloatArray, FloatArray, bool]:
        """Boxes as (k, n) arrays of lower and upper ends, and whether one box was given."""
        if not isinstance(boxes, Interval):
            pairs = as_array(boxes)
            if pairs.ndim not in (2, 3) or pairs.shape[-2:] != (self.n, 2):
                raise ShapeMismatch(
                    f"{self.name} takes a box as pairs of shape ({self.n}, 2), boxes as (k, {self.n}, 2) or an "
                    f"Interval of shape ({self.n},) or (k, {self.n}); got shape {pairs.shape}"
                )
            boxes = Interval.from_pairs(pairs)
        if boxes.ndim not in (1, 2) or boxes.shape[-1] != self.n:
            raise ShapeMismatch(
                f"{self.name} takes boxes of shape ({self.n},) or (k, {self.n}), got an Interval of shape {boxes.shape}"
            )
        return np.atleast_2d(boxes.lo), np.atleast_2d(boxes.hi), boxes.ndim == 1


def _doubles(points: Any) -> FloatArray:
    """Points as doubles; numbers that are none are refused, as the value at another point is another value."""
    if getattr(points, "dtype", None) == np.float64:
        return np.asarray(points)
    lo, hi = ends(points)
    if (lo < hi).any():
        i = tuple(int(k) for k in np.argwhere(lo < hi)[0])
        raise NotAPoint(
            f"The point's coordinate {i if len(i) > 1 else i[0]} lies between the doubles {float(lo[i])!r} and "
            f"{float(hi[i])!r}. Give one of them, or enclose the function on the box between them."
        )
    return lo


def _interval(lo: FloatArray, hi: FloatArray, single: bool) -> Interval:
    return Interval._of((np.asarray(lo[0]), np.asarray(hi[0])) if single else (lo, hi))
