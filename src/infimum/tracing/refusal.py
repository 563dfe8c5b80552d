"""Refusals while tracing: the user's own line, why it cannot be traced, and what to write instead."""

from __future__ import annotations

import linecache
import os
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import CodeType, FrameType
from typing import NamedTuple

import numpy as np

from infimum.errors import TraceError

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_ROOMS = ("tracing", "graph", "exact", "ops", "interval")
_NEVER = (*(os.path.join(_PACKAGE, name, "") for name in _ROOMS), os.path.dirname(np.__file__) + os.sep, "<frozen")
_LIBRARIES = tuple(
    os.path.join(path, "") for path in {sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")}
)

MADE_BEFORE = "This array was made before the call; a function that writes into it has a hidden state."
VIEWED = "This array is, or has, a view that is not followed."
WRITE_A_COPY = "Write into a copy made inside the function: a = a.copy()."


class SourceLine(NamedTuple):
    """A spot in the user's source; `expression` is what was being evaluated, where Python records it."""

    file: str
    line: int
    text: str
    expression: str
    columns: tuple[int, int] | None

    def __str__(self) -> str:
        return f"{os.path.basename(self.file)}:{self.line}   {self.text}".rstrip()


def is_users(file: str) -> bool:
    """Return whether a file holds the user's own code."""
    return not file.startswith(_NEVER + _LIBRARIES)


def users_line() -> SourceLine | None:
    """Return the innermost line of the user's own code that is being run, or None."""
    frame: FrameType | None = sys._getframe(1)
    library = None
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(_NEVER):
            if not name.startswith(_LIBRARIES):
                return _source_line(frame.f_code, frame.f_lineno, frame.f_lasti, name)
            library = library or frame
        elif frame.f_code.co_name == "run_user_function":
            break
        frame = frame.f_back
    if library is None:
        return None
    return _source_line(library.f_code, library.f_lineno, library.f_lasti, library.f_code.co_filename)


def line_of_error(error: BaseException) -> SourceLine | None:
    """Return the user's innermost line on the way to an error."""
    found = None
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if not code.co_filename.startswith(_NEVER + _LIBRARIES):
            found = _source_line(code, trace.tb_lineno, trace.tb_lasti, code.co_filename)
        trace = trace.tb_next
    return found


def _source_line(code: CodeType, line: int, instruction: int, file: str) -> SourceLine:
    text = linecache.getline(file, line).strip()
    span = _span(code, instruction)
    if span is None:
        return SourceLine(file, line, text, "", None)
    start, end = span
    whole = linecache.getline(file, line).encode()
    return SourceLine(file, line, text, whole[start:end].decode(errors="replace"), span)


def _span(code: CodeType, instruction: int) -> tuple[int, int] | None:
    """Return the columns of an instruction, where Python records them (from 3.11) and on one line."""
    positions = getattr(code, "co_positions", None)
    if positions is None or instruction < 0:
        return None
    for index, (first, last, start, end) in enumerate(positions()):
        if index == instruction // 2:
            return (start, end) if first == last and start is not None and end is not None else None
    return None


def refusal(why: str, instead: str = "", place: SourceLine | None = None) -> TraceError:
    """Return the error for the line that is being run: where, why, and what to write instead."""
    where = place or users_line()
    head = f"{where}\n  " if where else ""
    error = TraceError(head + why + (f"\n  {instead}" if instead else ""))
    record = _RECORD.get()
    if record is not None:
        record.append(error)
    return error


# The refusals of the trace that is being made: one that the user's code swallows is a refusal all the same.
_RECORD: ContextVar[list[TraceError] | None] = ContextVar("record", default=None)


@contextmanager
def recorded(record: list[TraceError]) -> Iterator[None]:
    """Note every refusal in a list."""
    token = _RECORD.set(record)
    try:
        yield
    finally:
        _RECORD.reset(token)
