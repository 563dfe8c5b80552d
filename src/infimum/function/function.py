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
from infimum.backends.cuda import batch as cuda_batch
from infimum.backends.cuda.emit import emit
from infimum.backends.placement import Place, like, place, to_host
from infimum.concurrency import cached_property
from infimum.errors import InvalidOption, ShapeMismatch
from infimum.function.box import Nodes, OnBox
from infimum.function.conditions import ConditionBox, condition_boxes
from infimum.function.hessians import MOST_DENSE, Hessians, SparseHessian
from infimum.function.jacobian import Jacobian, trace_jacobian
from infimum.function.kinks import Kinks
from infimum.function.linear_parameters import LinearParameters, Ratios, Shifts
from infimum.function.outer import Residuals
from infimum.function.programs import Programs
from infimum.function.projection import Projection
from infimum.function.reading import read_boxes, read_points
from infimum.function.watch import Comparison, Watch
from infimum.graph.node import Node
from infimum.graph.payload import is_number
from infimum.graph.show import show
from infimum.interval import Interval
from infimum.passes.lowering.program import Program
from infimum.passes.reroll import reroll
from infimum.staging.working import Staged, Stages, equal_parts, stages
from infimum.tracing.trace import Traced, trace_graph

FloatArray = npt.NDArray[np.float64]
Ends = tuple[FloatArray, FloatArray]
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
    *,
    compare: bool = True,
) -> Function:
    """Turn a NumPy function of n variables into one that can be enclosed, differentiated and shown.

    jac       returns the n partial derivatives; enclosures of the gradient are met with its own
    box       the ends of the domain: what is said of the function then holds there, and not beyond
    compare   compare it with f at some points now; where False, the caller does so by `watch`
    """

    def again() -> Traced:
        return trace_graph(f, n, tuple(args), box)

    with np.errstate(all="ignore"):
        traced = again()
        (rolled,) = reroll(traced.graph, [traced.output])
        own = Comparison(traced, rolled, again)
        given, of_gradient = (None, []) if jac is None else trace_jacobian(jac, n, args, box)
        function = Function(rolled, n, _name(f), given, Watch([own, *of_gradient]))
        own.simplified = lambda: function.value_program
        if compare and box is not None:
            function.watch.begin(*box)
        elif compare:
            function.watch.without_bounds()
    return function


def _name(f: Any) -> str:
    return str(getattr(f, "__name__", type(f).__name__))


