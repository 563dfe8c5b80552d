"""Whole problems with planted minimisers: every claim of a result is true, and success is what was promised."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import infimum
from claims import Claim, Truth, ball, falsehoods
from planted_problems import NAMES, PLACES, Planted, planted_problem

SEEDS = range(5000)
LIMITS: dict[str, Any] = {"max_iter": 6, "max_regions": 4000, "time_limit": 1.0, "threads": 1}
GOALS: tuple[dict[str, Any], ...] = (
    {},
    {"ftol": 1e-3},
    {"ftol": 1e-10, "fatol": 0},
    {"ftol": None, "xtol": 1e-3},
    {"ftol": 1e-4, "xrtol": 1e-2},
    {"ftol": 0, "fatol": 1e-3},
    {"fatol": 0},
)


def _truth(problem: Planted) -> Truth:
    return Truth(problem.bounds, problem.minimum, [problem.minimiser], (), problem.value)


def broken_promises(problem: Planted, goals: dict[str, Any], result: Any) -> list[str]:
    """The goals that a successful result misses, in fractions; success is never said of what has no value."""
    if not result.success:
        return []
    claim, found = Claim.of(result), []
    ftol, fatol = goals.get("ftol", 1e-6), goals.get("fatol", 1e-9)
    if ftol is not None:
        gap = Fraction(claim.upper) - Fraction(claim.lower)
        if gap > max(Fraction(ftol) * abs(Fraction(claim.upper)), Fraction(fatol)):
            found.append(f"the gap {float(gap)!r}")
    widths = claim.boxes[:, :, 1] - claim.boxes[:, :, 0]
    lo, hi = np.array(problem.bounds).T
    for name, most in (("xtol", goals.get("xtol")), ("xrtol", goals.get("xrtol"))):
        if most is not None and (widths > most * (1 if name == "xtol" else hi - lo) * (1 + 2**-50)).any():
            found.append(f"the widths, {widths.max()!r}")
    return found if math.isfinite(claim.lower) and result.x is not None else [*found, "a point and a bound"]


def solved(problem: Planted, goals: dict[str, Any]) -> Any:
    return infimum.minimize(problem.asked, problem.bounds, maximize=problem.maximize, **{**LIMITS, **goals})


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", SEEDS)
def test_no_claim_about_a_planted_problem_is_false(seed: int) -> None:
    problem, goals = planted_problem(seed), GOALS[seed // len(NAMES) % len(GOALS)]
    result = solved(problem, goals)
    assert falsehoods(Claim.of(result), _truth(problem)) == []
    assert broken_promises(problem, goals, result) == []


def test_most_planted_problems_are_closed_at_once() -> None:
    closed = sum(solved(problem, {}).success for problem in map(planted_problem, range(0, 5000, 97)))
    assert closed >= 40  # of 52


# ---------------------------------------------------------------------------------------------- the problems themselves
def test_what_is_planted_is_the_minimum_as_far_as_arb_can_see() -> None:
    for seed in range(0, 5000, 41):
        problem = planted_problem(seed)
        minimum = ball(problem.minimum)
        assert minimum.rad() < 1e-60
        there = problem.value([ball(v) for v in problem.minimiser])
        assert there is not None and there.overlaps(minimum), problem.name
        lo, hi = np.array(problem.bounds).T
        draw = np.random.default_rng(seed)
        near = np.array([float(ball(v).mid()) for v in problem.minimiser])
        with np.errstate(all="ignore"):
            for reach in (1.0, 0.1, 1e-3):
                for point in np.clip(near + reach * (hi - lo) * draw.uniform(-1, 1, (5, len(lo))), lo, hi):
                    value = problem.value(point)
                    assert value is None or not value < minimum, (problem.name, point)


def test_every_family_and_place_is_there_and_half_the_minima_are_not_zero() -> None:
    seen: Counter[Any] = Counter()
    for problem in map(planted_problem, range(0, 5000, 7)):
        seen[problem.name.split()[0]] += 1
        seen[problem.place] += 1
        seen[len(problem.bounds)] += 1
        seen["zero" if problem.minimum == 0 else "another"] += 1
        seen["maximum" if problem.maximize else "minimum"] += 1
    for kind in (*NAMES, *PLACES, *range(1, 7), "zero", "maximum"):
        assert seen[kind] >= 50, (kind, seen)
    assert seen["another"] >= seen["zero"] >= seen["another"] // 2


def test_false_claims_and_broken_promises_are_noticed() -> None:
    problem = next(p for p in map(planted_problem, range(100)) if (r := solved(p, {})).success and r.gap > 0)
    result = solved(problem, {})
    claim, truth = Claim.of(result), _truth(problem)
    assert result.success and falsehoods(claim, truth) == broken_promises(problem, {}, result) == []
    above, below = float(ball(problem.minimum).mid()) + 1e-3, float(ball(problem.minimum).mid()) - 1e-3
    assert falsehoods(claim.changed(lower=above), truth)
    assert falsehoods(claim.changed(upper=below), truth)
    assert falsehoods(claim.changed(boxes=claim.boxes + 100.0), truth)
    assert broken_promises(problem, {"ftol": 0.0, "fatol": 0.0}, result)
    assert broken_promises(problem, {"xtol": 0.0}, result)
