"""Steps: operations that are constant between their jumps, comparisons among them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from infimum.ops import nonfinite
from infimum.ops.record import Jump, Operation
from infimum.ops.slopes import flat, reversed_by


def _rounding(
    name: str, point: Callable[..., Any], formula: str, numpy: tuple[str, ...] = (), math: tuple[str, ...] = ()
) -> Operation:
    """Return an operation that rounds to integers."""
    return Operation(
        name=name,
        numpy=numpy,
        math=math,
        formula=formula,
        point=point,
        values="integers",
        monotone=True,
        jump=Jump(-1.0, 1.0, of="value"),
        whole=lambda a: a,
        ulps=0,
        facts="defined",
        slope=flat,
        reverse=reversed_by(f"{name}_rev"),
        zero="operand" if name == "floor" else "rounded",
    )


def _comparison(name: str, point: Callable[..., Any], numpy: str, commutative: bool = False) -> Operation:
    """Return a comparison, which is 1 where it holds and 0 where it does not."""
    return Operation(
        name=name,
        arity=2,
        numpy=(numpy,),
        point=point,
        values="truths",
        jump=Jump(0.0, 1.0),
        ulps=0,
        facts="defined",
        slope=flat,
        reverse=lambda op, a, c, data: (op(f"{name}_rev1", c, a[0], a[1]), op(f"{name}_rev2", c, a[0], a[1])),
        nonfinite=nonfinite.comparison,
        zero="positive",
        commutative=commutative,
        cheap=True,
    )


def _to_away(x: Any) -> Any:
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


STEPS = (
    Operation(
        name="sign",
        numpy=("sign",),
        formula="the sign -1, 0 or 1 of t",
        point=np.sign,
        values="signs",
        monotone=True,
        jump=Jump(-1.0, 1.0),
        ulps=0,
        facts="defined",
        slope=flat,
        reverse=reversed_by("sign_rev"),
        zero="positive",
    ),
    _rounding("floor", np.floor, "the largest integer <= t", ("floor",), ("floor",)),
    _rounding("ceil", np.ceil, "the smallest integer >= t", ("ceil",), ("ceil",)),
    _rounding("trunc", np.trunc, "t rounded towards zero to an integer", ("trunc", "fix"), ("trunc",)),
    _rounding(
        "round_ties_to_even", np.rint, "the integer nearest to t, the even one of two", ("rint", "round", "around")
    ),
    _rounding("round_ties_to_away", _to_away, "the integer nearest to t, the larger in size of two"),
    _comparison("is_less", np.less, "less"),
    _comparison("is_less_equal", np.less_equal, "less_equal"),
    _comparison("is_equal", np.equal, "equal", commutative=True),
)
