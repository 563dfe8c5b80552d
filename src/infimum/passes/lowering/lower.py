"""From a graph to a Program: which nodes are stored, which phase computes what, and in what order.

A node is *stored* (has a slot) if it is an input, a constant, a reduction, or read in a way that needs it in memory;
every other node is computed in registers inside each phase that needs it. Levels order the phases:

    node                                   level
    x, constant                            0
    computed in registers                  the highest of its operands
    stored by a loop (reduction, array)    1 + the highest of its operands
Loops of one level and one space form one phase; the scalars of a level follow its loops in one phase.

Guarantee: every stored element is computed by the operations of the graph, on the fixed trees, whatever the grouping.
"""

from __future__ import annotations

from collections.abc import Iterable

from infimum.deadline import ask
from infimum.graph.build import CHEAP
from infimum.graph.indexmap import Affine, IndexMap, Table, Window
from infimum.graph.node import REDUCTIONS, Node, ancestors
from infimum.graph.payload import integer_of, map_of, others_of, value_of
from infimum.passes.lowering import program as form
from infimum.passes.lowering.program import NUMBERS, Program
from infimum.passes.lowering.writer import Row, Writer

_LOOPS = frozenset({*REDUCTIONS, "concat", "others", "recurrence"})
_OFTEN = 1023  # instructions after which the time is asked
Space = tuple[int, int]


def lower(outputs: list[Node], variables: int) -> Program:
    """Return the Program whose output slots are these nodes, in this order."""
    return _Lower(outputs, variables).program()


