"""Refusals of branches on x: which statement of the user's source asked, and the np.where to write in its place."""

from __future__ import annotations

import ast
import linecache

from infimum.errors import TraceError
from infimum.tracing.refusal import SourceLine, refusal, users_line


def branch_refusal() -> TraceError:
    """Return the error for a traced value that Python asked to be true or false."""
    where = users_line()
    if where is None:
        return refusal("A traced value stands for a whole range here, so both branches may be needed.", _WHERE)
    why, instead = _branch(where)
    return refusal(why, instead, where)


_WHERE = "Write np.where(condition, a, b) instead."


def _branch(where: SourceLine) -> tuple[str, str]:
    """Return why a branch is refused, and what to write in its place."""
    statement, test = _statement(where)
    text = ast.unparse(test) if test is not None else where.expression
    ranged = f"{_subject(test) or text or 'The condition'} stands for a whole range here"
    both, neither = f"{ranged}, so both branches may be needed.", f"{ranged}, so it is neither true nor false."
    if statement is None:
        return _asked(text)
    if isinstance(statement, ast.While):
        loop = "Write a loop with a fixed number of rounds, for example for k in range(20), with np.where inside."
        return f"{ranged}, so the number of rounds is not known.", loop
    if isinstance(statement, ast.BoolOp):
        name = "logical_and" if isinstance(statement.op, ast.And) else "logical_or"
        inner = ", ".join(ast.unparse(value) for value in statement.values)
        return neither, f"Write np.{name}({inner}) instead, inside np.where where it decides a branch."
    if isinstance(statement, ast.UnaryOp):
        return neither, f"Write np.logical_not({ast.unparse(statement.operand)}) instead."
    if isinstance(statement, ast.Compare):
        sides = [statement.left, *statement.comparators]
        pairs = zip(sides, statement.ops, sides[1:], strict=False)
        parts = ", ".join(ast.unparse(ast.Compare(left, [op], [right])) for left, op, right in pairs)
        why = f"{ast.unparse(sides[1])} stands for a whole range here; a chained comparison needs true or false."
        return why, f"Write np.logical_and({parts}) instead."
    if isinstance(statement, ast.Assert):
        return neither, "Leave the assertion out; the search domain is given by the bounds."
    if isinstance(statement, ast.IfExp):
        return both, f"Write np.where({text}, {ast.unparse(statement.body)}, {ast.unparse(statement.orelse)}) instead."
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
    """Return the refusal where no branch of the user's own asks, but a function that was called, or an operator."""
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
    """Return what in a condition stands for a range: of a comparison the first side that is not a number."""
    if isinstance(test, ast.BoolOp):
        return _subject(test.values[0])
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _subject(test.operand)
    if isinstance(test, ast.Compare):
        sides = [side for side in (test.left, *test.comparators) if not isinstance(side, ast.Constant)]
        return ast.unparse(sides[0]) if sides else ""
    return ast.unparse(test) if test is not None else ""


def _statement(where: SourceLine) -> tuple[ast.AST | None, ast.expr | None]:
    """Return the branch of the user's source that was being decided, and its condition."""
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
    """Return the expressions whose truth a piece of source asks for."""
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
