"""What contractors and searches ask of a function's expression: they get data and answers, never a graph."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from infimum.backends import cpu
from infimum.domain import Domain
from infimum.function.function import Function
from infimum.passes.contract.linear_form import form_program
from infimum.passes.hessian.shift import shift_program
from infimum.passes.linear import layers
from infimum.passes.lowering.lower import lower
from infimum.passes.lowering.program import Program
from infimum.passes.stepped import stepped
from infimum.passes.unbounded import paths
from infimum.passes.unbounded.polynomials import unread
from infimum.passes.unbounded.rational import Rational, rational

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Ends = tuple[FloatArray, FloatArray]

_MOST_VARIABLES = 64  # of a function that is read as a quotient of polynomials
_MOST_NODES = 1000  # of it that are no polynomials


class LinearLayer(NamedTuple):
    """f(x) = inner(A x + b), or inner(x, A x + b) where it reads x as well; matrix, offset: the ends of A and b."""

    matrix: Ends
    offset: Ends
    inner: Function
    reads_x: bool


def linear_layer(function: Function) -> LinearLayer | None:
    """Return the linear layer of a function, None where there is none worth the name."""
    found = layers.linear_layer(function.value_node, function.n)
    if found is None:
        return None
    inner = Function(found.value, found.inputs, f"{function.name} behind its linear layer").on(function.place)
    return LinearLayer(found.matrix, found.offset, inner, found.reads_x)


def form_contraction_ends(
    function: Function,
    box: Ends,
    slope: Ends,
    centre: FloatArray,
    value: Ends,
    upper: FloatArray,
    *,
    threads: int = 1,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return ends (k, n) around the x of each box with value + slope (x - centre) <= upper, and the form's bounds (k,).

    It runs where the function does. Empty as for `Function.contraction_ends`.
    """
    columns = zip(box, slope, value, (np.full_like(upper, -np.inf), upper), strict=True)
    low, high = (np.hstack((end, centre, d, v[:, None], w[:, None])) for end, d, v, w in columns)
    (lo, hi), (least, _) = function.place.run(form_program(function.n), low, high, threads=threads)
    return lo, hi, least[:, 0]


def form(n: int) -> Program:
    """Return what `form_contraction_ends` runs, for x, the centre, the slopes and the value, and the most it may be."""
    return form_program(n)


def shifted_ends(
    function: Function, points: FloatArray, box: Ends, shifts: FloatArray, value: Ends, slope: Ends, *, threads: int = 1
) -> tuple[Ends, Ends]:
    """Return the ends (k,) and (k, n) of value and slope of f(x) + sum of s_i (x_i - lo_i) (x_i - hi_i) / 2 at points.

    value, slope    those of f there
    """
    columns = zip((points, points), box[:1] * 2, box[1:] * 2, (shifts, shifts), slope, value, strict=True)
    low, high = (np.hstack((x, lo, hi, s, g, v[:, None])) for x, lo, hi, s, g, v in columns)
    total, turned = function.place.run(shift_program(function.n), low, high, threads=threads)
    return (total[0][:, 0], total[1][:, 0]), turned


def stepped_variables(function: Function) -> BoolArray:
    """Return which variables (n,) the function's steps read (floor, sign and the like)."""
    return stepped(function.value_node, function.n)


def unbounded_below(function: Function, domain: Domain, boxes: FloatArray, work: int) -> str | None:
    """Return a path along which the function falls below every number, None where none was found.

    boxes (k, n, 2): where its lower bound is -inf.
    work: about how many elements of its arrays are looked at.
    """
    return paths.unbounded_below(function.value_node, domain, boxes, work)


def rational_form(function: Function, domain: Domain) -> Rational | None:
    """Return the function as a quotient of polynomials with a positive divisor, None where it is not read as one."""
    others = unread(function.value_node) if function.n <= _MOST_VARIABLES else []
    if function.n > _MOST_VARIABLES or sum(node.size for node in others) > _MOST_NODES:
        return None
    ranges = {}
    if others:
        ends = cpu.run(lower(others, function.n), domain.lo[None], domain.hi[None])
        ranges = {
            node: list(zip(low[0].tolist(), high[0].tolist(), strict=True))
            for node, (low, high) in zip(others, ends, strict=True)
        }
    bounds = list(zip(domain.lo.tolist(), domain.hi.tolist(), strict=True))
    return rational(function.value_node, ranges, bounds)
