"""Columns that filters annihilate: exponentials and waves on an equidistant grid, and fixed columns like them.

With the shift E, (E a)_k = a_(k+1), and t_k = t_0 + h k,

    column                              its filter                                       its atom z, given by p
    s e^(e t_k + g), powers likewise    E - z                                            e^(h e)
    s cos(e t_k + g), or sin            E^2 - z E + 1                                    2 cos(h e)
    a fixed one                         some E^j + .. + f_0 with numbers f, by a fit     -
s, e and g are expressions of p. T is the product of all filters, each once. For any v, y = T'v is orthogonal to every
column on the grid, and for residuals r = A c + h with a constant h, b any numbers,

    sum r_k^2 >= 2 y'r - |y|^2 = G(z) + 2 sum c_l y'a_l,    G(z) = sum y_k (2 (h_k + sum_j b_j z_j^k) - y_k)
for the z_j of exponentials. G is concave in each z_i alone, as b takes no part: on a box it is least at a vertex.
What y'a_l is beside 0 is *slack*, for the t_k are no grid, but rounded, and f is a fit:

    exponentials   sum |y_k| |a_k| (e^(|e| d_k) - 1)       d_k >= |t_k - t_0 - h k|
    waves          sum |y_k| |s| |e| d_k
    fixed          sum |w_k| |(F a)_k|                     y = F'w
Nothing where the t_k are a grid indeed; else the ranges of c must be finite.

Guarantee: wherever the residuals are defined, sum r_k^2 >= G(z) - 2 slack, z the atoms there, |c_l| as given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from infimum import core
from infimum.graph import indexmap
from infimum.graph.build import Build
from infimum.graph.constant import Constant
from infimum.graph.indexmap import Window
from infimum.graph.node import Node, ancestors
from infimum.graph.payload import is_number, map_of, value_of
from infimum.passes.linear_parameters.columns import Columns
from infimum.passes.simplify import rebuilt

FloatArray = npt.NDArray[np.float64]

MOST_ATOMS = 4  # as there are 2^4 vertices
_MOST_RESIDUALS = 512
_MOST_ORDER = 12
_APART = 1e-6  # of h: farther from a grid, times are none
_FITS = 1e-9  # relative: what a fixed filter may leave
_EXPONENTIALS = {"exp": 1, "exp2": 2, "exp10": 10}  # to the logarithm of which base its operand is scaled
_WAVES = {"cos": False, "sin": False, "cospi": True, "sinpi": True}


@dataclass(frozen=True, eq=False)
class Atom:
    """A filter with a number that p gives: `value` is that, an expression of p; a wave's filter has order 2."""

    value: Node
    is_wave: bool


@dataclass(frozen=True, eq=False)
class Shift:
    """Residuals whose columns are annihilated.

    atoms      the filters with parameters
    fixed      F, its coefficients from E^0 up to E^j, the last one 1
    slack      for each column an array expression of p, by which |y| or |w| is multiplied; None: there is none
    by_w       whether it goes with w, for each column
    h          the constant part, ends (m,)
    """

    columns: Columns
    atoms: tuple[Atom, ...]
    fixed: FloatArray
    slack: tuple[Node | None, ...]
    by_w: tuple[bool, ...]
    h: tuple[FloatArray, FloatArray]

    @property
    def length(self) -> int:
        """Return the number of elements of v."""
        return self.columns.m - self.order

    @property
    def order(self) -> int:
        return self.fixed.size - 1 + sum(2 if atom.is_wave else 1 for atom in self.atoms)


def shift(columns: Columns) -> Shift | None:
    """Return filters for all columns; None where one has none, or where they leave nothing."""
    rest = _scalar(columns.rest) or columns.rest
    if rest.op != "constant" or columns.m > _MOST_RESIDUALS:
        return None
    made = _Filters(columns)
    for column in columns.columns:
        if not made.add(column):
            return None
    fixed = made.fixed
    if not made.atoms or len(made.atoms) > MOST_ATOMS or fixed.size > _MOST_ORDER:
        return None
    lo, hi = value_of(rest).enclosure()
    h = (np.broadcast_to(lo, (columns.m,)).copy(), np.broadcast_to(hi, (columns.m,)).copy())
    slack, by_w = zip(*made.slack(), strict=True)
    found = Shift(columns, tuple(made.atoms), fixed, slack, by_w, h)
    return found if found.length >= 1 else None


