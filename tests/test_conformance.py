"""The IEEE 1788 test vectors: the core in every variant, and infimum.interval.

The rule: the expected interval is contained always; it is the result for exactly rounded operations, relations and
numeric functions; an end may lie 1 unit further out for machine-checked functions, and 4 for argued ones.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import infimum.core
import measure
import oracle
import vectors
from infimum import interval
from infimum.errors import UndefinedOperation
from infimum.interval import Interval
from samples import Operand
from vectors import Vector

ALLOWED = {"exact": 0, "numeric": 0, "checked": 1, "argued": 4}
CORE = [op for op in oracle.OPERATIONS if vectors.of(op)]
NO_VECTORS = {
    "mod", "sinpi", "cospi", "expm1", "log1p", "cbrt", "hypot", "is_less", "is_less_equal", "is_equal", "where",
    "x_log_x", "sin_over_x", "expm1_over_x", "sinh_over_x", "step_low", "step_high", "erf", "erfc", "lgamma",
    "digamma", "trigamma",
}  # fmt: skip
RELATIONS = [
    "equal", "subset", "less", "precedes", "interior", "strict_less", "strict_precedes", "disjoint",
    "is_empty", "is_entire", "is_singleton", "is_common_interval", "is_member", "overlap",
]  # fmt: skip
NUMBERS = ["inf", "sup", "mid", "rad", "wid", "mag", "mig", "mid_rad"]
CONSTRUCTORS = ["text_to_interval", "nums_to_interval"]
# The reverse operations are run in test_reverse.py.
RUN = {"pos", *CORE, *RELATIONS, *NUMBERS, *CONSTRUCTORS, *vectors.REVERSE}

# What is not run, by operation of the standard, with the number of vectors.
NOT_RUN = {
    "decorations, which infimum does not have": {
        "d-numsToInterval": 9, "d-textToInterval": 91, "decorationPart": 6, "intervalPart": 15, "isNaI": 16,
        "newDec": 13,
        "setDec": 22,
    },
    "sums of numbers, which are no interval operations": {
        "dot_nearest": 6, "sum_abs_nearest": 3, "sum_nearest": 3, "sum_sqr_nearest": 3,
    },
}  # fmt: skip
NAI = {
    "pos": 1, "neg": 1, "add": 1, "sub": 1, "mul": 1, "div": 1,
    "disjoint": 4, "equal": 4, "inf": 1, "interior": 4, "isCommonInterval": 1, "isEmpty": 1, "isEntire": 1,
    "isMember": 3, "mulRev": 3, "mulRevToPair": 3,
    "isSingleton": 1, "less": 4, "mag": 1, "mid": 1, "midRad": 1, "mig": 1, "precedes": 4, "rad": 1, "strictLess": 4,
    "strictPrecedes": 4, "subset": 3, "sup": 1, "wid": 1,
}  # fmt: skip

every_variant = pytest.mark.parametrize("variant", infimum.core.variants())
every_core_operation = pytest.mark.parametrize("op", CORE)


def _pair(x: Interval) -> tuple[float, float]:
    return float(x.lo), float(x.hi)


def _argument(value: Any) -> Any:
    return Interval.from_pairs(value) if isinstance(value, tuple) else value


def _call(op: str, vector: Vector) -> Any:
    return getattr(interval, op)(*map(_argument, vector.args))


def _say(vector: Vector, found: object) -> str:
    shown = [[float(e).hex() for e in a] if isinstance(a, tuple) else a for a in vector.args]
    want = [[float(e).hex() for e in a] if isinstance(a, tuple) else a for a in vector.expected]
    return f"{vector.where}: {vector.op}{shown} gave {found}, expected {want}"


def _wrong(op: str, reference: measure.Reference, found: Operand) -> list[str]:
    """Cases that break the rule."""
    tight = reference.lo, reference.hi
    if ALLOWED[oracle.TRUST[op]] == 0:
        bad = measure.unequal(found, tight)
    else:
        below, above = measure.excess(found, tight)
        limit = ALLOWED[oracle.TRUST[op]]
        far = (below > limit) | (above > limit)
        empty = tight[0] > tight[1]
        bad = measure.missed(found, tight) | np.where(empty, measure.unequal(found, tight), far)
    return [measure.describe(reference.batch, int(i), found, tight) for i in np.flatnonzero(bad)]


@every_variant
@every_core_operation
def test_the_core_gives_the_expected_interval(op: str, variant: str) -> None:
    wrong: list[str] = []
    for reference in vectors.references(op):
        batch = reference.batch
        wrong += _wrong(op, reference, infimum.core.apply(op, *batch.operands, param=batch.param, variant=variant))
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("op", [op for op in CORE if oracle.TRUST[op] != "numeric"])
def test_interval_functions_give_what_the_core_gives(op: str) -> None:
    for vector in vectors.of(op):
        batch = vectors._reference(op, vector.args[1] if op == "pown" else 0, [vector]).batch
        lo, hi = infimum.core.apply(op, *batch.operands, param=batch.param)
        found = _pair(_call(op, vector))
        assert found == (float(lo[0]), float(hi[0])), _say(vector, found)


def test_pos_is_the_identity() -> None:
    for vector in vectors.of("pos"):
        found = _pair(interval.pos(_argument(vector.args[0])))
        assert found == vector.expected[0], _say(vector, found)


def test_convex_hull_is_another_name_of_hull() -> None:
    assert _pair(interval.convex_hull(Interval(1, 2), Interval(4, 5))) == (1.0, 5.0)


@pytest.mark.parametrize("op", RELATIONS)
def test_relations_hold_exactly_where_expected(op: str) -> None:
    for vector in vectors.of(op):
        found = _call(op, vector)
        assert found == vector.expected[0], _say(vector, found)


@pytest.mark.parametrize("op", NUMBERS)
def test_numeric_functions_return_the_expected_numbers(op: str) -> None:
    for vector in vectors.of(op):
        found = _call(op, vector)
        numbers = found if isinstance(found, tuple) else (found,)
        assert all(map(vectors.same_number, numbers, vector.expected)), _say(vector, numbers)
        assert len(numbers) == len(vector.expected)


@pytest.mark.parametrize("op", CONSTRUCTORS)
def test_constructors_enclose_what_is_written(op: str) -> None:
    for vector in vectors.of(op):
        if vector.signal == "UndefinedOperation":
            continue
        found = _pair(_call(op, vector))
        assert found == vector.expected[0], _say(vector, found)


@pytest.mark.parametrize("op", CONSTRUCTORS)
def test_constructors_warn_of_what_is_no_interval_and_return_the_empty_one(op: str) -> None:
    for vector in vectors.of(op):
        if vector.signal != "UndefinedOperation":
            continue
        with pytest.warns(UndefinedOperation):
            found = _pair(_call(op, vector))
        assert found == vector.expected[0] == oracle.EMPTY, _say(vector, found)


def test_everything_that_is_not_run_is_counted_and_named() -> None:
    not_run = Counter(v.op for v in vectors.vectors() if vectors.name(v.op) not in RUN)
    assert dict(not_run) == {op: n for group in NOT_RUN.values() for op, n in group.items()}
    with_nai = Counter(v.op for v in vectors.vectors() if vectors.name(v.op) in RUN and v.has_nai)
    assert dict(with_nai) == NAI
    run = sum(len(vectors.of(op)) for op in RUN)
    assert (run, sum(not_run.values()), sum(with_nai.values()), len(vectors.vectors())) == (6892, 187, 58, 7137)
    assert {op for op in oracle.OPERATIONS if not vectors.of(op)} == NO_VECTORS
