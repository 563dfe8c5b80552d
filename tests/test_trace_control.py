"""Tracing and control flow: what decides by a number, by chance, by the time or by an error is refused."""

from __future__ import annotations

import collections
import contextlib
import functools
import math
import os
import random
import secrets
import time
import types
import uuid
import warnings
from fractions import Fraction
from random import gauss
from typing import Any

import numpy as np
import pytest
from numpy.random import default_rng, randint, standard_normal

import infimum
from infimum.errors import TraceError
from infimum.graph.evaluate import evaluate
from infimum.tracing.trace import trace_graph

RNG = np.random.default_rng(1)
NORMAL = RNG.normal
LEGACY = np.random.RandomState(3)
DICE = random.Random(4)


def refused(f: Any, n: int = 3) -> str:
    with pytest.raises(TraceError) as caught:
        trace_graph(f, n)
    assert "where its traced formula gives" not in str(caught.value)
    return str(caught.value)


def value(f: Any, point: list[float]) -> float:
    (found,) = evaluate([trace_graph(f, len(point)).output], [point])
    return float(found[0, 0])


RANDOM = [
    lambda x: x[0] * randint(3),  # noqa: NPY002
    lambda x: x[0] * standard_normal(),  # noqa: NPY002
    lambda x: x[0] * default_rng(3).normal(),
    lambda x: x[0] * RNG.normal(),
    lambda x: x[0] * NORMAL(),
    lambda x: x[0] * LEGACY.rand(),
    lambda x: x[0] * LEGACY.uniform(0, 1, 2).sum(),
    lambda x: x[0] * DICE.random(),
    lambda x: x[0] * gauss(0, 1),
    lambda x: x[0] * random.choice([1, 2]),
    lambda x: x[0] * random.Random(3).random(),
    lambda x: x[0] * np.random.RandomState(3).rand(),
    lambda x: x[0] * np.random.Generator(np.random.PCG64(3)).random(),
    lambda x: x[0] * secrets.randbelow(3),
    lambda x: x[0] * os.urandom(1)[0],
    lambda x: x[0] * uuid.uuid4().int,
    lambda x: (RNG.shuffle(np.arange(3)), x[0])[1],
]


@pytest.mark.parametrize("f", RANDOM, ids=range(len(RANDOM)))
def test_random_numbers_are_refused_in_any_spelling(f: Any) -> None:
    assert "random" in refused(f) or "different one at every call" in refused(f)


def test_random_numbers_as_default_arguments_and_attributes_are_refused() -> None:
    def f(x: Any, rng: Any = RNG, draw: Any = NORMAL) -> Any:
        return x[0] + rng.normal() + draw()

    class Noisy:
        def __init__(self) -> None:
            self.rng = np.random.default_rng(2)

        def __call__(self, x: Any) -> Any:
            return x[0] + self.rng.normal()

    assert "random" in refused(f) and "random" in refused(Noisy())
    assert "random" in refused(functools.partial(lambda x, rng: x[0] * rng.random(), rng=RNG))


def test_the_time_may_be_measured_but_not_used() -> None:
    def timed(x: Any) -> Any:
        start = time.process_time()
        total = np.sum(x**2)
        spent.append(time.process_time() - start)
        return total

    spent: list[Any] = []
    assert value(timed, [1.0, 2.0]) == 5
    for f in (
        lambda x: x[0] * time.time(),
        lambda x: x[0] + (time.time() - time.time()),
        lambda x: x[0] if time.perf_counter() > 3 else x[1],
        lambda x: x[int(time.monotonic()) % 2],
        lambda x: np.sin(time.time()) + x[0],
        lambda x: x[0] * time.time_ns(),
    ):
        assert "time" in refused(f) or "different one" in refused(f)


def try_log(x: Any) -> Any:
    try:
        return math.log(x[0])
    except ValueError:
        return 7.0 + 0 * x[1]


