"""The default method is true beside the paper's and an oracle, stopped at any moment, in blocks; faults are noticed."""

from __future__ import annotations

import itertools
import math
import signal
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

import flint
import numpy as np
import numpy.typing as npt
import pytest

import infimum
from claims import Claim, Truth, falsehoods, holding, neighbours, truth_of
from infimum import problems
from infimum.api import options as api_options
from infimum.boxes import Boxes
from infimum.contractors import Level, LinearLayer
from infimum.contractors.chain import ContractorChain
from infimum.contractors.links import Links
from infimum.contractors.table import DEFAULT
from infimum.errors import InternalError, InvalidOption
from infimum.search import product
from infimum.search.auto import search as auto
from infimum.search.pool import Pool
from infimum.search.product import Answers
from infimum.search.status import Status
from infimum.search.witness import Witness
from random_functions import RandomFunction, planted_function, random_function
from test_generality import CASES

FloatArray = npt.NDArray[np.float64]
Patch = pytest.MonkeyPatch
flint.ctx.prec = 300
INF = math.inf


def auto_result(f: Any, bounds: Any = None, **options: Any) -> Any:
    asked = {"method": "auto", "threads": 1, "progress": False, "xtol": 1e-4, **options}
    return infimum.minimize(f, bounds, **asked)


def claimed(result: Any, truth: Truth) -> Claim:
    """What a result claims; of a product of many boxes, those near what is known and those with the least bounds."""
    if result.product is None:
        return Claim.of(result)
    few = product.Product(result.product.n, result.product.lo, result.product.hi, tuple(
        near(own, truth) for own in result.product.answers))  # fmt: skip
    boxes, bounds = few.boxes()
    lower, upper = float(result.optimum.lo), float(result.optimum.hi)
    if result.maximize:
        lower, upper = -upper, -lower
    # Fewer boxes are added up in another order: what is the least bound here is the least one there.
    least = bounds == bounds.min(initial=INF)
    return Claim(lower, upper, boxes, np.where(least, lower, np.maximum(bounds, lower)), result.x, result.status)


def near(own: Answers, truth: Truth) -> Answers:
    """The answers of some blocks, of whose boxes those are kept that hold a known point, and the best."""
    kept = [np.empty(0, np.int64)]
    points = [*truth.minimisers, *(point for point, _ in truth.points)]
    for variables, start, end in zip(own.variables, own.starts, own.starts[1:], strict=False):
        boxes = np.stack([own.lo[start:end], own.hi[start:end]], 2)
        wanted = np.zeros(len(boxes), bool)
        wanted[np.argsort(own.lower_bounds[start:end])[:1]] = True
        places = [[point[i] for i in variables] for point in points]
        for place in {tuple(map(neighbours, place)): place for place in places}.values():
            wanted |= holding(boxes, place)
        kept.append(start + np.flatnonzero(wanted))
    at = np.concatenate(kept)
    starts = np.concatenate([[0], np.cumsum([len(part) for part in kept[1:]])])
    return Answers(own.variables, starts, own.lo[at], own.hi[at], own.lower_bounds[at], own.upper, own.x)


# --- beside the paper's method and the oracle ------------------------------------------------------------------------


@pytest.mark.parametrize("first", [200, *(pytest.param(i, marks=pytest.mark.torture) for i in (220, 240, 260, 280))])
@pytest.mark.parametrize("draw", [planted_function, random_function])
def test_both_methods_and_the_oracle_agree_on_200_problems(draw: Callable[[int], RandomFunction], first: int) -> None:
    proved = 0
    for seed in range(first, first + 20):
        f = draw(seed)
        truth = truth_of(f)
        assert truth.points
        limits = {"auto": 12, "paper": 12}
        results = [auto_result(f, f.bounds, method=method, max_iter=most) for method, most in limits.items()]
        claims = [claimed(result, truth) for result in results]
        assert [falsehoods(claim, truth) for claim in claims] == [[], []], f.name
        assert max(claim.lower for claim in claims) <= min(claim.upper for claim in claims), f.name
        proved += results[0].success
    assert proved >= 5  # not only wide enclosures, which would agree with anything


