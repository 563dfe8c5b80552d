"""Write a Program phase by phase: slots, pools, and registers used again as soon as they are free."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from infimum.passes.lowering import program as form
from infimum.passes.lowering.program import Program

FloatArray = npt.NDArray[np.float64]
Row = tuple[int, int, int, int, int, int, int, int]


class Writer:
    """A Program under construction."""

    def __init__(self, variables: int) -> None:
        self.variables = variables
        self.slots: list[form.Slot] = []
        self.phases: list[form.Phase] = []
        self.rows: list[npt.NDArray[np.int64]] = []
        self.written = 0
        self.pool: list[tuple[FloatArray, FloatArray, FloatArray]] = []
        self.pooled = 0
        self.tables: list[npt.NDArray[np.int64]] = []
        self.tabled = 0
        self.known_tables: dict[bytes, int] = {}

    def _slot(self, kind: int, size: int, offset: int) -> int:
        self.slots.append(form.Slot(kind, size, offset))
        return len(self.slots) - 1

    def input(self) -> int:
        return self._slot(form.INPUT, self.variables, 0)

    def constant(self, lo: FloatArray, hi: FloatArray, points: FloatArray) -> int:
        self.pool.append((lo, hi, points))
        self.pooled += lo.size
        return self._slot(form.CONSTANT, lo.size, self.pooled - lo.size)

    def vector(self, size: int) -> int:
        return self._slot(form.VECTOR, size, 0)

    def table(self, entries: bytes) -> int:
        """Return where a table starts in the pool; equal tables are stored once."""
        found = self.known_tables.get(entries)
        if found is None:
            found = self.known_tables[entries] = self.tabled
            table = np.frombuffer(entries, np.int64)
            self.tables.append(table)
            self.tabled += table.size
        return found

    def body(self, space: tuple[int, int], rows: list[Row]) -> None:
        """Add a phase of instructions on registers, each defined once; registers are shared here."""
        packed, registers = form.allocate(rows)
        self.rows.append(packed)
        self.written += len(packed)
        self.phases.append(form.Body(*space, self.written - len(packed), self.written, registers))

    def others(self, out: int, source: int, operation: int, groups: int, width: int) -> None:
        self.phases.append(form.Others(out, source, operation, groups, width))

    def recurrence(self, out: int, a: int, b: int, count: int, reverse: bool) -> None:
        self.phases.append(form.Recurrence(out, a, b, count, reverse))

    def program(self, outputs: list[int]) -> Program:
        lo, hi, points = (np.concatenate([entry[i] for entry in self.pool] or [np.empty(0)]) for i in range(3))
        return Program(
            n=self.variables,
            slots=tuple(self.slots),
            constant_lo=lo,
            constant_hi=hi,
            constant_points=points,
            tables=np.concatenate(self.tables or [np.empty(0, np.int64)]),
            instructions=np.concatenate(self.rows or [np.empty((0, 8), np.int64)]),
            phases=tuple(self.phases),
            outputs=tuple(outputs),
        )
