"""Whole links of a chain as one kernel each: Programs, rules and passes in one text (device_fused.h).

A thread takes a box through all passes of a link, so that a link is one launch and not several for each pass; but
threads of a warp wait for the one with the most passes, and the text is compiled for one chain of one function. Whether
that is faster has not been measured: nothing uses it unless asked (CudaChain.fuse).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from infimum.backends.cuda import compile as cuda_compile
from infimum.backends.cuda import device as cuda_device
from infimum.backends.cuda import launch
from infimum.backends.cuda.device import cuda_errors_as_refusals
from infimum.backends.cuda.emit import Emitted, emit, is_long, literal
from infimum.core.chain import Link
from infimum.core.codes import ChainLink
from infimum.passes.lowering.program import Program

Programs = Mapping[str, Program | None]

_BLOCKS = 3  # per processor: as many as it holds at least (device.h), so that rooms are few
_HEAD = r"""#ifndef INFIMUM_NAMESPACE
#define INFIMUM_NAMESPACE infimum_cuda
#endif
#define INFIMUM_READ_BOX(address) (*(address))
#undef INFIMUM_ENTRY
#define INFIMUM_ENTRY(program, alone)                                                  \
    namespace INFIMUM_NAMESPACE {                                                      \
    INFIMUM_LONG_FN void program##_box(const Arguments &a, long long box) {            \
        program<Computed<Range, 1, alone>, 1>(a, {box, a.count});                      \
    }                                                                                  \
    }
"""


def can_be_fused(links: Sequence[Link], programs: Programs) -> bool:
    """Return whether all Programs of the links are small enough for one thread a box."""
    needed = (programs[name] for name in _needed(links))
    return bool(links) and all(
        program is None or (not is_long(program) and launch.best_team(program, 1, 1) == 1) for program in needed
    )


def _needed(links: Sequence[Link]) -> list[str]:
    """Return the names of the Programs that links run, each once."""
    found: dict[str, None] = {}
    for link in links:
        found.update(dict.fromkeys(link.programs))
        if link.kind != ChainLink.LEVEL:
            found["facts"] = None
        if link.kind in (ChainLink.MONOTONE, ChainLink.MEAN_VALUE):
            found["gradient"] = None
    return list(found)


class _Text:
    """The text of a chain's links, with the constants and tables of all their Programs."""

    def __init__(self, links: Sequence[Link], programs: Programs) -> None:
        names = [name for name in _needed(links) if programs[name] is not None]
        self.emitted: dict[str, Emitted] = {}
        self.inputs: dict[str, int] = {}
        self.forms = {link.programs[1] for link in links if link.kind == ChainLink.MEAN_VALUE}
        pools: list[Any] = []
        tables: list[Any] = []
        parts = [_HEAD]
        for name in names:
            program = programs[name]
            assert program is not None
            made = self.emitted[name] = emit(program, f"p_{name}")
            self.inputs[name] = program.n
            places = sum(map(len, pools)), sum(map(len, tables))
            pool = launch.pool(program, False)
            pools.append(np.append(pool, 0.0)[: len(pool) + len(pool) % 2])  # pairs lie at even places
            tables.append(launch.tables(program))
            parts += [made.text, _as_type(name, program.n, made.outputs, *places)]
        parts.append('#include "device_fused.h"')
        parts += [
            f"INFIMUM_LINK_ENTRY(link{number}, {call})" for number, call in enumerate(_calls(links, self.emitted))
        ]
        self.text = "\n".join([*parts, ""])
        self.pool, self.tables = np.concatenate(pools), np.concatenate(tables)

    def room(self, form: bool) -> int:
        """Return how many intervals a thread's room has, that of the form or that of all others."""
        each = [
            self.inputs[name] + sum(made.outputs) for name, made in self.emitted.items() if (name in self.forms) == form
        ]
        return max(each, default=0)


def _as_type(name: str, inputs: int, outputs: tuple[int, ...], pool: int, tables: int) -> str:
    numbers = f"INPUTS = {inputs}, SECOND = {outputs[0]}, POOL = {pool}, TABLES = {tables}"
    run = f"static INFIMUM_METHOD void run(const Arguments &a, long long box) {{ p_{name}_box(a, box); }}"
    return f"namespace INFIMUM_NAMESPACE {{\nstruct {_type(name)} {{\n    enum {{ {numbers} }};\n    {run}\n}};\n}}\n"


def _type(name: str) -> str:
    return f"{name.capitalize()}Program"


def _calls(links: Sequence[Link], emitted: Mapping[str, Emitted]) -> Iterator[str]:
    """Yield what each link's kernel does with a box."""
    facts = _type("facts") if "facts" in emitted else "Everywhere"
    gradient = _type("gradient")
    for link in links:
        own = [_type(name) for name in link.programs]
        types, repeated = {
            ChainLink.LEVEL: (own, True),
            ChainLink.MONOTONE: ([facts, gradient], False),
            ChainLink.STATIONARY: ([*own, facts], True),
            ChainLink.MEAN_VALUE: ([*own, facts, gradient], False),
        }[link.kind]
        more = f", {link.passes}, {literal(link.least)}" if repeated else ""
        yield f"{link.kind.name.lower()}_link<{', '.join(types)}>(rooms, a, k{more})"


def text(links: Sequence[Link], programs: Programs) -> str:
    """Return the CUDA C++ of the kernels of links."""
    return _Text(links, programs).text


class FusedKernels:
    """The kernels of the links of one chain, on the current GPU."""

    def __init__(self, n: int, links: Sequence[Link], programs: Programs) -> None:
        self.cupy = cuda_device.cupy()
        self.count = len(links)
        self._text = _Text(links, programs)
        with cuda_errors_as_refusals():
            self.device = cuda_device.current()
            self._pool, self._tables = self.cupy.asarray(self._text.pool), self.cupy.asarray(self._text.tables)
            self._wrong = self.cupy.zeros(1, np.int32)
            self.load("")
            self.cupy.cuda.get_current_stream().synchronize()  # other streams use the same constants

    def load(self, manner: str) -> None:
        """Load them as compiled in a manner."""
        module = self.cupy.cuda.function.Module()
        manner = manner or cuda_compile.QUICK
        module.load(cuda_compile.compiled(self._text.text, False, 1, self.device.architecture, manner=manner))
        self._functions = [module.get_function(f"infimum_link{number}") for number in range(self.count)]

    def launch(self, number: int, arguments: Sequence[Any], passes: Any, count: int) -> None:
        """Start the kernel of a link on `count` boxes. arguments: those of device_chain.h."""
        blocks = launch.blocks(count, 1, _BLOCKS * self.device.processors)
        threads = launch.teams(blocks, 1)
        scratch = max((made.scratch(1) for made in self._text.emitted.values()), default=0)
        sizes = [self._text.room(False)] * 2 + [self._text.room(True)] * 2 + [2 * scratch]
        rooms = [self.cupy.empty(max(1, size * threads), np.float64) for size in sizes]
        given = (*rooms[:4], self._pool, self._tables, rooms[4], self._wrong, passes)
        absent = self._wrong
        there = (absent if one is None else one for one in arguments)
        self._functions[number]((blocks,), (launch.THREADS[1],), (*given, *there, np.int64(count)))

    def saw_no_interval(self) -> bool:
        """Return whether a box was no interval since this was last asked."""
        found = bool(int(self._wrong[0]))
        if found:
            self._wrong.fill(0)
        return found
