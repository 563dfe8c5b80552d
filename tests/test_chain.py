"""Chains of the core leave what their slow reference leaves, however they are run; each rule broken is noticed."""

from __future__ import annotations

import gc
import itertools
import math
import os
import pickle
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import infimum
import test_pool
from chain_cases import (
    JACOBIANS,
    KEEPING,
    Case,
    case_of,
    differences,
    given_of,
    identical,
    jacobian_case,
    random_case,
    same,
)
from chain_reference import cuts
from infimum import core, deadline
from infimum.boxes import Boxes, FloatArray
from infimum.contractors import Known, Level, MeanValue, Monotone, Stationary
from infimum.contractors import links as links_module
from infimum.contractors.edges import oblique
from infimum.core.chain import Chain, Given, Late, Link, NoGradient, Slopes
from infimum.core.codes import ChainKeeping, ChainLink
from infimum.domain import read_bounds
from infimum.errors import InvalidInterval, InvalidJacobian, ShapeMismatch
from infimum.fractions import at_fraction
from infimum.function.function import Function, trace
from infimum.function.rotation import Rotation

Patch = pytest.MonkeyPatch
ALL = (Level(), Monotone(), Stationary(), MeanValue())
THREADS = (1, 2, 3, 7)


def valley(x: Any) -> Any:
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (x[:-1] - 1) ** 2)


def rippled(x: Any) -> Any:
    """Smooth, with many minima, and not smooth far out."""
    return np.sum(x**2 + np.sin(5 * x)) + np.maximum(x[0] - 2, 0) + x[0] * x[1]


def many(f: Callable[[Any], Any], n: int, count: int, seed: int = 0, keeping: int = 1) -> Case:
    """So many boxes of all widths, under a level that tells them apart."""
    draw = np.random.default_rng(seed)
    middle = draw.uniform(-3, 3, (count, n))
    reach = 10.0 ** draw.uniform(-3, 0.7, (count, n))
    function = trace(f, n)
    boxes = Boxes(np.maximum(middle - reach, -3), np.minimum(middle + reach, 3))
    value = function.range_ends(*boxes.ends)[0]
    limit = value + draw.choice([-0.1, 0.0, 0.1, 5.0, np.inf], count)
    domain = read_bounds([(-3, 3)] * n, n)
    return Case("many", function, domain, ALL, boxes, limit, KEEPING[keeping], float(np.median([*value, 0.0])) + 3)


# --- what a chain leaves ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", range(0, 10_000, 50))
def test_a_chain_leaves_what_its_reference_leaves(first: int) -> None:
    for seed in range(first, first + 50):
        case = random_case(seed)
        assert not differences(case.run(case.chain()), case.expected()), f"{seed}: {case.name}"


@pytest.mark.parametrize("name", JACOBIANS)
def test_a_chain_meets_slopes_with_the_users_as_its_reference_does(name: str) -> None:
    for seed in range(12):
        case = jacobian_case(name, seed)
        assert not differences(case.run(case.chain()), case.expected()), f"{seed}: {case.name}"


@pytest.mark.parametrize("keeping", range(3))
def test_many_boxes_are_left_as_by_the_reference(keeping: int) -> None:
    for f, n in ((valley, 2), (rippled, 3)):
        case = many(f, n, 700, keeping=keeping)
        found = case.run(case.chain(), threads=3)
        assert not differences(found, case.expected())
        assert keeping != 1 or 10 < len(found.rows) < 650


CASES: list[Callable[[], Case]] = [
    *(lambda seed=seed: random_case(seed).repeated(601) for seed in range(8)),
    *(lambda name=name: jacobian_case(name, 4).repeated(601) for name in JACOBIANS),
    *(lambda keeping=keeping: many(rippled, 3, 1500, 1, keeping) for keeping in range(3)),
    lambda: many(valley, 40, 300),
]


@pytest.mark.parametrize("number", range(len(CASES)))
def test_a_chain_has_the_same_bits_for_every_variant_and_number_of_threads(number: int) -> None:
    case = CASES[number]()
    first = case.run(case.chain("scalar"))
    for variant in core.variants():
        chain = case.chain(variant)
        for threads in THREADS:
            assert identical(case.run(chain, threads=threads), first), (variant, threads)