# --- small problems with known answers -------------------------------------------------------------------------------


class Small(NamedTuple):
    """A problem, what is known of it, and how it is asked for."""

    name: str
    f: Callable[[Any], Any]
    truth: Truth
    options: Mapping[str, Any] = MappingProxyType({})


def signs(place: list[Any]) -> list[list[Any]]:
    """A point with some choices of signs: all equal, alternating, and each but one equal."""
    n = len(place)
    rows = [
        [1] * n,
        [-1] * n,
        [(-1) ** i for i in range(n)],
        *([-1 if i == k else 1 for i in range(n)] for k in range(n)),
    ]
    return [[sign * v for sign, v in zip(row, place, strict=True)] for row in rows]


MANY = 9  # so many variables that blocks are taken apart soon
ROOTS = [flint.arb(i).sqrt() for i in range(1, MANY + 1)]


def dents(x: Any) -> Any:
    """Two kinks a variable, at 1 and -1, where each term is the double 0.1."""
    return np.sum(np.abs(x**2 - 1) + 0.1 * x**2)


def edge_of_a_root(x: Any) -> Any:
    """x, where x² is at least 3; just below, an enclosure of the root's argument still reaches 0."""
    return x[0] + np.minimum(np.sqrt(x[0] ** 2 - 3), 0)


def two_aims(x: Any) -> Any:
    """A sum that is to be 1 and 2.25: a guess far below the minimum does not empty a box, but cuts minimisers off."""
    return (x[0] + x[1] + x[2] - 1) ** 2 + (2 * x[0] + 2 * x[1] + 2 * x[2] - 4.5) ** 2


TURN, MIDDLE = np.array([[1.0, 2, 0], [0, 1, -1], [2, 0, 1]]), np.array([1.0, -1, 2])
ROOT3 = flint.arb(3).sqrt()
BELOW_ROOT3 = neighbours(ROOT3)[0]


def turned(x: Any) -> Any:
    """A bowl with waves behind a linear layer."""
    y = TURN @ x - TURN @ MIDDLE
    return np.sum(y**2) + np.sum(np.sin(y) ** 2)


@lru_cache
def small_problems() -> list[Small]:
    """A dozen: edges, jumps, kinks, wells, blocks, a layer, a value of lower bounds that are sharp."""
    wanted = ("one corner", "spike", "disc", "himmelblau", "beale", "booth")
    found = [Small(c.name, c.f, Truth(c.bounds, c.optimum, c.places)) for c in CASES if c.name in wanted]
    return [
        *found,
        Small("slope", lambda x: x[0] + 2 * x[1] ** 3 + x[1], Truth([(-1, 2)] * 2, -4, [[-1, -1]])),
        Small("a jump up", lambda x: np.where(x[0] < 0.3, 5 + x[0], x[0]), Truth([(-2, 3)], 0.3, [[0.3]])),
        Small("a root's edge", edge_of_a_root, Truth([(0, 3)], ROOT3, [[ROOT3]]), {"x0": [BELOW_ROOT3]}),
        Small("two aims", two_aims, Truth([(0, 3)] * 3, 1.25, [[2, 0, 0], [0, 0, 2], [0.5, 0.5, 1]])),
        Small("qing", problems.qing(MANY).f, Truth([(-500, 500)] * MANY, 0, signs(ROOTS))),
        Small("dents", dents, Truth([(-3, 4)] * MANY, MANY * Fraction(0.1), signs([1] * MANY)), {"x0": [1.0] * MANY}),
        Small("turned", turned, Truth([(-3, 4)] * 3, 0, [MIDDLE])),
        Small("two wells", lambda x: (x[0] ** 2 - 4) ** 2 * (1 + x[1] ** 2) + (x[1] - x[0] / 2) ** 2,
              Truth([(-5, 6)] * 2, 0, [[2, 1], [-2, -1]])),
    ]  # fmt: skip


def claims_on_the_way(problem: Small) -> list[Claim]:
    """What is claimed of a problem after more and more iterations."""
    found = []
    for most in (1, 2, 3, 5):
        result = auto_result(problem.f, problem.truth.bounds, max_iter=most, **problem.options)
        found.append(claimed(result, problem.truth))
        if result.status == Status.PROVED:
            break
    return found


