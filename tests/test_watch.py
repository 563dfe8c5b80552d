"""The watch over tracing: a function that is not the user's is noticed, and the user's own never raises an alarm."""

from __future__ import annotations

import itertools
import math
import pickle
import random
import time
import warnings
from typing import Any

import numpy as np
import pytest

import infimum
from infimum import exact, pi, problems
from infimum.bench.cases import cases
from infimum.domain import read_bounds
from infimum.errors import TraceError, TraceMismatch
from infimum.function.function import trace
from infimum.function.points import RANDOM, points_of
from infimum.graph.evaluate import evaluate
from infimum.tracing.numpy.rules import FUNCTIONS, UFUNCS
from infimum.tracing.trace import trace_graph
from numpy_call_templates import TEMPLATES
from numpy_calls import Call, N, call, plain_values
from random_functions import planted_function
from traced_objectives import EVERY, domain


def watched(f: Any, lo: Any, hi: Any, args: tuple[Any, ...] = (), x0: Any = None) -> None:
    """Compare at every point that the watch has, whatever time it takes."""
    low, high = np.atleast_1d(np.asarray(lo, float)), np.atleast_1d(np.asarray(hi, float))
    watch = trace(f, low.size, args, compare=False).watch
    watch._began -= 1e6
    watch.begin(low, high, x0)


def mismatch(f: Any, lo: Any, hi: Any) -> str:
    """What the watch says of a function; nothing, where it agrees."""
    try:
        watched(f, lo, hi)
    except TraceMismatch as error:
        return str(error)
    return ""


def wrong_where(condition: Any) -> Any:
    """A rule for np.sin that is 1 too large under a condition of its operand."""
    right = UFUNCS[np.sin]

    def rule(t: Any, a: Any) -> Any:
        return t.apply("add", right(t, a), t.apply("where", condition(t, a), 1.0, 0.0))

    return rule


# --- what is noticed -----------------------------------------------------------------------------------------------


def test_a_rule_that_is_wrong_on_a_part_of_the_domain_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(UFUNCS, np.sin, wrong_where(lambda t, a: t.apply("is_less", a, -4.0, boolean=True)))
    with pytest.raises(TraceMismatch):
        infimum.minimize(lambda x: np.sin(x[0]) + x[1] ** 2, [(-5, 5)] * 2)


def test_only_points_of_the_domain_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(UFUNCS, np.sin, wrong_where(lambda t, a: t.apply("is_less", a, 0.25, boolean=True)))
    assert infimum.minimize(lambda x: np.sin(x[0]) + x[1] ** 2, [(0.5, 1), (-5, 5)]).success