@pytest.mark.parametrize("number", range(len(CASES)))
def test_a_chain_has_the_same_bits_however_boxes_are_grouped(number: int) -> None:
    case = CASES[number]()
    chain, draw = case.chain(), np.random.default_rng(number)
    whole = case.run(chain)
    at = np.sort(draw.choice(np.arange(1, len(case.boxes)), 12, replace=False))
    first, row = 0, 0
    for part in np.split(np.arange(len(case.boxes)), at):
        found = case.run(chain, slice(part[0], part[-1] + 1), threads=2)
        own = slice(row, row + len(found.rows))
        assert (found.rows + first).tolist() == whole.rows[own].tolist()
        for one, other in zip(found[:3], whole[:3], strict=True):
            assert one.tobytes() == other[own].tobytes()
        first, row = first + len(part), row + len(found.rows)
    assert row == len(whole.rows)


def test_what_becomes_of_a_box_is_as_asked() -> None:
    # | box of x + y on [0, 4]^2 | limit | KEEP_ALL        | KEEP_SOME | KEEP_ROWS |
    # | [0, 4]^2                 | 4     | as it was       | left      | left      |
    # | [3, 4]^2                 | 4     | emptied         | left out  | emptied   |
    # | [1, 2]^2, lower 5        | 4     | as it was       | left out  | emptied   |
    # | [1, 2]^2, lower 4        | 4     | as it was       | left      | left      |
    function, domain = trace(lambda x: x[0] + x[1], 2), read_bounds([(0, 4)] * 2, 2)
    lo, hi = (
        np.array([[0.0] * 2, [3.0] * 2, [1.0] * 2, [1.0] * 2]),
        np.array([[4.0] * 2, [4.0] * 2, [2.0] * 2, [2.0] * 2]),
    )
    boxes = Boxes(lo, hi, np.array([-np.inf, -np.inf, 5.0, 4.0]))
    for keeping, rows, empty in (
        (ChainKeeping.KEEP_ALL, [0, 1, 2, 3], [1]),
        (ChainKeeping.KEEP_SOME, [0, 3], []),
        (ChainKeeping.KEEP_ROWS, [0, 1, 2, 3], [1, 2]),
    ):
        case = Case("", function, domain, (Level(),), boxes, np.full(4, 4.0), keeping, 4.0)
        found = case.run(case.chain())
        assert found.rows.tolist() == rows
        kept = Boxes(*found[:3])
        assert np.flatnonzero(kept.is_empty()).tolist() == empty
        assert (kept.lower[empty] == np.inf).all()


def test_boxes_at_the_limit_and_at_the_upper_bound_are_kept() -> None:
    function, domain = trace(lambda x: x[0] ** 2 + 1, 1), read_bounds([(-2, 2)], 1)
    boxes = Boxes(np.array([[-1.0], [-0.5]]), np.array([[1.0], [0.5]]), np.array([1.0, 1.0]))
    for contractors in ((Level(),), (MeanValue(),), ALL):
        case = Case("", function, domain, contractors, boxes, np.ones(2), ChainKeeping.KEEP_SOME, 1.0)
        found = case.run(case.chain())
        assert found.rows.tolist() == [0, 1]
        assert (found.lo <= 0).all() and (found.hi >= 0).all()


def test_the_edge_of_the_mean_value_form_is_kept() -> None:
    # f = x on [0, 1]: the form at c = 0 is 0 there, which is the limit.
    function, domain = trace(lambda x: x[0] + 0 * x[1], 2), read_bounds([(0, 1)] * 2, 2)
    boxes = Boxes(np.zeros((1, 2)), np.ones((1, 2)))
    case = Case("", function, domain, (MeanValue(),), boxes, np.zeros(1), ChainKeeping.KEEP_ALL, np.inf)
    found = case.run(case.chain())
    assert found.lo.tolist() == [[0.0, 0.0]] and found.hi[0, 0] == 0.0 and found.lower.tolist() == [0.0]


