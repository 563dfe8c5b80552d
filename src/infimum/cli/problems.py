"""infimum problems: list the problems that have a name."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from rich.console import Console

from infimum import problems
from infimum.bench.tables import empty_table, wide
from infimum.cli.arguments import add_command
from infimum.cli.exit_codes import PROVED
from infimum.problems.problem import Problem

_TITLES = {
    "paper": "Of the paper, for any number of variables",
    "beyond": "Beyond the paper, for any number of variables or for their own",
    "fits": "Models fitted to measurements",
}
_SHOWN = 100  # variables, where any number will do


def add_to(commands: Any) -> None:
    """Add the command."""
    add_command(commands, "problems", "list the problems that have a name", run)


def run(options: argparse.Namespace) -> int:
    """Print a table for each group of problems."""
    shown = wide(Console())
    for group, title in _TITLES.items():
        table = empty_table(title)
        for column in ("name", "n", "bounds", f"minimum (n = {_SHOWN})", "minimiser", "what it is"):
            table.add_column(column, no_wrap=column != "what it is")
        for name in problems.names(group):
            size = problems.size(name)
            problem = problems.named(name, size or _SHOWN)
            point = float(np.asarray(problem.minimiser[:1], np.float64)[0])
            summary = (problems.maker(name).__doc__ or "").strip().partition("\n")[0]
            any_size = "any" if size is None else str(size)
            table.add_row(name, any_size, _bounds(problem), f"{float(problem.minimum):g}", f"{point:.7g}", summary)
        shown.print(table, "")
    return PROVED


def _bounds(problem: Problem) -> str:
    """Return the bounds of all variables, or those of the first where they differ."""
    pairs = [f"{_short(lo)} to {_short(hi)}" for lo, hi in problem.bounds[:10]]
    return pairs[0] if len(set(pairs)) == 1 else f"{pairs[0]}, …"


def _short(bound: Any) -> str:
    text = str(bound)
    return f"{float(bound):.6g}" if text.startswith("exact") else text
