"""Functions with boxes, limits and domains on which chains are compared with their reference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from chain_reference import Left, Reference
from contractions import boxes_around, boxes_of_any_size
from infimum.boxes import Boxes, FloatArray
from infimum.contractors import Contractor, Level, MeanValue, Monotone, Stationary
from infimum.contractors.edges import oblique
from infimum.contractors.links import _given
from infimum.core import chain as core_chain
from infimum.core.chain import Chain, Given
from infimum.core.codes import ChainKeeping
from infimum.domain import Domain, read_bounds
from infimum.function.function import Function, trace
from infimum.function.rotation import Rotation
from random_functions import planted_function, random_function

KEEPING = tuple(ChainKeeping)


def given_of(function: Function, domain: Domain) -> Given:
    """What the chain of a search is told of a function and its domain."""
    return _given(function, domain, True)


@dataclass(frozen=True, eq=False)
class Case:
    """Boxes that a chain is given, and what it is."""

    name: str
    function: Function
    domain: Domain
    contractors: Sequence[Contractor]
    boxes: Boxes
    limit: FloatArray
    keeping: ChainKeeping
    upper: float

    def chain(self, variant: str | None = None) -> Chain:
        links = [contractor.link for contractor in self.contractors]  # type: ignore[attr-defined]
        return Chain(self.function.n, links, given_of(self.function, self.domain), variant=variant)

    def run(self, chain: Chain, some: Any = slice(None), threads: int = 1) -> core_chain.Left:
        boxes = self.boxes[some]
        upper, keeping = self.upper, self.keeping
        return chain.run(tuple(boxes), self.limit[some], upper=upper, keeping=keeping, threads=threads)  # type: ignore[arg-type]

    def expected(self) -> Left:
        reference = Reference(self.function, self.domain, self.contractors)
        return reference.run(self.boxes, self.limit, self.keeping, self.upper)

    def repeated(self, count: int) -> Case:
        """The same for so many boxes, these in turn."""
        at = np.arange(count) % len(self.boxes)
        return Case(
            self.name, self.function, self.domain, self.contractors, self.boxes[at], self.limit[at], self.keeping,
            self.upper,
        )  # fmt: skip


def same(a: Any, b: Any) -> bool:
    """Whether arrays have the same numbers, bit for bit but for the sign of zero."""
    return np.array_equal(a, b, equal_nan=True)


def differences(found: core_chain.Left, expected: Left) -> list[str]:
    """What a chain has left that its reference has not."""
    said = []
    if found.rows.tolist() != expected.rows:
        return [f"rows {found.rows.tolist()}, not {expected.rows}"]
    for name in ("lo", "hi", "lower"):
        one, other = getattr(found, name), getattr(expected.boxes, name)
        if not same(one, other):
            row = int(np.flatnonzero([not same(a, b) for a, b in zip(one, other, strict=True)])[0])
            said.append(f"{name} of row {row}: {one[row]!r}, not {other[row]!r}")
    has = [slopes is not None for slopes in expected.slopes]
    if found.has_slopes.tolist() != has:
        said.append(f"slopes known: {found.has_slopes.tolist()}, not {has}")
    for k, slopes in enumerate(expected.slopes):
        known = slopes is not None and found.has_slopes[k]
        if known and not all(same(end[k], own[0]) for end, own in zip(found.slopes, slopes or (), strict=True)):
            said.append(f"slopes of row {k}")
    if found.taken != [number / core_chain.TAKEN_UNIT for number in expected.taken]:
        said.append(f"taken {found.taken}, not {expected.taken}")
    if found.evaluated != expected.evaluated:
        said.append(f"evaluated {found.evaluated}, not {expected.evaluated}")
    return said


def identical(a: core_chain.Left, b: core_chain.Left) -> bool:
    """Whether two chains have left the same, bit for bit."""
    has = a.has_slopes
    arrays = [(getattr(a, name), getattr(b, name)) for name in ("lo", "hi", "lower", "rows", "has_slopes")]
    slopes = [(one[has], other[has]) for one, other in zip(a.slopes, b.slopes, strict=True)]
    same_arrays = all(one.tobytes() == other.tobytes() for one, other in arrays + slopes)
    return same_arrays and (a.taken, a.evaluated) == (b.taken, b.evaluated)


# --- cases -----------------------------------------------------------------------------------------------------------


def random_case(seed: int) -> Case:
    """A random function on boxes of all kinds: around points, of any size, whole, empty, of no width."""
    f = planted_function(seed) if seed % 3 == 0 else random_function(seed)
    draw = np.random.default_rng([seed, 31])
    low, high = (np.clip(np.array(end), -20.0, 20.0) for end in zip(*f.bounds, strict=True))
    points = draw.uniform(low, high, (8, f.n))
    if f.minimiser is not None:
        points[:4] = f.minimiser
    return case_of(f.name, trace(f, f.n), f.bounds, points, seed)


def case_of(name: str, function: Function, bounds: Any, points: FloatArray, seed: int) -> Case:
    draw = np.random.default_rng([seed, 32])
    n = function.n
    domain = read_bounds(bounds, n)
    around = boxes_around(points, bounds, seed)
    chosen = draw.integers(30, size=5)
    sized = [end[chosen] for end in boxes_of_any_size(n, seed)]
    nothing = np.full((1, n), np.inf)
    partly = points[:1].copy(), points[:1].copy()
    partly[0][0, -1], partly[1][0, -1] = np.inf, -np.inf
    lo = np.vstack([around[0], sized[0], domain.lo[None], points[:1], nothing, partly[0]])
    hi = np.vstack([around[1], sized[1], domain.hi[None], points[:1], -nothing, partly[1]])
    value = function.range_ends(lo, hi)
    lo, hi = lo + 0.0, hi + 0.0
    lower = np.where(draw.random(len(lo)) < 0.3, np.where(np.isfinite(value[0]), value[0] - 1.0, -np.inf), -np.inf)
    lower[2], lower[3] = np.nan, np.inf
    at = np.vstack([points[draw.integers(len(points), size=len(lo) - len(points))], points])
    with np.errstate(all="ignore"):
        good = function(at)
    kind = draw.integers(5, size=len(lo))
    ties = np.where(np.isfinite(value[0]), value[0], 1.0)
    finite = np.where(np.isfinite(good), good, 2.0)
    limit = np.select([kind == 0, kind == 1, kind == 2], [np.full(len(lo), np.inf), ties, finite], finite + 1e-3)
    upper = float(draw.choice([np.inf, np.median(finite), ties[0]]))
    if seed % 4 == 1:
        frame = Rotation(function, draw.normal(size=n), np.linalg.qr(draw.normal(size=(n, n)))[0], function)
        reach = np.where(np.isfinite(domain.lo), domain.lo, -8.0), np.where(np.isfinite(domain.hi), domain.hi, 8.0)
        domain = oblique(*reach, frame, (domain.inner_lo, domain.inner_hi))
    contractors: list[Contractor] = [Level(), Monotone(), Stationary(), MeanValue()]
    if seed % 2:
        made = [
            Level(int(draw.integers(1, 30)), float(draw.choice([0.0, 0.05, 0.5]))), Monotone(), MeanValue(),
            Stationary(int(draw.integers(1, 6)), 0.01), Level(1), Monotone(),
        ]  # fmt: skip
        contractors = [made[i] for i in draw.permutation(len(made))[: int(draw.integers(1, len(made) + 1))]]
    boxes = Boxes(lo, hi, lower)
    return Case(name, function, domain, contractors, boxes, limit, KEEPING[seed % 3], upper)


def _rosenbrock(x: Any) -> Any:
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (x[:-1] - 1) ** 2)


def _of_rosenbrock(x: Any) -> Any:
    first = 400 * x[:-1] ** 3 - 400 * x[:-1] * x[1:] + 2 * x[:-1] - 2
    return np.concatenate([first, [0.0]]) + np.concatenate([[0.0], 200 * (x[1:] - x[:-1] ** 2)])


Form = tuple[Callable[[Any], Any], Callable[[Any], Any], list[tuple[float, float]]]

# Functions with gradients of the user's: in another form, beside a kink, defined in part alone, constant.
JACOBIANS: dict[str, Form] = {
    "rosenbrock": (_rosenbrock, _of_rosenbrock, [(-2, 3)] * 4),
    "product": (lambda x: x[0] * (1 - x[0]) + x[0] * x[1], lambda x: [1 - 2 * x[0] + x[1], x[0]], [(-1, 2)] * 2),
    "kink": (
        lambda x: np.abs(x[0]) + x[1] ** 2 * x[1],
        lambda x: [np.where(x[0] > 0, 1.0, -1.0), 3 * x[1] ** 2],
        [(-1, 2)] * 2,
    ),
    "partly defined": (lambda x: x[0] ** 2 / 2, lambda x: [np.sqrt(x[0] - 1) ** 2 + 1], [(-2, 2.5)]),
    "constant": (lambda x: x[0] + 2 * x[1], lambda x: [1, 2], [(-1, 1)] * 2),
    "root": (
        lambda x: np.sqrt(x[0]) + (x[1] - x[0]) ** 2,
        lambda x: [0.5 / np.sqrt(x[0]) - 2 * (x[1] - x[0]), 2 * (x[1] - x[0])],
        [(0, 3), (-1, 1)],
    ),
}


def jacobian_case(name: str, seed: int) -> Case:
    f, jac, bounds = JACOBIANS[name]
    n = len(bounds)
    low, high = (np.array(end, float) for end in zip(*bounds, strict=True))
    points = np.random.default_rng([seed, 33]).uniform(low, high, (8, n))
    return case_of(name, trace(f, n, jac=jac), bounds, points, seed)
