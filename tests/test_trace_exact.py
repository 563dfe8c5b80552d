"""Exact constants in traced functions stay exact, whatever they stand beside."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from infimum.errors import InfimumError, TraceError
from infimum.exact.number import exact, pi
from infimum.function.function import trace
from infimum.tracing.trace import trace_graph

T = np.linspace(0.0, 1.0, 5)
TENTH = Decimal("0.1")

# Each is x[0] times a number that is zero exactly, and at least 1e-17 where pi or a tenth is a double.
ZERO = [
    lambda x: x[0] * np.sin(np.array([1.0, 2.0]) * pi).sum(),
    lambda x: x[0] * np.sin(np.ones(3) * pi)[0],
    lambda x: x[0] * np.sin(T[4] * pi),
    lambda x: x[0] * np.sin(np.float64(2.0) * pi),
    lambda x: x[0] * np.sin(np.linspace(0, pi, 3)[2]),
    lambda x: x[0] * np.sin(np.array([pi, 1.0])[0]),
    lambda x: x[0] * np.sin(np.full(2, pi)).sum(),
    lambda x: x[0] * np.sin((np.eye(3) * pi)[0, 0]),
    lambda x: x[0] * np.sin(np.arange(4) * pi)[3],
    lambda x: x[0] * np.sin((np.arange(4) * pi)[1:].sum()),
    lambda x: x[0] * math.sin(pi),
    lambda x: x[0] * np.sin(float(pi)),
    lambda x: x[0] * np.sin(sum([pi, pi])),
    lambda x: x[0] * np.sin(np.sum([pi, pi])),
    lambda x: x[0] * np.sin(np.float64(pi)),
    lambda x: x[0] * np.sin(np.asarray(pi)),
    lambda x: x[0] * np.sin(np.dot([1.0, 2.0], [pi, pi])),
    lambda x: x[0] * np.sin(np.where(x[0] > 0, pi, 2 * pi)),
    lambda x: x[0] * (TENTH * 10 - 1),
    lambda x: x[0] * (np.array([TENTH, 1])[0] * 10 - 1),
    lambda x: x[0] * (exact(TENTH) * 10 - 1),
    lambda x: x[0] * (x[0] * 0 + Fraction(1, 3) - exact(1, 3)),
    lambda x: x[0] * (x[0] * 0 + np.int64(2**53 + 1) - 2**53 - 1),
    lambda x: x[0] * (x[0] * 0 + np.array([2**62 + 1])[0] - (2**62 + 1)),
    lambda x: x[0] * (np.array([2**62 + 1, 5]) + x[0] * 0 - np.array([2**62, 5]) - [1, 0]).sum(),
]


@pytest.mark.parametrize("f", ZERO, ids=range(len(ZERO)))
def test_a_constant_beside_numpys_floats_stays_exact(f: Any) -> None:
    lo, hi = _times_a_million(f)
    assert lo <= 1.0 <= hi and hi - lo < 1e-8


def test_the_nearest_double_would_be_noticed() -> None:
    lo, _ = _times_a_million(lambda x: x[0] * np.sin(np.pi))
    assert lo > 1.0


def _times_a_million(f: Any) -> Any:
    """The ends of 1 + 10**6 f(1)."""
    return trace(lambda x: x[0] + 1e6 * f(x), 1).enclose([(1.0, 1.0)]).pairs().ravel()


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x[0] * np.arange(0, pi, 1)[1],
        lambda x: x[0] * np.geomspace(1, pi, 3)[1],
        lambda x: x[0] * np.float32(pi),
        lambda x: x[0] * np.median([pi, 1, 2]),
    ],
)
def test_what_would_round_a_constant_is_refused(f: Any) -> None:
    with pytest.raises(TraceError, match="round"):
        trace_graph(f, 1)


def test_decimals_are_exact_and_infinite_ones_are_refused() -> None:
    assert exact(Decimal("0.1")) == exact(1, 10)
    with pytest.raises(InfimumError):
        exact(Decimal("inf"))


def test_functions_on_plain_numbers_still_give_plain_numbers() -> None:
    trace_graph(lambda x: x[0] * pi, 1)
    assert isinstance(np.float64(2.0) * pi, np.float64)


def test_logsumexp_does_not_overflow() -> None:
    special = pytest.importorskip("scipy.special")
    f = trace(lambda x: special.logsumexp(x * 1000), 2)
    lo, hi = f.enclose([(0.9, 1.0), (1.0, 2.0)]).pairs().ravel()
    assert 900 <= lo <= 1001 and 2000 <= hi <= 2100
    rows = trace(lambda x: special.logsumexp(np.outer(x, [1.0, 2.0]), axis=1, keepdims=True).sum(), 2)
    lo, hi = rows.enclose([(1.0, 1.0), (3.0, 3.0)]).pairs().ravel()
    assert lo <= special.logsumexp([1, 2]) + special.logsumexp([3, 6]) <= hi
    with pytest.raises(TraceError, match="b="):
        trace_graph(lambda x: special.logsumexp(x, b=[1.0, 2.0]), 2)
    with pytest.raises(TraceError, match="return_sign="):
        trace_graph(lambda x: special.logsumexp(x, return_sign=True)[0], 2)
