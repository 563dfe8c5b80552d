"""What is to be minimised: a function with its bounds, traced and compared with the gradient that the user wrote."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from infimum.api import options
from infimum.api.parameters import refuse_columns
from infimum.concurrency import one_at_a_time
from infimum.domain import Domain, read_bounds
from infimum.errors import InvalidBounds, InvalidJacobian, InvalidOption
from infimum.function.function import Function, trace
from infimum.interval.outward import FloatArray
from infimum.interval.reading import describe
from infimum.records.maximum import negated

Objective = Callable[..., Any]


class Task(NamedTuple):
    """A function f(x, *args) to be minimised over a domain, and its gradient where one is given."""

    f: Objective
    jac: Objective | None
    args: tuple[Any, ...]
    domain: Domain


def read_task(f_or_problem: Any, bounds: Any, args: Any, jac: Objective | None, maximize: bool) -> Task:
    """Return what is to be minimised; refuse what is no function, or has no bounds."""
    f, size = f_or_problem, None
    if all(hasattr(f_or_problem, name) for name in ("f", "bounds", "n")):
        f, size = f_or_problem.f, f_or_problem.n
        bounds = f_or_problem.bounds if bounds is None else bounds
        jac = f_or_problem.jac if jac is None else jac
    if isinstance(f, Function):
        raise InvalidOption(
            f"{f!r} is traced already. Give minimize the function itself, which it traces on the bounds."
        )
    if not callable(f):
        raise InvalidOption(f"The first argument must be a function of x or a problem, got {describe(f)}.")
    options.called("jac", jac, "g where g(x) returns the gradient")
    if bounds is None:
        raise InvalidBounds("Bounds are missing. Write one pair for each variable, such as bounds=[(-1, 1)] * n.")
    if maximize:
        f, jac = negated(f), None if jac is None else negated(jac)
    if isinstance(bounds, tuple):
        refuse_columns(bounds)
    given = args if isinstance(args, tuple) else tuple(args) if isinstance(args, list) else (args,)
    return Task(f, jac, given, read_bounds(bounds, size))


def traced(task: Task) -> Function:
    """Return the function as a graph; refuse a gradient that is not its own at a few points."""
    points = _probes(task)
    box = task.domain.lo, task.domain.hi
    function = trace(task.f, task.domain.n, task.args, task.jac, box, compare=False)
    for point, given in points:
        _compare(function, point, given)
    return function


def _probes(task: Task) -> list[tuple[FloatArray, FloatArray]]:
    """Return a few points of the domain with the user's gradient there, where one is given."""
    if task.jac is None:
        return []
    domain, found = task.domain, []
    lo, hi = np.clip(domain.inner_lo, -1e3, 1e3), np.clip(domain.inner_hi, -1e3, 1e3)
    for point in np.random.default_rng(20_240_607).uniform(lo, np.maximum(lo, hi), (3, domain.n)):
        with one_at_a_time():
            given = np.asarray(task.jac(point.copy(), *task.args), np.float64)
        if given.shape != (domain.n,):
            raise InvalidJacobian(f"jac returns shape {given.shape}, where ({domain.n},) is meant.")
        found.append((point, given))
    return found


def _compare(function: Function, point: FloatArray, given: FloatArray) -> None:
    """Refuse a gradient that differs from the derived one at a point."""
    derived = np.asarray(function.value_and_gradient(point)[1])
    slack = 1e-6 * (np.abs(given) + np.abs(derived).max())
    wrong = np.isfinite(given) & np.isfinite(derived) & ~(np.abs(given - derived) <= slack)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise InvalidJacobian(
            f"jac gives {float(given[i])!r} for the derivative by variable {i} where the function's own is "
            f"{float(derived[i])!r}. Correct it, or leave jac out: the gradient is derived anyway."
        )
