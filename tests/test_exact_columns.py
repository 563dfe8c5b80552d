"""Arrays of exact constants in columns: element for element the scalar ones, enclosed as tightly, made without them."""

from __future__ import annotations

import math
import pickle
import time
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import exact_values
from infimum import core
from infimum.errors import ExactDomainError
from infimum.exact import pairs as exact_pairs
from infimum.exact.columns import columns as exact_columns
from infimum.exact.columns import rules as exact_columns_rules
from infimum.exact.columns import value as exact_columns_value
from infimum.exact.columns.columns import Columns, Unfit
from infimum.exact.number import Exact, ExactArray, e, exact, pi
from infimum.exact.pairs import Pair
from infimum.function.function import trace
from infimum.graph.constant import Constant, constant, joined, of_symbols

INF = float("inf")
repeatable = settings(derandomize=True, max_examples=60, deadline=None)
whole = st.integers(-(10**6), 10**6)
large = st.integers(-(2**62) + 1, 2**62 - 1)
positive = st.integers(1, 10**6)

# An expression of an array of integers and one of positive integers, and the same for numbers one by one.
EXPRESSIONS: dict[str, Callable[[Any, Any], Any]] = {
    "integers": lambda i, j: i,
    "integers / 10": lambda i, j: i / 10,
    "ratios": lambda i, j: i / j,
    "decimals": lambda i, j: exact("0.1") * i + exact("0.01"),
    "doubles": lambda i, j: 0.1 * i,
    "roots": lambda i, j: np.sqrt(j),
    "negative roots": lambda i, j: -np.sqrt(j),
    "roots of ratios": lambda i, j: np.sqrt(j / 7),
    "1 / roots": lambda i, j: 1 / np.sqrt(j),
    "ratios by roots": lambda i, j: (i / 7) * np.sqrt(j / 3),
    "roots squared": lambda i, j: np.sqrt(j) ** 2,
    "roots cubed": lambda i, j: np.sqrt(j) ** 3,
    "roots added": lambda i, j: 3 * np.sqrt(j) - np.sqrt(j) / 5,
    "powers": lambda i, j: (i / 3) ** 3 + 1 / (j / 2) ** 2,
    "half powers": lambda i, j: j**0.5,
    "multiples of pi": lambda i, j: pi * i / 7,
    "pi and roots": lambda i, j: np.sqrt(j) * pi**2 / 3,
    "over pi": lambda i, j: i / (pi * j),
    "pi cancelled": lambda i, j: pi * i / (pi * j),
    "pi and e": lambda i, j: -pi * i * e / j,
    "logarithm by ratios": lambda i, j: np.log(exact(2)) * i / j,
    "magnitudes": lambda i, j: abs(pi * i),
    "remainders": lambda i, j: (i / 2) % 7 + (i // 3) - (j / 5) // exact("0.3"),
    "sines": lambda i, j: np.sin(j) * i,
    "unlike terms": lambda i, j: np.sqrt(j) + i,
    "nested roots": lambda i, j: np.sqrt(np.sqrt(j)),
}
HELD_IN_COLUMNS = set(EXPRESSIONS) - {"sines", "unlike terms", "nested roots"}


def both(name: str, i: list[int], j: list[int]) -> tuple[ExactArray, list[Exact]]:
    """An expression of arrays, and of their elements one by one."""
    f = EXPRESSIONS[name]
    return f(exact(np.array(i)), exact(np.array(j))), [f(exact(u), exact(v)) for u, v in zip(i, j, strict=True)]


def differences(array: ExactArray, alone: list[Exact]) -> list[str]:
    """Where an array is not what its elements are: their forms, their tightest intervals, their nearest doubles."""
    found, nearest = array.enclose(), np.array(array, dtype=float)
    bad = []
    for k, one in enumerate(alone):
        true = one.enclose()
        told, was = (array[k], found.lo[k], found.hi[k], nearest[k]), (one, true.lo, true.hi, float(one))
        if told[0].form != one.form or told[1:] != was[1:]:
            bad.append(f"{one!r}: {[str(v) for v in told]}, alone {[str(v) for v in was]}")
    return bad


def outside(array: ExactArray) -> list[str]:
    """Which enclosures do not contain their number, by the oracle's 500 bits."""
    found = array.enclose()
    with exact_values.precision(500):
        return [
            f"{one!r} not in [{float(lo).hex()}, {float(hi).hex()}]"
            for one, lo, hi in zip(array, found.lo, found.hi, strict=True)
            if exact_values.outside(exact_values._of_exact(one), float(lo), float(hi))  # type: ignore[arg-type]
        ]


# --- arrays are their elements ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EXPRESSIONS)
@given(rows=st.lists(st.tuples(whole, positive), min_size=1, max_size=12))
@repeatable
def test_an_array_is_element_for_element_its_numbers_alone(name: str, rows: list[tuple[int, int]]) -> None:
    array, alone = both(name, [u for u, _ in rows], [v for _, v in rows])
    assert differences(array, alone) == []
    assert outside(array) == []


@pytest.mark.parametrize("name", ["integers", "ratios", "roots", "roots of ratios", "multiples of pi", "over pi"])
@given(rows=st.lists(st.tuples(large, large), min_size=1, max_size=8))
@repeatable
def test_long_integers_are_held_or_left_to_single_numbers_alike(name: str, rows: list[tuple[int, int]]) -> None:
    array, alone = both(name, [u for u, _ in rows], [max(abs(v), 1) for _, v in rows])
    assert differences(array, alone) == []
    assert outside(array) == []


@pytest.mark.parametrize("name", sorted(HELD_IN_COLUMNS))
def test_array_expressions_are_held_in_columns(name: str) -> None:
    array, _ = both(name, [-3, 0, 5, 12], [1, 2, 3, 4])
    assert array._columns is not None
    assert array._elements is None


@given(values=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=9))
@repeatable
def test_doubles_are_those_very_numbers(values: list[float]) -> None:
    assert differences(exact(np.array(values)), [exact(v) for v in values]) == []
    assert exact(np.array(values)).enclose().lo.tolist() == values


