"""infimum solve: minimise one function and print the result."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from infimum.api.minimize import METHODS, minimize
from infimum.cli.arguments import add_command, add_effort
from infimum.cli.exit_codes import CODES, exit_code
from infimum.cli.target import read_bound, target
from infimum.contractors.table import DEFAULT, NAMES
from infimum.search.auto.split_table import SPLITS
from infimum.search.paper.partition import PARTITIONS
from infimum.search.paper.sampling import SAMPLINGS
from infimum.search.paper.selection import Best

_EXAMPLES = f"""examples:
  infimum solve levy --dim 1000
  infimum solve zabinsky --dim 50 --bounds 0 pi --json zabinsky.json
  infimum solve hartmann6
  infimum solve model.py:energy --dim 3 --bounds -10 10 --ftol 1e-3 --xtol 1e-4
  infimum solve model.py:energy --bounds 0 1 --bounds -inf inf --time-limit 60 --memory-limit 8e9
  infimum solve model.py:rate --dim 2 --bounds 1e-8 1e8 --partition logarithmic --parts 2 --variables 2
  infimum solve rosenbrock --dim 50 --sampling local --sampling paper --selection 4
  infimum solve levy --dim 10 --contractors level,stationary --split largest

model.py holds a function of an array x in NumPy style. Bounds are read as written: 0.1 is one tenth. Given once they
hold for all variables, given several times each pair is that of one variable.

The search ends when every goal holds. Of the value, [lower, upper] being the minimum enclosed: upper - lower is at most
--ftol times |upper|, or at most --fatol, which is in the units of the function. Of the boxes, where one is given: each
is narrower than --xtol, in the units of the variables, and than --xrtol times the distance between its bounds.

{CODES}"""

_GOALS = {
    "ftol": "gap between the bounds of the minimum, relative to it (1e-6; paper: none); none: any gap",
    "fatol": "gap that is small enough in any case, in the units of the function (1e-9); 0: relative alone",
    "xtol": "every box narrower than this, in the units of the variables (none; paper: 1e-4)",
    "xrtol": "every box narrower than this part of the bounds' width (none)",
    "memory_limit": "stop when boxes or regions take more bytes than this (2 GiB); none: no limit",
}


def add_to(commands: Any) -> None:
    """Add the command."""
    said = "minimise a problem by its name, or a function of a Python file"
    solve = add_command(commands, "solve", said, run, _EXAMPLES)
    solve.add_argument("target", metavar="NAME|FILE.py:FUNCTION", help="see `infimum problems` for the names")
    solve.add_argument("--dim", type=int, metavar="N", help="the number of variables")
    solve.add_argument("--bounds", nargs=2, action="append", metavar=("LO", "HI"), help="numbers, inf, pi, 1/3")
    for name, said in _GOALS.items():
        solve.add_argument(f"--{name.replace('_', '-')}", type=_number, default=argparse.SUPPRESS, help=said)
    solve.add_argument("--max-iter", type=int, metavar="N", help="stop after so many iterations")
    solve.add_argument("--max-regions", type=int, metavar="N", help="stop with more regions than this")
    said = f"{' or '.join(METHODS)}; paper if a strategy is given, else auto"
    solve.add_argument("--method", metavar="NAME", help=said)
    said = f"what contracts boxes, of auto: {','.join(NAMES)}, or none; {','.join(DEFAULT)} by default"
    solve.add_argument("--contractors", type=_names, metavar="NAME,…", help=said)
    solve.add_argument("--split", metavar="NAME", help=f"which variable is cut, of auto: {', '.join(SPLITS)}")
    solve.add_argument("--partition", metavar="NAME", help=f"where regions are cut: {', '.join(PARTITIONS)}")
    solve.add_argument("--parts", type=int, metavar="K", help="how many parts a variable is cut into; 4 by default")
    solve.add_argument("--variables", type=int, metavar="K", help="how many variables are cut at a time; 10 by default")
    said = f"where good points are looked for: {', '.join(SAMPLINGS)}; again for several"
    solve.add_argument("--sampling", action="append", metavar="NAME", help=said)
    solve.add_argument("--selection", type=int, metavar="K", help="how many regions an iteration splits; 1 by default")
    solve.add_argument("--maximize", action="store_true", help="enclose the maximum instead")
    solve.add_argument("--quiet", action="store_true", help="no live display")
    solve.add_argument("--json", metavar="FILE", help="write the result there; - for the standard output")
    add_effort(solve)


def run(options: argparse.Namespace) -> int:
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
        print(f"{options.target}, {n:,} {'variable' if n == 1 else 'variables'}\n{result}", flush=True)
    if options.json is not None:
        _write_json(options.json, {"function": options.target, "n": n, **result.to_dict()})
    return exit_code(result)


def _partition(options: argparse.Namespace) -> Any:
    """Return the partition that was named, in the parts and variables asked for; minimize refuses other names."""
    sizes = {name: getattr(options, name) for name in ("parts", "variables") if getattr(options, name) is not None}
    if options.partition is None and not sizes:
        return None
    made = PARTITIONS.get("paper" if options.partition is None else options.partition)
    return made(**sizes) if made is not None else options.partition


def _write_json(name: str, content: dict[str, Any]) -> None:
    text = json.dumps({**content, "written": time.strftime("%Y-%m-%dT%H:%M:%S")}, allow_nan=False)
    if name == "-":
        print(text)
    else:
        Path(name).write_text(text + "\n")


def shielded(arguments: Sequence[str]) -> list[str]:
    """Put a space before bounds such as -inf, -1e3 and -pi, which argparse would take for options."""
    found = list(arguments)
    for i, word in enumerate(arguments):
        if word == "--bounds":
            for k in range(i + 1, min(i + 3, len(found))):
                if not found[k].startswith("--"):
                    found[k] = " " + found[k]
    return found


def _names(text: str) -> tuple[str, ...]:
    words = tuple(word.strip() for word in text.split(",") if word.strip())
    return () if words == ("none",) else words or ("",)  # which minimize refuses


def _number(text: str) -> float | None:
    return None if text.strip().lower() == "none" else float(text)
