"""Write the table of docs/guarantee.md from the core's operations, its headers and the recorded measurements.

usage: python docs/make_guarantee_table.py            (`make table`)

The bound of a function is the one its own code uses: the first BOUND(...) met when its calls are followed through the
headers. The tightness is what `make torture` has recorded in bench/results/tightness.json.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from pathlib import Path

import infimum.core

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "guarantee.md"
CORE = ROOT / "src" / "infimum" / "core"
TIGHTNESS = ROOT / "bench" / "results" / "tightness.json"
BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"

MEANING = {
    "exact": "exactly rounded",
    "checked": "machine-checked",
    "argued": "argued beside the code",
    "numeric": "a number, as IEEE 1788 has it",
}


# --- the headers ---------------------------------------------------------------------------------------------------


def functions() -> dict[str, list[tuple[str, str]]]:
    """Each function of the elementary and reverse headers: its file and the text of its body, overloads together."""
    head = re.compile(r"^INFIMUM_(?:LONG_)?FN [^;{]*?(\w+)\([^;{]*\{(.*?)^\}", re.MULTILINE | re.DOTALL)
    found: dict[str, list[tuple[str, str]]] = {}
    for path in headers():
        for match in head.finditer(path.read_text()):
            found.setdefault(match[1], []).append((path.relative_to(CORE).as_posix(), match[2]))
    return found


def headers() -> list[Path]:
    return [path for room in ("elementary", "reverse") for path in sorted((CORE / room).glob("*.h"))]


def named_bounds() -> dict[str, str]:
    """The bounds that have a name: INFIMUM_EXP_BOUND and its like."""
    texts = (path.read_text() for path in headers())
    return {name: value for text in texts for name, value in re.findall(r"#define (\w+) BOUND\(([^)]+)\)", text)}


def bound(op: str) -> tuple[float, str]:
    """The largest bound in the nearest code that has one, and the header of that operation."""
    code, names = functions(), named_bounds()
    home = next((file for file, body in code.get(op, []) if body), "")
    level, seen = [op], {op}
    while level:
        bodies = [body for name in level for _, body in code.get(name, [])]
        values = [value for body in bodies for value in _bounds_in(body, names)]
        if values:
            return max(values), home
        words = dict.fromkeys(word for body in bodies for word in re.findall(r"\b\w+\b", body))
        level = [word for word in words if word in code and word not in seen]
        seen.update(level)
    raise LookupError(f"no BOUND(...) is reached from {op} in {CORE.name}")


def _bounds_in(body: str, names: dict[str, str]) -> Iterable[float]:
    yield from (float.fromhex(text) for text in re.findall(r"\bBOUND\(([^)]+)\)", body))
    yield from (float.fromhex(names[word]) for word in re.findall(r"\b\w+\b", body) if word in names)


# --- the table -----------------------------------------------------------------------------------------------------


def _power(value: float) -> str:
    mantissa, exponent = math.frexp(value)
    factor = 2 * mantissa
    return f"2^{exponent - 1}" if factor == 1 else f"{factor:.4g} * 2^{exponent - 1}"


def _excess(figures: dict[str, float] | None) -> tuple[str, str]:
    if figures is None:
        return "", ""
    return f"{figures['mean']:.3g}", f"{figures['max']:.3g}"


def _home(op: str) -> str:
    """The header of an operation that needs no bound."""
    homes = [file for file, _ in functions().get(op, []) if file.startswith("reverse/")]
    return homes[0] if homes else "mod.h" if op == "mod" else "interval.h"


def rows() -> list[list[str]]:
    measured = json.loads(TIGHTNESS.read_text())["operations"] if TIGHTNESS.exists() else {}
    lines = []
    for op in infimum.core.operations().values():
        if op.trust in ("exact", "numeric"):
            error, where = "0", _home(op.name)
        else:
            value, where = bound(op.name)
            error = _power(value)
        lines.append([f"`{op.name}`", MEANING[op.trust], error, where, *_excess(measured.get(op.name))])
    return lines


def table() -> str:
    names = ["operation", "status", "relative error before rounding", "code", "mean excess", "largest excess"]
    rule = ["---", "---", "---", "---", "---:", "---:"]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (names, rule, *rows()))


def page(text: str) -> str:
    """The page with its table replaced by a fresh one."""
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text()))
