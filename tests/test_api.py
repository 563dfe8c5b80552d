"""minimize: what the user writes is read as meant, and refused by name where it means nothing."""

from __future__ import annotations

import io
import os
import signal
import threading
import warnings
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import infimum
from infimum import problems
from infimum.api.minimize import minimize
from infimum.api.progress import Display, line
from infimum.errors import (
    InfimumError,
    InvalidBounds,
    InvalidJacobian,
    InvalidOption,
    UnknownOption,
    UnreachableTolerance,
)
from infimum.exact.number import pi
from infimum.records.result import Result
from infimum.search.outcome import Progress
from infimum.search.status import Status

BOX = [(-2, 3)] * 2


def bowl(x: Any) -> Any:
    return np.sum((x - 1) ** 2)


def test_the_minimum_and_the_minimiser_are_enclosed() -> None:
    result = minimize(bowl, BOX)
    assert result.success and 0 in result.minimum and result.minimum.wid <= 1e-9
    assert any((box[:, 0] <= 1).all() and (box[:, 1] >= 1).all() for box in result.boxes)
    assert result.x is not None and np.allclose(result.x, 1, atol=1e-3) and result.fun == pytest.approx(0, abs=1e-5)
    assert result.nit == len([step for step in result.history if step.iteration]) or result.history


@pytest.mark.parametrize("name", problems.names("paper"))
def test_every_problem_is_solved(name: str) -> None:
    problem = problems.named(name, 3)
    result = minimize(problem)
    assert problem.minimum in result.minimum and result.success
    point = np.asarray(problem.minimiser, float)
    assert any((box[:, 0] <= point).all() and (point <= box[:, 1]).all() for box in result.boxes)


def test_a_problem_takes_other_bounds() -> None:
    result = minimize(problems.rastrigin(2), bounds=(2, 3))
    assert 8 in result.minimum
    with pytest.raises(InvalidBounds, match="has 2 variables"):
        minimize(problems.rastrigin(2), bounds=[(0, 1)] * 3)


def test_maximize_negates() -> None:
    result = minimize(lambda x: 3 - np.sum(x**2), [(-1, 2)] * 2, maximize=True)
    assert 3 in result.maximum and result.fun == pytest.approx(3) and result.success
    assert result.history[-1].lower <= 3 <= result.history[-1].upper
    corner = minimize(bowl, BOX, maximize=True, jac=lambda x: 2 * (x - 1))
    assert 18 in corner.maximum


def test_args_bounds_of_scipy_and_constants_are_read() -> None:
    def f(x: Any, a: float, b: float) -> Any:
        return (x[0] - a) ** 2 + b

    assert 5 in minimize(f, SimpleNamespace(lb=[0.0], ub=[4.0]), args=(2, 5)).minimum
    assert 5 in minimize(lambda x, b: x[0] ** 2 + b, [(-1, 2)], args=5).minimum
    assert minimize(lambda x: -np.sin(x[0]), [(0, pi)]).minimum.lo <= -1


def test_a_start_lowers_the_upper_bound_before_anything_else() -> None:
    result = minimize(bowl, BOX, method="paper", x0=[1, 1], max_iter=1)
    assert result.minimum.hi == 0 and result.status == Status.ITERATIONS and not result.success


def test_limits_leave_a_true_enclosure() -> None:
    problem = problems.griewank(30)
    for limit in ({"max_iter": 3}, {"time_limit": 1e-6}, {"max_regions": 1}):
        result = minimize(problem, method="paper", **limit)
        assert result.status in (Status.ITERATIONS, Status.TIME, Status.REGIONS) and 0 in result.minimum
        assert any((box[:, 0] <= 0).all() and (box[:, 1] >= 0).all() for box in result.boxes)


def test_the_gap_alone_can_be_the_goal() -> None:
    result = minimize(bowl, BOX, xtol=None, ftol=1e-3)
    assert result.success and result.minimum.hi - result.minimum.lo <= 1e-3


# --- callback, progress, Ctrl-C ------------------------------------------------------------------------------------


def test_a_callback_sees_true_results_and_can_stop() -> None:
    seen: list[Result] = []

    def callback(result: Result) -> bool:
        seen.append(result)
        return len(seen) == 3

    result = minimize(problems.levy(30), method="paper", callback=callback)
    assert len(seen) == 3 and result.status == Status.INTERRUPTED and not result.success
    for so_far in seen:
        assert so_far.status == Status.RUNNING and 0 in so_far.minimum and so_far.boxes.shape == (1, 30, 2)
    assert 0 in result.minimum
    high = minimize(lambda x: -bowl(x), BOX, maximize=True, callback=seen.append)
    assert 0 in seen[-1].maximum and high.success


def test_ctrl_c_ends_the_search_with_the_result_so_far() -> None:
    before = signal.getsignal(signal.SIGINT)
    result = minimize(problems.levy(40), callback=lambda _: os.kill(os.getpid(), signal.SIGINT))
    assert result.status == Status.INTERRUPTED and 0 in result.minimum and result.nit < 36
    assert signal.getsignal(signal.SIGINT) is before


