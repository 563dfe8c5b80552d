"""infimum finds the global minimum of a function and proves it."""

from infimum import problems
from infimum.api import minimize
from infimum.exact import e, exact, pi
from infimum.function import trace
from infimum.interval import Interval

__all__ = ["Interval", "e", "exact", "minimize", "pi", "problems", "trace"]
