"""Contraction through the graph never loses a point that satisfies the constraint, and does its work."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import host_cuda
import reference
from contractions import boxes_around, contracted, missing, removed, wishes
from infimum import core, problems
from infimum.backends import cpu
from infimum.backends.cuda.emit import emit
from infimum.backends.cuda.memory import TEAMS
from infimum.domain import read_bounds
from infimum.exact.number import pi
from infimum.function.function import Function, trace
from infimum.graph import indexmap
from infimum.graph.build import Build
from infimum.ops import OPERATIONS
from infimum.passes.contract import contraction as contract
from infimum.passes.contract import rules as contract_rules
from infimum.passes.contract.contraction import contraction
from random_functions import KINDS, planted_function, random_function
from test_vm import same
from traced_objectives import BY_NAME, EVERY, points, traced

Patch = pytest.MonkeyPatch


def case(f: Callable[[Any], Any], n: int, low: float = -3.0, high: float = 3.0) -> Callable[[], list[str]]:
    """Points of a function that contraction removes though it must not."""

    def check() -> list[str]:
        function = trace(f, n)
        x = np.random.default_rng(n).uniform(low, high, (200, n))
        x[:50] = np.round(x[:50])
        return removed(function, x, boxes_around(x, [(low, high)] * n, 1))

    return check


# --- operations ------------------------------------------------------------------------------------------------------

UNARY = sorted(
    row.numpy[0] for row in OPERATIONS.values() if row.arity == 1 and row.numpy and row.name in contract_rules.RULES
)
BINARY = sorted(
    row.numpy[0] for row in OPERATIONS.values() if row.arity == 2 and row.numpy and row.name in contract_rules.RULES
)
OF_OPERATIONS: dict[str, Callable[[], list[str]]] = {
    **{name: case(lambda x, name=name: getattr(np, name)(x[0]) * 1, 1) for name in UNARY},
    **{f"{name} beyond 1": case(lambda x, name=name: getattr(np, name)(x[0]), 1, 1.0, 40.0) for name in UNARY},
    **{name: case(lambda x, name=name: getattr(np, name)(x[0], x[1]) * 1, 2) for name in BINARY},
    **{
        f"{name} of rising": case(lambda x, name=name: getattr(np, name)(x[0], x[1]) * 1, 2, 0.0, 9.0)
        for name in BINARY
    },
    **{f"power {k}": case(lambda x, k=k: x[0] ** k, 1) for k in (-4, -3, -2, -1, 3, 4, 7)},
    "sinpi": case(lambda x: np.sin(pi * x[0]), 1),
    "cospi": case(lambda x: np.cos(pi * x[0]), 1),
    "10 to the x": case(lambda x: 10 ** x[0], 1),
    "where": case(lambda x: np.where(x[0] < x[1], x[0] ** 2, x[1] * 3 - 7), 2),
    "where of a number": case(lambda x: np.where(np.floor(x[0]), x[1], 3 - x[1]), 2),
    "remainder": case(lambda x: x[0] % 2 + x[0] % x[1], 2, 0.1, 3.0),
}

# --- structure -------------------------------------------------------------------------------------------------------


def recurrence(op: str, reverse: bool, read: slice, low: float = -2.0) -> Callable[[], list[str]]:
    """y_i = op(x_i) y_(i-1) + x_(8+i), and the product of some of y."""

    def check() -> list[str]:
        build = Build(16)
        a, b = (build.take(build.x, indexmap.affine([(8, 1)], start, 16)) for start in (0, 8))
        y = build.recurrence(build.apply(op, a), b, 8, reverse)
        kept = build.take(y, indexmap.of_indices(np.arange(8)[read], 8))
        function = Function(build.reduce("prod", kept, kept.size), 16, "recurrence")
        x = np.random.default_rng(8).uniform(low, 2.0, (200, 16))
        return removed(function, x, boxes_around(x, [(low, 2.0)] * 16, 1))

    return check


STRUCTURES: dict[str, Callable[[], list[str]]] = {
    "sum": case(lambda x: np.sum(x**2 - np.cos(3 * x)), 7),
    "sum of 300": case(lambda x: np.sum(np.abs(x - 1)), 300),
    "sums of groups": case(lambda x: np.sum(np.sqrt(np.sum(x.reshape(2, 3) ** 2, axis=1))), 6),
    "product": case(lambda x: np.prod(np.cos(x / np.sqrt(np.arange(1, 6)))), 5),
    "product with zeros": case(lambda x: np.prod(np.floor(x)), 4),
    "largest": case(lambda x: np.max(np.abs(x)), 5),
    "smallest": case(lambda x: np.min(x**2 + x), 5),
    "smallest of groups": case(lambda x: np.max(np.min(x.reshape(3, 2), axis=1)), 6),
    "chain": case(lambda x: np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (x[:-1] - 1) ** 2), 6),
    "reversed": case(lambda x: np.sum(x * x[::-1]), 5),
    "every other": case(lambda x: np.sum(x[::2] * x[1::2] ** 3), 6),
    "rolled": case(lambda x: np.sum(x * np.roll(x, 2)), 6),
    "repeated indices": case(lambda x: np.sum(x[[0, 1, 0, 2, 2, 2, 4]] * np.arange(7)), 5),
    "pairs": case(lambda x: np.sum((x[:, None] - x[None, :]) ** 2), 4),
    "joined": case(lambda x: np.max(np.concatenate([x[:2] ** 2, np.sin(x), x[:1] * x[1:2]])), 4),
    "scalar and vector": case(lambda x: np.sum((x - x[0]) ** 2) * np.sum(x), 4),
    "matrix": case(lambda x: np.sum((np.arange(12.0).reshape(3, 4) @ x - 1) ** 2), 4),
    "running sum": case(lambda x: np.sum(np.cumsum(x**2)[:-1] * x[1:]), 9),
    "running product": case(lambda x: np.sum(np.cumprod(x)), 5),
    "recurrence": recurrence("exp", False, slice(7, 8)),
    "recurrence with zeros": recurrence("floor", False, slice(7, 8)),
    "recurrence from the other end": recurrence("sin", True, slice(0, 1)),
    "recurrence in part": recurrence("cos", True, slice(2, 5)),
    "recurrence with roots": recurrence("sqrt", False, slice(0, 4), -0.1),
    "many scalars": case(lambda x: np.sin(x[0] + np.exp(x[5] * np.cos(x[3] - x[17] * abs(x[11] + x[29])))) * x[5], 30),
}

# --- what is not needed ----------------------------------------------------------------------------------------------

UNNEEDED: dict[str, Callable[[], list[str]]] = {
    "root in a branch": case(lambda x: np.where(x[0] < 0, 10.0, np.sqrt(x[0])), 1),
    "logarithm in a branch": case(lambda x: np.where(x[0] <= 0, x[0], 1 + np.log(x[0])), 1),
    "branches of vectors": case(lambda x: np.sum(np.where(x < 1, x**2, np.sqrt(x - 1))), 4),
    "a scalar in branches of vectors": case(lambda x: np.sum(np.where(x < 1, x**2, np.log(x[0] - 1))), 4),
    "nested": case(lambda x: np.where(x[0] < 0, np.where(x[1] < 0, 3.0, np.sqrt(x[1])), np.log(x[0])), 2),
    "undefined condition in a branch": case(
        lambda x: np.where(x[0] < 0, x[0], np.where(np.sqrt(x[0]) < 1, x[0] ** 2, 3.0)), 1
    ),
    "a guarded comparison": case(lambda x: np.where(np.where(x[0] >= 0, np.sqrt(x[0]) > 1, False), 5 - x[1], x[0]), 2),
    "a guarded comparison, or another": case(
        lambda x: np.where(np.where(x[0] > 0, np.log(x[0]) < x[1], False) | (x[1] > 1), x[0], x[1] ** 2), 2
    ),
    "a reduction in a branch": case(lambda x: np.where(x[0] < 0, x[1], np.sum(np.sqrt(x))), 3),
    "a slice in a branch": case(lambda x: np.where(x[0] < 0, x[1], np.sum(np.sqrt(x)[1:] * np.sqrt(x)[:-1])), 4),
    "a joint in a branch": case(lambda x: np.where(x[0] < 0, 1.0, np.max(np.concatenate([np.log(x), x]))), 3),
    "shared by both branches": case(lambda x: np.where(x[1] < 0, np.sqrt(x[0]), 1 - np.sqrt(x[0])), 2),
    "unread elements": case(lambda x: np.sum(np.sqrt(x)[1:3] * np.sqrt(x)[2:4]), 4),
    "a chosen pole": case(lambda x: np.where(x[0] < 1, 1 / (x[0] - 1), x[0] / x[0]), 1),
}

CHECKS = OF_OPERATIONS | STRUCTURES | UNNEEDED


@pytest.mark.parametrize("name", CHECKS)
def test_no_point_that_satisfies_the_constraint_is_removed(name: str) -> None:
    assert not CHECKS[name]()


@pytest.mark.parametrize("objective", EVERY, ids=lambda o: o.name)
def test_no_point_of_any_objective_is_removed(objective: Any) -> None:
    function = traced(objective).function
    x = points(objective, 40, 3)
    assert not removed(function, x, boxes_around(x, [objective.bounds] * objective.n, 2))


def removed_by_trees(seeds: range, make: Callable[[int], Any]) -> list[str]:
    """As `removed`, the values from Arb."""
    found = []
    for seed in seeds:
        f = make(seed)
        draw = np.random.default_rng(seed)
        low, high = (np.clip(np.array(end), -20, 20) for end in zip(*f.bounds, strict=True))
        x = (
            np.vstack([f.good_points(6), draw.uniform(low, high, (10, f.n))])
            if f.n < 4
            else draw.uniform(low, high, (16, f.n))
        )
        values = [f.value(point) for point in x]
        x = x[[v is not None for v in values]]
        if not len(x):
            continue
        ends = [(float(v.lower()), float(v.upper())) for v in values if v is not None]
        outward = tuple(np.nextafter(end, side) for end, side in zip(np.array(ends).T, (-np.inf, np.inf), strict=True))
        boxes = boxes_around(x, f.bounds, seed)
        found += [f"{f.name}: {m}" for m in missing(x, contracted(trace(f, f.n), boxes, wishes(outward, seed)))]
    return found


def test_no_point_of_a_random_function_is_removed() -> None:
    assert not removed_by_trees(range(60), random_function)


def test_no_point_of_a_random_sum_chain_or_product_is_removed() -> None:
    assert not removed_by_trees(range(3 * len(KINDS)), planted_function)


def test_a_point_with_its_gradient_is_kept() -> None:
    for objective in EVERY:
        function = traced(objective).function
        x = points(objective, 12, 5)
        lo, hi = boxes_around(x, [objective.bounds] * objective.n, 4)
        _, smooth = function.fact_arrays(lo, hi)
        x, lo, hi = x[smooth], lo[smooth], hi[smooth]
        if len(x):
            wanted = wishes(function.gradient_ends(x, x), 6)
            assert not missing(x, function.slope_contraction_ends(lo, hi, wanted)[:2]), objective.name


# --- what it does ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(set(UNARY) - {"sign"}))
def test_every_reverse_rule_contracts(name: str) -> None:
    function = trace(lambda x: getattr(np, name)(x[0]) * 1, 1)
    x = np.array([[{"arccosh": 1.25, "floor": 0.9, "ceil": 0.9, "trunc": 0.9}.get(name, 0.6)]])
    wanted = function.range_ends(x, x)
    lo, hi = contracted(function, (x - 0.2, x + 0.2), wanted)
    steps = name in ("floor", "ceil", "trunc", "rint")
    assert hi[0, 0] - lo[0, 0] < (0.4 if steps else 1e-6)


def test_an_impossible_wish_leaves_nothing() -> None:
    function = trace(lambda x: np.sum(x**2) + 1, 3)
    lo, hi, value_lo, value_hi = function.contraction_ends(np.full((1, 3), -1.0), np.full((1, 3), 2.0), 0.5)
    assert (lo > hi).any()
    assert (value_lo[0], value_hi[0]) == (1.0, 13.0)


def test_a_branch_that_is_certainly_taken_contracts() -> None:
    function = trace(lambda x: np.sum(np.where(x < 1, 4 + x, np.sqrt(x - 2))), 2)
    lo, hi, *_ = function.contraction_ends(np.array([[1.5, 0.5]]), np.array([[9.0, 9.0]]), 1.0)
    assert (lo.tolist(), hi.tolist()) == ([[2.0, 1.0]], [[3.0, 9.0]])


def test_a_comparison_contracts_what_it_compares() -> None:
    function = trace(lambda x: np.where(x[0] < 1, 5.0, 0.0) + x[1] ** 2, 2)
    lo, hi, *_ = function.contraction_ends(np.array([[-3.0, -3.0]]), np.array([[3.0, 3.0]]), 4.0)
    assert (lo.tolist(), hi.tolist()) == ([[1.0, -2.0]], [[3.0, 2.0]])


def test_a_branch_that_cannot_give_the_value_leaves_the_other() -> None:
    function = trace(lambda x: np.where(x[0] < x[1], 9.0, x[2] ** 2), 3)
    lo, hi, *_ = function.contraction_ends(np.full((1, 3), -3.0), np.full((1, 3), 3.0), 4.0)
    assert (lo.tolist(), hi.tolist()) == ([[-3.0, -3.0, -2.0]], [[3.0, 3.0, 2.0]])


PASSES = {  # passes until one takes less than 5 %, and the width of the widest variable then
    "ackley": (3, 4e-5), "belegundu": (3, 6e-4), "breiman": (3, 2e-3), "fu": (3, 3e-3), "griewank": (3, 3e-2),
    "levy": (3, 4e-2), "rastrigin": (3, 2e-4), "rosenbrock": (8, 5e-3), "salomon": (2, 3e-5), "styblinski": (3, 4e-3),
    "zabinsky": (3, 2e-3),
}  # fmt: skip


def reached(name: str, n: int, slack: float = 1e-6) -> tuple[int, float]:
    """Passes of contraction under f <= minimum + slack, and the width that they leave."""
    problem = getattr(problems, name)(n)
    function = trace(problem.f, n)
    domain = read_bounds(problem.bounds, n)
    lo, hi = domain.lo[None], domain.hi[None]
    count, before = 0, np.array(np.inf)
    while count < 40 and (hi - lo).sum() <= 0.95 * before.sum():
        count, before = count + 1, hi - lo
        lo, hi, *_ = function.contraction_ends(lo, hi, float(problem.minimum) + slack * max(1, abs(problem.minimum)))
        assert (lo <= hi).all()
    minimiser = np.array(problem.minimiser, dtype=float)
    assert ((lo <= minimiser + 1e-15) & (minimiser - 1e-15 <= hi)).all()
    return count, float((hi - lo).max())


@pytest.mark.parametrize("name", PASSES)
def test_the_papers_functions_shrink_in_a_few_passes(name: str) -> None:
    passes, width = PASSES[name]
    found = reached(name, 50)
    assert found[0] <= passes, found
    assert found[1] <= width, found


@pytest.mark.parametrize(("name", "slack", "width"), [("rastrigin", 1e-6, 2e-4), ("levy", 1e-12, 1e-2)])
def test_a_million_variables_do_not_drown_in_rounding(name: str, slack: float, width: float) -> None:
    start = time.process_time()
    passes, found = reached(name, 1_000_000, slack)
    assert found <= width
    assert passes <= 4
    assert time.process_time() - start < 20


# --- the same bits everywhere ----------------------------------------------------------------------------------------


def ends_of(function: Function) -> tuple[list[Any], Any, Any]:
    draw = np.random.default_rng(11)
    middle = draw.uniform(-1, 1, (7, function.n))
    reach = 10 ** draw.uniform(-3, 0.5, (7, function.n))
    value = function.range_ends(middle, middle)
    low = np.hstack([middle - reach, np.full((7, 1), -np.inf)])
    high = np.hstack([middle + reach, value[1][:, None]])
    return contract.contracted([function.value_node], function.n), low, high


@pytest.mark.parametrize("name", ["levy", "griewank", "branch_nested", "joined", "lennard_jones", "rolled"])
def test_every_variant_and_the_reference_agree_to_the_bit(name: str) -> None:
    function = traced(BY_NAME[name]).function
    nodes, low, high = ends_of(function)
    program = contraction([function.value_node], function.n)
    truth = reference.enclose(nodes, low, high)
    for variant in core.variants():
        for found, expected in zip(cpu.run(program, low, high, variant=variant), truth, strict=True):
            for a, b in zip(found, expected, strict=True):
                assert a.tobytes() == np.ascontiguousarray(b).tobytes(), variant


def test_emitted_contractions_have_the_bits_of_the_virtual_machine(pytestconfig: pytest.Config) -> None:
    if host_cuda.compiler() is None:
        pytest.skip("no C++ compiler")
    cases = []
    for name in ("levy", "griewank", "branch_nested", "rolled"):
        function = traced(BY_NAME[name]).function
        _, low, high = ends_of(function)
        cases.append((contraction([function.value_node], function.n), (low, high)))
    texts = [emit(program, f"p{i}") for i, (program, _) in enumerate(cases)]
    made = host_cuda.library([text.text for text in texts], Path(pytestconfig.cache.mkdir("emitted")))
    for text, (program, boxes) in zip(texts, cases, strict=True):
        for team in TEAMS:
            assert same(host_cuda.run(made, text, program, boxes, "interval", team), cpu.run(program, *boxes)), (
                text.name
            )


# --- broken on purpose -----------------------------------------------------------------------------------------------


def broken_rule(name: str, rule: Any) -> Callable[[Patch], None]:
    return lambda patch: patch.setitem(contract_rules.RULES, name, rule)


def broken(name: str, replacement: Any) -> Callable[[Patch], None]:
    return lambda patch: patch.setattr(contract._Backward, name, replacement)


BREAKS: dict[str, tuple[Callable[[Patch], None], Callable[[], list[str]]]] = {
    "a + b, added again": (
        broken_rule("add", lambda op, a, c, data: (op("add", c, a[1]), op("sub", c, a[0]))),
        OF_OPERATIONS["add"],
    ),
    "a - b, mirrored": (
        broken_rule("sub", lambda op, a, c, data: (op("add", c, a[1]), op("sub", c, a[0]))),
        OF_OPERATIONS["subtract"],
    ),
    "a quotient divided": (
        broken_rule("mul", lambda op, a, c, data: (op("div", c, a[1]), op("div", c, a[0]))),
        case(lambda x: np.floor(x[0]) * np.floor(x[1]), 2),
    ),
    "one root": (broken_rule("sqr", lambda op, a, c, data: (op("sqrt", c),)), OF_OPERATIONS["square"]),
    "one branch of the arc cosine": (
        broken_rule("cos", lambda op, a, c, data: (op("acos", c),)),
        OF_OPERATIONS["cos"],
    ),
    "the wrong branch": (
        broken_rule(
            "where",
            lambda op, a, c, data: (None, op("where_rev_other", a[0], c, a[1]), op("where_rev", a[0], c, a[2])),
        ),
        OF_OPERATIONS["where"],
    ),
    "needed everywhere": (
        broken("_where_needed", lambda self, node, part, operand: part),
        UNNEEDED["root in a branch"],
    ),
    "both branches needed": (
        lambda patch: patch.setattr(contract.Need, "_of_branch", lambda self, node, i, need: need),
        UNNEEDED["branches of vectors"],
    ),
    "the other branch needed": (
        lambda patch: patch.setattr(contract.Need, "_of_branch", _other_branch),
        UNNEEDED["nested"],
    ),
    "unread elements needed": (
        lambda patch: patch.setattr(contract.Need, "_through", lambda self, need, m, size: need),
        UNNEEDED["unread elements"],
    ),
    "missing elements read as 0": (broken("_present", lambda self, node, present: node), STRUCTURES["chain"]),
    "readers added": (
        broken("met", lambda self, node, width: self.reduce("sum", node, width)),
        STRUCTURES["scalar and vector"],
    ),
    "the whole sum for the others": (
        lambda patch: patch.setattr(
            contract.Build, "others", lambda self, op, node, width: self.graph.node("take", (self.reduce(
                {"add": "sum", "mul": "prod", "min": "min_of", "max": "max_of"}[op], node, width),), node.size,
                contract.indexmap.affine([(node.size // width, 1), (width, 0)], 0, node.size // width))
        ),
        STRUCTURES["sum"],
    ),
    "the maximum's rule for the minimum": (
        lambda patch: patch.setitem(contract._GROUPED, "min_of", "max_rev"),
        STRUCTURES["smallest"],
    ),
    "a product's rule for the maximum": (
        lambda patch: patch.setitem(contract._GROUPED, "max_of", "min_rev"),
        STRUCTURES["largest"],
    ),
    "a recurrence's zeros": (
        lambda patch: patch.setattr(contract._Backward, "op", _reckless(contract._Backward.op)),
        STRUCTURES["recurrence with zeros"],
    ),
    "pieces put back in the wrong places": (
        broken("_put_back", lambda self, node: _mixed(self, node)),
        STRUCTURES["many scalars"],
    ),
    "readers shifted by one": (
        lambda patch: patch.setattr(contract, "inverse", _shifted(contract.inverse)),
        STRUCTURES["reversed"],
    ),
}  # fmt: skip


def _other_branch(self: Any, node: Any, i: int, need: Any) -> Any:
    yes, no = (self.sets.zero, self.sets.one) if i == 1 else (self.sets.one, self.sets.zero)
    return self.sets.op("where", node.args[0], yes, no)


def _reckless(op: Any) -> Any:
    """Nothing is ever 0."""

    def reckless(self: Any, name: str, *args: Any, data: Any = None) -> Any:
        return self.zero if name == "is_equal" else op(self, name, *args, data=data)

    return reckless


_PUT_BACK = contract._Backward._put_back


def _mixed(self: Any, node: Any) -> None:
    pieces = [piece for piece in self.taken.get(node, []) if piece[1].size == 1]
    if len(pieces) > 1:
        maps = [m for _, m in pieces]
        self.taken[node] = [(c, m) for (c, _), m in zip(pieces, [*maps[1:], maps[0]], strict=True)]
    _PUT_BACK(self, node)


def _shifted(inverse: Any) -> Any:
    def shifted(m: Any, size: int) -> Any:
        found = inverse(m, size)
        return None if found is None else np.roll(found, 1)

    return shifted


@pytest.mark.parametrize("name", BREAKS)
def test_a_broken_rule_is_noticed(name: str, monkeypatch: Patch) -> None:
    spoil, check = BREAKS[name]
    spoil(monkeypatch)
    assert check()
