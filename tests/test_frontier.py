"""Problems beyond the paper: their known minima are true, and `infimum bench frontier` judges claims by them."""

from __future__ import annotations

import csv
import dataclasses
import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flint import arb

import frontier_arb
from infimum import problems
from infimum.api import minimize as api
from infimum.bench.cases import (
    GRADES,
    SOLVERS,
    Case,
    cases,
    holds_the_minimiser,
    is_true,
    known_minimum,
    published_rows,
    sure,
)
from infimum.bench.frontier import row
from infimum.cli.main import main
from infimum.domain import read_bounds
from infimum.errors import InfimumError, InvalidOption
from infimum.exact.number import ExactArray
from infimum.function.function import trace
from infimum.interval import Interval
from infimum.problems.fits import FITS
from infimum.problems.moved import rotation, shift
from infimum.problems.problem import Problem

SIZES = {
    "goldstein_price": 2, "eggholder": 2, "shekel10": 4, "hartmann6": 6, "paviani": 10, "watson": 6, "lj3": 3,
    "lj3safe": 3, "lj4": 6, "michalewicz": 10, "powell": 8, **{name: len(fit.bounds) for name, fit in FITS.items()},
}  # fmt: skip
NEW = [name for name in problems.names() if name not in problems.names("paper")]


def made(name: str) -> Problem:
    return problems.named(name, SIZES.get(name, 6))


def in_arb(problem: Problem, x: Any) -> Any:
    """The value at a point, or over the tightest box around an exact one."""
    at = Interval(x)
    balls = [arb((a + b) / 2, (b - a) / 2) for a, b in zip(at.lo.tolist(), at.hi.tolist(), strict=True)]
    f, name = frontier_arb.ALL[problem.name], problem.name
    plain = name.removeprefix("rot" if name.startswith("rot") else "s")
    if plain in frontier_arb.MOVED:
        s = [arb(float(v)) for v in problem.minimiser]
        return f(balls, s, rotation(problem.n)) if name.startswith("rot") else f(balls, s)
    return f(balls)


@pytest.mark.parametrize("name", NEW)
def test_the_known_minimum_is_the_value_at_the_minimiser_in_high_precision(name: str) -> None:
    problem = made(name)
    value, known = in_arb(problem, problem.minimiser), known_minimum(problem)
    lo, hi = float(value.lower()), float(value.upper())
    assert hi - lo < 1e-12
    # A double next to the minimiser is above the minimum, by the square of what it is off.
    slack = 1e-12 * max(1.0, abs(hi)) if name in ("schwefel", "styblinski_tang", "dixon_price") else 0.0
    assert lo <= known.hi + slack and known.lo <= hi
    assert read_bounds(problem.bounds).contains(np.asarray(problem.minimiser, np.float64))
    traced = trace(problem.f, problem.n)
    assert not is_disjoint(traced.enclose(Interval(problem.minimiser)), Interval(lo, hi))
    assert traced.name == name


def is_disjoint(a: Interval, b: Interval) -> bool:
    return bool(a.hi < b.lo or b.hi < a.lo)


@pytest.mark.parametrize("name", NEW)
def test_the_formula_is_that_of_an_independent_one_at_random_points(name: str) -> None:
    problem = made(name)
    domain, rng = read_bounds(problem.bounds), np.random.default_rng(7)
    traced = trace(problem.f, problem.n)
    at = np.asarray(problem.minimiser, np.float64)
    for _ in range(5):
        x = at + 0.1 * (rng.uniform(domain.inner_lo, domain.inner_hi) - at)
        value = in_arb(problem, x)
        inside = traced.enclose(Interval(x))
        assert inside.lo <= float(value.upper()) and float(value.lower()) <= inside.hi
        assert float(problem.f(x)) == pytest.approx(float(value.mid()), rel=1e-9, abs=1e-9)


