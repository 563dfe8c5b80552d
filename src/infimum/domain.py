"""The user's bounds, read and checked: the set over which the minimum is claimed.

A bound that is no double (pi, 1/3) has a double on either side. The search covers the outward-rounded domain, so that
nothing is lost; a point that bears witness for an upper bound lies in the inward-rounded one, so that it is allowed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from infimum.errors import InfimumError, InvalidBounds
from infimum.interval.outward import INF, FloatArray, frozen
from infimum.interval.reading import as_array, describe, ends

_HOW = "Write one pair for each variable, such as bounds=[(-1, 1)] * n."
_NUMBER = (int, float, np.number)


@dataclass(frozen=True, eq=False, repr=False)
class Domain:
    """A box of n variables: lo and hi contain the user's, which contains inner_lo and inner_hi. Nobody writes to it."""

    lo: FloatArray
    hi: FloatArray
    inner_lo: FloatArray
    inner_hi: FloatArray

    def __post_init__(self) -> None:
        for array in (self.lo, self.hi, self.inner_lo, self.inner_hi):
            array.flags.writeable = False

    @property
    def n(self) -> int:
        """Return the number of variables."""
        return self.lo.size

    def contains(self, point: npt.ArrayLike) -> bool:
        """Say whether the point certainly lies within the user's bounds."""
        x = np.asarray(point, np.float64)
        inside = (self.inner_lo <= x) & (x <= self.inner_hi) & np.isfinite(x)
        return x.shape == self.lo.shape and bool(inside.all())

    def pairs(self) -> FloatArray:
        """Return the outward-rounded box as an array (n, 2)."""
        return np.stack([self.lo, self.hi], axis=-1)

    def __repr__(self) -> str:
        shown = [f"[{lo!r}, {hi!r}]" for lo, hi in zip(self.lo[:3].tolist(), self.hi[:3].tolist(), strict=True)]
        rest = f" and {self.n - 3} more" if self.n > 3 else ""
        return f"<Domain {' x '.join(shown)}{rest}>"


def read_bounds(bounds: Any, n: int | None = None) -> Domain:
    """Return the domain that the bounds describe, of n variables where n is given.

    Bounds are pairs (lo, hi), an array (n, 2) or scipy.optimize.Bounds, of numbers and exact constants; None or an
    infinity means no bound. Where n is given, a single pair holds for every variable.
    """
    lower, upper = _columns(bounds, n)
    if n is not None and lower.down.size != n:
        given = lower.down.size
        raise InvalidBounds(f"The function has {n} variables, and bounds were given for {given}. {_HOW}")
    _refuse_empty(lower, upper)
    return Domain(frozen(lower.down), frozen(upper.up), frozen(lower.up), frozen(upper.down))


class _Ends(NamedTuple):
    """Bounds with the double below (or equal) and the double above (or equal) each."""

    down: FloatArray
    up: FloatArray


def _columns(bounds: Any, n: int | None) -> tuple[_Ends, _Ends]:
    # | given                     | read as                       |
    # | has .lb and .ub (SciPy)   | two columns, broadcast        |
    # | one pair of numbers, n    | that pair n times             |
    # | array (n, 2) of numbers   | its columns                   |
    # | anything that iterates    | one pair after the other      |
    if hasattr(bounds, "lb") and hasattr(bounds, "ub"):
        return _broadcast(bounds.lb, bounds.ub, n)
    if isinstance(bounds, np.ndarray) and bounds.dtype.kind in "fiu":
        return _from_array(bounds, n)
    if not isinstance(bounds, Iterable) or isinstance(bounds, str | dict):
        raise InvalidBounds(f"bounds={describe(bounds)} are no bounds. {_HOW}")
    pairs = list(bounds)
    if n is not None and len(pairs) == 2 and all(_is_bound(value) for value in pairs):
        pairs = [tuple(pairs)] * n
    if n is None and len(pairs) == 2 and all(_is_bound(value) for value in pairs):
        lo, hi = map(describe, pairs)
        raise InvalidBounds(f"bounds=({lo}, {hi}) are two numbers. For one variable write bounds=[({lo}, {hi})].")
    if not pairs:
        raise InvalidBounds(f"bounds={describe(bounds)}: there is no variable. {_HOW}")
    return _from_pairs(pairs)


def _is_bound(value: Any) -> bool:
    """Say whether the value is a single number, an exact constant or None, and no pair."""
    return value is None or isinstance(value, _NUMBER) or (hasattr(value, "__float__") and not hasattr(value, "shape"))


