"""Refusals while tracing: the user's own line, why it cannot be traced, and what to write instead."""

from __future__ import annotations

import ast
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
_NEVER = (
    *(os.path.join(_PACKAGE, name, "") for name in _ROOMS),
    os.path.dirname(np.__file__) + os.sep,
    "<frozen",
)
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
    """Whether a file holds the user's own code."""
    return not file.startswith(_NEVER + _LIBRARIES)


def users_line() -> SourceLine | None:
    """The innermost line of the user's own code that is being run, or None."""
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
    """The user's innermost line on the way to an error."""
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
    """The columns of an instruction, where Python records them (from 3.11) and on one line."""
    positions = getattr(code, "co_positions", None)
    if positions is None or instruction < 0:
        return None
    for index, (first, last, start, end) in enumerate(positions()):
        if index == instruction // 2:
            return (start, end) if first == last and start is not None and end is not None else None
    return None


def refusal(why: str, instead: str = "", place: SourceLine | None = None) -> TraceError:
    """The error for the line that is being run: where, why, and what to write instead."""
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


def branch_refusal() -> TraceError:
    """The error for a traced value that Python asked to be true or false."""
    where = users_line()
    if where is None:
        return refusal("A traced value stands for a whole range here, so both branches may be needed.", _WHERE)
    why, instead = _branch(where)
    return refusal(why, instead, where)


_WHERE = "Write np.where(condition, a, b) instead."


def _branch(where: SourceLine) -> tuple[str, str]:
    statement, test = _statement(where)
    text = ast.unparse(test) if test is not None else where.expression
    subject = _subject(test) or text or "The condition"
    both = f"{subject} stands for a whole range here, so both branches may be needed."
    if isinstance(statement, ast.While):
        return (
            f"{subject} stands for a whole range here, so the number of rounds is not known.",
            "Write a loop with a fixed number of rounds, for example for k in range(20), with np.where inside.",
        )
    if isinstance(statement, ast.BoolOp):
        name = "logical_and" if isinstance(statement.op, ast.And) else "logical_or"
        inner = ", ".join(ast.unparse(value) for value in statement.values)
        return (
            f"{subject} stands for a whole range here, so it is neither true nor false.",
            f"Write np.{name}({inner}) instead, inside np.where where it decides a branch.",
        )
    if isinstance(statement, ast.UnaryOp):
        return (
            f"{subject} stands for a whole range here, so it is neither true nor false.",
            f"Write np.logical_not({ast.unparse(statement.operand)}) instead.",
        )
    if isinstance(statement, ast.Compare):
        sides = [statement.left, *statement.comparators]
        parts = [
            ast.unparse(ast.Compare(left, [op], [right]))
            for left, op, right in zip(sides, statement.ops, sides[1:], strict=False)
        ]
        return (
            f"{ast.unparse(sides[1])} stands for a whole range here; a chained comparison needs true or false.",
            f"Write np.logical_and({', '.join(parts)}) instead.",
        )
    if isinstance(statement, ast.Assert):
        return (
            f"{subject} stands for a whole range here, so it is neither true nor false.",
            "Leave the assertion out; the search domain is given by the bounds.",
        )
    if isinstance(statement, ast.IfExp):
        return both, f"Write np.where({text}, {ast.unparse(statement.body)}, {ast.unparse(statement.orelse)}) instead."
    if statement is None:
        return _asked(text)
    return both, f"Write np.where({text}, a, b) instead." if text else _WHERE


# Functions of Python that ask their arguments which is smaller, or which is true.
_ORDER = "Which element comes first depends on x. For two values write np.minimum(a, b) and np.maximum(a, b)."
_CHOICE = "Which elements are kept depends on x. Write np.sum(np.where(condition, a, 0.0)) over all of them."
_ASKING = {
    "sorted": _ORDER, "sort": _ORDER, "bisect": _ORDER, "min": "Write np.min(values), or np.where with the condition.",
    "max": "Write np.max(values), or np.where with the condition.", "filter": _CHOICE, "list": _CHOICE,
    "index": "Write np.select over the values it may have.", "count": "Write np.sum of == comparisons.",
}  # fmt: skip


def _asked(text: str) -> tuple[str, str]:
    """The refusal where no branch of the user's own asks, but a function that was called, or an operator."""
    try:
        call = ast.parse(text, mode="eval").body if text else None
    except SyntaxError:
        call = None
    if isinstance(call, ast.Compare) and isinstance(call.ops[0], ast.In | ast.NotIn):
        subject = ast.unparse(call.left)
        return f"{subject} stands for a whole range here, so it is neither in nor out.", _ASKING["count"]
    names = [n.func for n in ast.walk(call) if isinstance(n, ast.Call)] if call is not None else []
    known = [name for name in (getattr(f, "id", getattr(f, "attr", "")) for f in names) if name in _ASKING]
    if "filter" in known:
        known = ["filter"]
    if known:
        why = f"{known[0]} compares numbers, but they stand for whole ranges here, so the answer is not known."
        return why, _ASKING[known[0]]
    return "A traced value stands for a whole range here, so it is neither true nor false.", _WHERE


def _subject(test: ast.expr | None) -> str:
    """What in a condition stands for a range: of a comparison the first side that is not a number."""
    if isinstance(test, ast.BoolOp):
        return _subject(test.values[0])
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _subject(test.operand)
    if isinstance(test, ast.Compare):
        sides = [side for side in (test.left, *test.comparators) if not isinstance(side, ast.Constant)]
        return ast.unparse(sides[0]) if sides else ""
    return ast.unparse(test) if test is not None else ""


def _statement(where: SourceLine) -> tuple[ast.AST | None, ast.expr | None]:
    """The branch of the user's source that was being decided, and its condition."""
    try:
        tree = ast.parse("".join(linecache.getlines(where.file)))
    except SyntaxError:
        return None, None
    found: tuple[ast.AST | None, ast.expr | None] = (None, None)
    for node in ast.walk(tree):
        for test in _tests(node):
            if test.lineno == where.line and (where.columns is None or _covers(test, where.columns)):
                found = (node, test)
    return found


def _tests(node: ast.AST) -> list[ast.expr]:
    """The expressions whose truth a piece of source asks for."""
    if isinstance(node, ast.If | ast.While | ast.IfExp | ast.Assert):
        return [node.test]
    if isinstance(node, ast.BoolOp):
        # Python records the place of the whole or of one part, depending on what follows.
        return [node, *node.values]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return [node, node.operand]
    if isinstance(node, ast.comprehension):
        return list(node.ifs)
    if isinstance(node, ast.Compare) and len(node.comparators) > 1:
        return [node]
    return []


def _covers(test: ast.expr, columns: tuple[int, int]) -> bool:
    return test.col_offset <= columns[0] and columns[1] <= (test.end_col_offset or 0)