# ---------------------------------------------------------------------------------------------- columns
@dataclass(frozen=True, eq=False)
class _Line:
    """t e + g: t a constant array, None for a scalar g; e and g scalars."""

    t: Node | None
    e: Node
    g: Node


class _Filters:
    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self.build = columns.build
        self.atoms: list[Atom] = []
        self.fixed = np.ones(1)
        self._known: dict[tuple[Node, Node, bool, str], None] = {}
        self._parts: list[tuple[Node, Node | None, Node | None, FloatArray | None, bool]] = []

    def add(self, column: Node) -> bool:
        """Add the filter of a column; say whether there is one."""
        column = _scalar(column) or column
        if column.op == "constant":
            self._add_fixed(value_of(column).points())
            self._parts.append((column, None, None, None, False))
            return self.fixed.size <= _MOST_ORDER
        stripped = self._stripped(column)
        if stripped is None:
            return False
        scale, inner = stripped
        if inner.op in _EXPONENTIALS or inner.op in _WAVES:
            line = self._line(inner.args[0])
        elif inner.op == "pow" and inner.args[0].size == 1 and inner.args[1].op == "constant":
            line = _Line(inner.args[1], self.build.apply("log", inner.args[0]), self.build.number(0))
        else:
            return False
        if line is None or line.t is None:
            return False
        grid = _grid(value_of(line.t), self.columns.m)
        if grid is None:
            return False
        step, apart = grid
        self._add_atom(inner, line, step)
        self._parts.append((column, scale, self._rate(inner, line), apart, inner.op in _WAVES))
        return True

    def slack(self) -> list[tuple[Node | None, bool]]:
        """Return for each column what |y|, or |w|, is multiplied by, and whether it is w."""
        b, found = self.build, []
        for column, scale, rate, apart, is_wave in self._parts:
            if scale is None:
                left = _filtered(self.fixed, value_of(column), self.columns.m)
                found.append((b.number(left) if left.any() else None, True))
                continue
            assert rate is not None and apart is not None
            if not apart.any():
                found.append((None, False))
                continue
            turn = b.apply("mul", b.apply("abs", rate), b.number(apart))
            if is_wave:
                size = b.apply("mul", b.apply("abs", scale), turn)
            else:
                size = b.apply("mul", b.apply("abs", column), b.apply("expm1", turn))
            found.append((b.full(size, self.columns.m), False))
        return found

    def _rate(self, inner: Node, line: _Line) -> Node:
        """Return e as that of a natural exponential, or of a wave in radians."""
        b = self.build
        if inner.op in _WAVES:
            return b.apply("mul", b.pi(), line.e) if _WAVES[inner.op] else line.e
        base = _EXPONENTIALS.get(inner.op, 1)
        return line.e if base == 1 else b.apply("mul", b.apply("log", b.number(base)), line.e)

    def _add_atom(self, inner: Node, line: _Line, step: Fraction) -> None:
        b = self.build
        assert line.t is not None
        is_wave = inner.op in _WAVES
        key = (line.t, line.e, is_wave, "pi" if _WAVES.get(inner.op) else "" if is_wave else inner.op)
        if key in self._known:
            return
        self._known[key] = None
        turn = b.apply("mul", b.number(step), line.e)
        if is_wave:
            value = b.apply("mul", b.number(2), b.apply("cospi" if _WAVES[inner.op] else "cos", turn))
        elif inner.op == "pow":
            base, anything = inner.args[0], b.between(-np.inf, np.inf)  # of negative bases not all powers are there
            is_positive = b.apply("is_less", b.number(0), base)
            value = b.apply("where", is_positive, b.apply("pow", base, b.number(step)), anything)
        else:
            value = b.apply(inner.op, turn)
        self.atoms.append(Atom(value, is_wave))

    def _add_fixed(self, column: FloatArray) -> None:
        """Lengthen the fixed filter so that it leaves hardly anything of a column."""
        column = np.broadcast_to(column, (self.columns.m,))
        left = np.convolve(column, self.fixed[::-1], "valid")
        size = float(np.abs(column).max())
        for order in range(1, 5):
            if left.size <= 2 * order or np.abs(left).max() <= _FITS * size:
                return
            rows = np.stack([left[j : left.size - order + j] for j in range(order)], 1)
            f = np.linalg.lstsq(rows, -left[order:], rcond=None)[0]
            f = np.where(np.abs(f - np.round(f)) < 1e-9, np.round(f), f)
            longer = np.append(f, 1.0)
            if np.abs(np.convolve(left, longer[::-1], "valid")).max() <= _FITS * size:
                self.fixed = np.convolve(self.fixed, longer)
                return
        self.fixed = np.ones(_MOST_ORDER + 1)

    def _stripped(self, node: Node) -> tuple[Node, Node] | None:
        """Return a column as a scalar times an array that is none."""
        b = self.build
        scale = b.number(1)
        while True:
            if node.op == "neg":
                scale, node = b.apply("neg", scale), node.args[0]
            elif node.op in ("mul", "div") and (factor := _scalar(node.args[1])) is not None:
                scale, node = b.apply(node.op, scale, factor), node.args[0]
            elif node.op == "mul" and (factor := _scalar(node.args[0])) is not None:
                scale, node = b.apply("mul", scale, factor), node.args[1]
            else:
                return (scale, node) if node.size == self.columns.m and node.args else None

    def _line(self, node: Node) -> _Line | None:
        """Return an array as t e + g, by rules on its operations."""
        b, zero = self.build, self.build.number(0)
        scalar = _scalar(node)
        if scalar is not None:
            return _Line(None, zero, scalar)
        if node.op == "constant":
            return _Line(node, b.number(1), zero)
        below = [self._line(a) for a in node.args] if node.op in ("neg", "add", "sub", "mul", "div") else []
        if not below or any(one is None for one in below):
            return None
        first, *rest = (one for one in below if one is not None)
        if node.op == "neg":
            return _Line(first.t, b.apply("neg", first.e), b.apply("neg", first.g))
        (second,) = rest
        if node.op in ("add", "sub"):
            g = b.apply(node.op, first.g, second.g)
            if first.t is None or second.t is None or first.t is second.t:
                return _Line(first.t or second.t, b.apply(node.op, first.e, second.e), g)
            return None
        if second.t is None or node.op == "div":
            scaled, factor = first, second
        else:
            scaled, factor = second, first
        if factor.t is not None:
            return None
        return _Line(scaled.t, b.apply(node.op, scaled.e, factor.g), b.apply(node.op, scaled.g, factor.g))


