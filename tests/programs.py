"""Hand-made programs of every kind, as functions of the number of variables, and boxes to run them on."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import infimum.core
import tapes
from infimum.passes.lowering import layout as form
from infimum.passes.lowering.program import Program
from tapes import Floats, Maker


def rastrigin(n: int) -> Program:
    m = Maker(n)
    two, ten, total = m.constant(2.0), m.constant(10.0), m.vector(1)
    x = m.load(0, 0, 0, 1)
    wave = m.op("mul", m.load(ten), m.op("cospi", m.op("mul", m.load(two), x)))
    m.reduce(total, m.op("add", m.op("sub", m.op("sqr", x), wave), m.load(ten)))
    m.end(1, n)
    return m.program(total)


def levy(n: int, reuse: bool = True) -> Program:
    """The value by a sum of pair terms and an epilogue; beside it a vector that reads both neighbours, ends peeled."""
    m = Maker(n, reuse)
    one, quarter, ten = m.constant(1.0), m.constant(0.25), m.constant(10.0)
    u, total, value, slope = m.vector(n), m.vector(1), m.vector(1), m.vector(n)
    m.store(u, m.op("mul", m.load(quarter), m.op("sub", m.load(0, 0, 1), m.load(one))))
    m.end(n)
    right = m.op("sinpi", m.op("add", m.load(one), m.window(u, 1, 1)))
    weight = m.op("add", m.load(one), m.op("mul", m.load(ten), m.op("sqr", right)))
    m.reduce(total, m.op("mul", m.op("sqr", m.load(u, 0, 0, 1)), weight))
    m.end(1, n)
    head = m.op("sqr", m.op("sinpi", m.op("add", m.load(one), m.load(u))))
    m.store(
        value, m.op("add", m.op("add", m.op("mul", m.load(ten), head), m.op("sqr", m.load(u, n - 1))), m.load(total))
    )
    m.end(1)
    m.store(slope, m.op("sub", m.op("mul", m.window(u, -1, 1), m.load(u, 0, 1)), m.window(u, n + 1, -1)), n - 1, -1)
    m.end(n)
    return m.program(value, slope, total)


def matrix(n: int) -> Program:
    """A @ x with rows of n, the sum of every column of |A|, and the terms themselves."""
    rows = 7
    random = np.random.default_rng(n)
    values = random.normal(size=rows * n)
    m = Maker(n)
    a = m.constant(*[(v, np.nextafter(v, 9)) for v in values.tolist()])
    y, columns, terms = m.vector(rows), m.vector(n + 2), m.vector(rows * n)
    product = m.op("mul", m.load(a, 0, n, 1), m.load(0, 0, 0, 1))
    m.store(terms, product)
    m.reduce(y, product)
    m.end(rows, n)
    m.reduce(columns, m.op("abs", m.load(a, 0, 1, n)), "max", 1)
    m.end(n, rows)
    m.store(columns, m.load(a), 0, n + 1)
    m.end(2)
    return m.program(y, columns, terms)


def product(n: int) -> Program:
    """A product, its gradient through OTHERS, and OTHERS of two more reductions in groups."""
    m = Maker(n)
    scale = m.constant(*(1 / np.sqrt(np.arange(1.0, n + 1))).tolist())
    t, whole, rest, slope, sums, least = (m.vector(size) for size in (n, 1, n, n, n, n))
    cosine = m.op("cos", m.op("mul", m.load(0, 0, 0, 1), m.load(scale, 0, 0, 1)))
    m.store(t, cosine)
    m.reduce(whole, cosine, "mul")
    m.end(1, n)
    m.phases.append(form.Others(rest, t, tapes.NUMBER["mul"], 1, n))
    m.store(slope, m.op("mul", m.load(rest, 0, 1), m.op("sin", m.load(0, 0, 1))))
    m.end(n)
    groups = next(k for k in (5, 4, 2, 1) if n % k == 0)
    m.phases.append(form.Others(sums, t, tapes.NUMBER["add"], groups, n // groups))
    m.phases.append(form.Others(least, t, tapes.NUMBER["min" if n > 1 else "mul"], 1, n))
    return m.program(whole, slope, sums, least)


def tables(n: int) -> Program:
    random = np.random.default_rng(n)
    m = Maker(n)
    c = m.constant(3.0, (-0.25, 0.5))
    out, total = m.vector(2 * n), m.vector(n)
    entries = random.integers(-1, n, 2 * n).tolist()
    picked = m.op("mul", m.table(0, entries), m.table(c, random.integers(-1, 2, 2 * n).tolist()))
    m.store(out, picked)
    m.reduce(total, picked, "min")
    m.end(n, 2)
    return m.program(out, total, 0, c)


def cumulative(n: int) -> Program:
    m = Maker(n)
    ones = m.constant(*[1.0] * n)
    forward, backward, both = m.vector(n), m.vector(n), m.vector(n)
    m.phases.append(form.Recurrence(forward, ones, 0, n))
    m.phases.append(form.Recurrence(backward, 0, ones, n, True))
    m.store(both, m.op("max", m.load(forward, 0, 1), m.load(backward, n - 1, -1)))
    m.end(n)
    return m.program(forward, backward, both)


def branches(n: int) -> Program:
    """Comparisons, where, facts, a power: with results that are open, undefined or empty."""
    m = Maker(n)
    zero, one = m.constant(0.0), m.constant(1.0)
    out, known, every = m.vector(n), m.vector(n), m.vector(1)
    x, z, u = m.load(0, 0, 0, 1), m.load(zero), m.load(one)
    condition = m.op("max", m.op("is_less", x, z), m.op("is_equal", x, u))
    root = m.op("sqrt", m.op("sub", x, u))
    value = m.op("where", condition, m.op("pown", x, param=-3), m.op("log", root))
    m.store(out, m.op("where", m.op("is_less_equal", u, z), m.op("floor", x), value))
    defined = m.op("sqrt", m.op("sub", x, u), base=form.DEFINED)
    smooth = m.op("pown", x, param=-3, base=form.SMOOTH)
    m.store(known, m.op("sub", defined, m.op("where", condition, smooth, u, base=form.SMOOTH)))
    m.reduce(every, defined, "min")
    m.end(1, n)
    return m.program(out, known, every)


PROGRAMS: dict[str, Callable[[int], Program]] = {
    f.__name__: f for f in (rastrigin, levy, matrix, product, tables, cumulative, branches)
}


def long_tape(length: int, n: int = 5) -> Program:
    """Random operations on random earlier results."""
    random = np.random.default_rng(length)
    m = Maker(n)
    registers = [m.load(0, j) for j in range(n)] + [m.load(m.constant(c)) for c in (0.5, 3.0, (0.1, 0.2))]
    ops = ["add", "sub", "mul", "sqr", "neg", "min", "max", "cos", "atan", "sinpi", "div", "abs", "sqrt"]
    while len(m.body) < length:
        name = ops[random.integers(len(ops))]
        arity = infimum.core.operations()[name].arity
        recent = registers[-40:]
        value = m.op(name, *(recent[random.integers(len(recent))] for _ in range(arity)))
        registers.append(m.op("max", m.op("min", value, registers[6]), m.op("neg", registers[6])))
    total = m.vector(1)
    m.store(total, registers[-1])
    m.end(1)
    return m.program(total)


def boxes(n: int, count: int) -> tuple[Floats, Floats]:
    """Boxes of all widths around 0 and 1, some sides points, some on the edges of comparisons."""
    random = np.random.default_rng([n, count])
    middle = random.uniform(-4, 4, (count, n))
    middle = np.where(random.random((count, n)) < 0.2, random.choice([-1.0, 0.0, 1.0, 2.0], (count, n)), middle)
    width = np.where(random.random((count, n)) < 0.3, 0.0, 10.0 ** random.uniform(-12, 0.5, (count, n)))
    return middle - width * (random.random((count, n)) < 0.5), middle + width


def _random_load(m: Maker, random: np.random.Generator, groups: int, width: int, sources: list[int]) -> int:
    """A load of any kind that stays within its slot."""
    slot = sources[random.integers(len(sources))]
    size = m.slots[slot].size
    kind = random.integers(3)
    if kind == 0:
        over_g, over_e = (int(random.choice([0, 1, -1, 2, width, groups])) for _ in range(2))
        reach = [over_g * (groups - 1), over_e * (width - 1)]
        low, high = sum(min(0, r) for r in reach), sum(max(0, r) for r in reach)
        if high - low < size:
            return m.load(slot, int(random.integers(-low, size - high)), over_g, over_e)
    if kind == 1:
        return m.window(slot, int(random.integers(-5, size + 5)), int(random.choice([1, 1, -1, 2, -3, 0])))
    return m.table(slot, random.integers(-1, size, groups * width).tolist())


def scrambled(seed: int) -> Program:
    """Phases of random kinds over random spaces, each reading what stands before it."""
    random = np.random.default_rng(seed)
    m = Maker(int(random.choice([1, 3, 8, 40, 300])))
    sources = [0, m.constant(1.5), m.constant(*random.normal(size=50).tolist())]
    unary, binary = ("neg", "sqr", "abs", "cospi", "atan", "floor"), ("add", "sub", "mul", "min", "max", "is_less")
    for _ in range(random.integers(1, 6)):
        groups, width = int(random.choice([1, 2, 7, 70])), int(random.choice([1, 2, 5, 64, 255, 300]))
        registers = [_random_load(m, random, groups, width, sources) for _ in range(random.integers(1, 5))]
        for _ in range(random.integers(0, 8)):
            a, b = (registers[random.integers(len(registers))] for _ in range(2))
            name = str(random.choice([*unary, *binary]))
            registers.append(m.op(name, a) if name in unary else m.op(name, a, b))
        stored, reduced = m.vector(groups * width), m.vector(groups)
        m.store(stored, registers[-1], *((0, 1) if random.random() < 0.7 else (groups * width - 1, -1)))
        m.reduce(reduced, registers[random.integers(len(registers))], str(random.choice(["add", "mul", "min", "max"])))
        m.end(groups, width)
        rest = m.vector(groups * width)
        m.phases.append(form.Others(rest, stored, tapes.NUMBER[str(random.choice(["add", "mul"]))], groups, width))
        sources += [stored, reduced, rest]
    return m.program(*sources)
