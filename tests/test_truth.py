"""A result is true at every moment, for any function, whatever strategy it came by and whatever stopped it."""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
import os
import subprocess
import sys
import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any

import flint
import numpy as np
import numpy.typing as npt
import pytest

import infimum
from claims import Claim, Truth, falsehoods, truth_of
from infimum import core, problems
from infimum.errors import InfimumError
from infimum.search.paper.sampling import Look
from infimum.search.paper.selection import Best
from infimum.search.status import Status
from random_functions import KINDS, planted_function, random_function

FloatArray = npt.NDArray[np.float64]

SEEDS = range(50)
STOPS = (1, 2, 3, 5, 8, 13, 21)
flint.ctx.prec = 300
# Where a minimiser or a minimum is no double; n stands for the number of variables.
PLACES = {"fu": Fraction(9, 10), "zabinsky": 2 * flint.arb.pi() / 3}
MINIMA = {"breiman": lambda n: Fraction(-n, 10)}
PI_BOUND = {"zabinsky": (0, flint.arb.pi())}
METHODS = ("auto", "paper")
SIZES = {name: 3 + 2 * i for i, name in enumerate(problems.names("paper")) if name != "rosenbrock"}
CASES = [(name, n) for name in problems.names("paper") for n in range(1, 7) if (name, n) != ("rosenbrock", 1)]


def _problem_truth(name: str, n: int) -> Truth:
    problem = problems.named(name, n)
    place = PLACES.get(name)
    minimiser = [float(v) for v in np.asarray(problem.minimiser, float)] if place is None else [place] * n
    minimum = MINIMA[name](n) if name in MINIMA else float(problem.minimum)
    bounds = [PI_BOUND[name]] * n if name in PI_BOUND else problem.bounds
    return Truth(bounds, minimum, [minimiser])


_truth = functools.lru_cache(truth_of)


def _hold(claims: list[Claim], truth: Truth) -> None:
    """Every claim is true, and no two contradict each other."""
    assert [falsehoods(claim, truth) for claim in claims] == [[]] * len(claims)
    assert max(claim.lower for claim in claims) <= min(claim.upper for claim in claims)


def _until_proved(f: Any, bounds: Any = None, **options: Any) -> list[Claim]:
    """The claims of the same search, stopped after more and more iterations."""
    claims = []
    for iterations in STOPS:
        result = infimum.minimize(f, bounds, **{"max_iter": iterations, "threads": 1, "xtol": 1e-4, **options})
        claims.append(Claim.of(result))
        if result.status in (Status.PROVED, Status.GOAL_MISSED, Status.UNDEFINED):
            break
    return claims


# --- at every iteration ----------------------------------------------------------------------------------------------


every_method = pytest.mark.parametrize("method", METHODS)


@every_method
@pytest.mark.parametrize(("name", "n"), CASES)
def test_no_region_that_holds_the_minimiser_of_a_problem_is_discarded(name: str, n: int, method: str) -> None:
    _hold(_until_proved(problems.named(name, n), method=method), _problem_truth(name, n))


@every_method
@pytest.mark.parametrize("seed", SEEDS)
def test_no_region_that_holds_a_planted_minimiser_is_discarded(seed: int, method: str) -> None:
    f = planted_function(seed)
    _hold(_until_proved(f, f.bounds, method=method), _truth(f))


@every_method
@pytest.mark.parametrize("seed", SEEDS)
def test_no_value_of_a_random_function_is_below_what_is_claimed(seed: int, method: str) -> None:
    f = random_function(seed)
    truth = _truth(f)
    assert truth.points
    _hold(_until_proved(f, f.bounds, method=method), truth)


def test_a_false_claim_is_noticed() -> None:
    f = planted_function(1)
    claim, truth = _until_proved(f, f.bounds, method="paper")[3], _truth(f)
    assert len(claim.boxes) > 1 and not falsehoods(claim, truth)
    minimiser = np.array(f.minimiser)
    elsewhere = ~((claim.boxes[:, :, 0] <= minimiser) & (minimiser <= claim.boxes[:, :, 1])).all(1)
    assert claim.x is not None
    for false in (
        claim.changed(lower=1e-300),
        claim.changed(upper=-1e-300),
        claim.changed(upper=claim.upper * (1 - 2**-40)),
        claim.changed(boxes=claim.boxes[elsewhere], bounds=claim.bounds[elsewhere]),
        claim.changed(bounds=claim.bounds + 1e-300),
        claim.changed(boxes=np.tile(claim.boxes, (2, 1, 1)), bounds=np.append(claim.bounds, claim.bounds + 1e-300)),
        claim.changed(boxes=claim.boxes + 50.0),
        claim.changed(x=claim.x + 100.0),
        claim.changed(status=Status.UNDEFINED),
    ):
        assert falsehoods(false, truth)
    tree = random_function(12)
    claim, truth = _until_proved(tree, tree.bounds)[-1], _truth(tree)
    assert falsehoods(claim.changed(lower=claim.upper), truth)


