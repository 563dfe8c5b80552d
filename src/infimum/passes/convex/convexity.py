"""Where an expression is convex or concave over a box: composition rules, the disciplined-convex calculus.

    node                        is convex where
    x, constants                always; so is what does not depend on x
    add, sub, sum, take, …      its operands are; a subtracted one is concave
    h(u)                        the curve of h and the shape of u fit on the hull of u's range (shape.composed)
    c u                         c >= 0 and u is convex, or c <= 0 and u is concave, element by element
    products, quotients         as products.py says: u u, u^k, u^2/v, u log u, u log(u/v)
    max, max_of                 both are, all are
    hypot(u, v)                 |u| and |v| are
    pow(u, p), pow(c, u)        the curve of the exponent fits; the sign of log c
    sqrt(u), pow(u, p)          u is a sum of squares (norms.py), p >= 1/2
    log u, log1p u              the logarithm of u, of 1 + u, is convex (logarithms.py): log-sum-exp, softplus
    where(c, u, v)              c is decided on the box, and the branch chosen is convex; where(0 < u, u, 0): max(u, 0)
    what is smoother            all exponents are: log-sum-exps that were found otherwise (passes/smoother.py)
    recurrence                  its terms are, its factors not depending on x and not negative
and concave where minus it is convex. Nothing is said of any other node.

Guarantee: where `convex` is certain on a box X, the set D of the points of X at which the expression is defined is
convex, and the expression is a convex function on D; likewise `concave`. X may be unbounded or a point.
"""

from __future__ import annotations

from infimum.graph.build import Build
from infimum.graph.node import Node, ancestors
from infimum.graph.payload import integer_of, map_of
from infimum.ops import OPERATIONS
from infimum.ops.curves import EVERYWHERE, MAGNITUDE, Curve, power
from infimum.passes.convex.extremes import as_extreme
from infimum.passes.convex.logarithms import Logarithms
from infimum.passes.convex.norms import Norms
from infimum.passes.convex.pieces import KINKS, READ, curve_of
from infimum.passes.convex.products import Products
from infimum.passes.convex.shape import AFFINE, NEITHER, Shape, added, composed, turned
from infimum.passes.convex.truths import Truth, Truths
from infimum.passes.smoother import Smoothed

_LOGARITHMS = frozenset({"log", "log2", "log10", "log1p"})
_PRODUCTS = frozenset({"mul", "div", "recip", "sqr", "pown"})


def convexity(build: Build, found: Smoothed, fixed: range = range(0)) -> tuple[Node, Node]:
    """Return the scalar nodes (convex, concave) of a scalar output: 1 on boxes where it certainly is.

    fixed: inputs that are no variables but numbers; the shape is that of the others.
    """
    shapes = Shapes(build, found, fixed)
    convex, concave = shapes.of(found.output)
    return shapes.truths.node(convex), shapes.truths.node(concave)


