"""The command line (POLICY): infimum solve | problems | bench paper | bench compare | bench frontier."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from infimum.cli import bench, problems, solve
from infimum.cli.exit_codes import CODES, INTERRUPTED, PROVED, STOPPED, WRONG, exit_code
from infimum.errors import InfimumError
from infimum.tracing.refusal import line_of_error
from infimum.version import __version__

__all__ = ["INTERRUPTED", "PROVED", "STOPPED", "WRONG", "exit_code", "main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the arguments ask for, and return the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = _parser().parse_args(solve.shielded(given))
    try:
        code: int = options.run(options)
    except InfimumError as error:
        print(f"infimum: {error}", file=sys.stderr)
        code = WRONG
    except BrokenPipeError:  # nobody reads any more
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = STOPPED
    except KeyboardInterrupt:
        print("infimum: interrupted", file=sys.stderr)
        code = INTERRUPTED
    except Exception as error:
        print(f"infimum: {_explained(error)}", file=sys.stderr)
        code = WRONG
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="infimum", description="Find the global minimum of a function and prove it.", epilog=CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--version", action="version", version=f"infimum {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in (solve, problems, bench):
        command.add_to(commands)
    return parser


def _explained(error: Exception) -> str:
    """Return what went wrong, in words."""
    # | raised by            | said                                                      |
    # | the user's function  | its line and its own error                                |
    # | the file system      | the file's name and what the system says                  |
    # | infimum itself       | all that is known, and the wish to be told                |
    place, kind = line_of_error(error), type(error).__name__
    if place is not None and not place.file.startswith(str(Path(__file__).parent.parent)):
        return f"{place}\n  {kind}: {error}"
    if isinstance(error, OSError) and error.strerror is not None:
        return f"{error.filename or 'output'}: {error.strerror}"
    if isinstance(error, MemoryError):
        return "there is not enough memory for a problem of this size."
    trace = "".join(traceback.format_exception(error))
    return f"{trace}This is a fault of infimum itself: please report it with the lines above."


if __name__ == "__main__":
    sys.exit(main())
