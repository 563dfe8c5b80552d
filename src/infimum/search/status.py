"""Why a search ended: a number for programs, a sentence for people."""

from __future__ import annotations

from enum import IntEnum


class Status(IntEnum):
    """What stopped a search. Whatever it was, the enclosure is true."""

    RUNNING = -1
    PROVED = 0
    TIME = 1
    ITERATIONS = 2
    REGIONS = 3
    MEMORY = 4
    INTERRUPTED = 5
    UNDEFINED = 6
    NO_POINT = 7
    GOAL_MISSED = 8
    UNBOUNDED = 9
    NOT_ATTAINED = 10

    @property
    def sentence(self) -> str:
        """Say what it means for the result."""
        return _SENTENCES[self]

    @property
    def is_limit(self) -> bool:
        """Return whether the search was stopped before it had done all it can."""
        return self in (Status.TIME, Status.ITERATIONS, Status.REGIONS, Status.MEMORY, Status.INTERRUPTED)


_SENTENCES = {
    Status.RUNNING: "The search is under way; the enclosure is true and will get tighter.",
    Status.PROVED: "The optimum is enclosed as tightly as asked for.",
    Status.TIME: "The time limit was reached; the enclosure is true, but wider than asked for.",
    Status.ITERATIONS: "The limit of iterations was reached; the enclosure is true, but wider than asked for.",
    Status.REGIONS: "The limit of regions was reached; the enclosure is true, but wider than asked for.",
    Status.MEMORY: "The memory limit was reached; the enclosure is true, but wider than asked for.",
    Status.INTERRUPTED: "The search was interrupted; the enclosure is true, but wider than asked for.",
    Status.NO_POINT: "All has been searched, but no point was found at which the function is certainly defined, so "
    "there is no upper bound.",
    Status.GOAL_MISSED: "All has been searched that doubles can tell apart; the enclosure is true, but wider than "
    "asked for.",
    Status.UNBOUNDED: "The function is unbounded: it has values beyond every number, so there is no optimum.",
    Status.NOT_ATTAINED: "The function comes as close as one likes to the optimum that is enclosed, but has it "
    "nowhere.",
    Status.UNDEFINED: "The function is undefined on the whole domain, so there is no optimum.",
}
