"""Chains of contractors on the current GPU: boxes of the device in, what is left of them out (PROOF).

Links and rules are the core's own (core/chain): a batch goes from link to link, and between the runs of Programs
device_chain.h has one small kernel a rule. A pass of a link is

    the boxes that are left of it are gathered as a Program reads them         one kernel
    the Program runs, on the kernel that its place has for it                  one, or the CPU's virtual machine
    rule, shrinkage, what goes back, whether the box stays for another pass    one kernel
    those that stay are listed                                                 a scan of integers

Guarantee: the bits of core.chain.Chain.run for every box, and the same counts. A whole chain is audited as kernels are
(audit.py): some boxes of a batch go through the CPU's chain as well.

    what happens                                        what follows
    the memory is short                                 the CPU's chain
    a box, or the user's gradient on one, is none       the CPU's chain, which says so
    a box is other than the CPU's, in the first batch   the rules are compiled again with care, and the batch repeated
    likewise, later or with care                        refused
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from infimum import deadline
from infimum.backends.cuda import audit, launch
from infimum.backends.cuda import compile as cuda_compile
from infimum.backends.cuda import device as cuda_device
from infimum.backends.cuda import fused as cuda_fused
from infimum.backends.cuda.device import cuda_errors_as_refusals, picked
from infimum.core.chain import TAKEN_UNIT, Chain, Left, Link
from infimum.core.codes import ChainKeeping, ChainKnown, ChainLink
from infimum.errors import InvalidInterval
from infimum.passes.lowering.program import Program

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

FloatArray = npt.NDArray[np.float64]
Source = Callable[[], Program | None]
Run = Callable[[Program, Any, Any], list[tuple[Any, Any]]]
Pair = tuple[Any, Any]

RULES = (
    "enter", "leave", "count", "marked", "given", "facts", "slopes", "users", "apart", "level_given", "level",
    "monotone", "inner", "stationary_given", "stationary", "centre_given", "form_given", "mean_value",
)  # fmt: skip
_BLOCKS = 32  # per processor
_APART = {"image", "jacobian"}  # Programs of chains that go pass by pass


class Given(NamedTuple):
    """What a chain knows of the function and of the domain: core.chain.Given, with Programs in place of tapes."""

    programs: Mapping[str, Source]
    edges: tuple[FloatArray, FloatArray]
    ends: tuple[FloatArray, FloatArray]


class _Contradiction(Exception):
    """The user's gradient is none, or a box that a whole link was given."""


# ------------------------------------------------------------------------------------------------ kernels


def text() -> str:
    """Return the CUDA C++ of all rules."""
    return "\n".join(['#include "device_chain.h"', *(f"INFIMUM_CHAIN_ENTRY({rule})" for rule in RULES), ""])


@cache
def kernels(number: int) -> Future[Kernels]:
    """Return what becomes the kernels of the rules on GPU `number`; they are the same for all functions."""
    return _compiler().submit(Kernels, number)


@cache
def _compiler() -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor  # which brings more than a search on the CPU needs

    return ThreadPoolExecutor(1)


class Kernels:
    """The kernels of the rules on GPU `number`."""

    def __init__(self, number: int) -> None:
        self.cupy = cuda_device.cupy()
        with self.cupy.cuda.Device(number), cuda_errors_as_refusals():
            self.device = cuda_device.current()
            self.absent = self.cupy.zeros(1, np.int64)
            self.load("")

    def load(self, manner: str) -> None:
        """Load them as compiled in a manner."""
        self.is_careful = bool(manner)
        module = self.cupy.cuda.function.Module()
        module.load(cuda_compile.compiled(text(), False, 1, self.device.architecture, manner=manner))
        self._functions = {rule: module.get_function(f"infimum_chain_{rule}") for rule in RULES}

    def launch(self, rule: str, arguments: Sequence[Any], count: int) -> None:
        """Start the kernel of a rule on `count` boxes."""
        blocks = max(1, min(launch.blocks(count, 1), _BLOCKS * self.device.processors))
        given = (self.absent if one is None else one for one in arguments)
        self._functions[rule]((blocks,), (launch.THREADS[1],), (*given, np.int64(count)))


