"""infimum bench: repeat published experiments."""

from __future__ import annotations

import argparse
from typing import Any

from infimum import problems
from infimum.api.minimize import METHODS
from infimum.bench import compare, frontier, paper
from infimum.bench.cases import GRADES, cases
from infimum.cli.arguments import add_command, add_effort, add_files
from infimum.cli.exit_codes import CODES

_PAPER = f"""examples:
  infimum bench paper
  infimum bench paper --functions levy ackley --dim 50 100 500 1000
  infimum bench paper --functions rosenbrock --dim 100 --csv rosenbrock.csv --json rosenbrock.json

{CODES}"""

_COMPARE = f"""examples:
  infimum bench compare
  infimum bench compare --seconds 60 --methods differential-evolution basin-hopping
  infimum bench compare --function rastrigin --dim 20 --runs 5

The other methods are SciPy's, each with its own defaults and the derived gradient where it takes one. What they find is
the smallest value at any point that they looked at; they know nothing about the points in between.

{CODES}"""

_FRONTIER = f"""examples:
  infimum bench frontier --grade A
  infimum bench frontier --grade compare --problems levy schwefel --dim 2 10 --time-limit 10
  infimum bench frontier --grade B --problems lj3 hartmann6 --csv atoms.csv --json atoms.json

Grade compare has the problems that other solvers were timed on, grade A problems of up to a million variables, grade B
those that need more than sharp natural bounds. The minimum is to be enclosed to 1e-6, in grade A every minimiser too,
in boxes of 1e-4. "no": the solver gave up; "false": what it printed does not contain the minimum. "additions": how
many million dependent additions take as long, which says more than seconds where a machine is shared.

{CODES}"""


def add_to(commands: Any) -> None:
    """Add the three commands."""
    bench = commands.add_parser("bench", help="repeat published experiments").add_subparsers(required=True)
    _add_paper(bench)
    _add_compare(bench)
    _add_frontier(bench)


def _add_paper(bench: Any) -> None:
    said = "run the paper's experiments and print its tables beside ours"
    command = add_command(bench, "paper", said, run_paper, _PAPER)
    names = list(problems.names("paper"))
    command.add_argument("--functions", nargs="+", default=names, metavar="NAME", help="all by default")
    command.add_argument("--dim", nargs="+", type=int, default=[50, 100], metavar="N", help="50 and 100 by default")
    add_files(command, "paper", "csv", "json")
    add_effort(command)


def _add_compare(bench: Any) -> None:
    said = "run popular methods beside infimum and print what each finds"
    command = add_command(bench, "compare", said, run_compare, _COMPARE)
    methods = list(compare.METHODS)
    command.add_argument("--methods", nargs="+", default=methods, metavar="METHOD", help=", ".join(methods))
    command.add_argument("--function", default="ackley", metavar="NAME", help="ackley by default")
    command.add_argument("--dim", type=int, default=100, metavar="N", help="100 by default")
    command.add_argument("--seconds", type=float, default=10.0, help="the time of each other method; 10 by default")
    command.add_argument("--runs", type=int, metavar="N", help="at most so many runs of each, from random points")
    command.add_argument("--seed", type=int, default=0, help="of the random points; 0 by default")
    add_files(command, "compare", "csv")
    command.add_argument("--threads", type=int, metavar="N", help="as many as there are by default")


def _add_frontier(bench: Any) -> None:
    said = "run problems beyond the paper and print other solvers' figures beside ours"
    command = add_command(bench, "frontier", said, run_frontier, _FRONTIER)
    command.add_argument("--grade", nargs="+", choices=GRADES, default=list(GRADES), help="all by default")
    command.add_argument("--problems", nargs="+", default=[], metavar="NAME", help="all of the grade by default")
    command.add_argument("--dim", nargs="+", type=int, default=[], metavar="N", help="only these numbers of variables")
    command.add_argument("--method", default=METHODS[0], help=f"{', '.join(METHODS)}; the first by default")
    add_files(command, "frontier", "csv", "json")
    add_effort(command, f"for each problem; by default {frontier.PATIENCE:g}, or its target if that is longer")


def run_paper(options: argparse.Namespace) -> int:
    """Run the paper's experiments and print its tables beside ours."""
    for name in options.functions:
        problems.maker(name)
    return paper.paper(
        options.functions, options.dim, csv_file=options.csv, json_file=options.json,
        time_limit=options.time_limit, threads=options.threads, backend=options.backend,
    )  # fmt: skip


def run_compare(options: argparse.Namespace) -> int:
    """Run SciPy's methods beside infimum and print what each found."""
    return compare.compare(
        options.methods, name=options.function, n=options.dim, seconds=options.seconds, runs=options.runs,
        seed=options.seed, csv_file=options.csv, threads=options.threads,
    )  # fmt: skip


def run_frontier(options: argparse.Namespace) -> int:
    """Run problems beyond the paper and print other solvers' figures beside ours."""
    return frontier.frontier(
        cases(options.grade, options.problems, options.dim), csv_file=options.csv, json_file=options.json,
        method=options.method, time_limit=options.time_limit, threads=options.threads, backend=options.backend,
    )  # fmt: skip
