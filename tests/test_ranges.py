"""What nodes can be over the domain, as tracing decides by it which special cases can occur: no value is left out."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from infimum.graph import indexmap
from infimum.graph.node import Graph, Node
from infimum.tracing import ranges
from infimum.tracing.ranges import Ranges

N = 3
# Ends whose sums cancel, round, underflow and overflow.
ENDS = (
    0.0,
    -0.0,
    0.1,
    -0.1,
    0.3,
    -0.3,
    1.0,
    -1.0,
    2.0**-1074,
    -(2.0**-1074),
    1e-308,
    1e16,
    -1e16,
    1.0 + 2.0**-52,
    1e300,
)
BINARY = {"add": Fraction.__add__, "sub": Fraction.__sub__, "mul": Fraction.__mul__}
UNARY = {"neg": Fraction.__neg__, "abs": Fraction.__abs__, "sqr": lambda v: v * v}


def missed(seed: int) -> str:
    """Return a value of a random expression that lies outside its range, in words; nothing where there is none."""
    draw = random.Random(seed)
    pairs = [sorted(draw.choices(ENDS, k=2)) for _ in range(N)]
    graph = Graph()
    x = graph.node("x", (), N)
    known = Ranges(N, (np.array([lo for lo, _ in pairs]), np.array([hi for _, hi in pairs])))
    points = [[Fraction(draw.choice(pair)) for pair in pairs] for _ in range(6)]
    nodes: list[tuple[Node, list[Fraction]]] = [
        (graph.node("take", (x,), 1, _single(i)), [point[i] for point in points]) for i in range(N)
    ]
    for _ in range(6):
        (a, u), (b, v) = draw.choices(nodes, k=2)
        if draw.random() < 0.6:
            op = draw.choice(list(BINARY))
            values = [BINARY[op](p, q) for p, q in zip(u, v, strict=True)]
            nodes.append((graph.node(op, (a, b), 1), values))
        else:
            op = draw.choice(list(UNARY))
            nodes.append((graph.node(op, (a,), 1), [UNARY[op](p) for p in u]))
        node, values = nodes[-1]
        lo, hi = (np.asarray(end).item() for end in known.of(node))
        for value in values:
            if not ((lo == -np.inf or Fraction(lo) <= value) and (hi == np.inf or value <= Fraction(hi))):
                return f"{op}: {value} is not in [{lo.hex()}, {hi.hex()}]"
    return ""


def _single(i: int) -> Any:
    return indexmap.affine([], i, N)


@pytest.mark.parametrize("seed", range(0, 3000, 300))
def test_no_value_lies_outside_the_range_of_its_node(seed: int) -> None:
    assert not [said for k in range(seed, seed + 300) if (said := missed(k))]


@pytest.mark.parametrize("rule", ["_down", "_up", "_sum_down", "_sum_up"])
def test_a_range_that_is_not_rounded_outward_is_noticed(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranges, rule, lambda value: value)
    assert any(missed(k) for k in range(3000))


def test_a_sum_of_doubles_that_comes_out_as_0_is_0() -> None:
    graph = Graph()
    x = graph.node("x", (), N)
    first, second = (graph.node("take", (x,), 1, _single(i)) for i in range(2))
    lo, hi = Ranges(N, (np.zeros(N), np.ones(N))).of(graph.node("add", (first, second), 1))
    assert lo == 0.0 and hi > 2.0