# --- hostile strategies ----------------------------------------------------------------------------------------------


class AnyCuts:
    """Random cuts in no order, at ends, outside, infinite and no numbers; parts and variables change all the time."""

    def __init__(self, seed: int) -> None:
        self.draw = np.random.default_rng(seed)
        self.asked = 2

    @property
    def parts(self) -> int:
        self.asked = int(self.draw.integers(2, 6))
        return self.asked

    @property
    def variables(self) -> int:
        return int(self.draw.integers(1, 4))

    def cuts(self, lo: FloatArray, hi: FloatArray) -> FloatArray:
        low, high = np.maximum(lo, -1e6), np.minimum(hi, 1e6)
        shape = (lo.size, self.asked - 1)
        found = low[:, None] + (high - low)[:, None] * self.draw.uniform(-0.2, 1.2, shape)
        strange = self.draw.choice([np.nan, np.inf, -np.inf, 1e308, 0.0, 5e-324], shape)
        lo[:], hi[:] = 3.0, -3.0
        return np.where(self.draw.random(shape) < 0.3, strange, found)


class AnySamples:
    """Points of the region, far outside, infinite and no numbers, in any type of number."""

    def __init__(self, seed: int) -> None:
        self.draw = np.random.default_rng(seed)

    def propose(self, look: Look) -> Any:
        points = self.draw.normal(size=(6, look.lo.size)) * 10.0 ** self.draw.integers(-3, 9)
        points[self.draw.random(points.shape) < 0.2] = self.draw.choice([np.nan, np.inf, -np.inf, -0.0])
        kind = self.draw.integers(7)
        # | 0, 1          | 2           | 3         | 4     | 5                | 6      |
        # | float32       | objects     | integers  | text  | complex numbers  | none   |
        if kind == 2:
            return [[None if np.isnan(v) else v for v in row] for row in points.tolist()]
        if kind == 3:
            return np.nan_to_num(points, posinf=9, neginf=-9).clip(-1e9, 1e9).astype(np.int64)
        if kind == 4:
            return points.astype(str)
        if kind == 5:
            return points + 1j
        return np.empty((0, look.lo.size)) if kind == 6 else points.astype(np.float32)


class Count:
    """Any number of regions at a time, or no number."""

    def __init__(self) -> None:
        self.counts = [1, 1, 1, 7, -3, 0, 2.5, float("nan"), 40, 1]

    @property
    def count(self) -> Any:
        return self.counts.pop(0) if len(self.counts) > 1 else 1