def try_division(x: Any) -> Any:
    try:
        return 1 / float(x[0])
    except ZeroDivisionError:
        return x[1]


def try_power(x: Any) -> Any:
    try:
        y = float(x[0]) ** -2
    except Exception:
        y = x[1]
    return y


def try_integer(x: Any) -> Any:
    try:
        return int(np.sqrt(x[0])) + x[1]
    except (ValueError, OverflowError):
        return x[2]


def suppressing(x: Any) -> Any:
    y = x[1]
    with contextlib.suppress(ValueError):
        y = math.sqrt(x[0])
    return y


def finally_returns(x: Any) -> Any:
    y = x[1]
    try:
        y = math.acos(x[0])
    finally:
        return y  # noqa: B012


def _inner(x: Any) -> Any:
    return math.log(x[0])


def guarded_from_outside(x: Any) -> Any:
    try:
        return _inner(x)
    except ValueError:
        return x[1]


def generator_in_a_guard(x: Any) -> Any:
    logs = (math.log(t) for t in x)
    try:
        return sum(logs)
    except ValueError:
        return x[1]


def raising_state(x: Any) -> Any:
    with np.errstate(all="raise"):
        try:
            return np.log(x[0])
        except FloatingPointError:
            return x[1]


def warnings_as_errors(x: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return np.log(x[0])


GUARDED = [try_log, try_division, try_power, try_integer, suppressing, finally_returns, guarded_from_outside]
GUARDED += [generator_in_a_guard, raising_state, warnings_as_errors]


@pytest.mark.parametrize("f", GUARDED, ids=lambda f: f.__name__)
def test_what_raises_for_some_numbers_is_refused_where_the_error_may_be_caught(f: Any) -> None:
    assert "error" in refused(f)


def test_a_function_without_source_is_asked_by_its_table_of_handlers() -> None:
    space: dict[str, Any] = {"math": math}
    exec("def f(x):\n    try:\n        return math.log(x[0])\n    except ValueError:\n        return x[1]\n", space)
    exec(
        "def g(x):\n    try:\n        y = x[1]\n    except ValueError:\n        y = x[0]\n    return math.log(y)\n",
        space,
    )
    assert "may catch" in refused(space["f"])
    assert value(space["g"], [0.0, math.e]) == pytest.approx(1.0)


def test_a_guard_does_not_matter_where_nothing_is_raised_in_the_domain(monkeypatch: pytest.MonkeyPatch) -> None:
    # A comparison at points outside the domain would see the other branch.
    monkeypatch.setattr("infimum.tracing.trace._compare", lambda *args: None, raising=False)
    box = (np.array([0.5, 0.5, 0.5]), np.array([0.9, 2.0, 2.0]))
    for f in (try_log, try_division, suppressing, finally_returns, guarded_from_outside, generator_in_a_guard):
        (found,) = evaluate([trace_graph(f, 3, box=box).output], [[0.75, 1.5, 1.0]])
        assert found[0, 0] == pytest.approx(f(np.array([0.75, 1.5, 1.0])))
    for low in (-0.1, 0.0):
        with pytest.raises(TraceError, match="may catch"):
            trace_graph(try_log, 3, box=(np.array([low, 0.5, 0.5]), box[1]))
    with pytest.raises(TraceError, match="may catch"):
        trace_graph(try_integer, 3, box=(np.array([-1.0, 0.0, 0.0]), box[1]))


def test_a_guard_that_cannot_catch_it_does_not_disturb() -> None:
    def f(x: Any) -> Any:
        try:
            y = math.log(x[0])
        except KeyError:
            y = 0.0
        except ValueError as error:
            raise RuntimeError("outside") from error
        finally:
            pass
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return y + math.log(x[1]) + np.log(x[0])

    assert value(f, [math.e, 1.0]) == pytest.approx(2.0)

    @np.errstate(all="ignore")
    def decorated(x: Any) -> Any:
        return np.log(x[0]) + math.sin(x[0])

    assert value(decorated, [1.0]) == pytest.approx(math.sin(1.0))


LOOKUPS = [
    lambda x: {0: 1.0, 1: 2.0}.get(round(x[0]), 3.0) * x[1],
    lambda x: x[1] if x[0] in {1.0, 2.0} else x[2],
    lambda x: x[1] * len({x[0], x[1]}),
    lambda x: dict.fromkeys([x[0]], 1.0)[x[0]] + x[1],
    lambda x: x[0] if x[0] in (1.0, 2.0) else x[1],
    lambda x: (1.0, 2.0).index(x[0]) + x[1],
    lambda x: collections.Counter([x[0], x[1]])[x[0]] * x[2],
]


@pytest.mark.parametrize("f", LOOKUPS, ids=range(len(LOOKUPS)))
def test_a_lookup_by_number_is_refused(f: Any) -> None:
    assert "whole range" in refused(f)


def test_a_refusal_that_user_code_swallows_is_a_refusal() -> None:
    def branch(x: Any) -> Any:
        try:
            return x[0] if x[0] > 0 else x[1]
        except Exception:
            return x[2]

    def unknown(x: Any) -> Any:
        with contextlib.suppress(Exception):
            return np.median(x)
        return x[0]

    def argument(x: Any) -> Any:
        try:
            return np.mean(x, where=x > 0)
        except BaseException:
            return x[0]

    def attribute(x: Any) -> Any:
        return x.strides if hasattr(x, "strides") and getattr(x, "strides", None) == 3 else x[0]

    for f in (branch, unknown, argument, attribute):
        refused(f)


MEMO: dict[Any, Any] = {"calls": 0}
HISTORY: list[Any] = [1, [2]]


def remembering(x: Any, cache: dict[str, Any] = {}) -> Any:  # noqa: B006
    MEMO["last"] = x
    MEMO["calls"] += 1
    HISTORY.append(x[0])
    HISTORY[1].append({"deep": [x]})
    cache["x"] = x
    remembering.seen = x  # type: ignore[attr-defined]
    SPACE.last = [x]
    QUEUE.append(x)
    return np.sum(x**2)


SPACE = types.SimpleNamespace(count=1)
QUEUE: collections.deque[Any] = collections.deque([0])


def test_no_traced_value_stays_in_the_users_objects() -> None:
    trace_graph(remembering, 2)
    for kept in (MEMO, HISTORY, remembering.__defaults__, vars(remembering), vars(SPACE), QUEUE):
        assert "traced" not in repr(kept)
    assert HISTORY[:1] == [1] and SPACE.count == 1 and QUEUE[0] == 0


class Remembering:
    shared: dict[str, Any] = {}  # noqa: RUF012

    def __init__(self) -> None:
        self.calls = 0
        self.log: list[Any] = []

    def __call__(self, x: Any) -> Any:
        self.calls += 1
        self.log.append({"x": x})
        self.shared["x"] = x
        self.best = x
        return np.sum(x)


def test_no_traced_value_stays_in_an_object_and_counters_do() -> None:
    f = Remembering()
    trace_graph(f, 2)
    assert "traced" not in repr(vars(f)) and "traced" not in repr(Remembering.shared)


def test_what_sorting_asks_is_answered_by_a_substitute_that_makes_sense() -> None:
    for f, words in (
        (lambda x: sorted(x)[0], ["sorted", "np.minimum"]),
        (lambda x: min(x, key=lambda t: t**2), ["key", "np.min"]),
        (lambda x: sum(filter(lambda t: t > 0, x)), ["filter", "np.where"]),
        (lambda x: range(int(x[0]))[0] + x[1], ["np.where"]),
    ):
        message = refused(f)
        assert all(word in message for word in words) and "np.where(sorted" not in message, message


# --- on a slice that no random point meets ---------------------------------------------------------------------------


def thin(x: Any) -> Any:
    return np.abs(3 * x[0] + x[1] - 1.7041) - 1e-4


def of_a_fraction(x: Any) -> Any:
    try:
        return -5.0 if Fraction(thin(x)) < 0 else x[0]
    except TypeError:
        return x[0]


def of_its_ratio(x: Any) -> Any:
    try:
        return -5.0 if thin(x).as_integer_ratio()[0] < 0 else x[0]
    except AttributeError:
        return x[0]


def raised_as_another(x: Any) -> Any:
    try:
        try:
            v = math.sqrt(thin(x))
        except ValueError:
            raise KeyError from None
    except KeyError:
        v = -5.0
    return v + x[0]


def through_a_view(x: Any) -> Any:
    a = np.zeros((2, 2))
    np.einsum("ii->i", a)[...] = np.where(thin(x) < 0, -5.0, 0.0)
    return x[0] + a.sum()


def digits(x: Any) -> Any:
    return x[0] - 5 * sum(c == "-" for c in f"{thin(x):.6f}")


def rounded_start(x: Any) -> Any:
    return np.max(np.array([1, 2]), where=np.stack([thin(x) > 0] * 2), initial=0.5) + x[0]


def overflowing(x: Any) -> Any:
    return np.where(np.isfinite(1e308 * np.maximum(1.85 - 500 * np.abs(3 * x[0] + x[1] - 1.7041), 0)), x[0], -5.0)


def searching(x: Any) -> Any:
    return x[0] ** 2 + infimum.minimize(lambda y: (y[0] - x[0]) ** 2, [(-1, 1)]).fun


@pytest.mark.parametrize(
    "f",
    [of_a_fraction, of_its_ratio, raised_as_another, through_a_view, digits, rounded_start, overflowing, searching],
)
def test_what_only_a_thin_slice_would_show_is_refused(f: Any) -> None:
    with pytest.raises(TraceError):
        infimum.minimize(f, [(0, 1)] * 2)


def test_pythons_truth_values_are_added_as_numbers() -> None:
    def f(x: Any) -> Any:
        return x[0] + np.where(any([thin(x) < 0, x[0] > 2]) + any([thin(x) < 0]) == 2, -5.0, 0.0)

    result = infimum.minimize(f, [(0, 1)] * 2)
    assert result.minimum.lo <= f(np.array([0.4, 0.5041])) == -4.6


def test_a_maximum_is_traced_as_a_minimum_is() -> None:
    def f(x: Any) -> Any:
        y = np.empty(2)
        y[0], y[1] = float(x[0]), max(x[1], x[0])
        return np.sum(np.array([y[0], 2 * y[1]]) ** 2) * math.cos(0.0)

    assert infimum.minimize(f, [(-1, 1)] * 2, maximize=True).maximum.hi == 5.0
    with pytest.raises(TraceError, match="random"):
        infimum.minimize(lambda x: x[0] * gauss(0, 1), [(0, 1)], maximize=True)


def integers_for_some_x(x: Any) -> Any:
    a = np.array([max(x[0], 0), 1])
    a[1] = 0.7
    return a.sum() + x[1]


def written_after_a_view(x: Any) -> Any:
    m = np.outer(x, x) + np.eye(2)
    v = np.diag(m)
    m[0, 0] = 5.0
    return v.sum()


@pytest.mark.parametrize("f", [integers_for_some_x, written_after_a_view])
def test_arrays_whose_type_or_elements_would_change_behind_our_back_are_refused(f: Any) -> None:
    with pytest.raises(TraceError):
        infimum.trace(f, 2)


@pytest.mark.parametrize("name", ["cos", "floor", "log10"])
def test_a_function_of_one_number_takes_no_second_one(name: str) -> None:
    with pytest.raises(TypeError, match="takes 1 argument"):
        trace_graph(lambda x: getattr(math, name)(x[0], x[1]), 2)
