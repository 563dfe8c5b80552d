"""A chain on a GPU has the bits and counts of the core's; without a GPU its kernels run on the host (host_shim.h)."""

from __future__ import annotations

import importlib
import json
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fake_cupy
import host_cuda
import nvrtc
import test_auto_cuda
from infimum import deadline, problems
from infimum.backends.cuda import audit
from infimum.backends.cuda import chain as cuda_chain
from infimum.backends.cuda import compile as cuda_compile
from infimum.backends.cuda import device as cuda_device
from infimum.backends.cuda import fused as cuda_fused
from infimum.backends.placement import Gpu, is_on_device
from infimum.boxes import Boxes
from infimum.contractors import Level, MeanValue, Monotone, Stationary
from infimum.contractors.chain import ContractorChain
from infimum.contractors.known import Known
from infimum.contractors.links import Links
from infimum.contractors.rotated import rotated_boxes
from infimum.core.chain import Left
from infimum.core.codes import ChainKeeping
from infimum.domain import Domain, read_bounds
from infimum.errors import BackendUnavailable, InvalidInterval, InvalidJacobian
from infimum.function.function import Function, trace
from infimum.function.rotation import rotation
from random_functions import planted_function, random_function
from test_auto_cuda import EVERYTHING

fake, quick = test_auto_cuda.fake, test_auto_cuda.quick

ALL = (Level(), Monotone(), Stationary(), MeanValue())
OTHERS = (
    (Monotone(), Level(passes=1), Monotone()),
    (MeanValue(), Stationary(passes=5, least=0.0), Level(passes=4, least=0.3), MeanValue()),
    (Stationary(),),
    (),
)


def drawn_boxes(domain: Domain, count: int, seed: int) -> Boxes:
    """Return boxes all over a domain: tiny and wide ones, points, some at its edges, the whole of it, empty ones."""
    random = np.random.default_rng(seed)
    first, last = np.clip(domain.lo, -30, 30), np.clip(domain.hi, -30, 30)
    a, b = (random.uniform(first, last, (count, domain.n)) for _ in range(2))
    wide = 10.0 ** random.uniform(-9, 0, (count, 1))
    lo, hi = np.minimum(a, a + wide * (b - a)), np.maximum(a, a + wide * (b - a))
    at_lower, at_upper = random.random((2, count, domain.n)) < 0.15
    hi[4::17] = lo[4::17]
    lo, hi = np.where(at_lower, domain.lo, lo), np.where(at_upper, domain.hi, hi)
    if count > 9:
        lo[0], hi[0] = domain.lo, domain.hi
        lo[7], hi[7], lo[9, 0], hi[9, 0] = np.inf, -np.inf, np.inf, -np.inf
        lo[8], hi[8] = -0.0, 0.0
    return Boxes(lo, hi, np.where(random.random(count) < 0.3, random.normal(size=count), -np.inf))


def levels(function: Function, boxes: Boxes) -> list[float]:
    """Return numbers that f may be at most: some value of it, none and any."""
    with np.errstate(all="ignore"):
        values = np.asarray(function(np.where(np.isfinite(boxes.lo), boxes.lo, 0.5)))
    return [float(np.median(values[np.isfinite(values)])) if np.isfinite(values).any() else 0.0, np.inf]


def same(here: Left, there: Left) -> bool:
    """Return whether both chains left the same, bit for bit, and counted the same."""
    arrays = [there.lo, there.hi, there.lower, there.rows, there.has_slopes, *there.slopes]
    assert all(map(is_on_device, arrays))
    there = there.map(cuda_device.to_host)
    has = here.has_slopes
    pairs = [*zip(here[:4], there[:4], strict=True), (has, there.has_slopes)]
    pairs += [(a[has], b[has]) for a, b in zip(here.slopes, there.slopes, strict=True)]
    counts = (here.taken, here.evaluated) == (there.taken, there.evaluated)
    return counts and all(np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(b).tobytes() for a, b in pairs)


