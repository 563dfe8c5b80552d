"""Tracing: the graph denotes the user's function, and what cannot be traced is refused with the user's own line."""

from __future__ import annotations

import math
import random
import time
from typing import Any

import numpy as np
import pytest

import objectives
import paper_functions
from infimum.errors import InfimumError, TraceError
from infimum.exact.number import e, exact, pi
from infimum.function.function import trace
from infimum.graph.evaluate import evaluate
from infimum.tracing.trace import trace_graph
from infimum.tracing.twins.plain import PlainTwins
from objectives import Counted, Objective, make_closure

PAPER = [
    Objective(f.__name__, f, 6, (low, high))
    for vector, loop, low, high in paper_functions.FUNCTIONS.values()
    for f in (vector, loop)
]
EVERY = objectives.ALL + PAPER
BUFFER = np.zeros(3)
RNG = np.random.default_rng(3)


def numeric(objective: Objective, x: Any) -> float:
    """The function's value in doubles, exact constants as the nearest doubles."""
    f = PlainTwins(None).of(objective.f)  # type: ignore[arg-type]
    with np.errstate(all="ignore"):
        return float(np.asarray(f(x, *objective.args), float).reshape(()))


@pytest.mark.parametrize("objective", EVERY, ids=lambda o: o.name)
def test_the_graph_has_the_value_of_the_function(objective: Objective) -> None:
    traced = trace_graph(objective.f, objective.n, objective.args)
    assert traced.output.size == 1 and traced.n == objective.n
    points = np.random.default_rng(7).uniform(*objective.bounds, (25, objective.n))
    expected = np.array([numeric(objective, x.copy()) for x in points])
    (found,) = evaluate([traced.output], points)
    np.testing.assert_allclose(found[:, 0], expected, rtol=1e-9, atol=1e-9)


def test_there_are_at_least_eighty_objectives() -> None:
    assert len(objectives.ALL) >= 80
    assert len({o.name for o in objectives.ALL}) == len(objectives.ALL)


@pytest.mark.parametrize("name", paper_functions.FUNCTIONS)
def test_vector_style_gives_the_same_graph_for_every_n(name: str) -> None:
    f = paper_functions.FUNCTIONS[name][0]
    assert len(trace_graph(f, 23).graph) == len(trace_graph(f, 231).graph) < 50


def test_loop_style_is_traced_in_time() -> None:
    start = time.process_time()
    trace_graph(paper_functions.rosenbrock_loop, 10_000)
    assert time.process_time() - start < 5.0


def test_the_function_keeps_its_own_state() -> None:
    counted = Counted([0.0, 0.0])
    trace(counted.fun, 2)
    calls = counted.calls
    assert calls >= 2
    counted.fun(np.zeros(2))
    assert counted.calls == calls + 1
    assert all(not hasattr(v, "tracer") for v in vars(counted).values())


def test_the_module_of_the_user_stays_as_it_was() -> None:
    before = dict(vars(objectives))
    trace_graph(objectives.item_assignment, 3)
    assert vars(objectives).keys() == before.keys()
    assert all(vars(objectives)[k] is v for k, v in before.items())
    closure = make_closure(0.1, 2)
    trace_graph(closure, 2)
    assert isinstance(closure(np.zeros(2)), float)


def test_exact_constants_stay_symbolic() -> None:
    traced = trace_graph(lambda x: pi * x[0] + x[1] / exact(1, 3) + np.sum(x * exact([1, 2])) - e, 2)
    shown = {repr(n.data) for n in _nodes(traced) if n.op == "constant"}
    assert "pi" in shown and "e" in shown and any("1/3" in text for text in shown)


def test_integer_powers_are_integer_powers() -> None:
    ops = {(n.op, n.data) for n in _nodes(trace_graph(lambda x: x[0] ** 3 + x[1] ** -2.0 + x[2] ** 0.5, 3))}
    assert ("pown", 3) in ops and ("pown", -2) in ops and ("sqrt", None) in ops
    assert not any(op == "pow" for op, _ in ops)


