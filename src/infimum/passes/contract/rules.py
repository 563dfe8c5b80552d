"""What an elementwise operation's result says of its operands: one reverse rule for each operation.

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

from infimum.graph.build import is_number
from infimum.graph.node import Node

Op = Callable[..., Node]
Rule = Callable[[Op, Sequence[Node], Node, Any], tuple[Node | None, ...]]


def _inverse(name: str) -> Rule:
    return lambda op, a, c, data: (op(name, c),)


def _reverse(name: str) -> Rule:
    return lambda op, a, c, data: (op(name, c, a[0], data=data),)


def _compared(name: str) -> Rule:
    return lambda op, a, c, data: (op(f"{name}_rev1", c, a[0], a[1]), op(f"{name}_rev2", c, a[0], a[1]))


def _leg(op: Op, c: Node, other: Node, x: Node) -> Node:
    return op("sqr_rev", op("sub", op("sqr", c), op("sqr", other)), x)


def _where(op: Op, a: Sequence[Node], c: Node, data: Any) -> tuple[Node | None, ...]:
    condition, x, y = a
    if not is_truth(condition):
        return None, op("where_rev", condition, c, x), op("where_rev_other", condition, c, y)
    left = op("intersection", condition, op("where_rev_cond", c, x, y))  # what the condition can still be
    return left, op("where_rev", left, c, x), op("where_rev_other", left, c, y)


def is_truth(node: Node) -> bool:
    """Certainly 0 or 1: a comparison, or made of comparisons by and, or, not, where; other conditions are numbers."""
    pending = [node]
    while pending:
        current = pending.pop()
        if current.op in ("take", "min_of", "max_of", "min", "max", "concat"):
            pending.extend(current.args)
        elif current.op == "where":
            pending.extend(current.args[1:])
        elif current.op == "sub" and is_number(current.args[0], 1.0):
            pending.append(current.args[1])
        elif not (is_number(current, 0.0) or is_number(current, 1.0)) and current.op not in (
            "is_less", "is_less_equal", "is_equal"
        ):  # fmt: skip
            return False
    return True


RULES: dict[str, Rule] = {
    "neg": _inverse("neg"),
    "add": lambda op, a, c, data: (op("sub", c, a[1]), op("sub", c, a[0])),
    "sub": lambda op, a, c, data: (op("add", c, a[1]), op("sub", a[0], c)),
    "mul": lambda op, a, c, data: (op("mul_rev", a[1], c, a[0]), op("mul_rev", a[0], c, a[1])),
    "div": lambda op, a, c, data: (op("mul", c, a[1]), op("mul_rev", c, a[0], a[1])),
    "mod": lambda op, a, c, data: (op("add", c, op("mul", a[1], op("floor", op("div", a[0], a[1])))), None),
    "recip": lambda op, a, c, data: (op("pown_rev", c, a[0], data=-1),),
    "hypot": lambda op, a, c, data: (_leg(op, c, a[1], a[0]), _leg(op, c, a[0], a[1])),
    "cbrt": lambda op, a, c, data: (op("pown", c, data=3),),
    "pow": lambda op, a, c, data: (op("pow_rev1", a[1], c, a[0]), op("pow_rev2", a[0], c, a[1])),
    "atan2": lambda op, a, c, data: (op("atan2_rev1", a[1], c, a[0]), op("atan2_rev2", a[0], c, a[1])),
    "min": lambda op, a, c, data: (op("min_rev", c, a[0], a[1]), op("min_rev", c, a[1], a[0])),
    "max": lambda op, a, c, data: (op("max_rev", c, a[0], a[1]), op("max_rev", c, a[1], a[0])),
    "where": _where,
    "intersection": lambda op, a, c, data: (c, c),
    "exp": _inverse("log"),
    "exp2": _inverse("log2"),
    "exp10": _inverse("log10"),
    "expm1": _inverse("log1p"),
    "log": _inverse("exp"),
    "log2": _inverse("exp2"),
    "log10": _inverse("exp10"),
    "log1p": _inverse("expm1"),
    "sinh": _inverse("asinh"),
    "tanh": _inverse("atanh"),
    "asinh": _inverse("sinh"),
    "atanh": _inverse("tanh"),
    "acosh": _inverse("cosh"),
    "asin": _inverse("sin"),
    "acos": _inverse("cos"),
    **{name: _reverse(f"{name}_rev") for name in (
        "sqr", "abs", "sqrt", "pown", "sign", "floor", "ceil", "trunc", "round_ties_to_even", "round_ties_to_away",
        "sin", "cos", "tan", "sinpi", "cospi", "cosh", "atan",
    )},
    **{name: _compared(name) for name in ("is_less", "is_less_equal", "is_equal")},
}  # fmt: skip
