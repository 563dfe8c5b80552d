"""Hand-made programs, and what they must compute: an interpreter that shares nothing with the virtual machine.

It walks the instructions with infimum.core.apply and infimum.core.facts, all elements and boxes at once, and in plain
doubles with NumPy; trees are built node by node, as docs/program.md words them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import infimum.core
import oracle
import reverse_oracle
from infimum.passes.lowering import layout as form
from infimum.passes.lowering.program import Program, allocate

Floats = np.ndarray[Any, np.dtype[np.float64]]
Pair = tuple[Floats, Floats]
Row = tuple[int, ...]
NUMBER = form.NUMBERS


# --- building ----------------------------------------------------------------------------------------------------


class Maker:
    """Collects slots, constants and phases; bodies are written on registers without reuse."""

    def __init__(self, n: int, reuse: bool = True) -> None:
        self.n = n
        self.reuse = reuse
        self.slots = [form.Slot(form.INPUT, n)]
        self.lo: list[float] = []
        self.hi: list[float] = []
        self.points: list[float] = []
        self.tables: list[int] = []
        self.rows: list[Row] = []
        self.phases: list[form.Phase] = []
        self.body: list[Row] = []

    def constant(self, *values: float | tuple[float, float]) -> int:
        self.slots.append(form.Slot(form.CONSTANT, len(values), len(self.lo)))
        for v in values:
            lo, hi = v if isinstance(v, tuple) else (v, v)
            self.lo.append(lo)
            self.hi.append(hi)
            self.points.append((lo + hi) / 2)
        return len(self.slots) - 1

    def vector(self, size: int) -> int:
        self.slots.append(form.Slot(form.VECTOR, size))
        return len(self.slots) - 1

    def _register(self, *row: int) -> int:
        number = len(self.body)
        self.body.append((row[0], number, *row[1:], *[0] * (7 - len(row))))
        return number

    def load(self, slot: int, offset: int = 0, over_g: int = 0, over_e: int = 0) -> int:
        return self._register(form.LOAD_AFFINE, slot, 0, 0, offset, over_g, over_e)

    def window(self, slot: int, offset: int, step: int) -> int:
        return self._register(form.LOAD_WINDOW, slot, 0, 0, offset, step)

    def table(self, slot: int, entries: Sequence[int]) -> int:
        self.tables += entries
        return self._register(form.LOAD_TABLE, slot, 0, 0, len(self.tables) - len(entries))

    def op(self, name: str, *registers: int, param: int = 0, base: int = form.OP) -> int:
        return self._register(base + NUMBER[name], *[*registers, 0, 0][:3], param)

    def store(self, slot: int, register: int, offset: int = 0, step: int = 1) -> None:
        self.body.append((form.STORE, slot, register, 0, 0, offset, step, 0))

    def reduce(self, slot: int, register: int, name: str = "add", offset: int = 0) -> None:
        self.body.append((form.REDUCE, slot, register, 0, 0, NUMBER[name], offset, 0))

    def end(self, groups: int, width: int = 1) -> None:
        """Close the body that was begun."""
        if self.reuse:
            rows, registers = allocate(self.body)
        else:
            rows, registers = np.array(self.body, np.int64), len(self.body)
        first = len(self.rows)
        self.rows += [tuple(row) for row in rows.tolist()]
        self.phases.append(form.Body(groups, width, first, len(self.rows), registers))
        self.body = []

    def program(self, *outputs: int) -> Program:
        return Program(
            self.n,
            tuple(self.slots),
            np.array(self.lo),
            np.array(self.hi),
            np.array(self.points),
            np.array(self.tables, np.int64),
            np.array(self.rows, np.int64).reshape(-1, 8),
            tuple(self.phases),
            outputs,
        )


# --- the interpreter ---------------------------------------------------------------------------------------------
# A slot is a pair of arrays (boxes, size), a register one of (boxes, groups, width).

Combine = Callable[[Pair, Pair], Pair]


class Tree(NamedTuple):
    """A term or two smaller trees, and what they reduce to."""

    value: Pair
    left: Tree | None = None
    right: Tree | None = None


def tree(combine: Combine, terms: list[Pair]) -> Tree:
    """The fixed tree, as it is worded."""
    nodes = [Tree(term) for term in terms]
    while len(nodes) > 1:
        nodes = [_chunk(combine, nodes[i : i + 256]) for i in range(0, len(nodes), 256)]
    return nodes[0]


def _chunk(combine: Combine, nodes: list[Tree]) -> Tree:
    for distance in (128, 64, 32, 16, 8, 4, 2, 1):
        pairs = [nodes[i : i + distance + 1 : distance] for i in range(min(distance, len(nodes)))]
        nodes = [Tree(combine(p[0].value, p[1].value), *p) if len(p) == 2 else p[0] for p in pairs]
    return nodes[0]


def outside(combine: Combine, terms: list[Pair], neutral: Pair) -> list[Pair]:
    """All but one of the terms, for each of them, on the way down the tree."""
    places = {id(term[0]): i for i, term in enumerate(terms)}
    found = [neutral] * len(terms)
    pending: list[tuple[Tree, Pair | None]] = [(tree(combine, terms), None)]
    while pending:
        node, around = pending.pop()
        if node.left is None or node.right is None:
            found[places[id(node.value[0])]] = around or neutral
            continue
        for child, sibling in ((node.left, node.right), (node.right, node.left)):
            pending.append((child, combine(around, sibling.value) if around else sibling.value))
    return found


def expected(program: Program, lo: Floats, hi: Floats, point: bool = False) -> list[Pair]:
    """The outputs of a program: pairs of arrays (boxes, size)."""
    slots: list[Pair] = []
    for slot in program.slots:
        if slot.kind == form.INPUT:
            slots.append((lo, lo if point else hi))
        elif slot.kind == form.CONSTANT:
            pools = (program.constant_points,) * 2 if point else (program.constant_lo, program.constant_hi)
            here = slice(slot.offset, slot.offset + slot.size)
            slots.append((np.tile(pools[0][here], (len(lo), 1)), np.tile(pools[1][here], (len(lo), 1))))
        else:
            slots.append((np.full((len(lo), slot.size), np.nan), np.full((len(lo), slot.size), np.nan)))
    apply = at_points if point else infimum.core.apply
    for phase in program.phases:
        _run(program, phase, slots, apply)
    return [(slots[number][0] + 0.0, slots[number][1] + 0.0) for number in program.outputs]


def _columns(pair: Pair) -> list[Pair]:
    """The elements of the last axis."""
    return [(pair[0][..., i].copy(), pair[1][..., i].copy()) for i in range(pair[0].shape[-1])]


def _run(program: Program, phase: form.Phase, slots: list[Pair], apply: Callable[..., Pair]) -> None:
    zero = np.zeros(len(slots[0][0]))
    if isinstance(phase, form.Recurrence):
        a, b, y = _columns(slots[phase.a]), _columns(slots[phase.b]), (zero, zero)
        for i in range(phase.count - 1, -1, -1) if phase.reverse else range(phase.count):
            y = apply("add", apply("mul", a[i], y), b[i])
            _put(slots[phase.out], np.array([i]), (y[0][:, None], y[1][:, None]))
    elif isinstance(phase, form.Others):
        name = form.NAMES[phase.operation]
        one = zero + (name == "mul")
        for g in range(phase.groups):
            here = np.arange(g * phase.width, (g + 1) * phase.width)
            found = outside(partial(apply, name), _columns(_pick(slots[phase.source], here)), (one, one))
            _put(slots[phase.out], here, (np.stack([f[0] for f in found], 1), np.stack([f[1] for f in found], 1)))
    else:
        _body(program, phase, slots, apply)


def _pick(slot: Pair, j: Any) -> Pair:
    """Elements j, 0 where j is negative."""
    return np.where(j >= 0, slot[0][:, j], 0.0), np.where(j >= 0, slot[1][:, j], 0.0)


def _put(slot: Pair, j: Any, value: Pair) -> None:
    slot[0][:, j], slot[1][:, j] = value


def _body(program: Program, phase: form.Body, slots: list[Pair], apply: Callable[..., Pair]) -> None:
    g, e = np.meshgrid(np.arange(phase.groups), np.arange(phase.width), indexing="ij")
    i = g * phase.width + e
    registers: dict[int, Pair] = {}
    for code, dst, a, b, c, p0, p1, p2 in program.instructions[phase.first : phase.last].tolist():
        if code == form.LOAD_AFFINE:
            registers[dst] = _pick(slots[a], p0 + p1 * g + p2 * e)
        elif code == form.LOAD_WINDOW:
            j = p0 + p1 * i
            registers[dst] = _pick(slots[a], np.where((j >= 0) & (j < slots[a][0].shape[1]), j, -1))
        elif code == form.LOAD_TABLE:
            registers[dst] = _pick(slots[a], program.tables[p0 + i])
        elif code == form.STORE:
            _put(slots[dst], p0 + p1 * i, registers[a])
        elif code == form.REDUCE:
            found = tree(partial(apply, form.NAMES[p0]), _columns(registers[a])).value
            _put(slots[dst], p1 + np.arange(phase.groups), found)
        else:
            registers[dst] = _operation(code, [registers[r] for r in (a, b, c)[: form.arity(code)]], p0, apply)


def _operation(code: int, operands: list[Pair], param: int, apply: Callable[..., Pair]) -> Pair:
    name = form.NAMES[form.operation_number(code)]
    if code >= form.DEFINED:
        fact = infimum.core.facts(name, *operands, param=param)[code >= form.SMOOTH].astype(float)
        return fact, fact
    return apply(name, *operands, param=param)


# --- plain doubles -----------------------------------------------------------------------------------------------


def _nan_where(bad: Any, value: Floats) -> Floats:
    return np.where(bad, np.nan, value)


def _ties_to_away(x: Floats) -> Floats:
    whole = np.trunc(np.abs(x))
    return np.copysign(whole + (np.abs(x) - whole >= 0.5), x)


def _fused(x: Floats, y: Floats, z: Floats) -> Floats:
    each = np.vectorize(lambda a, b, c: float(oracle.NEAREST.fma(a, b, c)), otypes=[float])
    return each(x, y, z) if x.size else x


NEAREST: dict[str, Callable[..., Floats]] = {
    "neg": np.negative, "add": np.add, "sub": np.subtract, "mul": np.multiply,
    "div": lambda x, y: _nan_where(y == 0, x / y),
    "recip": lambda x: _nan_where(x == 0, 1 / x),
    "fma": _fused, "sqr": np.square, "sqrt": np.sqrt, "abs": np.abs, "min": np.minimum, "max": np.maximum,
    "sign": np.sign, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "round_ties_to_even": np.rint,
    "round_ties_to_away": _ties_to_away, "mod": np.mod, "hull": np.minimum,
    "intersection": lambda x, y: _nan_where(~(x == y), x),
    "is_less": lambda x, y: _nan_where(np.isnan(x) | np.isnan(y), (x < y) * 1.0),
    "is_less_equal": lambda x, y: _nan_where(np.isnan(x) | np.isnan(y), (x <= y) * 1.0),
    "is_equal": lambda x, y: _nan_where(np.isnan(x) | np.isnan(y), (x == y) * 1.0),
    "where": lambda c, x, y: _nan_where(np.isnan(c), np.where(c != 0, x, y)),
    "step_low": np.positive, "step_high": np.positive,
}  # fmt: skip


def at_points(name: str, *operands: Pair, param: int = 0) -> Pair:
    """The value in plain doubles; of what is not exact, the lower end of the enclosure; of a reverse operation none."""
    points = [operand[0] for operand in operands]
    with np.errstate(all="ignore"):
        if name in NEAREST:
            value = NEAREST[name](*points)
        elif name in reverse_oracle.OPERATIONS:
            value = np.full_like(points[0], np.nan)
        else:
            safe = [np.where(np.isnan(x), 1.0, x) for x in points]
            lo, hi = infimum.core.apply(name, *((x, x) for x in safe), param=param)
            value = _nan_where(np.any([np.isnan(x) for x in points], axis=0) | ~(lo <= hi), lo)
        value = value + 0.0
    return value, value