def everything_holds() -> None:
    """No claim about a small problem is false, nor do two contradict each other."""
    for problem in small_problems():
        claims = claims_on_the_way(problem)
        for claim in claims:
            assert falsehoods(claim, problem.truth) == [], problem.name
        assert max(claim.lower for claim in claims) <= min(claim.upper for claim in claims), problem.name


# --- stopped at any moment -------------------------------------------------------------------------------------------


def stops() -> dict[str, tuple[dict[str, Any], set[Status]]]:
    """Ways to stop a search that is not finished, and what is said of it then."""

    def pressed(result: Any) -> None:
        signal.raise_signal(signal.SIGINT)

    class Third:
        """Ends the search at the third call."""

        calls = 0

        def __call__(self, result: Any) -> bool:
            self.calls += 1
            return self.calls == 3

    return {
        **{f"iteration {k}": ({"max_iter": k}, {Status.ITERATIONS}) for k in range(1, 9)},
        "no time": ({"time_limit": 1e-9}, {Status.TIME}),
        "little time": ({"time_limit": 0.01}, {Status.TIME}),
        "regions": ({"max_regions": 2}, {Status.REGIONS}),
        "callback": ({"callback": lambda result: True}, {Status.INTERRUPTED}),
        "third callback": ({"callback": Third()}, {Status.INTERRUPTED}),
        "Ctrl-C": ({"callback": pressed}, {Status.INTERRUPTED}),
        "memory": ({"max_iter": 50, "memory_limit": 600}, {Status.MEMORY}),
    }


@pytest.mark.parametrize("stop", stops())
def test_a_search_that_is_stopped_leaves_a_true_enclosure_and_every_minimiser(stop: str) -> None:
    seen = set()
    for problem in small_problems():
        options, expected = stops()[stop]
        result = auto_result(problem.f, problem.truth.bounds, **{"xtol": 1e-7, **problem.options, **options})
        assert falsehoods(claimed(result, problem.truth), problem.truth) == [], problem.name
        assert result.status in {*expected, Status.PROVED}, problem.name
        seen.add(result.status)
    assert seen & expected


def test_a_second_ctrl_c_ends_the_search_at_once() -> None:
    def pressed(result: Any) -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        auto_result(lambda x: np.sum(x**2), [(-1, 2)] * 2, callback=pressed)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_what_a_callback_sees_is_true_and_never_gets_worse() -> None:
    for problem in small_problems():
        seen: list[Any] = []
        options = {"max_iter": 6, **problem.options}
        last = auto_result(problem.f, problem.truth.bounds, callback=seen.append, **options)
        claims = [claimed(result, problem.truth) for result in (*seen, last)]
        assert [falsehoods(claim, problem.truth) for claim in claims] == [[]] * len(claims), problem.name
        for before, after in itertools.pairwise(claims):
            assert before.lower <= after.lower <= after.upper <= before.upper, problem.name


# --- broken on purpose -----------------------------------------------------------------------------------------------


def cut(lo: FloatArray, hi: FloatArray) -> FloatArray:
    """Upper ends, a tenth of the width lower."""
    with np.errstate(invalid="ignore"):
        return np.where(lo < hi, np.maximum(hi - 0.1 * (hi - lo), lo), hi)


def cutting(contract: Callable[..., Boxes]) -> Callable[..., Boxes]:
    def broken(*given: Any) -> Boxes:
        found = contract(*given)
        return Boxes(found.lo, cut(found.lo, found.hi), found.lower)

    return broken


def a_level_that_cuts(patch: Patch) -> None:
    patch.setattr(Level, "contract", cutting(Level.contract))


def a_layer_that_cuts(patch: Patch) -> None:
    patch.setattr(LinearLayer, "contract", cutting(LinearLayer.contract))


def a_raised_bound(patch: Patch) -> None:
    run = Links.run

    def broken(*given: Any) -> Any:
        found, left = run(*given)
        return found.with_lower(found.lower + 1e-9), left

    patch.setattr(Links, "run", broken)


