"""Searches in threads and processes: each has the result that it has alone."""

from __future__ import annotations

import copy
import math
import multiprocessing
import os
import pickle
import re
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import infimum
from infimum.api.interrupt import Interrupt
from infimum.concurrency import cached_property, one_at_a_time

SOURCE = Path(infimum.__file__).parent
CASES: list[tuple[str, int, dict[str, Any]]] = [
    ("levy", 10, {}), ("goldstein_price", 2, {}), ("hartmann6", 6, {}), ("eggholder", 2, {"max_iter": 8}),
    ("rastrigin", 12, {"method": "paper"}), ("qing", 6, {}), ("nist_danwood", 2, {}), ("trid", 6, {"threads": 2}),
]  # fmt: skip
fork_only = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


def bits(result: infimum.Result) -> tuple[Any, ...]:
    x = None if result.x is None else result.x.tobytes()
    return float(result.minimum.lo), float(result.minimum.hi), result.boxes.tobytes(), x, result.nit, result.nfev


def solved(case: int) -> tuple[Any, ...]:
    name, n, how = CASES[case]
    return bits(infimum.minimize(infimum.problems.named(name, n), **how))


@pytest.fixture
def hasty() -> Iterator[None]:
    """Threads that take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


# --- threads -------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("hasty")
def test_searches_in_threads_have_the_bits_of_searches_one_after_the_other() -> None:
    alone = [solved(case) for case in range(len(CASES))]
    order = [case for k in range(3) for case in np.roll(range(len(CASES)), k).tolist()]
    with ThreadPoolExecutor(8) as threads:
        together = list(threads.map(solved, order))
    assert together == [alone[case] for case in order]


class Stateful:
    """An objective that keeps what it was last called with."""

    last: Any = None

    def __call__(self, x: Any) -> Any:
        self.last = x
        for _ in range(10):
            self.last = self.last * 1.0
        return np.sum((self.last - 1) ** 2) + math.exp(self.last[0])


@pytest.mark.usefixtures("hasty")
def test_a_function_with_a_state_is_called_by_one_search_at_a_time() -> None:
    f = Stateful()

    def search(n: int) -> tuple[Any, ...]:
        return bits(infimum.minimize(f, [(-2, 3)] * n))

    sizes = [2, 3, 4] * 8
    alone = {n: search(n) for n in (2, 3, 4)}
    with ThreadPoolExecutor(6) as threads:
        assert list(threads.map(search, sizes)) == [alone[n] for n in sizes]


@pytest.mark.usefixtures("hasty")
def test_the_filters_of_warnings_are_left_as_they_were() -> None:
    before = list(warnings.filters)
    with ThreadPoolExecutor(6) as threads:
        list(threads.map(lambda n: infimum.trace(lambda x: np.sum(x**2), n), [1, 2, 3, 4] * 8))
    assert list(warnings.filters) == before


@pytest.mark.usefixtures("hasty")
def test_one_traced_function_can_be_used_by_many_threads() -> None:
    def enclosures(f: infimum.Function) -> list[str]:
        box = [(0, 1), (-1, 2)]
        found = f.enclose(box), f.gradient(box), f.facts(box), f.value_and_gradient([0.5, 0.5])
        return [repr(part) for part in found]

    def f(x: Any) -> Any:
        return np.sum(np.sin(x) * x**2) + np.where(x[0] > x[1], x[0], np.exp(x[1]))

    expected = enclosures(infimum.trace(f, 2))
    with ThreadPoolExecutor(6) as threads:
        for _ in range(5):
            shared = infimum.trace(f, 2)
            assert list(threads.map(enclosures, [shared] * 6)) == [expected] * 6


def test_a_search_inside_a_callback_changes_nothing() -> None:
    inner = []

    def callback(result: infimum.Result) -> None:
        inner.append(bits(infimum.minimize(infimum.problems.levy(3))))

    before = np.geterr()
    problem = infimum.problems.eggholder()
    outer = infimum.minimize(problem, max_iter=8, callback=callback)
    assert bits(outer) == solved(3) and len(set(inner)) == 1 and np.geterr() == before


# --- locks ---------------------------------------------------------------------------------------------------------


class Slow:
    def __init__(self, wait: Callable[[], object]) -> None:
        self.wait = wait

    @cached_property
    def value(self) -> object:
        return self.wait()


def test_a_property_under_way_holds_up_no_other_object() -> None:
    entered, free = threading.Event(), threading.Event()
    slow = Slow(lambda: entered.set() or free.wait(20))
    thread = threading.Thread(target=lambda: slow.value)
    thread.start()
    entered.wait(20)
    try:
        with ThreadPoolExecutor(1) as other:
            assert other.submit(lambda: Slow(lambda: 7).value).result(timeout=10) == 7
    finally:
        free.set()
        thread.join()
    assert slow.value is True and "value" in vars(slow)


def test_threads_that_compute_a_property_at_once_see_one_value() -> None:
    both = threading.Barrier(2)
    shared = Slow(lambda: (both.wait(20), object())[1])
    with ThreadPoolExecutor(2) as threads:
        first, second = threads.map(lambda _: shared.value, range(2))
    assert first is second is shared.value


def test_no_room_uses_the_property_that_locks() -> None:
    uses = [
        path.name for path in SOURCE.rglob("*.py") if re.search(r"functools import.*cached_property", path.read_text())
    ]
    assert not uses, "write `from infimum.concurrency import cached_property`"


# --- processes -----------------------------------------------------------------------------------------------------


def in_a_fork(work: Callable[[], bool], seconds: int = 30) -> int:
    """Return how a forked process ended that did the work: 0 where it was true, SIGALRM where it never ended."""
    child = os.fork()
    if child == 0:
        signal.alarm(seconds)
        code = 2
        try:
            code = 0 if work() else 1
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1]


@fork_only
def test_a_process_forked_while_another_thread_traces_can_search() -> None:
    entered, free = threading.Event(), threading.Event()

    def hold() -> None:
        with one_at_a_time():
            entered.set()
            free.wait(60)

    expected = solved(0)
    thread = threading.Thread(target=hold)
    thread.start()
    entered.wait(20)
    try:
        assert in_a_fork(lambda: solved(0) == expected) == 0
    finally:
        free.set()
        thread.join()


@fork_only
def test_processes_forked_in_the_midst_of_searches_can_search() -> None:
    expected, stop = [solved(case) for case in range(3)], threading.Event()

    def busy() -> None:
        while not stop.is_set():
            solved(2)

    threads = [threading.Thread(target=busy) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for k in range(6):
            assert in_a_fork(lambda k=k: solved(k % 3) == expected[k % 3]) == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()


@pytest.mark.parametrize("way", sorted({"spawn", "forkserver"} & set(multiprocessing.get_all_start_methods())))
def test_spawned_processes_search_and_send_their_results_back(way: str) -> None:
    problem = infimum.problems.hartmann6(6)
    with multiprocessing.get_context(way).Pool(1) as pool:
        there = pool.apply_async(infimum.minimize, (problem,)).get(60)
    assert bits(there) == solved(2)


@fork_only
def test_ctrl_c_ends_a_process_that_was_forked_during_a_search() -> None:
    def interrupted() -> bool:
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            return True
        return False

    with Interrupt() as interrupt:
        assert in_a_fork(interrupted) == 0
        assert not interrupted() and interrupt.requested


# --- pickles -------------------------------------------------------------------------------------------------------


def square(x: Any) -> Any:
    return np.sum(x**2) + x[0]


@pytest.mark.parametrize("how", [{}, {"maximize": True}, {"method": "paper", "max_iter": 2}])
def test_a_result_can_be_pickled(how: dict[str, Any]) -> None:
    result = infimum.minimize(square, [(-1, 2)] * 2, **how)
    again = pickle.loads(pickle.dumps(result))
    assert repr(again) == repr(result) == repr(copy.deepcopy(result)) and again.keys() == result.keys()
    product = infimum.minimize(infimum.problems.qing(20))
    assert repr(pickle.loads(pickle.dumps(product)).blocks) == repr(product.blocks)


def test_a_function_that_was_used_can_be_pickled() -> None:
    f, box = infimum.trace(lambda x: np.sum(np.cos(x)), 2), [(0, 1), (2, 3)]
    before = f.enclose(box), f.gradient(box)
    again = pickle.loads(pickle.dumps(f))
    assert repr((again.enclose(box), again.gradient(box))) == repr(before) and again([0, 0]) == 2.0


def test_problems_can_be_pickled_and_those_of_users_keep_their_function() -> None:
    for name in infimum.problems.names():
        n = 4 if name in infimum.problems.names("paper") else infimum.problems.size(name) or 4
        problem = infimum.problems.named(name, n)
        again = pickle.loads(pickle.dumps(problem))
        assert (again.name, again.n) == (name, n) and again.f.__name__ == problem.f.__name__
    own = infimum.problems.Problem("levy", square, ((-1, 1),) * 2, -0.25, np.array([-0.5, 0.0]), 2)
    assert pickle.loads(pickle.dumps(own)).f is square