def test_a_second_ctrl_c_ends_at_once() -> None:
    def twice(_: Result) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        minimize(problems.levy(20), callback=twice)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_minimize_runs_in_another_thread() -> None:
    found: list[Result] = []
    worker = threading.Thread(target=lambda: found.append(minimize(bowl, BOX)))
    worker.start()
    worker.join()
    assert found[0].success


def test_the_display_is_quiet_unless_asked_or_on_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    minimize(problems.levy(20))
    assert capsys.readouterr() == ("", "")
    minimize(problems.levy(20), progress=True)
    written = capsys.readouterr()
    assert written.out == "" and "levy" in written.err and "1 region " in written.err
    minimize(problems.levy(20), progress=False)
    assert capsys.readouterr() == ("", "")


def test_the_display_waits_a_second_on_a_terminal() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    stream = Terminal()
    with Display(None, "f", stream) as display:
        display.update(Progress(1, 0.0, 1.0, 2, 0.1))
    assert stream.getvalue() == ""


def test_the_line_of_the_display_is_true_and_readable() -> None:
    text = line(Progress(1200, -3.5, -3.25, 17, 3.0), "zabinsky")
    assert text == "zabinsky  iteration 1,200  [-3.5, -3.25]  gap 0.25  17 regions  400/s  3.0 s"
    assert "[entire]  gap inf" in line(Progress(0, -np.inf, np.inf, 1, 0.0), "f")
    assert line(Progress(1, 0.0, 1.0, 1, 3725.0), "f").endswith("1:02:05")