@pytest.mark.skipif(importlib.util.find_spec("scipy") is None, reason="SciPy is not installed")
@pytest.mark.parametrize("name", NEW)
def test_no_descent_ends_below_the_known_minimum(name: str) -> None:
    optimize = pytest.importorskip("scipy.optimize")
    problem = made(name)
    domain, rng, traced = read_bounds(problem.bounds), np.random.default_rng(11), trace(problem.f, problem.n)
    box = list(zip(domain.inner_lo.tolist(), domain.inner_hi.tolist(), strict=True))

    def both(x: Any) -> Any:
        value, gradient = traced.value_and_gradient(x)
        return float(value), np.asarray(gradient)

    known = known_minimum(problem)
    for _ in range(2):
        start = rng.uniform(domain.inner_lo, domain.inner_hi)
        with np.errstate(all="ignore"):
            found = optimize.minimize(both, start, jac=True, method="L-BFGS-B", bounds=box, options={"maxiter": 40})
        assert not np.isfinite(found.fun) or found.fun >= float(known.lo) - 1e-10 * max(1.0, abs(found.fun))


def test_no_valley_of_michalewicz_is_below_the_one_that_is_taken() -> None:
    at, x = np.asarray(problems.michalewicz(100).minimiser), np.linspace(0, np.pi, 20_001)
    for i, place in enumerate(at.tolist(), 1):
        lowest = -np.sin(place) * np.sin(i * place**2 / np.pi) ** 20
        assert (-np.sin(x) * np.sin(i * x**2 / np.pi) ** 20).min() >= lowest - 1e-13
    assert problems.michalewicz(10).minimum == pytest.approx(-9.66015171564, abs=1e-11)


def test_minima_of_many_variables_are_the_published_ones() -> None:
    assert float(problems.styblinski_tang(1000).minimum) == pytest.approx(-39.16616570377142 * 1000, rel=1e-14)
    # Published with 13 digits, of which the last is one off.
    assert float(problems.schwefel(50).minimum) == pytest.approx(50 * (418.9829 - 418.9828872724338), abs=1e-10)
    assert [problems.trid(n).minimum for n in (6, 10, 50, 1000)] == [-50, -210, -22_050, -167_166_000]
    assert problems.alpine1(50).minimum == problems.qing(50).minimum == 0


def test_shifts_lie_inside_and_rotations_are_nearly_orthogonal() -> None:
    for n in (2, 5, 50):
        r, s = rotation(n), shift(problems.griewank(n))
        assert np.abs(r @ r.T - np.eye(n)).max() < 1e-11
        assert (r * 2.0**40 == np.round(r * 2.0**40)).all() and (s * 2.0**40 == np.round(s * 2.0**40)).all()
        # Not on a grid that bisection would hit.
        assert (s * 2.0**20 != np.round(s * 2.0**20)).all()
        assert (s >= -47.6).all() and (s <= 57.6).all() and np.abs(s).min() > 0
    assert (rotation(4) == rotation(4)).all()


@pytest.mark.parametrize("case", [c for c in cases() if c.n <= 100], ids=lambda c: f"{c.grade}-{c.name}-{c.n}")
def test_every_case_is_a_problem_of_its_size(case: Case) -> None:
    problem = case.problem()
    assert problem.name == case.name and problem.n == len(problem.bounds) == len(problem.minimiser) == case.n
    assert isinstance(problem.minimiser, np.ndarray | ExactArray)
    assert known_minimum(problem).wid <= 1e-9 * max(1.0, abs(float(problem.minimum)))
    assert (case.xtol is None) == (case.grade != "A" or case.name == "discontinuous") and 0 < case.ftol <= 1e-6


def test_the_grades_have_all_rows() -> None:
    count = {grade: len(cases([grade])) for grade in GRADES}
    assert count == {"compare": 72, "A": 36, "B": 39}
    large = {(c.name, c.n): c for c in cases(["A"]) if c.n > 1000}
    assert {n for _, n in large} == {10_000, 1_000_000} and len(large) == 22
    assert large["griewank", 1_000_000].xtol == 2e-3 and large["levy", 10_000].target == 1
    assert {c.target for c in cases(["compare"], ["lj3", "levy"], [2, 3, 50, 500])} == {None, 0.05, 6.64}
    assert {sure(name) for name in NEW} == {"exact", "decimals", "best known"}


def test_the_published_seconds_are_complete() -> None:
    published = published_rows()
    assert len(published) == 72 and all(list(others) == list(SOLVERS) for others in published.values())
    texts = [text for others in published.values() for text in others.values()]
    assert all(text in ("", "no", "false") or float(text) >= 0 for text in texts)
    assert texts.count("false") == 11 and published["dixon_price", 10]["discopt"] == "false"
    assert set(published["lj3", 3].values()) == {"no"} and published["levy", 100]["ibex"] == "31.40"


