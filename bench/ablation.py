"""What each contractor is worth: boxes that the default method needs with all of them, and with each left out.

    python bench/ablation.py                      both tables below, 5 seconds a run at most
    python bench/ablation.py --time-limit 60      with more patience
    python bench/ablation.py watson "polyfit 8"   some problems; then nothing is written

The minimum is to be enclosed to 1e-6 of itself or 1e-14, one thread. A box is counted for the domain and for each cut.
Whatever is left out, the enclosures must overlap. Without "level" the natural lower bound is what is left, and without
a linear layer nothing is guessed either.
Writes bench/results/ablation.csv and prints the tables of docs/contraction.md and docs/coupling.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

from coupled import Run, boxqp, ginzburg_landau, linear, logistic, of, polyfit, regression, replaced_kowalik

import infimum
from infimum.bench.tables import Row, write_csv
from infimum.contractors.table import DEFAULT

RESULTS = Path(__file__).parent / "results" / "ablation.csv"


def alone() -> Iterator[Run]:
    """Yield problems most of which fall apart, once their variables are looked at in turn."""
    for name, n in (
        ("levy", 1000), ("griewank", 1000), ("rotrastrigin", 100), ("dixon_price", 6), ("trid", 4), ("schwefel", 50),
        ("michalewicz", 10), ("paviani", 10), ("goldstein_price", 2), ("eggholder", 2), ("shekel10", 4),
        ("hartmann6", 6), ("lj3safe", 3),
    ):  # fmt: skip
        yield of(name, n)


def together() -> Iterator[Run]:
    """Yield problems whose variables are coupled."""
    yield from (regression(20), polyfit(8, 10.0), logistic(20), boxqp(30), of("watson", 6))
    yield from (of(name) for name in ("pv_rtc_france", "nist_mgh09", "nist_eckerle4"))
    yield from (run for run in linear() if run.name.startswith(("nist_thurber", "nist_lanczos3")))
    yield from (replaced_kowalik(1e-10), ginzburg_landau(20))


TABLES: dict[str, Callable[[], Iterator[Run]]] = {"alone": alone, "together": together}


def measured(run: Run, limit: float) -> list[Row]:
    """Return the rows of one problem: with all contractors that run by default, and without each of them."""
    rows: list[Row] = []
    lower, upper = [], []
    for left_out in ("", *DEFAULT):
        kept = tuple(name for name in DEFAULT if name != left_out)
        result = infimum.minimize(
            run.f, run.bounds, ftol=run.ftol, fatol=1e-14, contractors=kept, threads=1, time_limit=limit, progress=False
        )
        lower.append(result.minimum.lo)
        upper.append(result.minimum.hi)
        assert max(lower) <= min(upper), f"{run.name}: without {left_out}, {result.minimum!r}"
        rows.append({
            "problem": run.name, "n": len(run.bounds), "without": left_out, "proved": result.success,
            "seconds": round(result.seconds, 4), "gap": f"{upper[-1] - lower[-1]:.1e}",
            "boxes": int(1 + sum(dict(step.work).get("split", 0) for step in result.history)),
        })  # fmt: skip
    return rows


def shown(columns: list[list[Row]]) -> str:
    """Return a table in Markdown: a line for each contractor left out, a column for each problem."""
    lines = [
        f"| | {' | '.join(own[0]['problem'] for own in columns)} |",
        "|---" * (1 + len(columns)) + "|",
    ]
    for each in zip(*columns, strict=True):
        name = each[0]["without"]
        cells = [f"{row['boxes']:,}" if row["proved"] else f"gap {row['gap']}" for row in each]
        lines.append(f"| {f'no `{name}`' if name else 'all'} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problems", nargs="*", metavar="NAME", help="all by default; then nothing is written")
    parser.add_argument("--time-limit", type=float, default=5.0, metavar="SECONDS", help="for each run; 5 by default")
    options = parser.parse_args()
    rows: list[Row] = []
    for runs in TABLES.values():
        some = [run for run in runs() if not options.problems or run.name in options.problems]
        columns = [measured(run, options.time_limit) for run in some]
        if columns:
            print(shown(columns), flush=True)
        rows += [row for own in columns for row in own]
    if not options.problems:
        write_csv(rows, str(RESULTS))


if __name__ == "__main__":
    main()
