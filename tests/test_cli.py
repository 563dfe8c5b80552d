"""The command line: what it prints is true, what it refuses it explains, and its exit codes can be relied on."""

from __future__ import annotations

import csv
import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from infimum import problems
from infimum.api.minimize import minimize
from infimum.bench.paper import published_rows
from infimum.cli.main import exit_code, main
from infimum.cli.target import read_bound
from infimum.errors import InvalidOption
from infimum.exact.number import exact, pi
from infimum.search.paper.partition import PARTITIONS
from infimum.search.paper.selection import Best
from infimum.search.status import Status

MODEL = """
import numpy as np
import beside
from infimum import problems

def energy(x):
    return np.sum(x**2) + beside.OFFSET

def undefined(x):
    return np.log(-1 - x[0]**2)

def branching(x):
    return 1 if x[0] > 0 else 2

def wave(x):
    return np.sin(x[0]) + x[0] / 3

def missing(x):
    return {}["depth"] * x[0]

def _table():
    raise OSError("no such table")

def deep(x):
    return x[0] + _table()

def late(x):
    y = x[0] ** 2
    raise ZeroDivisionError("a bad day")

hills = problems.rastrigin(3)
"""


@pytest.fixture
def model(tmp_path: Path) -> str:
    (tmp_path / "beside.py").write_text("OFFSET = 7\n")
    (tmp_path / "model.py").write_text(MODEL)
    return str(tmp_path / "model.py")


