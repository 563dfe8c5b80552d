"""A tour of the interval core: what plain doubles get wrong, what an interval proves, what it costs."""

from __future__ import annotations

import time
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import infimum
import infimum.core

console = Console()


def table(title: str, *columns: str) -> Table:
    made = Table(title=title, title_justify="left", header_style="bold", title_style="bold cyan")
    for i, column in enumerate(columns):
        made.add_column(column, justify="left" if i == 0 else "right")
    return made


def rump(a: Any, b: Any) -> Any:
    """Rump's example: terms of 1e36 cancel, and what rounding leaves in their place drowns the result."""
    return 333.75 * b**6 + a**2 * (11 * a**2 * b**2 - b**6 - 121 * b**4 - 2) + 5.5 * b**8 + a / (2 * b)


def shown(x: infimum.Interval, digits: int = 4) -> str:
    """The interval in a few decimal digits, rounded outward: what is printed is still true."""
    lo = Context(prec=digits, rounding=ROUND_FLOOR).create_decimal_from_float(float(x.lo))
    hi = Context(prec=digits, rounding=ROUND_CEILING).create_decimal_from_float(float(x.hi))
    return f"[{lo:g}, {hi:g}]"


# --- 1. the last digits are not true -------------------------------------------------------------------------------

first = table("1. A double is a guess, an interval is a proof", "expression", "double", "interval", "the truth")
first.add_row(
    "Rump(77617, 33096)",
    f"{rump(77617.0, 33096.0):.4g}",
    shown(rump(infimum.Interval(77617), infimum.Interval(33096))),
    f"{float(rump(infimum.exact(77617), infimum.exact(33096))):.4f}",
)
tenth, whole = infimum.Interval("0.1"), infimum.Interval(1)
for expression, double, interval, truth in [
    ("0.1 + 0.1 + 0.1 - 0.3", 0.1 + 0.1 + 0.1 - 0.3, tenth + tenth + tenth - infimum.Interval("0.3"), "0"),
    ("(1e16 + 1) - 1e16", (1e16 + 1) - 1e16, (whole * 1e16 + 1) - 1e16, "1"),
    ("1/49 * 49 - 1", 1 / 49 * 49 - 1, whole / 49 * 49 - 1, "0"),
    ("sin(pi)", np.sin(np.pi), np.sin(infimum.pi * whole), "0"),
]:
    first.add_row(expression, f"{double:.4g}", shown(interval), truth)
console.print(first)

# --- 2. a box is judged as a whole ---------------------------------------------------------------------------------


def rastrigin(x: Any) -> Any:
    return np.sum(x**2 - 10 * np.cos(2 * infimum.pi * x) + 10)


def smallest_sample(low: float, high: float) -> float:
    x = np.random.default_rng(0).uniform(low, high, (100_000, 10))
    return float(np.sum(x**2 - 10 * np.cos(2 * np.pi * x) + 10, axis=1).min())


second = table(
    "2. Rastrigin in 10 variables: is the global minimum, 0, in this box?",
    *("box, each variable", "least sample", "over the whole box", "verdict"),
)
for low, high in [(-5.12, 5.12), (2.4, 2.6), (0.9, 1.1), (0.99, 1.01), (-0.01, 0.01)]:
    value = rastrigin(infimum.Interval(np.full(10, low), np.full(10, high)))
    verdict = "proved: no" if value.lo > 0 else "perhaps: split"
    second.add_row(f"[{low}, {high}]", f"{smallest_sample(low, high):.4g}", shown(value), verdict)
console.print(second)

# --- 3. what it costs ----------------------------------------------------------------------------------------------


def best_seconds(work: Callable[[], object]) -> float:
    def once() -> float:
        start = time.perf_counter()
        work()
        return time.perf_counter() - start

    return min(once() for _ in range(5))


count = 1_000_000
points = np.random.default_rng(0).uniform(0.1, 10, count)
boxes = infimum.Interval(points, points + 1e-3)
third_table = table("3. A million at once, on one thread", "operation", "doubles (NumPy)", "intervals", "ratio")
for name, work in {
    "x + x": lambda x: x + x,
    "x * x": lambda x: x * x,
    "np.exp(x)": np.exp,
    "np.log(x)": np.log,
    "np.sin(x)": np.sin,
}.items():
    plain, proved = (best_seconds(lambda work=work, x=x: work(x)) for x in (points, boxes))  # type: ignore[misc]
    third_table.add_row(name, f"{1e3 * plain:.1f} ms", f"{1e3 * proved:.1f} ms", f"{proved / plain:.1f}")
console.print(third_table)
console.print(f"instruction set: {infimum.core.variants()[-1]}. The solver that splits boxes by itself comes next.")
