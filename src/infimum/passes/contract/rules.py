"""What an elementwise operation's result says of its operands: the reverse rule of its record.

A rule is given the operands' enclosures, the operation's own data and the set c that its result must lie in. It builds,
for each operand, a set that contains every value the operand can have then; None: nothing is known. The operands of an
operation without a rule stay as they are.

    operation                rule
    x -> op(x), invertible   the inverse of c
    x -> op(x), else         the core's reverse operation, which starts from x
    op(a, b)                 the same for each operand, the other one known by its enclosure
    intersection             c: both operands enclose one number
Sets are not functions of x: no rewrite that reads two of them as the same number may be applied here, so the nodes are
made as they stand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from infimum.graph.node import Node
from infimum.graph.payload import is_number
from infimum.ops import OPERATIONS, names_with
from infimum.ops.record import Reverse

_TRUTHS = names_with(lambda row: row.values == "truths")


def _where(op: Callable[..., Node], a: Sequence[Node], c: Node, data: Any) -> tuple[Node | None, ...]:
    condition, x, y = a
    if not is_truth(condition):
        return None, op("where_rev", condition, c, x), op("where_rev_other", condition, c, y)
    left = op("intersection", condition, op("where_rev_cond", c, x, y))  # what the condition can still be
    return left, op("where_rev", left, c, x), op("where_rev_other", left, c, y)


def is_truth(node: Node) -> bool:
    """Return whether a node is certainly 0 or 1: a comparison, or made of comparisons by and, or, not, where."""
    pending = [node]
    while pending:
        current = pending.pop()
        if current.op in ("take", "min_of", "max_of", "min", "max", "concat"):
            pending.extend(current.args)
        elif current.op == "where":
            pending.extend(current.args[1:])
        elif current.op == "sub" and is_number(current.args[0], 1.0):
            pending.append(current.args[1])
        elif not (is_number(current, 0.0) or is_number(current, 1.0)) and current.op not in _TRUTHS:
            return False
    return True


RULES: dict[str, Reverse] = {row.name: row.reverse for row in OPERATIONS.values() if row.reverse is not None}
RULES |= {"where": _where, "intersection": lambda op, a, c, data: (c, c)}