def compared(
    function: Function,
    domain: Domain,
    boxes: Boxes,
    contractors: Sequence[Any] = ALL,
    level: float = np.inf,
    whole: bool = False,
) -> list[Left]:
    """Compare both for every way of keeping, and return what the core's left. whole: a kernel is a whole link."""
    gpu = function.on(Gpu(**EVERYTHING))
    named = [(type(one).__name__, one) for one in contractors]
    here, there = Links(named, function, domain), Links(named, gpu, domain)
    far = Boxes(*map(cuda_device.to_device, boxes))
    if whole:
        assert there._there.fuse() and there._there.fused_kernels(wait=True)
    found = []
    for keeping in ChainKeeping:
        left = here.run(boxes, Known(function, domain, level), keeping)[1]
        remembered, known = there.run(far, Known(gpu, domain, level), keeping)
        assert same(left, known), (keeping.name, function.name)
        assert all(map(is_on_device, remembered))
        found.append(left)
    assert all(np.array_equal(cuda_device.to_host(a), b) for a, b in zip(far, boxes, strict=True))
    return found


def drawn(f: Any) -> tuple[Function, Domain]:
    domain = read_bounds(f.bounds)
    return trace(f, domain.n), domain


# --- the same bits ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", range(0, 60, 10))
def test_random_functions_have_the_cores_bits(first: int, quick: Any) -> None:
    launched = len(quick.launches)
    for seed in range(first, first + 10):
        for f in (random_function(seed), planted_function(seed)):
            function, domain = drawn(f)
            boxes = drawn_boxes(domain, 40, seed)
            for level in levels(function, boxes):
                compared(function, domain, boxes, ALL, level)
            compared(function, domain, boxes, OTHERS[seed % len(OTHERS)], levels(function, boxes)[0])
    assert len(quick.launches) > launched + 1000


def test_what_links_do_is_seen_in_these_comparisons(quick: Any) -> None:
    slopes, totals = 0, dict.fromkeys(ALL, 0.0)
    for name, n in (("goldstein_price", 2), ("hartmann6", 6), ("shekel10", 4)):
        problem = problems.named(name, n)
        function, domain = trace(problem.f, n), read_bounds(problem.bounds)
        boxes = drawn_boxes(domain, 100, n)
        for one in ALL:
            _, some, _ = compared(function, domain, boxes, (one,), levels(function, boxes)[0])
            totals[one] += some.taken[0]
            slopes += int(some.has_slopes.sum())
            assert (some.evaluated > 0) == (one == Level())
    assert min(totals.values()) > 1 and slopes > 20


def _branches(x: Any) -> Any:
    return np.where(x[0] + x[1] > 0.3, np.sqrt(x[0] + 1.5), np.log(2 - x[1])) + (x[0] * x[1] - 0.2) ** 2


def _nowhere(x: Any) -> Any:
    return np.sqrt(-1 - x[0] ** 2) + x[1]


def _steps(x: Any) -> Any:
    return np.floor(3 * x[0]) + np.abs(x[1]) + x[0] ** 2


@pytest.mark.parametrize("f", [_branches, _nowhere, _steps])
@pytest.mark.parametrize("bounds", [[(-1, 1)] * 2, [(-np.inf, np.inf)] * 2, [(-2, np.inf), (0, 0)]])
def test_jumps_undefined_values_and_infinite_domains_have_the_cores_bits(
    f: Callable[..., Any],
    bounds: Any,
    quick: Any,
) -> None:
    function, domain = trace(f, 2), read_bounds(bounds)
    boxes = drawn_boxes(domain, 64, 3)
    for level in (*levels(function, boxes), -1e300):
        for contractors in (ALL, *OTHERS):
            compared(function, domain, boxes, contractors, level)


@pytest.mark.parametrize(("name", "n"), [("hartmann6", 6), ("goldstein_price", 2), ("nist_misra1a", 2)])
def test_emitted_programs_between_the_rules_have_the_cores_bits(name: str, n: int, fake: Any) -> None:
    problem = problems.named(name, n)
    function, domain = trace(problem.f, n), read_bounds(problem.bounds)
    boxes = drawn_boxes(domain, 50, 1)
    compared(function, domain, boxes, ALL, levels(function, boxes)[0])


