"""The user's own gradient: a second enclosure of the true one, which may be tighter than the derived one.

Both contain the gradient wherever the function is smooth and the user's formula is defined, so their intersection does.
Where that is empty one of them is no gradient of the function, and it is not the derived one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from infimum.backends import cpu
from infimum.concurrency import cached_property
from infimum.errors import InvalidJacobian
from infimum.function.watch import Comparison
from infimum.graph.node import Node
from infimum.graph.payload import is_number
from infimum.passes.facts import facts
from infimum.passes.lowering.lower import lower
from infimum.passes.lowering.program import Program
from infimum.passes.reroll import reroll
from infimum.passes.simplify import simplify
from infimum.tracing.trace import Traced, trace_vector

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Pair = tuple[FloatArray, FloatArray]


def trace_jacobian(
    jac: Callable[..., Any], n: int, args: Sequence[Any] = (), box: Pair | None = None
) -> tuple[Jacobian, list[Comparison]]:
    """Turn a NumPy function that returns n partial derivatives into one that can be enclosed; and what watches it."""

    def again() -> Traced:
        return trace_vector(jac, n, tuple(args), box)

    traced = again()
    (rolled,) = reroll(traced.graph, [traced.output])
    return Jacobian(rolled, n), [Comparison(traced, rolled, again)]


class Jacobian:
    """The n partial derivatives that the user wrote down; made by `trace_jacobian`."""

    def __init__(self, output: Node, n: int) -> None:
        self.n = n
        self._build, (made,) = simplify([output], n)
        self.node = self._build.full(made, n)

    @cached_property
    def is_defined_everywhere(self) -> bool:
        """Return whether they are defined on all reals, by their operations alone."""
        return is_number(facts(self._build, self.node)[0], 1.0)

    @cached_property
    def outputs(self) -> tuple[Node, Node]:
        """Return the partial derivatives, and whether they are certainly defined."""
        return self.node, facts(self._build, self.node)[0]

    @cached_property
    def program(self) -> Program:
        """Return what encloses both outputs."""
        return lower(list(self.outputs), self.n)

    def met(self, lo: FloatArray, hi: FloatArray, derived: Pair, smooth: BoolArray, threads: int = 1) -> Pair:
        """Meet a derived gradient (k, n) with the given one on the boxes (k, n) where the function is smooth.

        Guarantee: contains every gradient of the function there, if the user's formula is one; elsewhere as derived.
        """
        (low, high), (defined, _) = cpu.run(self.program, lo, hi, "interval", threads=threads)
        return intersection((lo, hi), derived, (low, high), smooth & (defined[:, 0] == 1.0))


def intersection(boxes: Pair, derived: Pair, given: Pair, sure: BoolArray) -> Pair:
    """Meet both gradients' enclosures (k, n) where the user's formula is sure to be one (k,); else keep the derived."""
    (low, high), usable = given, sure[:, None]
    bottom = np.where(usable, np.maximum(low, derived[0]), derived[0])
    top = np.where(usable, np.minimum(high, derived[1]), derived[1])
    wrong = usable & (bottom > top)
    if wrong.any():
        k, i = (int(v[0]) for v in np.nonzero(wrong))
        side, own, users = ((ends[0][k, i], ends[1][k, i]) for ends in (boxes, derived, given))
        raise refusal(i, side, own, users)
    return bottom, top


def refusal(variable: int, side: Sequence[float], derived: Sequence[float], given: Sequence[float]) -> InvalidJacobian:
    """Return the error that a user's derivative deserves which cannot be one where x lies in `side`."""
    return InvalidJacobian(
        f"jac gives a derivative by variable {variable} in {_range(given)} on a box where the function's own lies in "
        f"{_range(derived)}, so it is not its gradient. There x[{variable}] is in {_range(side)}. Correct jac, or "
        "leave it out."
    )


def _range(ends: Sequence[float]) -> str:
    lo, hi = ends
    return f"[{float(lo)!r}, {float(hi)!r}]"