class _Lower:
    def __init__(self, outputs: list[Node], variables: int) -> None:
        self.outputs = outputs
        self.variables = variables
        self.nodes = ancestors(outputs)
        self.stored = self._must_store()
        self.level = self._levels()
        self.stored |= self._worth_storing()
        self.level = self._levels()
        self.stored |= self._scalars_across_phases()
        self.writer = Writer(variables)
        self.slots: dict[Node, int] = {}

    # ------------------------------------------------------------------------------------------ what is stored
    def _must_store(self) -> set[Node]:
        found = {node for node in self.nodes if node.op in _LOOPS or node.op in ("x", "constant")}
        found.update(self.outputs)
        for node in self.nodes:
            if node.op in ("take", "others", "recurrence"):
                found.update(node.args)
        return found

    def _levels(self) -> dict[Node, int]:
        level: dict[Node, int] = {}
        for node in self.nodes:
            highest = max([level[a] for a in node.args], default=0)
            loop = node in self.stored and node.args and (node.size > 1 or node.op in _LOOPS)
            # a take reads memory, so the phase that stores a scalar must be over before it
            reads_scalar = node.op == "take" and node.args[0].size == 1
            level[node] = highest + 1 if loop or reads_scalar else highest
        return level

    def _worth_storing(self) -> set[Node]:
        """Return costly arrays that two different phases would compute."""
        found: set[Node] = set()
        phases: dict[Node, set[object]] = {}  # of the arrays that are computed in some phase
        for node in reversed(self.nodes):
            if node.op in ("x", "constant", "take") or (node.size == 1 and node.op not in _LOOPS):
                continue
            costly = node.op not in CHEAP and node not in self.stored and node.size > 1
            if costly and len(phases.get(node, ())) > 1:
                found.add(node)
            kept = node in self.stored or node in found
            own = {(self.level[node], _space(node))} if kept else phases.get(node, set())
            for argument in node.args:
                if argument.size > 1 or argument.op in _LOOPS:
                    phases.setdefault(argument, set()).update(own)
        return found

    def _scalars_across_phases(self) -> set[Node]:
        found = set()
        for node in self.nodes:
            alone = node.size == 1 and node.op not in _LOOPS
            for a in node.args:
                if a.size == 1 and a.op != "take" and not (alone and self.level[a] == self.level[node]):
                    found.add(a)
        return found

    # ------------------------------------------------------------------------------------------ phases
    def program(self) -> Program:
        for node in self.nodes:
            if node in self.stored:
                self.slots[node] = self._slot(node)
        for level in range(max(self.level.values(), default=0) + 1):
            here = [n for n in self.nodes if n in self.stored and n.args and self.level[n] == level]
            loops = [n for n in here if n.size > 1 or n.op in _LOOPS]
            self._loops(loops)
            self._scalars([n for n in here if n.size == 1 and n.op not in _LOOPS])
        return self.writer.program([self.slots[node] for node in self.outputs])

    def _slot(self, node: Node) -> int:
        if node.op == "x":
            return self.writer.input()
        if node.op == "constant":
            value = value_of(node)
            return self.writer.constant(*value.enclosure(), value.points())
        return self.writer.vector(node.size)

    def _loops(self, nodes: list[Node]) -> None:
        by_space: dict[Space, list[Node]] = {}
        for node in nodes:
            if node.op == "others":
                op, width = others_of(node)
                slot, source = self.slots[node], self.slots[node.args[0]]
                self.writer.others(slot, source, NUMBERS[op], node.size // width, width)
            elif node.op == "recurrence":
                a, b = (self.slots[argument] for argument in node.args)
                self.writer.recurrence(self.slots[node], a, b, node.size, bool(node.data))
            elif node.op == "concat":
                self._concat(node)
            else:
                by_space.setdefault(_space(node), []).append(node)
        for space, members in by_space.items():
            self._phase(space, members)

    def _concat(self, node: Node) -> None:
        start = 0
        for piece in node.args:
            body = _Body(self, (piece.size, 1))
            body.store(piece, self.slots[node], start)
            body.finish()
            start += piece.size

    def _phase(self, space: Space, members: list[Node]) -> None:
        body = _Body(self, space, [node for node in members if node.op not in REDUCTIONS])
        for node in members:
            if node.op in REDUCTIONS:
                body.reduce(node.args[0], self.slots[node], NUMBERS[REDUCTIONS[node.op]])
            else:
                body.store(node, self.slots[node], 0)
        body.finish()

    def _scalars(self, nodes: list[Node]) -> None:
        if nodes:
            self._phase((1, 1), nodes)


def _space(node: Node) -> Space:
    """Return groups and width of the loop that stores a node."""
    if node.op in REDUCTIONS:
        return node.size, integer_of(node)
    return node.size, 1


def _code(op: str) -> int:
    for prefix, base in (("defined:", form.DEFINED), ("smooth:", form.SMOOTH)):
        if op.startswith(prefix):
            return base + NUMBERS[op.removeprefix(prefix)]
    return form.OP + NUMBERS[op]


class _Body:
    """The instructions of one phase; a node is computed once, and read from its slot if an earlier phase stored it."""

    def __init__(self, lower: _Lower, space: Space, current: Iterable[Node] = ()) -> None:
        self.lower = lower
        self.space = space
        self.current = set(current)  # nodes that this very phase stores
        self.rows: list[Row] = []
        self.registers: dict[Node, int] = {}

    def finish(self) -> None:
        self.lower.writer.body(self.space, self.rows)

    def store(self, node: Node, slot: int, offset: int) -> None:
        self.rows.append((form.STORE, slot, self.value(node), 0, 0, offset, 1, 0))

    def reduce(self, node: Node, slot: int, op: int) -> None:
        self.rows.append((form.REDUCE, slot, self.value(node), 0, 0, op, 0, 0))

    def value(self, node: Node) -> int:
        """Return the register that holds a node; deep expressions are walked without recursion."""
        pending = [node]
        while pending:
            if not len(self.rows) & _OFTEN:
                ask()
            current = pending[-1]
            if current in self.registers:
                pending.pop()
                continue
            loaded = current.op == "take" or (current in self.lower.stored and current not in self.current)
            below = [] if loaded else [a for a in current.args if a not in self.registers]
            if below:
                pending.extend(reversed(below))
                continue
            self.registers[pending.pop()] = self._load(current) if loaded else self._compute(current)
        return self.registers[node]

    def _compute(self, node: Node) -> int:
        registers = [self.registers[a] for a in node.args] + [0, 0]
        param = node.data if isinstance(node.data, int) else 0
        return self._emit(_code(node.op), registers[0], registers[1], registers[2], param, 0, 0)

    def _emit(self, code: int, a: int, b: int, c: int, p0: int, p1: int, p2: int) -> int:
        register = len(self.rows)  # every row makes a new register; the writer reuses them
        self.rows.append((code, register, a, b, c, p0, p1, p2))
        return register

    def _load(self, node: Node) -> int:
        if node.op == "take":
            return self._load_through(self.lower.slots[node.args[0]], map_of(node))
        slot = self.lower.slots[node]
        if node.size == 1:
            return self._emit(form.LOAD_AFFINE, slot, 0, 0, 0, 0, 0)
        return self._emit(form.LOAD_AFFINE, slot, 0, 0, 0, self.space[1], 1)

    def _load_through(self, slot: int, m: IndexMap) -> int:
        groups, width = self.space
        if isinstance(m, Window):
            return self._emit(form.LOAD_WINDOW, slot, 0, 0, m.offset, m.step, 0)
        if isinstance(m, Affine):
            strides = _strides(m, groups, width)
            if strides is not None:
                return self._emit(form.LOAD_AFFINE, slot, 0, 0, m.offset, *strides)
            m = Table(m.indices().tobytes(), m.source)
        return self._emit(form.LOAD_TABLE, slot, 0, 0, self.lower.writer.table(m.entries), 0, 0)


def _strides(m: Affine, groups: int, width: int) -> tuple[int, int] | None:
    """Return the strides over groups and over the width, if the view has no other dimensions."""
    if not m.dims:
        return 0, 0
    if len(m.dims) == 1:
        stride = m.dims[0][1]
        return stride * width, stride
    (outer, over_groups), (inner, over_width) = m.dims[0], m.dims[-1]
    return (over_groups, over_width) if len(m.dims) == 2 and (outer, inner) == (groups, width) else None