HOSTILE: dict[str, Any] = {
    "cuts": lambda seed: {"partition": AnyCuts(seed)},
    "samples": lambda seed: {"sampling": AnySamples(seed)},
    "selection": lambda seed: {"selection": Count()},
    "all": lambda seed: {"partition": AnyCuts(seed), "sampling": AnySamples(seed), "selection": Best(5)},
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize("kind", range(len(KINDS)), ids=KINDS)
def test_no_hostile_strategy_makes_a_result_false(kind: int, hostile: str) -> None:
    for seed in (kind, kind + len(KINDS)):
        f = planted_function(seed)
        for iterations in (1, 3, 15):
            options = {"max_iter": iterations, "time_limit": 0.3, **HOSTILE[hostile](seed)}
            result = infimum.minimize(f, f.bounds, threads=1, **options)
            assert falsehoods(Claim.of(result), _truth(f)) == []


@pytest.mark.parametrize(
    "proposal", [None, [[1.0, 2.0], [3.0]], [["a", "b"]], np.zeros((1, 1, 2)), [[10**400, 1]]], ids=str
)
def test_what_is_no_point_is_refused_and_not_believed(proposal: Any) -> None:
    class Odd:
        def propose(self, look: Look) -> Any:
            return proposal

    with pytest.raises((InfimumError, ValueError, OverflowError)):
        infimum.minimize(lambda x: np.sum(x**2), [(-1, 2)] * 2, sampling=Odd(), max_iter=3)


# --- stopped ---------------------------------------------------------------------------------------------------------


def _stops() -> dict[str, dict[str, Any]]:
    seen: list[Any] = []
    return {
        "iterations": {"max_iter": 4},
        "time": {"time_limit": 1e-9},
        "a little time": {"time_limit": 0.01},
        "regions": {"max_regions": 3},
        "a callback at once": {"callback": lambda result: True},
        "a callback": {"callback": lambda result: seen.append(result) or len(seen) % 3 == 0},
    }


@every_method
@pytest.mark.parametrize("stop", _stops())
def test_a_stopped_run_tells_the_truth(stop: str, method: str) -> None:
    options = {"xtol": 1e-9, "time_limit": 0.3, **_stops()[stop]}
    for name in problems.names("paper"):
        result = infimum.minimize(problems.named(name, 5), method=method, **options)
        assert falsehoods(Claim.of(result), _problem_truth(name, 5)) == []
    for seed in range(20, 20 + len(KINDS)):
        for f in (planted_function(seed), random_function(seed)):
            result = infimum.minimize(f, f.bounds, method=method, **options)
            assert falsehoods(Claim.of(result), _truth(f)) == []


def test_what_a_callback_sees_is_true_at_every_iteration() -> None:
    for seed in range(len(KINDS)):
        f = planted_function(seed)
        seen: list[Any] = []
        infimum.minimize(f, f.bounds, method="paper", max_iter=15, callback=seen.append)
        claims = [Claim.of(result) for result in seen]
        for before, after in itertools.pairwise(claims):
            assert after.upper <= before.upper
        _hold(claims, Truth(f.bounds, 0.0, [f.minimiser] if f.minimiser else []))


@pytest.mark.parametrize("name", ["rastrigin", "levy", "rosenbrock"])
def test_a_box_that_stands_for_many_has_a_bound_below_its_values(name: str) -> None:
    n = 20_000  # so many that not every region left can have a box of its own
    result = infimum.minimize(problems.named(name, n), method="paper", max_iter=60, threads=1)
    assert falsehoods(Claim.of(result), _problem_truth(name, n)) == []


# --- the same bits ---------------------------------------------------------------------------------------------------

_SOLVES = """
import sys
from infimum import core
import test_truth
core._core._variants = {sys.argv[2]: core._core._variants[sys.argv[2]]}
print(test_truth.digests(int(sys.argv[1])))
"""


def _dense(x: Any) -> Any:
    return np.sum((np.array([[2.0, 1.0, 0.5, 0, 3, 1]] * 6) * np.eye(6) + 0.25) @ x) ** 2 + np.sum(np.sin(x - x[::-1]))


def digests(threads: int) -> str:
    """What several solves found, every bit of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = [
            infimum.minimize(problem, bounds, method=method, threads=threads, **limits)
            for method in METHODS
            for problem, bounds, limits in (
                *((problems.named(name, n), None, {}) for name, n in SIZES.items()),
                *((f, f.bounds, {"max_iter": 8}) for f in map(planted_function, SEEDS[:12])),
                *((f, f.bounds, {"max_iter": 8}) for f in map(random_function, SEEDS[:6])),
                (_dense, [(-1, 2)] * 6, {"max_iter": 6}),
            )
        ]
    found = []
    for r in results:
        bits = b"".join(
            np.ascontiguousarray(part, np.float64).tobytes()
            for part in (r.listed, r.bounds, () if r.x is None else r.x)
        )
        ends = [float(end).hex() for end in (r.optimum.lo, r.optimum.hi, r.fun)]
        found.append([*ends, r.nit, r.nfev, int(r.status), hashlib.sha256(bits).hexdigest()])
    return json.dumps(found)


def _digests_elsewhere(variant: str, threads: int) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", _SOLVES, str(threads), variant]
    here = Path(__file__).parent
    return subprocess.run(command, env=environment, cwd=here, capture_output=True, text=True, timeout=120, check=False)


def test_every_variant_and_number_of_threads_finds_the_same_bits() -> None:
    expected = json.loads(digests(1))
    assert json.loads(digests(2)) == expected
    for threads, variant in enumerate(core.variants(), 1):
        run = _digests_elsewhere(variant, threads)
        assert run.returncode == 0, run.stderr
        assert json.loads(run.stdout) == expected, (variant, threads)
