"""minimize: from a function and bounds to the enclosed minimum, in one straight line."""

from __future__ import annotations

import gc
import inspect
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from infimum.api import options
from infimum.api import unknown as api_unknown
from infimum.api.goals import FATOL, FTOL, XTOL, Default, goals, warn_if_unreachable
from infimum.api.interrupt import Interrupt
from infimum.api.progress import Display
from infimum.api.task import Objective, Task, read_task, traced
from infimum.contractors.contractor import foreign_names
from infimum.domain import Domain
from infimum.errors import InternalError
from infimum.interval.outward import FloatArray
from infimum.records.maximum import step_turned_back
from infimum.records.result import Result, result_of, result_under_way
from infimum.records.writing import trusted
from infimum.search import placed
from infimum.search.outcome import MEMORY_LIMIT, Options, Outcome, Progress

METHODS = tuple(placed.METHODS)
BACKENDS = ("auto", "cpu", "cuda")


def minimize(
    f_or_problem: Any = None,
    bounds: Any = None,
    *more: Any,
    args: Any = (),
    jac: Objective | None = None,
    x0: npt.ArrayLike | None = None,
    method: str | None = None,
    backend: str = "auto",
    batch: int | None = None,
    ftol: float | Default | None = FTOL,
    fatol: float | Default | None = FATOL,
    xtol: float | npt.ArrayLike | dict[int, float] | Default | None = XTOL,
    xrtol: float | npt.ArrayLike | dict[int, float] | None = None,
    max_iter: int | None = None,
    time_limit: float | None = None,
    max_regions: int | None = None,
    memory_limit: int | None = MEMORY_LIMIT,
    partition: Any = None,
    sampling: Any = None,
    selection: Any = None,
    contractors: Any = None,
    split: Any = None,
    maximize: bool = False,
    progress: bool | None = None,
    callback: Callable[[Result], Any] | None = None,
    threads: int | None = None,
    **unknown: Any,
) -> Result:
    """Enclose the global minimum of a function over a box, and every point where it is attained.

    f_or_problem   a function of an array x in NumPy style, or a problem such as infimum.problems.levy(1000)
    bounds         a pair (lo, hi) for each variable, or scipy.optimize.Bounds; None or infinities for no bound
    args           further arguments of the function (and of jac)
    jac            the gradient as a function of x, where a form with fewer repetitions of the variables is known: its
                   enclosures are met with the derived ones. The claim then rests on it, so it is compared at points of
                   the domain and on boxes of the search, and refused where the two contradict each other
    x0             a point that is tried first, or several as an array (k, n); local descents start from the best
    ftol, fatol    the goal for the value, [lower, upper] being the minimum enclosed (for a maximum, its negative):
                   upper - lower <= max(ftol * |upper|, fatol). ftol is relative to the minimum, 1e-6 by default; fatol
                   is in the function's own units, 1e-9 by default, and 0 for "relative alone"; ftol=0, fatol=1e-3 is
                   "absolute alone"; ftol=None switches this goal off, fatol with it
    xtol, xrtol    the goal for the boxes, only where given: each narrower than xtol, which is absolute, in the units of
                   the variables; than xrtol times hi - lo of the variable's bounds, which must be finite. A number for
                   all variables, one for each (None: any width), or {index: width}. Of both, the narrower one counts.
                   The search ends when all goals hold, and result.success says whether they do at the end;
                   method="paper" has the paper's goal instead, xtol=1e-4, and one for the value only where it is given
    max_iter, time_limit (seconds), max_regions, memory_limit (bytes)
                   limits: the search ends when any is reached, with a true enclosure. memory_limit is for the boxes or
                   regions that are kept, 2 GiB by default; None for no limit
    method         "auto": contract before you split; "paper": the method of Zhang, Shan and Cagan. Without a name, the
                   one that the other options belong to
    contractors    of "auto", what shrinks boxes: a name or a list of names of docs/contraction.md, such as "level"; ()
                   for none. A list may hold objects of your own (docs/extending.md): the claim then rests on them too,
                   and result.trust names them
    split          of "auto", where a box is cut: along "smear" (the variable in which the function changes most; the
                   default), another rule of docs/contraction.md such as "largest", or an object of your own
    partition      of "paper", where regions are cut: "paper" (4 equal parts of 10 variables at a time), "golden",
                   "logarithmic", or an object such as infimum.strategies.Uniform(parts=2, variables=5)
    sampling       of "paper", where good points are looked for: "paper", "midpoint", "grid", "latin", "random",
                   "local", an object such as infimum.strategies.Latin(count=100), or a list of them
    selection      of "paper", how many regions an iteration splits: "paper" (one), or an object such as
                   infimum.strategies.Best(count=8)
    maximize       enclose the maximum instead: result.maximum
    progress       a live line on the terminal: True, False, or None (after a second, where there is a terminal)
    callback       called with the result so far about every iteration; returning True ends the search
    threads        how many to use; None for as many as there are. The result does not depend on it
    backend        "cpu"; "cuda", NVIDIA GPUs with CuPy; or "auto": the CPU, unless a GPU is there and a short
                   measurement finds it faster. result.backend says what was chosen. The result does not depend on it
    batch          how many boxes an iteration of method "auto" takes at most; None for a quarter of those that wait,
                   1,024 to 65,536. Another number is another way to the result: other iterations, other last digits,
                   as true

    Ctrl-C ends the search with the result so far; a second one ends it at once. Searches may run in several threads
    and in forked or spawned processes at once: each has the result that it has alone.
    """
    started = time.perf_counter()
    api_unknown.refuse_more(more, "minimize(f, bounds, x0=…)")
    api_unknown.refuse(unknown, _KNOWN)
    strategies = (partition, sampling, selection)
    if method is None:
        controlled = contractors is not None or split is not None
        method = "auto" if controlled or all(s is None for s in strategies) else "paper"
    options.choice("method", method, METHODS)
    options.refuse_strategies(method, partition=partition, sampling=sampling, selection=selection)
    options.refuse_controls(method, contractors=contractors, split=split)
    options.choice("backend", backend, BACKENDS)
    options.refuse_batch(method, batch)
    options.called("callback", callback, "g where g(result) is called about every iteration")
    maximize, progress = bool(options.truth("maximize", maximize)), options.truth("progress", progress, none=True)
    task = read_task(f_or_problem, bounds, args, jac, maximize)
    goal = goals(method, ftol, fatol, xtol, xrtol, task.domain)
    asked = Options(
        xtol=goal.xtol,
        ftol=goal.ftol,
        fatol=goal.fatol,
        max_iter=options.count("max_iter", max_iter),
        time_limit=options.seconds("time_limit", time_limit),
        started=started,
        max_regions=options.count("max_regions", max_regions),
        memory_limit=options.count("memory_limit", memory_limit, "number of bytes"),
        x0=options.starts(x0, task.domain),
        threads=options.threads(threads),
        partition=options.partition(partition),
        sampling=options.sampling(sampling),
        selection=options.selection(selection),
        contractors=options.contractors(contractors),
        split=options.split(split),
        batch=options.count("batch", batch, none="a share of those that wait"),
    )
    options.refuse_endless(
        ftol=goal.ftol, xtol=goal.xtol, max_iter=asked.max_iter, time_limit=asked.time_limit,
        max_regions=asked.max_regions, callback=callback,
    )  # fmt: skip
    warn_if_unreachable(asked.xtol, task.domain)
    with np.errstate(all="ignore"):
        return _searched(task, asked, method, backend, maximize, progress, callback)


