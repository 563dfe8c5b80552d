"""Functions from NumPy: enclosures beside NumPy's own evaluation, batches of small boxes, long programs, tracing.

    one box  Rastrigin and Levy at n = 1,000,000 on one thread, against NumPy's plain evaluation of the same function
    batch    100,000 boxes of a polynomial in 5 variables: time / (boxes x +, -, x and sqr)
    long     a recurrence of 10,000 scalar operations that does not re-roll, with its gradient, on 10,000 boxes
    tracing  the paper's functions at n = 10,000, vector style and loop style
Best of several runs, both sides of a ratio in the same run. Each part is measured in a process of its own, so that its
peak of memory is its own. Writes bench/results/function.md.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import infimum.core
from infimum.function.function import trace
from infimum.graph.node import ancestors

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
import paper_functions

RESULTS = Path(__file__).parent / "results"
LARGE, BOXES, LONG, LONG_BOXES, MANY = 1_000_000, 100_000, 10_000, 10_000, 10_000
VALUE_GOALS = {"avx512": 1.5, "avx2": 5.0}
GRADIENT_GOALS = {"avx512": 4.0, "avx2": 12.0}
MEMORY_GOAL, BATCH_GOAL = 1024.0, 2.0
TRACING_GOALS = {"vector": 0.2, "loop": 5.0}
Rows = list[list[str]]


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def best(runs: int, works: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The best time of each, all of them measured in turn."""
    times = dict.fromkeys(works, np.inf)
    for _ in range(runs):
        for name, work in works.items():
            times[name] = min(times[name], seconds(work))
    return times


