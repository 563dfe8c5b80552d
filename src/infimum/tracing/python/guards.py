"""Guards: whether the user's code may catch an error that a line raises for some numbers.

Where it may, the value after the error is as much the function as the value without it, and a traced formula has only
one of them. The source of each function being run is asked; where there is none, Python's own table of handlers.

    statement around the line                 catches
    try with except                           unless every handler is for errors that no number causes, or raises again
    try with finally                          where the finally returns, breaks or continues
    with a context manager                    unless it is one that is known to let errors pass
"""

from __future__ import annotations

import ast
import functools
import linecache
import opcode
import sys
from collections.abc import Iterator
from types import CodeType, FrameType

from infimum.tracing.refusal import is_users

_UNCAUSED = frozenset({
    "ImportError", "ModuleNotFoundError", "KeyError", "IndexError", "LookupError", "AttributeError", "NameError",
    "StopIteration", "OSError", "FileNotFoundError", "KeyboardInterrupt", "NotImplementedError", "AssertionError",
    "TypeError", "LinAlgError", "RecursionError", "MemoryError",
})  # fmt: skip
_PASSING = frozenset({
    "errstate", "catch_warnings", "open", "printoptions", "nullcontext", "redirect_stdout", "redirect_stderr",
    "localcontext",
})  # fmt: skip
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def caught() -> bool:
    """Return whether an error raised on the user's present line may be caught by the user's own code."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_name != "run_user_function":
        if is_users(frame.f_code.co_filename) and _catches(frame):
            return True
        frame = frame.f_back
    return False


def _catches(frame: FrameType) -> bool:
    guarded = _guarded(frame.f_code)
    if guarded is None:
        return _in_table(frame.f_code, frame.f_lasti)
    return any(first <= frame.f_lineno <= last for first, last in guarded)


@functools.lru_cache(maxsize=1024)
def _guarded(code: CodeType) -> list[tuple[int, int]] | None:
    """Return the lines of a function under guards that may catch; None where there is no source."""
    if code.co_name in ("<lambda>", "<genexpr>", "<listcomp>", "<setcomp>", "<dictcomp>"):
        return []  # an expression: no statement stands in it
    text = "".join(linecache.getlines(code.co_filename))
    scope = _functions(text).get((code.co_name, code.co_firstlineno))
    if scope is None:
        return None
    return [(body[0].lineno, body[-1].end_lineno or body[-1].lineno) for body in _protected(scope, _defined(text))]


@functools.lru_cache(maxsize=16)
def _functions(text: str) -> dict[tuple[str, int], ast.AST]:
    """Return the functions of a source by name and first line, decorators included."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return {}
    found: dict[tuple[str, int], ast.AST] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found[node.name, min([node.lineno, *(d.lineno for d in node.decorator_list)])] = node
    return found


def _protected(scope: ast.AST, own: frozenset[str], nested: bool = False) -> Iterator[list[ast.stmt]]:
    """Return the statements of one function under a guard that may catch; `own` names are defined by the user."""
    for node in ast.iter_child_nodes(scope):
        if isinstance(node, _SCOPES):
            continue
        is_try = isinstance(node, ast.Try)
        if isinstance(node, ast.Try):
            catches = any(_catches_numbers(handler, nested) for handler in node.handlers)
            if catches or _leaves(node.finalbody):
                yield node.body
        if isinstance(node, ast.With | ast.AsyncWith) and not all(_passes(item, own) for item in node.items):
            yield node.body
        yield from _protected(node, own, nested or is_try)


def _catches_numbers(handler: ast.ExceptHandler, nested: bool) -> bool:
    """Return whether a handler may catch an error of numbers, or raises another one that a handler around it may."""
    last = handler.body[-1]
    if isinstance(last, ast.Raise) and not (last.exc is not None and nested) and not _leaves(handler.body):
        return False
    if handler.type is None:
        return True
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return not all(_name(kind) in _UNCAUSED for kind in kinds)


def _leaves(statements: list[ast.stmt]) -> bool:
    kinds = (ast.Return, ast.Break, ast.Continue)
    return any(isinstance(node, kinds) for statement in statements for node in ast.walk(statement))


def _passes(item: ast.withitem, own: frozenset[str]) -> bool:
    call = item.context_expr
    name = _name(call.func if isinstance(call, ast.Call) else call)
    return name in _PASSING and name not in own


@functools.lru_cache(maxsize=16)
def _defined(text: str) -> frozenset[str]:
    """Return the names that a source defines itself."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return frozenset(found)


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _in_table(code: CodeType, at: int) -> bool:
    """Return whether Python's table of handlers has one for this instruction; before 3.11 there is none to ask."""
    table = getattr(code, "co_exceptiontable", None)
    if table is None:
        return any(op in code.co_code[::2] for op in (122, 143))  # SETUP_FINALLY, SETUP_WITH
    push = opcode.opmap["PUSH_EXC_INFO"]
    return any(start <= at < end and code.co_code[target] == push for start, end, target in _entries(table))


def _entries(table: bytes) -> Iterator[tuple[int, int, int]]:
    """Return the handlers of a code object: start, end and target as offsets of bytes."""
    numbers: list[int] = []
    value = 0
    for byte in table:
        value = (value << 6) | (byte & 63)
        if not byte & 64:
            numbers.append(value)
            value = 0
    for start, length, target, _ in zip(*[iter(numbers)] * 4, strict=False):
        yield 2 * start, 2 * (start + length), 2 * target