def test_a_box_at_an_oblique_edge_keeps_a_minimiser_with_a_slope() -> None:
    function = trace(lambda x: x[0] + x[1], 2)
    user = read_bounds([(-1, 1)] * 2, 2)
    frame = Rotation(function, np.zeros(2), np.array([[0.8, -0.6], [0.6, 0.8]]), function)
    domain = oblique(np.full(2, -2.0), np.full(2, 2.0), frame, (user.inner_lo, user.inner_hi))
    for contractors in ((Monotone(),), (Stationary(),)):
        inside, at_edge = (
            Boxes(np.full((1, 2), -0.1), np.full((1, 2), 0.1)),
            Boxes(np.full((1, 2), -1.5), np.full((1, 2), 0.0)),
        )
        for boxes, is_kept in ((inside, False), (at_edge, True)):
            case = Case("", function, domain, contractors, boxes, np.full(1, np.inf), ChainKeeping.KEEP_ALL, np.inf)
            assert bool(case.run(case.chain()).lower[0] < np.inf) is is_kept


def test_an_infimum_at_infinity_is_kept() -> None:
    function, domain = trace(lambda x: x[1] ** 2 - x[0], 2), read_bounds([(0, math.inf), (-1, 1)], 2)
    boxes = Boxes(np.array([[5.0, -1.0]]), np.array([[np.inf, 1.0]]))
    case = Case("", function, domain, (Monotone(),), boxes, np.full(1, np.inf), ChainKeeping.KEEP_SOME, np.inf)
    found = case.run(case.chain())
    assert found.lo.tolist() == [[5.0, -1.0]] and found.hi.tolist() == [[np.inf, 1.0]]


def test_a_box_on_which_a_slope_exists_nowhere_stays_as_it_is() -> None:
    # At 1 the logarithm has no slope. Facts keep such boxes away; here they are left out.
    function, domain = trace(lambda x: np.log(x[0] - 1) + x[1], 2), read_bounds([(0, 3), (0, 3)], 2)
    boxes = np.array([[1.0, 0.0], [2.0, 1.0]]), np.array([[1.0, 3.0], [3.0, 2.0]])
    low, high = function.slope_contraction_ends(*boxes, (np.zeros((2, 2)),) * 2)[2:]
    assert (low > high).any(1).tolist() == [True, False]
    given = given_of(function, domain)
    for contractor in (Stationary(), Monotone()):
        chain = Chain(2, [contractor.link], given._replace(programs={**given.programs, "facts": lambda: None}))
        found = chain.run((*boxes, np.full(2, -np.inf)), np.full(2, np.inf))
        assert (found.lo <= found.hi).all(1).tolist() == [True, False]


def test_bounds_that_are_known_do_not_fall() -> None:
    case = many(rippled, 3, 300, keeping=0)
    lower = case.function.range_ends(*case.boxes.ends)[0] + 0.0
    given = Boxes(*case.boxes.ends, lower + 0.5)  # better than what is seen of f
    better = Case(
        "", case.function, case.domain, (Level(),), given, np.full(300, np.inf), ChainKeeping.KEEP_ALL, np.inf
    )
    assert (better.run(better.chain()).lower >= lower + 0.5).all()


# --- programs, time, refusals ----------------------------------------------------------------------------------------


def counted(case: Case) -> tuple[Chain, list[str]]:
    """A chain that writes down which programs it asks for."""
    made: list[str] = []
    given = given_of(case.function, case.domain)

    def asked(name: str, source: Any) -> Any:
        made.append(name)
        return source()

    programs = {name: lambda name=name, source=source: asked(name, source) for name, source in given.programs.items()}
    links = [contractor.link for contractor in case.contractors]  # type: ignore[attr-defined]
    return Chain(case.function.n, links, given._replace(programs=programs)), made


def test_programs_are_made_when_they_are_first_needed_and_once() -> None:
    smooth = many(rippled, 3, 40, keeping=0)
    for contractors, wanted in (
        ((Level(),), {"level"}),
        ((Monotone(),), {"facts", "gradient"}),
        ((Stationary(),), {"facts", "slope"}),
        (ALL, {"level", "facts", "gradient", "slope", "value", "form"}),
    ):
        case = Case(
            "", smooth.function, smooth.domain, contractors, smooth.boxes, np.full(40, np.inf), KEEPING[0], np.inf
        )
        chain, made = counted(case)
        for _ in range(2):
            assert identical(case.run(chain), case.run(case.chain()))
        assert sorted(made) == sorted(wanted)
    empty = Boxes(np.full((3, 3), np.inf), np.full((3, 3), -np.inf))
    case = Case("", smooth.function, smooth.domain, ALL, empty, np.zeros(3), KEEPING[0], np.inf)
    chain, made = counted(case)
    assert case.run(chain).lower.tolist() == [np.inf] * 3 and made == []


