"""Break the core on purpose, one place at a time, and see whether the suite notices.

A test build of the library numbers every directed rounding, error bound and constant. A mutant is *killed* if, with it
switched on, a box or a test vector breaks a promise: containment, equality of an exact operation, emptiness outside the
domain, the distance allowed to a test vector, or the mean excess. What is not killed is a survivor and is named by its
file, kind and source line, so that the list outlives edits elsewhere in the file.

    python tests/mutants.py LIBRARY     rewrite data/mutant_survivors.json, keeping the reasons given there
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from collections import Counter
from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

import infimum.core
import measure
import oracle
import reverse_oracle
import samples
import vectors
from measure import Reference
from samples import Operand

ROOT = Path(__file__).parent.parent
SOURCES = ROOT / "src" / "infimum" / "core"
SURVIVORS = Path(__file__).parent / "data" / "mutant_survivors.json"

ULPS_FROM_VECTORS = {"exact": 0, "numeric": 0, "checked": 1, "argued": 4}
MEAN_EXCESS = {"checked": 0.1, "argued": 1.0}
OPERATIONS = (*oracle.OPERATIONS, *reverse_oracle.OPERATIONS)
TRUST = {**oracle.TRUST, **reverse_oracle.TRUST}
FEW = 600
SLOW = ("sin_rev", "cos_rev", "tan_rev", "sinpi_rev", "cospi_rev", "erf_rev", "erfc_rev")  # more in test_reverse.py
MANY = {op: 6_000 if op in SLOW else 30_000 for op in OPERATIONS}


class Site(NamedTuple):
    """A place in the core that can be broken."""

    file: str
    kind: str
    source: str


class Library:
    """The test build: a core with one mutant switched on, or none."""

    def __init__(self, path: Path) -> None:
        self.core = infimum.core.load(path)
        self._c = ctypes.CDLL(str(path))
        self._c.infimum_mutant_count.restype = ctypes.c_int
        self._c.infimum_mutant_site.restype = ctypes.c_char_p
        self._c.infimum_set_mutant.argtypes = [ctypes.c_int]
        self.count: int = self._c.infimum_mutant_count()

    def switch_on(self, mutant: int) -> None:
        self._c.infimum_set_mutant(mutant)

    def switch_off(self) -> None:
        self.switch_on(-1)

    def site(self) -> str:
        """Where the mutant was met since it was switched on; empty if it was not."""
        return (self._c.infimum_mutant_site() or b"").decode()


# --- promises ----------------------------------------------------------------------------------------------------


@cache
def expected(op: str) -> list[Reference]:
    """The test vectors; those of reverse operations are often wider than need be, and boxes do for them."""
    return [] if op in reverse_oracle.OPERATIONS else vectors.references(op)


@cache
def boxes(op: str, count: int) -> list[Reference]:
    return [measure.reference(batch) for batch in samples.batches(op, count, seed=1)]


def _evaluate(core: measure.Core, references: list[Reference]) -> list[Operand]:
    return [core.apply(r.batch.op, *r.batch.operands, param=r.batch.param) for r in references]


def _breaks_a_vector(op: str, reference: Reference, found: Operand) -> bool:
    tight = reference.lo, reference.hi
    limit = ULPS_FROM_VECTORS[TRUST[op]]
    if limit == 0:
        return bool(measure.unequal(found, tight).any())
    below, above = measure.excess(found, tight)
    empty = reference.lo > reference.hi
    far = np.where(empty, measure.unequal(found, tight), (below > limit) | (above > limit))
    return bool((measure.missed(found, tight) | far).any())


def _breaks_a_box(op: str, reference: Reference, found: Operand) -> bool:
    tight = reference.lo, reference.hi
    if TRUST[op] in ("exact", "numeric"):
        bad = measure.unequal(found, tight) & reference.sharp
        if bad.any() or TRUST[op] == "numeric":
            return bool(bad.any())
    not_empty = (reference.lo > reference.hi) & reference.sharp & ~(found[0] > found[1])
    return bool((measure.missed(found, tight) | not_empty | measure.negative_zero_or_nan(found)).any())


def _is_wide(op: str, references: list[Reference], found: list[Operand]) -> bool:
    findings = measure.Findings(op)
    for reference, result in zip(references, found, strict=True):
        findings.add_excess(reference, result)
    return findings.mean_excess > MEAN_EXCESS.get(TRUST[op], 0.0)


def broken(core: measure.Core, op: str, count: int) -> str:
    """Say which promise of op is broken on count boxes; empty if none is."""
    references = expected(op)
    if any(map(_breaks_a_vector, [op] * len(references), references, _evaluate(core, references))):
        return "vector"
    references = boxes(op, count)
    found = _evaluate(core, references)
    if any(map(_breaks_a_box, [op] * len(references), references, found)):
        return "box"
    return "mean excess" if TRUST[op] != "numeric" and _is_wide(op, references, found) else ""


# --- hunting -----------------------------------------------------------------------------------------------------


def met(library: Library, mutant: int, op: str) -> str:
    """The site of the mutant, if any evaluation of op meets it."""
    library.switch_on(mutant)
    _evaluate(library.core, expected(op) + boxes(op, FEW))
    return library.site()


def hunt(library: Library, mutant: int, believed: Collection[Site] = ()) -> tuple[str, str]:
    """The site of a mutant and what killed it; both empty if it is never met.

    The reverse operations are asked about what no other operation meets. At the sites that are believed to be harmless
    a mutant is hunted on few boxes only.
    """
    places = {op: met(library, mutant, op) for op in oracle.OPERATIONS}
    if not any(places.values()):
        places = {op: met(library, mutant, op) for op in reverse_oracle.OPERATIONS}
    concerned = [op for op, place in places.items() if place]
    if not concerned:
        return "", ""
    library.switch_on(mutant)
    few, where = dict.fromkeys(OPERATIONS, FEW), places[concerned[0]]
    for counts in (few,) if site(where) in believed else (few, MANY):
        for op in concerned:
            if how := broken(library.core, op, counts[op]):
                return places[op], f"{op}: {how}"
    return where, ""


def site(text: str) -> Site:
    """Read "file:line kind", and look up the line."""
    place, _, kind = text.partition(" ")
    path, _, line = place.rpartition(":")
    file = os.path.normpath(path.rpartition("/infimum/core/")[2])
    return Site(file, kind, (SOURCES / file).read_text().splitlines()[int(line) - 1].strip())


class Outcome(NamedTuple):
    """What became of all mutants."""

    killed: int
    unmet: list[int]
    survivors: Counter[Site]


def hunt_all(library: Library, believed: Collection[Site] = ()) -> Outcome:
    """Hunt every mutant, those at the believed sites on few boxes only."""
    killed, unmet, survivors = 0, [], Counter[Site]()
    for mutant in range(library.count):
        where, how = hunt(library, mutant, believed)
        if how:
            killed += 1
        elif where:
            survivors[site(where)] += 1
        else:
            unmet.append(mutant)
    library.switch_off()
    return Outcome(killed, unmet, survivors)


def known() -> dict[Site, dict[str, object]]:
    """The committed survivors by site, each with its count and its reason."""
    entries = json.loads(SURVIVORS.read_text())["survivors"] if SURVIVORS.exists() else []
    return {Site(e["file"], e["kind"], e["source"]): e for e in entries}


def write(outcome: Outcome) -> None:
    """Commit the survivors, with the reasons already known."""
    reasons = known()
    entries = [
        {**place._asdict(), "count": count, "reason": reasons.get(place, {}).get("reason", "")}
        for place, count in sorted(outcome.survivors.items())
    ]
    SURVIVORS.write_text(json.dumps({"unmet": len(outcome.unmet), "survivors": entries}, indent=1) + "\n")


if __name__ == "__main__":
    result = hunt_all(Library(Path(sys.argv[1]).resolve()))
    write(result)
    print(f"killed {result.killed}, never met {len(result.unmet)}, survived {result.survivors.total()}")
