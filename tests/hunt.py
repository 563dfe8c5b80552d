"""Look for points that kill the mutants which the suite lets live.

    python tests/hunt.py LIBRARY SECONDS     spend so long on each, add what is found to data/mutant_killers.json

Points where the broken core gives other bits than the sound one are cheap to find; the oracle judges only those.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np

import hard
import measure
import mutants
import oracle
import samples
from critical import Floats
from mutants import Library
from samples import Batch

TRIED, JUDGED = 100_000, 2_000


def _points(random: np.random.Generator, op: str) -> list[Floats]:
    if op in hard.RANGES and random.random() < 0.5:
        return [random.uniform(low, high, TRIED) for low, high in hard.RANGES[op]]
    with np.errstate(all="ignore"):
        return [at for at, _ in samples.boxes(random, op, TRIED, samples.POINTS_ONLY)]


def _killer(library: Library, mutant: int, op: str, columns: list[Floats]) -> list[str]:
    """A point at which the mutant loses containment, in hexadecimal; empty if there is none."""
    operands = tuple((x, x) for x in columns)
    library.switch_off()
    sound = library.core.apply(op, *operands)
    library.switch_on(mutant)
    broken = library.core.apply(op, *operands)
    other = np.flatnonzero(measure.other_bits(sound, broken))[:JUDGED]
    if not other.size:
        return []
    judged = measure.reference(Batch(op, 0, tuple((x[other], x[other]) for x in columns)))
    lost = np.flatnonzero(measure.missed((broken[0][other], broken[1][other]), (judged.lo, judged.hi)))
    return [float(x[other[lost[0]]]).hex() for x in columns] if lost.size else []


def kill(library: Library, mutant: int, seconds: float, random: np.random.Generator) -> tuple[str, list[str]]:
    """The operation and the point that kill a mutant; both empty if none is found in time."""
    concerned = [op for op in oracle.OPERATIONS if op != "pown" and mutants.met(library, mutant, op)]
    end = time.monotonic() + seconds
    while concerned and time.monotonic() < end:
        for op in concerned:
            if point := _killer(library, mutant, op, _points(random, op)):
                return op, point
    return "", []


def main(path: Path, seconds: float) -> None:
    library = Library(path)
    random = np.random.default_rng(int(time.time()))
    found: dict[str, list[list[str]]] = json.loads(hard.KILLERS.read_text()) if hard.KILLERS.exists() else {}
    for mutant in range(library.count):
        where, how = mutants.hunt(library, mutant)
        if how or not where:
            continue
        op, point = kill(library, mutant, seconds, random)
        print(op or "nothing found", *point, where)
        if op:
            found.setdefault(op, []).append(point)
            hard.write(hard.KILLERS, found)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), float(sys.argv[2]))
