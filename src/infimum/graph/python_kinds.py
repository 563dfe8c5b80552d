"""Python's own numbers among the expressions: float(x[0]), int(x[0]), x[0].item() and what operators make of them.

They raise errors where NumPy gives infinities, know no overflow of integers, and add truth values as integers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from infimum.graph.kinds import type_of, with_kind
from infimum.graph.refusal import refusal
from infimum.graph.traced import TracedArray

if TYPE_CHECKING:
    from infimum.graph.tracer import Tracer

_RAISING = {
    np.true_divide: "/", np.floor_divide: "//", np.remainder: "%", np.divmod: "divmod", np.power: "**",
    np.floor: "math.floor", np.ceil: "math.ceil", np.trunc: "math.trunc",
}  # fmt: skip
_WHOLE = frozenset({np.floor, np.ceil, np.trunc})
_COMPARISONS = frozenset({np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal})
_BITS = frozenset({np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert})


def operator(t: Tracer, ufunc: np.ufunc, rule: Any, values: tuple[Any, ...]) -> Any:
    """An operator between Python's numbers.

        operator          operands        result
        < <= == …         any             B
        & | ^             B, B            B; of integers refused
        /                 any             F
        floor ceil trunc  any             I
        **                I, I            I, F where the exponent is known and negative; refused where it varies
        others            a float         F, else I
    """
    types = [type_of(value) for value in values]
    if ufunc in _RAISING:
        t.may_raise(_RAISING[ufunc])
    if ufunc in _BITS:
        if ufunc is np.invert or any(kind is not bool for kind in types):
            raise refusal("This operator works on the bits of integers.", "Use it between NumPy's conditions.")
        return with_kind(t, rule(t, *(_numpy(t, v) for v in values)), "B")
    numbers = [_number(t, value) for value in values]
    found = rule(t, *numbers)
    if ufunc in _COMPARISONS:
        return with_kind(t, found, "B")
    kind = "I" if ufunc in _WHOLE or float not in types else "F"
    if ufunc is np.true_divide or (ufunc is np.power and kind == "I" and _falls(*values)):
        kind = "F"
    if isinstance(found, tuple):
        return tuple(with_kind(t, part, kind) for part in found)
    return with_kind(t, found, kind)


def _number(t: Tracer, value: Any) -> Any:
    """A Python number as a real; truth values count as 0 and 1."""
    if type(value) is TracedArray:
        return with_kind(t, value, "f")
    return int(value) if type(value) is bool else value


def _numpy(t: Tracer, value: Any) -> Any:
    return with_kind(t, value, "b") if type(value) is TracedArray else np.bool_(value)


def _falls(base: Any, exponent: Any) -> bool:
    if type(exponent) is TracedArray:
        raise refusal("A power of integers with an exponent that varies is not offered.", "Write float(a)**b.")
    return bool(exponent < 0)