class Shapes:
    """The shapes of every node under an output."""

    def __init__(self, build: Build, found: Smoothed, fixed: range = range(0)) -> None:
        self.truths = Truths(build)
        self.build = build
        self._fixed = fixed
        self._exponents = found.exponents
        self._varies: dict[Node, bool] = {}
        self._kinked: set[Node] = set()  # nodes with a kink in or below them
        self._known: dict[Node, Shape] = {}
        self.logarithms = Logarithms(self)
        self.norms = Norms(self)
        self.products = Products(self)
        self._read(found.output)

    def of(self, node: Node) -> Shape:
        """Return the shape of a node, whether the output is made of it or not."""
        if node not in self._known:
            self._read(node)
        return self._known[node]

    def varies(self, node: Node) -> bool:
        """Return whether a node depends on x, whether the output is made of it or not."""
        if node not in self._varies:
            self._read(node)
        return self._varies[node]

    def _read(self, output: Node) -> None:
        """Find the shapes of a node and of all that it is made of. What is read is not read again."""
        for node in ancestors([output]):
            if node not in self._known:
                self._varies[node] = node.op == "x" or self._changes(node)
                if node.op in KINKS or not self._kinked.isdisjoint(node.args):
                    self._kinked.add(node)
                self._known[node] = self._met(node, self._found(node)) if self._varies[node] else AFFINE

    def _changes(self, node: Node) -> bool:
        """Return whether a node that is not x changes with the variables."""
        if self._fixed and node.op == "take" and node.args[0] is self.build.x:
            read = map_of(node).indices()
            return not bool(((read < 0) | ((self._fixed.start <= read) & (read < self._fixed.stop))).all())
        return any(self._varies[a] for a in node.args)

    def through(self, curve: Curve | None, u: Node) -> Shape:
        """Return the shape of an operation of this curve, of u."""
        return NEITHER if curve is None else composed(self.truths, curve, u, self.of(u))

    def magnitude(self, u: Node) -> Truth:
        """Return whether |u| is convex."""
        return self.through(MAGNITUDE, u).convex

    # ------------------------------------------------------------------------------------------ the rules
    def _met(self, node: Node, found: Shape) -> Shape:
        """Return a node's shape, met with what is known of it as the logarithm of a sum of exponentials."""
        exponents = self._exponents.get(node)
        if exponents is None or found.convex is True:
            return found
        t = self.truths
        parts = [t.all_of(self.of(z).convex, z.size, exponents.width) for z in exponents.of]
        return Shape(t.either(found.convex, t.both(*parts)), found.concave)

    def _found(self, node: Node) -> Shape:
        """Return the shape by the operation's rule, or as a function of one number with kinks."""
        found = self._made(node)
        if node.op not in READ or node not in self._kinked or True in found:
            return found
        read = curve_of(node, self.varies)
        if read is None:
            return found
        other = self.through(*read)
        return Shape(*(self.truths.either(*pair) for pair in zip(found, other, strict=True)))

    def _made(self, node: Node) -> Shape:
        t, args = self.truths, node.args
        match node.op:
            case "x":
                return AFFINE
            case "neg":
                return turned(self.of(args[0]))
            case "add":
                return added(t, self.of(args[0]), self.of(args[1]))
            case "sub":
                return added(t, self.of(args[0]), turned(self.of(args[1])))
            case "take":
                shape = self.of(args[0])
                return Shape(t.taken(shape.convex, node), t.taken(shape.concave, node))
            case "concat":
                sizes = [a.size for a in args]
                shapes = [self.of(a) for a in args]
                return Shape(t.joined([s.convex for s in shapes], sizes), t.joined([s.concave for s in shapes], sizes))
            case "sum":
                return self._grouped(node, self.of(args[0]))
            case "max_of" | "min_of":
                return self._extreme(node.op[:3], self._grouped(node, self.of(args[0])))
            case "max" | "min":
                return self._extreme(node.op, added(t, *map(self.of, args)))
            case "hypot":
                return Shape(t.both(*map(self.magnitude, args)), False)
            case "pow":
                return self._power(node)
            case "where":
                return self._where(node)
            case "prod":
                return Shape(self.logarithms.is_convex(node), False)
            case "recurrence":
                return self._recurrence(node)
        if node.op in _PRODUCTS:
            return self.products.shape(node)
        row = OPERATIONS.get(node.op)
        if row is None or row.curve is None:
            return NEITHER
        found = self.through(row.curve, args[0])
        if node.op in _LOGARITHMS:
            return self.logarithms.met(node, found)
        if node.op == "sqrt":
            return Shape(t.either(found.convex, self.norms.is_square(args[0])), found.concave)
        return found

    def _grouped(self, node: Node, shape: Shape) -> Shape:
        size, width = node.args[0].size, integer_of(node)
        t = self.truths
        return Shape(t.all_of(shape.convex, size, width), t.all_of(shape.concave, size, width))

    def _extreme(self, op: str, of_all: Shape) -> Shape:
        """Return the shape of a maximum or minimum of operands that all have this one."""
        return Shape(of_all.convex, False) if op == "max" else Shape(False, of_all.concave)

    def _power(self, node: Node) -> Shape:
        t = self.truths
        u, p = node.args
        least, most = t.hull(p)
        if not self.varies(p):
            found = self.through(power(least, most), u)
            is_norm = self.norms.is_square(u) if least >= 0.5 else False
            return Shape(t.either(found.convex, is_norm), found.concave)
        if self.varies(u) or t.positive(u) is not True:
            return NEITHER
        low, high = t.hull(u)  # c^p is exp(p log c)
        curve = Curve(EVERYWHERE, rises=EVERYWHERE if low >= 1.0 else (), falls=EVERYWHERE if high <= 1.0 else ())
        return self.through(curve, p)

    def _where(self, node: Node) -> Shape:
        t = self.truths
        condition, x, y = node.args
        extreme = as_extreme(node)
        if extreme is not None:
            found = self._extreme(extreme, added(t, self.of(x), self.of(y)))
            if found != NEITHER:
                return found
        if not self.build.is_total(condition):
            return NEITHER
        holds, fails = t.within(condition, 1.0, 1.0), t.within(condition, 0.0, 0.0)
        of_x, of_y = self.of(x), self.of(y)
        return Shape(
            t.either(t.both(holds, of_x.convex), t.both(fails, of_y.convex)),
            t.either(t.both(holds, of_x.concave), t.both(fails, of_y.concave)),
        )

    def _recurrence(self, node: Node) -> Shape:
        t = self.truths
        factors, terms = node.args
        shape = self.of(terms)
        if self.varies(factors) or shape == AFFINE:
            return NEITHER if self.varies(factors) else AFFINE
        all_convex, all_concave = (t.all_of(truth, terms.size, terms.size) for truth in (shape.convex, shape.concave))
        is_positive = t.all_of(t.within(factors, lo=0.0), factors.size, factors.size)
        return Shape(t.both(is_positive, all_convex), t.both(is_positive, all_concave))
