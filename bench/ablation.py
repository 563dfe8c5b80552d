"""What each contractor is worth: seconds and iterations of the default method with all of them, and with each left out.

    python bench/ablation.py                      every problem below, 5 seconds a run at most
    python bench/ablation.py --time-limit 60      with more patience
    python bench/ablation.py levy lj3             some of them

The minimum is to be enclosed to 1e-6, one thread, seconds of the search alone: tracing and lowering are done before.
Whatever is left out, the enclosures must overlap. Without "level" the natural lower bound is what is left, and without
a linear layer nothing is guessed either.
Writes bench/results/ablation.csv and prints the table of docs/contraction.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from infimum import problems
from infimum.bench.tables import Row, write_csv
from infimum.contractors.table import DEFAULT
from infimum.domain import read_bounds
from infimum.function.function import trace
from infimum.search.auto import separable
from infimum.search.outcome import Options, Outcome
from infimum.search.status import Status

RESULTS = Path(__file__).parent / "results" / "ablation.csv"
FTOL = 1e-6
PROBLEMS = (
    ("levy", 1000), ("griewank", 1000), ("rotrastrigin", 100), ("dixon_price", 6), ("trid", 4), ("schwefel", 50),
    ("michalewicz", 10), ("paviani", 10), ("goldstein_price", 2), ("eggholder", 2), ("shekel10", 4), ("hartmann6", 6),
    ("lj3safe", 3),
)  # fmt: skip


def outcomes(name: str, n: int, limit: float) -> Iterator[tuple[str, Outcome]]:
    """Yield what is found with all contractors that run by default, and without each of them."""
    problem = problems.named(name, n)
    function, domain = trace(problem.f, n), read_bounds(problem.bounds, n)
    separable.search(function, domain, Options(xtol=None, ftol=FTOL, fatol=FTOL, max_iter=1))
    for left_out in ("", *DEFAULT):
        kept = tuple(name for name in DEFAULT if name != left_out)
        options = Options(xtol=None, ftol=FTOL, fatol=FTOL, time_limit=limit, contractors=kept)
        yield left_out, separable.search(function, domain, options)


def measured(name: str, n: int, limit: float) -> list[Row]:
    """Return the rows of one problem."""
    rows: list[Row] = []
    lower, upper = [], []
    for left_out, found in outcomes(name, n, limit):
        lower.append(found.lower)
        upper.append(found.upper)
        assert max(lower) <= min(upper), f"{name}: without {left_out}, [{found.lower!r}, {found.upper!r}]"
        rows.append({
            "problem": name, "n": n, "without": left_out, "proved": found.status == Status.PROVED,
            "seconds": round(found.seconds, 4), "iterations": found.nit, "gap": f"{found.upper - found.lower:.2e}",
        })  # fmt: skip
    return rows


def shown(rows: list[Row]) -> str:
    """Return the line of a problem in Markdown: for each row seconds and iterations, or the gap that was left."""
    cells = [
        f"{row['seconds']:.3g} s ({row['iterations']:,})" if row["proved"] else f"gap {row['gap']}" for row in rows
    ]
    return f"| {rows[0]['problem']} | {rows[0]['n']:,} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problems", nargs="*", metavar="NAME", help="all by default; then nothing is written")
    parser.add_argument("--time-limit", type=float, default=5.0, metavar="SECONDS", help="for each run; 5 by default")
    options = parser.parse_args()
    print(f"| problem | n | all | {' | '.join(f'no {name}' for name in DEFAULT)} |")
    print("|---" * (3 + len(DEFAULT)) + "|")
    rows: list[Row] = []
    for name, n in PROBLEMS:
        if not options.problems or name in options.problems:
            own = measured(name, n, options.time_limit)
            print(shown(own), flush=True)
            rows += own
    if not options.problems:
        write_csv(rows, str(RESULTS))


if __name__ == "__main__":
    main()
