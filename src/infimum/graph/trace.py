"""Tracing: from the user's function to a graph that denotes the same function of x."""

from __future__ import annotations

import inspect
import operator
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from infimum.errors import InfimumError, TraceError
from infimum.exact import Exact, ExactArray, staying_exact
from infimum.graph.evaluate import evaluate
from infimum.graph.node import Graph, Node, ancestors
from infimum.graph.numeric_twins import NumericTwins
from infimum.graph.numpy_rules import FUNCTIONS, UFUNCS
from infimum.graph.ranges import Ends
from infimum.graph.refusal import place_of_error, recorded
from infimum.graph.selected import Selected
from infimum.graph.traced import TracedArray
from infimum.graph.tracer import Tracer
from infimum.graph.twins import Twins
from infimum.graph.values import is_symbolic

FloatArray = npt.NDArray[np.float64]

_NOISE = 1e-13  # relative, per operation: a few hundred roundings
_CANDIDATES = ((0.1, 0.9), (-1.0, 1.0), (1.0, 3.0), (-5.0, 5.0), (0.0, 1e-2), (-100.0, 100.0), (2.0, 50.0), (-0.4, 0.1))
_POINTS = 3


@dataclass(frozen=True)
class Traced:
    """A function of n variables as the node `output` of a graph."""

    graph: Graph
    output: Node
    n: int
    source: str


def trace_graph(f: Callable[..., Any], n: int, args: tuple[Any, ...] = (), box: Ends | None = None) -> Traced:
    """Return the graph of f(x, *args) for x of shape (n,), agreeing with f at a few points.

    box: the ends of the domain, arrays (n,), if it is known. The graph denotes f there: what NumPy makes of points
    outside is then not looked at.
    """
    return _traced(f, n, args, box, _output)


def trace_vector(f: Callable[..., Any], n: int, args: tuple[Any, ...] = (), box: Ends | None = None) -> Traced:
    """Return the graph of a function that returns n numbers for x of shape (n,), such as a gradient; likewise."""
    return _traced(f, n, args, box, _vector_output)


def _traced(f: Any, n: int, args: Any, box: Ends | None, read: Callable[[Tracer, Any, Any], Node]) -> Traced:
    if not callable(f):
        raise TraceError(f"The objective must be a function of x, got {f!r}.")
    n = _count(n)
    args = args if isinstance(args, tuple) else (args,)
    tracer = Tracer(n, UFUNCS, FUNCTIONS, box)
    result = _run(tracer, f, args)
    output = read(tracer, f, result)
    traced = Traced(tracer.graph, output, n, _describe(f))
    if tracer.met_exact:
        numeric = NumericTwins(tracer)
        f, args = numeric.of(f), tuple(numeric.of(a) for a in args)
    _compare(traced, f, args)
    return traced


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
        _note(error, tracer.n)
        raise
    finally:
        twins.clean()
    if tracer.refusals:
        raise tracer.refusals[0]
    return result


def run_user_function(f: Any, x: Any, args: list[Any]) -> Any:
    """f(x, *args); the frame that bears this name divides the user's lines from ours."""
    return f(x, *args)


def _note(error: Exception, n: int) -> None:
    """Add the user's line, and what x was, to an error of the user's function."""
    place = place_of_error(error)
    note = f"while tracing the objective with n = {n} variables (x.shape == ({n},))" + (
        f", at {place}" if place else ""
    )
    if hasattr(error, "add_note"):
        error.add_note(note)
    else:
        error.__notes__ = [note]


def _describe(f: Any) -> str:
    name = getattr(f, "__qualname__", None) or type(f).__qualname__
    try:
        file, line = inspect.getsourcefile(f), inspect.getsourcelines(f)[1]
    except (TypeError, OSError, IndexError):  # IndexError: of doctest, for the function of another test
        return str(name)
    return f"{name} ({file}:{line})"


def _output(tracer: Tracer, f: Any, result: Any) -> Node:
    """The one number that the function returns.

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
    """The n numbers that the function returns, expressions of x or not."""
    name = getattr(f, "__name__", type(f).__name__)
    if result is None:
        raise TraceError(f"{name} returns None. Does it lack a return statement?")
    if isinstance(result, Selected):
        raise TraceError(f"{name} returns an array of unknown length, where one of shape ({tracer.n},) is meant.")
    node, shape, _ = tracer.operand(result)
    if shape != (tracer.n,):
        raise TraceError(f"{name} returns an array of shape {shape}, where one of shape ({tracer.n},) is meant.")
    return tracer.sized(node, tracer.n)


def _compare(traced: Traced, f: Any, args: tuple[Any, ...]) -> None:
    """Refuse a graph that disagrees with the function: hidden state, randomness, time."""
    weight = sum(node.size for node in ancestors([traced.output]))
    wanted, noisy = (_POINTS, 2) if weight < 2_000_000 else (1, 1)
    points, values = _samples(f, traced.n, args, wanted, traced.output.size)
    if not len(points):
        return
    columns = np.repeat(points, 1 + noisy, axis=0)
    noise = np.tile([0.0] + [_NOISE] * noisy, len(points))
    (found,) = evaluate([traced.output], columns, noise)
    table = found.reshape(len(points), 1 + noisy, traced.output.size)
    for value, rows in zip(values, table, strict=True):
        spread = np.max(np.abs(rows[1:] - rows[0]), axis=0)
        lost = np.isnan(rows).any(0) & ~np.isnan(rows[0])  # undefined right beside the point
        wrong = ~lost & ~(np.abs(rows[0] - value) <= 1e-9 * np.abs(value) + 100.0 * spread + 1e-300)
        if wrong.any():
            i = int(np.argmax(wrong))
            raise TraceError(
                f"{traced.source} gives {float(value[i])!r} where its traced formula gives {float(rows[0, i])!r}.\n"
                "  The function seems to keep a hidden state, to use random numbers or the time, or to depend on "
                "the type of x.\n  Let its value depend on x alone."
            )


def _samples(f: Any, n: int, args: tuple[Any, ...], wanted: int, size: int) -> tuple[FloatArray, list[FloatArray]]:
    """Points where the function is finite, and its values there."""
    draw = np.random.default_rng(20_240_607)
    points: list[FloatArray] = []
    values: list[FloatArray] = []
    for low, high in _CANDIDATES:
        point = draw.uniform(low, high, n)
        value = _numbers(f, point.copy(), args, size)
        if value is not None and np.isfinite(value).all():
            points.append(point)
            values.append(value)
        if len(points) == wanted:
            break
    return np.array(points).reshape(-1, n), values


def _numbers(f: Any, point: FloatArray, args: tuple[Any, ...], size: int) -> FloatArray | None:
    """The function's values, or None where it fails: a point outside its domain is no fault."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = np.asarray(f(point, *args), np.float64)
    except Exception:
        return None
    return value.reshape(-1) if value.size == size else None