def peak() -> float:
    """The most memory this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def verdict(found: float, goal: float | None) -> str:
    return "" if goal is None else f"{goal:g} {'met' if found <= goal else 'MISSED'}"


# --- parts ---------------------------------------------------------------------------------------------------------


def numpy_rastrigin(x: Any) -> Any:
    return 10 * len(x) + np.sum(x**2 - 10 * np.cos(2 * np.pi * x))


def numpy_levy(x: Any) -> Any:
    y = 1 + 0.25 * (x - 1)
    rest = np.sum((y[:-1] - 1) ** 2 * (1 + 10 * np.sin(np.pi * y[1:]) ** 2))
    return np.pi / len(x) * (10 * np.sin(np.pi * y[0]) ** 2 + (y[-1] - 1) ** 2 + rest)


def one_box(name: str, runs: int) -> Rows:
    plain, low, high = {"rastrigin": (numpy_rastrigin, -5.5, 6), "levy": (numpy_levy, -10, 10)}[name]
    x = np.random.default_rng(1).uniform(low, high, LARGE)
    box = infimum.Interval(x, x + 1e-3)
    function = trace(paper_functions.FUNCTIONS[name][0], LARGE)
    rows = []
    for what, ask, goals in (("value", function.enclose, VALUE_GOALS), ("gradient", function.gradient, GRADIENT_GOALS)):
        works: dict[str, Callable[[], object]] = {"NumPy, value": lambda: plain(x)}
        for variant in infimum.core.variants():
            works[variant] = lambda v=variant, a=ask: a(box, variant=v, threads=1)  # type: ignore[misc]
        times = best(runs, works)
        for who, found in times.items():
            ratio = found / times["NumPy, value"]
            rows.append([f"{name} {what}", who, f"{found * 1e3:.2f}", f"{ratio:.2f}", verdict(ratio, goals.get(who))])
    rows.append([f"{name} peak memory", "MB", f"{peak():.0f}", "", verdict(peak(), MEMORY_GOAL)])
    return rows


def polynomial(x: Any) -> Any:
    a, b, c, d, e = x
    value = a
    for _ in range(10):
        value = (value + b) * c - (value - d) * e
        value = value**2 * 0.0625 - b * d + (a - c) * (d + e)
    return value


def batch(name: str, runs: int) -> Rows:
    random = np.random.default_rng(2)
    lo = random.uniform(-0.5, 0.5, (BOXES, 5))
    box = infimum.Interval(lo, lo + 1e-3)
    function = trace(polynomial, 5)
    kinds = [node.op for node in ancestors([function.value_node])]
    operations = sum(kinds.count(op) for op in ("add", "sub", "mul", "sqr"))
    works: dict[str, Callable[[], object]] = {
        variant: lambda v=variant: function.enclose(box, variant=v, threads=1)  # type: ignore[misc]
        for variant in infimum.core.variants()
    }
    rows = []
    for variant, found in best(runs, works).items():
        each = found / (operations * BOXES) * 1e9
        goal = BATCH_GOAL if variant == infimum.core.variants()[-1] else None
        rows.append([f"{operations} operations, {variant}", f"{found * 1e3:.1f}", f"{each:.2f}", verdict(each, goal)])
    return rows


def long_recurrence(x: Any) -> Any:
    y = x[0]
    for i in range(LONG // 4):
        y = 3.5 * y * (1 - y) + 0.001 * x[i % len(x)]
    return y


def long(name: str, runs: int) -> Rows:
    start = time.perf_counter()
    function = trace(long_recurrence, 5)
    traced = time.perf_counter() - start
    lo = np.random.default_rng(3).uniform(0.1, 0.9, (LONG_BOXES, 5))
    box = infimum.Interval(lo, lo + 1e-9)
    before = peak()
    value = seconds(lambda: function.enclose(box))
    derived = seconds(lambda: function.programs.gradient)
    gradient = seconds(lambda: function.gradient(box))
    operations = sum(bool(node.args) and node.op != "take" for node in ancestors([function.value_node]))
    return [
        ["operations", f"{operations}"],
        ["tracing, s", f"{traced:.2f}"],
        [f"value on {LONG_BOXES} boxes, s", f"{value:.2f}"],
        ["deriving and lowering the gradient, s", f"{derived:.2f}"],
        [f"gradient on {LONG_BOXES} boxes, s", f"{gradient:.2f}"],
        ["peak memory before and after, MB", f"{before:.0f}, {peak():.0f}"],
    ]


def tracing(name: str, runs: int) -> Rows:
    rows = []
    for function, (vector, loop, _, _) in paper_functions.FUNCTIONS.items():
        row = [function]
        for style, f in (("vector", vector), ("loop", loop)):
            work = {style: lambda f=f: trace(f, MANY).value_program}
            found = best(runs if style == "vector" else 1, work)[style]  # type: ignore[arg-type]
            row += [f"{found:.3f}", verdict(found, TRACING_GOALS[style])]
        rows.append(row)
    return rows


PARTS: dict[str, tuple[str, list[str], Callable[[str, int], Rows]]] = {
    "rastrigin": (f"One box, n = {LARGE}, one thread", ["what", "by", "ms", "ratio to NumPy", "goal"], one_box),
    "levy": ("", ["what", "by", "ms", "ratio to NumPy", "goal"], one_box),
    "batch": (f"{BOXES} boxes of 5 variables, one thread", ["what", "ms", "ns per operation", "goal"], batch),
    "long": (f"A recurrence of about {LONG} scalar operations that does not re-roll", ["what", ""], long),
    "tracing": (
        f"Seconds to trace and lower, n = {MANY}",
        ["function", "vector style", "goal", "loop style", "goal"],
        tracing,
    ),
}


def measured(part: str, runs: int) -> Rows:
    """One part, in a process of its own."""
    found = subprocess.run(
        [sys.executable, __file__, "--part", part, "--runs", str(runs)], capture_output=True, text=True, check=False
    )
    if found.returncode:
        raise SystemExit(f"{part} failed:\n{found.stderr}")
    rows: Rows = json.loads(found.stdout)
    return rows


def table(names: list[str], rows: Rows) -> list[str]:
    rule = ["---", *["---:"] * (len(names) - 1)]
    return [f"| {' | '.join(cells)} |" for cells in (names, rule, *rows)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--part", choices=PARTS, help="measure one part and print it as JSON")
    parser.add_argument("--no-write", action="store_true", help="do not write bench/results/function.md")
    given = parser.parse_args()
    if given.part:
        print(json.dumps(PARTS[given.part][2](given.part, given.runs)))
        return 0
    text = ["# Functions from NumPy", "", f"Best of {given.runs} runs; NumPy {np.__version__}."]
    for part, (title, names, _) in PARTS.items():
        text += ["", title, ""] if title else [""]
        text += table(names, measured(part, given.runs))
    print("\n".join(text))
    if not given.no_write:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / "function.md").write_text("\n".join(text) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