def _scalar(node: Node) -> Node | None:
    """Return the scalar that a node is, or repeats; None where it is an array of several numbers."""
    if node.size == 1:
        return node
    if node.op == "take" and node.args[0].size == 1:
        m = map_of(node)
        return node.args[0] if bool((m.indices() == 0).all()) else None
    return None


def _grid(times: Constant, m: int) -> tuple[Fraction, FloatArray] | None:
    """Return h, and at least how far each time is from t_0 + h k; None where they are on no grid."""
    if times.size != m or m < 3:
        return None
    exactly = _fractions(times)
    if exactly is None:
        return None
    step = (exactly[-1][0] - exactly[0][0]) / (m - 1)
    short = step.limit_denominator(10**6)  # 0.05, not the double next to it: times like 0.05 k are then nearest
    if short != 0 and abs(short - step) <= abs(step) * Fraction(1, 2**50):
        step = short
    if step == 0:
        return None
    start = exactly[0][0]
    apart = []
    for k, (lo, hi) in enumerate(exactly):
        away = max(abs(lo - start - step * k), abs(hi - start - step * k))
        if away > _APART * abs(step):
            return None
        apart.append(float(np.nextafter(float(away), np.inf)) if away else 0.0)
    return step, np.array(apart)


def _fractions(times: Constant) -> list[tuple[Fraction, Fraction]] | None:
    """Return ends of each time: the time itself where it is a fraction."""
    if times.is_exact and times.doubles is None:
        found = [symbol.as_fraction() for symbol in times.exact_elements()]
        if all(one is not None for one in found):
            return [(one, one) for one in found if one is not None]
    lo, hi = times.enclosure()
    if not (np.isfinite(lo).all() and np.isfinite(hi).all()):
        return None
    return [(Fraction(float(a)), Fraction(float(b))) for a, b in zip(lo, hi, strict=True)]


