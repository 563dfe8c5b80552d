"""Break a rule of the passes on purpose, one at a time: the checks of the other files notice each."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import paper_functions
from infimum import ops
from infimum.errors import InfimumError
from infimum.exact.number import Exact
from infimum.function.function import trace
from infimum.graph import indexmap, rewrites
from infimum.graph.build import Build
from infimum.graph.constant import constant
from infimum.graph.node import Node
from infimum.ops import choice
from infimum.passes import derive, facts, near, reroll
from infimum.tracing.trace import trace_graph
from jumpy_functions import contradicted, derived_slopes
from objectives import Objective
from test_facts_of_functions import CASES, false_claims
from test_function import slopes_outside, values_outside, wrong_slopes
from test_passes import changed_values, widened, wrong_second_derivatives, wrong_transposes
from traced_objectives import BY_NAME, Both

Patch = pytest.MonkeyPatch
Check = Callable[[], list[str]]


# --- what notices ----------------------------------------------------------------------------------------------------


def both(f: Callable[[Any], Any], n: int) -> Both:
    return Both(trace_graph(f, n).output, trace(f, n))


def grid(n: int, count: int = 6) -> Any:
    return np.random.default_rng(1).uniform(0.1, 2.5, (count, n))


def values(f: Callable[[Any], Any], n: int = 3, low: float = 0.0) -> Check:
    """Value and set of definition of a function, from 0.1 + low on."""
    return lambda: changed_values(both(f, n), grid(n) + low)


def enclosures(f: Callable[[Any], Any], n: int = 3) -> Check:
    return lambda: values_outside(both(f, n), grid(n), grid(n) + 1e-3)


def widths(f: Callable[[Any], Any], n: int = 3) -> Check:
    return lambda: widened(both(f, n), grid(n), grid(n) + 0.5)


def slopes(f: Callable[[Any], Any], n: int = 3, low: float = 0.0) -> Check:
    """Gradients of a function, at points and over boxes."""

    def check() -> list[str]:
        traced, x = both(f, n), grid(n) + low
        return wrong_slopes(traced, x) + slopes_outside(traced, x, x)

    return check


def claims(name: str) -> Check:
    return lambda: false_claims(CASES[name])


def samples(text: str) -> Check:
    """Facts and gradients of a formula of x[0], around its jumps."""
    return lambda: contradicted(text, derived_slopes)


def smooth_at_an_edge(f: Callable[[Any], Any], domain: tuple[float, float], box: tuple[float, float]) -> list[str]:
    """A function of a domain that is said to be smooth around a box that reaches to the edge of its definition."""
    function = trace(f, 1, box=(np.array(domain[:1]), np.array(domain[1:])))
    return [f"smooth around {box}"] if function.facts([box]).smooth else []


def unknown_slopes(f: Callable[[Any], Any], box: Any) -> list[str]:
    """A gradient that says nothing on a box."""
    found = trace(f, 1, box=(np.array([0.5]), np.array([2.0]))).gradient(box).pairs()
    return [] if np.isfinite(found).all() else [f"{found} on {box}"]


# --- what is broken --------------------------------------------------------------------------------------------------


def of_record(op: str, **changes: Any) -> Callable[[Patch], None]:
    """Another record for an operation."""

    def patch(monkeypatch: Patch) -> None:
        monkeypatch.setitem(ops.OPERATIONS, op, dataclasses.replace(ops.OPERATIONS[op], **changes))

    return patch


def slope_of(op: str, rule: Any) -> Callable[[Patch], None]:
    """Another slope for an operation."""
    return of_record(op, slope=rule)


def put(where: Any, name: str, value: Any) -> Callable[[Patch], None]:
    return lambda monkeypatch: monkeypatch.setattr(where, name, value)


def all_of(*patches: Callable[[Patch], None]) -> Callable[[Patch], None]:
    def patch(monkeypatch: Patch) -> None:
        for one in patches:
            one(monkeypatch)

    return patch


def rule(op: str, name: str, value: Any) -> Callable[[Patch], None]:
    """Another rewrite for an operation, and under its own name."""

    def patch(monkeypatch: Patch) -> None:
        monkeypatch.setattr(rewrites, name, value)
        if op:
            monkeypatch.setitem(rewrites.REWRITES, op, value)

    return patch


def _shifted_inverse(m: Any, size: int) -> Any:
    return dataclasses.replace(right, offset=right.offset + 1) if (right := _INVERSE(m, size)) else None


_INVERSE = derive._inverse_line
_READERS = indexmap.readers
_MOVED = rewrites._moved_constant
_SUM_OF_SCALED = Build._sum_of_scaled
_TERMS = reroll._Roller._terms
COMPARISONS = ops.names_with(lambda row: row.values == "truths")
_MADE = near.Near._made
_OWN = near.Near.own
_PUSH = Build._may_push


def _negated(b: Build, c: Node, inner: Node) -> Node | None:
    found = _MOVED(b, c, inner)
    return b.apply("neg", found) if found is not None else None


def _forgetful(self: Build, node: Node, width: int) -> Node | None:
    if node.op == "mul" and 1 in (node.args[0].size, node.args[1].size):
        return self.reduce("sum", max(node.args, key=lambda a: a.size), width)
    return _SUM_OF_SCALED(self, node, width)


def _one_width(self: Build, node: Node, width: int) -> Node | None:
    """sum(s + v) -> s + sum(v), as if s were added once."""
    if node.op == "add" and 1 in (node.args[0].size, node.args[1].size):
        scalar, vector = sorted(node.args, key=lambda a: a.size)
        return self.apply("add", scalar, self.reduce("sum", vector, width))
    return _SUM_OF_SCALED(self, node, width)


def _not_halved(b: Build, x: Node, y: Node) -> Node | None:
    if {x.op, y.op} == {"sin", "cos"} and x.args[0] is y.args[0]:
        return b.apply("sin", b.apply("mul", b.number(2), x.args[0]))
    return None


def _any_multiple_of_pi(self: Any) -> Fraction:
    return Fraction(float(self) / np.pi).limit_denominator(1000)


def _branches_alone(self: Any, node: Node) -> Any:
    return near.all_of(self.build, [self.smooth[a] for a in node.args[1:]])


def _first_branch(self: Any, node: Node) -> Any:
    return self.smooth[node.args[1]]


def _unasked(b: Build, condition: Node, valid: Any, x: Any, y: Any) -> Any:
    """The branches' facts, as if every condition were defined."""
    return near.chosen(b, condition, None, x, y)