@given(p=st.lists(whole, min_size=2, max_size=6), q=st.lists(whole, min_size=1, max_size=1))
@repeatable
def test_comparisons_are_decided_as_for_single_numbers(p: list[int], q: list[int]) -> None:
    x, y = exact(np.array(p)) / 7, exact(q[0], 3)
    for compare in (np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal):
        assert compare(x, y).tolist() == [bool(compare(exact(v, 7), y)) for v in p]


def test_shapes_are_numpys() -> None:
    i = exact(np.arange(1, 7)).reshape(2, 3)
    roots = np.sqrt(i)
    assert (roots.shape, roots[1].shape, roots[:, :1].shape, roots[..., None].shape) == (
        (2, 3),
        (3,),
        (2, 1),
        (2, 3, 1),
    )
    assert roots[1, 2] == roots[-1][-1] == np.sqrt(exact(6))
    assert (roots[:, :1] * pi * exact([1, 2])).shape == (2, 2)
    assert roots[:0].shape == (0, 3)
    assert [one.as_fraction() for one in exact(np.arange(3)) / 2] == [0, Fraction(1, 2), 1]
    assert (exact(np.arange(101)) / 2).sum() == 2525
    assert (pi * exact(np.arange(101))).sum() == 5050 * pi
    assert pickle.loads(pickle.dumps(roots))[1, 1] == np.sqrt(exact(5))
    with pytest.raises(IndexError):
        exact(np.ones(3, int))[3]


def test_an_array_does_not_change_with_what_it_was_made_of() -> None:
    numbers = np.arange(5)
    array = exact(numbers)
    numbers[:] = 7
    assert [one.as_fraction() for one in array] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("attempt", [lambda i: 1 / i, lambda i: np.sqrt(i - 1), lambda i: i % (i - 1), lambda i: i**-1])
def test_what_is_no_real_number_is_refused_as_for_single_numbers(attempt: Callable[[Any], Any]) -> None:
    with pytest.raises(ExactDomainError, match=r"\w+ .*\."):
        attempt(exact(np.arange(3)))


# --- hard cases ------------------------------------------------------------------------------------------------------


