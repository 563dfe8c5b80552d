"""Sharper enclosures where an expression has a limit but no value: products in which a factor cancels.

The natural enclosure of sin(u)/u over a box with u = 0 in it is everything, of u log(u) all that is not above 0. A
product is read as powers of factors (factors.py); a factor is written as its argument times a function without a zero,
and what meets there cancels:

    factor                      is written as
    sin u, sinpi u              u S(u), pi u S(pi u)                      S(u) = sin(u)/u, 1 at 0
    tan u                       u S(u) / cos(u)
    expm1 u, exp(u) - 1         u E(u)                                    E(u) = expm1(u)/u, 1 at 0
    log1p u, log(1 + u)         u / E(log1p u)
    log(u), with u - 1          (u - 1) / E(log u)
    sinh u                      u H(u)                                    H(u) = sinh(u)/u, 1 at 0
    tanh u                      u H(u) / cosh(u)
    asin u, asinh u             u / S(asin u), u / H(asinh u)
    atan u, atanh u             u cos(v)/S(v), u cosh(v)/H(v)             v = atan u, atanh u
    1 - cos u, cosh(u) - 1      u^2 S(u/2)^2/2, u^2 H(u/2)^2/2
    u^a log(c u^b r), a > 0     (b/a) L(u^a) + u^a log(c r)               L(t) = t log(t), 0 at 0
                                and, for a = b, L(c u^a r)/(c r)
    pow(u, u^a r)               exp of the above
    log(1 + exp u)              max(u, 0) + log1p(exp(-|u|)): no overflow

A product in which something cancelled becomes the intersection of itself and of what was found, as in squares.py.

Guarantee: wherever a node is defined, what it is met with is defined and the same real number: S, E, H and L continue
the quotients and the product, E and H are never 0, and S(u) is 0 only where sin(u) is.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from infimum.exact.number import pi
from infimum.graph.build import Build
from infimum.graph.node import Node, ancestors
from infimum.graph.payload import is_number
from infimum.ops import OPERATIONS, names_with
from infimum.passes.sharper.factors import Factors, Product, multiplied, to_the

_MOST_NODES = 4000  # of an expression; beyond, looking takes longer than tracing did
_MOST_SUMS = 4  # within each other that are multiplied out
_LOGARITHMS = ("log", "log2", "log10")

Rewritten = Callable[["_Limits", Node], Product | None]


def with_limits(value: Node, n: int) -> Node:
    """Return the same function of n variables for enclosures: narrower where a product has a limit at an edge.

    The very same node where nothing was found, else one on a graph of its own.
    """
    nodes = ancestors([value])
    if len(nodes) > _MOST_NODES or not any(node.op in _FOUND_WITH for node in nodes):
        return value
    found = _Limits(nodes, n)
    return found.new[value] if found.changed else value


class _Limits:
    """Nodes copied to a graph of their own, products met with what is left of them."""

    def __init__(self, nodes: list[Node], n: int) -> None:
        self.build = Build(n)
        self.new: dict[Node, Node] = {}
        self.changed = False
        self.factors = Factors(self.build)
        self.cancelled: dict[Node, int] = {}  # by copies: how much cancelled in what they were met with
        for node in nodes:
            args = [self.new[a] for a in node.args]
            copy = self.build.x if node.op == "x" else self.build.graph.node(node.op, args, node.size, node.data)
            for form in self._forms(copy):
                if form is not copy and form.size == copy.size:
                    met = self.build.graph.node("intersection", (copy, form), copy.size)
                    self.factors.read_as(met, copy)
                    self.cancelled[met] = self.cancelled.get(copy, 0)
                    copy, self.changed = met, True
            self.new[node] = copy

    def op(self, name: str, *args: Node) -> Node:
        return self.build.apply(name, *args)

    # ------------------------------------------------------------------------------------------ products
    def _forms(self, node: Node) -> list[Node]:
        """Return what a node may be met with."""
        if node.op == "pow":
            return self._power(node)
        if node.op in ("log", "log1p"):
            return self._softplus(node)
        if node.op not in ("mul", "div"):
            return []
        product = self.factors.of(node)
        if product is None or not any(atom.op in _TRIGGERS for atom in product.powers):
            return []
        candidates = [self._quotients(product), *self._logarithms(product), self._distributed(product)]
        found = [form for form in candidates if form is not None]
        before = max((self.cancelled.get(a, 0) for a in node.args), default=0)
        count = max((c for _, c in found), default=0)
        self.cancelled[node] = max(count, before)
        return [form for form, c in found if c > before]

    def _quotients(self, product: Product) -> tuple[Node, int] | None:
        """Return the product after every rewriting that leaves fewer divisors, and how many rewritings there were."""
        count = 0
        for atom in sorted(product.powers, key=lambda node: node.number):
            power = product.powers.get(atom, Fraction(0))  # it may have cancelled meanwhile
            if power.denominator != 1 or not power:
                continue
            rule = _RULES.get(atom.op)
            other = rule(self, atom) if rule is not None else None
            if other is None:
                continue
            rest = Product(product.scale, {a: p for a, p in product.powers.items() if a is not atom})
            tried = multiplied(self.build, rest, to_the(self.build, other, power))
            if tried is not None and self._cancels(rest, other, power):
                product, count = tried, count + 1
        node = self.factors.node(product) if count else None
        return None if node is None else (node, count)

    def _cancels(self, rest: Product, other: Product, power: Fraction) -> bool:
        """Return whether the argument of the factor stands on the other side of the quotient."""
        zeros = [(a, p * power) for a, p in other.powers.items() if a.op not in _NONZERO]
        return bool(zeros) and all(rest.powers.get(a, Fraction(0)) * p < 0 for a, p in zeros)

    def _logarithms(self, product: Product) -> list[tuple[Node, int] | None]:
        """Return both forms of u^a log(c u^b r) times other factors."""
        for atom, power in sorted(product.powers.items(), key=lambda item: item[0].number):
            if atom.op not in (*_LOGARITHMS, "log1p") or power != 1:
                continue
            rest = Product(product.scale, {a: p for a, p in product.powers.items() if a is not atom})
            forms = self._logarithm(rest, atom)
            if forms:
                return [(form, 1) for form in forms]
        return []

    def _distributed(self, product: Product, depth: int = 0) -> tuple[Node, int] | None:
        """Return u (p + q) as u p + u q, where the logarithm in one of these cancels."""
        for atom, power in sorted(product.powers.items(), key=lambda item: item[0].number):
            if atom.op not in ("add", "sub") or power != 1 or depth >= _MOST_SUMS:
                continue
            rest = Product(product.scale, {a: p for a, p in product.powers.items() if a is not atom})
            parts = [self._part(rest, a, depth) for a in atom.args]
            count = sum(c for _, c in parts)
            if count and all(part is not None for part, _ in parts):
                first, second = (part for part, _ in parts if part is not None)
                return self.op(atom.op, first, second), count
        return None

    def _part(self, rest: Product, addend: Node, depth: int) -> tuple[Node | None, int]:
        """Return the product with an addend, and what cancelled in it."""
        product = multiplied(self.build, rest, self.factors.of(addend) or self.factors.atom(addend))
        if product is None:
            return None, 0
        found = next((form for form in self._logarithms(product) if form is not None), None)
        found = found or self._distributed(product, depth + 1)
        return found or (self.factors.node(product), 0)

    def _logarithm(self, rest: Product, logarithm: Node) -> list[Node]:
        inner = self._inside(rest, logarithm)
        if inner is None or not self.factors.is_positive(inner.scale):
            return []
        for u, b in sorted(inner.powers.items(), key=lambda item: item[0].number):
            a = rest.powers.get(u, Fraction(0))
            even = b.denominator == 1 and b.numerator % 2 == 0
            if a <= 0 or (even and a != b):
                continue
            forms = [self._separated(rest, inner, u), self._joined(rest, inner, u) if a == b else None]
            per = self._per_log(logarithm.op)
            return [form if per is None else self.op("mul", per, form) for form in forms if form is not None]
        return []

    def _is_positive(self, inner: Product, u: Node) -> bool:
        """Return whether u > 0 wherever log(c u^b r) is defined, for b not even: r is certainly not negative."""
        return all(self.factors.is_nonnegative(v, p) for v, p in inner.powers.items() if v is not u)

    def _inside(self, rest: Product, logarithm: Node) -> Product | None:
        """Return what the logarithm is of, as a product; of log1p(w) the factor that is 1 + w."""
        (w,) = logarithm.args
        if logarithm.op != "log1p":
            return self.factors.of(w) or self.factors.atom(w)
        for atom in rest.powers:
            if self.factors.one_plus(atom) is w:
                return self.factors.atom(atom)
        return None

    def _per_log(self, name: str) -> Node | None:
        base = {"log2": 2, "log10": 10}.get(name)
        return None if base is None else self.op("recip", self.op("log", self.build.number(base)))

    def _separated(self, rest: Product, inner: Product, u: Node) -> Node | None:
        """Return rest log(c u^b r) as (rest / u^a) ((b/a) L(u^a) + u^a log(c r)); r may be negative where u is."""
        # | u                                  | u^a log(|u|^a)                               |
        # | certainly positive, or a = b even  | L(u^a)                                       |
        # | of any sign, a odd                 | L(max(u, 0)^a) - L(max(-u, 0)^a)             |
        # | of any sign, a even                | L(u^a)                                       |
        # | of any sign, a broken              | L(u^a), as then u >= 0                       |
        a, b = rest.powers[u], inner.powers[u]
        power = self.factors.node(Product(self.build.number(1), {u: a}))
        outside = self.factors.node(Product(rest.scale, {v: p for v, p in rest.powers.items() if v is not u}))
        if power is None or outside is None:
            return None
        if a.denominator == 1 and a.numerator % 2 == 1 and not self._is_positive(inner, u):
            sides = [self.op("max", side, self.build.number(0)) for side in (u, self.op("neg", u))]
            above, below = (self._x_log_x(self.build.apply("pown", side, data=int(a))) for side in sides)
            total = self.op("sub", above, below)
        else:
            total = self._x_log_x(power)
        total = self.op("mul", self.build.number(b / a), total)
        others = Product(inner.scale, {v: p for v, p in inner.powers.items() if v is not u})
        if others.powers or not is_number(others.scale, 1.0):
            left = self.factors.node(others)
            if left is None:
                return None
            total = self.op("add", total, self.op("mul", power, self.op("log", self.op("abs", left))))
        return self.op("mul", outside, total)

    def _x_log_x(self, u: Node) -> Node:
        return self.build.graph.node("x_log_x", (u,), u.size)

    def _joined(self, rest: Product, inner: Product, u: Node) -> Node | None:
        """Return rest log(w) with w = c u^a r as (rest / (c u^a r)) L(w)."""
        if len(inner.powers) == 1 and is_number(inner.scale, 1.0):
            return None  # the same as `separated`
        w = self.factors.node(inner)
        around = multiplied(self.build, rest, to_the(self.build, inner, Fraction(-1)))
        outside = None if around is None else self.factors.node(around)
        if w is None or outside is None:
            return None
        return self.op("mul", outside, self._x_log_x(w))

    def _power(self, node: Node) -> list[Node]:
        """Return forms of u^v = exp(v log u), where v has a power of u as a factor."""
        u, v = node.args
        exponent = self.factors.of(v) or self.factors.atom(v)
        if u.op == "constant" or exponent.powers.get(u, Fraction(0)) <= 0:
            return []
        forms = self._logarithm(exponent, self.build.graph.node("log", (u,), u.size))
        return [self.op("exp", form) for form in forms]

    def _softplus(self, node: Node) -> list[Node]:
        (w,) = node.args
        inner = w if node.op == "log1p" else self.factors.one_plus(w)
        if inner is None or inner.op != "exp":
            return []
        u = inner.args[0]
        small = self.op("log1p", self.op("exp", self.op("neg", self.op("abs", u))))
        return [self.op("add", self.op("max", u, self.build.number(0)), small)]

    # ------------------------------------------------------------------------------------------ rewritings
    def times(self, w: Node, *parts: tuple[str, Node, int], scale: Node | None = None, power: int = 1) -> Product:
        """Return scale * w^power * the product of op(u)^k over the parts."""
        found: Product | None = to_the(self.build, self.factors.of(w) or self.factors.atom(w), Fraction(power))
        assert found is not None  # an integer power, and 1 or 2
        powers = dict(found.powers)
        for name, u, k in parts:
            powers[self.build.graph.node(name, (u,), u.size)] = Fraction(k)
        return Product(found.scale if scale is None else self.op("mul", scale, found.scale), powers)


def _factored(s: _Limits, y: Node) -> Product:
    """Return the operand times the factors of the operation's record."""
    (u,) = y.args
    return s.times(u, *((f.op, u if f.of == "operand" else y, f.power) for f in OPERATIONS[y.op].factors))


