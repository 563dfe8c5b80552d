"""Reverse operations: no solution is ever lost, and little else is kept.

A result must contain every x in X with op(x, b) in C for some b in B. That is checked against MPFR on random boxes, on
points whose image is known to lie in C, and on the reverse vectors of IEEE 1788.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import infimum.core
import measure
import oracle
import reverse_oracle
import reverse_samples
import samples
import vectors
from measure import Findings
from samples import Operand

INF = math.inf
ENTIRE = oracle.ENTIRE
MAX = oracle.MAX
EMPTY = oracle.EMPTY

every_row = pytest.mark.parametrize("op", reverse_oracle.OPERATIONS)
every_variant = pytest.mark.parametrize("variant", infimum.core.variants())
SHARP = [op for op in reverse_oracle.ARGUED if op not in reverse_oracle.INNER]
# Where erfc falls steeply, its value at a double is taken so near that double that the error bound alone costs a place.
MEAN_EXCESS = {"erf_rev": 0.25, "erfc_rev": 0.25}


def _apply(op: str, *operands: tuple[float, float], param: int = 0) -> tuple[float, float]:
    lo, hi = infimum.core.apply(op, *operands, param=param)
    return float(lo), float(hi)


@cache
def _measure(op: str, arguments: int) -> Findings:
    references = (measure.reference(batch) for batch in samples.batches(op, min(arguments // 5, 6000)))
    return measure.compare(infimum.core, op, references)


@pytest.fixture(scope="session")
def findings(pytestconfig: pytest.Config) -> Callable[[str], Findings]:
    return lambda op: _measure(op, pytestconfig.getoption("--arguments"))


def test_the_core_offers_the_rows_with_their_arity_and_trust() -> None:
    offered = infimum.core.operations()
    assert {op: row.trust for op, row in offered.items() if op not in oracle.OPERATIONS} == reverse_oracle.TRUST
    assert {op: offered[op].arity for op in reverse_oracle.OPERATIONS} == reverse_samples.ARITY


# --- random boxes ------------------------------------------------------------------------------------------------


@every_row
def test_no_solution_is_lost(op: str, findings: Callable[[str], Findings]) -> None:
    found = findings(op)
    assert found.counts["missed"] == 0, found.report("missed")


@every_row
def test_every_variant_gives_the_same_bits(op: str, findings: Callable[[str], Findings]) -> None:
    found = findings(op)
    for variant in infimum.core.variants():
        assert found.counts[f"differs on {variant}"] == 0, found.report(f"differs on {variant}")


@every_row
def test_no_result_has_a_negative_zero_or_a_nan(op: str, findings: Callable[[str], Findings]) -> None:
    found = findings(op)
    assert found.counts["negative zero or NaN"] == 0, found.report("negative zero or NaN")


@pytest.mark.parametrize("op", reverse_oracle.EXACT)
def test_an_exact_row_returns_the_tightest_result(op: str, findings: Callable[[str], Findings]) -> None:
    found = findings(op)
    assert found.counts["unequal"] == 0, found.report("unequal")


@pytest.mark.parametrize("op", SHARP)
def test_an_argued_row_is_within_two_doubles_of_the_hull(op: str, findings: Callable[[str], Findings]) -> None:
    found = findings(op)
    assert found.counts["not empty"] == 0, found.report("not empty")
    assert found.max_excess <= 2, found.widest
    assert found.mean_excess <= MEAN_EXCESS.get(op, 0.15)


@every_row
def test_every_result_lies_in_x(op: str) -> None:
    position = {"min_rev": 1, "max_rev": 1, "where_rev_cond": None, **dict.fromkeys(reverse_samples.PAIR)}.get(op, -1)
    if op in reverse_samples.TRUTH:
        position = 1 if op.endswith("1") else 2
    for batch in samples.batches(op, 2000, seed=5):
        lo, hi = infimum.core.apply(op, *batch.operands, param=batch.param)
        x = batch.operands[position] if position is not None else (np.full(lo.shape, -INF), np.full(lo.shape, INF))
        assert ((lo > hi) | ((lo >= x[0]) & (hi <= x[1]))).all()


@every_row
def test_an_empty_operand_leaves_nothing(op: str) -> None:
    spared = {"where_rev_cond": (1, 2), "cancel_minus": (1,), "cancel_plus": (1,)}.get(op, ())
    for which in set(range(reverse_samples.ARITY[op])) - set(spared):
        operands = [EMPTY if i == which else (-2.0, 3.0) for i in range(reverse_samples.ARITY[op])]
        assert _apply(op, *operands, param=3) == EMPTY


# --- points ------------------------------------------------------------------------------------------------------

FORWARD = {
    "sqr_rev": "sqr", "abs_rev": "abs", "sqrt_rev": "sqrt", "floor_rev": "floor", "ceil_rev": "ceil",
    "trunc_rev": "trunc", "round_ties_to_even_rev": "round_ties_to_even",
    "round_ties_to_away_rev": "round_ties_to_away", "sign_rev": "sign", "sin_rev": "sin", "cos_rev": "cos",
    "tan_rev": "tan", "sinpi_rev": "sinpi", "cospi_rev": "cospi", "cosh_rev": "cosh", "atan_rev": "atan",
    "pown_rev": "pown", "erf_rev": "erf", "erfc_rev": "erfc",
}  # fmt: skip
# The operands of the forward operation from x and b, and those of the reverse row from x, b and c.
Order = Callable[[Any, Any], tuple[Any, ...]]
PAIRS: dict[str, tuple[str, Order, Callable[[Any, Any, Any], tuple[Any, ...]]]] = {
    "mul_rev": ("mul", lambda x, b: (x, b), lambda x, b, c: (b, c, x)),
    "pow_rev1": ("pow", lambda x, b: (x, b), lambda x, b, c: (b, c, x)),
    "pow_rev2": ("pow", lambda x, b: (b, x), lambda x, b, c: (b, c, x)),
    "atan2_rev1": ("atan2", lambda x, b: (x, b), lambda x, b, c: (b, c, x)),
    "atan2_rev2": ("atan2", lambda x, b: (b, x), lambda x, b, c: (b, c, x)),
    "min_rev": ("min", lambda x, b: (x, b), lambda x, b, c: (c, x, b)),
    "max_rev": ("max", lambda x, b: (x, b), lambda x, b, c: (c, x, b)),
    "is_less_rev1": ("is_less", lambda x, b: (x, b), lambda x, b, c: (c, x, b)),
    "is_less_rev2": ("is_less", lambda x, b: (b, x), lambda x, b, c: (c, b, x)),
    "is_less_equal_rev1": ("is_less_equal", lambda x, b: (x, b), lambda x, b, c: (c, x, b)),
    "is_less_equal_rev2": ("is_less_equal", lambda x, b: (b, x), lambda x, b, c: (c, b, x)),
    "is_equal_rev1": ("is_equal", lambda x, b: (x, b), lambda x, b, c: (c, x, b)),
    "is_equal_rev2": ("is_equal", lambda x, b: (b, x), lambda x, b, c: (c, b, x)),
}


def _around(random: np.random.Generator, point: float) -> tuple[float, float]:
    """An interval with the point in it: often at an end, often thin, sometimes unbounded."""
    if math.isinf(point):
        return (MAX, INF) if point > 0 else (-INF, -MAX)
    reach = [0.0, math.ulp(point), abs(point) * 1e-9, abs(point) * 0.3, 1.0, 40.0, INF]
    return point - float(random.choice(reach)), point + float(random.choice(reach))


def _points(random: np.random.Generator, n: int) -> np.ndarray[Any, Any]:
    sources = [
        random.uniform(-10, 10, n),
        random.integers(-6, 7, n) / random.choice([1.0, 2.0, 4.0], n),
        random.choice([-1.0, 1.0], n) * 10.0 ** random.uniform(-12, 12, n),
        random.choice([0.0, 1.0, -1.0, 2.0, math.pi, math.pi / 2, -math.pi, 1e16, 2.0**31], n),
    ]
    return np.choose(random.integers(0, 4, n), sources)


@pytest.mark.parametrize("op", [*FORWARD, *PAIRS])
def test_a_point_whose_image_lies_in_c_survives(op: str) -> None:
    random = np.random.default_rng(len(op) * 1000 + sum(map(ord, op)))
    forward, order, reverse = PAIRS.get(op) or (FORWARD[op], lambda x, b: (x,), lambda x, b, c: (c, x))
    exponents = [0, 1, 2, 3, 4, 5, -1, -2, -3, -6, 17] if op == "pown_rev" else [0]
    tried = 0
    for number, (x, b) in enumerate(zip(_points(random, 1500).tolist(), _points(random, 1500).tolist(), strict=True)):
        n = exponents[number % len(exponents)]
        image = oracle.tightest(forward, *order((x, x), (b, b)), *([n] if op == "pown_rev" else []))
        if oracle.is_empty(image):
            continue
        wide = _around(random, image[0]), _around(random, image[1])
        c = min(image[0], wide[0][0]), max(image[1], wide[1][1])
        lo, hi = _apply(op, *reverse(_around(random, x), _around(random, b), c), param=n)
        assert lo <= x <= hi, (op, n, float(x).hex(), float(b).hex(), [v.hex() for v in c], lo.hex(), hi.hex())
        tried += 1
    assert tried > 500


# --- roots of small degree ---------------------------------------------------------------------------------------

DEGREES = [n for n in range(-17, 18) if abs(n) > 2] + [-2]


def _positive(random: np.random.Generator, n: int) -> np.ndarray[Any, Any]:
    """Numbers of every size, subnormal ones too."""
    bits = random.integers(1, 0x7FF0000000000000, n)
    return np.where(random.random(n) < 0.2, bits >> 12, bits).view(np.float64)


def _positive_roots(c: np.ndarray[Any, Any], n: int, variant: str | None = None) -> tuple[Any, Any]:
    return infimum.core.apply("pown_rev", (c, c), (0.0, INF), param=n, variant=variant)


def test_a_root_of_small_degree_is_hardly_ever_wider_than_need_be() -> None:
    random = np.random.default_rng(7)
    wide = tried = 0
    for n in DEGREES:
        c = _positive(random, 1500)
        lo, hi = _positive_roots(c, n)
        tight = [reverse_oracle.tightest("pown_rev", (v, v), (0.0, INF), n) for v in c.tolist()]
        for found, (least, most) in zip(zip(lo.tolist(), hi.tolist(), strict=True), tight, strict=True):
            assert found[0] <= least and most <= found[1]
            if abs(n) <= 16:
                wide += found != (least, most)
                tried += 1
    assert tried > 40_000 and wide < 10  # an error of 2^-58 would make some thousands


@pytest.mark.parametrize("n", DEGREES)
def test_a_root_that_is_a_double_is_a_point(n: int) -> None:
    digits = 53 // abs(n)
    odd = np.arange(1.0, min(2**digits, 5000), 2.0) if n > 0 else np.ones(1)
    for scale in (-1000 // abs(n), -7, 0, 1, 8, 1000 // abs(n)):
        roots = np.ldexp(odd, scale)
        roots = roots[(np.log2(roots) * abs(n) < 1020)]
        lo, hi = _positive_roots(roots**n, n)
        assert (lo == roots).all() and (hi == roots).all()
    beside = np.nextafter(odd**n, INF) if n > 0 else np.nextafter(odd, INF)
    lo, hi = _positive_roots(beside, n)
    assert (lo < hi).all()


@every_variant
def test_a_root_is_the_same_in_any_company(variant: str) -> None:
    random = np.random.default_rng(11)
    c = _positive(random, 64)
    c[::7], c[3::7], c[5::7] = 0.0, INF, random.integers(1, 9, c[5::7].size) ** 3.0
    for n in (3, -3, 6, 16, 17, -17):
        lo, hi = infimum.core.apply("pown_rev", (np.minimum(c, MAX), c), (-INF, INF), param=n, variant=variant)
        alone = [_apply("pown_rev", (min(v, MAX), v), ENTIRE, param=n) for v in c.tolist()]
        assert list(zip(lo.tolist(), hi.tolist(), strict=True)) == alone


# --- vectors -----------------------------------------------------------------------------------------------------

# How the vectors fare: equal, wider by at most 4 doubles, or narrower where the vector is wider than the hull.
FARE = {"equal": 2452, "wider": 65, "narrower": 18}


def _fare(vector: vectors.Vector, reference: measure.Reference, found: Operand) -> str:
    expected = reference.lo, reference.hi
    if not measure.unequal(found, expected).any():
        return "equal"
    if not measure.missed(found, expected).any():
        below, above = measure.excess(found, expected)
        if max(below[0], above[0]) <= 4 and reference.lo[0] <= reference.hi[0]:
            return "wider"
    box, op = reference.batch.box(0), reference.batch.op
    exponent = (reference.batch.param,) if op == "pown_rev" else ()
    tight = reverse_oracle.tightest(op, *box, *exponent)
    below, above = measure.excess(found, (np.array([tight[0]]), np.array([tight[1]])))
    sound = found[0][0] <= tight[0] and tight[1] <= found[1][0]
    return "narrower" if sound and max(below[0], above[0]) <= 1 else "wrong"


@every_variant
def test_the_vectors_of_the_standard_are_met(variant: str) -> None:
    fare: Counter[str] = Counter()
    wrong = []
    for op in sorted({row for rows in vectors.REVERSE.values() for row in rows}):
        for vector, reference in vectors.reverse_references(op):
            batch = reference.batch
            found = infimum.core.apply(op, *batch.operands, param=batch.param, variant=variant)
            how = _fare(vector, reference, found)
            fare[how] += 1
            if how == "wrong":
                wrong.append(f"{vector.where} {measure.describe(batch, 0, found, (reference.lo, reference.hi))}")
    assert not wrong, "\n".join(wrong)
    assert dict(fare) == FARE


# --- cases that are easily got wrong -----------------------------------------------------------------------------

CASES: list[tuple[str, tuple[tuple[float, float], ...], tuple[float, float]]] = [
    ("mul_rev", ((-1.0, 2.0), (1.0, 3.0), (-0.5, 0.75)), (0.5, 0.75)),
    ("mul_rev", ((-1.0, 2.0), (1.0, 3.0), (-0.5, 0.25)), EMPTY),
    ("mul_rev", ((0.0, 0.0), (0.0, 1.0), (-5.0, 5.0)), (-5.0, 5.0)),
    ("cospi_rev", ((1.0, 1.0), (-4.5, 5.5)), (-4.0, 4.0)),
    ("cospi_rev", ((1.0, 1.0), (0.25, 1.75)), EMPTY),
    ("sinpi_rev", ((0.0, 0.0), (0.25, 5.75)), (1.0, 5.0)),
    ("sin_rev", ((0.0, 0.0), (-1.0, 1.0)), (0.0, 0.0)),
    ("sin_rev", ((2.0, 3.0), ENTIRE), EMPTY),
    ("cos_rev", ((1.0, 1.0), (-1.0, 1.0)), (0.0, 0.0)),
    ("cos_rev", ((0.5, 1.0), (-INF, INF)), (-INF, INF)),
    ("min_rev", ((1.0, 2.0), (-5.0, 5.0), (3.0, 4.0)), (1.0, 2.0)),
    ("min_rev", ((1.0, 2.0), (-5.0, 5.0), (2.0, 4.0)), (1.0, 5.0)),
    ("min_rev", ((1.0, 2.0), (-5.0, 5.0), (-1.0, 0.0)), EMPTY),
    ("max_rev", ((1.0, 2.0), (-5.0, 5.0), (-1.0, 0.0)), (1.0, 2.0)),
    ("floor_rev", ((0.0, 1.5), (-5.0, 5.0)), (0.0, 2.0)),
    ("floor_rev", ((0.0, 1.5), (2.0, 5.0)), EMPTY),
    ("ceil_rev", ((0.5, 1.5), (-5.0, 5.0)), (0.0, 1.0)),
    ("trunc_rev", ((0.0, 0.5), (-5.0, 5.0)), (-1.0, 1.0)),
    ("round_ties_to_even_rev", ((1.0, 2.5), (-5.0, 5.0)), (0.5, 2.5)),
    ("sign_rev", ((0.5, 1.0), (-5.0, 0.0)), EMPTY),
    ("sign_rev", ((0.0, 1.0), (-5.0, 5.0)), (0.0, 5.0)),
    ("is_less_rev1", ((1.0, 1.0), (0.0, 9.0), (2.0, 3.0)), (0.0, 3.0)),
    ("is_less_rev1", ((0.0, 0.0), (0.0, 9.0), (2.0, 3.0)), (2.0, 9.0)),
    ("is_less_rev1", ((0.0, 1.0), (0.0, 9.0), (2.0, 3.0)), (0.0, 9.0)),
    ("is_less_rev1", ((1.0, 1.0), (3.0, 9.0), (2.0, 3.0)), EMPTY),
    ("is_less_equal_rev1", ((1.0, 1.0), (3.0, 9.0), (2.0, 3.0)), (3.0, 3.0)),
    ("is_less_rev2", ((1.0, 1.0), (2.0, 3.0), (0.0, 9.0)), (2.0, 9.0)),
    ("is_less_equal_rev2", ((0.0, 0.0), (2.0, 3.0), (0.0, 9.0)), (0.0, 3.0)),
    ("is_equal_rev1", ((1.0, 1.0), (0.0, 9.0), (2.0, 3.0)), (2.0, 3.0)),
    ("is_equal_rev1", ((0.0, 0.0), (2.0, 2.0), (2.0, 2.0)), EMPTY),
    ("where_rev", ((1.0, 1.0), (0.0, 1.0), (-3.0, 0.5)), (0.0, 0.5)),
    ("where_rev", ((0.0, 1.0), (0.0, 1.0), (-3.0, 0.5)), (-3.0, 0.5)),
    ("where_rev_other", ((0.0, 0.0), (0.0, 1.0), (-3.0, 0.5)), (0.0, 0.5)),
    ("where_rev_cond", ((0.0, 1.0), (2.0, 3.0), (-3.0, 0.5)), (0.0, 0.0)),
    ("where_rev_cond", ((0.0, 1.0), (0.5, 3.0), EMPTY), (1.0, 1.0)),
    ("where_rev_cond", ((0.0, 1.0), (2.0, 3.0), EMPTY), EMPTY),
    ("mul_rev_pair_low", ((-1.0, 2.0), (1.0, 3.0)), (-INF, -1.0)),
    ("mul_rev_pair_high", ((-1.0, 2.0), (1.0, 3.0)), (0.5, INF)),
    ("atan2_rev1", ((0.0, 0.0), (1.5, 1.6), (-5.0, 5.0)), (0.0, 5.0)),
    ("atan2_rev2", ((0.0, 0.0), (3.0, 4.0), (-5.0, 5.0)), (-5.0, 0.0)),
    ("atan_rev", ((0.0, 2.0), ENTIRE), (0.0, INF)),
    ("erf_rev", ((0.0, 1.0), ENTIRE), (0.0, INF)),
    ("erf_rev", ((-2.0, 0.0), (-5.0, 5.0)), (-5.0, 0.0)),
    ("erf_rev", ((1.0, 2.0), ENTIRE), EMPTY),
    ("erfc_rev", ((0.0, 1.0), ENTIRE), (0.0, INF)),
    ("erfc_rev", ((1.0, 3.0), (-5.0, 5.0)), (-5.0, 0.0)),
    ("erfc_rev", ((-1.0, 0.0), ENTIRE), EMPTY),
    ("erfc_rev", ((2.0, 3.0), ENTIRE), EMPTY),
]


@pytest.mark.parametrize(("op", "box", "expected"), CASES, ids=[f"{op}{box}" for op, box, _ in CASES])
def test_cases_come_out_as_written(
    op: str, box: tuple[tuple[float, float], ...], expected: tuple[float, float]
) -> None:
    assert _apply(op, *box) == expected


def test_huge_arguments_keep_their_branches() -> None:
    """Beyond 2^30 the turns are counted from the argument itself."""
    for x in (2.0**31 + 0.5, 1e15, -1e17, 2.0**60, -(2.0**100)):
        for op, forward in (("sin_rev", "sin"), ("cos_rev", "cos"), ("tan_rev", "tan")):
            image = oracle.tightest(forward, (x, x))
            lo, hi = _apply(op, image, (x - 8 * math.ulp(x), x + 8 * math.ulp(x)))
            assert lo <= x <= hi