def _filtered(fixed: FloatArray, column: Constant, m: int) -> FloatArray:
    """Return at least |F a|, element by element."""
    lo, hi = (np.broadcast_to(end, (m,)) for end in column.enclosure())
    size = m - fixed.size + 1
    total = np.zeros(size), np.zeros(size)
    for j, f in enumerate(fixed):
        factor = np.full(size, f)
        part = core.apply("mul", (lo[j : j + size].copy(), hi[j : j + size].copy()), (factor, factor))
        total = core.apply("add", total, part)
    found: FloatArray = np.maximum(np.abs(total[0]), np.abs(total[1]))
    return found


# ---------------------------------------------------------------------------------------------- Programs
class ShiftNodes:
    """The expressions of filters, each on a graph of its own."""

    def __init__(self, found: Shift) -> None:
        self.found = found
        self.atoms, self.m, self.length = found.atoms, found.columns.m, found.length

    def values(self) -> list[Node]:
        """Return the atoms, as an array, of p."""
        return [self.found.columns.build.concat([atom.value for atom in self.atoms])]

    def bound(self) -> tuple[list[Node], int]:
        """Return G: inputs z, b (a number for each atom, a wave's is not read) and v."""
        count = len(self.atoms)
        b = Build(2 * count + self.length)
        z = [_line(b, i, 1) for i in range(count)]
        y = self._y(b, z, _line(b, 2 * count, self.length))[0]
        target = b.constant(_constant(*self.found.h))
        first = b.number(np.arange(self.m) == 0)
        for i, atom in enumerate(self.atoms):
            if not atom.is_wave:
                powers = b.recurrence(z[i], first, self.m, False)
                target = b.apply("add", target, b.apply("mul", _line(b, count + i, 1), powers))
        each = b.apply("mul", y, b.apply("sub", b.apply("mul", b.number(2), target), y))
        return [b.reduce("sum", b.full(each, self.m), self.m)], 2 * count + self.length

    def slack(self) -> tuple[list[Node], int]:
        """Return the slack: inputs p, z, v and the largest |c|."""
        columns, count = self.found.columns, len(self.atoms)
        q, own = columns.nonlinear.size, len(columns.columns)
        inputs = q + count + self.length + own
        b = Build(inputs)
        z = [_line(b, q + i, 1) for i in range(count)]
        y, w = self._y(b, z, _line(b, q + count, self.length))
        total = b.number(0)
        some = [(i, node) for i, node in enumerate(self.found.slack) if node is not None]
        moved = _moved(b, [node for _, node in some], q)
        for (i, _), node in zip(some, moved, strict=True):
            size = b.apply("abs", w if self.found.by_w[i] else y)
            each = b.full(b.apply("mul", size, node), size.size)
            part = b.apply("mul", _line(b, q + count + self.length + i, 1), b.reduce("sum", each, size.size))
            total = b.apply("add", total, part)
        return [total], inputs

    def _y(self, b: Build, z: list[Node], v: Node) -> tuple[Node, Node]:
        """Return y = T'v, and w, which lacks the fixed filter."""
        w = v
        for number, atom in zip(z, self.atoms, strict=True):
            if atom.is_wave:
                w = _adjoint(b, [b.number(1), b.apply("neg", number), b.number(1)], w)
            else:
                w = _adjoint(b, [b.apply("neg", number), b.number(1)], w)
        return (_adjoint(b, [b.number(f) for f in self.found.fixed], w) if self.found.fixed.size > 1 else w), w


def _adjoint(b: Build, coefficients: Sequence[Node], v: Node) -> Node:
    """Return y_k = sum over j of f_j v_(k-j)."""
    size = v.size + len(coefficients) - 1
    total = b.number(0)
    for j, f in enumerate(coefficients):
        if is_number(f, 0.0):
            continue
        read = b.graph.node("take", (v,), size, Window(size, -j, 1, v.size))
        total = b.apply("add", total, b.apply("mul", f, read))
    return b.full(total, size)


def _constant(lo: FloatArray, hi: FloatArray) -> Constant:
    return Constant(lo + 0.0) if np.array_equal(lo, hi) else Constant(bounds=(lo, hi))


def _line(b: Build, start: int, size: int) -> Node:
    return b.take(b.x, indexmap.affine([(size, 1)], start, b.x.size))


def _moved(b: Build, nodes: list[Node], q: int) -> list[Node]:
    new: dict[Node, Node] = {}
    for node in ancestors(nodes):
        new[node] = _line(b, 0, q) if node.op == "x" else rebuilt(b, node, [new[a] for a in node.args])
    return [b.full(new[node], node.size) for node in nodes]
