"""f(x) + sum of s_i (x_i - lo_i) (x_i - hi_i) / 2 at a point: its value and slope, from those of f."""

from __future__ import annotations

from functools import lru_cache

from infimum.graph import indexmap
from infimum.graph.build import Build
from infimum.passes.lowering.lower import lower
from infimum.passes.lowering.program import Program


@lru_cache(maxsize=16)
def shift_program(n: int) -> Program:
    """Return the Program of x, lo, hi, s, f's slope (n of each) and f's value whose outputs are value and slope."""
    inputs = 5 * n + 1
    build = Build(inputs)
    x, lo, hi, s, g = (build.take(build.x, indexmap.affine([(n, 1)], k * n, inputs)) for k in range(5))
    value = build.take(build.x, indexmap.affine([], 5 * n, inputs))
    half = build.apply("mul", build.number(0.5), s)
    above, below = build.apply("sub", x, lo), build.apply("sub", x, hi)
    added = build.apply("mul", half, build.apply("mul", above, below))
    turned = build.apply("mul", half, build.apply("add", above, below))
    total = build.apply("add", value, build.reduce("sum", added, n))
    return lower([total, build.full(build.apply("add", g, turned), n)], inputs)