def test_wide_phases_lie_in_memory_by_boxes(quick: Any) -> None:
    problem = problems.named("rotgriewank", 70)  # a warp takes a box
    function, domain = trace(problem.f, 70), read_bounds(problem.bounds)
    boxes = drawn_boxes(domain, 12, 1)
    compared(function, domain, boxes, ALL, levels(function, boxes)[0])


def _bowl(x: Any) -> Any:
    return x[0] ** 2 - x[0] * x[1] + x[1] ** 2 + np.sqrt(1 + x[0] ** 2) + np.abs(x[1] - 1)


def _bowl_slope(x: Any) -> Any:
    return [2 * x[0] - x[1] + x[0] / np.sqrt(1 + x[0] ** 2), 2 * x[1] - x[0] + np.sign(x[1] - 1)]


def _log(x: Any) -> Any:
    return x[0] * np.log(x[1] + 1) + x[1] ** 2


def _log_slope(x: Any) -> Any:
    return [np.log(x[1] + 1), x[0] / (x[1] + 1) + 2 * x[1]]


def _half_defined(x: Any) -> Any:
    return [2 * np.sqrt(x[0]) ** 2, 2 * x[1]]


@pytest.mark.parametrize(
    ("f", "slope"),
    [(_bowl, _bowl_slope), (_log, _log_slope), (lambda x: x[0] ** 2 + x[1] ** 2, _half_defined)],
    ids=["kink", "log", "half defined"],
)
def test_a_gradient_of_the_users_has_the_cores_bits(f: Any, slope: Any, quick: Any) -> None:
    domain = read_bounds([(-2, 3)] * 2)
    function = trace(f, 2, jac=slope)
    boxes = drawn_boxes(domain, 80, 5)
    for level in levels(function, boxes):
        compared(function, domain, boxes, ALL, level)
        compared(function, domain, boxes, OTHERS[1], level)


def test_a_gradient_that_is_none_is_refused_in_the_cores_words(quick: Any) -> None:
    domain = read_bounds([(-2, 3)] * 2)
    function = trace(lambda x: x[0] ** 2 + x[1] ** 2, 2, jac=lambda x: [2 * x[0], 2 * x[1] + 0.5])
    boxes, said = drawn_boxes(domain, 40, 5), []
    for f, batch in (
        (function, boxes),
        (function.on(Gpu(**EVERYTHING)), Boxes(*map(cuda_device.to_device, boxes))),
    ):
        with pytest.raises(InvalidJacobian) as error:
            Links([("", Monotone())], f, domain).run(batch, Known(f, domain), ChainKeeping.KEEP_SOME)
        said.append(str(error.value))
    assert said[0] == said[1]


def test_boxes_at_oblique_edges_have_the_cores_bits(quick: Any) -> None:
    problem = problems.named("goldstein_price", 2)
    user = read_bounds(problem.bounds)
    turned = rotation(trace(problem.f, 2), np.zeros(2), np.eye(2))  # so that edges are met exactly
    assert turned is not None
    rotated = rotated_boxes(turned, (user.lo, user.hi), user)
    assert rotated is not None
    boxes = drawn_boxes(rotated.domain, 100, 3)
    found = Boxes(np.maximum(boxes.lo, user.lo), np.minimum(boxes.hi, user.hi), boxes.lower)
    for one in (Monotone(), Stationary()):
        compared(turned.function, rotated.domain, found, (one,))


@pytest.mark.parametrize("name", ["goldstein_price", "random"])
def test_oblique_edges_have_the_cores_bits(name: str, quick: Any) -> None:
    f = problems.named(name, 2) if name != "random" else random_function(2)
    user = read_bounds(f.bounds)
    function = trace(f.f if name != "random" else f, user.n)
    random = np.random.default_rng(2)
    turned = rotation(function, (user.lo + user.hi) / 2, np.linalg.qr(random.normal(size=(user.n, user.n)))[0])
    assert turned is not None
    rotated = rotated_boxes(turned, (user.lo, user.hi), user)
    assert rotated is not None
    boxes = drawn_boxes(rotated.domain, 60, 3)
    for level in levels(turned.function, boxes):
        lefts = compared(turned.function, rotated.domain, boxes, ALL, level)
        compared(turned.function, rotated.domain, boxes, OTHERS[1], level)
    assert any(sum(left.taken) > 1 for left in lefts)


