"""What the command's exit code says."""

from __future__ import annotations

from infimum.records.result import Result
from infimum.search.status import Status

PROVED, STOPPED, WRONG, NO_OPTIMUM, INTERRUPTED = 0, 1, 2, 3, 130

CODES = f"""exit codes:
  {PROVED}    the minimum is enclosed as tightly as asked for
  {STOPPED}    a limit was reached or a goal missed; the enclosure that is printed is true
  {WRONG}    the command or the function is wrong; a sentence says how
  {NO_OPTIMUM}    there is no optimum: the function is undefined everywhere, unbounded, or nowhere as low as it gets
  {INTERRUPTED}  interrupted by Ctrl-C; the enclosure that is printed is true"""

_OF_A_STATUS = {
    Status.PROVED: PROVED,
    Status.UNDEFINED: NO_OPTIMUM,
    Status.UNBOUNDED: NO_OPTIMUM,
    Status.NOT_ATTAINED: NO_OPTIMUM,
    Status.INTERRUPTED: INTERRUPTED,
}


def exit_code(result: Result) -> int:
    """Return 0 where the goals were reached, else a code that says why not."""
    return _OF_A_STATUS.get(result.status, STOPPED)
