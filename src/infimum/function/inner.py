"""What a function is an increasing function of: f = H(S), S a Function of its own."""

from __future__ import annotations

from typing import NamedTuple

from infimum.function.function import Function
from infimum.function.outer import FloatArray, Increasing


class Inner(NamedTuple):
    """f = H(S): the function S, and H."""

    function: Function
    increasing: Increasing

    def most(self, upper: FloatArray) -> FloatArray:
        """Return what S may be at most where f may be at most `upper` (k,)."""
        return self.increasing.most(upper, self.function.place)

    def least(self, lower: FloatArray) -> FloatArray:
        """Return what f is at least where S is at least `lower` (k,)."""
        return self.increasing.least(lower, self.function.place)


def inner(function: Function) -> Inner | None:
    """Return S and H, the longest H that is seen; None where f is no increasing function of anything but itself."""
    longest = function.programs.chains[0]
    if longest.outer is None:
        return None
    below = Function(longest.inner, function.n, f"what {function.name} is a function of").on(function.place)
    return Inner(below, Increasing(longest.outer))