@pytest.mark.parametrize("count", [0, 1, 129, 700])
def test_batches_of_any_size_and_order_have_the_cores_bits(count: int, quick: Any) -> None:
    function, domain = trace(_branches, 2), read_bounds([(-1, 1)] * 2)
    boxes = drawn_boxes(domain, count, 3)
    compared(function, domain, boxes, ALL, 0.9)
    compared(function, domain, Boxes(np.asfortranarray(boxes.lo), boxes.hi, boxes.lower), ALL, 0.9)


def test_bounds_at_the_limit_and_at_infinity_have_the_cores_bits(quick: Any) -> None:
    function, domain = trace(_branches, 2), read_bounds([(-1, 1)] * 2)
    boxes = drawn_boxes(domain, 100, 3)
    boxes.lower[::3], boxes.lower[1::3] = 0.9, np.inf
    for level in (0.9, np.inf):
        for contractors in (ALL, *OTHERS):
            compared(function, domain, boxes, contractors, level)


@pytest.mark.parametrize("whole", [False, True])
def test_a_limit_for_each_box_has_the_cores_bits(whole: bool, quick: Any) -> None:
    problem = problems.named("goldstein_price", 2)
    function, domain = trace(problem.f, 2), read_bounds(problem.bounds)
    boxes = drawn_boxes(domain, 200, 3)
    limit = np.random.default_rng(3).choice(np.asarray(function(boxes.lo[10:])), 200)
    gpu = function.on(Gpu(**EVERYTHING))
    far = Boxes(*map(cuda_device.to_device, boxes))
    for one in (MeanValue(), Level()):
        links = Links([("", one)], gpu, domain)
        assert not whole or (links._there.fuse() and links._there.fused_kernels(wait=True))
        wanted = links._chain.run((boxes.lo, boxes.hi, boxes.lower), limit)
        found = links._there.run((far.lo, far.hi, far.lower), cuda_device.to_device(limit), gpu.place.run)
        assert same(wanted, found) and wanted.taken[0] > 1


def test_programs_without_a_kernel_run_on_the_cpu_between_the_rules(quick: Any) -> None:
    function, domain = trace(_branches, 2), read_bounds([(-1, 1)] * 2)
    boxes = drawn_boxes(domain, 60, 3)
    gpu = function.on(Gpu(call=0.0, patience=1e9, many=0))
    named = [(type(one).__name__, one) for one in ALL]
    left = Links(named, function, domain).run(boxes, Known(function, domain, 0.9), ChainKeeping.KEEP_SOME)[1]
    there, known = Links(named, gpu, domain), Known(gpu, domain, 0.9)
    far = Boxes(*map(cuda_device.to_device, boxes))
    found = there._there.run(tuple(far), known.limits(far), gpu.place.run, upper=0.9, keeping=ChainKeeping.KEEP_SOME)
    assert same(left, found) and not gpu.place.kernels


def test_slopes_come_back_with_the_boxes(quick: Any) -> None:
    problem = problems.hartmann6()
    function, domain = trace(problem.f, 6), read_bounds(problem.bounds)
    lo = np.random.default_rng(5).uniform(0, 0.9, (200, 6))
    found = []
    for f in (function, function.on(Gpu(**EVERYTHING))):
        chain = ContractorChain(f, domain, contractors=("level", "mean_value"))
        chain.contract(Boxes(lo, lo + 0.1), 10.0)
        found.append(chain.known.remembered())
    here, there = found
    assert here is not None and there is not None and here.has.any()
    for a, b in zip((*here.boxes, *here.slopes), (*there.boxes, *there.slopes), strict=True):
        assert not is_on_device(b) and a[here.has].tobytes() == b[here.has].tobytes()
    assert np.array_equal(here.has, there.has)


