"""Small functions generated from NumPy's own vocabulary, and what tracing makes of them.

A number is a function: a template (one call of one function in one spelling) with operands drawn by a seed. Each is run
by plain NumPy at points, and traced and run by the core at the same points, with every rounding widened. Wherever NumPy
gives a finite number, the traced function must hold it, or tracing must have refused with a TraceError.

    python tests/numpy_calls.py --count 30000 --report differences.md
"""

from __future__ import annotations

import argparse
import functools
import json
import linecache
import math
import re
import resource
import signal
import subprocess
import sys
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from infimum.backends import cpu
from infimum.errors import TraceError
from infimum.graph.node import Node
from infimum.passes.lowering.lower import lower
from infimum.passes.reroll import reroll
from infimum.passes.widen import widened
from infimum.tracing.selected import Selected
from infimum.tracing.trace import trace_with
from infimum.tracing.tracer import Tracer
from numpy_call_templates import POOLS, PRELUDE, TEMPLATES

FloatArray = npt.NDArray[np.float64]
N = 4
_POINTS = 14
_SECONDS, _MEMORY = 5, 8 * 2**30  # of one call
_VALUES = np.array([
    0.0, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 5.0, 10.0, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 0.1, -0.1, 1e-3, -1e-3, 7.25,
    -7.75, 100.0, -100.0, 800.0, -800.0, 1e-300, -1e-300, 1e300, -1e300, 2.0**31, -(2.0**31), 2.0**53 + 2, 129.0, 255.0,
    256.0, math.pi, -math.e,
])  # fmt: skip


# --- cases -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Call:
    """One generated function: its number, what it calls, and its text."""

    number: int
    name: str
    source: str

    def function(self) -> Callable[[Any], Any]:
        file = f"<call {self.number}>"
        linecache.cache[file] = (len(self.source), None, self.source.splitlines(True), file)
        space = _names().copy()
        exec(compile(self.source, file, "exec"), space)
        found: Callable[[Any], Any] = space["f"]
        return found

    def points(self) -> FloatArray:
        draw = np.random.default_rng(self.number)
        whole = draw.integers(-4, 6, (3, N)).astype(float)
        near = np.round(draw.normal(0, 2, (4, N)), 2)
        positive = np.abs(draw.normal(0, 1, (2, N)))
        return np.vstack([whole, near, positive, draw.choice(_VALUES, (_POINTS - 9, N))]) + 0.0


@functools.cache
def _names() -> dict[str, Any]:
    space: dict[str, Any] = {"__name__": "generated_calls"}
    exec(PRELUDE, space)
    return space


def call(number: int) -> Call:
    """Return the function of a number: templates take turns, operands are drawn until NumPy has a value for them."""
    for draws in range(6):
        found = _drawn(number, draws)
        if any(isinstance(v, Value) for v in plain_values(found.function(), found.points()[::4])):
            break
    return found


def _drawn(number: int, draws: int) -> Call:
    name, template = TEMPLATES[number % len(TEMPLATES)]
    draw = np.random.default_rng([number, draws])
    text = template
    while "{" in text:  # the operands of operands too
        text = re.sub(r"\{(\w+)\}", lambda m: str(_pick(draw, POOLS[m[1]])), text, count=1)
    text = text.replace("«", "{").replace("»", "}")
    *before, last = text.split(" ; ")
    body = "".join(f"    {line}\n" for line in before)
    return Call(number, name, f"def f(x):\n{body}    return {last}\n")


def _pick(draw: np.random.Generator, pool: list[str]) -> str:
    return pool[int(draw.integers(len(pool)))]


# --- what NumPy gives ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Value:
    """The numbers of a result, flattened, and the shapes of its parts."""

    numbers: FloatArray
    shapes: tuple[tuple[int, ...], ...]


class NoNumbers(Exception):
    """A result that is no array of real numbers."""


def value_of(result: Any) -> Value:
    parts = list(_parts(result))
    arrays = [np.asarray(part) for part in parts]
    if any(a.dtype.kind not in "biuf" for a in arrays):
        raise NoNumbers(", ".join(str(a.dtype) for a in arrays))
    flat = [a.astype(np.float64).ravel() for a in arrays]
    return Value(np.concatenate([np.zeros(0), *flat]), tuple(a.shape for a in arrays))


