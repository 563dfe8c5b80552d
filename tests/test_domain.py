"""The user's bounds: whatever form they come in, the domain covers them, and its witnesses lie inside."""

from __future__ import annotations

import time
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import Bounds

from infimum.domain import Domain, read_bounds
from infimum.errors import InvalidBounds
from infimum.exact.number import exact, pi

INF = float("inf")


def ends(domain: Domain) -> list[list[float]]:
    return [end.tolist() for end in (domain.lo, domain.hi, domain.inner_lo, domain.inner_hi)]


@pytest.mark.parametrize(
    "bounds",
    [
        [(-1, 2), (0, 3.5)],
        ((-1, 2), [0, 3.5]),
        np.array([[-1, 2], [0, 3.5]]),
        SimpleNamespace(lb=[-1, 0], ub=[2, 3.5]),
        zip([-1, 0], [2, 3.5], strict=True),
        [(exact(-1), Fraction(2)), (np.float64(0), exact("3.5"))],
    ],
    ids=["list", "tuples", "array", "Bounds", "iterator", "exact"],
)
def test_every_form_of_bounds_gives_the_same_domain(bounds: Any) -> None:
    assert ends(read_bounds(bounds)) == [[-1.0, 0.0], [2.0, 3.5], [-1.0, 0.0], [2.0, 3.5]]


def test_bounds_that_are_no_doubles_are_covered_outward_and_witnessed_inward() -> None:
    domain = read_bounds([(exact(1, 3), pi)])
    assert exact(float(domain.lo[0])) < exact(1, 3) < exact(float(domain.inner_lo[0]))
    assert exact(float(domain.inner_hi[0])) < pi < exact(float(domain.hi[0]))
    assert np.nextafter(domain.lo[0], 1) == domain.inner_lo[0]
    assert np.nextafter(domain.inner_hi[0], 9) == domain.hi[0]
    assert not domain.contains(domain.hi) and not domain.contains(domain.lo)
    assert domain.contains(domain.inner_hi) and domain.contains(domain.inner_lo)


def test_missing_and_infinite_bounds_are_no_bounds() -> None:
    assert ends(read_bounds([(None, 1), (0, None), (-INF, INF)]))[:2] == [[-INF, 0.0, -INF], [1.0, INF, INF]]
    domain = read_bounds([(None, None)])
    assert domain.contains([1e300]) and not domain.contains([INF]) and not domain.contains([float("nan")])


def test_a_fixed_variable_and_minus_zero_are_read() -> None:
    domain = read_bounds([(2, 2), (-0.0, 0.0)])
    assert domain.contains([2, 0]) and not domain.contains([2.1, 0])
    assert not np.signbit(domain.lo).any() and not np.signbit(domain.hi).any()


def test_one_pair_holds_for_all_variables_where_their_number_is_known() -> None:
    for pair in [(0, pi), [0, 3], np.array([0.0, 1.0]), SimpleNamespace(lb=0, ub=1)]:
        assert read_bounds(pair, 4).n == 4
    with pytest.raises(InvalidBounds, match="For one variable write"):
        read_bounds((0, 1))


def test_contains_asks_for_the_right_shape() -> None:
    domain = read_bounds([(0, 1)] * 3)
    assert domain.contains([0, 0.5, 1]) and not domain.contains([0.5]) and not domain.contains([[0.5] * 3])


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ([(0, 1), (3, 2), (5, 4)], r"variable 1 \(and 1 more\) are \(3.0, 2.0\): the lower one is larger"),
        ([(0, 1), (0, float("nan"))], "variable 1 .*NaN"),
        ([(INF, INF)], "no real number"),
        ([(-INF, -INF)], "no real number"),
        ([(10**400, None)], "no real number"),
        ([(pi, pi)], "no double lies between the exact bounds"),
        ([(exact("0.1"), exact("0.1"))], "write the constant into the function"),
        ([], "no variable"),
        ([(0, 1, 2)], "variable 0 are .0, 1, 2., which is no pair"),
        ([(0, 1), 5], "variable 1 are 5, which is no pair"),
        ([(0, "1")], "upper bound of variable 0 is '1'"),
        ([(0, [1, 2])], "upper bound of variable 0"),
        ([(0, 1j)], "upper bound of variable 0 is 1j"),
        (None, "bounds=None are no bounds"),
        ("ab", "are no bounds"),
        (3, "are no bounds"),
        (np.zeros((3, 3)), r"shape \(3, 3\)"),
        (np.zeros(3), r"shape \(3,\)"),
        (SimpleNamespace(lb=[0, 0], ub=[1, 1, 1]), "shapes"),
    ],
)
def test_bounds_that_mean_nothing_are_refused_by_variable_and_value(bounds: Any, words: str) -> None:
    with pytest.raises(InvalidBounds, match=words):
        read_bounds(bounds)


