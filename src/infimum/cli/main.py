"""The command line (POLICY): infimum solve | problems | bench paper | bench compare | bench frontier."""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from infimum import problems
from infimum.api.minimize import METHODS, minimize
from infimum.bench import compare as cli_compare
from infimum.bench import frontier as cli_frontier
from infimum.bench import paper as cli_bench
from infimum.cli.target import read_bound, target
from infimum.contractors.table import DEFAULT, NAMES
from infimum.errors import InfimumError
from infimum.records.result import Result
from infimum.search.auto.split_table import SPLITS
from infimum.search.paper.partition import PARTITIONS
from infimum.search.paper.sampling import SAMPLINGS
from infimum.search.paper.selection import Best
from infimum.search.status import Status
from infimum.tracing.refusal import place_of_error

PROVED, STOPPED, WRONG, NO_OPTIMUM, INTERRUPTED = 0, 1, 2, 3, 130

_EXIT = {
    Status.PROVED: PROVED,
    Status.UNDEFINED: NO_OPTIMUM,
    Status.UNBOUNDED: NO_OPTIMUM,
    Status.NOT_ATTAINED: NO_OPTIMUM,
    Status.INTERRUPTED: INTERRUPTED,
}

_CODES = f"""exit codes:
  {PROVED}    the minimum is enclosed as tightly as asked for
  {STOPPED}    a limit was reached or a goal missed; the enclosure that is printed is true
  {WRONG}    the command or the function is wrong; a sentence says how
  {NO_OPTIMUM}    there is no optimum: the function is undefined everywhere, unbounded, or nowhere as low as it gets
  {INTERRUPTED}  interrupted by Ctrl-C; the enclosure that is printed is true"""

_SOLVE = f"""examples:
  infimum solve levy --dim 1000
  infimum solve zabinsky --dim 50 --bounds 0 pi --json zabinsky.json
  infimum solve model.py:energy --dim 3 --bounds -10 10 --ftol 1e-3 --xtol 1e-4
  infimum solve model.py:energy --bounds 0 1 --bounds -inf inf --time-limit 60
  infimum solve model.py:rate --dim 2 --bounds 1e-8 1e8 --partition logarithmic --parts 2 --variables 2
  infimum solve rosenbrock --dim 50 --sampling local --sampling paper --selection 4
  infimum solve levy --dim 10 --contractors level,stationary --split largest

model.py holds a function of an array x in NumPy style. Bounds are read as written: 0.1 is one tenth. Given once they
hold for all variables, given several times each pair is that of one variable.

The search ends when every goal holds. Of the value, [lower, upper] being the minimum enclosed: upper - lower is at most
--ftol times |upper|, or at most --fatol, which is in the units of the function. Of the boxes, where one is given: each
is narrower than --xtol, in the units of the variables, and than --xrtol times the distance between its bounds.

{_CODES}"""

_GOALS = {
    "ftol": "gap between the bounds of the minimum, relative to it (1e-6; paper: none); none: any gap",
    "fatol": "gap that is small enough in any case, in the units of the function (1e-9); 0: relative alone",
    "xtol": "every box narrower than this, in the units of the variables (none; paper: 1e-4)",
    "xrtol": "every box narrower than this part of the bounds' width (none)",
}

_BENCH = f"""examples:
  infimum bench paper
  infimum bench paper --functions levy ackley --dim 50 100 500 1000
  infimum bench paper --functions rosenbrock --dim 100 --csv rosenbrock.csv --json rosenbrock.json

{_CODES}"""

