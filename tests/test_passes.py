"""The passes between a traced graph and a Program: each keeps the function, none widens, loops come back as loops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import exact_values
import paper_functions
import reference
from exact_values import Undecided, told
from infimum.backends import cpu
from infimum.exact.number import e, exact, pi
from infimum.function.function import Function, trace
from infimum.graph import indexmap
from infimum.graph.build import Build
from infimum.graph.node import Node, ancestors
from infimum.passes.derive import gradient, transposed
from infimum.passes.lowering.lower import lower
from infimum.passes.lowering.program import VECTOR
from infimum.tracing.trace import trace_graph
from objectives import Objective
from traced_objectives import BY_NAME, EVERY, Both, FloatArray, boxes, points, traced

each = pytest.mark.parametrize("objective", EVERY, ids=lambda o: o.name)
ULPS = 64


# --- checks, which the mutation tests use as well --------------------------------------------------------------------


def changed_values(both: Both, x: FloatArray) -> list[str]:
    """Points where the simplified graph has another value, or another set of definition, than the traced one."""
    bad = []
    for p in x:
        try:
            before, after = (exact_values.value(node, p) for node in (both.raw, both.function.value_node))
        except Undecided:
            continue
        same = (before is None) == (after is None) and (before is None or before.overlaps(after))
        if not same:
            bad.append(f"{told(p)}: {before} became {after}")
    return bad


def widened(both: Both, lo: FloatArray, hi: FloatArray) -> list[str]:
    """Boxes over which the simplified graph has a wider enclosure than the traced one, by more than a few roundings."""
    every = ancestors([both.raw])
    enclosures = reference.enclose(every, lo, hi)
    low, high = enclosures[every.index(both.raw)]
    size = np.zeros(len(lo))
    for pair in enclosures:
        for end in pair:
            size = np.maximum(size, np.where(np.isfinite(end), np.abs(end), 0.0).max(axis=1))
    room = ULPS * np.finfo(float).eps * size
    (found_low, found_high), *_ = reference.enclose([both.function.value_node], lo, hi)
    empty = found_low[:, 0] > found_high[:, 0]
    bad = ~empty & ((found_low[:, 0] < low[:, 0] - room) | (found_high[:, 0] > high[:, 0] + room))
    return [
        f"{told(lo[i])} to {told(hi[i])}: [{low[i, 0]}, {high[i, 0]}] became [{found_low[i, 0]}, {found_high[i, 0]}]"
        for i in np.flatnonzero(bad)
    ]


# --- simplify --------------------------------------------------------------------------------------------------------


@each
def test_simplifying_keeps_the_value_and_the_set_of_definition(objective: Objective) -> None:
    inside = points(objective, 6, seed=1)
    around = inside * 3.0 - 1.0  # outside the domain too, where some are undefined
    assert changed_values(traced(objective), np.vstack([inside, around])) == []


@each
def test_simplifying_never_widens(objective: Objective) -> None:
    assert widened(traced(objective), *boxes(objective, 24, seed=2)) == []


def ops(f: Callable[[Any], Any], n: int = 3) -> Counter[str]:
    """How often each operation is left."""
    return Counter(node.op for node in ancestors([trace(f, n).value_node]))


def constants(f: Callable[[Any], Any], n: int = 3) -> list[str]:
    return sorted(repr(node.data) for node in ancestors([trace(f, n).value_node]) if node.op == "constant")


# rule: (an expression on which it fires, what is left of it; one on which it must not, what must be left of that)
Left = dict[str, int]
REWRITES: dict[str, tuple[Callable[[Any], Any], Left, Callable[[Any], Any] | None, Left]] = {
    "constants meet": (lambda x: x[0] * (2 * pi - 1), {"mul": 1}, None, {}),
    "x + 0": (lambda x: np.sin(x[0]) + 0.0, {"add": 0}, lambda x: np.sin(x[0]) + 1e-300, {"add": 1}),
    "x * 1": (lambda x: np.sin(x[0]) * 1.0, {"mul": 0}, lambda x: np.sin(x[0]) * 1.0000000000000002, {"mul": 1}),
    "x * -1": (lambda x: np.exp(x[0]) * -1, {"mul": 0, "neg": 1}, None, {}),
    "--x": (lambda x: np.negative(-np.exp(x[0])), {"neg": 0}, None, {}),
    "x - -y": (lambda x: x[0] - (-x[1]), {"neg": 0, "sub": 0, "add": 1}, None, {}),
    "x + -y": (lambda x: x[0] + (-np.exp(x[1])), {"neg": 0, "sub": 1}, None, {}),
    "-(x - y)": (lambda x: -(x[0] - np.exp(x[1])), {"neg": 0, "sub": 1}, None, {}),
    "(u + c) + d": (lambda x: (x[0] + 1) + 2, {"add": 1}, lambda x: (x[0] + 0.1) + 0.2, {"add": 2}),
    "(1 + u) - 1": (lambda x: (1 + np.sin(x[0])) - 1, {"add": 0, "sub": 0}, lambda x: (0.1 + x[0]) - 1e10, {"sub": 1}),
    "c + (d - u)": (lambda x: 3 + (1 - x[0]), {"add": 0, "sub": 1}, None, {}),
    "(u - d) + c": (lambda x: (x[0] - 1) + 3, {"sub": 0, "add": 1}, None, {}),
    "c (d x)": (lambda x: 2 * (3 * x[0]), {"mul": 1}, lambda x: 0.1 * (0.2 * x[0]), {"mul": 2}),
    "pi (d x)": (lambda x: pi * (0.1 * x[0]), {"mul": 1}, lambda x: np.pi * (0.1 * x[0]), {"mul": 2}),
    "c (-x)": (lambda x: 3 * (-np.exp(x[0])), {"neg": 0, "mul": 1}, None, {}),
    "x * x": (lambda x: np.sin(x[0]) * np.sin(x[0]), {"mul": 0, "sqr": 1}, lambda x: x[0] * x[1], {"sqr": 0, "mul": 1}),
    "x^a * x^b": (lambda x: x[0] ** 2 * x[0] ** 3, {"pown": 1, "mul": 0}, lambda x: x[0] ** 2 * x[1] ** 3, {"mul": 1}),
    "x^a * x^-b stays": (lambda x: x[0] ** 2, {"sqr": 1}, lambda x: x[0] ** 2 * x[0] ** -2, {"mul": 1}),
    "(x^a)^b": (lambda x: (x[0] ** 2) ** 3, {"pown": 1, "sqr": 0}, lambda x: (x[0] ** -2) ** 3, {"pown": 2}),
    "x ** 0": (lambda x: np.sin(x[0]) ** 0 + x[1], {"pown": 0}, None, {}),
    "x ** 1, x ** -1": (lambda x: np.exp(x[0]) ** 1 + np.exp(x[1]) ** -1, {"pown": 0, "recip": 1}, None, {}),
    "sin(pi x)": (lambda x: np.sin(pi * x[0]), {"sinpi": 1, "sin": 0}, lambda x: np.sin(np.pi * x[0]), {"sin": 1}),
    "cos(2 pi x)": (lambda x: np.cos(2 * pi * x[0]), {"cospi": 1}, lambda x: np.cos(2 * e * x[0]), {"cos": 1}),
    "sin(q pi x)": (lambda x: np.sin(pi * x[0] / 3), {"sinpi": 1}, lambda x: np.sin(pi * pi * x[0]), {"sin": 1}),
    "sin(-x)": (lambda x: np.sin(-x[0]), {"neg": 1, "sin": 1}, None, {}),
    "cos(-x)": (lambda x: np.cos(-x[0]), {"neg": 0, "cos": 1}, None, {}),
    "sin cos": (lambda x: np.sin(x[0]) * np.cos(x[0]), {"sin": 1, "cos": 0}, lambda x: np.sin(x[0]) * np.cos(x[1]),
                {"sin": 1, "cos": 1}),
    "sin(pi x) cos(pi x)": (lambda x: np.sin(pi * x[0]) * np.cos(pi * x[0]), {"sinpi": 1, "cospi": 0},
                            lambda x: np.sin(x[0]) * np.cos(pi * x[0]), {"sin": 1, "cospi": 1}),
    "sum(s v)": (lambda x: np.sum(x[0] * np.sin(x)), {"sum": 1, "mul": 1},
                 lambda x: np.sum(x[::-1] * np.sin(x)), {"mul": 1}),
    "x - x": (lambda x: np.sin(x[0]) - np.sin(x[0]) + x[1], {"sin": 0},
              lambda x: np.log(x[0]) - np.log(x[0]) + x[1], {"log": 1}),
    "x + x": (lambda x: np.sin(x[0]) + np.sin(x[0]), {"add": 0, "mul": 1}, None, {}),
    "0 x": (lambda x: 0 * np.sin(x[0]) + x[1], {"sin": 0}, lambda x: 0 * np.log(x[0]) + x[1], {"log": 1}),
    "x / 2^k": (lambda x: np.sin(x[0]) / 4, {"div": 0, "mul": 1}, lambda x: np.sin(x[0]) / 3, {"div": 1}),
    "x / 2^-1074": (lambda x: np.sin(x[0]) / 0.25, {"div": 0}, lambda x: np.sin(x[0]) / 5e-324, {"div": 1}),
    "sqrt(x^2)": (lambda x: np.sqrt(x[0] ** 2), {"sqrt": 0, "abs": 1}, lambda x: np.sqrt(x[0]) ** 2, {"sqrt": 1}),
    "|-x|, |x^2|": (lambda x: np.abs(-np.sin(x[0])) + np.abs(x[1] ** 2), {"abs": 1, "neg": 0}, None, {}),
    "(-x)^2, |x|^2": (lambda x: (-x[0]) ** 2 + np.abs(x[1]) ** 2, {"neg": 0, "abs": 0}, None, {}),
    "where(c, x, x)": (lambda x: np.where(x[0] > 0, x[1], x[1]), {"where": 0},
                       lambda x: np.where(x[0] > 0, x[1], x[0]), {"where": 1}),
    "min(x, x)": (lambda x: np.minimum(np.sin(x[0]), np.sin(x[0])), {"min": 0},
                  lambda x: np.minimum(x[0], x[1]), {"min": 1}),
    "True and c": (lambda x: np.where(np.logical_and(True, x[0] > 0), x[1], 1.0), {"min": 0},
                   lambda x: np.minimum(1.0, x[0]) + x[1], {"min": 1}),
    "False or c": (lambda x: np.where(np.logical_or(False, np.any(x > 0)), x[1], 1.0), {"max": 0},
                   lambda x: np.maximum(0.0, x[0]) + x[1], {"max": 1}),
    "take of take": (lambda x: x[1:][::-1][0] + 0 * x[0], {"take": 1}, None, {}),
    "take of elementwise": (lambda x: np.sin(x)[1], {"take": 1}, None, {}),
}  # fmt: skip


@pytest.mark.parametrize("rule", REWRITES)
def test_a_rewrite_fires_where_it_may_and_only_there(rule: str) -> None:
    fires, left, stays, kept = REWRITES[rule]
    found = ops(fires)
    assert {op: found[op] for op in left} == left, trace(fires, 3).show()
    if stays is not None:
        found = ops(stays)
        assert {op: found[op] for op in kept} == kept, trace(stays, 3).show()


@pytest.mark.parametrize("rule", REWRITES)
def test_a_rewrite_keeps_the_function(rule: str) -> None:
    x = np.random.default_rng(3).uniform(-3, 3, (20, 3))
    reach = 10.0 ** np.random.default_rng(4).uniform(-9, 0, (20, 1))
    for f in (REWRITES[rule][0], REWRITES[rule][2]):
        if f is not None:
            both = Both(trace_graph(f, 3).output, trace(f, 3))
            assert changed_values(both, x) == []
            assert widened(both, x - reach, x + reach) == []


def test_large_arrays_of_constants_are_folded_to_tight_intervals() -> None:
    roots = np.sqrt(exact(np.arange(1, 101)))
    function = trace(lambda x: np.sum(x / roots), 100)
    lo, hi = np.full(100, 1.0), np.full(100, 1.0)
    found = function.enclose(np.stack([lo, hi], -1))
    true = exact_values.value(trace_graph(lambda x: np.sum(x / roots), 100).output, lo)
    assert not exact_values.outside(true, float(found.lo), float(found.hi))
    assert found.hi - found.lo < 1e-13


def test_constants_are_named_as_the_user_wrote_them() -> None:
    assert constants(lambda x: exact(1, 3) * x[0] + pi) == ["exact('1/3')", "pi"]


# --- structure -------------------------------------------------------------------------------------------------------


def test_a_missing_element_stays_zero_behind_every_operation() -> None:
    """A take that reads nothing somewhere must not move inside what makes something of nothing."""
    for op in ("neg", "add", "sub", "mul", "sqr", "abs", "exp", "cos", "max", "is_less_equal"):
        for scalar in (False, True):
            build = Build(4)
            operand = build.take(build.x, indexmap.of_indices([2], 4)) if scalar else build.x
            args = [operand] if op in ("neg", "sqr", "abs", "exp", "cos") else [operand, build.apply("exp", operand)]
            node = build.apply(op, *args)
            m = indexmap.of_indices([-1, 0, -1, 0] if scalar else [-1, 0, 1, 2], node.size)
            (row,) = exact_values.evaluate([build.take(node, m)], [0.5, 1.5, 2.5, 3.5])
            (whole,) = exact_values.evaluate([node], [0.5, 1.5, 2.5, 3.5])
            expected = [whole[i] if i >= 0 else 0 for i in m.indices().tolist()]
            assert [float(v) for v in row] == [float(v) for v in expected], (op, scalar)


def wrong_transposes(transpose: Callable[..., Node] = transposed) -> list[str]:
    """Maps through which <g, take(x)> is not <transposed(g), x>."""
    random = np.random.default_rng(5)
    maps = [
        indexmap.of_indices([1, 2, 3], 5), indexmap.of_indices([4, 3, 2], 5), indexmap.of_indices([0, 2, 4], 5),
        indexmap.of_indices([-1, 0, 1, 2], 5), indexmap.of_indices([3, 3, 1, -1, 3], 5), indexmap.of_indices([2], 5),
        indexmap.of_indices([0, 0, 0], 1), indexmap.of_indices([-1, 0, -1], 1), indexmap.of_indices([0, 1, 2, 3, 4], 5),
        indexmap.affine([(2, 1), (3, 0)], 1, 5), indexmap.of_indices([4, -1, -1, -1], 5), indexmap.Window(7, -2, 1, 5),
        indexmap.Window(4, 5, -1, 5),
    ]  # fmt: skip
    bad = []
    for m in maps:
        build = Build(m.size)
        node = transpose(build, build.full(build.x, m.size), m, m.source)
        g = random.integers(-9, 9, m.size).astype(float)
        (found,) = exact_values.evaluate([build.full(node, m.source)], g)
        expected = np.zeros(m.source)
        for i, j in enumerate(m.indices().tolist()):
            if j >= 0:
                expected[j] += g[i]
        if [float(v) for v in found] != expected.tolist():
            bad.append(f"{m}: {[float(v) for v in found]}, true {expected.tolist()}")
    return bad


def test_transposed_maps_gather_what_was_read() -> None:
    assert wrong_transposes() == []


# --- reroll ----------------------------------------------------------------------------------------------------------

PAPER = list(paper_functions.FUNCTIONS)


def sizes(f: Callable[[Any], Any], n: int) -> tuple[int, ...]:
    """Instructions and phases of the programs of value and gradient."""
    function = trace(f, n)
    programs = (function.programs.value, function.programs.gradient)
    return tuple(len(part) for p in programs for part in (p.instructions, p.phases))


@pytest.mark.parametrize("style", [0, 1], ids=["vector", "loop"])
@pytest.mark.parametrize("name", PAPER)
def test_the_size_of_a_program_does_not_depend_on_n(name: str, style: int) -> None:
    f = paper_functions.FUNCTIONS[name][style]
    assert sizes(f, 10) == sizes(f, 100) == sizes(f, 1000)


@pytest.mark.parametrize("name", PAPER)
def test_loops_give_programs_as_small_as_arrays(name: str) -> None:
    vector, loop, _, _ = paper_functions.FUNCTIONS[name]
    assert sizes(loop, 50) == sizes(vector, 50)


def test_a_loop_that_adds_up_in_one_sum_is_smaller_than_arrays_added_up_in_two() -> None:
    def one_sum(x: Any) -> Any:
        total = 0
        for t in x:
            total += -0.1 * np.cos(5 * pi * t) + t * t
        return total

    assert sizes(one_sum, 50)[0] < sizes(paper_functions.FUNCTIONS["breiman"][0], 50)[0]


@pytest.mark.parametrize("name", PAPER)
def test_loops_and_arrays_have_the_same_values(name: str) -> None:
    vector, loop, low, high = paper_functions.FUNCTIONS[name]
    x = np.random.default_rng(6).uniform(low, high, (5, 20))
    np.testing.assert_allclose(np.asarray(trace(loop, 20)(x)), np.asarray(trace(vector, 20)(x)), rtol=1e-12, atol=1e-12)


def test_terms_that_differ_in_their_constants_are_one_loop() -> None:
    def f(x: Any) -> Any:
        return sum((i + 1) * np.sin(x[i]) ** 2 for i in range(len(x)))

    assert sizes(f, 10) == sizes(f, 300)


def test_what_does_not_repeat_is_left_as_it_is() -> None:
    def f(x: Any) -> Any:
        return np.sin(x[0]) + np.cos(x[1]) + np.exp(x[2]) + x[0] * x[1] + x[2] ** 3

    assert ops(f)["sum"] == 0
    assert changed_values(Both(trace_graph(f, 3).output, trace(f, 3)), np.array([[0.5, 1.5, 2.5]])) == []


def test_a_deep_expression_is_not_a_deep_recursion() -> None:
    def f(x: Any) -> Any:
        y = x[0]
        for i in range(5000):
            y = 3.5 * y * (1 - y) + 0.001 * x[i % 3]
        return 0 * y + x[1] * y**0

    function = trace(f, 3)
    assert function([0.1, 0.2, 0.3]) == 0.2


# --- derive ----------------------------------------------------------------------------------------------------------


def wavy_product(x: Any) -> Any:
    return np.prod(np.cos(x) + 2) + x[0] ** 3


def chosen(x: Any) -> Any:
    return np.sum(np.where(x > 0.25, x**3, np.sin(x)))


def chosen_partial(x: Any) -> Any:
    return np.sum(np.where(x > 0.25, np.sqrt(x) * x, np.exp(x)))


def largest(x: Any) -> Any:
    return np.max(x**2 + np.sin(3 * x)) * x[0] + np.maximum(x[1] ** 3, x[2] ** 2)


def running_sums(x: Any) -> Any:
    return np.sum(np.cumsum(np.sin(x)) ** 3)


def running_products(x: Any) -> Any:
    return np.sum(np.cumprod(x + 1.5) ** 2)


def mixed(x: Any) -> Any:
    return np.exp(x[0] * x[1]) / (1 + x[2] ** 2) + np.linalg.norm(x) + np.sqrt(1 + x @ x) + np.arctan2(x[0], 2 + x[1])


TWICE: list[Any] = [
    *(Objective(f.__name__, f, n, (-1, 1)) for f, n in ((wavy_product, 3), (wavy_product, 2), (wavy_product, 7))),
    *(Objective(f.__name__, f, 3, (-1, 1)) for f in (chosen, chosen_partial, largest, running_sums, mixed)),
    Objective("running_products", running_products, 4, (-1, 1)),
    *(BY_NAME[name] for name in ("levy", "griewank_loop", "ackley", "rosenbrock", "quadratic_form", "matrix_of_x")),
    *(BY_NAME[name] for name in ("lennard_jones", "rotation", "powers", "item_assignment", "numpy_everything")),
]


def wrong_second_derivatives(objective: Objective, count: int = 2) -> list[str]:
    """Components of the gradient of v . gradient whose enclosure misses the mixed difference of the function."""
    raw = trace_graph(objective.f, objective.n, objective.args).output
    function = trace(objective.f, objective.n, objective.args)
    v = np.random.default_rng(7).integers(-8, 8, objective.n) / 4.0
    build, first = function.programs.build, function.gradient_node
    along = build.reduce("sum", build.full(build.apply("mul", build.number(v), first), objective.n), objective.n)
    program = lower([gradient(build, along)], objective.n)
    x = points(objective, count, seed=8)
    ((lo, hi),) = cpu.run(program, x, x, "interval", threads=1)
    bad = []
    for i in np.flatnonzero(function.fact_arrays(x, x)[1]):
        size = 1 + np.abs(hi[i]).max()
        for j in range(objective.n):
            true = exact_values.second_derivative(raw, x[i], list(v), list(np.eye(objective.n)[j]))
            ends = float(lo[i, j]), float(hi[i, j])
            wide = not ends[1] - ends[0] <= 1e-6 * size
            if wide or exact_values.outside(true, *ends, exact_values.SLACK):
                bad.append(f"component {j} at {told(x[i])}: {true} not in [{ends[0].hex()}, {ends[1].hex()}]")
    return bad


@pytest.mark.parametrize("objective", TWICE, ids=lambda o: f"{o.name}-{o.n}")
def test_the_derivative_of_a_derivative_is_the_second_derivative(objective: Objective) -> None:
    assert wrong_second_derivatives(objective) == []


@pytest.mark.parametrize("n", [2, 3, 5, 8, 257])
def test_products_are_derived_without_division(n: int) -> None:
    function = trace(np.prod, n)
    assert Counter(node.op for node in ancestors([function.gradient_node]))["div"] == 0
    x = np.full(n, 1.0)
    x[1] = 0.0
    found = function.gradient(np.stack([x, x], -1))
    expected = np.zeros(n)
    expected[1] = 1.0
    assert found.lo.tolist() == found.hi.tolist() == expected.tolist()


# --- lower -----------------------------------------------------------------------------------------------------------


@each
def test_every_program_passes_its_own_check(objective: Objective) -> None:
    function = traced(objective).function
    for program in (
        function.programs.value,
        function.programs.gradient,
        function.programs.value_and_gradient,
        function.programs.facts,
    ):
        program.check()


def stored(program: Any) -> list[int]:
    return sorted(slot.size for slot in program.slots if slot.kind == VECTOR)


@pytest.mark.parametrize("name", ["rastrigin", "levy", "rosenbrock", "ackley", "breiman", "salomon"])
def test_values_are_computed_without_storing_arrays(name: str) -> None:
    function = trace(paper_functions.FUNCTIONS[name][0], 1000)
    assert max(stored(function.programs.value)) == 1


@pytest.mark.parametrize(("name", "most"), [("rastrigin", 1), ("levy", 4), ("rosenbrock", 3), ("ackley", 2)])
def test_gradients_store_little_more_than_themselves(name: str, most: int) -> None:
    function = trace(paper_functions.FUNCTIONS[name][0], 1000)
    assert sum(size > 1 for size in stored(function.programs.gradient)) <= most


def test_a_program_may_have_several_outputs_in_any_order() -> None:
    function = trace(lambda x: np.sum(np.sin(x) ** 2), 5)
    x = np.linspace(0, 1, 5)[None, :]
    outputs: Sequence[Node] = [
        function.gradient_node,
        function.value_node,
        function.gradient_node,
        function.programs.build.x,
    ]
    slope, value, again, itself = cpu.run(lower(list(outputs), 5), x, x + 0.1, "interval", threads=1)
    alone = Function(function.value_node, 5, "again").enclose(np.stack([x[0], x[0] + 0.1], -1))
    assert value[0][0, 0] == alone.lo and np.array_equal(slope[0], again[0]) and np.array_equal(itself[0], x)