def _parts(result: Any) -> Iterator[Any]:
    if isinstance(result, tuple | list):
        for part in result:
            yield from _parts(part)
    else:
        yield result


def plain_values(f: Callable[[Any], Any], points: FloatArray) -> list[Value | Exception]:
    found: list[Value | Exception] = []
    with np.errstate(all="ignore", invalid="warn"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.filterwarnings("error", message=".*in cast")  # a float beyond all integers has no value as an integer
        for point in points:
            try:
                found.append(value_of(f(point.copy())))
            except Exception as error:
                found.append(error)
    return found


def same(a: Value | Exception, b: Value | Exception) -> bool:
    if isinstance(a, Exception) or isinstance(b, Exception):
        return type(a) is type(b)
    return a.shapes == b.shapes and np.array_equal(a.numbers, b.numbers, equal_nan=True)


# --- what tracing gives ----------------------------------------------------------------------------------------------


def traced_ranges(f: Callable[[Any], Any], points: FloatArray) -> tuple[FloatArray, FloatArray, Any]:
    """The traced function's lenient enclosures (k, size) at the points, and the shapes of its parts."""
    shapes: list[tuple[int, ...]] = []

    def read(tracer: Tracer, _: Any, result: Any) -> Node:
        nodes = []
        for part in _parts(result):
            if isinstance(part, Selected):
                raise TraceError("A result of unknown length.")
            node, shape, _ = tracer.operand(part)
            size = math.prod(shape)
            shapes.append(shape)
            if size:
                nodes.append(tracer.sized(node, size))
        if not nodes:
            return tracer.number(0.0)
        return nodes[0] if len(nodes) == 1 else tracer.graph.node("concat", nodes, sum(n.size for n in nodes))

    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        traced = trace_with(read, f, N)
    outputs = reroll(traced.graph, [traced.output])
    program = lower(widened(outputs, traced.has_exact), N)
    ((low, high),) = cpu.run(program, points, points, "interval")
    return low, high, tuple(shapes)


# --- comparison ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Verdict:
    """What came out: "agrees", "refused", "no values" (NumPy raises or gives no real numbers), or a difference."""

    number: int
    name: str
    kind: str
    detail: str = ""
    source: str = ""

    @property
    def is_difference(self) -> bool:
        return self.kind not in ("agrees", "refused", "no values")


def judged(one: Call) -> Verdict:
    """Compare one generated function, value by value."""

    # | NumPy at the points            | tracing                    | verdict                          |
    # | fails everywhere               | anything                   | no values                        |
    # | two runs differ                | refused / traced           | refused / random                 |
    # | reads a clock or an address    | traced                     | refused: the watch sees it       |
    # | some values                    | TraceError                 | refused                          |
    # | some values                    | any other exception        | its name                         |
    # | other shapes                   | traced                     | shape                            |
    # | a finite number                | not in the enclosure       | value, or empty, with the point  |
    def verdict(kind: str, detail: str = "") -> Verdict:
        return Verdict(one.number, one.name, kind, detail, one.source)

    f, points = one.function(), one.points()
    values = plain_values(f, points)
    again = plain_values(f, points)
    good = [k for k, v in enumerate(values) if isinstance(v, Value)]
    if not good:
        return verdict("no values", repr(values[0])[:200])
    steady = all(map(same, values, again))
    try:
        low, high, shapes = traced_ranges(f, points)
    except TraceError as error:
        return verdict("refused", str(error).split("\n")[-2 if "\n" in str(error) else 0].strip()[:200])
    except Exception as error:
        return verdict(type(error).__name__, str(error)[:200])
    if one.name == "clock":  # no rule can know them all
        return verdict("refused", "noticed at run time")
    if not steady:
        return verdict("random")
    for k in good:
        value = values[k]
        assert isinstance(value, Value)
        if value.shapes != shapes:
            return verdict("shape", f"NumPy {value.shapes}, traced {shapes}, at {points[k].tolist()}")
        if not value.numbers.size:
            continue
        inside = (low[k] <= value.numbers) & (value.numbers <= high[k]) | ~np.isfinite(value.numbers)
        if not inside.all():
            i = int(np.argmin(inside))
            kind = "empty" if not low[k, i] <= high[k, i] else "value"
            kind += _circumstance(points[k], low[k, i], high[k, i])
            ends = [float(low[k, i]), float(high[k, i])]
            what = f"element {i}: NumPy {float(value.numbers[i])!r}, traced {ends}"
            return verdict(kind, f"{what} at {points[k].tolist()}")
    return verdict("agrees")


def _circumstance(point: FloatArray, low: float, high: float) -> str:
    if np.any(np.abs(point) > 1e15):
        return " (huge x)"
    return " (x has 0)" if np.any(point == 0.0) else ""


# --- many at once, in a process of their own: a crash is a difference, not the end ------------------------------------


def verdicts(first: int, count: int) -> list[Verdict]:
    """Judge the functions of these numbers in another process; one that dies is named and gone around."""
    found: list[Verdict] = []
    number, last = first, first + count
    while number < last:
        command = [sys.executable, __file__, "--child", "--first", str(number), "--count", str(last - number)]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        lines = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
        judgements = [Verdict(**line) for line in lines if "kind" in line]
        found += judgements
        number = judgements[-1].number + 1 if judgements else number
        if number < last:
            # A call is written down before it is traced: without it, NumPy itself found no end.
            traced = bool(lines) and lines[-1]["number"] == number
            kind = "no values" if not traced else "no end" if run.returncode == -signal.SIGALRM else "crash"
            how, source = f"exit {run.returncode}: {run.stderr[-300:]}", lines[-1]["source"] if traced else ""
            found.append(Verdict(number, TEMPLATES[number % len(TEMPLATES)][0], kind, how, source))
            number += 1
    return found


def report(found: list[Verdict], most: int = 4) -> str:
    """What was compared, grouped by function and kind, with the text of the small functions."""
    kinds = Counter(v.kind for v in found)
    bad = [v for v in found if v.is_difference]
    lines = [
        f"{len(found)} generated calls of {len({v.name for v in found})} functions: {kinds['agrees']} agree, "
        f"{kinds['refused']} are refused, {kinds['no values']} have no value in NumPy, {len(bad)} differ.",
        "",
    ]
    refused = Counter(v.name for v in found if v.kind == "refused")
    never = sorted(n for n in refused if not any(v.name == n and v.kind == "agrees" for v in found))
    lines += ["always refused: " + ", ".join(never), ""]
    lines += ["sometimes refused: " + ", ".join(f"{n} {k}" for n, k in sorted(refused.items()) if n not in never), ""]
    groups: dict[tuple[str, str], list[Verdict]] = defaultdict(list)
    for v in bad:
        groups[v.name, v.kind.split(" (")[0]].append(v)
    lines += ["## Differences by function and kind", ""]
    lines += [f"- {name}: {kind}, {len(members)}" for (name, kind), members in sorted(groups.items())]
    for (name, kind), members in sorted(groups.items()):
        lines += ["", f"### {name}: {kind} ({len(members)})"]
        for v in members[:most]:
            lines += [f"- {v.number} {v.kind}: {v.detail}", *("      " + text for text in v.source.splitlines())]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=3000)
    parser.add_argument("--report", type=Path)
    parser.add_argument("--child", action="store_true")
    options = parser.parse_args()
    if options.child:
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        out = sys.stdout
        sys.stdout = sys.stderr  # what generated functions print is not ours
        for number in range(options.first, options.first + options.count):
            signal.alarm(_SECONDS)  # ends the process, whatever it does
            one = call(number)
            print(json.dumps(asdict(one)), file=out, flush=True)
            print(json.dumps(asdict(judged(one))), file=out, flush=True)
        return
    text = report(verdicts(options.first, options.count))
    print(text if options.report is None else text.split("\n")[0])
    if options.report is not None:
        options.report.write_text(text)


if __name__ == "__main__":
    main()