_COMPARE = f"""examples:
  infimum bench compare
  infimum bench compare --seconds 60 --methods differential-evolution basin-hopping
  infimum bench compare --function rastrigin --dim 20 --runs 5

The other methods are SciPy's, each with its own defaults and the derived gradient where it takes one. What they find is
the smallest value at any point that they looked at; they know nothing about the points in between.

{_CODES}"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the arguments ask for, and return the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = _parser().parse_args(_shielded(given))
    try:
        code: int = options.run(options)
    except InfimumError as error:
        print(f"infimum: {error}", file=sys.stderr)
        code = WRONG
    except BrokenPipeError:  # nobody reads any more
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = STOPPED
    except KeyboardInterrupt:
        print("infimum: interrupted", file=sys.stderr)
        code = INTERRUPTED
    except Exception as error:
        print(f"infimum: {_told(error)}", file=sys.stderr)
        code = WRONG
    return code


def _told(error: Exception) -> str:
    """Return what went wrong, in words."""
    # | raised by            | said                                                      |
    # | the user's function  | its line and its own error                                |
    # | the file system      | the file's name and what the system says                  |
    # | infimum itself       | all that is known, and the wish to be told                |
    place, kind = place_of_error(error), type(error).__name__
    if place is not None and not place.file.startswith(str(Path(__file__).parent.parent)):
        return f"{place}\n  {kind}: {error}"
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    trace = "".join(traceback.format_exception(error))
    return f"{trace}This is a fault of infimum itself: please report it with the lines above."


def _shielded(arguments: list[str]) -> list[str]:
    """Put a space before bounds such as -inf, -1e3 and -pi, which argparse would take for options."""
    shielded = list(arguments)
    for i, word in enumerate(arguments):
        if word == "--bounds":
            for k in range(i + 1, min(i + 3, len(shielded))):
                if not shielded[k].startswith("--"):
                    shielded[k] = " " + shielded[k]
    return shielded


# --- the commands --------------------------------------------------------------------------------------------------


def solve(options: argparse.Namespace) -> int:
    """Minimise one function and print the result."""
    bounds = None if options.bounds is None else [(read_bound(lo), read_bound(hi)) for lo, hi in options.bounds]
    f, box, n = target(options.target, options.dim, bounds)
    result = minimize(
        f, box, method=options.method, max_iter=options.max_iter, time_limit=options.time_limit,
        max_regions=options.max_regions, maximize=options.maximize, threads=options.threads, backend=options.backend,
        progress=False if options.quiet else None, partition=_partition(options), sampling=options.sampling,
        selection=None if options.selection is None else Best(options.selection), contractors=options.contractors,
        split=options.split, **{name: getattr(options, name) for name in _GOALS if hasattr(options, name)},
    )  # fmt: skip
    if options.json != "-":
        # Before any file is written: that can fail, or take long.
        print(f"{options.target}, {n:,} variables\n{result}", flush=True)
    if options.json is not None:
        _write_json(options.json, {"function": options.target, "n": n, **result.to_dict()})
    return exit_code(result)


def _partition(options: argparse.Namespace) -> Any:
    """Be the partition that was named, in the parts and variables asked for; a name that is none is left to refuse."""
    sizes = {name: getattr(options, name) for name in ("parts", "variables") if getattr(options, name) is not None}
    if options.partition is None and not sizes:
        return None
    made = PARTITIONS.get("paper" if options.partition is None else options.partition)
    return made(**sizes) if made is not None else options.partition


def exit_code(result: Result) -> int:
    """Return 0 where the goals were reached, else a code that says why not."""
    return _EXIT.get(result.status, STOPPED)


def show_problems(options: argparse.Namespace) -> int:
    """List the problems that have a name."""
    table = Table(header_style="bold", box=None)
    for column in ("name", "bounds", "minimum, n = 100", "minimiser", "what it is"):
        table.add_column(column, no_wrap=column != "what it is")
    for name in problems.names("paper"):
        made = problems.maker(name)
        problem = made(100)
        lo, hi = problem.bounds[0]
        point = float(np.asarray(problem.minimiser[:1], np.float64)[0])
        summary = (made.__doc__ or "").strip()
        table.add_row(name, f"{lo} to {hi}", f"{float(problem.minimum):g}", f"{point:.7g}", summary)
    cli_bench.wide(Console()).print(table)
    return PROVED


def bench_paper(options: argparse.Namespace) -> int:
    """Run the paper's experiments and print its tables beside ours."""
    unknown = [name for name in options.functions if name not in problems.names("paper")]
    if unknown:
        problems.named(unknown[0], 2)
    return cli_bench.paper(
        options.functions, options.dim, csv_file=options.csv, json_file=options.json,
        time_limit=options.time_limit, threads=options.threads, backend=options.backend,
    )  # fmt: skip


def bench_compare(options: argparse.Namespace) -> int:
    """Run SciPy's methods beside infimum and print what each found."""
    return cli_compare.compare(
        options.methods, name=options.function, n=options.dim, seconds=options.seconds, runs=options.runs,
        seed=options.seed, csv_file=options.csv, threads=options.threads,
    )  # fmt: skip


def _write_json(name: str, content: dict[str, Any]) -> None:
    text = json.dumps({**content, "written": time.strftime("%Y-%m-%dT%H:%M:%S")}, allow_nan=False)
    if name == "-":
        print(text)
    else:
        Path(name).write_text(text + "\n")


# --- the arguments -------------------------------------------------------------------------------------------------


