"""Whether a search reached its goals: decided here alone, from its final numbers (PROOF).

What the search believed when it put a box away, or stopped, does not count.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from infimum.search.contradiction import refuse_contradiction
from infimum.search.goals import Goals, can_be_cut, is_wide
from infimum.search.outcome import Missed, Outcome
from infimum.search.product import Answers
from infimum.search.status import Status

FloatArray = npt.NDArray[np.float64]

_STUCK = "cannot be split further: no double lies between its ends"
_UNBOUNDED = "and the function's enclosure there is unbounded"
_LOOSE = "and a tighter enclosure of the function is not known there"
_SUM = "is known as tightly as asked for, but the sum over all blocks is not: their bounds, rounded, are too far apart"
_ENDED = "was not split further"


def judged(outcome: Outcome, goals: Goals) -> Outcome:
    """Return the outcome with the status that its numbers deserve.

    Given, outcome.status says how the search ended: RUNNING, at a limit, or PROVED where nothing was left to do.
    """
    # | proof | boxes | point | goals  | ended at    | status                                                         |
    # |       |       |       |        | RUNNING     | as it is                                                       |
    # | yes   |       |       |        |             | that of the proof                                              |
    # | no    | none  | no    |        |             | UNDEFINED                                                      |
    # | no    | none  | yes   |        |             | a fault: the point is a minimiser, or there are better ones    |
    # | no    | some  | no    |        | a limit     | the limit                                                      |
    # | no    | some  | no    |        | itself      | NO_POINT                                                       |
    # | no    | some  | yes   | met    | the user    | INTERRUPTED; any other limit, where there is no goal at all    |
    # | no    | some  | yes   | met    | anything    | PROVED                                                         |
    # | no    | some  | yes   | missed | a limit     | the limit                                                      |
    # | no    | some  | yes   | missed | itself      | GOAL_MISSED                                                    |
    ended = outcome.status
    if ended == Status.RUNNING:
        return outcome
    if outcome.proof is not None:
        return replace(outcome, status=outcome.proof.status)
    refuse_contradiction(_count(outcome), outcome.x, outcome.lower, outcome.upper)
    if not _count(outcome):
        return replace(outcome, status=Status.UNDEFINED)
    if outcome.x is None:
        return replace(outcome, status=ended if ended.is_limit else Status.NO_POINT)
    missed = _missed(outcome, goals)
    if missed is None:
        keeps = ended == Status.INTERRUPTED or (ended.is_limit and goals.are_none)
        return replace(outcome, status=ended if keeps else Status.PROVED)
    return replace(outcome, status=ended if ended.is_limit else Status.GOAL_MISSED, missed=missed)


def _count(outcome: Outcome) -> int:
    return len(outcome.boxes) if outcome.product is None else outcome.product.count()


def _answers(outcome: Outcome) -> tuple[Answers, ...]:
    """Return the boxes by blocks; a search that separated nothing has one block."""
    if outcome.product is not None:
        return outcome.product.answers
    boxes, starts = outcome.boxes, np.array([0, len(outcome.boxes)])
    return (
        Answers(
            np.arange(boxes.shape[1])[None], starts, boxes[:, :, 0], boxes[:, :, 1], outcome.lower_bounds,
            np.array([outcome.upper]), np.empty((1, boxes.shape[1])),
        ),
    )  # fmt: skip


def _missed(outcome: Outcome, goals: Goals) -> Missed | None:
    """Return the first goal that the numbers do not meet, if any."""
    if not goals.is_value_met(outcome.lower, outcome.upper):
        return _too_far(outcome, goals)
    widths = goals.widths(outcome.boxes.shape[1])
    return None if widths is None else _too_wide(outcome, widths)


def _too_far(outcome: Outcome, goals: Goals) -> Missed:
    """Blame the box with the smallest lower bound, in the block whose bounds lie farthest apart."""
    answers = _answers(outcome)
    with np.errstate(over="ignore"):
        apart = [own.upper - own.lower() for own in answers]
        found = outcome.upper - outcome.lower
    own = answers[int(np.argmax([float(each.max()) for each in apart]))]
    block = int(np.argmax(own.upper - own.lower()))
    i = int(own.starts[block] + np.argmin(own.lower_bounds[own.starts[block] : own.starts[block + 1]]))
    if can_be_cut(own.lo[i], own.hi[i]).any():
        reason = _ENDED if outcome.product is None else _SUM
    else:
        reason = f"{_STUCK}, {_UNBOUNDED if np.isinf(own.lower_bounds[i]) else _LOOSE}"
    asked = np.inf if goals.ftol is None else goals.gap(outcome.upper)
    return _of("value", own, i, found, asked, reason)


def _too_wide(outcome: Outcome, widths: FloatArray) -> Missed | None:
    """Blame the first box that is not narrow, if any."""
    for own in _answers(outcome):
        variables = np.repeat(own.variables, own.lengths(), axis=0)
        wide = is_wide(own.lo, own.hi, widths[variables])
        if wide.any():
            i, v = (int(k) for k in np.unravel_index(np.argmax(wide), wide.shape))
            reason = _ENDED if can_be_cut(own.lo[i, v], own.hi[i, v]).any() else _STUCK
            with np.errstate(over="ignore"):
                found = float(own.hi[i, v] - own.lo[i, v])
            made = _of("width", own, i, found, float(widths[variables[i, v]]), reason)
            return made._replace(variable=int(variables[i, v]))
    return None


def _of(goal: str, own: Answers, i: int, found: float, asked: float, reason: str) -> Missed:
    block = int(np.searchsorted(own.starts, i, side="right")) - 1
    first, last = int(own.starts[block]), int(own.starts[block + 1])
    box = np.stack([own.lo[i], own.hi[i]], 1)
    lower = float(own.lower_bounds[i])
    return Missed(goal, found, asked, i - first, last - first, own.variables[block], box, lower, reason)