# --- the command ---------------------------------------------------------------------------------------------------


@pytest.fixture
def written(tmp_path: Path) -> tuple[Path, Path]:
    return tmp_path / "frontier.csv", tmp_path / "frontier.json"


def bench(written: tuple[Path, Path], *arguments: str) -> int:
    return main(["bench", "frontier", *arguments, "--csv", str(written[0]), "--json", str(written[1])])


def test_easy_rows_are_proved_and_written(written: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    easy = ["--grade", "compare", "--problems", "rastrigin", "griewank", "schwefel", "--dim", "2"]
    assert bench(written, *easy) == 0
    out, err = capsys.readouterr()
    assert "3 of 3 proved" in out and "No claim is false." in out and "IBEX" in out and "BARON" in out
    assert "3/3  schwefel, n = 2" in err
    rows = list(csv.DictReader(written[0].read_text().splitlines()))
    assert [r["problem"] for r in rows] == ["rastrigin", "griewank", "schwefel"]
    assert all(r["true"] == r["proved"] == "True" and r["processor"] and r["date"] for r in rows)
    assert all(float(r["lower"]) <= float(r["known_upper"]) for r in rows) and rows[2]["maingo"] == "false"
    read = json.loads(written[1].read_text())
    assert read["method"] == api.METHODS[0] and read["date"] and len(read["rows"]) == 3
    assert read["rows"][0]["ibex"] == "0.08" and read["rows"][0]["target"] == 0.08


def test_a_row_that_runs_out_of_time_is_true_and_not_proved(
    written: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench(written, "--grade", "B", "--problems", "watson", "--time-limit", "0.2", "--method", "paper") == 1
    assert "stopped (time)" in capsys.readouterr().out
    (r,) = csv.DictReader(written[0].read_text().splitlines())
    assert r["true"] == "True" and r["proved"] == "False" and float(r["seconds"]) < 10


def test_a_false_claim_is_called_false() -> None:
    case = Case("A", "rastrigin", 2, 1.0, xtol=1e-4)
    problem = case.problem()
    result = api.minimize(problem, ftol=case.ftol, xtol=case.xtol)
    assert row(case, problem, result, 0.1, "", {})["verdict"] == "proved"
    assert row(case, problem, result, 1.1, "", {})["verdict"] == "proved, late"
    higher = dataclasses.replace(problem, minimum=1e-3)
    elsewhere = dataclasses.replace(problem, minimiser=np.array([0.0, 1.0]))
    for other in (higher, elsewhere):
        assert row(case, other, result, 0.1, "", {})["verdict"] == "FALSE"
    assert not holds_the_minimiser(elsewhere, result.boxes)
    assert not is_true(problem, Interval(1e-300, 1)) and not is_true(problem, Interval(-1, -1e-300))


def test_a_refusal_is_a_row_and_the_others_still_run(
    written: tuple[Path, Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = api.minimize

    def refusing(problem: Problem, **how: Any) -> Any:
        if problem.name == "griewank":
            raise InfimumError("It cannot be done.\nReally.")
        return plain(problem, **how)

    monkeypatch.setattr(api, "minimize", refusing)
    assert bench(written, "--grade", "compare", "--problems", "griewank", "rastrigin", "--dim", "2") == 1
    rows = list(csv.DictReader(written[0].read_text().splitlines()))
    by_name = {r["problem"]: r for r in rows}
    assert by_name["griewank"]["refused"] == "It cannot be done." and by_name["griewank"]["verdict"] == "refused"
    assert by_name["rastrigin"]["verdict"].startswith("proved") and "1 of 2 proved" in capsys.readouterr().out


def test_what_is_not_there_is_refused_with_a_sentence(
    written: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench(written, "--grade", "B", "--problems", "levi") == 2
    assert "There is no problem 'levi' in B. There are styblinski_tang, schwefel" in capsys.readouterr().err
    assert bench(written, "--dim", "77") == 2
    assert "None of these problems has 77 variables" in capsys.readouterr().err
    for name, n, said in (("lj3", 4, "3 variables"), ("powell", 6, "multiple of 4"), ("trid", 1, "at least 2")):
        with pytest.raises(InvalidOption, match=said):
            problems.named(name, n)
    with pytest.raises(InvalidOption, match="no problem 'nothing'"):
        problems.named("nothing", 2)