def a_guess_believed(patch: Patch) -> None:
    probed = auto.Search._probed

    def broken(self: auto.Search, boxes: Boxes) -> Boxes:
        level = np.where(np.isfinite(boxes.lower), boxes.lower + 0.1, np.inf)
        found = self.chain.contract_to_level(boxes, level)
        empty = found.is_empty()[:, None]
        lo, hi = np.where(empty, boxes.lo, found.lo), np.where(empty, boxes.hi, found.hi)
        return probed(self, Boxes(lo, hi, boxes.lower))

    patch.setattr(auto.Search, "_probed", broken)


def a_bound_raised_without_emptiness(patch: Patch) -> None:
    contract = ContractorChain.contract_to_level

    def broken(self: ContractorChain, boxes: Boxes, level: FloatArray, **how: Any) -> Boxes:
        return contract(self, boxes, level, **how).with_lower(level)

    patch.setattr(ContractorChain, "contract_to_level", broken)


def a_lost_half(patch: Patch) -> None:
    bisected = auto.bisected

    def broken(boxes: Boxes, cuts: Any) -> Boxes:
        return bisected(boxes, cuts)[: len(boxes)]

    patch.setattr(auto, "bisected", broken)


def equal_bounds_dropped(patch: Patch) -> None:
    drop = Pool.drop_above
    patch.setattr(Pool, "drop_above", lambda self, upper: drop(self, math.nextafter(upper, -INF)))


def equal_bounds_not_kept(patch: Patch) -> None:
    def broken(self: auto.Search, boxes: Boxes) -> Boxes:
        found = self.chain.contract(boxes, self.upper)
        return found[found.lower < self.upper]

    patch.setattr(auto.Search, "_contracted", broken)


def a_sum_rounded_to_nearest(patch: Patch) -> None:
    patch.setattr(product, "_lower_sum", lambda bounds: np.sum(bounds, axis=0))


def undefined_points_accepted(patch: Patch) -> None:
    def broken(self: Witness, point: Any) -> bool:
        x = np.clip(np.asarray(point, np.float64), self.domain.inner_lo, self.domain.inner_hi)
        bottom, top = (float(end[0]) for end in self.function.range_ends(x[None], x[None]))
        better = bottom <= top < self.upper
        if better:
            self.upper, self._x, self._locate = top, x, None
        return better

    patch.setattr(Witness, "offer", broken)


def points_outside_accepted(patch: Patch) -> None:
    offer = Witness.offer

    def broken(self: Witness, point: Any) -> bool:
        if np.isfinite(self.domain.hi).all():
            point = np.asarray(point) + 1e-3
            bottom, top = (float(end[0]) for end in self.function.range_ends(point[None], point[None]))
            if bottom <= top < self.upper:
                self.upper, self._x, self._locate = top, point, None
        return offer(self, point)

    patch.setattr(Witness, "offer", broken)


BREAKS = [
    a_level_that_cuts, a_layer_that_cuts, a_raised_bound,
    a_guess_believed, a_bound_raised_without_emptiness, a_lost_half, equal_bounds_dropped, equal_bounds_not_kept,
    a_sum_rounded_to_nearest, undefined_points_accepted, points_outside_accepted,
]  # fmt: skip


def test_everything_holds() -> None:
    everything_holds()


@pytest.mark.parametrize("left_out", [*([name] for name in DEFAULT), DEFAULT], ids=", ".join)
def test_everything_holds_whatever_is_left_out(left_out: list[str], monkeypatch: Patch) -> None:
    monkeypatch.setattr(api_options, "DEFAULT", tuple(name for name in DEFAULT if name not in left_out))
    everything_holds()


@pytest.mark.parametrize("broken", BREAKS, ids=lambda broken: broken.__name__)
def test_a_broken_step_is_noticed(broken: Callable[[Patch], None], monkeypatch: Patch) -> None:
    broken(monkeypatch)
    _is_noticed(monkeypatch)