def solutions() -> list[tuple[int, int, int]]:
    """(p, q, d) with p*p - d*q*q = 1 and p < 2**62: q sqrt(d) and p are 1/(2p) apart, or less."""
    found = []
    for d in (d for d in range(2, 200) if math.isqrt(d) ** 2 != d):
        q = next((q for q in range(1, 400) if math.isqrt(d * q * q + 1) ** 2 == d * q * q + 1), None)
        if q is None:
            continue
        p = math.isqrt(d * q * q + 1)
        u, v = p, q
        while u < 2**62:
            found.append((u, v, d))
            u, v = p * u + d * q * v, p * v + q * u
    return found


@cache
def hard() -> tuple[ExactArray, list[Exact]]:
    """Numbers next to doubles and to the middles between doubles, relatively 2**-123 away from them and more."""
    rows = [(q, 1, d) for p, q, d in solutions() if p % 2 ** max(p.bit_length() - 54, 0) == 0]
    rows += [(q, p, d) for p, q, d in solutions()]
    rows += [(-p, q, d) for p, q, d in rows]
    over, under, inside = (np.array(column) for column in zip(*rows, strict=True))
    return exact(over) / exact(under) * np.sqrt(exact(inside)), [exact(p, q) * np.sqrt(exact(d)) for p, q, d in rows]


@cache
def squares() -> tuple[ExactArray, list[Exact]]:
    """Roots of integers between 2**53 and 2**62, next to integers."""
    rows = [(q, d) for p, q, d in solutions() if 2**53 < p * p < 2**62 and q * q * 200 < 2**62]
    q, d = (np.array(column) for column in zip(*rows, strict=True))
    return exact(q) * np.sqrt(exact(d)), [u * np.sqrt(exact(v)) for u, v in rows]


def test_roots_that_nearly_are_doubles_are_told_from_them() -> None:
    for array, alone in (hard(), squares()):
        assert array._columns is not None
        assert differences(array, alone) == []
        assert outside(array) == []
    pair = exact_columns_value._pair(hard()[0].columns)  # type: ignore[arg-type]
    for _, certain in (exact_pairs.settled(pair), exact_pairs.nearest(pair)):
        assert 0 < np.sum(~certain) < certain.size / 2  # some are left to single numbers, most are not


@pytest.mark.parametrize("scale", [np.exp(exact(-700)), np.exp(exact(-740)), np.exp(exact(709)), np.exp(exact(1000))])
def test_factors_at_the_ends_of_the_range_of_doubles_are_enclosed(scale: Exact) -> None:
    array = scale * exact(np.arange(-9, 20)) / 7
    assert array._columns is not None
    assert differences(array, [scale * i / 7 for i in range(-9, 20)]) == []


# --- pairs, and what notices them broken -----------------------------------------------------------------------------


def random_pairs(count: int) -> tuple[Pair, Pair]:
    draw = np.random.default_rng(7)
    head = draw.uniform(1, 2, (2, count)) * 2.0 ** draw.integers(-40, 40, (2, count))
    lo, hi = np.sort(draw.uniform(-1, 1, (2, 2, count)), axis=0) * head * 2.0**-53
    return Pair(head[0], lo[0], hi[0]), Pair(head[1], lo[1], hi[1])


def wrong_pairs() -> list[str]:
    """Where a pair does not contain what became of the ends of its operands, exactly."""
    x, y = random_pairs(400)
    bad = []
    with exact_values.precision(600):
        ball = flint.arb
        for name, found, true in (
            ("mul", exact_pairs.mul(x, y), lambda u, v: u * v),
            ("div", exact_pairs.div(x, y), lambda u, v: u / v),
            ("sqrt", exact_pairs.sqrt(x), lambda u, v: u.sqrt()),
        ):
            for k in range(x.head.size):
                head, lo, hi = (ball(float(part[k])) for part in found)
                for u in (ball(float(x.head[k])) + ball(float(end[k])) for end in x.tail):
                    for v in (ball(float(y.head[k])) + ball(float(end[k])) for end in y.tail):
                        if true(u, v) < head + lo or true(u, v) > head + hi:
                            bad.append(f"{name} of pair {k}")
    return bad


