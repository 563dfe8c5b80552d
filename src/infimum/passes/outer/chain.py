"""What is around a function: f = H(S), H an increasing function of one number.

    node below a sum of constants, under a factor   is seen through where           rises    falls
    sqrt, log, exp, …                               always                          yes
    u^k, pow(u, p), u^2                             u >= 0, or k odd                k, p > 0  k, p < 0: u > 0
    1/u, c/u                                        u > 0                           c < 0     c > 0
    where(c, u, v)                                  one branch is defined nowhere   the other is all that is asked of f
    sqr(sqrt(v))                                    v: both are defined where v >= 0 alone

Each turn of the sign is written down; S is minus what is below where there is an odd number of them.

Guarantee: wherever f is defined, so is S, and f(x) = H(S(x)), with real numbers; H does not fall where S has values.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from infimum import core
from infimum.graph.build import Build
from infimum.graph.node import Node
from infimum.graph.payload import integer_of, value_of
from infimum.ops import OPERATIONS
from infimum.passes.convex.truths import Truths
from infimum.passes.separate.terms import Terms, addends

INCREASING = frozenset(
    {"sqrt", "cbrt", "log", "log2", "log10", "log1p", "exp", "exp2", "exp10", "expm1", "sinh", "tanh", "asinh", "atan"}
)


class Chain(NamedTuple):
    """f = H(S): H an expression of one variable, None where it is that variable itself; S a node of f's graph."""

    outer: Node | None
    inner: Node


class _Link(NamedTuple):
    constants: list[Terms]
    terms: Terms
    place: int  # of the operand that is gone through


def chains(build: Build, value: Node) -> list[Chain]:
    """Return the ways to see a function as H(S), the longest H first; the last one has none."""
    truths, links, found = Truths(build), list[_Link](), []
    rises = True
    while True:
        value = _all_that_is_asked(value)
        found.append(Chain(_made(links, rises), value if rises else build.apply("neg", value)))
        constants, families = addends(value)
        terms = families[0] if len(families) == 1 and families[0].at.size == 1 else None
        if terms is None or terms.node.size > 1:
            break
        scale = factor(Build(1), terms)
        step = _step(truths, terms.node)
        sign = _sign(scale)
        if step is None or not sign:
            break
        place, is_rising = step
        rises = rises == (is_rising == (sign > 0))
        links.append(_Link(constants, terms, place))
        value = terms.node.args[place]
    return found[::-1]


def factor(build: Build, terms: Terms) -> Node:
    """Return what each term is multiplied by: one number for all, or one for each."""
    made = build.number(1)
    for one in reversed(terms.factors):
        if one.node is None:
            made = build.apply(one.op, made)
        else:
            number = value_of(one.node)
            scale = build.constant(number if one.at is None else number.take(one.at))
            made = build.apply(one.op, made, scale)
    return made


def _made(links: list[_Link], rises: bool) -> Node | None:
    """Return H."""
    if not links:
        return None
    own = Build(1)
    found = own.x if rises else own.apply("neg", own.x)
    for constants, terms, place in reversed(links):
        node = terms.node
        args = [found if at == place else own.constant(value_of(a)) for at, a in enumerate(node.args)]
        found = own.apply("mul", factor(own, terms), own.apply(node.op, *args, data=node.data))
        for constant in constants:
            each = own.constant(value_of(constant.node).take(constant.at))
            each = own.full(own.apply("mul", factor(own, constant), each), constant.at.size)
            found = own.apply("add", found, own.reduce("sum", each, constant.at.size))
    return found


def _all_that_is_asked(value: Node) -> Node:
    while True:
        if value.op == "sqr" and value.args[0].op == "sqrt":
            value = value.args[0].args[0]
        elif value.op == "where" and value.size == 1 and any(map(_is_nowhere, value.args[1:])):
            value = value.args[1] if _is_nowhere(value.args[2]) else value.args[2]
        else:
            return value


def _is_nowhere(node: Node) -> bool:
    """Return whether an operation of constants is certainly undefined."""
    if node.op not in core.operations() or any(a.op != "constant" for a in node.args):
        return False
    lo, hi = core.apply(node.op, *(value_of(a).enclosure() for a in node.args), param=_parameter(node))
    return not bool((lo <= hi).any())


def _parameter(node: Node) -> int:
    return integer_of(node) if node.op in core.POWERS else 0


def _step(truths: Truths, node: Node) -> tuple[int, bool] | None:
    """Return which operand an operation is a monotone function of, and whether it rises with it."""
    if node.op in INCREASING:
        return 0, True
    if node.op not in OPERATIONS or sum(a.op != "constant" for a in node.args) != 1:
        return None
    place = 0 if node.args[0].op != "constant" else 1
    low, _ = truths.hull(node.args[place])
    if node.op == "sqr":
        return (0, True) if low >= 0 else None
    if node.op == "pown":
        k = integer_of(node)
        rises = k > 0 and (k % 2 == 1 or low >= 0)
        return (0, k > 0) if rises or (k < 0 and low > 0) else None
    if node.op == "recip":
        return (0, False) if low > 0 else None
    other = _sign(node.args[1 - place]) if len(node.args) == 2 else 0
    if node.op == "pow" and place == 0 and other and (low > 0 or (low >= 0 and other > 0)):
        return 0, other > 0
    if node.op == "div" and place == 1 and other and low > 0:
        return 1, other < 0
    return None


def _sign(node: Node) -> int:
    """Return the sign of a finite constant that is not 0; 0 for anything else."""
    if node.op != "constant" or node.size > 1:
        return 0
    lo, hi = (float(np.asarray(end).ravel()[0]) for end in value_of(node).enclosure())
    return 0 if not math.isfinite(lo) or not math.isfinite(hi) else 1 if lo > 0 else -1 if hi < 0 else 0
