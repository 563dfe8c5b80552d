"""Arguments whose exact result lies extraordinarily near a double: there a lost error term costs containment.

    python tests/hard.py        rewrite data/hard_cases.json (a few minutes)

Of a million random points of each function those are kept where the result, in 53 bits, is nearest to a double without
being one: within about 2^-19 of a unit, so that an error of 2^-70 whose bound is dropped shows. Points that were found
to kill a mutant of the core (tests/hunt.py) are kept beside them.
"""

from __future__ import annotations

import heapq
import json
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import flint
import gmpy2
import numpy as np

CASES = Path(__file__).parent / "data" / "hard_cases.json"
KILLERS = Path(__file__).parent / "data" / "mutant_killers.json"
TRIED, KEPT = 1_000_000, 40

_WIDE = gmpy2.context(precision=160)
_PI = _WIDE.const_pi()

# The range of each operand; results there are neither exact nor subnormal.
RANGES: dict[str, list[tuple[float, float]]] = {
    "exp": [(-700, 700)], "exp2": [(-1000, 1000)], "exp10": [(-300, 300)], "expm1": [(-30, 30)],
    "log": [(0.01, 100)], "log2": [(0.01, 100)], "log10": [(0.01, 100)], "log1p": [(-0.99, 30)],
    "sin": [(-1000, 1000)], "cos": [(-1000, 1000)], "tan": [(-1000, 1000)], "sinpi": [(-2, 2)], "cospi": [(-2, 2)],
    "asin": [(-1, 1)], "acos": [(-1, 1)], "atan": [(-20, 20)], "sinh": [(-30, 30)], "cosh": [(-30, 30)],
    "tanh": [(-5, 5)], "asinh": [(-30, 30)], "acosh": [(1, 30)], "atanh": [(-1, 1)], "cbrt": [(-1000, 1000)],
    "erf": [(-3, 3)], "erfc": [(-3, 20)], "lgamma": [(0.01, 40)], "digamma": [(0.01, 40)], "trigamma": [(0.01, 40)],
    "pow": [(0.01, 100), (-100, 100)], "hypot": [(-10, 10), (-10, 10)], "atan2": [(-10, 10), (-10, 10)],
}  # fmt: skip


def _trigamma(x: float) -> Any:
    with flint.ctx.workprec(200):
        mantissa, exponent = flint.arb(2).zeta(flint.arb(x)).mid().man_exp()
    return _WIDE.mul(gmpy2.mpz(int(mantissa)), gmpy2.exp2(int(exponent)))


def _function(op: str) -> Callable[..., Any]:
    if op in ("sinpi", "cospi"):
        wave = _WIDE.sin if op == "sinpi" else _WIDE.cos
        return lambda x: wave(_WIDE.mul(_PI, x))
    if op == "trigamma":
        return _trigamma
    function: Callable[..., Any] = getattr(_WIDE, "lngamma" if op == "lgamma" else op)
    return function


def _distance(value: Any) -> int:
    """How far a number of 160 bits is from one of 53, in units of its own last place."""
    mantissa, _ = value.as_mantissa_exp()
    digits = abs(int(mantissa))
    digits <<= 160 - digits.bit_length()
    rest = digits & ((1 << 107) - 1)
    return min(rest, (1 << 107) - rest) or 1 << 160


def _hardest(op: str) -> list[tuple[float, ...]]:
    random = np.random.default_rng([zlib.crc32(op.encode()), 1788])
    columns = [random.uniform(low, high, TRIED).tolist() for low, high in RANGES[op]]
    function = _function(op)
    return heapq.nsmallest(KEPT, zip(*columns, strict=True), key=lambda point: _distance(function(*point)))


Cases = dict[str, list[list[str]]]


def write(path: Path, cases: Cases) -> None:
    """Store points by operation, an operation a line."""
    path.write_text("{\n" + ",\n".join(f"{json.dumps(op)}: {json.dumps(cases[op])}" for op in cases) + "\n}\n")


@cache
def _read(path: Path) -> Cases:
    cases: Cases = json.loads(path.read_text())
    return cases


def points(op: str) -> list[np.ndarray[Any, np.dtype[np.float64]]]:
    """The hard cases of op and those that have killed a mutant, one array per operand; none where there are none."""
    cases = _read(CASES).get(op, []) + _read(KILLERS).get(op, [])
    return [np.array([float.fromhex(x) for x in column]) for column in zip(*cases, strict=True)]


if __name__ == "__main__":
    write(CASES, {op: [[x.hex() for x in point] for point in _hardest(op)] for op in RANGES})
