"""Staging changes nothing but the time: children, bounds and discards are those of plain enumeration, bit for bit."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

import infimum
import staging_reference as reference
from infimum import core
from infimum.fractions import FRACTIONS, at_fraction
from infimum.function.function import Function, trace
from infimum.staging.structure import structure
from infimum.staging.working import equal_parts

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "sum": lambda x: np.sum(x**2 - 10 * np.cos(2 * infimum.pi * x)),
    "chain": lambda x: np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2),
    "sum and product": lambda x: np.sum(x**2) / 4000 - np.prod(np.cos(x)) + 1,
    "outer functions": lambda x: -np.exp(-np.sqrt(np.mean(x**2))) - np.exp(np.mean(np.cos(3 * x))),
    "triples": lambda x: np.sum((x[2:] * x[1:-1] - x[:-2]) ** 2),
    "negative pairs": lambda x: np.sum(np.sin(3 * x[1:] * x[:-1]) - 2 * x[1:]),
    "maximum": lambda x: np.max(np.abs(x - 0.3)) + np.sum(x**2),
    "minimum": lambda x: np.min((x - 0.7) ** 2 + 0.1 * np.sin(9 * x)) + np.mean(x**2),
    "head and tail": lambda x: np.sin(x[0]) ** 2 + np.sum(x[:-1] ** 2 * (1 + np.sin(x[1:]) ** 2)) + (x[-1] - 1) ** 2,
    "partly undefined": lambda x: np.sum(np.sqrt(x + 1.4)) + np.prod(np.log(x + 2)),
    "branches": lambda x: np.sum(np.where(x > 0.5, x**3, np.floor(4 * x) * x) + (x < -3) * np.log(x + 9)),
    "linear": lambda x: np.sum(np.arange(1, len(x) + 1) * x),
}
every_function = pytest.mark.parametrize("name", FUNCTIONS)
every_split = pytest.mark.parametrize("split", [[0, 1, 2], [2, 3, 4], [5, 0, 3], [4]])


class Region(NamedTuple):
    """A box to be split."""

    function: Function
    lo: FloatArray
    hi: FloatArray
    variables: IndexArray
    edges: FloatArray

    @property
    def pairs(self) -> FloatArray:
        return np.stack([self.lo, self.hi], 1)

    def child(self, digits: tuple[int, ...]) -> tuple[FloatArray, FloatArray]:
        return reference.child_box(self.lo, self.hi, self.variables, self.edges, digits)

    def staged(self) -> Any:
        return self.function.staged(self.pairs, self.variables, self.edges)


def _region(name: str, split: list[int], seed: int, n: int = 6) -> Region:
    random = np.random.default_rng(seed)
    lo = random.uniform(-2, 0.5, n)
    hi = lo + random.uniform(0.1, 2, n)
    variables = np.array(split)
    return Region(trace(FUNCTIONS[name], n), lo, hi, variables, equal_parts(lo[variables], hi[variables], 4))


# ---------------------------------------------------------------------------------------------- the children
@every_function
@every_split
def test_a_run_emits_the_children_of_plain_enumeration_in_their_order(name: str, split: list[int]) -> None:
    region = _region(name, split, 1)
    made = structure(region.function.value_node, 6)
    assert made is not None
    staged = region.staged()
    assert staged.stages
    emitted = list(staged.children())
    every = reference.bounds_of_children(made, region.lo, region.hi, region.variables, region.edges)
    expected = [(bound, digits) for bound, _, digits in every]
    if not _is_masked(region):
        assert emitted == expected
        return
    assert set(emitted) <= set(expected)
    assert [child for child in expected if child in set(emitted)] == emitted
    _assert_discarded(region, [digits for _, digits in sorted(set(expected) - set(emitted))])


def _is_masked(region: Region) -> bool:
    return bool(region.function.facts(region.pairs).smooth)


def _assert_discarded(region: Region, children: list[tuple[int, ...]]) -> None:
    """Every one has a slope of one sign, and lies away from the edge of the region that this sign points away from."""
    random = np.random.default_rng(5)
    for digits in children:
        lo, hi = region.child(digits)
        _, slopes = region.function.value_and_gradient(lo + (hi - lo) * random.random((30, lo.size)))
        rising = (np.asarray(slopes) > 0).all(0) & (lo != region.lo)
        falling = (np.asarray(slopes) < 0).all(0) & (hi != region.hi)
        assert (rising | falling).any(), (digits, slopes)


@pytest.mark.parametrize("name", ["sum", "chain", "triples", "head and tail", "linear"])
def test_masks_discard_something(name: str) -> None:
    region = _region(name, [1, 2, 3], 4)
    assert len(list(region.staged().children())) < 64


@every_function
def test_children_above_the_upper_bound_are_left_out_and_no_other(name: str) -> None:
    region = _region(name, [1, 2, 4], 2)
    every = list(region.staged().children())
    for upper in [every[len(every) // 2][0], every[0][0], every[0][0] - 1]:
        assert list(region.staged().children(upper)) == [child for child in every if child[0] <= upper]


@every_function
def test_the_bound_of_a_child_is_below_its_values(name: str) -> None:
    region = _region(name, [1, 2, 4], 3)
    random = np.random.default_rng(3)
    for bound, digits in region.staged().children():
        lo, hi = region.child(digits)
        values = np.asarray(region.function(lo + (hi - lo) * random.random((20, 6))))
        values = values[~np.isnan(values)]
        assert values.size == 0 or bound <= values.min() + 1e-12 * (1 + abs(values.min()))


# ---------------------------------------------------------------------------------------------- samples
@every_function
@every_split
def test_the_sample_is_the_best_of_all_sample_points_and_its_range_is_proved(name: str, split: list[int]) -> None:
    region = _region(name, split, 7)
    best = reference.best_sample(region.function, region.lo, region.hi, region.variables, region.edges)
    found = region.staged().sample()
    if best == np.inf:
        assert found is None
        return
    x, sample = found
    assert sample.value <= best + abs(best) * 1e-11
    assert (region.lo <= x).all() and (x <= region.hi).all()
    low, high = region.function.range_ends(x[None], x[None])
    assert max(sample.lo, low[0]) <= min(sample.hi, high[0]), "two enclosures of one number must meet"
    assert sample.hi - sample.lo <= 1e-10 * (1 + abs(sample.hi))


# ---------------------------------------------------------------------------------------------- moving
def _walked(
    function: Function, n: int, steps: int, seed: int
) -> tuple[core.Staging, FloatArray, FloatArray, list[Any]]:
    """A working box after a random walk over the tree of regions, and every region's box as it should be."""
    random = np.random.default_rng(seed)
    lo, hi = np.full(n, -2.0), np.full(n, 3.0)
    box = function.stages.working((lo, hi), (lo, hi), np.full(n, 1e-3))
    known: list[tuple[FloatArray, FloatArray, IndexArray, FloatArray]] = []
    for _ in range(steps):
        if known:
            region = int(random.integers(len(known)))
            low, high, variables, edges = known[region]
            index = int(random.integers(3 ** len(variables)))
            box.go(region, index, len(variables))
            digits = tuple(index // 3**p % 3 for p in range(len(variables)))
            low, high = reference.child_box(low, high, variables, edges, digits)
        else:
            low, high = lo, hi
        assert np.array_equal(box.lo, low) and np.array_equal(box.hi, high)
        assert box.wide() == ((high - low) >= 1e-3).sum()
        variables = np.sort(random.choice(n, 2, replace=False))
        edges = equal_parts(low[variables], high[variables], 3)
        assert box.split(variables, edges) == len(known)
        known.append((low, high, variables, edges))
    return box, lo, hi, known


@pytest.mark.parametrize("name", ["sum", "chain", "sum and product", "maximum"])
def test_tables_made_after_a_walk_are_those_made_afresh(name: str) -> None:
    n = 700  # more than two chunks of the tree
    function = trace(FUNCTIONS[name], n)
    box, _, _, known = _walked(function, n, 40, 11)
    for region in [17, 3, 39, 0, 21]:
        low, high, variables, edges = known[region]
        box.go(region)
        assert box.tabulate(region, False) < 2
        box.begin(region, np.inf)
        sample = box.sample(region)
        fresh = function.stages.working((low, high), (low, high), None)
        assert fresh.split(variables, edges) == 0
        fresh.tabulate(0, False)
        fresh.begin(0, np.inf)
        assert sample == fresh.sample(0)
        while box.bound(region) < np.inf:
            assert box.advance(region, np.inf) == fresh.advance(0, np.inf)
        assert fresh.bound(0) == np.inf


def test_sample_points_stay_in_the_inward_domain() -> None:
    function = trace(FUNCTIONS["sum"], 2)
    outer, inner = (np.full(2, 0.0), np.full(2, 1.0)), (np.full(2, 0.4), np.full(2, 0.41))
    box = function.stages.working(outer, inner, None)
    region = box.split(np.array([0]), equal_parts(np.zeros(1), np.ones(1), 4))
    box.tabulate(region, False)
    sample = box.sample(region)
    assert sample is not None
    x = box.point(region, sample.child, sample.fraction)
    assert (x >= 0.4).all() and (x <= 0.41).all()
    low, high = function.range_ends(x[None], x[None])
    assert max(sample.lo, low[0]) <= min(sample.hi, high[0])


def test_the_core_and_python_agree_on_fractions_of_any_range() -> None:
    ends = np.array([-np.inf, -1e308, -3.0, -1e-320, 0.0, 1e-310, 2.5, 1e308, np.inf])
    lo, hi = (e.ravel() for e in np.meshgrid(ends, ends, indexing="ij"))
    keep = (lo < hi) & (lo < np.inf) & (hi > -np.inf)
    lo, hi = lo[keep], hi[keep]
    function = trace(lambda x: np.sum(x**2), lo.size)
    inner = (np.full(lo.size, -np.inf), np.full(lo.size, np.inf))
    box = function.stages.working((lo, hi), inner, None)
    box.split(np.array([0]), np.stack([lo[:1], hi[:1]], 1))
    for number, fraction in enumerate(FRACTIONS):
        assert np.array_equal(box.point(0, 0, number), at_fraction(lo, hi, float(fraction)))


def test_a_split_whose_terms_read_too_many_variables_does_not_stage() -> None:
    function = trace(lambda x: np.sin(x[0] + x[1] * np.exp(x[2] - x[3])) + np.sum(x**2), 5)
    assert not function.staged([[0, 1]] * 5, [0, 1, 2, 3], 2).stages
    assert function.staged([[0, 1]] * 5, [0, 1, 4], 2).stages


# ---------------------------------------------------------------------------------------------- broken on purpose
BREAKS = {
    1: "a component discards at the edge of the domain too",
    2: "a component discards where its slope may be positive",
    3: "what is wholly open is left out of a prefix's bound",
    4: "what is partly open is left out of a prefix's bound",
    5: "a hull holds the first part alone",
    6: "sample points may leave the domain",
    7: "a changed term does not reach the reduction",
    8: "a changed variable does not reach its terms",
    9: "going up leaves the box as it was",
    10: "a child at the upper bound is not put on the list",
    11: "a child at the upper bound is not emitted",
    12: "a sample's proof leaves out what the split touches",
    13: "a child is discarded where the function is not smooth",
}


@pytest.fixture
def breakable(pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch) -> ctypes.CDLL:
    path = Path(pytestconfig.getoption("--mutants"))
    if not path.exists():
        pytest.skip("needs the test build of the core: make mutants")
    monkeypatch.setattr(core, "staging", core.load(path).staging)
    library = ctypes.CDLL(str(path))
    library.infimum_break.argtypes = [ctypes.c_int]
    return library


def test_a_gradient_excludes_a_box_where_it_has_one_sign_away_from_the_matching_edge() -> None:
    # domain [0, 4] x [0, 4]; the box touches no edge, or one
    # | slope of variable 0 | its range | excluded |
    cases = [
        ((1.0, 2.0), (1.0, 2.0), True),
        ((1.0, 2.0), (0.0, 2.0), False),
        ((1.0, 2.0), (2.0, 4.0), True),
        ((-2.0, -1.0), (1.0, 2.0), True),
        ((-2.0, -1.0), (2.0, 4.0), False),
        ((-2.0, -1.0), (0.0, 2.0), True),
        ((0.0, 1.0), (1.0, 2.0), False),
        ((-1.0, 0.0), (1.0, 2.0), False),
        ((-1.0, 1.0), (1.0, 2.0), False),
        ((np.inf, -np.inf), (1.0, 2.0), False),  # exists nowhere
    ]
    domain = np.zeros(2), np.full(2, 4.0)
    for slope, (lo, hi), excluded in cases:
        working = trace(lambda x: np.sum(x**2), 2).stages.working(domain, domain, None)
        region = working.split(np.array([0]), np.array([[0.0, lo, hi, 4.0]]))
        working.go(region, 1, 1)
        assert (working.lo[0], working.hi[0]) == (lo, hi)
        gradient = np.array([slope[0], -np.inf]), np.array([slope[1], np.inf])
        assert working.excludes(gradient) is excluded, (slope, lo, hi)


def _whole(f: Function, working: core.Staging) -> core.Standing:
    """Facts and gradient of a function on a working box."""
    found = f.on_box(working.lo, working.hi, lambda: working.moves).whole
    assert found is not None
    return found


def test_a_child_is_discarded_where_a_slope_has_one_sign_and_the_function_is_smooth() -> None:
    # domain [0, 4] x [0, 4]
    # | function of x[0] | its range in the child | discarded |
    cases: list[tuple[Callable[[Any], Any], tuple[float, float], bool]] = [
        (lambda x: x, (1.0, 2.0), True),
        (lambda x: x, (0.0, 2.0), False),  # at the edge
        (lambda x: -x, (1.0, 2.0), True),
        (lambda x: -x, (2.0, 4.0), False),  # at the edge
        (lambda x: (x - 1) ** 2, (1.5, 2.0), True),
        (lambda x: (x - 1) ** 2, (1.0, 2.0), False),  # a slope of zero
        (lambda x: 3 * x + np.abs(x - 1), (1.5, 2.0), True),
        (lambda x: 3 * x + np.abs(x - 1), (0.5, 2.0), False),  # a kink
        (lambda x: x + np.sqrt(x - 1), (1.5, 2.0), True),
        (lambda x: x + np.sqrt(x - 1), (0.5, 2.0), False),  # partly undefined
    ]
    domain = np.zeros(2), np.full(2, 4.0)
    for number, (f, (lo, hi), discarded) in enumerate(cases):
        function = trace(lambda x, f=f: f(x[0]) + (x[1] - 2) ** 2, 2)
        working = function.stages.working(domain, domain, None)
        region = working.split(np.array([0]), np.array([[0.0, lo, hi, 4.0]]))
        assert working.discards(region, 1, _whole(function, working)) is discarded, (number, lo, hi)
        assert (working.lo[0], working.hi[0]) == (lo, hi)


@every_function
def test_discarding_a_child_in_one_call_is_what_the_single_steps_do(name: str) -> None:
    n, random = 6, np.random.default_rng(11)
    function = trace(FUNCTIONS[name], n)
    domain = np.full(n, -1.5), np.full(n, 1.7)
    one, other = (function.stages.working(domain, domain, None) for _ in range(2))
    whole = _whole(function, one)
    here = function.on_box(other.lo, other.hi, lambda: other.moves)
    seen: set[bool] = set()
    for step in range(60):
        for working in (one, other):
            region, _ = working.split_equally(step % n, 2, 3)
        for index in random.integers(9, size=4).tolist():
            discarded = one.discards(region, index, whole)
            other.go(region, index, 64)
            assert discarded is (here.facts[1] and other.excludes(here.gradient()))
            assert np.array_equal(one.lo, other.lo) and np.array_equal(one.hi, other.hi)
            ends = zip(whole.outputs[-1], here.gradient(), strict=True)
            assert all(a.tobytes() == b.tobytes() for a, b in ends)
            seen.add(discarded)
        if step % 5 == 4:  # back to a child of an older region
            older, index = int(random.integers(region + 1)), int(random.integers(9))
            for working in (one, other):
                working.go(older, index, 64)
    assert True in seen and (False in seen or name == "linear")


def test_a_program_without_a_gradient_on_the_box_is_refused() -> None:
    domain = np.zeros(3), np.ones(3)
    function = trace(lambda x: np.sum(x**2), 3)
    working = function.stages.working(domain, domain, None)
    region, _ = working.split_equally(0, 2, 3)
    smaller = trace(lambda x: np.sum(x**2), 2).on_box(np.zeros(2), np.ones(2), lambda: 0).whole
    facts_alone = function.on_box(working.lo, working.hi, lambda: 0)._light
    for program in (smaller, facts_alone):
        assert program is not None
        with pytest.raises(RuntimeError, match="does not fit"):
            working.discards(region, 1, program)


def test_a_region_is_split_once() -> None:
    domain = np.zeros(3), np.ones(3)
    working = trace(lambda x: np.sum(x**2), 3).stages.working(domain, domain, None)
    region, _ = working.split_equally(0, 2, 3)
    with pytest.raises(RuntimeError, match="split twice"):
        working.split_equally(0, 2, 3)
    working.go(region, 4, 64)
    assert working.split_equally(0, 2, 3)[0] == region + 1


def _everything_holds() -> None:
    for name in FUNCTIONS:
        test_a_run_emits_the_children_of_plain_enumeration_in_their_order(name, [1, 2, 3])
        test_children_above_the_upper_bound_are_left_out_and_no_other(name)
        test_the_sample_is_the_best_of_all_sample_points_and_its_range_is_proved(name, [1, 2])
    test_tables_made_after_a_walk_are_those_made_afresh("chain")
    test_sample_points_stay_in_the_inward_domain()
    test_a_child_is_discarded_where_a_slope_has_one_sign_and_the_function_is_smooth()


def test_the_test_build_holds_as_long_as_nothing_is_broken(breakable: ctypes.CDLL) -> None:
    breakable.infimum_break(0)
    _everything_holds()


def _is_noticed(breakable: ctypes.CDLL, number: int, by: Callable[[], None]) -> None:
    breakable.infimum_break(number)
    try:
        with pytest.raises(AssertionError):
            by()
    finally:
        breakable.infimum_break(0)


@pytest.mark.parametrize("number", [1, 2])
def test_a_broken_rule_of_slopes_is_noticed_on_boxes_too(breakable: ctypes.CDLL, number: int) -> None:
    _is_noticed(breakable, number, test_a_gradient_excludes_a_box_where_it_has_one_sign_away_from_the_matching_edge)
    _is_noticed(breakable, number, test_a_child_is_discarded_where_a_slope_has_one_sign_and_the_function_is_smooth)


@pytest.mark.parametrize("number", BREAKS)
def test_staging_broken_on_purpose_is_noticed(breakable: ctypes.CDLL, number: int) -> None:
    _is_noticed(breakable, number, _everything_holds)