def _less_of_both(b: Build, condition: Node, valid: Any, x: Any, y: Any) -> Any:
    """The smaller of two facts, of which one may be empty."""
    return near.all_of(b, [valid, near.chosen(b, condition, None, x, y)])


def near_is_itself(*ops: str) -> Callable[[Patch], None]:
    """These operations, as if they did not jump at the edge of a box."""

    def made(self: Any, node: Node) -> Node:
        if node.op not in ops:
            return _MADE(self, node)
        return self.build.graph.node(node.op, self.operands(node), node.size, node.data)

    return put(near.Near, "_made", made)


def always(fact: str, *ops: str) -> Callable[[Patch], None]:
    """A fact taken for granted of these operations."""

    def own(self: Any, kind: str, node: Node) -> Node:
        return self.build.number(1) if kind == fact and node.op in ops else _OWN(self, kind, node)

    return put(near.Near, "own", own)


def _kept_condition(self: Any, node: Node) -> Node:
    """A `where` that asks its condition on the box alone."""
    made = _MADE(self, node)
    if node.op != "where" or made is node:
        return made
    return self.build.graph.node("where", (node.args[0], *made.args[1:]), node.size)


def _unguarded(b: Build, g: Node, slope: Node, chosen: bool) -> Node:
    return b.apply("mul", g, slope)


def _ties_to_all(b: Build, x: Node, y: Node, op: str) -> Node:
    return b.apply("is_less_equal", x, y) if op == "min" else b.apply("is_less_equal", y, x)


def _push_always(self: Build, node: Node, m: Any) -> bool:
    return _PUSH(self, node, m) or node.op == "mul"


def _push_into_scalars(self: Build, node: Node, m: Any) -> bool:
    return _PUSH(self, node, m) or (node.op == "mul" and m.size <= node.size and any(a.size > 1 for a in node.args))


def _beside_missing_elements(x: Any) -> Any:
    y = np.zeros(3)
    y[1:] = (np.sqrt(x[0]) * x)[:-1]
    return np.sum(np.where(np.array([x[0] < 0, x[0] >= 0]), y[:2], x[0]))


def _no_signs(self: Any, node: Node) -> Any:
    return [(term, False) for term, _ in _TERMS(self, node)]


def _all_readers_once(m: Any) -> Any:
    return [(targets, positions[:, :1]) for targets, positions in _READERS(m)]


def _product(b: Build, args: tuple[Node, ...], data: Any) -> Node:
    return b.graph.node("mul", (args[0], args[0]), args[0].size)


