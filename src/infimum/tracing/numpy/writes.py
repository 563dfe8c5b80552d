"""Functions that write into an array: copyto, put, putmask, fill_diagonal, add.at."""

from __future__ import annotations

from typing import Any

import numpy as np

from infimum.tracing.refusal import refusal
from infimum.tracing.tracer import Rule, Tracer
from infimum.tracing.values import plain


def _copyto(t: Tracer, dst: Any, src: Any, where: Any = True) -> None:
    if where is not True:
        src = t.call(np.where, (where, src, dst), {})
    t.into(dst, src)


def _fill_diagonal(t: Tracer, a: Any, val: Any) -> None:
    if np.ndim(val):
        raise refusal("np.fill_diagonal with an array is not offered.", "Write a[range(n), range(n)] = values.")
    rows = np.arange(min(np.shape(a)))
    t.assign(a, (rows,) * np.ndim(a), val)


def _put(t: Tracer, a: Any, ind: Any, v: Any) -> None:
    at, values = np.asarray(plain(ind)), t.traced(v)
    if values.size not in (1, at.size):
        raise refusal("np.put with fewer values than places is not offered.", "Give one value for each place.")
    t.assign(a.part(a.positions().ravel()), at.ravel(), values.reshape(-1))


def _putmask(t: Tracer, a: Any, mask: Any, values: Any) -> None:
    if np.ndim(values):
        raise refusal(
            "np.putmask and np.place with several values are not offered.", "Write np.where(mask, values, a)."
        )
    t.assign(a, ..., t.call(np.where, (mask, values, a), {}))


for _writes in (_copyto, _fill_diagonal, _put, _putmask):
    _writes.keeps_views = True  # type: ignore[union-attr]


def _add_at(t: Tracer, a: Any, indices: Any, b: Any) -> None:
    """np.add.at: an index that comes twice adds twice."""
    places = a.positions()[plain(indices)]
    wide = t.call(np.broadcast_to, (t.traced(b), np.shape(places)), {}).reshape(-1)
    for k, place in enumerate(np.ravel(places)):
        one = a.part(np.array([place]))
        t.into(one, one + wide[k])


FUNCTIONS: dict[Any, Rule] = {
    np.putmask: _putmask, np.place: _putmask, np.copyto: _copyto, np.fill_diagonal: _fill_diagonal, np.put: _put,
    (np.add, "at"): _add_at,
}  # fmt: skip
