"""maximize=True, handled here alone: a search minimises the negative of the function, and what it says is turned back.

A difference from 0 takes the place of a negative, so that no zero comes out as -0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from infimum.search.outcome import Outcome, Progress
from infimum.tracing.negative import Negative


def negated(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return the negative of a function or of a gradient: what a search for its maximum minimises."""
    return Negative(f)


def step_turned_back(step: Progress) -> Progress:
    """Return a step of the search as one of the user's function."""
    return step._replace(lower=0.0 - step.upper, upper=0.0 - step.lower)


def outcome_turned_back(outcome: Outcome) -> Outcome:
    """Return the outcome of a search as one of the user's function, whose bounds on boxes are upper ones."""
    return replace(
        outcome,
        lower=0.0 - outcome.upper,
        upper=0.0 - outcome.lower,
        lower_bounds=0.0 - outcome.lower_bounds,
        fun=0.0 - outcome.fun,
        history=[step_turned_back(step) for step in outcome.history],
    )