def test_solve_prints_a_true_result(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", "levy", "--dim", "20"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("levy, 20 variables") and "minimum  [0" in out and "(proved)" in out
    assert err == ""


def test_solve_reads_a_function_of_a_file_and_bounds_as_written(
    model: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "result.json"
    bounds = ["--bounds", "-1e1", "1/3", "--bounds", "-pi", "0.1"]
    assert main(["solve", f"{model}:energy", *bounds, "--json", str(file)]) == 0
    read = json.loads(file.read_text())
    assert read["n"] == 2 and read["minimum"][0] <= 7 <= read["minimum"][1] and read["status"] == 0
    assert "2 variables" in capsys.readouterr().out
    assert main(["solve", f"{model}:hills", "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["n"] == 3


def test_a_maximum_and_goals(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--dim", "2", "--bounds", "-1", "2", "--maximize", "--xtol", "none", "--ftol", "1e-3"]
    assert main(["solve", f"{model}:energy", *arguments]) == 0
    assert "maximum" in capsys.readouterr().out


@pytest.mark.parametrize("name", PARTITIONS)
def test_a_partition_is_chosen_by_name_parts_and_variables(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["solve", "levy", "--dim", "4", "--json", "-", "--partition", name]
    assert main([*arguments, "--parts", "2", "--variables", "3"]) == 0
    chosen = json.loads(capsys.readouterr().out)
    expected = minimize(problems.levy(4), partition=PARTITIONS[name](parts=2, variables=3))
    assert chosen["nit"] == expected.nit and chosen["boxes"] == expected.boxes.tolist()
    assert main(arguments) == 0
    assert json.loads(capsys.readouterr().out)["nit"] == minimize(problems.levy(4), partition=name).nit


def test_samplings_and_a_selection_are_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["solve", "ackley", "--dim", "4", "--json", "-", "--sampling", "midpoint", "--sampling", "latin"]
    assert main([*arguments, "--selection", "3"]) == 0
    chosen = json.loads(capsys.readouterr().out)
    expected = minimize(problems.ackley(4), sampling=["midpoint", "latin"], selection=Best(3))
    assert (chosen["nit"], chosen["nfev"]) == (expected.nit, expected.nfev)
    assert chosen["boxes"] == expected.boxes.tolist()


def test_a_memory_limit_is_read_in_bytes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", "eggholder", "--memory-limit", "3e3"]) == 1
    assert "4 (memory): The memory limit was reached" in capsys.readouterr().out
    assert main(["solve", "hartmann6", "--memory-limit", "none"]) == 0


def test_a_limit_has_its_own_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", "griewank", "--method", "paper", "--dim", "30", "--max-iter", "2", "--threads", "1"]) == 1
    assert "2 (iterations)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["levi", "--dim", "3"], "There is no problem 'levi'. Did you mean 'levy'? There are ackley"),
        (["levy"], "Write for instance --dim 100"),
        (["levy", "--dim", "0"], "--dim must be positive, got 0"),
        (["levy", "--dim", "2", "--bounds", "2", "1"], "the lower one is larger"),
        (["levy", "--dim", "3", "--bounds", "0", "1", "--bounds", "0", "1"], "--bounds was given 2 times"),
        (["levy", "--dim", "2", "--bounds", "a", "1"], "--bounds a: this is no number"),
        (["levy", "--dim", "2", "--xtol", "-1"], "xtol must be positive, got -1.0"),
        (["levy", "--dim", "2", "--backend", "tpu"], "backend='tpu' is not offered"),
        (["levy", "--dim", "2", "--partition", "silver"], "partition='silver' is not offered. Write partition= one of"),
        (["levy", "--dim", "2", "--partition", "silver", "--parts", "3"], "partition='silver' is not offered"),
        (["levy", "--dim", "2", "--parts", "1"], "partition.parts must be an integer from 2 on, got 1"),
        (["levy", "--dim", "2", "--variables", "0"], "partition.variables must be an integer from 1 on, got 0"),
        (["levy", "--dim", "2", "--sampling", "dense"], "sampling='dense' is not offered. Write sampling= one of"),
        (["levy", "--dim", "2", "--sampling", "paper", "--sampling", "dense"], "sampling='dense' is not offered"),
        (["levy", "--dim", "2", "--selection", "0"], "selection.count must be a positive integer, got 0"),
        (["levy", "--dim", "2", "--max-iter", "0"], "max_iter must be a positive integer, got 0"),
        (["levy", "--dim", "2", "--max-regions", "-1"], "max_regions must be a positive integer, got -1"),
        (["levy", "--dim", "2", "--memory-limit", "-1"], "memory_limit must be a positive number of bytes, got -1.0"),
        (["lj3", "--dim", "2"], "lj3 has 3 variables, got 2"),
        (["levy", "--dim", "2", "--time-limit", "0"], "time_limit must be positive, got 0.0"),
        (["levy", "--dim", "2", "--threads", "0"], "threads must be a positive integer, got 0"),
        (["levy", "--dim", "2", "--ftol", "-1"], "ftol must be positive or zero, got -1.0"),
        (["levy", "--dim", "2", "--json", "/nowhere/at/all.json"], "/nowhere/at/all.json: No such file"),
        (["absent.py:f", "--dim", "2"], "There is no file absent.py"),
        (["MODEL", "--dim", "2", "--bounds", "0", "1"], "which function?"),
        (["MODEL:absent", "--dim", "2", "--bounds", "0", "1"], "has no absent. It has energy, undefined"),
        (["MODEL:energy", "--dim", "2"], "needs bounds"),
        (["MODEL:branching", "--dim", "2", "--bounds", "-1", "1"], "np.where"),
    ],
)
def test_what_means_nothing_is_refused_with_a_sentence(
    arguments: list[str], words: str, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["solve", *(word.replace("MODEL", model) for word in arguments)]) == 2
    out, err = capsys.readouterr()
    assert out.count("\n") == 0 or "--json" in arguments
    assert words in err and err.startswith("infimum: ") and "Traceback" not in err


def test_no_optimum_has_its_own_exit_code(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", f"{model}:undefined", "--dim", "1", "--bounds", "-1", "1"]) == 3
    assert "6 (undefined)" in capsys.readouterr().out


@pytest.mark.parametrize("status", list(Status))
def test_every_status_has_an_exit_code(status: Status) -> None:
    expected = {0: 0, 5: 130, 6: 3, 9: 3, 10: 3}.get(int(status), 1)
    assert exit_code(SimpleNamespace(status=status)) == expected


def test_a_goal_that_is_missed_is_told_and_ends_with_1(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--dim", "1", "--bounds", "-9", "9", "--ftol", "0", "--fatol", "0", "--time-limit", "20"]
    assert main(["solve", f"{model}:wave", *arguments]) == 1
    out = capsys.readouterr().out
    assert "8 (goal_missed)" in out and "x[0] in" in out


def test_goals_are_read_as_those_of_minimize(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    place = ["solve", f"{model}:wave", "--dim", "1", "--bounds", "-9", "9", "--json", "-"]
    for words, options in [
        ([], {}),
        (["--ftol", "1e-2", "--fatol", "0"], {"ftol": 1e-2, "fatol": 0}),
        (["--ftol", "none", "--xrtol", "1e-3"], {"ftol": None, "xrtol": 1e-3}),
        (["--xtol", "1e-7"], {"xtol": 1e-7}),
        (["--method", "paper"], {"method": "paper"}),
        (["--method", "paper", "--xtol", "none", "--ftol", "1e-3"], {"method": "paper", "xtol": None, "ftol": 1e-3}),
    ]:
        assert main([*place, *words]) == 0
        read = json.loads(capsys.readouterr().out)
        meant = minimize(lambda x: np.sin(x[0]) + x[0] / 3, [(-9, 9)], **options)
        assert (read["nit"], read["boxes"]) == (meant.nit, meant.boxes.tolist()), words


@pytest.mark.parametrize(
    ("name", "words"),
    [("missing", "KeyError: 'depth'"), ("deep", "OSError: no such table"), ("late", "ZeroDivisionError: a bad day")],
)
def test_an_error_of_the_users_function_is_told_with_its_line(
    name: str, words: str, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["solve", f"{model}:{name}", "--dim", "1", "--bounds", "0", "1"]) == 2
    out, err = capsys.readouterr()
    assert err.startswith("infimum: model.py:") and words in err and "Traceback" not in err and out == ""


def test_a_fault_of_ours_is_told_as_such(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("infimum.search.auto.separable.Search", None)
    assert main(["solve", "levy", "--dim", "2"]) == 2
    err = capsys.readouterr().err
    assert "TypeError: 'NoneType'" in err and "please report it" in err


def test_a_file_that_fails_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "broken.py").write_text("1 / 0\n")
    assert main(["solve", f"{tmp_path / 'broken.py'}:f", "--dim", "2", "--bounds", "0", "1"]) == 2
    err = capsys.readouterr().err
    assert "broken.py cannot be run: ZeroDivisionError" in err and "broken.py:1   1 / 0" in err


def test_bounds_are_the_numbers_that_were_written() -> None:
    assert read_bound("0.1") == exact(1, 10) and read_bound(" -pi") == -pi and read_bound("1/3") == exact(1, 3)
    assert (
        read_bound("-inf") == -float("inf")
        and read_bound("inf") == float("inf")
        and read_bound("-1e-3") == exact("-0.001")
    )
    with pytest.raises(InvalidOption):
        read_bound("1 2")


def test_the_problems_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["problems"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in problems.names()) and "0 to pi" in out and "exact" not in out


@pytest.mark.parametrize("name", ["hartmann6", "nist_danwood", "lj3safe"])
def test_a_problem_with_its_own_number_of_variables_needs_no_dim(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", name]) == 0
    assert capsys.readouterr().out.startswith(f"{name}, {problems.size(name)} variables")


@pytest.mark.parametrize(
    "command", [[], ["solve"], ["bench", "paper"], ["bench", "compare"], ["bench", "frontier"], ["problems"]]
)
def test_every_command_explains_itself(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*command, "--help"])
    out = capsys.readouterr().out
    assert ended.value.code == 0 and "infimum" in out
    assert command == ["problems"] or "exit codes:" in out
    assert not command or command == ["problems"] or "examples:" in out


def test_a_wrong_option_ends_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["solve", "levy", "--dim", "many"])
    assert ended.value.code == 2 and "invalid int value" in capsys.readouterr().err


# --- bench paper ---------------------------------------------------------------------------------------------------


def test_the_papers_tables_are_read() -> None:
    rows = published_rows()
    assert len(rows) == 51 and rows["levy", 10_000] == {"iterations": 9000, "output_regions": 1, "gh200_s": 376589}


def test_bench_paper_prints_and_writes_the_tables_side_by_side(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [tmp_path / "rows.csv", tmp_path / "rows.json"]
    where = ["--csv", str(files[0]), "--json", str(files[1])]
    assert main(["bench", "paper", "--functions", "levy", "zabinsky", "--dim", "7", "50", *where]) == 0
    out = capsys.readouterr().out
    assert "RTX 4090" in out and "GH200" in out and "2 of 2 equal to the paper" in out and "LOST" not in out
    written = list(csv.DictReader(files[0].read_text().splitlines()))
    read = json.loads(files[1].read_text())["rows"]
    assert [(r["function"], r["n"]) for r in read] == [("levy", 7), ("zabinsky", 7), ("levy", 50), ("zabinsky", 50)]
    assert read[2]["iterations"] == read[2]["paper_iterations"] == 45 == int(written[2]["iterations"])
    assert read[2]["ratio_workstation"] == pytest.approx(136 / read[2]["seconds"], rel=0.01)
    assert read[0]["paper_iterations"] is None and float(written[0]["upper"]) == read[0]["upper"]


def test_bench_paper_refuses_an_unknown_function(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "paper", "--functions", "levi"]) == 2
    assert "There is no problem 'levi'" in capsys.readouterr().err


# --- a process of its own ------------------------------------------------------------------------------------------

COMMAND = [sys.executable, "-m", "infimum", "solve", "rosenbrock", "--method", "paper", "--dim", "5000"]


def _let_work(run: subprocess.Popen[str], seconds: float = 2.5) -> None:
    """Wait until a process is well under way: it has used the processor for so long, however busy the machine is."""
    times = Path(f"/proc/{run.pid}/stat")
    if not times.exists():
        time.sleep(3)
        return
    ticks = os.sysconf("SC_CLK_TCK")
    while sum(map(int, times.read_text().rpartition(")")[2].split()[11:13])) < seconds * ticks:
        time.sleep(0.05)


def test_ctrl_c_ends_a_solve_with_the_result_so_far() -> None:
    run = subprocess.Popen([*COMMAND, "--time-limit", "60"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    _let_work(run)
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=30)
    assert run.returncode == 130, err
    assert "5 (interrupted)" in out and "minimum  [0" in out and "Traceback" not in err


def test_after_ctrl_c_the_result_is_printed_and_the_file_written(tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    command = [*COMMAND, "--time-limit", "60", "--json", str(file)]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    _let_work(run)
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=60)
    assert run.returncode == 130, err
    assert "5 (interrupted)" in out and json.loads(file.read_text())["status"] == 5


def test_the_result_is_printed_before_a_file_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", "levy", "--dim", "2", "--json", "/nowhere/at/all.json"]) == 2
    out, err = capsys.readouterr()
    assert "0 (proved)" in out and "/nowhere/at/all.json: No such file" in err


def test_the_live_display_appears_on_a_terminal_only() -> None:
    inner, outer = pty.openpty()
    run = subprocess.Popen([*COMMAND, "--time-limit", "3"], stdout=subprocess.PIPE, stderr=outer, text=True)
    os.close(outer)
    shown = b""
    try:
        while piece := os.read(inner, 4096):
            shown += piece
    except OSError:
        pass  # Linux says so when the other end is closed
    out, _ = run.communicate(timeout=30)
    os.close(inner)
    assert run.returncode == 1 and "1 (time)" in out
    assert b"rosenbrock" in shown and b"iteration" in shown and b"regions" in shown and b"gap" in shown


@pytest.mark.parametrize(
    ("text", "name", "words"),
    [
        ("import sys\nsys.exit(0)\n", "f", "SystemExit"),
        ("class C:\n    def __call__(self, x):\n        return x[0]\n", "C", "is a class"),
        ("def f(x:\n", "f", "model.py, line 1"),
    ],
)
def test_a_file_that_cannot_be_used_is_told_in_words(
    text: str, name: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "model.py"
    file.write_text(text)
    assert main(["solve", f"{file}:{name}", "--dim", "1", "--bounds", "-1", "1"]) == 2
    err = capsys.readouterr().err
    assert words in err and "fault of infimum" not in err and "target.py" not in err


def test_words_that_are_no_bounds_and_no_contractors_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", "levy", "--dim", "2", "--bounds", "none", "none"]) == 2
    assert main(["solve", "levy", "--dim", "2", "--contractors", ""]) == 2
    assert "no number" in capsys.readouterr().err