def _sinpi(s: _Limits, y: Node) -> Product:
    u = s.op("mul", s.build.number(pi), y.args[0])
    return s.times(y.args[0], ("sin_over_x", u, 1), scale=s.build.number(pi))


def _log(s: _Limits, y: Node) -> Product | None:
    """Return log(1 + u) as u / E(log(1 + u)), and log(u) with u - 1 in place of u."""
    (w,) = y.args
    u = s.factors.one_plus(w)
    return s.times(s.op("sub", w, s.build.number(1)) if u is None else u, ("expm1_over_x", y, -1))


def _less_one(s: _Limits, y: Node) -> Product | None:
    """Return exp(u) - 1, 1 - cos(u), cosh(u) - 1 and their negatives as products; the 1 may stand on either side."""
    sign, g = s.factors.less_one(y)
    if g is None or g.op not in ("exp", "cos", "cosh"):
        return None
    (u,) = g.args
    if g.op == "exp":
        return s.times(u, ("expm1_over_x", u, 1), scale=s.build.number(sign))
    half = s.op("mul", s.build.number(0.5), u)
    name, sign = ("sin_over_x", -sign) if g.op == "cos" else ("sinh_over_x", sign)
    return s.times(u, (name, half, 2), scale=s.build.number(0.5 * sign), power=2)


_RULES: dict[str, Rewritten] = {
    **dict.fromkeys(names_with(lambda row: row.factors), _factored),
    "sinpi": _sinpi,
    "log": _log,
    "sub": _less_one,
    "add": _less_one,
}
_NONZERO = ("sin_over_x", "sinh_over_x", "expm1_over_x", "cos", "cosh")  # where these are 0 is no edge
_TRIGGERS = frozenset({*_RULES, *_LOGARITHMS, "pow"})
_FOUND_WITH = (_TRIGGERS | {"exp", "cos", "cosh"}) - {"add", "sub"}
