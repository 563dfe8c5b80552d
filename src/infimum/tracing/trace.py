"""Tracing: from the user's function to a graph that denotes the same function of x."""

from __future__ import annotations

import inspect
import operator
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from infimum.concurrency import one_at_a_time
from infimum.errors import InfimumError, TraceError
from infimum.exact.number import Exact, ExactArray, staying_exact
from infimum.graph.node import Graph, Node, ancestors
from infimum.tracing.numpy.rules import FUNCTIONS, UFUNCS
from infimum.tracing.ranges import Ends
from infimum.tracing.refusal import line_of_error, recorded
from infimum.tracing.selected import Selected
from infimum.tracing.squares import described
from infimum.tracing.traced import TracedArray
from infimum.tracing.tracer import Tracer
from infimum.tracing.twins.plain import PlainTwins
from infimum.tracing.twins.twins import Twins
from infimum.tracing.values import is_symbolic

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Traced:
    """A function of n variables as the node `output` of a graph, and as it computes on plain numbers."""

    graph: Graph
    output: Node
    n: int
    source: str
    plain: Callable[[FloatArray], Any]  # the user's own function, exact constants as the nearest doubles
    has_exact: bool

    def numbers(self, points: Iterable[FloatArray]) -> list[FloatArray | None]:
        """Return the function's own values at points, None where it fails: outside its domain that is no fault."""
        with one_at_a_time(), np.errstate(all="ignore", invalid="warn"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.filterwarnings("error", message=".*in cast")  # a number beyond all integers has no value as one
            return [self._numbers(np.array(point, np.float64)) for point in points]

    def _numbers(self, point: FloatArray) -> FloatArray | None:
        try:
            value = np.asarray(self.plain(point))
            if value.dtype.kind not in "biufO" or value.size != self.output.size:
                return None
            return value.astype(np.float64).reshape(-1)
        except Exception:
            return None


def trace_graph(f: Callable[..., Any], n: int, args: tuple[Any, ...] = (), box: Ends | None = None) -> Traced:
    """Return the graph of f(x, *args) for x of shape (n,).

    box: the ends of the domain, arrays (n,), if it is known. The graph denotes f there: what NumPy makes of points
    outside is then not looked at.
    """
    return trace_with(_output, f, n, args, box)


def trace_vector(f: Callable[..., Any], n: int, args: tuple[Any, ...] = (), box: Ends | None = None) -> Traced:
    """Return the graph of a function that returns n numbers for x of shape (n,), such as a gradient."""
    return trace_with(_vector_output, f, n, args, box)


@one_at_a_time()
def trace_with(
    read: Callable[[Tracer, Any, Any], Node], f: Any, n: int, args: Any = (), box: Ends | None = None
) -> Traced:
    """Return the graph of what `read` finds in the function's result."""
    if not callable(f):
        raise TraceError(f"The objective must be a function of x, got {f!r}.")
    n = _count(n)
    args = args if isinstance(args, tuple) else (args,)
    tracer = Tracer(n, UFUNCS, FUNCTIONS, box)
    result = _run(tracer, f, args)
    output = read(tracer, f, result)
    source = _describe(f)
    if tracer.met_exact:
        numeric = PlainTwins(tracer)
        f, args = numeric.of(f), tuple(numeric.of(a) for a in args)
    return Traced(tracer.graph, output, n, source, lambda x: f(x, *args), tracer.met_exact)


def _count(n: Any) -> int:
    try:
        count = operator.index(n)
    except TypeError:
        raise TraceError(f"The number of variables must be a positive integer, got {n!r}.") from None
    if count < 1:
        raise TraceError(f"The number of variables must be positive, got {count}.")
    return count


def _run(tracer: Tracer, f: Any, args: tuple[Any, ...]) -> Any:
    twins = Twins(tracer)
    twin = twins.of(f)
    arguments = [twins.of(a) for a in args]
    try:
        with recorded(tracer.refusals), staying_exact():
            result = run_user_function(twin, tracer.variables(), arguments)
    except InfimumError as error:
        raise (tracer.refusals[0] if tracer.refusals else error) from None
    except Exception as error:
        if tracer.refusals:
            raise tracer.refusals[0] from None
        _note(error, described(f, tracer.n))
        raise
    finally:
        twins.clean()
    if tracer.refusals:
        raise tracer.refusals[0]
    return result


def run_user_function(f: Any, x: Any, args: list[Any]) -> Any:
    """Return f(x, *args); the frame that bears this name divides the user's lines from ours."""
    return f(x, *args)


def _note(error: Exception, what: str) -> None:
    """Add the user's line, and what x was, to an error of the user's function."""
    place = line_of_error(error)
    note = f"while tracing {what}" + (f", at {place}" if place else "")
    error.__notes__ = [*getattr(error, "__notes__", ()), note]  # as error.add_note does from Python 3.11 on


def _describe(f: Any) -> str:
    name = getattr(f, "__qualname__", None) or type(f).__qualname__
    try:
        inner = inspect.unwrap(f)
        file, line = inspect.getsourcefile(inner), inspect.getsourcelines(inner)[1]
    except (TypeError, ValueError, OSError, IndexError):  # IndexError: of doctest, for the function of another test
        return str(name)
    return f"{name} ({file}:{line})"


def _output(tracer: Tracer, f: Any, result: Any) -> Node:
    """Return the one number that the function returns.

    returned                      answer
    traced, one element           its node
    traced, several elements      refused: a vector
    None, text, list, …           refused: no number
    a number                      refused: a constant
    """
    name = getattr(f, "__name__", type(f).__name__)
    if result is None:
        raise TraceError(f"{name} returns None. Does it lack a return statement?")
    if isinstance(result, Selected) or (isinstance(result, TracedArray) and result.size != 1):
        shape = "of unknown length" if isinstance(result, Selected) else f"of shape {result.shape}"
        raise TraceError(f"{name} returns an array {shape}; an objective returns one number. Did you mean np.sum(...)?")
    if isinstance(result, list | tuple | dict | set):
        raise TraceError(f"{name} returns a {type(result).__name__}; an objective returns one number.")
    if isinstance(result, TracedArray) and is_symbolic(result):
        node = result.node
        if any(a.op == "x" for a in ancestors([node])):
            return node
        raise TraceError(f"{name} does not depend on x: it is a constant. Return a value computed from x.")
    if isinstance(result, int | float | np.generic | np.ndarray | Exact | ExactArray | TracedArray):
        raise TraceError(f"{name} does not depend on x: it returns {result!r}. Return a value computed from x.")
    raise TraceError(f"{name} returns {result!r}, which is no number.")


def _vector_output(tracer: Tracer, f: Any, result: Any) -> Node:
    """Return the n numbers that the function returns, expressions of x or not."""
    name = getattr(f, "__name__", type(f).__name__)
    if result is None:
        raise TraceError(f"{name} returns None. Does it lack a return statement?")
    if isinstance(result, Selected):
        raise TraceError(f"{name} returns an array of unknown length, where one of shape ({tracer.n},) is meant.")
    node, shape, _ = tracer.operand(result)
    if shape != (tracer.n,):
        raise TraceError(f"{name} returns an array of shape {shape}, where one of shape ({tracer.n},) is meant.")
    return tracer.sized(node, tracer.n)