def test_no_boxes_and_one_box_and_one_variable() -> None:
    for n, count in itertools.product((1, 2), (0, 1)):
        case = many(lambda x: np.sum(x**2), n, count, keeping=0)
        found = case.run(case.chain(), threads=7)
        assert found.lo.shape == (count, n) and not differences(found, case.expected())


def test_a_hundred_thousand_variables_go_through_a_chain() -> None:
    n = 100_000
    case = many(lambda x: np.sum(x**2 + np.sin(x)), n, 2, keeping=0)
    found = case.run(case.chain(), threads=2)
    assert identical(case.run(case.chain(), threads=1), found)
    assert not differences(found, case.expected())


def test_a_chain_that_is_late_says_so_and_can_go_on() -> None:
    case = many(rippled, 3, 300)
    chain = case.chain()
    with pytest.raises(Late):
        chain.run(tuple(case.boxes), case.limit, seconds=0.0)
    assert identical(case.run(chain), case.run(case.chain()))
    with deadline.until(time.perf_counter() - 1), pytest.raises(deadline.Late):
        Level().contract(case.boxes, Known(case.function, case.domain, 1.0))


def test_the_time_that_programs_take_to_be_made_is_not_added() -> None:
    case = many(rippled, 3, 30)
    given = given_of(case.function, case.domain)

    def slow(source: Any) -> Any:
        time.sleep(0.15)
        return source()

    programs = {name: lambda source=source: slow(source) for name, source in given.programs.items()}
    chain = Chain(3, [one.link for one in ALL], given._replace(programs=programs))
    with pytest.raises(Late):
        chain.run(tuple(case.boxes), case.limit, seconds=0.25)


def test_a_search_that_is_late_in_a_chain_keeps_the_minimiser() -> None:
    def f(x: Any) -> Any:
        return np.sum((x - 0.3) ** 2 * (2 + np.sin(30 * x))) + 1e-3 * np.abs(x[0] - 0.3)

    names = ["level", "monotone", "stationary", "mean_value"]
    for seconds in (0.001, 0.01, 0.05, 0.1, 0.2, 0.3):
        result = infimum.minimize(f, [(-4, 5)] * 5, time_limit=seconds, contractors=names, ftol=0.0, fatol=1e-300)
        inside = (result.boxes[:, :, 0] <= 0.3) & (result.boxes[:, :, 1] >= 0.3)
        assert result.minimum.lo <= 0 and result.minimum.hi >= 0
        assert inside.all(1).any()


def test_a_wrong_gradient_is_refused_with_the_sentence_of_the_function() -> None:
    function = trace(lambda x: np.sum((x - 1) ** 2), 2, jac=lambda x: np.where(np.abs(x - 1) < 0.1, 7.0, 2 * (x - 1)))
    domain = read_bounds([(-2, 3)] * 2, 2)
    boxes = Boxes(np.array([[-2.0, -2.0], [0.95, 0.96]]), np.array([[3.0, 3.0], [1.05, 1.04]]))
    with pytest.raises(InvalidJacobian) as expected:
        function.gradient_ends(*boxes.ends)
    for contractor in (Monotone(), MeanValue()):
        with pytest.raises(InvalidJacobian) as found:
            contractor.contract(boxes, Known(function, domain))
        assert str(found.value) == str(expected.value)
    known = Known(function, domain)
    with pytest.raises(InvalidJacobian, match="so it is not its gradient"):
        links_module.cuts(boxes, known, sloped=True)


def refused(function: Function, boxes: Any, limit: Any, kind: type[Exception], match: str) -> None:
    case = many(lambda x: np.sum(x**2), 2, 2)
    with pytest.raises(kind, match=match):
        case.chain().run(boxes, limit)