def test_a_box_that_is_none_is_refused_in_the_cores_words(quick: Any) -> None:
    function, domain = trace(_branches, 2), read_bounds([(-1, 1)] * 2)
    boxes = drawn_boxes(domain, 20, 3)
    boxes.lo[15], boxes.hi[15] = np.inf, np.inf  # behind boxes that are empty, and not gathered
    far, gpu, said = Boxes(*map(cuda_device.to_device, boxes)), function.on(Gpu(**EVERYTHING)), []
    for f, batch, whole in ((function, boxes, False), (gpu, far, False), (gpu, far, True)):
        links = Links([("", Level())], f, domain)
        assert not whole or (links._there.fuse() and links._there.fused_kernels(wait=True))
        with pytest.raises(InvalidInterval) as error:
            links.run(batch, Known(f, domain), ChainKeeping.KEEP_SOME)
        said.append(str(error.value))
    assert said[0] == said[1] == said[2]


@pytest.mark.parametrize("whole", [False, True])
def test_a_chain_ends_when_there_is_no_time_left(whole: bool, quick: Any) -> None:
    function, domain = trace(_branches, 2), read_bounds([(-1, 1)] * 2)
    gpu = function.on(Gpu(**EVERYTHING))
    links = Links([("", Level())], gpu, domain)
    assert not whole or (links._there.fuse() and links._there.fused_kernels(wait=True))
    far = Boxes(*map(cuda_device.to_device, drawn_boxes(domain, 20, 3)))
    with pytest.raises(deadline.Late), deadline.until(time.perf_counter()):
        links.run(far, Known(gpu, domain), ChainKeeping.KEEP_SOME)


# --- whole links -----------------------------------------------------------------------------------------------------

WHOLE: dict[str, Callable[[], Any]] = {
    "random 2": lambda: random_function(2),
    "random 12": lambda: random_function(12),
    "kink": lambda: planted_function(1),
    "steps": lambda: planted_function(3),
    "border": lambda: planted_function(4),
    "sum": lambda: planted_function(7),
    "hartmann6": problems.hartmann6,
}


@pytest.mark.parametrize("name", WHOLE)
def test_whole_links_have_the_cores_bits(name: str, quick: Any) -> None:
    f = WHOLE[name]()
    domain = read_bounds(f.bounds)
    function = trace(getattr(f, "f", f), domain.n)
    boxes = drawn_boxes(domain, 300, 7)
    for level in levels(function, boxes):
        compared(function, domain, boxes, ALL, level, whole=True)


def test_whole_links_in_another_order_have_the_cores_bits(quick: Any) -> None:
    function, domain = trace(_branches, 2), read_bounds([(-1, np.inf), (0, 0.5)])
    boxes = drawn_boxes(domain, 80, 7)
    compared(function, domain, boxes, OTHERS[1], 0.9, whole=True)


def test_a_whole_link_is_one_launch(quick: Any) -> None:
    function, domain = trace(_branches, 2), read_bounds([(-1, 1)] * 2)
    gpu = function.on(Gpu(**EVERYTHING))
    links = Links([(type(one).__name__, one) for one in ALL], gpu, domain)
    assert links._there.fuse() and links._there.fused_kernels(wait=True)
    far = Boxes(*map(cuda_device.to_device, drawn_boxes(domain, 5000, 3)))
    links.run(far, Known(gpu, domain, 0.9), ChainKeeping.KEEP_SOME)
    assert len(quick.launches) == 6  # enter, four links, leave
    assert quick.launches[1] == (3, 5000)  # 384 threads: they go on to further boxes