# ------------------------------------------------------------------------------------------------ chains


class CudaChain:
    """Links, one after the other, on the current GPU; on_cpu is the same chain of the core."""

    def __init__(self, n: int, links: Sequence[Link], given: Given, on_cpu: Chain) -> None:
        self.n = n
        self.links = tuple(links)
        self.given = given
        self.on_cpu = on_cpu
        self.calls = 0  # that were watched
        self._edges: Any = None
        self._fused: Future[cuda_fused.FusedKernels] | None = None

    def fuse(self) -> bool:
        """Begin to compile a kernel for each whole link, used from when it is done; return whether there can be any."""
        programs = {name: source() for name, source in self.given.programs.items() if name not in _APART}
        if (
            self._fused is None
            and not _APART & set(self.given.programs)
            and cuda_fused.can_be_fused(self.links, programs)
        ):
            self._fused = _compiler().submit(cuda_fused.FusedKernels, self.n, self.links, programs)
        return self._fused is not None

    def fused_kernels(self, wait: bool = False) -> cuda_fused.FusedKernels | None:
        """Return the kernels of whole links, once they are made."""
        return self._fused.result() if self._fused is not None and (wait or self._fused.done()) else None

    @cuda_errors_as_refusals()
    def run(
        self,
        boxes: tuple[Any, Any, Any],
        limit: Any,
        run: Run,
        *,
        upper: float = np.inf,
        keeping: ChainKeeping = ChainKeeping.KEEP_ALL,
        threads: int = 1,
    ) -> Left:
        """Return what the links leave of boxes (k, n), (k, n), (k,), on which f is to be at most a limit (k,).

        All arrays lie on the device. run: what runs a Program on boxes there, as Place.run does.
        """
        asked = _Asked(boxes, limit, upper, keeping, threads)
        made = kernels(cuda_device.cupy().cuda.Device().id).result()
        if not len(boxes[0]):
            return self._by_the_cpu(asked)
        try:
            batch = _Batch(self, made, asked, run)
            left = batch.left_by_all()
            if self._is_believed(made, asked, left, batch):
                return left
        except made.cupy.cuda.memory.OutOfMemoryError:
            made.cupy.get_default_memory_pool().free_all_blocks()
            return self._by_the_cpu(asked)
        except (_Contradiction, InvalidInterval):
            self._by_the_cpu(asked)  # raises
            raise audit.refusal(made.device.name) from None
        return self.run(boxes, limit, run, upper=upper, keeping=keeping, threads=threads)

    def edges(self, cupy: Any) -> Any:
        """Return the domain's edges and ends as kernels read them."""
        if self._edges is None:
            self._edges = cupy.asarray(np.concatenate([*self.given.edges, *self.given.ends]).astype(np.float64))
        return self._edges

    def _by_the_cpu(self, asked: _Asked) -> Left:
        return asked.by(self.on_cpu, cuda_device.to_host, deadline.left()).map(cuda_device.to_device)

    def _is_believed(self, made: Kernels, asked: _Asked, found: Left, batch: _Batch) -> bool:
        """Return whether some boxes are left as by the CPU; False where the batch must be repeated, with care."""
        at, first = audit.chosen(batch.count, self.calls), not self.calls
        self.calls += 1
        if not at.size or _agree(asked.by(self.on_cpu, lambda array: picked(array, at)), found, batch, at):
            return True
        if not first or made.is_careful:
            raise audit.refusal(made.device.name)
        self.calls = 0
        made.load(audit.CAREFUL)
        fused = self.fused_kernels()
        if fused:
            fused.load(audit.CAREFUL)
        return False


class _Asked(NamedTuple):
    """What a chain is asked for."""

    boxes: tuple[Any, Any, Any]
    limit: Any
    upper: float
    keeping: ChainKeeping
    threads: int

    def by(self, chain: Chain, to_host: Callable[[Any], FloatArray], seconds: float = np.inf) -> Left:
        """Return what a chain of the core leaves of the boxes, or of some of them."""
        lo, hi, lower, limit = (to_host(array) for array in (*self.boxes, self.limit))
        return chain.run(
            (lo, hi, lower), limit, upper=self.upper, keeping=self.keeping, seconds=seconds, threads=self.threads
        )