def wrong_arrays() -> list[str]:
    """Where an enclosure of an array is not the tightest one around its number."""
    i = list(range(1, 200))
    arrays = [both(name, i, i[::-1]) for name in ("ratios by roots", "over pi", "roots", "ratios")]
    return [text for array, alone in (*arrays, hard(), squares()) for text in differences(array, alone)]


def long_ratios() -> list[str]:
    return differences(*both("ratios", [2**61 + 1, 2**60 - 1], [3, 7]))


def quotients() -> list[str]:
    return differences(*both("over pi", [1, 2], [3, 4]))


@pytest.mark.parametrize("check", [wrong_pairs, wrong_arrays, long_ratios, quotients])
def test_nothing_is_wrong_as_long_as_nothing_is_broken(check: Callable[[], list[str]]) -> None:
    assert check() == []


def narrowed(op: str, end: int) -> Callable[[pytest.MonkeyPatch], None]:
    """One end of the core's results moved to the next double inward, as if it were rounded the wrong way."""

    def patch(monkeypatch: pytest.MonkeyPatch) -> None:
        def apply(name: str, *operands: Any, **how: Any) -> Any:
            ends = list(core.apply(name, *operands, **how))
            if name == op:
                inward = np.nextafter(ends[end], ends[1 - end])
                ends[end] = np.where(ends[0] < ends[1], inward, ends[end])
            return tuple(ends)

        monkeypatch.setattr(exact_pairs, "core", type("Core", (), {"apply": staticmethod(apply)}))

    return patch


def replaced(module: Any, name: str, made: Any) -> Callable[[pytest.MonkeyPatch], None]:
    return lambda monkeypatch: monkeypatch.setattr(module, name, made)


def _always(certain: Callable[[Pair], Any]) -> Callable[[Pair], Any]:
    return lambda x: (certain(x)[0], np.ones(np.shape(certain(x)[1]), bool))


def _without_tail(of: Callable[..., Pair]) -> Callable[..., Pair]:
    def broken(*operands: Pair) -> Pair:
        bare = [Pair(x.head, np.zeros_like(x.lo), np.zeros_like(x.hi)) for x in operands]
        return of(*bare)

    return broken


def _forgotten(of: Callable[..., Columns], **columns: Any) -> Callable[..., Columns]:
    """A rule of columns that leaves one of them as it is given here."""

    def broken(*operands: Columns) -> Columns:
        found = of(*operands)
        return exact_columns.reduced(
            *(columns.get(name, getattr(found, name)) for name in ("p", "q", "a", "b", "factor")), found.shape
        )

    return broken


def _nearest_factor(factor: Any) -> Pair:
    return Pair(np.asarray(float(Exact(((factor, Fraction(1)),)))), np.zeros(()), np.zeros(()))


def _nearest_integers(values: Any) -> Pair:
    return Pair(values.astype(float), np.zeros(values.shape), np.zeros(values.shape))