@pytest.mark.parametrize(
    ("where", "bounds", "x0"),
    [
        (0.0, (-1.0, 2.0), None),
        (1.0, (-0.3, 2.1), None),
        (-1.0, (-1.2, 2.1), None),
        (2.5, (-1.2, 7.1), None),
        (0.37, (-1.2, 7.1), None),  # a constant of the function
        (0.7182, (0.7182, 7.1), None),  # an end
        (7.1113, (-1.2, 7.1113), None),
        (2.0, (-0.5, 4.5), None),  # the middle
        (0.123456, (-1.2, 7.1), [0.123456]),
    ],
)
def test_a_rule_that_is_wrong_at_one_point_is_noticed_where_jumps_like_to_be(
    where: float, bounds: tuple[float, float], x0: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(UFUNCS, np.sin, wrong_where(lambda t, a: t.apply("is_equal", a, where, boolean=True)))
    with pytest.raises(TraceMismatch) as caught:
        infimum.minimize(lambda x: np.sin(x[0]) + (x[0] - 0.37) ** 2, [bounds], x0=x0)
    assert f"x = [{where!r}]" in str(caught.value)


def test_the_best_point_and_middles_of_boxes_are_asked_at_the_end() -> None:
    def f(x: Any) -> Any:
        if x.__class__ is np.ndarray and abs(x[0] - 0.4373) < 1e-3:
            return -1.0
        return (x[0] - 0.4373) ** 2

    with pytest.raises(TraceMismatch, match=r"gives -1\.0"):
        infimum.minimize(f, [(-1000, 3000)])


def test_a_value_where_the_graph_has_none_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(UFUNCS, np.abs, lambda t, a: t.apply("sqr", t.apply("sqrt", a)))
    with pytest.raises(TraceMismatch, match="no value"):
        infimum.minimize(lambda x: abs(x[0]), [(-1, 1)])


def test_every_way_into_minimize_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(UFUNCS, np.sin, wrong_where(lambda t, a: t.apply("is_less", a, 0.0, boolean=True)))

    class Problem:
        f, bounds, n, jac = staticmethod(lambda x: np.sin(x[0])), [(-1, 1)], 1, None

    with pytest.raises(TraceMismatch):
        infimum.minimize(Problem())
    with pytest.raises(TraceMismatch):
        infimum.minimize(lambda x, a, b: a + b * np.sin(x[0]), [(-1, 1)], args=(1.0, 2.0))
    with pytest.raises(TraceMismatch):
        infimum.minimize(lambda x: np.sin(x[0]), [(-1, 1)], method="paper")
    with pytest.raises(TraceMismatch, match="the negative of"):
        infimum.minimize(lambda x: np.sin(x[0]), [(-1, 1)], maximize=True)
    with pytest.raises(TraceMismatch):
        infimum.minimize(lambda x: -np.cos(x[0]), [(-1, 1)], jac=lambda x: np.sin(x))
    with pytest.raises(TraceMismatch):
        infimum.trace(lambda x: np.sin(x[0]), 1)


# --- what is said --------------------------------------------------------------------------------------------------


def test_the_message_names_the_function_the_point_and_both_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(UFUNCS, np.sin, wrong_where(lambda t, a: t.apply("is_less", a, 0.0, boolean=True)))

    def bump(x: Any) -> Any:
        return np.sin(x[0])

    with pytest.raises(TraceMismatch) as caught:
        infimum.minimize(bump, [(-1, -0.5)])
    text = str(caught.value)
    assert "bump" in text and "test_watch.py" in text and "please report" in text
    assert "hidden state" not in text and "random" not in text  # the function is right: the fault is ours
    x = float(text.split("x = [")[1].split("]")[0])
    low, high = (float(v) for v in text.split("a value in [")[1].split("]")[0].split(", "))
    assert -1 <= x <= -0.5 and repr(float(np.sin(x))) in text
    assert low <= math.sin(x) + 1 <= high


def test_a_hidden_state_is_called_by_its_name() -> None:
    clock = itertools.count(1)
    with pytest.raises(TraceMismatch, match="hidden state"):
        infimum.minimize(lambda x: x[0] * next(clock), [(1, 2)])
    with pytest.raises(TraceMismatch, match="hidden state"):
        infimum.trace(lambda x: x[0] * next(clock), 1)


def test_a_state_that_changes_between_runs_is_told_from_a_misunderstanding() -> None:
    calls: list[int] = []

    def f(x: Any) -> Any:
        calls.append(1)
        return x[0] * (2.0 if len(calls) > 1 else 1.0)

    with pytest.raises(TraceMismatch, match="hidden state"):
        infimum.minimize(f, [(1, 2)])


# --- what says nothing ---------------------------------------------------------------------------------------------


def test_nan_infinities_and_exceptions_say_nothing() -> None:
    def f(x: Any) -> Any:
        if x.__class__ is not np.ndarray:
            return x[0] ** 2
        if x[0] > 0:
            raise ZeroDivisionError("at this point")
        return math.nan if x[0] < -0.5 else math.inf

    assert infimum.minimize(f, [(-1, 1)]).success


def test_the_function_is_called_with_fresh_arrays_and_without_warnings() -> None:
    kept: list[Any] = []

    def f(x: Any) -> Any:
        if x.__class__ is np.ndarray:
            kept.append((x, x.copy()))
        return np.sum(x**2) + np.where(x[0] > 1, np.sqrt(x[0] - 1), 0.0)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        watched(f, [-3] * 2, [5] * 2)
    assert len(kept) > RANDOM and len({id(x) for x, _ in kept}) == len(kept)
    assert all(np.array_equal(x, before) for x, before in kept)
    assert not any(np.signbit(v) for x, _ in kept for v in x if v == 0)


@pytest.mark.parametrize("objective", EVERY, ids=lambda o: o.name)
def test_no_objective_raises_a_false_alarm(objective: Any) -> None:
    box = domain(objective)
    watched(objective.f, box[..., 0], box[..., 1], objective.args)


def test_no_problem_raises_a_false_alarm() -> None:
    first = {case.name: case for case in reversed(cases()) if case.n <= 50}
    for problem in [
        *(problems.named(name, 5) for name in problems.names("paper")),
        *(c.problem() for c in first.values()),
    ]:
        box = read_bounds(problem.bounds, problem.n)
        watched(problem.f, box.inner_lo, box.inner_hi)


def test_no_random_function_raises_a_false_alarm_but_of_undefined_parts() -> None:
    for seed in range(60):
        f = planted_function(seed)
        for bounds in (np.array(f.bounds), np.array([(-math.inf, math.inf)] * f.n)):
            said = mismatch(f, bounds[:, 0], bounds[:, 1])
            assert not said or "no value" in said


def _iterated(x: Any) -> Any:
    y = x[0]
    for _ in range(60):
        y = 3.9 * y * (1 - y)
    return y


ROUNDED = {
    "cancellation": lambda x: (1e17 * np.sum(np.sin(x)) + x[0]) - 1e17 * np.sum(np.sin(x)),
    "polynomial near its root": lambda x: (x[0] - 1) ** 7 - np.polyval([1, -7, 21, -35, 35, -21, 7, -1], x[0]),
    "chaos": _iterated,
    "underflow in a product": lambda x: np.prod(1e-200 * x) * 1e200 * 1e200 * 1e200,
    "underflow on the way": lambda x: x[0] * 1e-200 * 1e-200 * 1e200 * 1e200,
    "sinc at whole numbers": lambda x: np.sum(np.sinc(x)),
    "sines of multiples of pi": lambda x: np.sum(np.sin(pi * x)) + np.cos(2 * pi * x[0]) ** 3,
    "an exact zero": lambda x: np.sin(pi) * x[0] * 1e10 + (np.sqrt(exact(2)) ** 2 - 2) * x[1] * 1e10,
    "edges that roundings cross": lambda x: np.where(x[0] * 0.1 * 3 <= 0.3, 1.0, 0.0) + np.floor(x[1] / 0.1),
    "remainders": lambda x: x[0] % 0.1 + np.fmod(x[1], 0.3) + x[2] // 0.7,
    "matrices": lambda x: np.sum((np.sin(np.outer(np.arange(40), np.arange(4) + 0.1)) @ x) ** 3),
    "sums of many terms": lambda x: np.sum(np.sin(np.arange(1000) * x[0]) * 1e8) + np.cumsum(np.cos(x))[-1],
    "spread": lambda x: np.var(1e8 + x) + np.std(x - x[0]) + np.linalg.norm(x - x[::-1]),
    "soft maximum": lambda x: np.log(np.sum(np.exp(x))) + np.logaddexp(x[0], x[1]),
    "rounded to digits": lambda x: np.round(x[0], 2) + np.round(x[1] * 7, 1),
    "whole numbers": lambda x: np.where(np.floor(x[0]) % 2 == 1, x[0], -x[0]) + np.sum(np.floor(x) * 2**40),
    "powers": lambda x: np.sum(np.abs(x) ** 1.7 + x**3 + x**11) + np.abs(x[0]) ** -0.3,
    "interpolation": lambda x: np.interp(x[0], [-3.0, -1.0, 0.1, 2.0], [5.0, -1e6, 1e6, 0.0]),
    "a branch at zeros of either sign": lambda x: np.arctan2(-x[0], -np.abs(x[1])) + np.arctan2(x[2], -x[3]),
    "integers": lambda x: x[0].astype(int) * 1.0,
}


@pytest.mark.parametrize("name", ROUNDED)
def test_roundings_raise_no_alarm(name: str) -> None:
    for bound in (1.0, 5.0, 1e3, math.inf):
        watched(ROUNDED[name], [-bound] * 4, [bound] * 4)
    watched(ROUNDED[name], [0.0] * 4, [1.0] * 4)


# --- where and how long --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 7, 1000])
def test_there_are_256_random_points_and_corners_faces_and_special_ones_in_the_box(n: int) -> None:
    for lo, hi in ((-1.5, 2.0), (0.25, math.inf), (-math.inf, math.inf), (1e-9, 1e9), (3.0, 3.0)):
        low, high = np.full(n, lo), np.full(n, hi)
        found = np.array(list(points_of(low, high, [0.3])))
        assert len(found) >= RANDOM and np.isfinite(found).all()
        assert (found >= low).all() and (found <= high).all()
        for value in (-1.0, 0.0, 1.0, 0.5, 0.3, lo, hi):
            if lo <= value <= hi and math.isfinite(value):
                assert (found == value).any(), value
    corners = {
        tuple(p) for p in np.array(list(points_of(np.full(n, -1.5), np.full(n, 2.25)))) if set(p) <= {-1.5, 2.25}
    }
    assert len(corners) >= min(2**n, 20)


def test_beyond_a_thousand_variables_there_are_fewer_points_and_at_least_three() -> None:
    assert 3 <= len(list(points_of(np.zeros(1001), np.ones(1001)))) <= 32


def test_a_slow_function_is_asked_at_three_points_and_hardly_more() -> None:
    calls: list[float] = []

    def f(x: Any) -> Any:
        if x.__class__ is np.ndarray:
            calls.append(time.perf_counter())
            time.sleep(0.03)
        return x[0] ** 2

    infimum.minimize(f, [(-1, 1)])
    assert 3 <= len(calls) <= 6


def test_a_quick_function_is_asked_at_all_points() -> None:
    calls: list[int] = []

    def f(x: Any) -> Any:
        calls.append(1)
        return x[0] ** 2

    for _ in range(5):  # another program may hold the processor for the whole time that the watch may take
        calls.clear()
        infimum.minimize(f, [(-1, 1)])
        if len(calls) > RANDOM:
            break
    assert len(calls) > RANDOM


# --- rules broken on purpose -----------------------------------------------------------------------------------------
# | break     | the rule then                                                     |
# | shifted   | gives results 1e-6 larger                                         |
# | sign lost | takes its first operand without its sign                          |
# | swapped   | takes its first two operands in the other order                   |
# | reversed  | gives the elements of its result in the other order               |


def _broken(rule: Any, how: str) -> Any:
    def wrong(t: Any, *args: Any, **kwargs: Any) -> Any:
        if how == "sign lost":
            args = (t.apply("abs", args[0]), *args[1:])
        if how == "swapped":
            args = (args[1], args[0], *args[2:])
        found = rule(t, *args, **kwargs)
        one = found[0] if isinstance(found, tuple) else found
        if how == "shifted":
            one = t.apply("add", one, 1e-6)
        if how == "reversed":
            one = one[::-1]
        return (one, *found[1:]) if isinstance(found, tuple) else one

    for name, value in vars(rule).items():
        setattr(wrong, name, value)
    return wrong


def _title(key: Any) -> str:
    function, method = key if isinstance(key, tuple) else (key, "")
    for room, prefix in ((np, "np"), (np.linalg, "np.linalg")):
        for name in dir(room):
            if getattr(room, name) is function:
                return f"{prefix}.{name}" + (f".{method}" if method else "")
    return ""  # of no template


def _objective(one: Call) -> Any:
    f = one.function()

    def objective(x: Any) -> Any:
        found = f(x)
        part = found[0] if isinstance(found, tuple | list) else found
        flat = np.ravel(part)
        return np.sum(flat * np.arange(1.0, len(flat) + 1.0)) + x[0]

    return objective


def _graph(f: Any) -> Any:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return trace_graph(f, N).output


def _values(f: Any) -> Any:
    points = np.random.default_rng(3).uniform(-3, 3, (40, N))
    return evaluate([_graph(f)], points)[0]


def _mutants(count: int) -> list[tuple[Any, str, Call]]:
    """Rules drawn from the tables with a way to break them, and a call that shows it on plain numbers."""
    draw = random.Random(20_261_117)
    keys = [(table, key) for table in (UFUNCS, FUNCTIONS) for key in table]
    draw.shuffle(keys)
    found: list[tuple[Any, str, Call]] = []
    while len(found) < count:
        table, key = keys.pop()
        how = draw.choice(["shifted", "sign lost", "swapped", "reversed"])
        name = _title(key)
        numbers = [k for k, (title, _) in enumerate(TEMPLATES) if title == name]
        draw.shuffle(numbers)
        for number in numbers[:6]:
            one = call(number)
            if _shows(table, key, how, one):
                found.append(((table, key), how, one))
                break
    return found


def _shows(table: Any, key: Any, how: str, one: Call) -> bool:
    objective, rule = _objective(one), table[key]
    if all(isinstance(v, Exception) for v in plain_values(objective, one.points()[:3])):
        return False
    try:
        right = _values(objective)
        table[key] = _broken(rule, how)
        wrong = _values(objective)
    except Exception:
        return False
    finally:
        table[key] = rule
    both = np.isfinite(right) & np.isfinite(wrong)
    right, wrong = right[both], wrong[both]
    if not np.any(np.abs(right - wrong) > 1e-7 * np.abs(right)):
        return False
    return not mismatch(objective, [-3.0] * N, [3.0] * N)  # of the rule as it is


def test_ten_rules_broken_on_purpose_are_noticed_by_the_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = []
    for (table, key), how, one in _mutants(10):
        with monkeypatch.context() as patch:
            patch.setitem(table, key, _broken(table[key], how))
            said = mismatch(_objective(one), [-3.0] * N, [3.0] * N)
            noticed = "noticed by the watch" if said else "not noticed"
        lines.append(f"{_title(key)}, {how}: {noticed}; {one.source.splitlines()[-1].strip()}")
    print("\n".join(lines))
    assert all("not noticed" not in line for line in lines), "\n".join(lines)


@pytest.mark.parametrize("template", [template for title, template in TEMPLATES if title == "clock"])
def test_clocks_and_addresses_are_noticed(template: str) -> None:
    f = Call(1, "clock", f"def f(x):\n    return np.sum({template})\n").function()
    try:
        said = mismatch(f, [-1.0] * N, [1.0] * N)
    except TraceError as error:
        said = str(error)
    assert "hidden state" in said or "different one at every call" in said


def test_a_function_can_be_sent_elsewhere() -> None:
    function = infimum.trace(lambda x: np.sum(x**2), 3)
    assert pickle.loads(pickle.dumps(function))(np.ones(3)) == 3.0