# --- refusals ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"method": "newton"}, "method='newton' is not offered. Write method='auto'"),
        ({"backend": "tpu"}, "backend='tpu' is not offered. Write backend='auto' or 'cpu' or 'cuda'"),
        ({"partition": "silver"}, "partition='silver' is not offered. Write partition= one of 'paper', 'uniform', 'go"),
        ({"sampling": 3}, "sampling=3 is not offered. Write sampling= one of 'paper', 'midpoint'"),
        ({"selection": "many"}, "selection='many' is not offered. Write selection= one of 'paper', 'best'"),
        ({"xtol": -1e-6}, "xtol must be positive, got -1e-06"),
        ({"xtol": 0}, "xtol must be positive, got 0"),
        ({"xtol": "small"}, "xtol must be a number or None, got 'small'"),
        ({"xtol": float("nan")}, "xtol must be a number or None, got NaN"),
        ({"ftol": -1}, "ftol must be positive or zero, got -1"),
        ({"max_iter": 0}, "max_iter must be a positive integer, got 0"),
        ({"max_iter": 2.5}, "max_iter must be a positive integer, got 2.5"),
        ({"max_iter": True}, "max_iter must be a positive integer, got True"),
        ({"max_regions": -4}, "max_regions must be a positive integer, got -4"),
        ({"time_limit": 0}, "time_limit must be positive, got 0"),
        ({"threads": 0}, "threads must be a positive integer, got 0"),
        ({"ftol": None}, "Nothing would ever end this search"),
        ({"ftol": None, "fatol": 1e-3}, "Nothing would ever end this search"),
        ({"method": "paper", "xtol": None}, "Nothing would ever end this search"),
        ({"x0": [0]}, r"x0 has shape \(1,\), and the function 2 variables"),
        ({"x0": [0, 9]}, r"x0\[1\] = 9.0 lies outside the bounds \[-2.0, 3.0\]"),
        ({"x0": [0, float("nan")]}, r"x0\[1\] = nan lies outside"),
        ({"x0": "ab"}, "x0='ab' is no point"),
        ({"jac": True}, "jac=True is no function"),
        ({"threads": 0}, "threads must be a positive integer, got 0. Write threads=None for as many as there are"),
        ({"threads": 1.5}, "threads must be a positive integer, got 1.5"),
        ({"callback": 3}, "callback=3 is no function. Write callback=g"),
        ({"progress": "yes"}, "progress must be True, False or None, got 'yes'"),
        ({"maximize": "no"}, "maximize must be True or False, got 'no'"),
        ({"fatol": -1}, "fatol must be positive or zero, got -1"),
        ({"xrtol": 0}, "xrtol must be positive, got 0"),
        ({"xrtol": {5: 1e-3}}, "xrtol names the variable 5, and there are 2"),
        ({"xrtol": [1e-3]}, r"xrtol has shape \(1,\)"),
    ],
)
def test_options_that_mean_nothing_are_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidOption, match=words):
        minimize(bowl, BOX, **given)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"tol": 1e-3}, "There is no option tol=0.001. Write ftol"),
        ({"maxiter": 5}, "Write max_iter"),
        ({"options": {"maxiter": 5}}, "Write what is in it as options of their own"),
        ({"timeout": 5}, "Write time_limit"),
        ({"constraints": ()}, "not supported yet"),
        ({"hess": bowl}, "derivatives come from the function itself"),
        ({"disp": True}, "Write progress=True"),
        ({"seed": 1}, "nothing here is random"),
        ({"popsize": 15}, "the whole domain is searched"),
        ({"atol": 1e-3}, "Write fatol"),
        ({"workers": 2}, "Write threads"),
        ({"fun": bowl}, "as the first argument"),
        ({"xtoll": 1e-3}, r"Did you mean xtol\?"),
        ({"time_limits": 1}, r"Did you mean time_limit\?"),
        ({"maximum_iter": 1}, r"Did you mean max_iter\?"),
        ({"contractor": "level"}, r"Did you mean contractors\?"),
        ({"zzz": 1}, "There are args, backend, batch"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else value,  # the same in every process
)
def test_unknown_options_are_refused_with_the_one_that_was_meant(given: dict[str, Any], words: str) -> None:
    with pytest.raises(UnknownOption, match=words):
        minimize(bowl, BOX, **given)
    with pytest.raises(TypeError):
        minimize(bowl, BOX, **given)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: minimize(bowl, [0, 0], BOX), r"Write minimize\(f, bounds, x0=…\), all else by name"),
        (lambda: infimum.least_squares(bowl, [0, 0], None, BOX), r"Write least_squares\(residuals, bounds, x0=…\)"),
        (lambda: infimum.fit(lambda x, a: a * x, [1, 2], [1, 2], [1.0]), "Write fit.model, xdata, ydata, bounds=…, p0"),
    ],
)
def test_scipys_order_of_arguments_is_refused_with_ours(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(UnknownOption, match=words):
        call()


@pytest.mark.parametrize("method", ["auto", "paper"])
@pytest.mark.parametrize("kind", [KeyError, ZeroDivisionError, OSError, RuntimeError])
def test_an_error_of_a_callback_or_of_the_function_reaches_the_user(kind: type[Exception], method: str) -> None:
    before = signal.getsignal(signal.SIGINT)

    def failing(*_: Any) -> Any:
        raise kind("mine")

    for f, callback in ((bowl, failing), (failing, None)):
        with pytest.raises(kind, match="mine"):
            minimize(f, BOX, method=method, callback=callback)
    assert signal.getsignal(signal.SIGINT) is before


def test_the_papers_method_keeps_its_goal_unless_another_is_given() -> None:
    plain, paper = minimize(problems.rastrigin(3)), minimize(problems.rastrigin(3), method="paper")
    assert plain.success and paper.success
    assert (paper.boxes[:, :, 1] - paper.boxes[:, :, 0]).max() < 1e-4
    named = minimize(problems.rastrigin(3), method="paper", xtol=1e-4, ftol=None)
    assert named.nit == paper.nit and np.array_equal(named.boxes, paper.boxes)
    by_value = minimize(bowl, BOX, method="paper", xtol=None, ftol=1e-2)
    assert by_value.success and by_value.nit < minimize(bowl, BOX, method="paper").nit
    wide = minimize(bowl, BOX, method="paper", xrtol=0.1)
    assert wide.success and 1e-4 < (wide.boxes[:, :, 1] - wide.boxes[:, :, 0]).max() < 0.5
    absolute = minimize(bowl, BOX, method="paper", fatol=1e-3)
    assert absolute.success and absolute.minimum.wid <= 1e-3


def test_a_function_and_bounds_are_needed() -> None:
    with pytest.raises(InvalidOption, match="must be a function of x or a problem, got 3"):
        minimize(3, BOX)
    with pytest.raises(InvalidBounds, match="Bounds are missing"):
        minimize(bowl)
    with pytest.raises(InvalidBounds, match="lower one is larger"):
        minimize(bowl, [(1, 0)])
    with pytest.raises(InfimumError):
        minimize(lambda x: x, BOX)


def test_a_wrong_gradient_is_refused_and_a_right_one_taken() -> None:
    with pytest.raises(InvalidJacobian, match=r"jac gives .* for the derivative by variable 0"):
        minimize(bowl, BOX, jac=lambda x: 2 * x)
    with pytest.raises(InvalidJacobian, match=r"shape \(\), where \(2,\) is meant"):
        minimize(bowl, BOX, jac=lambda x: 0.0)
    assert minimize(bowl, BOX, jac=lambda x: 2 * (x - 1)).success


def test_a_tolerance_below_the_doubles_is_said_and_does_not_hang() -> None:
    with pytest.warns(UnreachableTolerance, match="xtol=1e-20 is finer than the doubles near 3.0"):
        result = minimize(bowl, BOX, xtol=1e-20, time_limit=20)
    assert 0 in result.minimum
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        minimize(bowl, BOX, xtol=1e-9)


def test_a_function_undefined_on_the_whole_box_has_no_minimum() -> None:
    result = minimize(lambda x: np.log(-1 - x[0] ** 2), [(-1, 1)], time_limit=20)
    assert result.status == Status.UNDEFINED and not result.success and result.nregions == 0
