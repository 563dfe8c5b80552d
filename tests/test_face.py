"""The public face: few names, quickly imported, and numbers of a result that say what they count."""

from __future__ import annotations

import importlib.metadata
import itertools
import json
import math
import os
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import infimum
from infimum import problems
from infimum.records.result import result_under_way
from infimum.search.outcome import Progress

ROOT = Path(__file__).parent.parent
# What a search may need, and `import infimum` does not.
NOT_YET = (
    "rich",
    "tempfile",
    "concurrent.futures",
    "scipy",
    "cupy",
    "matplotlib",
    "infimum.problems",
    "infimum.bench",
    "infimum.cli",
)


def run_python(*arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, *arguments]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout


# --- names ---------------------------------------------------------------------------------------------------------


def test_every_public_name_is_there_and_explained() -> None:
    assert sorted(infimum.__all__) == infimum.__all__ == dir(infimum)
    for name in set(infimum.__all__) - {"__version__", "e", "pi"}:
        assert getattr(infimum, name).__doc__, name


def test_a_name_that_is_not_there_is_refused_as_python_does() -> None:
    with pytest.raises(AttributeError, match="module 'infimum' has no attribute 'maximise'"):
        infimum.maximise  # noqa: B018


def test_results_statuses_and_errors_have_public_names() -> None:
    result = infimum.minimize(lambda x: x[0] ** 2, [(-1, 2)])
    assert isinstance(result, infimum.Result) and result.status is infimum.Status.PROVED
    with pytest.raises(infimum.TraceError):
        infimum.minimize(lambda x: 1 if x[0] > 0 else 2, [(-1, 2)])
    with pytest.raises(infimum.InvalidBounds):
        infimum.minimize(lambda x: x[0], [(2, 1)])
    with pytest.raises(infimum.InvalidOption):
        infimum.minimize(lambda x: x[0], [(1, 2)], ftol=-1)
    assert issubclass(infimum.errors.BackendUnavailable, infimum.InfimumError)


@pytest.mark.parametrize(
    ("option", "names"),
    [
        ("partition", ("Uniform", "Golden", "Logarithmic")),
        ("sampling", ("Diagonal", "Midpoint", "Grid", "Latin", "Random")),
        ("selection", ("Best",)),
        ("split", ("Smear", "Largest", "RoundRobin")),
    ],
)
def test_strategies_by_their_public_names_are_taken(option: str, names: tuple[str, ...]) -> None:
    for name in names:
        made = getattr(infimum.strategies, name)()
        assert infimum.minimize(problems.levy(2), **{option: made}).success
    with pytest.raises(infimum.InvalidOption, match=rf"{option}='silver' is not offered.*(strategies|an object)"):
        infimum.minimize(problems.levy(2), **{option: "silver"})


def test_the_version_is_that_of_the_installed_package() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*", infimum.__version__)
    assert importlib.metadata.version("infimum") == infimum.__version__


def test_the_version_stands_in_one_file() -> None:
    project = (ROOT / "pyproject.toml").read_text()
    assert 'dynamic = ["version"]' in project and 'input = "src/infimum/version.py"' in project
    assert not re.search(r"^version\s*=", project, re.MULTILINE)
    cited = ROOT / "CITATION.cff"
    assert not cited.exists() or f"version: {infimum.__version__}" in cited.read_text().replace('"', "")


# --- the import ----------------------------------------------------------------------------------------------------


def test_the_import_brings_nothing_that_is_not_needed_yet() -> None:
    loaded = run_python("-c", "import sys, infimum; print('\\n'.join(sys.modules))").split()
    assert "numpy" in loaded and not [name for name in NOT_YET if name in loaded]


def test_the_rooms_that_come_later_are_there_when_asked_for() -> None:
    asked = "import infimum; print(infimum.problems.levy(3), infimum.strategies.Best(2).count)"
    assert run_python("-c", asked) == "<problem levy of 3 variables> 2\n"
    assert run_python("-c", "from infimum import *; print(problems.levy(2).n, strategies.Uniform().parts)") == "2 4\n"


def test_the_command_is_a_module_too() -> None:
    assert run_python("-m", "infimum", "--version") == f"infimum {infimum.__version__}\n"
    assert json.loads(run_python("-m", "infimum", "solve", "hartmann6", "--json", "-"))["success"]


