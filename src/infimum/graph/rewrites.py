"""Rewrites of operations while they are built.

Every rewrite is true over the reals at every point where the original is defined, keeps the set where it is defined,
and never widens an enclosure beyond the last rounding. What changes the set of definition (x - x -> 0) is done only for
expressions that are defined everywhere.

    expression                      becomes              because
    x + 0, x * 1, --x, x - -y       x, x, x, x + y
    (u + c) + d                     u + (c + d)          only where c + d is a double: else it could widen
    c * (d * x)                     (c d) * x            only where c d is a double, or one of them is not
    x * x, x^a * x^b                sqr, pown            the same variable once
    (c x) * x^a                     c x^(a + 1)          likewise
    sin(q pi y)                     sinpi(q y)           only for the exact pi
    sin(u) cos(u)                   sin(2u)/2            the same variable once
    exp(u) / (1 + exp(u))           1 / (1 + exp(-u))    likewise, as the slope of log(1 + exp(u)) has it
    sqrt(u)^2, hypot(u, v)^2        u, u^2 + v^2         for a u that is never below 0
    True and c, False or c          c                    c a truth value
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from infimum.graph.node import Node
from infimum.graph.payload import exact_scalar, integer_of, is_double, is_number
from infimum.ops import LARGEST_POWER, OPERATIONS, names_with

if TYPE_CHECKING:
    from infimum.graph.build import Build

_TRUTHS = names_with(lambda row: row.values == "truths")
_ROTATIONS = {"sin": "sinpi", "cos": "cospi"}
_TURNS = (("sin", "cos"), ("sinpi", "cospi"))

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
    """Rewrite c + (u + d) as u + (c + d) and the like, where c + d is a double."""
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
    if not is_double(met):
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
    return _power_product(b, x, y) or _scaled_square(b, x, y) or _double_angle(b, x, y) or _logistic(b, x, y)


def _scaled_square(b: Build, x: Node, y: Node) -> Node | None:
    """Rewrite (c x^i) * (d x^k) as c (d x^(i+k)), for numbers c and d; one of them may be missing."""
    (c, u), (d, v) = _factor(x), _factor(y)
    numbers = [number for number in (d, c) if number is not None]
    product = _power_product(b, u, v) if numbers else None
    if product is None:
        return None
    for number in numbers:
        product = b.apply("mul", number, product)
    return product


def _factor(node: Node) -> tuple[Node | None, Node]:
    """Return the number by which a node is multiplied, and the rest."""
    if node.op == "mul" and node.args[0].op == "constant":
        return node.args[0], node.args[1]
    return None, node


def _merged_factor(b: Build, c: Node, inner: Node) -> Node | None:
    """Rewrite c * (d * x) as (c d) * x, c * -x as (-c) * x, and c * (x / d) as (c/d) * x for an inexact c."""
    if inner.op == "neg":
        return b.apply("mul", b.apply("neg", c), inner.args[0])
    p, q = inner.args
    d, u = (p, q) if p.op == "constant" else (q, p)
    if d.op != "constant" or max(c.size, d.size) > u.size:
        return None
    if inner.op == "div":
        if d is not q or (is_double(c) and is_double(d)):
            return None
        merged = b.apply("div", c, d)
    else:
        merged = b.apply("mul", c, d)
    usable = merged.op == "constant" and (is_double(merged) or not (is_double(c) and is_double(d)))
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
    """Return the factors of a product, six at most."""
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
    """Rewrite p sin(u) * q cos(u) as p q sin(2u)/2, either way round."""
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


def _logistic(b: Build, x: Node, y: Node) -> Node | None:
    """Rewrite exp(u) * q recip(1 + exp(u)) as recip(1 + exp(-u)) q, either way round."""
    for power, other in ((x, y), (y, x)):
        if power.op != "exp":
            continue
        left = _factors(other)
        for g in left:
            if g.op == "recip" and g.args[0].op == "add" and power in g.args[0].args and _has_one(g.args[0]):
                left.remove(g)
                product = b.apply("recip", b.apply("add", b.number(1), b.apply("exp", b.apply("neg", power.args[0]))))
                for factor in left:
                    product = b.apply("mul", product, factor)
                return product
    return None


def _has_one(node: Node) -> bool:
    return any(is_number(a, 1.0) for a in node.args)


def _div(b: Build, args: Args, data: Any) -> Node | None:
    x, y = args
    if is_number(y, 1.0):
        return x
    c = exact_scalar(y)
    if c is None:
        return None
    q = c.as_fraction()
    if q is not None and q != 0 and _is_power_of_two(abs(q)):
        inverse = b.number(Fraction(1) / q)
        if is_double(inverse):  # 1 / 2^-1074 is not
            return b.apply("mul", inverse, x)
    if x.op == "mul" and x.args[0].op == "constant" and not (is_double(x.args[0]) and is_double(y)) and c != 0:
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
    if x.op == "sqrt" and b.is_nonnegative(x.args[0]):
        return x.args[0]
    if x.op == "hypot":
        u, v = x.args
        return b.apply("add", b.apply("sqr", u), b.apply("sqr", v))
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
            c = exact_scalar(x.args[0])
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
    """Return whether a node is a comparison, or a selection or all or any of comparisons: 0 or 1."""
    inner = node.args[0] if node.op in ("take", "min_of", "max_of") else node
    return inner.op in _TRUTHS


REWRITES: dict[str, Callable[[Build, Args, Any], Node | None]] = {
    "add": _add, "sub": _sub, "neg": _neg, "mul": _mul, "div": _div, "sqr": _sqr, "sqrt": _sqrt, "abs": _abs,
    "pown": _pown, "sin": _turn("sin"), "cos": _turn("cos"), "sinpi": _turn("sinpi"), "cospi": _turn("cospi"),
    "tan": _turn("tan"), "where": _where, "min": _min, "max": _max,
}  # fmt: skip