def _parser() -> argparse.ArgumentParser:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="infimum", description="Find the global minimum of a function and prove it.", epilog=_CODES,
        formatter_class=form,
    )  # fmt: skip
    parser.add_argument("--version", action="version", version=f"infimum {_version()}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    said = "minimise a problem by its name, or a function of a Python file"
    one = commands.add_parser("solve", help=said, description=_sentence(said), epilog=_SOLVE, formatter_class=form)
    one.set_defaults(run=solve)
    one.add_argument("target", metavar="NAME|FILE.py:FUNCTION", help="see `infimum problems` for the names")
    one.add_argument("--dim", type=int, metavar="N", help="the number of variables")
    one.add_argument("--bounds", nargs=2, action="append", metavar=("LO", "HI"), help="numbers, inf, pi, 1/3")
    for name, said in _GOALS.items():
        one.add_argument(f"--{name}", type=_number, default=argparse.SUPPRESS, help=said)
    one.add_argument("--max-iter", type=int, metavar="N", help="stop after so many iterations")
    one.add_argument("--max-regions", type=int, metavar="N", help="stop with more regions than this")
    one.add_argument(
        "--method", metavar="NAME", help=f"{' or '.join(METHODS)}; paper if a strategy is given, else auto"
    )
    said = f"what contracts boxes, of auto: {','.join(NAMES)}, or none; {','.join(DEFAULT)} by default"
    one.add_argument("--contractors", type=_names, metavar="NAME,…", help=said)
    one.add_argument("--split", metavar="NAME", help=f"which variable is cut, of auto: {', '.join(SPLITS)}")
    one.add_argument("--partition", metavar="NAME", help=f"where regions are cut: {', '.join(PARTITIONS)}")
    one.add_argument("--parts", type=int, metavar="K", help="how many parts a variable is cut into; 4 by default")
    one.add_argument("--variables", type=int, metavar="K", help="how many variables are cut at a time; 10 by default")
    said = f"where good points are looked for: {', '.join(SAMPLINGS)}; again for several"
    one.add_argument("--sampling", action="append", metavar="NAME", help=said)
    one.add_argument("--selection", type=int, metavar="K", help="how many regions an iteration splits; 1 by default")
    one.add_argument("--maximize", action="store_true", help="enclose the maximum instead")
    one.add_argument("--quiet", action="store_true", help="no live display")
    one.add_argument("--json", metavar="FILE", help="write the result there; - for the standard output")
    _add_effort(one)

    said = "list the problems that have a name"
    commands.add_parser("problems", help=said, description=_sentence(said)).set_defaults(run=show_problems)

    bench = commands.add_parser("bench", help="repeat published experiments").add_subparsers(required=True)
    said = "run the paper's experiments and print its tables beside ours"
    two = bench.add_parser("paper", help=said, description=_sentence(said), epilog=_BENCH, formatter_class=form)
    two.set_defaults(run=bench_paper)
    two.add_argument(
        "--functions", nargs="+", default=list(problems.names("paper")), metavar="NAME", help="all by default"
    )
    two.add_argument("--dim", nargs="+", type=int, default=[50, 100], metavar="N", help="50 and 100 by default")
    two.add_argument("--csv", default="infimum-paper.csv", metavar="FILE", help="infimum-paper.csv by default")
    two.add_argument("--json", default="infimum-paper.json", metavar="FILE", help="infimum-paper.json by default")
    _add_effort(two)

    said = "run popular methods beside infimum and print what each finds"
    three = bench.add_parser("compare", help=said, description=_sentence(said), epilog=_COMPARE, formatter_class=form)
    three.set_defaults(run=bench_compare)
    methods = list(cli_compare.METHODS)
    three.add_argument("--methods", nargs="+", default=methods, metavar="METHOD", help=", ".join(methods))
    three.add_argument("--function", default="ackley", metavar="NAME", help="ackley by default")
    three.add_argument("--dim", type=int, default=100, metavar="N", help="100 by default")
    three.add_argument("--seconds", type=float, default=10.0, help="the time of each other method; 10 by default")
    three.add_argument("--runs", type=int, metavar="N", help="at most so many runs of each, from random points")
    three.add_argument("--seed", type=int, default=0, help="of the random points; 0 by default")
    three.add_argument("--csv", default="infimum-compare.csv", metavar="FILE", help="infimum-compare.csv by default")
    three.add_argument("--threads", type=int, metavar="N", help="as many as there are by default")

    cli_frontier.add_to(bench, epilog=f"{cli_frontier.EXAMPLES}\n\n{_CODES}", formatter_class=form)
    return parser


def _sentence(said: str) -> str:
    return f"{said[0].upper()}{said[1:]}."


def _version() -> str:
    try:
        return importlib.metadata.version("infimum")
    except importlib.metadata.PackageNotFoundError:
        return "(not installed)"


def _add_effort(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--time-limit", type=float, metavar="SECONDS", help="stop after so many seconds")
    parser.add_argument("--threads", type=int, metavar="N", help="as many as there are by default")
    parser.add_argument("--backend", default="auto", help="auto, cpu or cuda (an NVIDIA GPU)")


def _names(text: str) -> tuple[str, ...]:
    words = tuple(word.strip() for word in text.split(",") if word.strip())
    return () if words == ("none",) else words


def _number(text: str) -> float | None:
    return None if text.strip().lower() == "none" else float(text)


if __name__ == "__main__":
    sys.exit(main())
