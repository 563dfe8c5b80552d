"""Nanoseconds per interval of every operation of the core and every variant, beside NumPy's plain doubles.

Cache-resident arrays, one thread, best of several runs. The cost of calling at all is measured on empty arrays and
subtracted, on both sides. The calibration is a chain of dependent additions (np.cumsum): its figure depends on nothing
but the clock, so a run on a busy or throttled machine shows. Writes bench/results/core.csv and core.md.
"""

from __future__ import annotations

import argparse
import csv
import ctypes
import datetime
import platform
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

import infimum.core

RESULTS = Path(__file__).parent / "results"
COUNT = 2048
RUNS = 15
SECONDS_PER_RUN = 0.002
AVX2_FACTOR = 5.0

Floats = np.ndarray
Thunk = Callable[[], object]


class Row(NamedTuple):
    operation: str
    trust: str
    variant: str
    ns: float
    numpy_ns: float | None
    target: float | None
    calibration: float

    @property
    def ratio(self) -> float | None:
        return None if self.numpy_ns is None else self.ns / self.numpy_ns

    @property
    def met(self) -> str:
        if self.target is None:
            return ""
        return "yes" if self.ns <= self.target else "no"


# --- arguments -----------------------------------------------------------------------------------------------------

# Where a function is interesting: the first operand, then the second where it has one.
RANGES: dict[str, tuple[tuple[float, float], ...]] = {
    "": ((-10, 10), (-10, 10), (-10, 10)),
    "acos": ((-1, 1),),
    "acosh": ((1, 50),),
    "asin": ((-1, 1),),
    "atanh": ((-1, 1),),
    "digamma": ((0.01, 50),),
    "div": ((-10, 10), (0.5, 10)),
    "erf": ((-4, 4),),
    "erfc": ((-4, 20),),
    "exp": ((-20, 20),),
    "exp10": ((-20, 20),),
    "exp2": ((-20, 20),),
    "lgamma": ((0.01, 50),),
    "log": ((0.01, 100),),
    "log10": ((0.01, 100),),
    "log1p": ((-0.9, 10),),
    "log2": ((0.01, 100),),
    "mod": ((-50, 50), (0.5, 10)),
    "pow": ((0.01, 10), (-5, 5)),
    "recip": ((0.5, 10),),
    "sqrt": ((0, 100),),
    "trigamma": ((0.01, 50),),
}
EXPONENT = 7
WIDTH = 1e-3


def operands(op: str, arity: int) -> list[tuple[Floats, Floats]]:
    """Narrow intervals in the interesting range."""
    random = np.random.default_rng(1)
    pairs = []
    for low, high in RANGES.get(op, RANGES[""])[:arity]:
        lo = random.uniform(low, high - WIDTH, COUNT)
        pairs.append((lo, lo + random.uniform(0, WIDTH, COUNT)))
    return pairs


def _two_steps(first: np.ufunc, second: np.ufunc) -> Callable[..., object]:
    return lambda x, y, z, out: second(first(x, y, out=out), z, out=out)


# The same function of plain doubles; what NumPy has not in one or two calls has no ratio.
PLAIN: dict[str, Callable[..., object]] = {
    "neg": np.negative, "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide,
    "recip": np.reciprocal, "sqr": np.square, "sqrt": np.sqrt, "fma": _two_steps(np.multiply, np.add),
    "abs": np.absolute, "min": np.minimum, "max": np.maximum, "sign": np.sign, "floor": np.floor, "ceil": np.ceil,
    "trunc": np.trunc, "round_ties_to_even": np.rint, "mod": np.mod, "exp": np.exp, "log": np.log, "sin": np.sin,
    "cos": np.cos, "sinpi": lambda x, out: np.sin(np.multiply(x, np.pi, out=out), out=out),
    "cospi": lambda x, out: np.cos(np.multiply(x, np.pi, out=out), out=out), "exp2": np.exp2,
    "exp10": lambda x, out: np.power(10.0, x, out=out), "expm1": np.expm1, "log2": np.log2, "log10": np.log10,
    "log1p": np.log1p, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2,
    "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh,
    "cbrt": np.cbrt, "hypot": np.hypot, "pow": np.power, "pown": lambda x, out: np.power(x, float(EXPONENT), out=out),
}  # fmt: skip

TARGETS = {"add": 1.0, "sub": 1.0, "mul": 1.0, "sqr": 1.0, "sin": 8.0, "cos": 8.0, "exp": 8.0, "log": 8.0}


def target(op: str, trust: str, variant: str) -> float | None:
    """What an AVX-512 machine is to reach, and AVX2 within five times."""
    aim = TARGETS.get(op, 60.0 if trust == "argued" else None)
    if aim is None or variant == "scalar":
        return None
    return aim if variant == "avx512" else AVX2_FACTOR * aim


# --- measuring -----------------------------------------------------------------------------------------------------


