"""The paper's functions moved and turned: f(x - s + c) and f(R (x - s) + c), where c minimises f.

s lies in the middle half of the domain; R is orthogonal but for its rounding. Both are rounded to multiples of 2^-40:
coarse enough that every machine draws the same numbers, and fine enough that no bisection hits s by luck. At x = s the
argument is c without any rounding: the minimum is that of f, and s attains it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from infimum.problems import paper
from infimum.problems.problem import Problem, problem

FloatArray = npt.NDArray[np.float64]
_SEED = 20_241_107


def shifted(name: str) -> Callable[[int], Problem]:
    """Return the maker of a function of the paper, moved."""

    def maker(n: int) -> Problem:
        """Moved by a vector inside the domain."""
        plain = getattr(paper, name)(n)
        s, c, f = shift(plain), np.asarray(plain.minimiser, np.float64), plain.f
        return problem(f"s{name}", n, lambda x: f(_plus(x - s, c)), plain.bounds[0], plain.minimum, s)

    return maker


def rotated(name: str) -> Callable[[int], Problem]:
    """Return the maker of a function of the paper, moved and turned."""

    def maker(n: int) -> Problem:
        """Moved by a vector inside the domain, and turned by an orthogonal matrix."""
        plain = getattr(paper, name)(n)
        s, c, f, r = shift(plain), np.asarray(plain.minimiser, np.float64), plain.f, rotation(n)
        return problem(f"rot{name}", n, lambda x: f(_plus(r @ (x - s), c)), plain.bounds[0], plain.minimum, s)

    return maker


def _plus(x: Any, c: FloatArray) -> Any:
    return x + c if c.any() else x


def shift(plain: Problem) -> FloatArray:
    """Return where the minimiser is moved to."""
    lo, hi = (float(end) for end in plain.bounds[0])
    drawn = np.random.default_rng((_SEED, plain.n)).uniform(0.75 * lo + 0.25 * hi, 0.25 * lo + 0.75 * hi, plain.n)
    return _rounded(drawn)


def rotation(n: int) -> FloatArray:
    """Return an orthogonal matrix, up to its rounding."""
    q, r = np.linalg.qr(np.random.default_rng((_SEED, n, 1)).standard_normal((n, n)))
    return _rounded(q * np.sign(np.diag(r)))


def _rounded(drawn: FloatArray) -> FloatArray:
    return np.asarray(np.round(drawn * 2.0**40) / 2.0**40, np.float64)