def test_arrays_of_other_shapes_are_refused() -> None:
    two, lower, limit = np.zeros((2, 2)), np.zeros(2), np.ones(2)
    function = trace(lambda x: np.sum(x**2), 2)
    for boxes, most in (
        ((np.zeros((2, 3)), np.zeros((2, 3)), lower), limit),
        ((np.zeros((2, 1)), np.zeros((2, 1)), lower), limit),
        ((two, np.zeros((1, 2)), lower), limit),
        ((two, two, np.zeros(1)), limit),
        ((two, two, lower), np.zeros(1)),
        ((two, two, lower), np.zeros((2, 1))),
        ((np.zeros(4), np.zeros(4), np.zeros(4)), np.zeros(4)),
    ):
        refused(function, boxes, most, ShapeMismatch, "has the shape")
    chain = many(lambda x: np.sum(x**2), 2, 2).chain()
    some = Slopes((two, two), (two, two), np.ones(2, bool))
    for how in (
        {"hints": np.zeros((2, 3))}, {"hints": np.zeros((1, 2))},
        {"widths": np.zeros(1)}, {"stepped": np.ones(3, bool)},
        {"known": some._replace(has=np.ones(3, bool))}, {"known": some._replace(slopes=(np.zeros((2, 1)), two))},
    ):  # fmt: skip
        with pytest.raises(ShapeMismatch, match="has the shape"):
            chain.cuts((two, two + 1), **how)  # type: ignore[arg-type]
    with pytest.raises(ShapeMismatch, match="has the shape"):
        chain.cuts((np.zeros((2, 3)), np.ones((2, 3))))
    for contractor in ALL:
        for n in (1, 3):
            with pytest.raises(ShapeMismatch, match=rf"\(2, {n}\), where \(2, 2\) is meant"):
                contractor.contract(
                    Boxes(np.zeros((2, n)), np.ones((2, n))), Known(function, read_bounds([(0, 1)] * 2, 2))
                )
    with pytest.raises(ShapeMismatch):
        Chain(2, [], Given({}, (np.zeros(1), np.zeros(2)), (np.zeros(2), np.zeros(2))))


def test_numbers_that_are_no_intervals_are_refused_as_by_the_function() -> None:
    function, domain = trace(lambda x: np.sum(x**2), 2), read_bounds([(-1, 1)] * 2, 2)
    for end in (np.inf, -np.inf):
        boxes = Boxes(np.array([[0.0, end]]), np.array([[1.0, end]]))
        with pytest.raises(InvalidInterval) as expected:
            function.range_ends(*boxes.ends)
        for contractor in (Level(), MeanValue()):
            with pytest.raises(InvalidInterval) as found:
                contractor.contract(boxes, Known(function, domain, 1.0))
            assert str(found.value) == str(expected.value)
    whole = Boxes(np.zeros((1, 2)), np.ones((1, 2)))
    with pytest.raises(InvalidInterval, match="NaN"):
        Level().contract(whole, Known(function, domain, math.nan))
    refused(function, tuple(whole), np.array([math.nan]), InvalidInterval, "NaN")
    with pytest.raises(InvalidInterval, match=r"variable 2: \[-inf, -inf\] is no interval"):
        Level().contract(whole, Known(function, domain, -math.inf))
    empty = Boxes(np.array([[np.nan, 0.0]]), np.array([[1.0, 1.0]]))
    assert Level().contract(empty, Known(function, domain)).lower.tolist() == [np.inf]


def test_a_link_without_its_programs_is_refused() -> None:
    ends = np.zeros(2), np.ones(2)
    for link in (
        Link(ChainLink.MONOTONE),
        Link(ChainLink.LEVEL),
        Link(ChainLink.STATIONARY),
        Link(ChainLink.MEAN_VALUE),
    ):
        with pytest.raises(RuntimeError, match="bad sizes"):
            Chain(2, [link], Given({}, ends, ends))
    with pytest.raises(RuntimeError, match="bad sizes"):
        Chain(0, [], Given({}, (np.zeros(0),) * 2, (np.zeros(0),) * 2))


def test_a_contractor_derived_elsewhere_that_cannot_be_hashed_is_applied() -> None:
    class Own(Level):
        __hash__ = None  # type: ignore[assignment]

    function, domain = trace(lambda x: np.sum(x**2), 2), read_bounds([(-3, 3)] * 2, 2)
    found = Own().contract(Boxes(np.full((1, 2), -3.0), np.full((1, 2), 3.0)), Known(function, domain, 4.0))
    assert found.lo.tolist() == [[-2.0, -2.0]]


