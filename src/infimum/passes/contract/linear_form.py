"""The contraction of v + sum of g_i (x_i - c_i), whose coefficients are given with each box."""

from __future__ import annotations

from functools import lru_cache

from infimum.graph import indexmap
from infimum.graph.build import Build
from infimum.graph.node import Node
from infimum.passes.contract.contraction import contraction
from infimum.passes.lowering.program import Program


@lru_cache(maxsize=16)
def form_program(n: int) -> Program:
    """Return the contraction of a linear form of n variables: it is the same for every function."""
    return contraction([linear_form(n)], n, parameters=2 * n + 1)


def linear_form(n: int) -> Node:
    """Return v + sum of g_i (x_i - c_i), of the variables x, c, g (n of each) and v."""
    build = Build(3 * n + 1)
    x, c, g = (build.take(build.x, indexmap.affine([(n, 1)], start, 3 * n + 1)) for start in (0, n, 2 * n))
    terms = build.apply("mul", g, build.apply("sub", x, c))
    v = build.take(build.x, indexmap.affine([], 3 * n, 3 * n + 1))
    return build.apply("add", v, build.reduce("sum", terms, n))
