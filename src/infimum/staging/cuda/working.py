"""The working box of a search: the core's, or one on a device that was compared with the core's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from infimum import core
from infimum.backends.cuda import audit as cuda_audit
from infimum.backends.cuda import device as cuda_device
from infimum.backends.cuda.emit import LONG
from infimum.core.codes import Advance, Tables
from infimum.staging.cuda.device import FEW, DeviceStaging
from infimum.staging.cuda.memory import GpuMachine, Machine
from infimum.staging.cuda.world import DEVICE_PARTS, DEVICE_SPLIT
from infimum.staging.working import Pair, Stages

FloatArray = npt.NDArray[np.float64]
Working = core.Staging | DeviceStaging

_CHILDREN = 2**31
_LARGEST = float(np.finfo(np.float64).max)
_COMPARED = 4  # regions, before kernels are believed
_BELIEVED: set[tuple[str, Any]] = set()  # texts and machines


def fits(stages: Stages, parts: int, variables: int) -> bool:
    """Return whether a search that splits so many variables at a time into so many parts can run on a device."""
    if (
        stages.structure is None
        or not 2 <= parts <= DEVICE_PARTS
        or variables > DEVICE_SPLIT
        or parts**variables > _CHILDREN
    ):
        return False
    programs = [*(f.program for f in stages.structure.families), stages.structure.epilogue, *stages.slopes.programs]
    return sum(len(program.instructions) for program in programs) <= LONG


def working(
    stages: Stages,
    ends: tuple[Pair, Pair],
    widths: FloatArray | None,
    backend: str = "cpu",
    partition: tuple[int, int] = (1, 1),
    machine: Callable[[str], Machine] = GpuMachine,
) -> Working:
    """Return a working box over a domain, given outward and inward; on a device where that is wanted and possible.

    partition: into how many parts, and how many variables at a time, the search splits. A device that does not give
    the core's numbers is refused by BackendUnavailable (backends/cuda/audit.py says why it might not).
    """
    if backend != "cuda" or not fits(stages, *partition):
        return stages.working(*ends, widths)
    made = DeviceStaging(stages, *ends, widths, machine)
    if (made.text, machine) in _BELIEVED:
        return made
    if not agrees(made, stages, ends, partition):
        raise cuda_audit.refusal(cuda_device.current().name)
    _BELIEVED.add((made.text, machine))
    return DeviceStaging(stages, *ends, widths, machine)


def agrees(made: Working, stages: Stages, ends: tuple[Pair, Pair], partition: tuple[int, int]) -> bool:
    """Return whether a fresh working box gives the core's tables, samples and children on a few nested regions.

    Masks are compared as if the function were smooth: it is their numbers that count here.
    """
    boxes, (parts, variables), cycle = (made, stages.working(*ends, None)), partition, 0
    for _ in range(_COMPARED):
        extra = stages.slopes.extra_ends(made.lo, made.hi)
        told: list[tuple[core.Sample | None, list[tuple[float, int]]]] = []
        following = 0
        for box in boxes if made.open() else ():
            region, following = box.split_equally(cycle, max(1, variables), parts)
            if box.tabulate(region, True, extra) == Tables.NONE:
                return True
            sample = box.sample(region)
            upper = np.inf if sample is None or not sample.lo <= sample.hi else sample.hi
            box.begin(region, upper)
            told.append((sample, _emitted(box, region, upper)))
        if not told or told[0] != told[1]:
            return not told
        children = told[0][1]
        if not children:
            return True
        for box in boxes:
            box.go(region, children[0][1], DEVICE_SPLIT)
        cycle = following
    return True


def _emitted(box: Working, region: int, upper: float) -> list[tuple[float, int]]:
    """Return the first children of a region, one more than are listed at first."""
    found: list[tuple[float, int]] = []
    while len(found) <= FEW and box.bound(region) <= min(upper, _LARGEST):
        kind, bound, index = box.advance(region, upper)
        if kind == Advance.CHILD:
            found.append((bound, index))
    return found
