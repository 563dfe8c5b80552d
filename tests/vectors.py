"""The IEEE 1788 test vectors of data/itf1788.jsonl, read as they are."""

from __future__ import annotations

import json
import math
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import oracle
import reverse_samples
from measure import Reference
from samples import Batch

DATA = Path(__file__).parent / "data" / "itf1788.jsonl"

# Names that differ from the standard's in snake_case.
_NAMES = {"convexHull": "hull", "b-textToInterval": "text_to_interval", "b-numsToInterval": "nums_to_interval"}


class Vector(NamedTuple):
    """One test: intervals are pairs, (inf, -inf) the empty one; a decoration is dropped, NaI is None."""

    op: str
    args: tuple[Any, ...]
    expected: tuple[Any, ...]
    decorated: bool
    signal: str
    where: str

    @property
    def has_nai(self) -> bool:
        return None in self.args or None in self.expected


def name(standard: str) -> str:
    """The name in infimum.interval of an operation of the standard."""
    return _NAMES.get(standard) or re.sub("[A-Z]", lambda letter: "_" + letter[0].lower(), standard)


def number(text: str) -> float:
    return float(text) if "0x" not in text else float.fromhex(text)


def _value(item: Any) -> Any:
    if isinstance(item, bool):
        return item
    if isinstance(item, dict):
        ((kind, value),) = item.items()
        return number(value) if kind == "num" else value
    if item[0] == "nai":
        return None
    if item[0] == "empty":
        return oracle.EMPTY
    return number(item[0]), number(item[1])


@cache
def vectors() -> tuple[Vector, ...]:
    """All of them, in the order of the file."""
    records = [json.loads(line) for line in DATA.read_text().splitlines()]
    return tuple(
        Vector(
            r["op"],
            tuple(_value(a) for a in r["args"]),
            tuple(_value(e) for e in r["expected"]),
            r["decorated"],
            r.get("signal", ""),
            f"{r['file']}:{r['line']}",
        )
        for r in records
    )


def of(op: str) -> list[Vector]:
    """The vectors of an operation under its name in infimum.interval, those with NaI left out."""
    return [v for v in vectors() if name(v.op) == op and not v.has_nai]


# How a reverse operation of the standard is asked of the core: the row of each result, and where the vector's arguments
# go; X is everything where there is none. pownRev carries its exponent last.
_EVEN = ("sqr", "abs", "sin", "cos", "tan", "cosh", "pown")
REVERSE: dict[str, tuple[str, ...]] = {
    **{f"{f}_rev{form}": (f"{f}_rev",) for f in _EVEN for form in ("", "_bin")},
    "mul_rev": ("mul_rev",), "mul_rev_ten": ("mul_rev",), "mul_rev_to_pair": ("mul_rev_pair_low", "mul_rev_pair_high"),
    "pow_rev1": ("pow_rev1",), "pow_rev2": ("pow_rev2",),
    "cancel_minus": ("cancel_minus",), "cancel_plus": ("cancel_plus",),
}  # fmt: skip


def reverse_references(op: str) -> list[tuple[Vector, Reference]]:
    """The vectors of a reverse operation of the core, one by one."""
    found = []
    for standard, rows in REVERSE.items():
        for vector in of(standard) if op in rows else []:
            given = [a for a in vector.args if isinstance(a, tuple)]
            exponent = vector.args[-1] if standard.startswith("pown") else 0
            operands = [*given, *[oracle.ENTIRE] * (reverse_samples.ARITY[op] - len(given))]
            batch = Batch(op, exponent, tuple(_columns([pair]) for pair in operands))
            expected = _columns([vector.expected[rows.index(op)]])
            found.append((vector, Reference(batch, *expected, np.ones(1, dtype=bool))))
    return found


def references(op: str) -> list[Reference]:
    """The vectors of an operation of the core as batches, one per exponent for pown."""
    exponents = sorted({v.args[1] for v in of(op)}) if op == "pown" else [0]
    return [_reference(op, n, [v for v in of(op) if op != "pown" or v.args[1] == n]) for n in exponents if of(op)]


def _reference(op: str, exponent: int, chosen: list[Vector]) -> Reference:
    arity = 1 if op == "pown" else len(chosen[0].args)
    operands = tuple(_columns([v.args[i] for v in chosen]) for i in range(arity))
    expected = [v.expected[0] if isinstance(v.expected[0], tuple) else (v.expected[0],) * 2 for v in chosen]
    return Reference(Batch(op, exponent, operands), *_columns(expected), np.ones(len(chosen), dtype=bool))


def _columns(pairs: list[tuple[float, float]]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    return np.array([lo for lo, _ in pairs]) + 0.0, np.array([hi for _, hi in pairs]) + 0.0


def same_number(x: float, y: float) -> bool:
    return x == y or (math.isnan(x) and math.isnan(y))
