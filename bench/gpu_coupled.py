"""Contractors that see coupling on a GPU, and on all cores of the CPU beside it: bits, boxes a second, whole searches.

usage: python bench/gpu_coupled.py [--write] [--seconds S] [NAME …]      needs a CUDA device and CuPy

    --write        bench/results/gpu_coupled.md, or that file in $OUT where that is set
    --seconds      the time limit of a search (10)

    figure         how
    routines       core/linear over boxes that lie on the device, its kernel loaded; "same": every bit is the CPU's
    contractors    dual and taylor alone, from arrays of the device to arrays of the device, best of three
    searches       separable.search as `minimize` runs it, with batches of 65,536 on both
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import coupled
import numpy as np
from gpu_auto import best

from infimum.backends import cpu
from infimum.backends import linear as placed
from infimum.backends.cuda import device as cuda_device
from infimum.backends.cuda import linear as on_gpu
from infimum.backends.placement import Gpu
from infimum.boxes import Boxes
from infimum.contractors.dual import dual
from infimum.contractors.known import Known
from infimum.contractors.taylor import taylor
from infimum.core.codes import LinearRoutine
from infimum.domain import Domain, read_bounds
from infimum.function.function import Function, trace
from infimum.search.auto import separable
from infimum.search.backend import boxes_all_over
from infimum.search.outcome import Options

RESULTS = Path(__file__).parent / "results"
SIZES = (2**12, 2**16, 2**18)
EVERYTHING = {"call": 0, "patience": 0, "many": 0}


def cases() -> Iterator[tuple[str, Function, Domain]]:
    runs = [
        coupled.of("nist_mgh09"), coupled.of("nist_roszman1"), coupled.of("watson", 6), coupled.of("hartmann6"),
        coupled.of("pv_rtc_france"), coupled.lennard_jones(5), coupled.xor(),
    ]  # fmt: skip
    for run in runs:
        domain = read_bounds(run.bounds)
        yield run.name, trace(run.f, domain.n), domain


def same(found: Any, wanted: Any) -> bool:
    return all(np.array_equal(cuda_device.to_host(a), b, equal_nan=True) for a, b in zip(found, wanted, strict=True))


def done(work: Callable[[], Any]) -> Callable[[], Any]:
    """The same work, which waits until the device has finished."""

    def made() -> Any:
        found = work()
        cuda_device.cupy().cuda.get_current_stream().synchronize()
        return found

    return made


# --- routines --------------------------------------------------------------------------------------------------------


def routines(threads: int) -> Iterator[dict[str, Any]]:
    for routine in LinearRoutine:
        on_gpu.kernel(routine, cuda_device.cupy().cuda.Device().id).result()
    for n in (2, 5, 10, 20):
        count = min(2**18, 2**24 // n**2)
        draw = np.random.default_rng(n)
        columns = draw.normal(size=(count, n, n))
        gram = columns @ columns.swapaxes(1, 2)
        gram = np.tril(gram) + np.tril(gram, -1).swapaxes(1, 2)
        slope, low, high = draw.normal(size=(count, n)), -draw.random((count, n)), draw.random((count, n))
        shifted = gram - draw.random((count, 1, 1)) * np.eye(n)
        radius = 1e-3 * np.abs(shifted)
        value, limit, edge = draw.normal(size=count), draw.normal(size=count), draw.random((count, n)) < 0.5
        residual, jacobian = draw.normal(size=(count, 3 * n)), draw.normal(size=(count, 3 * n, n))
        zero = np.zeros((count, n))
        given: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
            "is_positive": (placed.is_positive, (shifted,)),
            "box_minimum": (placed.box_minimum, (gram, slope, low, high)),
            "least_squares_box": (placed.least_squares_box, (jacobian, residual)),
            "quadratic": (_quadratic, (low, high, zero, value, slope, shifted - radius, shifted + radius, edge, limit)),
        }
        for name, (routine, arrays) in given.items():
            here, wanted = best(partial(routine, *arrays, threads=threads))
            far = [cuda_device.to_device(array) for array in arrays]
            there, found = best(done(partial(routine, *far)))
            wanted, found = (each if isinstance(each, tuple) else (each,) for each in (wanted, found))
            yield {
                "routine": name, "n": n, "boxes": count, "cpu": here / count, "gpu": there / count,
                "same": same(found, wanted),
            }  # fmt: skip


def _quadratic(lo: Any, hi: Any, c: Any, value: Any, slope: Any, least: Any, most: Any, *rest: Any, **how: Any) -> Any:
    return tuple(placed.quadratic((lo, hi), c, value, (slope, slope), (least, most), *rest, **how))


# --- contractors -----------------------------------------------------------------------------------------------------


def contractors(name: str, function: Function, domain: Domain, threads: int) -> Iterator[dict[str, Any]]:
    moved = function.on(Gpu(**EVERYTHING))
    for kind, make in (("dual", dual), ("taylor", taylor)):
        here, there = make(function), make(moved)
        if here is None or there is None:
            continue
        for size in SIZES:
            lo, hi = boxes_all_over(domain, size)
            hi = lo + (hi - lo) * 0.2
            level = float(np.nanmedian(np.asarray(function((lo + hi) / 2))))
            boxes = Boxes(lo, hi)
            far = Boxes(*map(cuda_device.to_device, boxes))
            start = time.perf_counter()
            found = there.contract(far, Known(moved, domain, level))
            first = time.perf_counter() - start
            on_device, found = best(done(lambda: there.contract(far, Known(moved, domain, level))))  # noqa: B023
            row = {"contractor": kind, "function": name, "boxes": len(lo), "first": first, "gpu": on_device / len(lo)}
            if size <= 2**16:
                on_cpu, wanted = best(lambda: here.contract(boxes, Known(function, domain, level, threads)), 2)  # noqa: B023
                row |= {"cpu": on_cpu / len(lo), "same": same(found, wanted)}
                row["gone"] = int(wanted.is_empty().sum())
            yield row


# --- searches --------------------------------------------------------------------------------------------------------


def searches(name: str, function: Function, domain: Domain, seconds: float) -> Iterator[dict[str, Any]]:
    for backend in ("cpu", "cuda"):
        given = Options(xtol=None, ftol=1e-6, fatol=0.0, time_limit=seconds, threads=cpu.usable_cpus(), batch=2**16)
        moved = function.on(backend)
        found = separable.search(moved, domain, given)
        yield {
            "function": name, "backend": backend, "seconds": found.seconds, "status": found.status.name,
            "lower": found.lower, "upper": found.upper, "iterations": found.nit,
            "boxes": moved.place.boxes_evaluated, "kernels": moved.place.kernels if isinstance(moved.place, Gpu) else 0,
        }  # fmt: skip


def table(rows: list[dict[str, Any]]) -> str:
    """Markdown, a table for each kind of row."""
    lines: list[str] = []
    before: list[str] = []
    for row in rows:
        names = [key for key in row if key not in ("same", "gone")]
        if names[:2] != before[:2]:
            before = ["", *names]
            before = names
            head = [*row]
            lines += ["", f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
        lines.append("| " + " | ".join(_shown(row.get(key)) for key in head) + " |")
    return "\n".join(lines) + "\n"


def _shown(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return "" if value is None else str(value)
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def main() -> int:
    parser = argparse.ArgumentParser(description="contractors that see coupling, on a GPU")
    parser.add_argument("names", nargs="*", metavar="NAME", help="some of the functions")
    parser.add_argument("--write", action="store_true", help="write bench/results/gpu_coupled.md")
    parser.add_argument("--seconds", type=float, default=10.0, help="the time limit of a search")
    arguments = parser.parse_args()
    reason = cuda_device.available()
    if reason is not None:
        print(reason)
        return 1
    here, threads = cuda_device.current(), cpu.usable_cpus()
    rows: list[dict[str, Any]] = []

    def keep(row: dict[str, Any]) -> None:
        rows.append(row)
        print({key: _shown(value) for key, value in row.items()}, flush=True)
        if arguments.write:  # as far as it has come
            head = (
                f"{date.today().isoformat()}, {here.name}, CUDA {here.driver}, {threads} threads of the CPU beside it"
            )
            text = f"{head} (`bench/gpu_coupled.py`); seconds, or seconds a box.\n{table(rows)}"
            (Path(os.environ.get("OUT", RESULTS)) / "gpu_coupled.md").write_text(text)

    for row in routines(threads):
        keep(row)
    all_cases = [case for case in cases() if not arguments.names or case[0] in arguments.names]
    for name, function, domain in all_cases:
        for row in contractors(name, function, domain, threads):
            keep(row)
    for name, function, domain in all_cases:
        for row in searches(name, function, domain, arguments.seconds):
            keep(row)
    return 0 if all(row.get("same", True) for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