def test_views_share_what_is_written() -> None:
    def f(x: Any) -> Any:
        m = np.zeros((2, 2))
        row, turned = m[1], m.T
        row[:] = x
        turned[0, 0] = x[0] * 3
        m.reshape(-1)[1] = 5.0
        return m[0, 0] + 10 * m[0, 1] + 100 * m[1, 0] + 1000 * m[1, 1]

    (found,) = evaluate([trace_graph(f, 2).output], [[2.0, 7.0]])
    assert found[0, 0] == 6 + 50 + 200 + 7000


def _nodes(traced: Any) -> list[Any]:
    from infimum.graph.node import ancestors

    return ancestors([traced.output])


# What is refused, and the words that must appear.


def branch(x: Any) -> Any:
    if x[0] > 0:
        return x[0]
    return x[1]


def loop(x: Any) -> Any:
    while x[0] < 3:
        x = x + 1
    return x[0]


def ternary(x: Any) -> Any:
    return x[0] if x[1] < x[2] else x[1]


def both(x: Any) -> Any:
    return np.where(x[0] > 0 and x[1] > 0, x[0], x[2])


def negation(x: Any) -> Any:
    return np.where(not x[0] > 0, x[0], x[2])


def chain(x: Any) -> Any:
    return np.where(0 < x[0] < 1, x[0], x[2])


def swallowed(x: Any) -> Any:
    try:
        return math.floor(float(x[0])) + x[1]
    except Exception:
        return x[2]


def writes_global(x: Any) -> Any:
    BUFFER[0] = x[0]
    return BUFFER.sum()


def writes_x(x: Any) -> Any:
    x[0] = 1.0
    return x.sum()


def adds_to_x(x: Any) -> Any:
    x -= 1.0
    return x.sum()


def writes_integers(x: Any) -> Any:
    y = np.zeros(3, dtype=int)
    y[0] = x[0]
    return y.sum() + x[1]


def unset(x: Any) -> Any:
    y = np.empty(3)
    y[0] = x[0]
    return y.sum()


REFUSED = [
    (branch, ["test_trace.py:", "if x[0] > 0:", "x[0] stands for a whole range", "np.where(x[0] > 0, a, b)"]),
    (loop, ["while x[0] < 3:", "number of rounds"]),
    (ternary, ["np.where(x[1] < x[2], x[0], x[1])"]),
    (both, ["np.logical_and(x[0] > 0, x[1] > 0)"]),
    (negation, ["np.logical_not(x[0] > 0)"]),
    (chain, ["np.logical_and(0 < x[0], x[0] < 1)"]),
    (swallowed, ["math.floor", "may catch"]),
    (writes_global, ["BUFFER[0] = x[0]", "made before the call"]),
    (writes_x, ["x[0] = 1.0", "caller"]),
    (adds_to_x, ["x -= 1.0", "caller", "copy"]),
    (writes_integers, ["int64", "dtype=float"]),
    (unset, ["NaN"]),
    (lambda x: complex(x[0]), ["complex()"]),
    (lambda x: x[int(x[0])], ["index"]),
    (lambda x: x[x[0]], ["index"]),
    (lambda x: [1.0, 2.0][x[0]] + x[1], ["index"]),
    (lambda x: x[0] * np.random.rand(), ["np.random.rand", "random"]),  # noqa: NPY002
    (lambda x: x[0] * RNG.normal(), ["Generator", "random"]),
    (lambda x: x[0] * random.random(), ["random"]),
    (lambda x: np.sort(x)[0], ["np.sort", "np.minimum"]),
    (lambda x: x[np.argmin(x)], ["np.argmin"]),
    (lambda x: np.median(x), ["np.median"]),
    (lambda x: np.linalg.det(x * np.eye(3)), ["np.linalg.det"]),
    (lambda x: np.fft.fft(x)[0], ["np.fft.fft"]),
    (lambda x: x[0] * 1j, ["1j"]),
    (lambda x: x[0] + "1", ["'1'"]),
    (lambda x: x.astype(np.float32).sum(), ["float32"]),
    (lambda x: x[0] * np.nan, ["NaN"]),
    (lambda x: np.sum(x * np.array([1.0, np.nan, 2.0])), ["NaN"]),
    (lambda x: np.where(x[0] > 0, np.inf, x[0]), ["infinity", "large finite"]),
    (lambda x: math.gamma(x[0]), ["math.gamma"]),
    (lambda x: x**2, ["shape (3,)", "np.sum"]),
    (lambda x: x[x > 0], ["unknown length"]),
    (lambda x: None, ["None", "return statement"]),
    (lambda x: 3.0, ["does not depend on x", "3.0"]),
    (lambda x: pi, ["does not depend on x"]),
    (lambda x: [x[0]], ["list"]),
    (lambda x: "text", ["text"]),
    (lambda x: x[3], ["x has 3 variables", "index 3"]),
    (lambda x: x[[0, 5]].sum(), ["x has 3 variables", "5"]),
]