_reciprocal = _forgotten(exact_columns_rules.reciprocal, q=exact_columns.ONE)
Mutant = tuple[Callable[[pytest.MonkeyPatch], None], Callable[[], list[str]]]
MUTANTS: dict[str, Mutant] = {
    **{
        f"{op} rounds its {end} end inward": (narrowed(op, k), wrong_pairs)
        for op in ("fma", "add", "div", "sqrt")  # the one "sub" is exact: there is nothing to round
        for k, end in enumerate(("lower", "upper"))
    },
    **{
        f"{name} forgets tails": (replaced(exact_pairs, name, _without_tail(getattr(exact_pairs, name))), wrong_pairs)
        for name in ("mul", "div", "sqrt")
    },
    "every interval is the tightest": (replaced(exact_pairs, "settled", _always(exact_pairs.settled)), wrong_arrays),
    "every double is the nearest": (replaced(exact_pairs, "nearest", _always(exact_pairs.nearest)), wrong_arrays),
    "all roots are the core's": (replaced(exact_columns_value, "_EXACT_INTEGERS", 2**62), wrong_arrays),
    "a factor is its nearest double": (replaced(exact_columns_value, "_factor", _nearest_factor), wrong_arrays),
    "integers are their nearest doubles": (replaced(exact_pairs, "of_integers", _nearest_integers), long_ratios),
    "a reciprocal leaves out p": (replaced(exact_columns_rules, "reciprocal", _reciprocal), quotients),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_broken_step_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    patch, check = MUTANTS[name]
    patch(monkeypatch)
    assert check() != []


# --- constants of a graph --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_a_constant_made_at_once_equals_one_made_of_its_elements(name: str) -> None:
    i, j = list(range(-30, 100)), list(range(1, 131))
    array, alone = both(name, i, j)
    made, piece = constant(array), constant(array.reshape(10, 13))
    assert made == of_symbols(alone) == piece == joined([of_symbols([one]) for one in alone])
    assert hash(made) == hash(of_symbols(alone))
    assert made == joined([constant(array[:70]), constant(array[70:99]), constant(array[99:])])
    assert made != constant(-array - 1)
    at = np.array([5, -1, 0, 129] * 20)
    assert made.take(at) == of_symbols([alone[k] if k >= 0 else exact(0) for k in at.tolist()])
    assert made.take(at[:4]) == of_symbols([alone[5], exact(0), alone[0], alone[129]])
    assert made.exact_elements() == tuple(alone)
    assert np.array_equal(made.points(), [float(one) for one in alone])
    assert np.array_equal(made.enclosure(), np.transpose([[v.lo, v.hi] for v in (one.enclose() for one in alone)]))


def test_constants_of_two_kinds_are_joined_element_by_element() -> None:
    roots, sines = np.sqrt(exact(np.arange(1, 100))), np.sin(exact(np.arange(1, 100)))
    for parts in ([constant(roots), constant(sines)], [constant(roots), constant(np.array([0.1, 1e300]))]):
        assert joined(parts) == of_symbols([one for part in parts for one in part.exact_elements()])
    bounds = Constant(bounds=(np.zeros(2), np.ones(2)))
    assert joined([constant(roots), bounds]).enclosure()[1][-3:].tolist() == [math.nextafter(math.sqrt(99), 10), 1, 1]


def one_by_one(x: Any) -> Any:
    total = 0
    for k in range(len(x)):
        total += np.sin(pi * (k + 1) / 7 * x[k]) * np.sqrt(exact(k + 1) / 3)
    return total


def at_once(x: Any) -> Any:
    i = exact(np.arange(1, len(x) + 1))
    return np.sum(np.sin(pi * i / 7 * x) * np.sqrt(i / 3))


@pytest.mark.parametrize("n", [20, 64, 65, 300])
def test_loops_and_arrays_of_exact_constants_give_the_same_program(n: int) -> None:
    loop, vector = trace(one_by_one, n).value_program, trace(at_once, n).value_program
    assert repr((loop.slots, loop.phases, loop.outputs)) == repr((vector.slots, vector.phases, vector.outputs))
    for name in ("instructions", "tables", "constant_lo", "constant_hi", "constant_points"):
        assert np.array_equal(getattr(loop, name), getattr(vector, name))
    assert loop.constant_lo.size >= 2 * n


def test_a_million_exact_constants_are_cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without an object for each: then they could not be made in the time."""
    monkeypatch.setattr(Columns, "elements", lambda self: pytest.fail("elements were made"))
    started = time.process_time()
    i = exact(np.arange(1, 1_000_001))
    for array in (np.sqrt(i), i / 10, pi * i / 7, 1 / np.sqrt(i)):
        made = constant(array)
        lo, hi = made.enclosure()
        assert np.all(np.nextafter(lo, INF) >= hi) and np.all((lo <= made.points()) & (made.points() <= hi))
        assert made == constant(array) and hash(made) == hash(constant(array))
    assert time.process_time() - started < 10


def test_columns_refuse_what_they_cannot_hold() -> None:
    for forms in ([(pi + 1).form], [pi.form, e.form], [np.sqrt(pi).form], [exact(2**62).form], [exact(1, 2**62).form]):
        with pytest.raises(Unfit):
            exact_columns.of_forms(forms, (len(forms),))
    for doubles in ([1e300], [5e-324], [INF], [float("nan")], []):
        with pytest.raises(Unfit):
            exact_columns.of_doubles(np.array(doubles))
    assert exact_columns.of_forms([exact(0).form, pi.form], (2,)).factor == pi.form[0][0]
