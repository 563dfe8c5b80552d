"""Random expressions for the rules of convexity, with two meanings: NumPy, which is traced, and Arb at a point.

A tree is a tuple (name, subtree, ...) over three variables; most are built of pieces that may well be convex. `defects`
looks for segments of a box on which a claim is false: a value in the middle above (below) the mean of those at the
ends, or no value there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import flint
import numpy as np
import numpy.typing as npt
from scipy import special

from infimum.function.function import Function, trace

Tree = tuple[Any, ...]
FloatArray = npt.NDArray[np.float64]
Exact = Callable[[Sequence[Any]], Any]

N = 3
PRECISION = 200


class Undefined(Exception):
    """There is certainly no value at the point."""


class Undecided(Exception):
    """Arb cannot tell whether there is one."""


def wanted(holds: bool, fails: bool, value: Callable[[], Any]) -> Any:
    """The value where a condition certainly holds."""
    if holds:
        return value()
    raise Undefined if fails else Undecided


def positive(a: Any, value: Callable[[], Any]) -> Any:
    return wanted(a > 0, a <= 0, value)


def nonzero(a: Any, value: Callable[[], Any]) -> Any:
    return wanted(a != 0, a == 0, value)


def not_negative(a: Any, value: Callable[[], Any]) -> Any:
    return wanted(a >= 0, a < 0, value)


def _chosen(condition: bool, fails: bool, x: Any, y: Any) -> Any:
    return x if condition else wanted(fails, False, lambda: y)


def _xlogx(a: Any) -> Any:
    return not_negative(a, lambda: flint.arb(0) if a == 0 else a * a.log())


def _tan(a: Any) -> Any:
    return wanted(a.cos() != 0, False, a.tan)


def _cbrt(a: Any) -> Any:
    if a == 0:
        return flint.arb(0)
    return wanted(a != 0, False, lambda: (abs(a).log() / 3).exp() * (1 if a > 0 else -1))


def _log_ratio(a: Any, b: Any) -> Any:
    return nonzero(b, lambda: positive(a / b, lambda: a * (a / b).log()))


# name: arity, NumPy's text, Arb, how often
OPERATIONS: dict[str, tuple[int, str, Callable[..., Any], int]] = {
    "add": (2, "({0} + {1})", lambda a, b: a + b, 6),
    "sub": (2, "({0} - {1})", lambda a, b: a - b, 4),
    "mul": (2, "({0} * {1})", lambda a, b: a * b, 2),
    "div": (2, "({0} / {1})", lambda a, b: nonzero(b, lambda: a / b), 3),
    "neg": (1, "(-{0})", lambda a: -a, 2),
    "square": (1, "{0}**2", lambda a: a * a, 4),
    "cube": (1, "{0}**3", lambda a: a**3, 1),
    "fourth": (1, "{0}**4", lambda a: a**4, 1),
    "recip": (1, "(1 / {0})", lambda a: nonzero(a, lambda: 1 / a), 3),
    "recip2": (1, "{0}**-2", lambda a: nonzero(a, lambda: 1 / a**2), 1),
    "recip3": (1, "{0}**-3", lambda a: nonzero(a, lambda: 1 / a**3), 1),
    "sqrt": (1, "np.sqrt({0})", lambda a: not_negative(a, a.sqrt), 4),
    "pow1.5": (1, "{0}**1.5", lambda a: not_negative(a, lambda: a * a.sqrt()), 1),
    "pow0.75": (1, "{0}**0.75", lambda a: not_negative(a, lambda: (a**3).sqrt().sqrt()), 1),
    "pow0.25": (1, "{0}**0.25", lambda a: not_negative(a, lambda: a.sqrt().sqrt()), 1),
    "pow-0.5": (1, "{0}**-0.5", lambda a: positive(a, lambda: 1 / a.sqrt()), 1),
    "two": (1, "2.0**{0}", lambda a: (a * flint.arb(2).log()).exp(), 1),
    "half": (1, "0.5**{0}", lambda a: (-a * flint.arb(2).log()).exp(), 1),
    "exp": (1, "np.exp({0})", lambda a: a.exp(), 5),
    "expm1": (1, "np.expm1({0})", lambda a: a.expm1(), 1),
    "log": (1, "np.log({0})", lambda a: positive(a, a.log), 5),
    "log2": (1, "np.log2({0})", lambda a: positive(a, lambda: a.log() / flint.arb(2).log()), 1),
    "log1p": (1, "np.log1p({0})", lambda a: positive(1 + a, a.log1p), 2),
    "abs": (1, "np.abs({0})", lambda a: abs(a), 3),
    "cosh": (1, "np.cosh({0})", lambda a: a.cosh(), 1),
    "sinh": (1, "np.sinh({0})", lambda a: a.sinh(), 1),
    "tanh": (1, "np.tanh({0})", lambda a: a.tanh(), 1),
    "arcsinh": (1, "np.arcsinh({0})", lambda a: a.asinh(), 1),
    "arctan": (1, "np.arctan({0})", lambda a: a.atan(), 1),
    "arccos": (1, "np.arccos({0})", lambda a: wanted(bool(abs(a) <= 1), bool(abs(a) > 1), a.acos), 1),
    "cbrt": (1, "np.cbrt({0})", _cbrt, 1),
    "sin": (1, "np.sin({0})", lambda a: a.sin(), 1),
    "cos": (1, "np.cos({0})", lambda a: a.cos(), 1),
    "tan": (1, "np.tan({0})", _tan, 1),
    "erf": (1, "special.erf({0})", lambda a: a.erf(), 1),
    "erfc": (1, "special.erfc({0})", lambda a: a.erfc(), 1),
    "gammaln": (1, "special.gammaln({0})", lambda a: positive(a, a.lgamma), 1),
    "xlogx": (1, "special.xlogy({0}, {0})", _xlogx, 3),
    "max": (2, "np.maximum({0}, {1})", lambda a, b: a.max(b), 3),
    "min": (2, "np.minimum({0}, {1})", lambda a, b: a.min(b), 2),
    "hypot": (2, "np.hypot({0}, {1})", lambda a, b: (a * a + b * b).sqrt(), 2),
    "logaddexp": (2, "np.logaddexp({0}, {1})", lambda a, b: (a.exp() + b.exp()).log(), 2),
    "log_less_of_both": (
        2,
        "(np.minimum({0}, {1}) - np.log1p(np.exp(-np.abs({0} - {1}))))",
        lambda a, b: -((-a).exp() + (-b).exp()).log(),
        1,
    ),
    "log_sum_exp": (
        3,
        "special.logsumexp(np.stack([{0}, {1}, -{2}]))",
        lambda a, b, c: (a.exp() + b.exp() + (-c).exp()).log(),
        1,
    ),
    "softplus": (1, "np.logaddexp(0, {0})", lambda a: a.exp().log1p(), 1),
    "log_sigmoid": (1, "np.log(1 / (1 + np.exp(-{0})))", lambda a: -(-a).exp().log1p(), 1),
    "log_not_sigmoid": (1, "np.log(1 - 1 / (1 + np.exp(-{0})))", lambda a: -a.exp().log1p(), 1),
    "probit": (1, "np.log(1 + special.erf({0}))", lambda a: (-a).erfc().log(), 1),
    "log_not_erf": (1, "np.log(1 - special.erf({0}))", lambda a: a.erfc().log(), 1),
    "square_over": (2, "({0}**2 / {1})", lambda a, b: nonzero(b, lambda: a * a / b), 3),
    "log_ratio": (2, "{0} * np.log({0} / {1})", _log_ratio, 2),
    "recip_product": (2, "(1 / ({0} * {1}))", lambda a, b: nonzero(a * b, lambda: 1 / (a * b)), 3),
    "log_less": (1, "np.log(np.exp({0}) - 0.5)", lambda a: positive(a.exp() - 0.5, (a.exp() - 0.5).log), 1),
    "a_log_a": (1, "{0} * (np.log({0}) - 1)", lambda a: positive(a, lambda: a * (a.log() - 1)), 2),
    "length": (2, "np.sqrt({0}**2 + 2 * {1}**2 + 1)", lambda a, b: (a * a + 2 * b * b + 1).sqrt(), 2),
    "where": (3, "np.where({0} > 0, {1}, {2})", lambda a, b, c: _chosen(a > 0, a <= 0, b, c), 2),
    "relu": (1, "np.where({0} > 0, {0}, 0.0)", lambda a: a.max(flint.arb(0)), 1),
    "leaky": (1, "np.where({0} < 0, 0.25 * {0}, {0})", lambda a: a.max(a / 4), 1),
    "steeper": (1, "np.where({0} < 0, 4 * {0}, {0})", lambda a: a.min(4 * a), 1),
}
_NAMES = [name for name, row in OPERATIONS.items() for _ in range(row[3])]
_NUMBERS = [-3.0, -1.0, -0.5, 0.25, 0.5, 1.0, 2.0]


def operations(tree: Tree) -> set[str]:
    """The names of its operations."""
    return {tree[0]}.union(*(operations(part) for part in tree[1:] if isinstance(part, tuple)))


def text(tree: Tree) -> str:
    """The tree in NumPy, of an array x."""
    name, *rest = tree
    if name == "affine":
        terms = (f"{c!r} * x[{i}]" for i, c in enumerate(rest[1:]) if c)
        return f"({rest[0]!r} + {' + '.join(terms)})"
    if name == "times":
        return f"({rest[0]!r} * {text(rest[1])})"
    return f"({OPERATIONS[name][1].format(*map(text, rest))})"


def exact(tree: Tree, x: Sequence[Any]) -> Any:
    """The same as a ball of Arb around the value at a point."""
    name, *rest = tree
    if name == "affine":
        return sum((flint.arb(c) * x[i] for i, c in enumerate(rest[1:])), flint.arb(rest[0]))
    if name == "times":
        return flint.arb(rest[0]) * exact(rest[1], x)
    if name in ("where", "relu"):
        _decided(rest[0], x)
    return OPERATIONS[name][2](*(exact(part, x) for part in rest))


def _decided(condition: Tree, x: Sequence[Any]) -> None:
    """Raise Undecided where a condition has no number: NaN is not above 0 and inf is, so that there may be a value."""
    try:
        exact(condition, x)
    except Undefined:
        raise Undecided from None


def random_tree(draw: np.random.Generator, depth: int) -> Tree:
    """A tree of operations on affine expressions."""
    if depth == 0 or draw.random() < 0.15:
        slopes = draw.choice([-2.0, -1.0, -0.5, 0.0, 0.0, 0.5, 1.0, 1.0], N)
        slopes[draw.integers(N)] = draw.choice([1.0, -1.0])
        return ("affine", float(draw.choice([-1.0, 0.0, 0.0, 0.5, 2.0])), *slopes.tolist())
    if draw.random() < 0.15:
        return ("times", float(draw.choice(_NUMBERS)), random_tree(draw, depth - 1))
    name = str(draw.choice(_NAMES))
    return (name, *(random_tree(draw, depth - 1) for _ in range(OPERATIONS[name][0])))


def random_boxes(draw: np.random.Generator, count: int) -> tuple[FloatArray, FloatArray]:
    """Boxes of all sizes, many of them on one side of 0."""
    middle = draw.uniform(-3, 3, (count, N)) * (draw.random((count, 1)) < 0.8)
    width = 10.0 ** draw.uniform(-2, 0.7, (count, 1)) * draw.uniform(0.3, 1, (count, N))
    lo, hi = middle - width, middle + width
    side = draw.integers(4, size=(count, 1))
    lo, hi = np.where(side == 1, np.abs(middle), lo), np.where(side == 1, np.abs(middle) + width, hi)
    return np.where(side == 2, -np.abs(middle) - width, lo), np.where(side == 2, -np.abs(middle), hi)


def value(f: Exact, x: Sequence[Any]) -> Any:
    """The value at a point; None where it certainly does not exist. It raises Undecided where Arb cannot tell."""
    try:
        found = f(x)
    except Undefined:
        return None
    if not found.is_finite():
        raise Undecided
    return found


def defects(
    f: Exact, lo: FloatArray, hi: FloatArray, sign: int, draw: np.random.Generator, count: int
) -> Iterator[str]:
    """What contradicts a claim that sign * f is convex on the box [lo, hi], on random segments."""
    flint.ctx.prec = PRECISION
    ends = [_point(lo, hi, draw) for _ in range(2 * count)]
    for p, q in zip(ends[::2], ends[1::2], strict=True):
        a, b = ([flint.arb(float(v)) for v in end] for end in (p, q))
        share = flint.arb(float(draw.choice([0.5, 0.5, 0.25, 0.0625])))
        try:
            first, last = value(f, a), value(f, b)
            if first is None or last is None:
                continue
            middle = value(f, [share * u + (1 - share) * v for u, v in zip(a, b, strict=True)])
        except Undecided:
            continue
        if middle is None:
            yield f"undefined between {p.tolist()} and {q.tolist()}"
        elif sign * middle > sign * (share * first + (1 - share) * last):
            yield f"between {p.tolist()} and {q.tolist()}, {share}"


def _point(lo: FloatArray, hi: FloatArray, draw: np.random.Generator) -> FloatArray:
    """A point of the box: anywhere, or with some components at its ends."""
    inside = draw.uniform(lo, hi)
    kind = draw.integers(6, size=lo.size) if draw.random() < 0.5 else np.full(lo.size, 5)
    return np.where(kind == 0, lo, np.where(kind == 1, hi, inside))


def traced(tree: Tree) -> Function:
    """The tree as infimum sees it."""
    made: Callable[..., Any] = eval(f"lambda x: {text(tree)}", {"np": np, "special": special})
    return trace(made, N, compare=False)