# --- threads, processes, lives ---------------------------------------------------------------------------------------


def test_one_chain_serves_several_threads_at_once() -> None:
    cases = [many(rippled, 3, count, seed) for seed, count in enumerate((900, 33, 257, 1200))]
    expected = [case.run(case.chain()) for case in cases]
    for _ in range(8):
        shared = cases[0].chain()  # its programs come while others run
        wrong: list[int] = []

        def work(number: int, shared: Chain = shared, wrong: list[int] = wrong) -> None:
            for _ in range(3):
                if not identical(cases[number].run(shared, threads=1 + number), expected[number]):
                    wrong.append(number)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong


def test_a_chain_goes_on_with_another_number_of_boxes_and_threads() -> None:
    case = many(rippled, 3, 1000)
    chain = case.chain()
    for count, threads in ((1, 1), (1000, 7), (3, 7), (9, 2), (1000, 1), (17, 40), (1, 5000), (8, 5000), (999, 3)):
        expected = case.run(case.chain(), slice(count))
        assert identical(case.run(chain, slice(count), threads=threads), expected)


def test_programs_live_as_long_as_their_chain() -> None:
    case = many(rippled, 3, 50)
    chain, expected = case.chain(), case.run(case.chain())
    links = [one.link for one in ALL]

    def copied(source: Any) -> Any:
        tape = source()
        return None if tape is None else pickle.loads(pickle.dumps(tape))

    given = given_of(case.function, case.domain)
    programs = {name: lambda source=source: copied(source) for name, source in given.programs.items()}
    chain = Chain(3, links, given._replace(programs=programs))
    del given, programs, links
    case.run(chain)
    for _ in range(3):
        gc.collect()
        np.full(200_000, np.nan)
        assert identical(case.run(chain), expected)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_uses_a_chain_that_another_thread_was_running() -> None:
    case = many(rippled, 3, 3000)
    chain, stop = case.chain(), threading.Event()

    def run() -> None:
        while not stop.is_set():
            case.run(chain)

    expected = case.run(case.chain(), slice(50))
    thread = threading.Thread(target=run)
    thread.start()
    try:
        for _ in range(3):
            time.sleep(0.01)
            child = os.fork()
            if child == 0:
                os._exit(0 if identical(case.run(chain, slice(50)), expected) else 1)
            for _ in range(1000):
                done, status = os.waitpid(child, os.WNOHANG)
                if done:
                    break
                time.sleep(0.01)
            assert done and status == 0
    finally:
        stop.set()
        thread.join()


def test_a_process_may_end_while_a_thread_runs_a_chain() -> None:
    script = f"""
import sys, threading, time
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_chain import many, rippled
from infimum.core.pool import Pool
case = many(rippled, 3, 20000)
chain, pool = case.chain(), Pool(3)
pool.add(*case.boxes)
def run():
    while True:
        case.run(chain)
        pool.take(10000)
        pool.add(*case.boxes[:10000])
for _ in range(2):
    threading.Thread(target=run, daemon=True).start()
    break
time.sleep(0.3)
"""
    for _ in range(3):
        subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


def test_functions_are_pickled_without_their_chains() -> None:
    case = many(rippled, 3, 40, keeping=0)
    known = Known(case.function, case.domain, 2.0)
    found = Level().contract(case.boxes, known)
    again = pickle.loads(pickle.dumps(case.function))
    other = Level().contract(case.boxes, Known(again, case.domain, 2.0))
    assert all(one.tobytes() == own.tobytes() for one, own in zip(found, other, strict=True))


# --- cuts ------------------------------------------------------------------------------------------------------------


def stepped(x: Any) -> Any:
    return np.floor(x[0] * 3) + x[1] ** 2 + np.sin(x[2])