# --- what a result counts ------------------------------------------------------------------------------------------


def test_the_gap_is_rounded_upward() -> None:
    for name in ("schwefel", "goldstein_price", "hartmann6"):
        result = infimum.minimize(problems.named(name, problems.size(name) or 5))
        assert Fraction(result.gap) >= Fraction(float(result.minimum.hi)) - Fraction(float(result.minimum.lo))
        assert result.gap <= math.nextafter(float(result.minimum.hi) - float(result.minimum.lo), math.inf)
        assert result["gap"] == result.gap <= 1.1e-6 * max(1.0, abs(float(result.minimum.hi)))
    assert infimum.minimize(lambda x: x[0], [(-np.inf, 0)], max_iter=1).gap == math.inf


@pytest.mark.parametrize("method", ["auto", "paper"])
def test_a_callback_sees_the_true_number_of_boxes_and_evaluations(method: str) -> None:
    seen: list[infimum.Result] = []
    problem = problems.goldstein_price() if method == "auto" else problems.levy(30)
    result = infimum.minimize(problem, method=method, callback=seen.append, max_iter=20)
    assert [r.nregions for r in seen] == [step.regions for step in result.history] and max(r.nregions for r in seen) > 1
    assert seen[-1].boxes_evaluated == result.boxes_evaluated > 0
    assert 0 < seen[-1].points_evaluated <= result.points_evaluated
    for before, after in itertools.pairwise(seen):
        assert before.boxes_evaluated < after.boxes_evaluated and before.points_evaluated <= after.points_evaluated
    assert result.nfev == result.boxes_evaluated + result.points_evaluated


def test_a_result_under_way_prints_how_many_boxes_there_are() -> None:
    step = Progress(1, 0.0, 2.0, 17, 0.1, (), 40, 3)
    text = str(result_under_way(step, np.array([[0.0, 1.0]])))
    assert "17 boxes so far" in text and "1 iteration, 40 boxes and 3 points evaluated" in text


def test_blocks_count_their_evaluations_and_those_of_the_whole() -> None:
    seen: list[infimum.Result] = []

    def apart(x: Any) -> Any:
        return sum((np.sin(3 * x[i]) * x[i] + x[i] ** 2 / (i + 2)) * np.cos(x[i + 1]) for i in range(0, 8, 2))

    result = infimum.minimize(apart, [(-4, 3)] * 8, callback=seen.append)
    assert result.success and len(result.blocks) > 1
    counts = [(r.boxes_evaluated, r.points_evaluated) for r in seen]
    assert counts == sorted(counts) and counts[-1][0] <= result.boxes_evaluated
    assert counts[-1][1] <= result.points_evaluated


# --- the memory limit ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "n", "method", "limit"),
    [("eggholder", 2, "auto", 3000), ("rosenbrock", 30, "paper", 20_000), ("hartmann6", 6, "paper", 10_000)],
)
def test_a_memory_limit_ends_a_search_with_a_true_enclosure(name: str, n: int, method: str, limit: int) -> None:
    problem = problems.named(name, n)
    free = infimum.minimize(problem, method=method, max_iter=200, time_limit=20)
    assert free.status != infimum.Status.MEMORY
    result = infimum.minimize(problem, method=method, memory_limit=limit)
    assert result.status == infimum.Status.MEMORY and not result.success
    assert "memory limit" in result.message and result.nit < free.nit
    assert result.minimum.lo <= float(problem.minimum) <= result.minimum.hi


def test_blocks_share_the_memory_limit() -> None:
    def f(x: Any) -> Any:
        return sum(np.sin(5 * x[i] * x[i + 1]) * (x[i] + i) + np.cos(3 * x[i] - x[i + 1] ** 2) for i in range(0, 12, 2))

    result = infimum.minimize(f, [(-3, 4)] * 12, memory_limit=3000)
    assert result.status == infimum.Status.MEMORY and math.isfinite(result.gap)


def test_no_memory_limit_and_the_default_are_the_same_for_a_small_search() -> None:
    problem = problems.hartmann6()
    results = [infimum.minimize(problem, **how) for how in ({}, {"memory_limit": None}, {"memory_limit": 10**12})]
    assert len({(r.nit, r.boxes.tobytes()) for r in results}) == 1