def _is_noticed(monkeypatch: Patch) -> None:
    # What closes boxes at once would leave too little to what is broken here.
    own = ("linear", "level", "monotone", "stationary", "mean_value")
    monkeypatch.setattr(api_options, "DEFAULT", own)
    with pytest.raises((AssertionError, InternalError)):
        everything_holds()


RULES = {
    24: "slopes lead out of the domain",
    25: "a minimiser at an edge is to have no slope",
    27: "a box on which f is not smooth counts as smooth",
    29: "a box at the upper bound is dropped",
    30: "a box at the upper bound is dropped from the pool",
    34: "a block's last box is lost",
    37: "the centre of a mean value form is outside its box",
}  # core/broken.h; the others cost time alone, or need more than these problems (test_chain.py)


@pytest.mark.parametrize("number", RULES, ids=lambda number: RULES[number])
def test_a_broken_rule_of_the_core_is_noticed(
    number: int, break_rule: Callable[[int], None], monkeypatch: Patch
) -> None:
    break_rule(number)
    _is_noticed(monkeypatch)


# --- sums of blocks --------------------------------------------------------------------------------------------------


def test_a_sum_of_blocks_has_the_product_of_its_blocks_boxes() -> None:
    result = auto_result(problems.qing(12))
    assert result.success and result.count() == result.nregions == 2**12 == len(result.boxes)
    assert [variables for variables, _ in result.blocks] == [[i] for i in range(12)]
    for (i,), boxes in result.blocks:
        assert boxes.shape == (2, 1, 2)
        assert sum(holding(boxes, [s * flint.arb(i + 1).sqrt()]).any() for s in (-1, 1)) == 2


def test_more_boxes_than_can_be_written_down_are_refused_with_a_sentence() -> None:
    result = auto_result(problems.qing(50))
    assert result.success and result.count() == 2**50 and len(result.blocks) == 50
    with pytest.raises(InvalidOption, match=r"2\^50 boxes of 50 variables.*result\.blocks instead"):
        result.boxes  # noqa: B018
    assert "blocks" in result.to_dict() and 0 in result.minimum


def test_boxes_are_any_choice_of_one_of_each_block() -> None:
    def f(x: Any) -> Any:
        pair = np.abs(x[1] * x[3] - 2) + np.abs(x[1] - x[3])
        return (x[0] ** 2 - 1) ** 2 + pair + np.cos(x[2]) + np.sum((x[4:] - 1) ** 2)

    result = auto_result(f, [(-4, 5)] * MANY)
    assert result.success
    assert sorted(variables for variables, _ in result.blocks) == [
        [0],
        [1, 3],
        *([i] for i in range(2, MANY) if i != 3),
    ]
    assert result.count() == len(result.boxes) == len(np.unique(result.boxes, axis=0))
    chosen = itertools.product(*(boxes for _, boxes in result.blocks))
    order = [i for variables, _ in result.blocks for i in variables]
    assert {np.concatenate(parts).tobytes() for parts in chosen} == {box[order].tobytes() for box in result.boxes}
    root = flint.arb(2).sqrt()
    for a, b, c in itertools.product((1, -1), repeat=3):
        assert holding(result.boxes, [a, b * root, c * flint.arb.pi(), b * root, *[1] * 5]).any()


# The last root, 3, lies on an edge.
EDGES = {
    "finite": [(-3, 4)] * MANY,
    "infinite": [(-INF, INF), (-3, INF), (-INF, 4)] * 3,
}
WIDTHS = [1e-3, None, 1e-6] * 3


@pytest.mark.parametrize("options", [
    {}, {"ftol": 1e-6, "xtol": None}, {"xtol": WIDTHS}, {"xtol": {1: 1e-7}}, {"x0": [1.0, -1.0, 2.0] * 3},
    {"max_iter": 4}, {"time_limit": 1e-9}, {"max_regions": 1},
], ids=lambda options: ", ".join(options))  # fmt: skip
@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize("edges", EDGES)
def test_blocks_are_searched_truly_however_they_are_asked_for(edges: str, maximize: bool, options: Any) -> None:
    truth = Truth(EDGES[edges], 0, signs(ROOTS))

    def f(x: Any) -> Any:
        value = np.sum((x**2 - np.arange(1, MANY + 1)) ** 2)
        return -value if maximize else value

    seen: list[Any] = []
    result = auto_result(f, EDGES[edges], maximize=maximize, callback=seen.append, **options)
    for found in (*seen[:4], *seen[-1:], result):
        assert falsehoods(claimed(found, truth), truth) == []
    if result.success and options.get("xtol", 1e-4) is not None:
        asked = options.get("xtol", 1e-4)
        most = [asked.get(i) for i in range(MANY)] if isinstance(asked, dict) else np.broadcast_to(asked, MANY)
        assert len(result.blocks) == MANY
        for (i,), boxes in result.blocks:
            assert most[i] is None or np.diff(boxes, axis=2).max() < most[i]


