"""infimum finds the global minimum of a function and proves it.

minimize                enclose the global minimum of a function over a box: a Result with a Status
fit, least_squares      the least sum of squares of a model of measurements, enclosed: a Fit
trace                   a function of NumPy's as one that encloses its values and slopes over boxes
Interval                a closed set of real numbers, alone or in arrays; infimum.interval has IEEE 1788's functions
exact, pi, e            numbers that are no doubles
problems                functions with known minima: infimum.problems.levy(1000)
contractors, strategies what shrinks boxes, and where they are cut and sampled
errors                  every refusal is an InfimumError
"""

from typing import TYPE_CHECKING, Any

from infimum import contractors, errors, interval
from infimum.api.minimize import minimize
from infimum.errors import InfimumError, InvalidBounds, InvalidOption, TraceError
from infimum.exact.number import e, exact, pi
from infimum.function.function import Function, trace
from infimum.interval import Interval
from infimum.records.result import Result
from infimum.search.status import Status
from infimum.version import __version__

if TYPE_CHECKING:
    from infimum import problems, strategies
    from infimum.api.fit import fit, least_squares
    from infimum.records.fit import Fit

__all__ = [
    "Fit", "Function", "InfimumError", "Interval", "InvalidBounds", "InvalidOption", "Result", "Status", "TraceError",
    "__version__", "contractors", "e", "errors", "exact", "fit", "interval", "least_squares", "minimize", "pi",
    "problems", "strategies", "trace",
]  # fmt: skip

# Rooms and names that not every program needs, and where they are.
_LATER = {"fit": "api.fit", "least_squares": "api.fit", "Fit": "records.fit", "problems": "", "strategies": ""}


def __getattr__(name: str) -> Any:
    """Import what not every program needs when it is first asked for."""
    if name not in _LATER:
        raise AttributeError(f"module 'infimum' has no attribute {name!r}")
    import importlib

    room = importlib.import_module(f"infimum.{_LATER[name] or name}")
    return getattr(room, name) if _LATER[name] else room


def __dir__() -> list[str]:
    return __all__
