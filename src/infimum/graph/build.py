"""Build nodes that are already simple: constants folded, trivial operations gone, maps composed.

Every rewrite here is true over the reals at every point where the original is defined, keeps the set where it is
defined, and never widens an enclosure beyond the last rounding. What changes the set of definition (x - x -> 0) is done
only for expressions that are defined everywhere.

    expression                      becomes              because
    all operands constant           constant             exact arithmetic, or tight intervals for large arrays
    x + 0, x * 1, --x, x - -y       x, x, x, x + y
    (u + c) + d                     u + (c + d)          only where c + d is a double: else it could widen
    c * (d * x)                     (c d) * x            only where c d is a double, or one of them is not
    x * x, x^a * x^b                sqr, pown            the same variable once
    sin(q pi y)                     sinpi(q y)           only for the exact pi
    sin(u) cos(u)                   sin(2u)/2            the same variable once
    sum(s * v), sum(s + v)          s * sum(v), …        s a scalar: fewer roundings, s(a + b) lies in sa + sb
    True and c, False or c          c                    c a truth value
    take of take, of constants      composed             the same elements
    take of an elementwise node     pushed to its operands, as loops recompute rather than store
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from infimum import core
from infimum.exact.number import Exact, exact, pi
from infimum.graph import indexmap
from infimum.graph.constant import Constant, constant, joined, of_bounds, of_symbols
from infimum.graph.indexmap import Affine, IndexMap
from infimum.graph.node import REDUCTIONS, Graph, Node, is_fact
from infimum.graph.payload import integer_of, map_of, value_of
from infimum.ops import LARGEST_POWER, OPERATIONS, names_with

_EXACT_LIMIT = 64  # elements up to which constants are folded symbol by symbol
_COMMUTATIVE = names_with(lambda row: row.commutative)
# Cheap enough to compute again, wherever an index map leads and in every phase that reads it.
CHEAP = names_with(lambda row: row.cheap)
_TRUTHS = names_with(lambda row: row.values == "truths")
_ROTATIONS = {"sin": "sinpi", "cos": "cospi"}
_TURNS = (("sin", "cos"), ("sinpi", "cospi"))


class Build:
    """A graph under construction; a slope builds with it (ops.record.Builder)."""

    def __init__(self, variables: int, shared: frozenset[Node] = frozenset()) -> None:
        self.graph = Graph()
        self.x = self.graph.node("x", (), variables)
        self.keep: set[Node] = set(shared)  # nodes to store rather than to recompute through index maps
        self._total: dict[Node, bool] = {}

    # ------------------------------------------------------------------------------------------ constants
    def constant(self, value: Constant) -> Node:
        if value.size > 1 and value.doubles is not None and (value.doubles == value.doubles[0]).all():
            value = Constant(value.doubles[:1])  # uniform arrays are scalars: elementwise nodes broadcast them
        return self.graph.node("constant", (), value.size, value)

    def number(self, value: Any) -> Node:
        return self.constant(constant(value))

    def between(self, lo: float, hi: float) -> Node:
        """Return a constant of which only an interval is known."""
        return self.constant(Constant(bounds=(np.array([lo]), np.array([hi]))))

    def pi(self, times: int = 1) -> Node:
        """Return an exact multiple of pi."""
        return self.number(exact(times) * pi)

    def is_above(self, x: Node, bound: float) -> bool:
        """Return whether a node is a constant above a number."""
        return x.op == "constant" and bool((value_of(x).enclosure()[0] > bound).all())

    def full(self, node: Node, size: int) -> Node:
        """The node spread to `size` elements."""
        if node.size == size:
            return node
        return self.graph.node("take", (node,), size, indexmap.broadcast(size))

    def is_total(self, node: Node) -> bool:
        """Defined for every real x, by its operations alone."""
        pending = [node]  # deep expressions are walked without recursion
        while pending:
            current = pending[-1]
            below = [] if current in self._total else [a for a in current.args if a not in self._total]
            if below:
                pending.extend(below)
                continue
            below_total = is_fact(current.op) or all(self._total[a] for a in current.args)
            self._total[pending.pop()] = below_total and _is_total_itself(current)
        return self._total[node]

    def opaque(self, node: Node) -> Node:
        """A leaf that stands for a node while expressions of it are built; to be replaced before lowering."""
        leaf = self.graph.node("opaque", (), node.size, node.number)
        self._total[leaf] = self.is_total(node)
        return leaf

    # ------------------------------------------------------------------------------------------ elementwise
    def apply(self, op: str, *args: Node, data: Any = None) -> Node:
        """The simplest node for this operation on these operands."""
        size = max(a.size for a in args)
        if all(a.op == "constant" for a in args):
            folded = _fold(op, [value_of(a) for a in args], size, data)
            if folded is not None:
                return self.constant(folded)
        if op in _COMMUTATIVE:
            args = tuple(sorted(args, key=lambda a: (a.op != "constant", a.size > 1, a.number)))
        rule = _RULES.get(op)
        simpler = rule(self, args, data) if rule else None
        return simpler if simpler is not None else self.graph.node(op, args, size, data)

    # ------------------------------------------------------------------------------------------ structure
    def take(self, node: Node, m: IndexMap) -> Node:
        """Element i is node[m(i)]."""
        if indexmap.is_identity(m):
            return node
        if node.size == 1 and isinstance(m, Affine):
            return node if m.size == 1 else self.full(node, m.size)
        if node.op == "constant":
            return self.constant(value_of(node).take(m.indices()))
        if node.op == "take":
            return self.take(node.args[0], indexmap.compose(m, map_of(node)))
        if node.op == "concat":
            inside = self._inside_one_piece(node, m)
            if inside is not None:
                return inside
        if node.op in OPERATIONS and node not in self.keep and self._may_push(node, m):
            operands = [a if a.size == 1 else self.take(a, m) for a in node.args]
            pushed = self.apply(node.op, *operands, data=node.data)
            return pushed if pushed.size == m.size else self.full(pushed, m.size)
        return self.graph.node("take", (node,), m.size, m)

    def _may_push(self, node: Node, m: IndexMap) -> bool:
        """A take may move inside unless that repeats work or loses the zeros that a missing element reads."""
        if m.size > node.size:
            return False
        guarded = not isinstance(m, Affine) and bool((m.indices() < 0).any())
        if not guarded:
            return True
        scalars = [a for a in node.args if a.size == 1]
        if not OPERATIONS[node.op].keeps_zero or len(scalars) == len(node.args):
            return False
        return not scalars or (node.op == "mul" and all(map(self.is_total, scalars)))  # 0 times nothing is nothing

    def _inside_one_piece(self, node: Node, m: IndexMap) -> Node | None:
        indices = m.indices()
        if not indices.size:
            return None
        lowest, highest = int(indices.min()), int(indices.max())
        start = 0
        for piece in node.args:
            if start <= lowest and highest < start + piece.size:
                return self.take(piece, indexmap.of_indices(indices - start, piece.size))
            start += piece.size
        return None

    def concat(self, pieces: list[Node]) -> Node:
        if len(pieces) == 1:
            return pieces[0]
        if all(p.op == "constant" for p in pieces):
            return self.constant(joined([value_of(p) for p in pieces]))
        sources = {p.args[0] if p.op == "take" else p for p in pieces}
        if len(sources) == 1:  # elements of one array, put together again
            (source,) = sources
            maps = [map_of(p) if p.op == "take" else indexmap.identity(p.size) for p in pieces]
            return self.take(source, indexmap.of_indices(np.concatenate([m.indices() for m in maps]), source.size))
        return self.graph.node("concat", pieces, sum(p.size for p in pieces))

    def reduce(self, op: str, node: Node, width: int) -> Node:
        """The reduction of groups of `width` elements; the node may be a scalar that stands for one full group."""
        groups = max(1, node.size // width)
        if width == 1:
            return node
        if op == "sum" and node.size == 1:
            return self.apply("mul", self.number(width), node)
        if op == "sum" and groups == 1:
            simpler = self._sum_of_scaled(node, width)
            if simpler is not None:
                return simpler
        if op in ("min_of", "max_of") and node.size == 1:
            return node
        return self.graph.node(op, (self.full(node, max(node.size, width)),), groups, width)

    def _sum_of_scaled(self, node: Node, width: int) -> Node | None:
        if node.op == "neg":
            return self.apply("neg", self.reduce("sum", node.args[0], width))
        if node.op not in ("mul", "add", "sub"):
            return None
        a, b = node.args
        if a.size > 1 and b.size > 1:
            return None
        if node.op == "mul":
            scalar, vector = (a, b) if a.size == 1 else (b, a)
            return self.apply("mul", scalar, self.reduce("sum", vector, width))
        return self.apply(node.op, self.reduce("sum", a, width), self.reduce("sum", b, width))

    def others(self, op: str, node: Node, width: int) -> Node:
        """For each element, the reduction of its group without it."""
        return self.graph.node("others", (node,), node.size, (op, width))

    def recurrence(self, a: Node, b: Node, size: int, reverse: bool) -> Node:
        return self.graph.node("recurrence", (self.full(a, size), self.full(b, size)), size, reverse)


def _is_total_itself(node: Node) -> bool:
    """Its own operation is defined for all operands."""
    if node.op == "pown":
        return integer_of(node) >= 0
    known = OPERATIONS.get(node.op)
    return known is None or known.facts != "checked"


# ---------------------------------------------------------------------------------------------- folding
def _fold(op: str, values: list[Constant], size: int, data: Any) -> Constant | None:
    """The constant that the operation makes of constants: exact where that is cheap, else a tight interval."""
    finite = all(v.doubles is None or np.isfinite(v.doubles).all() for v in values)
    if finite and size <= _EXACT_LIMIT and all(v.is_exact for v in values):
        found = _fold_exactly(op, values, size, data)
        if found is not None:
            return found
    pairs = [v.enclosure() for v in values]
    if op not in core.operations():
        return None
    lo, hi = core.apply(op, *pairs, param=data if op in core.POWERS else 0)
    if not (lo <= hi).all():
        return None  # undefined there: leave the operation in place, where its facts are seen
    defined, _ = core.facts(op, *pairs, param=data if op in core.POWERS else 0)
    return of_bounds(np.atleast_1d(lo), np.atleast_1d(hi)) if defined.all() else None


def _fold_exactly(op: str, values: list[Constant], size: int, data: Any) -> Constant | None:
    elements = [v.exact_elements() for v in values]
    columns = [e * size if len(e) == 1 and size > 1 else e for e in elements]
    try:
        return of_symbols([_exact_value(op, row, data) for row in zip(*columns, strict=True)])
    except (ArithmeticError, ValueError, TypeError, KeyError):
        return None


def _exact_value(op: str, row: tuple[Exact, ...], data: Any) -> Exact:
    if op == "pown":
        return _as_exact(row[0] ** int(data)) if abs(int(data)) <= 64 else _no_value()
    known = OPERATIONS.get(op)
    return _as_exact(known.point(*row)) if known is not None and known.exact else _no_value()


def _as_exact(value: Any) -> Exact:
    found: Exact = value if isinstance(value, Exact) else exact(value)
    return found


def _no_value() -> Exact:
    raise ValueError


def _scalar(node: Node) -> Exact | None:
    """The exact value of a scalar constant."""
    if node.op != "constant" or node.size != 1 or not value_of(node).is_exact:
        return None
    doubles = value_of(node).doubles
    if doubles is not None and not np.isfinite(doubles).all():
        return None
    return value_of(node).exact_elements()[0]


def is_number(node: Node, value: float) -> bool:
    """Whether a node is this very number."""
    return (
        node.op == "constant"
        and node.size == 1
        and value_of(node).doubles is not None
        and value_of(node).points()[0] == value
    )


def _is_double(node: Node) -> bool:
    return node.op == "constant" and value_of(node).doubles is not None


# ---------------------------------------------------------------------------------------------- rules
Args = tuple[Node, ...]


def _add(b: Build, args: Args, data: Any) -> Node | None:
    x, y = args
    size = max(x.size, y.size)
    for this, other in ((x, y), (y, x)):
        if is_number(this, 0.0):
            return other
        if this.op == "neg":
            return b.apply("sub", other, this.args[0])
        if this.op == "constant" and other.op in ("add", "sub"):
            moved = _moved_constant(b, this, other)
            if moved is not None:
                return moved
    return b.apply("mul", b.number(2), x) if x is y and size == x.size else None


def _moved_constant(b: Build, c: Node, inner: Node) -> Node | None:
    """c + (u + d) -> u + (c + d) and the like, where the constants meet in a double."""
    p, q = inner.args
    if q.op == "constant":
        u, d, sign = p, (q if inner.op == "add" else b.apply("neg", q)), 1
    elif p.op == "constant":
        u, d, sign = q, p, (1 if inner.op == "add" else -1)
    else:
        return None
    if max(c.size, d.size) > u.size:
        return None
    met = b.apply("add", c, d)
    if not _is_double(met):
        return None
    return b.apply("add", u, met) if sign == 1 else b.apply("sub", met, u)


def _sub(b: Build, args: Args, data: Any) -> Node | None:
    x, y = args
    if is_number(y, 0.0):
        return x if x.size >= y.size else None
    if is_number(x, 0.0):
        return b.apply("neg", y)
    if y.op == "neg":
        return b.apply("add", x, y.args[0])
    if y.op == "constant" and x.op in ("add", "sub"):
        return _moved_constant(b, b.apply("neg", y), x)
    return b.number(0) if x is y and x.size == 1 and b.is_total(x) else None


def _neg(b: Build, args: Args, data: Any) -> Node | None:
    (x,) = args
    if x.op == "neg":
        return x.args[0]
    return b.apply("sub", x.args[1], x.args[0]) if x.op == "sub" else None


def _mul(b: Build, args: Args, data: Any) -> Node | None:
    x, y = args
    for this, other in ((x, y), (y, x)):
        if is_number(this, 1.0):
            return other
        if is_number(this, -1.0):
            return b.apply("neg", other)
        if is_number(this, 0.0) and b.is_total(other):
            return this
        if this.op == "constant" and other.op in ("mul", "neg", "div"):
            merged = _merged_factor(b, this, other)
            if merged is not None:
                return merged
    if x.op == "neg" and y.op == "neg":
        return b.apply("mul", x.args[0], y.args[0])
    return _power_product(b, x, y) or _double_angle(b, x, y)


def _merged_factor(b: Build, c: Node, inner: Node) -> Node | None:
    """c * (d * x) -> (c d) * x, c * -x -> (-c) * x, c * (x / d) -> (c/d) * x for an inexact c."""
    if inner.op == "neg":
        return b.apply("mul", b.apply("neg", c), inner.args[0])
    p, q = inner.args
    d, u = (p, q) if p.op == "constant" else (q, p)
    if d.op != "constant" or max(c.size, d.size) > u.size:
        return None
    if inner.op == "div":
        if d is not q or (_is_double(c) and _is_double(d)):
            return None
        merged = b.apply("div", c, d)
    else:
        merged = b.apply("mul", c, d)
    usable = merged.op == "constant" and (_is_double(merged) or not (_is_double(c) and _is_double(d)))
    return b.apply("mul", merged, u) if usable else None


def _base_and_power(x: Node) -> tuple[Node, int]:
    if x.op == "sqr":
        return x.args[0], 2
    if x.op == "pown" and integer_of(x) > 0:
        return x.args[0], integer_of(x)
    return x, 1


def _power_product(b: Build, x: Node, y: Node) -> Node | None:
    (u, m), (v, n) = _base_and_power(x), _base_and_power(y)
    return b.apply("pown", u, data=m + n) if u is v and u.op != "constant" and m + n <= LARGEST_POWER else None


def _factors(x: Node) -> list[Node]:
    """The factors of a product, as far as they fit on one hand."""
    found: list[Node] = []
    pending = [x]
    while pending:
        current = pending.pop()
        if current.op == "mul" and len(found) + len(pending) < 6:
            pending.extend(reversed(current.args))
        else:
            found.append(current)
    return found


def _double_angle(b: Build, x: Node, y: Node) -> Node | None:
    """p sin(u) * q cos(u) = p q sin(2u)/2, either way round."""
    left, right = _factors(x), _factors(y)
    for f in left:
        for g in right:
            sine = next((s for s, c in _TURNS if {f.op, g.op} == {s, c} and f.args[0] is g.args[0]), None)
            if sine is not None:
                twice = b.apply(sine, b.apply("mul", b.number(2), f.args[0]))
                left.remove(f)
                right.remove(g)
                product = b.number(0.5)
                for factor in [*left, *right, twice]:
                    product = b.apply("mul", product, factor)
                return product
    return None


def _div(b: Build, args: Args, data: Any) -> Node | None:
    x, y = args
    if is_number(y, 1.0):
        return x
    c = _scalar(y)
    if c is None:
        return None
    q = c.as_fraction()
    if q is not None and q != 0 and _is_power_of_two(abs(q)):
        inverse = b.number(Fraction(1) / q)
        if _is_double(inverse):  # 1 / 2^-1074 is not
            return b.apply("mul", inverse, x)
    if x.op == "mul" and x.args[0].op == "constant" and not (_is_double(x.args[0]) and _is_double(y)) and c != 0:
        return b.apply("mul", b.apply("div", x.args[0], y), x.args[1])
    return None


def _is_power_of_two(q: Fraction) -> bool:
    return 1 in (q.numerator, q.denominator) and (q.numerator * q.denominator).bit_count() == 1


def _sqr(b: Build, args: Args, data: Any) -> Node | None:
    (x,) = args
    if x.op in ("neg", "abs"):
        return b.apply("sqr", x.args[0])
    if x.op == "sqr":
        return b.apply("pown", x.args[0], data=4)
    return None


def _sqrt(b: Build, args: Args, data: Any) -> Node | None:
    return b.apply("abs", args[0].args[0]) if args[0].op == "sqr" else None


def _abs(b: Build, args: Args, data: Any) -> Node | None:
    (x,) = args
    if x.op == "neg":
        return b.apply("abs", x.args[0])
    return x if x.op in OPERATIONS and OPERATIONS[x.op].nonnegative else None


def _pown(b: Build, args: Args, data: Any) -> Node | None:
    (x,) = args
    if data == 0:
        return b.number(1) if b.is_total(x) else None
    if data == 1:
        return x
    if data == 2:
        return b.apply("sqr", x)
    if data == -1:
        return b.apply("recip", x)
    if x.op == "neg":
        inner = b.apply("pown", x.args[0], data=data)
        return inner if data % 2 == 0 else b.apply("neg", inner)
    base, power = _base_and_power(x)
    fits = power > 1 and data > 0 and power * data <= LARGEST_POWER
    return b.apply("pown", base, data=power * data) if fits else None


def _turn(name: str) -> Any:
    def rule(b: Build, args: Args, data: Any) -> Node | None:
        (x,) = args
        if x.op == "neg":
            inner = b.apply(name, x.args[0])
            return inner if name in ("cos", "cospi") else b.apply("neg", inner)
        if name in _ROTATIONS and x.op == "mul" and x.args[0].op == "constant":
            c = _scalar(x.args[0])
            q = c.as_rational_multiple_of_pi() if c is not None else None
            if q:
                return b.apply(_ROTATIONS[name], b.apply("mul", b.number(q), x.args[1]))
        return None

    return rule


def _where(b: Build, args: Args, data: Any) -> Node | None:
    condition, x, y = args
    if x is y and b.is_total(condition) and x.size >= condition.size:
        return x
    if is_number(condition, 1.0) and x.size >= y.size:
        return x
    return y if is_number(condition, 0.0) and y.size >= x.size else None


def _same(b: Build, args: Args, data: Any) -> Node | None:
    return args[0] if args[0] is args[1] else None


def _min(b: Build, args: Args, data: Any) -> Node | None:
    for this, other in (args, args[::-1]):
        if is_number(this, 1.0) and _is_truth(other):  # True and c
            return other
    return _same(b, args, data)


def _max(b: Build, args: Args, data: Any) -> Node | None:
    for this, other in (args, args[::-1]):
        if is_number(this, 0.0) and _is_truth(other):  # False or c
            return other
    return _same(b, args, data)


def _is_truth(node: Node) -> bool:
    """A comparison, or a selection or all or any of comparisons: 0 or 1."""
    inner = node.args[0] if node.op in ("take", "min_of", "max_of") else node
    return inner.op in _TRUTHS


_RULES = {
    "add": _add, "sub": _sub, "neg": _neg, "mul": _mul, "div": _div, "sqr": _sqr, "sqrt": _sqrt, "abs": _abs,
    "pown": _pown, "sin": _turn("sin"), "cos": _turn("cos"), "sinpi": _turn("sinpi"), "cospi": _turn("cospi"),
    "tan": _turn("tan"), "where": _where, "min": _min, "max": _max,
}  # fmt: skip

assert set(REDUCTIONS.values()) <= set(OPERATIONS)
