"""How results of the core compare with the tight ones: containment, equality, excess in units in the last place."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

import oracle
import reverse_oracle
import samples
from critical import Floats
from samples import Batch, Operand

Mask = NDArray[np.bool_]


class Core(Protocol):
    """What is used here of infimum.core, or of a library loaded by it."""

    def apply(self, op: str, *operands: Operand, param: int = 0, variant: str | None = None) -> Operand: ...

    def variants(self) -> tuple[str, ...]: ...


class Reference(NamedTuple):
    """A batch with its tight results; where sharp is false they only lie inside the range."""

    batch: Batch
    lo: Floats
    hi: Floats
    sharp: Mask


# --- references --------------------------------------------------------------------------------------------------


def _inner_mod(box: tuple[tuple[float, float], ...], random: np.random.Generator) -> tuple[float, float]:
    """Values of mod that occur in the box, for there is no oracle for the range by an interval divisor."""
    x, y = box
    found = [oracle.mod_at(a, b) for a in _members(x, random) for b in _members(y, random) if b != 0]
    return (oracle.down(min(found)) + 0.0, oracle.up(max(found)) + 0.0) if found else oracle.EMPTY


def _members(x: tuple[float, float], random: np.random.Generator) -> set[float]:
    if oracle.is_empty(x):
        return set()
    lo, hi = max(x[0], -oracle.MAX), min(x[1], oracle.MAX)
    inside = [lo * (1 - t) + hi * t for t in random.random(3)]
    ends = [lo, hi, math.nextafter(lo, math.inf), math.nextafter(hi, -math.inf)]
    return {v for v in (*ends, *inside, 0.0, 1.0, -1.0) if lo <= v <= hi}


def _arguments(batch: Batch, i: int) -> tuple[object, ...]:
    return (*batch.box(i), batch.param) if batch.op in samples.POWERS else batch.box(i)


def _tight(batch: Batch, i: int) -> tuple[float, float]:
    source = reverse_oracle if batch.op in reverse_oracle.OPERATIONS else oracle
    return source.tightest(batch.op, *_arguments(batch, i))


def _decided(batch: Batch, i: int) -> bool:
    """Whether no end of X is so near an end of a piece that an error bound decides what is kept of it."""
    tight = reverse_oracle.tightest(batch.op, *_arguments(batch, i))
    loose = reverse_oracle.loosest(batch.op, *_arguments(batch, i))
    if oracle.is_empty(tight) or oracle.is_empty(loose):
        return oracle.is_empty(tight) and oracle.is_empty(loose)
    places = zip(samples.ordinal(np.array(tight)).tolist(), samples.ordinal(np.array(loose)).tolist(), strict=True)
    return all(abs(a - b) <= 3 for a, b in places)


def _sharp(batch: Batch) -> Mask:
    """Where the tight result is known."""
    if batch.op == "mod":
        lo, hi = batch.operands[1]
        point: Mask = (lo == hi) | (lo > hi)
        return point
    if batch.op == "sin_over_x":  # tight up to the first minimum alone
        lo, hi = batch.operands[0]
        near: Mask = (lo > hi) | (np.maximum(np.abs(lo), np.abs(hi)) < 4.49)
        return near
    if batch.op in reverse_oracle.INNER:
        return np.zeros(batch.operands[0][0].shape, dtype=bool)
    if batch.op in reverse_oracle.ARGUED:
        return np.array([_decided(batch, i) for i in range(batch.operands[0][0].size)])
    return np.ones(batch.operands[0][0].shape, dtype=bool)


def reference(batch: Batch) -> Reference:
    """The batch with the tight result of each box."""
    random = np.random.default_rng(0)
    sharp = _sharp(batch)
    pairs = [
        _inner_mod(batch.box(i), random) if batch.op == "mod" and not sharp[i] else _tight(batch, i)
        for i in range(sharp.size)
    ]
    lo, hi = np.array(pairs, dtype=np.float64).reshape(-1, 2).T
    return Reference(batch, np.ascontiguousarray(lo), np.ascontiguousarray(hi), sharp)


# --- comparisons -------------------------------------------------------------------------------------------------


def missed(found: Operand, tight: Operand) -> Mask:
    """Where the result does not contain the tight one; NaN contains nothing."""
    contained = (found[0] <= tight[0]) & (found[1] >= tight[1])
    empty = (tight[0] > tight[1]) & ~np.isnan(found[0]) & ~np.isnan(found[1])
    return np.logical_not(contained | empty)


def unequal(found: Operand, tight: Operand) -> Mask:
    """Where the results differ as numbers; NaN equals NaN."""
    same: list[Mask] = [(f == t) | (np.isnan(f) & np.isnan(t)) for f, t in zip(found, tight, strict=True)]
    return ~(same[0] & same[1])


def excess(found: Operand, tight: Operand) -> Operand:
    """By how many doubles each end lies outside the tight one. Meaningful where the result contains it."""
    below = samples.ordinal(tight[0]).astype(np.uint64) - samples.ordinal(found[0]).astype(np.uint64)
    above = samples.ordinal(found[1]).astype(np.uint64) - samples.ordinal(tight[1]).astype(np.uint64)
    return below.astype(np.float64), above.astype(np.float64)


def negative_zero_or_nan(found: Operand) -> Mask:
    bad: list[Mask] = [np.isnan(f) | (np.signbit(f) & (f == 0)) for f in found]
    return bad[0] | bad[1]


def describe(batch: Batch, i: int, found: Operand, tight: Operand) -> str:
    """One case in hexadecimal."""
    box = ", ".join(_hex(*x) for x in batch.box(i))
    power = f" to the {batch.param}" if batch.op in samples.POWERS else ""
    got, want = _hex(found[0][i], found[1][i]), _hex(tight[0][i], tight[1][i])
    return f"{batch.op}({box}){power} gave {got}, tight is {want}"


def _hex(lo: float, hi: float) -> str:
    return f"[{float(lo).hex()}, {float(hi).hex()}]"


# --- the whole measurement ---------------------------------------------------------------------------------------


@dataclass
class Findings:
    """What a run over many boxes of one operation has shown. Lists hold the first few cases, counts all of them."""

    op: str
    boxes: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    cases: dict[str, list[str]] = field(default_factory=dict)
    ends: int = 0
    total_excess: float = 0.0
    max_excess: float = 0.0
    widest: str = ""

    @property
    def mean_excess(self) -> float:
        return self.total_excess / max(self.ends, 1)

    def note(self, kind: str, where: Mask, ref: Reference, found: Operand, shown: int = 8) -> None:
        self.counts[kind] = self.counts.get(kind, 0) + int(where.sum())
        cases = self.cases.setdefault(kind, [])
        for i in np.flatnonzero(where)[: shown - len(cases)]:
            cases.append(describe(ref.batch, int(i), found, (ref.lo, ref.hi)))

    def report(self, kind: str) -> str:
        return f"{self.counts[kind]} of {self.boxes}:\n" + "\n".join(self.cases[kind])

    def add_excess(self, ref: Reference, found: Operand) -> None:
        """Count the ends whose tight value is finite, and of boxes with a tight result only."""
        tight = ref.lo, ref.hi
        sound = ref.sharp & ~missed(found, tight) & (ref.lo <= ref.hi)
        for values, end in zip(excess(found, tight), tight, strict=True):
            here = sound & np.isfinite(end)
            self.ends += int(here.sum())
            self.total_excess += float(values[here].sum())
            worst = int(np.argmax(np.where(here, values, -1.0)))
            if here[worst] and values[worst] > self.max_excess:
                self.max_excess = float(values[worst])
                self.widest = describe(ref.batch, worst, found, tight)


def compare(core: Core, op: str, references: Iterable[Reference]) -> Findings:
    """Evaluate every reference by every variant, and compare."""
    findings = Findings(op)
    numeric = op in oracle.NUMERIC
    for ref in references:
        tight = ref.lo, ref.hi
        best = core.apply(op, *ref.batch.operands, param=ref.batch.param)
        findings.boxes += ref.lo.size
        findings.note("missed", unequal(best, tight) if numeric else missed(best, tight), ref, best)
        findings.note("unequal", ref.sharp & unequal(best, tight), ref, best)
        findings.note("not empty", (ref.lo > ref.hi) & ref.sharp & ~(best[0] > best[1]), ref, best)
        blemished = negative_zero_or_nan(best) & ~np.isnan(ref.lo)
        findings.note("negative zero or NaN", blemished, ref, best)
        if not numeric:
            findings.add_excess(ref, best)
        for variant in core.variants():
            other = core.apply(op, *ref.batch.operands, param=ref.batch.param, variant=variant)
            findings.note(f"differs on {variant}", other_bits(best, other), ref, other)
    return findings


def other_bits(x: Operand, y: Operand) -> Mask:
    """Where two results differ in any bit."""
    differs: list[Mask] = [
        np.asarray(a).view(np.int64) != np.asarray(b).view(np.int64) for a, b in zip(x, y, strict=True)
    ]
    return differs[0] | differs[1]