@pytest.mark.parametrize(("f", "words"), REFUSED, ids=[f"{i}-{f.__name__}" for i, (f, _) in enumerate(REFUSED)])
def test_what_cannot_be_traced_is_refused_with_a_sentence(f: Any, words: list[str]) -> None:
    with pytest.raises(TraceError) as caught:
        trace_graph(f, 3)
    for word in words:
        assert word in str(caught.value)


def test_scipy_is_refused_by_name() -> None:
    special = pytest.importorskip("scipy.special")
    with pytest.raises(TraceError, match="gammaln"):
        trace_graph(lambda x: special.gammaln(x[0]), 1)
    with pytest.raises(TraceError, match="compiled"):
        trace_graph(lambda x: special.logsumexp(x) + special.factorial2(x[0]), 2)


def test_errors_of_the_function_are_shown_as_they_are() -> None:
    def f(x: Any) -> Any:
        return x[0] / (1 // 0)

    with pytest.raises(ZeroDivisionError) as caught:
        trace_graph(f, 2)
    notes = getattr(caught.value, "__notes__", [])
    assert len(notes) == 1 and "n = 2" in notes[0] and "test_trace.py" in notes[0]


def test_too_few_variables_are_an_index_error_as_well() -> None:
    with pytest.raises(IndexError):
        trace_graph(lambda x: x[0] + x[1], 1)
    with pytest.raises(ValueError, match="unpack"):
        trace_graph(objectives.himmelblau, 3)


@pytest.mark.parametrize("n", [0, -1, 2.5, "3", None])
def test_the_number_of_variables_is_a_positive_integer(n: Any) -> None:
    with pytest.raises(InfimumError, match="number of variables"):
        trace_graph(lambda x: x[0], n)


def test_what_is_traced_must_be_callable() -> None:
    with pytest.raises(TraceError, match="function"):
        trace_graph(3, 2)  # type: ignore[arg-type]


def test_a_function_that_was_run_often_traces_all_the_same() -> None:
    for _ in range(3000):
        objectives.bare_names([0.1, 0.2, 0.3])
    trace_graph(objectives.bare_names, 3)


def test_a_container_may_hold_itself() -> None:
    loop_of_lists: list[Any] = [math.sin]
    loop_of_lists.append(loop_of_lists)
    trace_graph(lambda x: loop_of_lists[0](x[0]), 1)


def test_the_disagreement_of_rounding_is_no_disagreement() -> None:
    def f(x: Any) -> Any:
        big = 1e17 * np.sum(np.sin(x))
        return (big + np.sum(x)) - big

    trace(f, 50)


def test_points_outside_the_domain_do_not_disturb() -> None:
    def f(x: Any) -> Any:
        return np.log(x[0] - 200) + math.sqrt(x[1])

    trace(f, 2)


def test_an_empty_piece_of_a_concatenation_is_nothing() -> None:
    function = trace(lambda x: np.sum(np.concatenate([x[:1] ** 2, x[1:-1], x[-1:]])), 2)
    assert function.enclose([(1, 2), (3, 4)]).pairs().tolist() == [4, 8]