def _seconds(thunk: Thunk, calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        thunk()
    return time.perf_counter() - start


def nanoseconds(full: Thunk, empty: Thunk, runs: int) -> float:
    """Best time of one element: the call on all of them less the call on none, divided by their number."""
    once = _seconds(full, 3) / 3
    calls = max(3, int(SECONDS_PER_RUN / once))
    best = min(_seconds(full, calls) for _ in range(runs)) / calls
    nothing = min(_seconds(empty, calls) for _ in range(runs)) / calls
    return max(best - nothing, 0.0) / COUNT * 1e9


def core_thunk(op: str, pairs: list[tuple[Floats, Floats]], variant: str, out: tuple[Floats, Floats]) -> Thunk:
    """A call of the C interface with everything prepared."""
    core = infimum.core.load(Path(infimum.core.__file__).parent / "libinfimum_core.so")
    job, _, keep = core._job(op, pairs, EXPONENT if op == "pown" else 0)
    job.lo, job.hi = out[0].ctypes.data, out[1].ctypes.data
    number = core._variants[variant]
    code = list(core.operations()).index(op)
    apply, reference = core.library.infimum_apply, ctypes.byref(job)

    def call(_alive: object = (job, keep, out)) -> object:
        return apply(number, code, reference, 1)

    return call


def core_ns(op: str, arity: int, variant: str, runs: int) -> float:
    pairs = operands(op, arity)
    nothing = [(lo[:0], hi[:0]) for lo, hi in pairs]
    out = np.empty(COUNT), np.empty(COUNT)
    return nanoseconds(core_thunk(op, pairs, variant, out), core_thunk(op, nothing, variant, out), runs)


def numpy_ns(op: str, arity: int, runs: int) -> float | None:
    plain = PLAIN.get(op)
    if plain is None:
        return None
    points, out = [lo for lo, _ in operands(op, arity)], np.empty(COUNT)
    none, nowhere = [point[:0] for point in points], out[:0]
    return nanoseconds(lambda: plain(*points, out=out), lambda: plain(*none, out=nowhere), runs)


def calibration_ns() -> float:
    x, out = np.ones(COUNT), np.empty(COUNT)
    return nanoseconds(lambda: np.cumsum(x, out=out), lambda: np.cumsum(x[:0], out=out[:0]), 5)


def measure(runs: int, only: list[str]) -> list[Row]:
    rows = []
    for op in infimum.core.operations().values():
        if only and op.name not in only:
            continue
        plain = numpy_ns(op.name, op.arity, runs)
        for variant in infimum.core.variants():
            ns = core_ns(op.name, op.arity, variant, runs)
            rows.append(
                Row(op.name, op.trust, variant, ns, plain, target(op.name, op.trust, variant), calibration_ns())
            )
    return rows


# --- what is written -----------------------------------------------------------------------------------------------


def processor() -> str:
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        found = None
    return found.group(1) if found else platform.processor() or platform.machine()


def compiler() -> str:
    """The compiler's own signature in the library."""
    library = (Path(infimum.core.__file__).parent / "libinfimum_core.so").read_bytes()
    signatures = re.findall(rb"(?:GCC: |clang version )[ -~]+", library)
    return ", ".join(sorted({s.decode() for s in signatures})) or "unknown"


def heading(rows: list[Row], runs: int) -> list[str]:
    calibrations = [row.calibration for row in rows]
    return [
        f"{datetime.date.today().isoformat()}, {processor()}, compiler {compiler()}, NumPy {np.__version__}",
        f"{COUNT} intervals in cache, one thread, nanoseconds per interval, best of {runs} runs",
        f"calibration (a chain of dependent additions): best {min(calibrations):.3f} ns a link, "
        f"worst during the run {max(calibrations):.3f}",
    ]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}" if value < 10 else f"{value:.1f}"


def grid(rows: list[Row]) -> tuple[list[str], list[list[str]]]:
    """One line per operation: a column per variant, NumPy, the ratio of the best variant, the targets."""
    variants = list(dict.fromkeys(row.variant for row in rows))
    lines = []
    for name in dict.fromkeys(row.operation for row in rows):
        of = {row.variant: row for row in rows if row.operation == name}
        best = of[variants[-1]]
        aims = [of[v] for v in variants if of[v].target is not None]
        verdict = " ".join(f"{row.variant} {row.target:g} {'met' if row.met == 'yes' else 'MISSED'}" for row in aims)
        cells = [_number(of[v].ns) for v in variants]
        lines.append([name, best.trust, *cells, _number(best.numpy_ns), _number(best.ratio), verdict,
                      f"{max(row.calibration for row in of.values()):.2f}"])  # fmt: skip
    return ["operation", "trust", *variants, "NumPy", f"{variants[-1]}/NumPy", "targets (ns)", "calibration"], lines


def write(rows: list[Row], runs: int) -> None:
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / "core.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(
            ["operation", "trust", "variant", "ns", "numpy_ns", "ratio", "target_ns", "met", "calibration_ns"]
        )
        for r in rows:
            numbers = [f"{v:.4f}" if v is not None else "" for v in (r.ns, r.numpy_ns, r.ratio)]
            aim = "" if r.target is None else f"{r.target:g}"
            writer.writerow([r.operation, r.trust, r.variant, *numbers, aim, r.met, f"{r.calibration:.4f}"])
    names, lines = grid(rows)
    rule = ["---", "---", *["---:"] * (len(names) - 4), "---", "---:"]
    text = ["# The core: nanoseconds per interval", "", *(f"- {line}" for line in heading(rows, runs)), ""]
    text += [f"| {' | '.join(cells)} |" for cells in (names, rule, *lines)]
    (RESULTS / "core.md").write_text("\n".join(text) + "\n")


def show(rows: list[Row], runs: int) -> None:
    names, lines = grid(rows)
    table = Table(title="The core: nanoseconds per interval", header_style="bold")
    for i, name in enumerate(names):
        table.add_column(name, justify="left" if i < 2 or name.startswith("targets") else "right")
    for line in lines:
        table.add_row(*line, style="red" if "MISSED" in line[-2] else None)
    console = Console()
    console.print(table)
    for line in heading(rows, runs):
        console.print(line)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("operations", nargs="*", help="only these; then nothing is written")
    parser.add_argument("--runs", type=int, default=RUNS)
    given = parser.parse_args()
    unknown = set(given.operations) - set(infimum.core.operations())
    if unknown:
        print(f"the core has no operation {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    rows = measure(given.runs, given.operations)
    show(rows, given.runs)
    if not given.operations:
        write(rows, given.runs)
        print(f"written: {', '.join(f'bench/results/{name}' for name in ('core.csv', 'core.md'))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