_KNOWN = tuple(
    name for name in inspect.signature(minimize).parameters if name not in ("f_or_problem", "more", "unknown")
)


def _searched(
    task: Task, asked: Options, method: str, backend: str, maximize: bool, progress: bool | None,
    callback: Callable[[Result], Any] | None,
) -> Result:  # fmt: skip
    """Trace the function, search, and return what is known."""
    with _uncollected():
        function, whole = traced(task), task.domain.pairs()
        function.watch.begin(task.domain.inner_lo, task.domain.inner_hi, asked.x0)
    trust = foreign_names(asked.contractors)
    run = placed.METHODS[method](backend, function, task.domain, asked)
    with Display(progress, run.choice.shown(function.name)) as display, Interrupt() as interrupt:

        def report(state: Progress) -> bool:
            """Show the state, ask the callback, and say whether to stop."""
            step = step_turned_back(state) if maximize else state
            display.name = run.choice.shown(function.name)
            display.update(step)
            so_far = callback is not None and callback(result_under_way(step, whole, maximize, run.choice.text, trust))
            return bool(so_far) or interrupt.requested

        outcome = _outcome(run, report, trust, task.jac)
        function.watch.end(_ends(outcome, task.domain))
    return result_of(outcome, maximize, run.choice.text, trust)


def _outcome(run: Any, report: Callable[[Progress], bool], trust: tuple[str, ...], jac: Any) -> Outcome:
    """Return what the search finds; a contradiction is the fault of something that the proof rests on."""
    try:
        found: Outcome = run.search(report)
    except InternalError as error:
        given = (*trust, *(() if jac is None else ("the gradient that was given as jac",)))
        fault = f"{trusted(given)} Look there first; or" if given else "This is a fault of infimum:"
        raise InternalError(f"{error} {fault} please report it with the function and the bounds.") from error
    return found


@contextmanager
def _uncollected() -> Iterator[None]:
    """Pause the collection of garbage, of which large expressions make none, and which takes a third of their time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _ends(outcome: Outcome, domain: Domain) -> Iterator[FloatArray]:
    """Yield the best point and the middles of some boxes that are left."""
    if outcome.x is not None:
        yield np.asarray(outcome.x, np.float64)
    boxes = np.asarray(outcome.boxes[:32], np.float64)
    for lo, hi in zip(boxes[..., 0], boxes[..., 1], strict=True):
        middle = np.clip(0.5 * lo + 0.5 * hi, domain.inner_lo, domain.inner_hi)
        if np.isfinite(middle).all():
            yield middle + 0.0