def _broadcast(lb: Any, ub: Any, n: int | None) -> tuple[_Ends, _Ends]:
    columns = [_column(lb, -INF, "lower"), _column(ub, INF, "upper")]
    sizes = [column.down.size for column in columns]
    size = n if n is not None and sizes == [1, 1] else max(sizes)
    try:
        lower, upper = (_Ends(*(np.broadcast_to(end, (size,)) for end in column)) for column in columns)
    except ValueError:
        shapes = " and ".join(str(column.down.shape) for column in columns)
        raise InvalidBounds(f"Bounds(lb, ub) have shapes {shapes}. Give one length to both.") from None
    return lower, upper


def _column(given: Any, missing: float, side: str) -> _Ends:
    """Read one side of all bounds: an array of doubles or integers at once, other numbers one by one."""
    array = given if isinstance(given, np.ndarray) else as_array(given)
    if array.dtype.kind in "biuf" and array.ndim <= 1 and array.dtype.itemsize <= 8:
        return _Ends(*(np.atleast_1d(end) for end in ends(array)))
    if array.ndim > 1:
        raise InvalidBounds(f"The {side} bounds have shape {array.shape}, where (n,) is meant.")
    read = [_read_bound(value, missing, side, i) for i, value in enumerate(np.atleast_1d(array))]
    table = np.array(read).reshape(-1, 2)
    return _Ends(table[:, 0], table[:, 1])


def _from_array(bounds: npt.NDArray[Any], n: int | None) -> tuple[_Ends, _Ends]:
    if n is not None and bounds.shape == (2,):
        bounds = np.broadcast_to(bounds, (n, 2))
    if bounds.ndim != 2 or bounds.shape[1] != 2 or not bounds.size:
        raise InvalidBounds(f"bounds have shape {bounds.shape}, where (n, 2) is meant: a row (lo, hi) a variable.")
    down, up = ends(bounds)
    return _Ends(down[:, 0], up[:, 0]), _Ends(down[:, 1], up[:, 1])


def _from_pairs(pairs: list[Any]) -> tuple[_Ends, _Ends]:
    # [(0, pi)] * n holds one pair n times: each object is read once, where it stands first.
    objects = np.fromiter(map(id, pairs), np.int64, len(pairs))
    _, first, which = np.unique(objects, return_index=True, return_inverse=True)
    read = {i: _read_pair(pairs[i], i) for i in sorted(first.tolist())}
    table = np.array([read[i] for i in first.tolist()])[which]
    return _Ends(table[:, 0], table[:, 1]), _Ends(table[:, 2], table[:, 3])


def _read_pair(pair: Any, i: int) -> tuple[float, float, float, float]:
    try:
        lo, hi = pair
    except (TypeError, ValueError):
        raise InvalidBounds(f"The bounds of variable {i} are {describe(pair)}, which is no pair. {_HOW}") from None
    return (*_read_bound(lo, -INF, "lower", i), *_read_bound(hi, INF, "upper", i))


def _read_bound(value: Any, missing: float, side: str, i: int) -> tuple[float, float]:
    if value is None:
        return missing, missing
    try:
        down, up = ends(value)
        return float(down), float(up)
    except (InfimumError, TypeError) as error:
        raise InvalidBounds(
            f"The {side} bound of variable {i} is {describe(value)}, which is no number. "
            "Give an int, a float, an exact constant such as infimum.pi or infimum.exact('0.1'), or None."
        ) from error


def _refuse_empty(lower: _Ends, upper: _Ends) -> None:
    """Refuse bounds that leave a variable no double."""
    # | the first row that holds                      | said                              |
    # | a bound is NaN                                | no number                         |
    # | lo > hi, even after rounding outward          | the lower exceeds the upper       |
    # | lo = +inf or hi = -inf                        | no real number is there           |
    # | no double between them                        | the same, and what to do instead  |
    lo, hi, inner_lo, inner_hi = lower.down, upper.up, lower.up, upper.down
    _refuse(np.isnan(lo) | np.isnan(hi), lo, hi, "NaN is no number. For no bound write None")
    _refuse(lo > hi, lo, hi, "the lower one is larger than the upper one. Exchange them")
    _refuse((inner_lo == INF) | (inner_hi == -INF), lo, hi, "no real number of a double's size lies between them")
    _refuse(
        inner_lo > inner_hi, lo, hi,
        "no double lies between the exact bounds. Leave the variable out and write the constant into the function",
    )  # fmt: skip


def _refuse(wrong: npt.NDArray[np.bool_], lo: FloatArray, hi: FloatArray, why: str) -> None:
    if wrong.any():
        i = int(np.argmax(wrong))
        others = f" (and {int(wrong.sum()) - 1} more)" if wrong.sum() > 1 else ""
        pair = f"({float(lo[i])!r}, {float(hi[i])!r})"
        raise InvalidBounds(f"The bounds of variable {i}{others} are {pair}: {why}.")
