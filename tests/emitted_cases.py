"""Programs on which every backend must agree bit for bit: the paper's functions, random ones, and hand-made ones."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

import infimum.problems
import programs
from infimum.function.function import Function, trace
from infimum.passes.facts import facts
from infimum.passes.lowering.lower import lower
from infimum.passes.lowering.program import Program

FloatArray = npt.NDArray[np.float64]
Boxes = tuple[FloatArray, FloatArray]

PAPER = infimum.problems.names("paper")


def everything(function: Function) -> Program:
    """Value, gradient and facts of a function in one program."""
    known = facts(function.programs.build, function.value_node)
    return lower([function.value_node, function.gradient_node, *known], function.n)


@cache
def paper(name: str, n: int) -> Program:
    """One of the paper's functions."""
    return everything(trace(getattr(infimum.problems, name)(n).f, n))


def paper_boxes(name: str, n: int, count: int) -> Boxes:
    """Boxes of all sizes inside the function's bounds."""
    ends = np.array([[float(end) for end in pair] for pair in getattr(infimum.problems, name)(n).bounds])
    random = np.random.default_rng([n, count])
    low, high = np.sort(random.uniform(ends[:, 0], ends[:, 1], (2, count, n)), axis=0)
    width = 10.0 ** random.uniform(-12, 0, (count, 1))
    return low, low + (high - low) * width


UNARY = (np.sin, np.cos, np.exp, np.sqrt, np.log, np.abs, np.square, np.tanh, np.arctan, np.floor, np.negative)
BINARY = (np.add, np.subtract, np.multiply, np.divide, np.minimum, np.maximum)
FOLDS = (np.sum, np.prod, np.min, np.max, np.mean)


def random_function(seed: int) -> Function:
    """A function of a few variables: elementwise operations on vectors, then reductions and scans of them."""
    random = np.random.default_rng(seed)
    n = int(random.integers(1, 9))
    scale, shift = random.normal(size=n), random.uniform(-2, 2)
    draws = random.integers(0, 2**30, 100).tolist()

    def f(x: Any) -> Any:
        draw = iter(draws)
        values = [x, scale * x, x - shift, x[::-1]]
        for _ in range(1 + next(draw) % 6):
            a, b = values[next(draw) % len(values)], values[next(draw) % len(values)]
            kind, which = next(draw) % 5, next(draw)
            if kind < 2:
                values.append(UNARY[which % len(UNARY)](a))
            elif kind < 4:
                values.append(BINARY[which % len(BINARY)](a, b))
            else:
                values.append((np.cumsum(a), a**3, a * np.sum(b), np.where(a > b, a, 2 * b))[which % 4])
        return sum(FOLDS[next(draw) % len(FOLDS)](value) for value in values[-2:]) + values[-1][0]

    return trace(f, n)


def random_case(seed: int) -> tuple[Program, Boxes]:
    """A random function as a program, and boxes for it."""
    program = everything(random_function(seed))
    return program, programs.boxes(program.n, 12)
