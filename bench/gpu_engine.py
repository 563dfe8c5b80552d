"""Whole chains of contractors on a GPU against the core's on all cores beside it: bits, boxes a second, launches.

usage: python bench/gpu_engine.py [--seconds S] [--tiny] [NAME …]      needs a CUDA device and CuPy

    --seconds      what all of it may take (480); what there is no time for is left out
    --tiny         a few boxes: to see that the script runs

It writes bench/results/gpu_engine.json, or that file in $OUT where that is set, as far as it has come, and ends with 1
if any bit or count differs. The chain is level, monotone, stationary, mean_value; the functions are bench/engine.py's;
the boxes are what breadth-first cuts and the chain itself leave of the domain under the upper bound of a short search,
halved further where more are wanted.

    figure            how
    cpu               core/chain on all cores, boxes of the host's memory
    passes            backends/cuda/chain.py, a launch a pass, from boxes of the device to boxes of the device
    whole             the same, a launch a link (fused.py), where every Program is small enough
    boxes_per_second  best of three after a first call; audits are on, as in a search
    launches          of Programs, of rules and whole links; CuPy's own scans and copies come on top
    share             of a call's time that events show in these kernels
    same              every bit and count is the core's; null where there was no time for the core
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import engine
import numpy as np

import infimum
from infimum.backends import cpu
from infimum.backends.cuda import chain as cuda_chain
from infimum.backends.cuda import device as cuda_device
from infimum.backends.cuda import fused as cuda_fused
from infimum.backends.cuda import kernel as cuda_kernel
from infimum.backends.placement import Gpu
from infimum.boxes import Boxes
from infimum.contractors.known import Known
from infimum.contractors.links import Links
from infimum.contractors.table import CONTRACTORS
from infimum.core.chain import Left
from infimum.core.codes import ChainKeeping
from infimum.domain import Domain, read_bounds
from infimum.function.function import Function, trace

RESULTS = Path(__file__).parent / "results"
SIZES = tuple(2**k for k in (12, 14, 16, 18, 20))
TINY = (64,)
LONGEST = 12.0  # seconds that the core may take for a batch


class Case(NamedTuple):
    """A function over a domain, and an upper bound of its minimum there."""

    name: str
    function: Function
    domain: Domain
    upper: float

    def links(self, function: Function) -> Links:
        """Return the chain of the function on some place."""
        named = [(name, CONTRACTORS[name](function)) for name in engine.BASIC]
        return Links([(name, one) for name, one in named if one is not None], function, self.domain)

    def run(self, links: Links, boxes: Boxes, function: Function) -> Left:
        """Return what the chain leaves of boxes, where they lie."""
        known = Known(function, self.domain, self.upper, cpu.usable_cpus())
        return links.run(boxes, known, ChainKeeping.KEEP_SOME)[1]


def case(name: str, seconds: float) -> Case:
    """Return a function of bench/engine.py; its upper bound is that of a short search."""
    f, bounds = engine.problem(name)
    domain = read_bounds(bounds)
    found = infimum.minimize(f, bounds, time_limit=seconds, progress=False, backend="cpu")
    return Case(name, trace(f, domain.n), domain, float(found.minimum.hi))


def boxes_of(of: Case, most: int, seconds: float) -> Boxes:
    """Return boxes as a search meets them: halved along their widest side, and contracted while there is time."""
    links, began = of.links(of.function), time.perf_counter()
    boxes = Boxes(of.domain.lo[None].copy(), of.domain.hi[None].copy())
    whole = of.domain.hi - of.domain.lo
    while len(boxes) < most:
        width = (boxes.hi - boxes.lo) / np.where(whole > 0, whole, 1.0)
        if not (width > 1e-12).any():
            break
        rows, side = np.arange(len(boxes)), width.argmax(1)
        middle = 0.5 * (boxes.lo[rows, side] + boxes.hi[rows, side])
        left, right = boxes.hi.copy(), boxes.lo.copy()
        left[rows, side] = right[rows, side] = middle
        lo, hi = np.concatenate([boxes.lo, right]), np.concatenate([left, boxes.hi])
        halves = Boxes(lo, hi, np.concatenate([boxes.lower, boxes.lower]))
        if time.perf_counter() - began < seconds:
            found = of.run(links, halves, of.function)
            halves = Boxes(found.lo, found.hi, found.lower) if len(found.lo) else halves
        boxes = halves
    order = np.random.default_rng(1).permutation(len(boxes))[:most]
    return boxes[order]


# --- what is launched ------------------------------------------------------------------------------------------------


class Watched:
    """Counts launches, and times them where the device has events."""

    def __init__(self) -> None:
        self.counts = {"programs": 0, "rules": 0, "links": 0}
        self._spans: list[tuple[str, Any, Any]] = []
        self._event = getattr(cuda_device.cupy().cuda, "Event", None)

    def __enter__(self) -> Watched:
        self._kept = [
            (kind, of, of.launch)
            for kind, of in (
                ("programs", cuda_kernel.Kernel), ("rules", cuda_chain.Kernels), ("links", cuda_fused.FusedKernels),
            )
        ]  # fmt: skip
        for kind, of, launch in self._kept:
            of.launch = self._around(kind, launch)  # type: ignore[method-assign]
        return self

    def __exit__(self, *_: object) -> None:
        for _, of, launch in self._kept:
            of.launch = launch  # type: ignore[method-assign]

    def _around(self, kind: str, launch: Callable[..., None]) -> Callable[..., None]:
        def watched(*given: Any, **named: Any) -> None:
            self.counts[kind] += 1
            if self._event is None:
                return launch(*given, **named)
            before, after = self._event(), self._event()
            before.record()
            launch(*given, **named)
            after.record()
            self._spans.append((kind, before, after))
            return None

        return watched

    def seconds(self) -> dict[str, float] | None:
        """Return how long kernels of each kind ran, None where nobody knows."""
        if self._event is None:
            return None
        elapsed = cuda_device.cupy().cuda.get_elapsed_time
        found = dict.fromkeys(self.counts, 0.0)
        for kind, before, after in self._spans:
            after.synchronize()
            found[kind] += elapsed(before, after) / 1e3
        return found


def measured(work: Callable[[], Left]) -> tuple[dict[str, Any], Left]:
    """Return figures of a call on the GPU, and what it gives; what is left is counted on the device when it returns."""
    work()
    times = []
    for _ in range(3):
        start = time.perf_counter()
        found = work()
        cuda_device.to_host(found.lower[-1:])
        times.append(time.perf_counter() - start)
    with Watched() as watch:
        start = time.perf_counter()
        cuda_device.to_host(work().lower[-1:])
        total = time.perf_counter() - start
        kernels = watch.seconds()
    share = None if kernels is None else {kind: spent / total for kind, spent in kernels.items()}
    return {"seconds": min(times), "launches": watch.counts, "share": share}, found


def same(wanted: Left, found: Left) -> bool:
    """Return whether what is left has the same bits and counts."""
    there = found.map(cuda_device.to_host)
    has = wanted.has_slopes
    pairs = [*zip(wanted[:4], there[:4], strict=True), (has, there.has_slopes)]
    if not all(np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(b).tobytes() for a, b in pairs):
        return False
    slopes = zip(wanted.slopes, there.slopes, strict=True)
    return (wanted.taken, wanted.evaluated) == (there.taken, there.evaluated) and all(
        a[has].tobytes() == b[has].tobytes() for a, b in slopes
    )


# --- a function ------------------------------------------------------------------------------------------------------


def compiled(of: Case, boxes: Boxes) -> tuple[Links, Links | None, dict[str, float]]:
    """Return the chain on the GPU by passes and by whole links, all kernels loaded, and the seconds for each."""
    few = Boxes(*map(cuda_device.to_device, boxes[:4096]))
    seconds, found = {}, []
    for whole in (False, True):
        start = time.perf_counter()
        function = of.function.on(Gpu(call=0, patience=0, many=0))
        links = of.links(function)
        is_possible = not whole or (links._there.fuse() and bool(links._there.fused_kernels(wait=True)))
        if is_possible:
            of.run(links, few, function)
        found.append(links if is_possible else None)
        seconds["whole" if whole else "passes"] = time.perf_counter() - start
    by_passes, by_links = found
    assert by_passes is not None
    return by_passes, by_links, seconds


def rows_of(
    of: Case, boxes: Boxes, by_passes: Links, by_links: Links | None, sizes: Sequence[int], ends: float
) -> list[Any]:
    """Return a row for each size of batch."""
    rows: list[dict[str, Any]] = []
    here, each = of.links(of.function), 0.0
    for size in sizes:
        batch = boxes[:size]
        if len(batch) < size or time.perf_counter() > ends:
            break
        row: dict[str, Any] = {"boxes": size, "same": None}
        wanted = None
        if each * size < LONGEST:
            start = time.perf_counter()
            wanted = of.run(here, batch, of.function)
            row["cpu"] = {"seconds": time.perf_counter() - start, "left": len(wanted.lo), "taken": wanted.taken}
            each = row["cpu"]["seconds"] / size
        far = Boxes(*map(cuda_device.to_device, batch))
        for form, links in (("passes", by_passes), ("whole", by_links)):
            if links is None:
                continue
            row[form], found = measured(lambda links=links, far=far: of.run(links, far, links._function))  # type: ignore[misc]
            if wanted is not None:
                row["same"] = same(wanted, found) and row["same"] is not False
        for form in ("cpu", "passes", "whole"):
            if form in row:
                row[form]["boxes_per_second"] = size / row[form]["seconds"]
        rows.append(row)
        shown = {form: f"{row[form]['boxes_per_second']:,.3g}" for form in ("cpu", "passes", "whole") if form in row}
        print(
            of.name,
            size,
            "boxes/s",
            shown,
            "same",
            row["same"],
            row["passes"]["launches"],
            row["passes"]["share"],
            flush=True,
        )
    return rows


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 1 if any bit differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=list(engine.NAMES))
    parser.add_argument("--seconds", type=float, default=480.0)
    parser.add_argument("--tiny", action="store_true")
    given = parser.parse_args(arguments)
    reason = cuda_device.available()
    if reason is not None:
        print(reason)
        return 1
    began = time.perf_counter()
    sizes = TINY if given.tiny else SIZES
    here, threads = cuda_device.current(), cpu.usable_cpus()
    cases = [case(name, 0.2 if given.tiny else 2.0) for name in given.names]
    boxes = [boxes_of(of, sizes[-1], 0.2 if given.tiny else 6.0) for of in cases]
    print(
        f"{here.name}, CUDA {here.driver}, {threads} threads; boxes after {time.perf_counter() - began:.0f} s",
        flush=True,
    )
    with ThreadPoolExecutor(len(cases)) as pool:  # compilation is most of the first calls
        made = list(pool.map(compiled, cases, boxes))
    print(
        f"kernels after {time.perf_counter() - began:.0f} s",
        {of.name: m[2] for of, m in zip(cases, made, strict=True)},
        flush=True,
    )
    found: list[dict[str, Any]] = []
    for number, (of, batch, (by_passes, by_links, seconds)) in enumerate(zip(cases, boxes, made, strict=True)):
        # Each function has an even share of the time that is left.
        now = time.perf_counter()
        ends = now + (began + given.seconds - now) / (len(cases) - number)
        rows = rows_of(of, batch, by_passes, by_links, sizes, ends)
        found.append({"name": of.name, "upper": of.upper, "first_calls": seconds, "batches": rows})
        record = {"date": date.today().isoformat(), "device": here._asdict(), "threads": threads, "cases": found}
        (Path(os.environ.get("OUT", RESULTS)) / "gpu_engine.json").write_text(json.dumps(record, indent=1) + "\n")
    print(f"{time.perf_counter() - began:.0f} s in all")
    return 0 if all(row["same"] is not False for of in found for row in of["batches"]) else 1


if __name__ == "__main__":
    sys.exit(main())