@pytest.mark.parametrize("seed", range(40))
def test_cuts_are_those_of_the_reference(seed: int) -> None:
    draw = np.random.default_rng([seed, 5])
    if seed % 4 == 0:
        case = jacobian_case(list(JACOBIANS)[seed // 4 % len(JACOBIANS)], seed)
    elif seed % 4 == 1:
        points = draw.uniform(-2, 2, (8, 3))
        case = case_of("stepped", trace(stepped, 3), [(-3, 3)] * 3, points, seed)
    else:
        case = random_case(seed)
    boxes = case.boxes[~case.boxes.is_empty()]
    function, n, count = case.function, case.function.n, len(boxes)
    slopes = function.gradient_ends(*boxes.ends)
    steps = links_module.Known(function, case.domain).stepped
    hints = np.where(draw.random((count, n)) < 0.1, np.nan, draw.normal(size=(count, n)))
    widths = np.where(draw.random(n) < 0.3, np.inf, 10.0 ** draw.uniform(-3, 1, n))
    chain = case.chain()
    has = draw.random(count) < 0.5
    lies = tuple(np.where(has[:, None], end, draw.normal(size=(count, n))) for end in slopes)
    known = Slopes(boxes.ends, lies, has)
    for how in ({}, {"hints": hints}, {"widths": widths}, {"hints": hints, "widths": widths}):
        expected = cuts(boxes.ends, slopes, stepped=steps, **how)
        for given, threads in ((None, 1), (known, 3)):
            found = chain.cuts(boxes.ends, given, stepped=steps, threads=threads, **how)  # type: ignore[arg-type]
            assert same(found[0], expected[0]) and same(found[1], expected[1])
        ends = np.zeros(n), np.zeros(n)
        plain = Chain(n, [], Given({}, ends, ends)).cuts(boxes.ends, threads=2, **how)  # type: ignore[arg-type]
        expected = cuts(boxes.ends, None, **how)
        assert same(plain[0], expected[0]) and same(plain[1], expected[1])


def _marked(boxes: tuple[FloatArray, FloatArray], has: Any) -> Slopes:
    """Slopes by which each box, where they are known, is cut along its last variable."""
    k, n = boxes[0].shape
    steep = np.zeros((k, n))
    steep[:, -1] = 1.0
    return Slopes(boxes, (steep, steep), np.asarray(has, bool))


def test_a_box_has_the_slopes_that_were_remembered_of_it_and_of_no_other() -> None:
    # f is steep in the first variable; what is remembered says the last.
    case = many(lambda x: 1000 * x[0] + x[1], 2, 2)
    lo = np.arange(60.0).reshape(30, 2)
    boxes = lo, lo + 1.0
    draw = np.random.default_rng(3)
    for _ in range(20):
        rows = np.sort(draw.choice(30, 12, replace=False))
        has = draw.random(30) < 0.7
        some = lo[rows].copy(), lo[rows] + 1.0
        changed = draw.random(12) < 0.2
        some[1][changed, 1] -= 0.5
        found = case.chain().cuts(some, _marked(boxes, has), threads=2)[0]
        assert found.tolist() == (has[rows] & ~changed).astype(int).tolist()


def test_boxes_in_another_order_are_evaluated_again() -> None:
    case = many(lambda x: 1000 * x[0] + x[1], 2, 2)
    lo = np.arange(4000.0).reshape(2000, 2)
    found = case.chain().cuts((lo[::-1], lo[::-1] + 1), _marked((lo, lo + 1), np.ones(2000)))[0]
    assert found[0] == 1 and (found[1:] == 0).all()


def test_what_a_chain_remembers_serves_the_cuts_of_the_boxes_it_left() -> None:
    case = many(rippled, 3, 200)
    known = Known(case.function, case.domain, 5.0)
    links = links_module.Links([(str(i), one) for i, one in enumerate(ALL)], case.function, case.domain)
    found, left = links.run(case.boxes, known, ChainKeeping.KEEP_SOME)
    assert left.has_slopes.any()
    slopes = case.function.gradient_ends(*found.ends)
    remembered = known.remembered()
    assert remembered is not None
    at = np.flatnonzero(remembered.has)
    assert all(same(one[at], own[at]) for one, own in zip(remembered.slopes, slopes, strict=True))
    expected = cuts(found.ends, slopes, stepped=known.stepped)
    assert same(links_module.cuts(found, known, sloped=True)[0], expected[0])


# --- looks -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_what_is_seen_of_boxes_is_what_their_middles_say(seed: int) -> None:
    draw = np.random.default_rng([seed, 6])
    case = random_case(seed).repeated(400)
    some = case.boxes[~case.boxes.is_empty()]
    (lo, hi), n = some.ends, case.function.n
    within = np.full(n, -3.0), np.full(n, 2.5)
    widths = np.where(draw.random(n) < 0.3, np.inf, 10.0 ** draw.uniform(-3, 1, n))
    middle = at_fraction(lo, hi, 0.5)
    inside = (lo < middle) & (middle < hi)
    wide = inside & ~(hi - lo < widths) & ~np.isinf(widths)
    points = np.clip(middle, *within)
    with np.errstate(all="ignore"):
        values = case.function(points)
    order = np.argsort(np.where(np.isnan(values), np.inf, values), kind="stable")[:3]
    order = order[values[order] < np.inf]
    for variant, threads in itertools.product(core.variants(), THREADS):
        found = case.chain(variant).look((lo, hi), within, 3, widths=widths, threads=threads)
        assert same(found.points, points[order])
        assert same(found.can_be_cut, inside.any(1)) and same(found.is_wide, wide.any(1))
    plain = case.chain().look((lo, hi), within, 0)
    assert plain.points.shape == (0, n) and same(plain.can_be_cut, inside.any(1))
    with pytest.raises(ShapeMismatch, match="has the shape"):
        case.chain().look((lo, hi), (within[0], np.zeros(n + 1)), 1)
    with pytest.raises(Late):
        case.chain().look((lo, hi), within, 1, seconds=0.0)


# --- broken on purpose -----------------------------------------------------------------------------------------------


def everything_agrees() -> None:
    for seed in range(40):
        case = random_case(seed)
        assert not differences(case.run(case.chain()), case.expected()), seed


def everything_agrees_with_the_users_slopes() -> None:
    for name in JACOBIANS:
        test_a_chain_meets_slopes_with_the_users_as_its_reference_does(name)


def blocks_agree() -> None:
    for keeping in range(3):
        test_many_boxes_are_left_as_by_the_reference(keeping)


def pools_agree() -> None:
    test_pool.test_a_pool_is_a_sorted_list()


# Which test notices which rule (core/broken.h).
BREAKS: dict[int, tuple[Callable[[], None], ...]] = {
    21: (everything_agrees, test_boxes_at_the_limit_and_at_the_upper_bound_are_kept),
    22: (test_boxes_at_the_limit_and_at_the_upper_bound_are_kept, test_the_edge_of_the_mean_value_form_is_kept),
    23: (everything_agrees,),
    24: (everything_agrees,),
    25: (everything_agrees,),
    26: (test_a_box_on_which_a_slope_exists_nowhere_stays_as_it_is,),
    27: (everything_agrees,),
    28: (everything_agrees, blocks_agree),
    29: (test_boxes_at_the_limit_and_at_the_upper_bound_are_kept,),
    30: (pools_agree,),
    31: (test_a_box_has_the_slopes_that_were_remembered_of_it_and_of_no_other,),
    32: (pools_agree,),
    33: (pools_agree,),
    34: (everything_agrees, blocks_agree),
    35: (everything_agrees, blocks_agree),
    36: (blocks_agree,),
    37: (everything_agrees,),
    38: (everything_agrees, blocks_agree),
    39: (pools_agree,),
    40: (pools_agree,),
    41: (pools_agree,),
    42: (everything_agrees_with_the_users_slopes,),
    43: (everything_agrees, test_a_box_at_an_oblique_edge_keeps_a_minimiser_with_a_slope),
    44: (test_an_infimum_at_infinity_is_kept,),
    45: (everything_agrees, test_bounds_that_are_known_do_not_fall),
    46: (pools_agree,),
}


def test_the_test_build_holds_as_long_as_nothing_is_broken(break_rule: Callable[[int], None]) -> None:
    break_rule(0)
    for check in dict.fromkeys(itertools.chain(*BREAKS.values())):
        check()


@pytest.mark.parametrize("number", BREAKS)
def test_a_broken_rule_is_noticed(break_rule: Callable[[int], None], number: int) -> None:
    for check in BREAKS[number]:
        break_rule(number)
        with pytest.raises((AssertionError, InvalidInterval, NoGradient)):
            check()


def test_every_rule_that_can_be_broken_is_listed() -> None:
    text = (Path(core.__file__).parent / "broken.h").read_text()
    listed = {int(number) for number in re.findall(r"\b\d\d\b", text.split("// Chains:")[1])}
    assert listed == set(BREAKS)
