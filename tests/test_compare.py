"""infimum bench compare: other methods get their time and no more, and what they find is not called proved."""

from __future__ import annotations

import csv
import importlib
import importlib.util
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import infimum
from infimum.bench.compare import METHODS, Objective, published_rows
from infimum.cli.main import main
from infimum.domain import read_bounds

scipy = pytest.mark.skipif(importlib.util.find_spec("scipy") is None, reason="SciPy is not installed")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "compare.csv"


def _read(file: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(file.read_text().splitlines()))


@scipy
def test_every_method_runs_and_none_is_below_the_proved_minimum(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--dim", "6", "--seconds", "0.2", "--csv", str(file)]
    assert main(["bench", "compare", *arguments]) == 0
    rows = _read(file)
    assert [r["method"] for r in rows] == ["infimum", *METHODS]
    lower = float(rows[0]["proved_lower"])
    assert lower <= 0 <= float(rows[0]["value"])
    assert all(float(r["value"]) >= lower and int(r["runs"]) >= 1 for r in rows)
    assert all(r["proved_lower"] == "" for r in rows[1:])
    out = capsys.readouterr().out
    assert "ackley, 6 variables" in out and "nothing" in out and all(name in out for name in METHODS)


@scipy
def test_a_method_gets_its_seconds_and_no_more(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    started = time.process_time()
    arguments = ["--dim", "30", "--seconds", "0.3", "--methods", "differential-evolution", "nelder-mead"]
    assert main(["bench", "compare", *arguments, "--csv", str(file)]) == 0
    assert time.process_time() - started < 10
    for r in _read(file)[1:]:
        assert r["cut_short"] == "True" and 0.29 <= float(r["seconds"]) < 10
    assert "did not come within 1e-6 of the minimum" in capsys.readouterr().out


@scipy
def test_runs_and_seed_make_it_repeatable(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [file, tmp_path / "again.csv"]
    for each in files:
        options = ["--function", "rastrigin", "--dim", "3", "--runs", "3", "--methods", "bfgs", "direct", "--seed", "5"]
        assert main(["bench", "compare", *options, "--seconds", "30", "--csv", str(each)]) == 0
    first, again = (_read(each) for each in files)
    assert [int(r["runs"]) for r in first] == [1, 3, 1]
    assert [(r["value"], r["evaluations"]) for r in first] == [(r["value"], r["evaluations"]) for r in again]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--methods", "annealing"], "There is no method 'annealing' to compare with. There are basin-hopping"),
        (["--seconds", "0"], "--seconds must be positive, got 0.0"),
        (["--seconds", "nan"], "--seconds must be positive, got nan"),
        (["--runs", "0"], "--runs must be positive, got 0"),
        (["--function", "levi"], "There is no problem 'levi'"),
    ],
)
def test_what_means_nothing_is_refused_with_a_sentence(
    arguments: list[str], words: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", "compare", *arguments, "--csv", str(file)]) == 2
    assert words in capsys.readouterr().err and not file.exists()


def test_without_scipy_a_sentence_says_what_to_install(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def absent(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", absent)
    assert main(["bench", "compare", "--csv", str(file)]) == 2
    assert "SciPy is missing" in capsys.readouterr().err


def test_a_point_outside_the_domain_is_not_counted_as_found() -> None:
    function = infimum.trace(lambda x: x[0], 1)
    f = Objective(function, read_bounds([(0, 1)]), seconds=60)
    assert f.value(np.array([-5.0])) == -5 and f.best == np.inf
    assert f.value(np.array([0.5])) == 0.5 and f.best == 0.5 and f.evaluations == 2


def test_the_papers_comparison_is_read() -> None:
    rows = published_rows()
    assert rows["differential-evolution"] == {"runs": 100, "value": 0.7854, "seconds": 8559.0}
    assert set(METHODS) < set(rows)