def test_the_sum_of_blocks_is_enclosed_as_tightly_as_asked_for() -> None:
    result = auto_result(problems.styblinski_tang(12), ftol=1e-9, xtol=None)
    assert result.success and float(result.minimum.wid) <= 1e-9 * abs(float(result.minimum.hi))
    assert problems.styblinski_tang(12).minimum in result.minimum


def test_the_minimum_of_a_sum_of_blocks_begins_at_the_least_bound_of_its_boxes() -> None:
    draw = np.random.default_rng(7)
    for most in range(2, 12):
        (a, c, d), (b, e) = draw.uniform(0.1, 3, 3).round(2), draw.uniform(-2, 2, 2).round(1)

        def f(x: Any, a: float = a, b: float = b, c: float = c, d: float = d, e: float = e) -> Any:
            two = a * (x[0] ** 2 - b) ** 2 + x[0] / 8 + c * (x[1] ** 2 - e) ** 2 - x[1] / 8
            return two + d * np.cos(3 * x[2]) + np.sum((x[3:] ** 2 - x[3:]) * (x[3:] - c))

        result = auto_result(f, [(-2, 3)] * MANY, max_iter=most)
        assert result.product is not None
        assert float(result.minimum.lo).hex() == float(result.lower_bounds.min()).hex()


def test_a_block_that_is_undefined_leaves_nothing() -> None:
    result = auto_result(lambda x: x[0] ** 2 + np.sqrt(-1 - x[1] ** 2) + (x[2] ** 2 - 2) ** 2, [(-1, 2)] * 3)
    assert result.status == Status.UNDEFINED and result.count() == 0 and result.x is None


# --- the same bits, and what is refused ------------------------------------------------------------------------------


def bits(result: Any) -> list[Any]:
    """Every bit of a result."""
    point = b"" if result.x is None else result.x.tobytes()
    blocks = [(variables, boxes.tobytes()) for variables, boxes in result.blocks]
    ends = [float(end).hex() for end in (result.optimum.lo, result.optimum.hi, result.fun)]
    steps = [step[:4] for step in result.history]
    return [*ends, point, blocks, result.bounds.tobytes(), result.nit, result.nfev, int(result.status), steps]


def test_the_number_of_threads_changes_no_bit() -> None:
    for problem in small_problems():
        options = {"max_iter": 6, **problem.options}
        one, two = (auto_result(problem.f, problem.truth.bounds, threads=k, **options) for k in (1, 2))
        assert bits(one) == bits(two), problem.name


@pytest.mark.parametrize("strategy", [{"partition": "golden"}, {"sampling": "latin"}, {"selection": "best"}], ids=str)
def test_strategies_belong_to_the_papers_method(strategy: dict[str, str]) -> None:
    ((name, value),) = strategy.items()
    with pytest.raises(InvalidOption, match=rf"{name}='{value}' belongs to method='paper'. Leave it out, or name"):
        infimum.minimize(lambda x: np.sum(x**2), [(-1, 2)] * 2, method="auto", **strategy)
    limits = {"max_iter": 6, "threads": 1}
    chosen = infimum.minimize(two_aims, [(0, 3)] * 3, **strategy, **limits)
    named = infimum.minimize(two_aims, [(0, 3)] * 3, method="paper", **strategy, **limits)
    assert bits(chosen) == bits(named) != bits(infimum.minimize(two_aims, [(0, 3)] * 3, **limits))
