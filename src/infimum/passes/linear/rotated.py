"""f(p + V u) as an expression of u: every affine part of f becomes one of u, its coefficients multiplied out.

Were each x_i replaced alone, A x + b would be enclosed by way of the hull of p + V U, and all that a rotation is for
would be lost. So the first expressions on the way down that are affine in x, A x + b (layers.py has the rules; x itself
is one), become (A V) u + (A p + b), with A V and A p + b in intervals.

Guarantee: at every u, what stands there contains f at the real point p + V u, and is defined where f is defined there.
"""

from __future__ import annotations

import numpy as np

from infimum import core
from infimum.graph import indexmap
from infimum.graph.build import Build
from infimum.graph.constant import of_bounds
from infimum.graph.node import Node, ancestors
from infimum.passes.linear.forms import MOST_ENTRIES, Ends, FloatArray, Forms
from infimum.passes.linear.layers import affine, reached, tops, varying
from infimum.passes.simplify import rebuilt


def rotated(value: Node, n: int, origin: FloatArray, matrix: FloatArray) -> Node | None:
    """Return an expression of u with the values of a simplified one at p + V u; None where that takes too much.

    origin    p (n,), any doubles
    matrix    V (n, n), likewise
    """
    nodes = ancestors([value])
    varies = varying(nodes)
    linear = affine(nodes, varies)
    rows = tops(value, varies, lambda node: node in linear)
    if not rows or sum(node.size for node in rows) * n > MOST_ENTRIES:
        return None
    form = Forms(n, varies).of(rows)
    if form is None:
        return None
    a, b = form.dense(n), form.offset
    with np.errstate(all="ignore"):
        a, b = _product(a, matrix), _sum(b, a, origin)
    if not all(np.isfinite(end).all() for end in (*a, *b)):
        return None
    build, start = Build(n), 0
    new: dict[Node, Node] = {}
    for node in rows:
        own = slice(start, start + node.size)
        new[node] = _affine_part(build, (a[0][own], a[1][own]), (b[0][own], b[1][own]))
        start += node.size
    for node in reached(value, set(rows)):
        if node not in new:
            new[node] = rebuilt(build, node, [new[below] for below in node.args])
    return new[value]


def image(origin: FloatArray, matrix: FloatArray) -> Node:
    """Return p + V u as an expression of u."""
    return _affine_part(Build(origin.size), (matrix, matrix), (origin, origin))


def _affine_part(build: Build, a: Ends, b: Ends) -> Node:
    """Return A u + b, for A (m, n) and b (m,)."""
    m, n = (int(extent) for extent in a[0].shape)
    factors = build.constant(of_bounds(a[0].ravel(), a[1].ravel()))
    u = build.take(build.x, indexmap.affine([(m, 0), (n, 1)], 0, n))
    linear = build.full(build.reduce("sum", build.apply("mul", factors, u), n), m)
    return build.full(build.apply("add", linear, build.constant(of_bounds(*b))), m)


def _product(a: Ends, matrix: FloatArray) -> Ends:
    """Contain A V."""
    m, n = a[0].shape
    total = np.zeros(m * n), np.zeros(m * n)
    for k in range(n):
        column = np.repeat(a[0][:, k], n), np.repeat(a[1][:, k], n)
        row = np.tile(matrix[k], m)
        total = core.apply("add", total, core.apply("mul", column, (row, row)))
    return total[0].reshape(m, n), total[1].reshape(m, n)


def _sum(b: Ends, a: Ends, origin: FloatArray) -> Ends:
    """Contain A p + b."""
    for k, number in enumerate(origin.tolist()):
        column = np.ascontiguousarray(a[0][:, k]), np.ascontiguousarray(a[1][:, k])
        same = np.full(column[0].size, number)
        b = core.apply("add", b, core.apply("mul", column, (same, same)))
    return b