def _agree(wanted: Left, found: Left, batch: _Batch, at: Any) -> bool:
    """Return whether the boxes `at` are left as wanted, bit for bit, and as much was taken of them."""
    rows = cuda_device.to_host(found.rows).astype(np.int64)
    places = np.searchsorted(rows, at)
    there = np.append(rows, -1)[places] == at
    if not np.array_equal(np.flatnonzero(there), wanted.rows):
        return False
    some = places[there]
    has = picked(found.has_slopes, some)
    pairs = [(picked(a, some), b) for a, b in zip(found[:3], wanted[:3], strict=True)]
    pairs += [(picked(a, some)[has], b[has]) for a, b in zip(found.slopes, wanted.slopes, strict=True)]
    taken = picked(batch.taken.reshape(-1, batch.count).T, at)[:, : len(wanted.taken)].sum(0) / TAKEN_UNIT
    return (
        np.array_equal(has, wanted.has_slopes)
        and all(np.array_equal(audit.bits(a), audit.bits(b)) for a, b in pairs)
        and taken.tolist() == wanted.taken
    )


# ------------------------------------------------------------------------------------------------ a batch


class _Batch:
    """Boxes on their way through a chain, in columns on the device; a list of some is an array of rising numbers."""

    def __init__(self, chain: CudaChain, made: Kernels, asked: _Asked, run: Run) -> None:
        cupy = made.cupy
        self._chain, self._made, self._asked, self._run_program, self._cupy = chain, made, asked, run, cupy
        self.n, self.count = chain.n, len(asked.boxes[0])
        self.evaluated = 0
        self._sources = chain.given.programs
        self._has_image, self._has_users = "image" in self._sources, "jacobian" in self._sources
        self._asked_for: set[ChainKnown] = set()
        needs_slopes = any(link.kind in (ChainLink.MONOTONE, ChainLink.MEAN_VALUE) for link in chain.links)
        size = self.n * self.count
        parts = 7 if needs_slopes else 5
        columns = cupy.empty(parts * size + self.count, np.float64)
        lo, hi, start_lo, start_hi, part, *slopes = (columns[i * size : (i + 1) * size] for i in range(parts))
        bytes_of = cupy.empty(3 * self.count, np.uint8)
        known, apart, self._flag = (bytes_of[i * self.count : (i + 1) * self.count] for i in range(3))
        self.taken = cupy.zeros(max(1, len(chain.links)) * self.count, np.int64)
        self._fused = chain.fused_kernels()
        self._passes: Any = cupy.zeros(self.count, np.int64) if self._fused else None
        self._columns = (
            lo, hi, start_lo, start_hi, *(slopes or (None, None)), part, columns[-self.count :],
            asked.limit.copy(), known, apart,
        )  # fmt: skip
        self._all = cupy.arange(self.count)

    # ------------------------------------------------------------------------------------------ launches

    def _launch(
        self,
        rule: str,
        at: Any,
        *,
        given: Pair | None = None,
        a: Pair | None = None,
        b: Pair | None = None,
        option: int = 0,
        number: float = 0.0,
        link: int = 0,
    ) -> None:
        """Start the kernel of a rule on the boxes `at`."""
        self._made.launch(rule, self._arguments(at, given, a, b, option, number, link), len(at))

    def _arguments(
        self, at: Any, given: Pair | None, a: Pair | None, b: Pair | None, option: int, number: float, link: int
    ) -> tuple[Any, ...]:
        """Return what every kernel of device_chain.h is given, but for the number of boxes."""
        pairs = [_alike(pair) for pair in (given, a, b)]
        ends = [end for pair in pairs for end in pair]
        steps = [np.int64(step // 8) for lo, _ in pairs for step in ((0, 0) if lo is None else lo.strides)]
        taken = self.taken[link * self.count : (link + 1) * self.count]
        return (
            at, *self._columns, taken, self._flag, self._chain.edges(self._cupy), *ends, *steps, np.int64(self.n),
            np.int64(self.count), np.int64(option), np.float64(number),
        )  # fmt: skip

    def _kept(self, at: Any) -> Any:
        """Return those of the boxes `at` that the last rule has marked."""
        return at[self._cupy.flatnonzero(self._flag[: len(at)])]

    def _inputs(self, program: Program, count: int) -> Pair:
        """Return where the inputs of a Program are written, (count, n) each."""
        size = program.n * count
        both = self._cupy.empty(2 * size, np.float64)
        lo, hi = (end.reshape(program.n, count).T for end in (both[:size], both[size:]))
        return lo, hi

    def _outputs(self, program: Program, given: Pair) -> list[Pair]:
        return self._run_program(program, *given)

    def _program(self, name: str) -> Program:
        found = self._sources[name]()
        assert found is not None, name
        return found

    # ------------------------------------------------------------------------------------------ from link to link

    def left_by_all(self) -> Left:
        """Return what all links leave."""
        lo, hi, lower = self._asked.boxes
        self._launch("enter", self._all, given=(lo, hi), a=(lower[:, None], lower[:, None]))
        return self._whole() if self._fused else self._by_passes()

    def _by_passes(self) -> Left:
        """Return what links leave that go pass by pass."""
        keeping = self._asked.keeping
        left, active = self._all, self._kept(self._all)
        for number, link in enumerate(self._chain.links):
            if not len(left):
                break
            if len(active):
                _LINKS[link.kind](self, link, active)
            self._launch("count", left, option=int(keeping), number=self._asked.upper, link=number)
            active = self._kept(left)
            left = left if keeping == ChainKeeping.KEEP_ALL else active
        return self._leave(left)

    def _whole(self) -> Left:
        """Return what links leave that are a kernel each, which also counts."""
        fused, keeping, left = self._fused, self._asked.keeping, self._all
        assert fused is not None
        for number in range(len(self._chain.links)):
            if not len(left):
                break
            deadline.ask()
            given = self._arguments(left, None, None, None, int(keeping), self._asked.upper, number)
            fused.launch(number, given, self._passes, len(left))
            left = left if keeping == ChainKeeping.KEEP_ALL else self._kept(left)
        self.evaluated = int(self._passes.sum())
        if fused.saw_no_interval():
            raise _Contradiction
        return self._leave(left)

    def _leave(self, left: Any) -> Left:
        """Return the boxes that are left, or all of them, as rows."""
        rows = left if self._asked.keeping == ChainKeeping.KEEP_SOME else self._all
        n, count = self.n, len(rows)
        out = self._cupy.empty((4 * n + 1) * count, np.float64)
        lo, hi, slope_lo, slope_hi = (out[i * n * count : (i + 1) * n * count].reshape(count, n) for i in range(4))
        lower = out[4 * n * count :]
        if count:
            bound = lower[:, None], lower[:, None]
            self._launch("leave", rows, given=(lo, hi), a=(slope_lo, slope_hi), b=bound)
        has = self._flag[:count].view(np.bool_)
        sums = cuda_device.to_host(self.taken.reshape(-1, self.count).sum(axis=1))
        taken = (sums[: len(self._chain.links)] / TAKEN_UNIT).tolist()
        return Left(lo, hi, lower, rows, (slope_lo, slope_hi), has, taken, self.evaluated)

    # ------------------------------------------------------------------------------------------ what is known of boxes

    def _without(self, at: Any, bit: ChainKnown) -> Any:
        """Return the boxes of which something is not known."""
        if bit not in self._asked_for:
            self._asked_for.add(bit)
            return at
        self._launch("marked", at, option=int(bit))
        return self._kept(at)

    def _know_facts(self, at: Any) -> bool:
        """See to it that the facts are known; return whether f is defined and smooth everywhere."""
        program = self._sources["facts"]()
        if program is None:
            return True
        unknown = self._without(at, ChainKnown.HAS_FACTS)
        if len(unknown):
            given = self._inputs(program, len(unknown))
            self._launch("given", unknown, given=given)
            defined, smooth = self._outputs(program, given)
            self._launch("facts", unknown, a=defined, b=smooth)
        return False

    def _smooth_ones(self, at: Any) -> Any:
        """Return the boxes around which f is certainly smooth."""
        if not len(at) or self._know_facts(at):
            return at
        smooth = int(ChainKnown.IS_SMOOTH)
        self._launch("marked", at, option=smooth | smooth << 8)
        return self._kept(at)

    def _know_slopes(self, at: Any) -> None:
        """See to it that the slopes are known; the user's count where f is certainly smooth."""
        is_smooth = self._has_users and self._know_facts(at)
        unknown = self._without(at, ChainKnown.HAS_SLOPE)
        if not len(unknown):
            return
        program = self._program("gradient")
        given = self._inputs(program, len(unknown))
        self._launch("given", unknown, given=given)
        (slope,) = self._outputs(program, given)
        self._launch("slopes", unknown, a=slope)
        if self._has_users:
            own, defined = self._outputs(self._program("jacobian"), given)
            self._launch("users", unknown, a=own, b=defined, option=int(is_smooth))
            if bool(self._flag[: len(unknown)].any()):
                raise _Contradiction

    def _see_edges(self, at: Any) -> None:
        """See which boxes may reach an oblique edge, where edges are oblique."""
        if not self._has_image or not len(at):
            return
        program = self._program("image")
        given = self._inputs(program, len(at))
        self._launch("given", at, given=given)
        (image,) = self._outputs(program, given)
        self._launch("apart", at, a=image)

    # ------------------------------------------------------------------------------------------ links

    def _level(self, link: Link, active: Any) -> None:
        program = self._program(link.programs[0])
        for number in range(link.passes):
            given = self._inputs(program, len(active))
            self._launch("level_given", active, given=given)
            found, value = self._outputs(program, given)
            self.evaluated += len(active)
            self._launch("level", active, a=found, b=value, number=link.least)
            active = active if number + 1 == link.passes else self._kept(active)
            if not len(active):
                return

    def _monotone(self, _: Link, active: Any) -> None:
        active = self._smooth_ones(active)
        if len(active):
            self._know_slopes(active)
            self._see_edges(active)
            self._launch("monotone", active, option=int(self._has_image))

    def _stationary(self, link: Link, active: Any) -> None:
        self._see_edges(active)
        self._launch("inner", active, option=int(self._has_image))
        active = self._smooth_ones(self._kept(active))
        for number in range(link.passes):
            if not len(active):
                return
            if number:
                self._see_edges(active)
            program = self._program(link.programs[0])
            given = self._inputs(program, len(active))
            self._launch("stationary_given", active, given=given, option=int(self._has_image))
            found, slope = self._outputs(program, given)
            self._launch("stationary", active, given=given, a=found, b=slope, number=link.least)
            active = active if number + 1 == link.passes else self._kept(active)

    def _mean_value(self, link: Link, active: Any) -> None:
        active = self._smooth_ones(active)
        if not len(active):
            return
        self._know_slopes(active)
        value_program, form_program = (self._program(name) for name in link.programs)
        point = self._inputs(value_program, len(active))
        self._launch("centre_given", active, given=point)
        (value,) = self._outputs(value_program, point)
        given = self._inputs(form_program, len(active))
        self._launch("form_given", active, given=given, a=value, b=point)
        found, bound = self._outputs(form_program, given)
        self._launch("mean_value", active, a=found, b=bound)


_LINKS: dict[ChainLink, Callable[[_Batch, Link, Any], None]] = {
    ChainLink.LEVEL: _Batch._level,
    ChainLink.MONOTONE: _Batch._monotone,
    ChainLink.STATIONARY: _Batch._stationary,
    ChainLink.MEAN_VALUE: _Batch._mean_value,
}


def _alike(pair: Pair | None) -> Pair:
    """Return two arrays that lie in memory in the same order."""
    if pair is None:
        return None, None
    lo, hi = pair
    return pair if lo.strides == hi.strides else (lo.copy(order="C"), hi.copy(order="C"))
