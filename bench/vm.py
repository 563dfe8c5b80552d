"""The virtual machine: nanoseconds per interval operation in a batch of boxes, and one huge box beside NumPy.

    batch    100,000 boxes of a polynomial in 5 variables, one thread: time / (boxes x operations)
    one box  n = 1,000,000, the sum of x^2 - 10 cospi(2x) + 10 and its gradient, against NumPy's plain evaluation of the
             same in the same run
Best of several runs, NumPy measured between them. Writes bench/results/vm.md.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

import infimum.core
from infimum.backends import cpu
from infimum.passes.lowering.program import Program

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from programs import rastrigin
from tapes import Maker

RESULTS = Path(__file__).parent / "results"
BOXES, VARIABLES, LARGE = 100_000, 5, 1_000_000
BATCH_GOAL = 2.0
ONE_BOX_GOALS = {"avx512": 1.5, "avx2": 5.0}
GRADIENT_GOALS = {"avx512": 4.0, "avx2": 12.0}


def polynomial(op: str | None, length: int = 60) -> Program:
    """A chain of one operation, or of +, x, - and sqr in turn, on five variables; values stay ordinary numbers."""
    m = Maker(VARIABLES)
    half = m.load(m.constant(0.25))
    x = [m.load(0, j) for j in range(VARIABLES)]
    value = x[0]
    for i in range(length):
        name = op or ("add", "mul", "sub", "sqr")[i % 4]
        other = x[(i + 1) % VARIABLES] if i % 3 else half
        if op == "mul" and i % 8 == 0:
            value = x[i % VARIABLES]
        value = m.op(name, other if op else value) if name == "sqr" else m.op(name, value, other)
    out = m.vector(1)
    m.store(out, value)
    m.end(1)
    return m.program(out)


def rastrigin_gradient(n: int) -> Program:
    m = Maker(n)
    two, factor, out = m.constant(2.0), m.constant((62.83185307179586, 62.83185307179587)), m.vector(n)
    x = m.load(0, 0, 1)
    double = m.op("mul", m.load(two), x)
    m.store(out, m.op("add", double, m.op("mul", m.load(factor), m.op("sinpi", double))))
    m.end(n)
    return m.program(out)


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def batch_rows(runs: int) -> list[list[str]]:
    random = np.random.default_rng(1)
    lo = random.uniform(-0.5, 0.5, (BOXES, VARIABLES))
    hi = lo + 1e-3
    rows = []
    for name, op in (("+ - x sqr", None), ("add", "add"), ("sub", "sub"), ("mul", "mul"), ("sqr", "sqr")):
        program = polynomial(op)
        operations = 60 * BOXES
        cells = []
        for variant in infimum.core.variants():
            times = [
                seconds(lambda v=variant, p=program: cpu.run(p, lo, hi, variant=v, threads=1)) for _ in range(runs)
            ]
            cells.append(f"{min(times) / operations * 1e9:.2f}")
        rows.append([name, *cells])
    return rows


def one_box_rows(runs: int) -> list[list[str]]:
    lo = np.random.default_rng(2).uniform(-5, 5, (1, LARGE))
    hi = lo + 1e-3
    x = lo[0]
    cases = [
        ("value", rastrigin(LARGE), lambda: np.sum(x**2 - 10 * np.cos(2 * np.pi * x) + 10), ONE_BOX_GOALS),
        ("gradient", rastrigin_gradient(LARGE), lambda: 2 * x + 20 * np.pi * np.sin(2 * np.pi * x), GRADIENT_GOALS),
    ]
    rows = []
    for name, program, plain, goals in cases:
        best = dict.fromkeys(["NumPy", *infimum.core.variants()], np.inf)
        for _ in range(runs):
            best["NumPy"] = min(best["NumPy"], seconds(plain))
            for variant in infimum.core.variants():
                work = partial(cpu.run, program, lo, hi, variant=variant, threads=1)
                best[variant] = min(best[variant], seconds(work))
        for who, time_ in best.items():
            ratio, goal = time_ / best["NumPy"], goals.get(who)
            verdict = "" if goal is None else f"{goal:g} {'met' if ratio <= goal else 'MISSED'}"
            rows.append([name, who, f"{time_ * 1e3:.2f}", f"{ratio:.2f}", verdict])
    return rows


def table(names: list[str], rows: list[list[str]]) -> list[str]:
    rule = ["---", *["---:"] * (len(names) - 1)]
    return [f"| {' | '.join(cells)} |" for cells in (names, rule, *rows)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--write", action="store_true", help="write bench/results/vm.md")
    given = parser.parse_args()
    text = [
        "# The virtual machine",
        "",
        f"{BOXES} boxes of {VARIABLES} variables, one thread, nanoseconds per operation and box, best of {given.runs}"
        f" (goal with AVX-512: {BATCH_GOAL:g})",
        "",
        *table(["operations", *infimum.core.variants()], batch_rows(given.runs)),
        "",
        f"One box, n = {LARGE}, Rastrigin, one thread, milliseconds, best of {given.runs}",
        "",
        *table(["what", "by", "ms", "ratio to NumPy", "goal"], one_box_rows(given.runs)),
    ]
    print("\n".join(text))
    if given.write:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / "vm.md").write_text("\n".join(text) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