def test_the_wrong_number_of_bounds_is_refused() -> None:
    with pytest.raises(InvalidBounds, match="has 3 variables, and bounds were given for 2"):
        read_bounds([(0, 1)] * 2, 3)


def test_a_domain_does_not_change() -> None:
    given = np.array([[0.0, 1.0]])
    domain = read_bounds(given)
    given[0, 0] = 0.5
    assert domain.lo[0] == 0
    with pytest.raises(ValueError, match="read-only"):
        domain.lo[0] = 1


def test_a_million_variables_are_read_at_once() -> None:
    start = time.process_time()
    domain = read_bounds([(0, pi)] * 1_000_000)
    assert domain.n == 1_000_000 and time.process_time() - start < 5
    assert repr(domain).endswith("and 999997 more>")


NO_DOUBLES = [pi, Fraction(1, 3), exact("0.1"), 2**53 + 1, np.int64(2**60 + 1), np.uint64(2**63 + 1), 10**30]


@pytest.mark.parametrize("end", NO_DOUBLES, ids=repr)
@pytest.mark.parametrize("form", ["pairs", "scipy", "scipy, one end", "array", "tuples of arrays"])
def test_no_form_of_bounds_rounds_an_end_to_the_nearest_double(end: Any, form: str) -> None:
    far = 1e40
    given: Any = {
        "pairs": [(end, far), (-far, end)],
        "scipy": Bounds(
            np.array([end, -far], object), np.array([far, end], object)
        ),  # of mixed lists SciPy makes doubles
        "scipy, one end": Bounds([end], [far]),
        "array": np.array([[end, far], [-far, end]], object),
        "tuples of arrays": (np.array([end, far], object), np.array([-far, end], object)),
    }[form]
    domain, number = read_bounds(given), exact(int(end) if isinstance(end, np.integer) else end)
    assert exact(float(domain.lo[0])) < number < exact(float(domain.inner_lo[0]))
    assert np.nextafter(domain.lo[0], INF) == domain.inner_lo[0]
    if domain.n == 2:
        assert exact(float(domain.inner_hi[1])) < number < exact(float(domain.hi[1]))


@pytest.mark.parametrize("kind", [np.int64, np.uint64])
def test_large_integers_of_numpy_are_bounds_as_they_are(kind: Any) -> None:
    n = 2**60 + 1
    for bounds in (np.array([[n, n + 600]], kind), Bounds(np.array([n], kind), np.array([n + 600], kind))):
        domain = read_bounds(bounds)
        assert int(domain.lo[0]) < n < int(domain.inner_lo[0])
        assert int(domain.inner_hi[0]) < n + 600 < int(domain.hi[0])


def test_bounds_of_scipy_may_be_missing_and_hold_for_all_variables() -> None:
    assert ends(read_bounds(Bounds(np.array([None, 0], object), np.inf)))[:2] == [[-INF, 0.0], [INF, INF]]
    assert ends(read_bounds(Bounds(0, 1), 2))[:2] == [[0.0, 0.0], [1.0, 1.0]]
    for lb, words in ((np.zeros((2, 2)), r"shape \(2, 2\)"), (np.longdouble([0.5]), "no number"), (["a"], "no number")):
        with pytest.raises(InvalidBounds, match=words):
            read_bounds(SimpleNamespace(lb=lb, ub=1.0))
