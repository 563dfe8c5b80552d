"""infimum finds the global minimum of a function and proves it."""

from infimum import problems
from infimum.api.minimize import minimize
from infimum.exact.number import e, exact, pi
from infimum.function.function import trace
from infimum.interval import Interval

__all__ = ["Interval", "e", "exact", "minimize", "pi", "problems", "trace"]