def test_what_cannot_be_whole_goes_pass_by_pass(quick: Any) -> None:
    domain = read_bounds([(-2, 3)] * 2)
    users = trace(_bowl, 2, jac=_bowl_slope)
    wide = problems.named("rotgriewank", 70)
    for function, on in ((users, domain), (trace(wide.f, 70), read_bounds(wide.bounds))):
        links = Links([(type(one).__name__, one) for one in ALL], function.on(Gpu(**EVERYTHING)), on)
        assert not links._there.fuse() and links._there.fused_kernels(wait=True) is None
    assert not Links([], users.on(Gpu(**EVERYTHING)), domain)._there.fuse()


def test_nothing_is_whole_unless_asked(quick: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_fused.FusedKernels, "__init__", lambda *_: pytest.fail("made"))
    function, domain = trace(_branches, 2), read_bounds([(-1, 1)] * 2)
    compared(function, domain, drawn_boxes(domain, 40, 1), ALL, 0.9)


def test_a_whole_link_that_gives_other_numbers_is_compiled_again_with_care(
    quick: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    function, domain = trace(_branches, 2), read_bounds([(-1, 1)] * 2)
    launch, load, careful = cuda_fused.FusedKernels.launch, cuda_fused.FusedKernels.load, []

    def off(made: cuda_fused.FusedKernels, number: int, arguments: Sequence[Any], *rest: Any) -> None:
        launch(made, number, arguments, *rest)
        if not careful:
            arguments[8][...] = fake_cupy.far(np.nextafter(fake_cupy.near(arguments[8]), np.inf))

    def loaded(made: cuda_fused.FusedKernels, manner: str) -> None:
        careful.extend([manner] if manner else [])
        load(made, manner)

    monkeypatch.setattr(cuda_fused.FusedKernels, "launch", off)
    monkeypatch.setattr(cuda_fused.FusedKernels, "load", loaded)
    compared(function, domain, drawn_boxes(domain, 60, 3), ALL, 0.9, whole=True)
    assert careful == [audit.CAREFUL]


# --- how much is launched --------------------------------------------------------------------------------------------


def test_a_pass_is_three_launches_and_a_link_one_more(quick: Any) -> None:
    function, domain = trace(lambda x: x[0] ** 2 + x[1] ** 2 + 1, 2), read_bounds([(-1, 1)] * 2)
    boxes = Boxes(*map(cuda_device.to_device, drawn_boxes(domain, 300, 3)))
    gpu = function.on(Gpu(**EVERYTHING))
    links = Links([("level", Level(passes=1))], gpu, domain)
    links.run(boxes, Known(gpu, domain, 1.5), ChainKeeping.KEEP_SOME)
    assert len(quick.launches) == 5  # enter; gather, rule (the Program runs on the core here); count; leave


# --- audits ----------------------------------------------------------------------------------------------------------


class Wrong:
    """A compiler that errs: a rule's kernel moves a bound by a bit, after so many good calls, unless it takes care."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, rule: str, careful_too: bool = False, since: int = 0) -> None:
        launch = cuda_chain.Kernels.launch
        self.calls = 0

        def off(made: cuda_chain.Kernels, name: str, arguments: Sequence[Any], count: int) -> None:
            launch(made, name, arguments, count)
            if name != rule:
                return
            self.calls += 1
            if (careful_too or not made.is_careful) and self.calls > since:
                lower = arguments[8]
                lower[...] = fake_cupy.far(np.nextafter(fake_cupy.near(lower), np.inf))

        monkeypatch.setattr(cuda_chain.Kernels, "launch", off)


def _chain_of_three(function: Function, domain: Domain) -> tuple[Boxes, Callable[[], Left], Left]:
    boxes, gpu = drawn_boxes(domain, 60, 3), function.on(Gpu(**EVERYTHING))
    far, links = Boxes(*map(cuda_device.to_device, boxes)), Links([("", Level()), ("", MeanValue())], gpu, domain)
    wanted = Links([("", Level()), ("", MeanValue())], function, domain)
    left = wanted.run(boxes, Known(function, domain, 0.9), ChainKeeping.KEEP_SOME)[1]
    return boxes, lambda: links.run(far, Known(gpu, domain, 0.9), ChainKeeping.KEEP_SOME)[1], left


@pytest.mark.parametrize("rule", ["level", "count", "mean_value"])
def test_a_rule_that_gives_other_numbers_is_compiled_again_with_care(
    rule: str,
    quick: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _, run, left = _chain_of_three(trace(_branches, 2), read_bounds([(-1, 1)] * 2))
    made = cuda_chain.kernels(0).result()
    compiled = quick.compiled
    Wrong(monkeypatch, rule)
    assert same(left, run()) and made.is_careful and quick.compiled == compiled + 1


def test_a_chain_that_is_not_to_be_believed_is_refused(quick: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    _, run, _ = _chain_of_three(trace(_branches, 2), read_bounds([(-1, 1)] * 2))
    with monkeypatch.context() as patch:
        Wrong(patch, "level", careful_too=True)
        with pytest.raises(BackendUnavailable, match="other numbers than the CPU; use backend='cpu'"):
            run()
    cuda_chain.kernels.cache_clear()
    _, run, left = _chain_of_three(trace(_branches, 2), read_bounds([(-1, 1)] * 2))
    monkeypatch.setattr(audit, "_ONE_IN", 1)
    assert same(left, run())
    Wrong(monkeypatch, "level")
    with pytest.raises(BackendUnavailable, match="other numbers than the CPU"):
        run()


def test_work_that_is_counted_otherwise_is_noticed(quick: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    _, run, _ = _chain_of_three(trace(_branches, 2), read_bounds([(-1, 1)] * 2))
    launch = cuda_chain.Kernels.launch

    def off(made: cuda_chain.Kernels, name: str, arguments: Sequence[Any], count: int) -> None:
        launch(made, name, arguments, count)
        if name == "count":
            arguments[12][...] = arguments[12] + 1

    monkeypatch.setattr(cuda_chain.Kernels, "launch", off)
    with pytest.raises(BackendUnavailable, match="other numbers than the CPU"):
        run()


def test_a_batch_that_does_not_fit_runs_on_the_cpu(quick: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    _, run, left = _chain_of_three(trace(_branches, 2), read_bounds([(-1, 1)] * 2))

    def full(*_: Any) -> Any:
        raise fake_cupy.OutOfMemoryError

    monkeypatch.setattr(quick, "empty", full)
    assert same(left, run()) and not quick.launches


# --- when it is used -------------------------------------------------------------------------------------------------


def test_kernels_are_begun_once_the_cpu_has_spent_enough_and_the_gpu_is_used_from_then_on(
    quick: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    function, domain = trace(_branches, 2), read_bounds([(-1, 1)] * 2)
    boxes = drawn_boxes(domain, 60, 3)
    gpu = function.on(Gpu(call=1e9, patience=1e-9, many=1))
    links = Links([(type(one).__name__, one) for one in ALL], gpu, domain)
    run = lambda batch: links.run(batch, Known(gpu, domain, 0.9), ChainKeeping.KEEP_SOME)[1]  # noqa: E731
    wanted = run(boxes)
    assert not gpu.place.kernels and not quick.launches
    run(boxes)
    for known in gpu.place._known.values():
        assert known.making is not None
        known.making.result(60)
    cuda_chain.kernels(0).result(60)
    far = Boxes(*map(cuda_device.to_device, boxes))
    run(far)
    assert same(wanted, run(far)) and quick.launches
    assert gpu.place.kernels >= 4


def test_a_search_moves_to_the_gpu_with_all_its_boxes(quick: Any) -> None:
    function, domain = trace(_branches, 2), read_bounds([(-1, 1)] * 2)
    boxes = drawn_boxes(domain, 60, 3)
    gpu = function.on(Gpu(call=1e9, patience=1e-9, many=1))
    chain, wanted = ContractorChain(gpu, domain), ContractorChain(function, domain).contract(boxes, 0.9)
    launches = []
    for _ in range(4):
        found = chain.contract(boxes, 0.9)
        assert all(np.array_equal(a, b) and not is_on_device(a) for a, b in zip(found, wanted, strict=True))
        launches.append(len(quick.launches))
        for known in gpu.place._known.values():
            if known.making is not None:
                known.making.result(60)
        if launches == [0]:
            cuda_chain.kernels(0).result(60)
    assert launches[0] == launches[1] == 0 < launches[-1]


def test_the_benchmark_runs_in_a_tiny_form(
    fake: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent.parent / "bench"))
    monkeypatch.setenv("OUT", str(tmp_path))
    assert importlib.import_module("gpu_engine").main(["--tiny", "rana4"]) == 0
    (case,) = json.loads((tmp_path / "gpu_engine.json").read_text())["cases"]
    (row,) = case["batches"]
    assert row["same"] is True and row["whole"]["launches"] == {"programs": 0, "rules": 2, "links": 4}
    assert row["passes"]["launches"]["programs"] >= 1


def test_a_small_batch_begins_nothing(quick: Any) -> None:
    function, domain = trace(_branches, 2), read_bounds([(-1, 1)] * 2)
    gpu = function.on(Gpu(call=1e9, patience=1e-9, many=10**6))
    links = Links([("", Level())], gpu, domain)
    for _ in range(3):
        links.run(drawn_boxes(domain, 60, 3), Known(gpu, domain, 0.9), ChainKeeping.KEEP_SOME)
    assert not gpu.place.kernels and not quick.compiled


# --- text ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("architecture", ["compute_80", "compute_90", "compute_100"])
def test_nvrtc_compiles_every_rule(architecture: str) -> None:
    compiler = nvrtc.library()
    if compiler is None:
        pytest.skip("no NVRTC")
    shown = host_cuda.ptx(compiler, cuda_chain.text(), architecture)
    for rule in cuda_chain.RULES:
        assert f".entry infimum_chain_{rule}(" in shown
    assert ".local" not in re.sub(r"//.*", "", shown) and "fma.rn" not in shown  # nothing of a box leaves the registers


@pytest.mark.parametrize("architecture", ["compute_80", "compute_90"])
def test_nvrtc_compiles_whole_links(architecture: str) -> None:
    compiler = nvrtc.library()
    if compiler is None:
        pytest.skip("no NVRTC")
    function, domain = trace(_branches, 2), read_bounds([(-1, 1)] * 2)
    links = Links([(type(one).__name__, one) for one in ALL], function, domain)
    programs = {name: source.program() for name, source in links._sources.items()}
    head = "#define INFIMUM_TEAM 1\n#define INFIMUM_VALUE Range\n"
    text = cuda_fused.text(links._there.links, programs)
    shown = host_cuda.ptx(compiler, head + text, architecture, (cuda_compile.QUICK,))
    for number in range(len(ALL)):
        assert f".entry infimum_link{number}(" in shown
    assert "ld.global.nc" in shown  # constants; boxes are written by the kernel that reads them


# --- on a GPU --------------------------------------------------------------------------------------------------------


@pytest.mark.gpu
@pytest.mark.parametrize("seed", range(40))
def test_a_gpu_takes_random_functions_through_a_chain_with_the_cores_bits(seed: int) -> None:
    for f in (random_function(seed), planted_function(seed)):
        function, domain = drawn(f)
        boxes = drawn_boxes(domain, 20_000, seed)
        for level in levels(function, boxes):
            compared(function, domain, boxes, ALL, level)
        compared(function, domain, boxes, OTHERS[seed % len(OTHERS)], levels(function, boxes)[0])
        compared(function, domain, boxes, ALL, levels(function, boxes)[0], whole=True)


@pytest.mark.gpu
@pytest.mark.parametrize(("name", "n"), [("hartmann6", 6), ("watson", 6), ("nist_mgh09", 4), ("rotgriewank", 70)])
def test_a_gpu_takes_large_batches_through_a_chain_with_the_cores_bits(name: str, n: int) -> None:
    problem = problems.named(name, n)
    function, domain = trace(problem.f, n), read_bounds(problem.bounds)
    boxes = drawn_boxes(domain, 600_000 // n, 1)
    for level in levels(function, boxes):
        compared(function, domain, boxes, ALL, level)
