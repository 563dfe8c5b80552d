"""The paper's experiments come out as published: iterations, output regions, and an enclosure that is true."""

from __future__ import annotations

import csv
import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

import infimum
from infimum.bench.paper import is_true, published_rows
from infimum.records.result import Result

ROOT = Path(__file__).parent.parent
SMOOTH = [name for name in infimum.problems.names("paper") if name != "discontinuous"]
PUBLISHED = published_rows()

# Upper bounds that the paper's own code reaches. The best point sampled is the same, so is its value; but for Breiman,
# where that code reports -5 + 1.187e-9, at a point that exact cuts do not have. They put the nearest sample at
# (4/11 - 1/3) 3 / 4^8 in every variable, and 50 times the function's term there is the number below.
UPPER = {
    ("ackley", 50): 3.46831246389457e-07,
    ("belegundu", 50): -0.999999999318104,
    ("breiman", 50): -5 + 1.2832e-9,
    ("fu", 50): 1.00000000018858,
    ("griewank", 50): 1.72295511191579e-12,
    ("levy", 50): 1.12360605293781e-12,
    ("rastrigin", 50): 2.41919906329713e-08,
    ("salomon", 50): 6.13786917957882e-07,
    ("styblinski", 50): -199.999999984948,
    ("zabinsky", 50): -3.49999999854914,
    ("rosenbrock", 50): 5.95185798064361e-10,
    ("ackley", 100): 3.468310083576398e-07,
    ("griewank", 100): 2.024047596194123e-12,
    ("levy", 100): 7.50712900690518e-13,
}


@cache
def solved(name: str, n: int) -> Result:
    return infimum.minimize(infimum.problems.named(name, n), method="paper")


@pytest.mark.parametrize(
    ("name", "n"), [*((name, 50) for name in SMOOTH), ("ackley", 100), ("griewank", 100), ("levy", 100)]
)
def test_a_published_experiment_gives_the_published_iterations_and_regions(name: str, n: int) -> None:
    problem, published = infimum.problems.named(name, n), PUBLISHED[name, n]
    result = solved(name, n)
    assert result.success
    assert (result.nit, result.nregions) == (published["iterations"], published["output_regions"])
    assert problem.minimum in result.minimum
    assert is_true(problem, result)
    assert (result.boxes[:, :, 1] - result.boxes[:, :, 0] < 1e-4).all()
    # What is reached above the minimum agrees to a per cent, or to what rounding takes.
    least, theirs = float(problem.minimum), UPPER[name, n]
    assert float(result.minimum.hi) - least == pytest.approx(theirs - least, rel=0.01, abs=1e-13 * max(1, abs(least)))


def test_the_regions_of_rosenbrock_are_one_when_joined() -> None:
    result = solved("rosenbrock", 50)
    joined = result.merged()
    assert result.nregions == 9 and len(joined) == 1
    assert (joined[0, :, 0] <= 1).all() and (joined[0, :, 1] >= 1).all()


def test_the_derived_gradient_of_rosenbrock_alone_gives_the_published_numbers() -> None:
    problem = infimum.problems.rosenbrock(50)
    derived = infimum.minimize(problem.f, problem.bounds, method="paper")
    assert (derived.nit, derived.nregions) == (209, 9)


# --- the committed results -----------------------------------------------------------------------------------------


def _rows() -> list[dict[str, str]]:
    texts = [(ROOT / "bench" / "results" / name).read_text() for name in ("paper.csv", "paper_large.csv")]
    return [row for text in texts for row in csv.DictReader(text.splitlines())]


def test_the_committed_results_are_true_and_complete() -> None:
    rows = _rows()
    assert {(r["function"], r["n"]) for r in rows} >= {
        (name, n) for name in infimum.problems.names("paper") for n in ("50", "100")
    }
    assert all(r["true"] == "True" for r in rows)
    assert all(r["date"] and r["processor"] and int(r["threads"]) > 0 for r in rows)
    for r in rows:
        if r["function"] != "discontinuous" and r["status"] == "0" and r["paper_iterations"]:
            assert (r["iterations"], r["regions"]) == (r["paper_iterations"], r["paper_regions"]), r["function"]


def _maker(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their own module up
    spec.loader.exec_module(module)
    return module


def test_the_tables_of_the_page_are_what_the_committed_results_say() -> None:
    text = (ROOT / "docs" / "reproduction.md").read_text()
    assert text == _maker("make_reproduction_tables").page(text), "run python docs/make_reproduction_tables.py"


def test_the_method_written_plainly_agrees_with_the_search_and_with_its_figure() -> None:
    maker = _maker("make_figures")
    assert maker.FILE.read_text() == maker.figure(), "run python docs/make_figures.py"
    plain = maker.search(infimum.problems.rastrigin(2))
    assert plain.lower <= 0 <= plain.upper
    assert any((box[:, 0] <= 0).all() and (box[:, 1] >= 0).all() for box in plain.boxes["output"])