class Function:
    """A real function of n variables; made by `trace`.

    A Function can be pickled. Its watch stays behind, because it holds the user's own function and what traces it: a
    copy in another process is not compared with it.
    """

    def __init__(
        self, output: Node, n: int, name: str, jacobian: Jacobian | None = None, watch: Watch | None = None
    ) -> None:
        self.n = n
        self.watch = watch or Watch([])
        self.name = name
        self.place: Place = Place()
        self._jacobian = jacobian
        self.programs = Programs(output, n)

    def __repr__(self) -> str:
        return f"<infimum function {self.name} of {self.n} variables>"

    def on(self, where: str | Place) -> Function:
        """Return the same function with its batches on "cpu", or on "cuda" as far as that saves time; the same bits."""
        moved = copy(self)
        moved.place = place(where) if isinstance(where, str) else where
        return moved

    @property
    def value_node(self) -> Node:
        """Return the simplified expression, which staging and contraction read."""
        return self.programs.value_node

    @property
    def gradient_node(self) -> Node:
        """Return the partial derivatives as one array expression."""
        return self.programs.gradient_node

    @property
    def value_program(self) -> Program:
        """Return what backends run for the value."""
        return self.programs.value

    @property
    def is_smooth_everywhere(self) -> bool:
        """Return whether it is defined and smooth on all reals, by its operations alone: no box needs a check."""
        return self.programs.is_smooth_everywhere

    @property
    def is_defined_everywhere(self) -> bool:
        """Return whether it is defined on all reals, by its operations alone."""
        return self.programs.is_defined_everywhere

    @property
    def is_convex_everywhere(self) -> bool:
        """Return whether it is convex on all reals, by its operations alone: no box needs a check."""
        return is_number(self.programs.shape_nodes[0], 1.0)

    @property
    def may_be_convex(self) -> bool:
        """Return whether it could be known to be convex on some box."""
        return not is_number(self.programs.shape_nodes[0], 0.0)

    @property
    def may_be_concave(self) -> bool:
        """Return whether it could be known to be concave on some box."""
        return not is_number(self.programs.shape_nodes[1], 0.0)

    @property
    def gradient_is_staged(self) -> bool:
        """Return whether the masks of a smooth region hold all that the gradient's enclosures say of its children."""
        given = self._jacobian is None or self._jacobian.is_defined_everywhere
        return given and self.stages.slopes.complete

    @cached_property
    def operations(self) -> int:
        """How many operations a box takes at least that is enclosed, contracted and differentiated once."""
        made = self.programs
        return made.level.operations + made.gradient.operations + made.slope.operations

    @property
    def jacobian(self) -> Jacobian | None:
        """Return the partial derivatives that the user gave, None where there are none."""
        return self._jacobian

    @property
    def residuals(self) -> Residuals | None:
        """Return the squares that the function adds up, or an increasing function of their sum; None without any."""
        outer = self.programs.outer
        return None if outer is None else Residuals(outer, self.place)

    @property
    def linear_parameters(self) -> LinearParameters | None:
        """Return the variables that enter the residuals linearly; None where none do, or all."""
        found = self.programs.linear_parameters
        return None if found is None else LinearParameters(found, self.place)

    @property
    def ratios(self) -> Ratios | None:
        """Return the residuals as quotients of polynomials; None where they are none."""
        found = self.programs.ratios
        return None if found is None else Ratios(found, self.place)

    @property
    def shifts(self) -> Shifts | None:
        """Return the filters that annihilate what enters the residuals linearly; None where there are none."""
        found = self.programs.linear_parameters
        return None if found is None or found.shift is None else Shifts(found, found.shift, self.place)

    @property
    def projection(self) -> Projection | None:
        """Return the variable projection of the residuals; None where there is none."""
        found = self.programs.linear_parameters
        made = None if found is None else found.projection
        return None if found is None or made is None else Projection(found, made, self.place)

    @property
    def kinks(self) -> Kinks | None:
        """Return the kinks of the function; None where it has none, too many, or none that planes could be mixed at."""
        found = self.programs.kinks
        return None if found is None else Kinks(found, self.place)

    # ------------------------------------------------------------------------------------------ plain doubles
    def __call__(
        self, points: npt.ArrayLike, *, threads: int = 1, backend: Literal["cpu", "cuda"] | None = None
    ) -> float | FloatArray:
        """Return the value at a point (n,) as a float, or at points (k, n) as an array; NaN where undefined."""
        x, single = read_points(self.name, self.n, points)
        ((value, _),) = self._run(backend, self.programs.value, x, x, "point", None, threads)
        return float(value[0, 0]) if single else value[:, 0]

    def value_and_gradient(
        self, points: npt.ArrayLike, *, threads: int = 1
    ) -> tuple[float, FloatArray] | tuple[FloatArray, FloatArray]:
        """Return value and gradient in plain doubles, as local optimisers want them."""
        x, single = read_points(self.name, self.n, points)
        (value, _), (slope, _) = self.place.run(self.programs.value_and_gradient, x, x, "point", threads=threads)
        return (float(value[0, 0]), slope[0]) if single else (value[:, 0], slope)

    # ------------------------------------------------------------------------------------------ boxes
    # backend: "cpu", "cuda" for a GPU, or None for where the function is (`on`); the same bits.

    def enclose(
        self, boxes: Any, *, variant: str | None = None, threads: int = 1, backend: Literal["cpu", "cuda"] | None = None
    ) -> Interval:
        """Contain every value that the function takes on each box (where it is defined)."""
        lo, hi, single = read_boxes(self.name, self.n, boxes)
        low, high = self.range_ends(lo, hi, variant=variant, threads=threads, backend=backend)
        return _interval(low, high, single)

    def gradient(
        self, boxes: Any, *, variant: str | None = None, threads: int = 1, backend: Literal["cpu", "cuda"] | None = None
    ) -> Interval:
        """Contain every gradient on each box; at kinks the hull of all slopes nearby."""
        lo, hi, single = read_boxes(self.name, self.n, boxes)
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
        lo, hi, single = read_boxes(self.name, self.n, boxes)
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
        """Return the ends (k,) of `enclose`."""
        ((low, high),) = self._run(backend, self.programs.value, lo, hi, "interval", variant, threads)
        return low[:, 0], high[:, 0]

    def sharp_ends(self, lo: FloatArray, hi: FloatArray, *, threads: int = 1) -> tuple[FloatArray, FloatArray]:
        """Return ends (k,) within those of `enclose` that contain every value too (passes/sharper)."""
        self.place.boxes_evaluated += len(lo)
        ((low, high),) = self.place.run(self.programs.sharp, lo, hi, threads=threads)
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
        """Return the ends (k, n) of `gradient`; all reals for a slope that exists nowhere on the box (of sqrt at 0)."""
        ((low, high),) = self._run(backend, self.programs.gradient, lo, hi, "interval", variant, threads)
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
        """Return `defined` and `smooth` as arrays (k,)."""
        (defined, _), (smooth, _) = self._run(backend, self.programs.facts, lo, hi, "interval", None, threads)
        return defined[:, 0] == 1.0, (smooth[:, 0] == 1.0) & (defined[:, 0] == 1.0)

    def shape_arrays(
        self, lo: FloatArray, hi: FloatArray, *, threads: int = 1, backend: str | None = None
    ) -> tuple[BoolArray, BoolArray]:
        """Return on which boxes (k,) the function is certainly convex, and on which concave.

        That is said of the points of a box at which it is defined, and these form a convex set.
        """
        (convex, _), (concave, _) = self._run(backend, self.programs.shape, lo, hi, "interval", None, threads)
        return convex[:, 0] == 1.0, concave[:, 0] == 1.0

    def contraction_ends(
        self, lo: FloatArray, hi: FloatArray, upper: npt.ArrayLike, *, variant: str | None = None, threads: int = 1
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return ends (k, n) around all points of each box with a value up to `upper`, and `sharp_ends`'s ends (k,).

        One pass forward and back. A box of which any component comes out empty (lo > hi) has no such point.
        """
        self.place.boxes_evaluated += len(lo)
        wanted = np.empty_like(hi[:, :1])
        wanted[:, 0] = upper
        low, high = np.hstack([lo, np.full_like(wanted, -np.inf)]), np.hstack([hi, wanted])
        found, value = self.place.run(self.programs.level, low, high, variant=variant, threads=threads)
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
        """Return ends (k, n) around all points of each box with a gradient within `wanted`, and the gradient's ends.

        One pass forward and back, for boxes around which the function is smooth; empty as for `contraction_ends`.
        """
        low, high = np.hstack([lo, wanted[0]]), np.hstack([hi, wanted[1]])
        found, slope = self.place.run(self.programs.slope, low, high, variant=variant, threads=threads)
        return *found, *slope

    # ------------------------------------------------------------------------------------------ second derivatives

    @property
    def has_second_derivatives(self) -> bool:
        """Return whether there can be a box on which the Hessians say something."""
        return self.programs.hessians.exist

    @property
    def hessian_cost(self) -> int | None:
        """Return the interval operations of `hessian_ends` on a box; None where it has too many elements."""
        return self.programs.hessians.cost

    def is_twice_smooth(self, lo: FloatArray, hi: FloatArray, *, threads: int = 1) -> BoolArray:
        """Return on which boxes (k,) the Hessians say something: f is C2 on a neighbourhood of them."""
        if not self.has_second_derivatives:
            none: BoolArray = np.full_like(lo[:, 0], False, dtype=bool)
            return none
        if self.is_smooth_everywhere:
            found: BoolArray = np.logical_not((lo > hi).any(axis=1))
            return found
        return self.fact_arrays(lo, hi, threads=threads)[1]

    def hessian_ends(self, lo: FloatArray, hi: FloatArray, *, threads: int = 1) -> tuple[FloatArray, FloatArray]:
        """Return symmetric matrices (k, n, n) of ends around every Hessian on each box that `is_twice_smooth`."""
        hessians = self._dense_hessians()
        ((low, high),) = self.place.run(hessians.dense_program, lo, hi, threads=threads)
        return hessians.full((low, high))

    @property
    def hessian_product_cost(self) -> int:
        """Return the interval operations of `hessian_ends_by_products` on a box."""
        return self.n * self.programs.hessians.product_program.operations

    def hessian_ends_by_products(self, lo: FloatArray, hi: FloatArray, *, threads: int = 1) -> Ends:
        """Return what `hessian_ends` does, by a Program that is made sooner and takes longer for each box."""
        return self.programs.hessians.by_products(self.place, lo, hi, threads)

    def second_order_ends(
        self, lo: FloatArray, hi: FloatArray, *, threads: int = 1
    ) -> tuple[tuple[FloatArray, FloatArray], tuple[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]:
        """Return the ends of value (k,), derived gradient (k, n) and Hessian (k, n, n), which share their work."""
        hessians = self._dense_hessians()
        value, slope, triangle = self.place.run(hessians.all_program, lo, hi, threads=threads)
        nowhere = slope[0] > slope[1]
        slopes = np.where(nowhere, -np.inf, slope[0]), np.where(nowhere, np.inf, slope[1])
        return (value[0][:, 0], value[1][:, 0]), slopes, hessians.full(triangle)

    def hessian(self, points: npt.ArrayLike) -> FloatArray:
        """Return the Hessian at a point (n,) as (n, n), or at points (k, n) as (k, n, n), in plain doubles."""
        hessians = self._dense_hessians()
        x, single = read_points(self.name, self.n, points)
        ((values, _),) = self.place.run(hessians.dense_program, x, x, "point")
        found = hessians.at_points(values)
        return found[0] if single else found

    def hessian_product(self, points: FloatArray, directions: FloatArray) -> FloatArray:
        """Return the Hessians at points (k, n) times directions (k, n), in plain doubles."""
        return self.programs.hessians.products(self.place, points, directions)

    @cached_property
    def has_cheap_products(self) -> bool:
        """Return whether the Hessian times a direction takes fewer operations than a gradient in plain doubles."""
        programs = self.programs
        return programs.hessians.product_program.operations < programs.value_and_gradient.operations

    def sparse_hessian(self, lo: FloatArray, hi: FloatArray, *, threads: int = 1) -> SparseHessian | None:
        """Return what `hessian_ends` does for one box (n,) as the elements that can be other than 0.

        None where these are too many to be told apart.
        """
        return self.programs.hessians.sparse(self.place, lo, hi, threads)

    @property
    def quadratic(self) -> SparseHessian | None:
        """Return Q with f(x) = x'Qx/2 + b'x + a for all x, where f is certainly such a function; b is f's slope at 0.

        Guarantee: the elements' ends contain those of Q. Made once.
        """
        return self.programs.hessians.quadratic

    def _dense_hessians(self) -> Hessians:
        if self.programs.hessians.cost is None:
            raise InvalidOption(
                f"{self.name} has {self.n} variables; a dense Hessian is offered for {MOST_DENSE} at most. "
                "Ask for sparse_hessian or hessian_product."
            )
        return self.programs.hessians

    def staged(self, box: Any, variables: npt.ArrayLike, parts: int | npt.ArrayLike = 4) -> Staged:
        """Split one box in some variables; return its children in the order of their bounds, and its best sample point.

        parts: into how many equal parts each variable is cut, or the edges (variables, parts + 1) of the parts.
        """
        lo, hi, single = read_boxes(self.name, self.n, box)
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
        """Return what of the function can be staged."""
        jacobian = [] if self._jacobian is None or not self._jacobian.is_defined_everywhere else [self._jacobian.node]
        return stages(self.value_node, [self.gradient_node, *jacobian], self.n)

    @cached_property
    def condition_boxes(self) -> list[ConditionBox]:
        """Return boxes on which a condition of the function can hold, or can fail: where it may jump down."""
        return condition_boxes(self.value_node, self.n)

    def on_box(self, lo: FloatArray, hi: FloatArray, moves: Callable[[], int]) -> OnBox:
        """Return what is known of the function on [lo, hi], arrays (n,) that others move; `moves` then grows."""
        given = None if self._jacobian is None else self._jacobian.outputs
        nodes = Nodes(self.gradient_node, self.programs.fact_nodes, self.stages.slopes.whole, given)
        return OnBox(nodes, lo, hi, moves)

    def show(self, backend: Literal["graph", "cpu", "cuda"] = "graph") -> str:
        """Return the value as text: the expression graph, one line a node; its Program; or its CUDA C++."""
        if backend == "graph":
            return show([self.value_node], self.name)
        if backend == "cpu":
            return self.programs.value.show()
        if backend == "cuda":
            return emit(self.programs.value).text
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
            return cuda_batch.run(program, lo, hi, mode)
        where = self.place if backend is None else place(backend)
        return where.run(program, lo, hi, mode, variant, threads)


def _interval(lo: FloatArray, hi: FloatArray, single: bool) -> Interval:
    return Interval._of((np.asarray(lo[0]), np.asarray(hi[0])) if single else (lo, hi))