def _whole_group(self: Build, op: str, node: Node, width: int) -> Node:
    reduction = {"mul": "prod", "add": "sum", "min": "min_of", "max": "max_of"}[op]
    return self.take(
        self.full(self.graph.node(reduction, (node,), node.size // width, width), node.size // width),
        indexmap.affine([(node.size // width, 1), (width, 0)], 0, node.size // width),
    )


CYCLE = paper_functions.rosenbrock
SQUARES = Objective("product", lambda x: np.prod(np.cos(x) + 2), 3, (-1, 1))

MUTANTS: dict[str, tuple[Callable[[Patch], None], Check]] = {
    "the slope of sqrt without 1/2": (
        slope_of("sqrt", lambda b, a, y: (b.apply("recip", y),)),
        slopes(lambda x: np.sum(np.sqrt(x))),
    ),
    "the slope of a quotient with the wrong sign": (
        slope_of("div", lambda b, a, y: (b.apply("recip", a[1]), b.apply("div", y, a[1]))),
        slopes(lambda x: x[0] / x[1] + x[2]),
    ),
    "the slope of tanh without the square": (
        slope_of("tanh", lambda b, a, y: (b.apply("sub", b.number(1), y),)),
        slopes(lambda x: np.sum(np.tanh(x))),
    ),
    "the slope of abs without its sign": (
        slope_of("abs", lambda b, a, y: (b.number(1),)),
        slopes(lambda x: np.sum(np.abs(x - 1.5))),
    ),
    "min and max give every equal operand the slope 1": (
        all_of(put(derive, "taken", _ties_to_all), put(choice, "taken", _ties_to_all)),
        slopes(lambda x: np.min(np.concatenate([x, x])) + np.maximum(x[0], np.abs(x[0]))),
    ),
    "the transposed map shifted by one": (put(derive, "_inverse_line", _shifted_inverse), wrong_transposes),
    "the transposed map shifted by one, in Rosenbrock": (
        put(derive, "_inverse_line", _shifted_inverse),
        slopes(CYCLE, 4),
    ),
    "the transpose keeps one reader of each element": (
        put(indexmap, "readers", _all_readers_once),
        slopes(lambda x: np.sum(x[[0, 0, 2]] ** 2)),
    ),
    "others with the element itself": (put(Build, "others", _whole_group), slopes(lambda x: np.prod(np.sin(x) + 2))),
    "the derivative of others forgotten": (
        put(derive, "_others", lambda *a: []),
        lambda: wrong_second_derivatives(SQUARES),
    ),
    "the branch not taken keeps its slopes": (
        put(derive, "_times", _unguarded),
        slopes(lambda x: np.sum(np.where(x > 5, x, np.where(x < 0, np.sqrt(-x), x**2)))),
    ),
    "a moved constant with the wrong sign": (rule("", "_moved_constant", _negated), values(lambda x: (x[0] + 1) + 2)),
    "a sum of scaled terms without the factor": (
        put(Build, "_sum_of_scaled", _forgetful),
        values(lambda x: np.sum(3 * np.sin(x))),
    ),
    "a sum of shifted terms with the shift once": (
        put(Build, "_sum_of_scaled", _one_width),
        values(lambda x: np.sum(3 + np.sin(x))),
    ),
    "sin cos without the half": (
        put(rewrites, "_double_angle", _not_halved),
        values(lambda x: np.sin(x[0]) * np.cos(x[0])),
    ),
    "a square written as a product": (rule("sqr", "_sqr", _product), widths(lambda x: (x[0] - 1) ** 2)),
    "the double pi taken for pi": (
        put(Exact, "as_rational_multiple_of_pi", _any_multiple_of_pi),
        values(lambda x: np.sin(np.pi * x[0])),
    ),
    "everything taken to be defined everywhere": (
        put(Build, "is_total", lambda self, node: True),
        values(lambda x: np.log(x[0]) - np.log(x[0]) + x[1], low=-1.5),
    ),
    "log(x) 0 taken for 0": (
        put(Build, "is_total", lambda self, node: True),
        values(lambda x: np.log(x[0]) * 0 + x[1], low=-1.5),
    ),
    "a take with missing elements pushed into a scalar": (
        put(Build, "_may_push", _push_always),
        slopes(BY_NAME["rotation"].f, 3),
    ),
    "0 times nothing is 0": (
        put(Build, "_may_push", _push_into_scalars),
        values(_beside_missing_elements, low=-2.0),
    ),
    "re-rolling forgets the signs": (
        put(reroll._Roller, "_terms", _no_signs),
        values(paper_functions.rastrigin_loop, 4),
    ),
    "a condition decided on the box alone": (
        near_is_itself(*COMPARISONS),
        claims("where(x < 0, 10, x)"),
    ),
    "a truth value compared with a number, decided on the box alone": (
        near_is_itself(*COMPARISONS),
        samples("np.where((x[0] >= 0) * 1.0 > 0.5, x[0], 10.0)"),
    ),
    "an inner where asks its condition on the box alone": (
        put(near.Near, "_made", _kept_condition),
        samples("np.where(np.where(x[0] < 1, x[0] > -9, x[0] > 9), x[0], 10.0)"),
    ),
    "where has the facts of its branches": (
        put(facts._Facts, "_smooth_where", _branches_alone),
        claims("where(x <= 0, 10, x)"),
    ),
    "where has the facts of its first branch": (
        put(facts._Facts, "_smooth_where", _first_branch),
        claims("where(x < 0, 10, x)"),
    ),
    "what is compared need not be defined around the box": (
        put(near.Near, "_opened", lambda self, node: None),
        lambda: smooth_at_an_edge(lambda x: np.where(np.sqrt(x[0]) < 5, x[0], 2.0), (0.0, 30.0), (0.0, 1.0)),
    ),
    "floor does not step at the edge of a box": (
        near_is_itself("floor"),
        claims("where(floor(x) > 4.5, x, 7)"),
    ),
    "sign does not step at the edge of a box": (
        near_is_itself("sign"),
        samples("np.where(np.sign(x[0]) > -0.5, x[0], 7.0)"),
    ),
    "mod does not jump at the edge of a box": (near_is_itself("mod"), samples("np.where(x[0] % 1 < 0.75, x[0], 7.0)")),
    "atan2 does not jump at its cut": (
        near_is_itself("atan2"),
        samples("np.where(np.arctan2(x[0], -1.0) > -1, x[0], 7.0)"),
    ),
    "a condition may be undefined": (put(facts, "chosen", _unasked), claims("where(sqrt(x) < 5, x, 2)")),
    "an empty fact taken for a true one": (
        put(facts, "chosen", _less_of_both),
        samples("np.where(x[0] < -0.5, np.sinc(np.sqrt(x[0])), 2)"),
    ),
    "the extreme of several always smooth": (
        put(facts._Facts, "_alone", lambda self, node: None),
        claims("min(x, 1, 2 - x)"),
    ),
    "min and max have no kink": (always("smooth", "min", "max"), claims("max(x, 0)")),
    "everything taken for a step": (
        put(near.Near, "is_step", lambda self, node: True),
        samples("np.minimum(x[0], 0.5) + np.floor(x[0])"),
    ),
    "a truth value read as a number does not jump": (
        always("smooth", *COMPARISONS),
        claims("(x > 1) * x"),
    ),
    "floor does not jump": (always("smooth", "floor"), claims("floor(x)")),
    "mod does not jump": (always("smooth", "mod"), claims("x % 1")),
    "roots smooth at their edge": (always("smooth", "sqrt"), claims("sqrt(x - 1)")),
    "roots defined everywhere": (
        of_record("sqrt", facts="defined"),
        claims("sqrt(x - 1)"),
    ),
    "what a reduction reads need not be defined": (
        put(facts, "through", lambda b, node, below: None),
        samples("np.sum(np.sqrt(np.array([x[0], 4.0])))"),
    ),
    "a where has the slope of the branch at the point alone": (
        put(derive, "Near", lambda b, output: near.Near(b, b.x)),
        samples("np.where(x[0] > 0, x[0], -x[0])"),
    ),
    "a truth value has the slope of the side at the point alone": (
        put(derive, "Near", lambda b, output: near.Near(b, b.x)),
        samples("(x[0] >= 1) * (x[0] - 1)"),
    ),
    "a branch without a slope counts as 0": (
        put(derive, "_ENTIRE", constant(0.0)),
        samples("np.where(x[0] > 0, x[0] * np.log(x[0]), 2 * x[0])"),
    ),
    "a constant below all doubles counts as 0": (
        put(derive, "_is_zero", lambda node: node.op == "constant" and not np.any(node.data.points())),
        slopes(lambda x: x[0] * 1e200 * 1e200 / 1e200 / 1e200 + x[1]),
    ),
    "the slope of g**0 divides by g": (
        slope_of("pown", lambda b, a, y: (b.apply("mul", b.number(y.data), b.apply("pown", a[0], data=y.data - 1)),)),
        lambda: unknown_slopes(lambda x: np.log(x[0]) ** 0 + x[0], [(1.0, 1.0)]),
    ),
}


def noticed(check: Check) -> bool:
    """The check finds something, or the broken pass no longer makes a program at all."""
    try:
        return bool(check())
    except (AssertionError, InfimumError, ArithmeticError, IndexError, TypeError):
        return True


@pytest.mark.parametrize("name", MUTANTS)
def test_a_broken_rule_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    patch, check = MUTANTS[name]
    assert check() == [], "the check must find nothing while nothing is broken"
    patch(monkeypatch)
    assert noticed(check), f"nobody noticed: {name}"
