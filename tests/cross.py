"""Build the core for other machines, run it under an emulator, and compare its bits with the installed build.

usage: python tests/cross.py BUILD      (`make cross`)

| target  | compiler                                 | emulator     | Debian packages                         |
|---------|------------------------------------------|--------------|-----------------------------------------|
| aarch64 | aarch64-linux-gnu-g++                    | qemu-aarch64 | g++-aarch64-linux-gnu, qemu-user-static |
| windows | x86_64-w64-mingw32-g++ (POSIX threads)   | wine         | g++-mingw-w64-x86-64, wine              |

A target whose tools are missing is named and left out; where none is left, that is a failure. Every operation with its
facts runs on the samples of the test suite, and the hand-made programs run on the virtual machine in both modes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import infimum.core
import programs
import samples
from infimum.backends import cpu

ROOT = Path(__file__).parent.parent
CORE = ROOT / "src" / "infimum" / "core"
BOXES = 4000
SIZES = (1, 5, 257)
Words = np.ndarray[Any, np.dtype[np.int64]]


class Target(NamedTuple):
    """A machine, how to compile for it, and what runs its programs here; tools in order of preference."""

    name: str
    compilers: tuple[str, ...]
    emulators: tuple[str, ...]
    packages: str
    options: tuple[str, ...]
    links: tuple[str, ...]


TARGETS = (
    Target(
        "aarch64",
        ("aarch64-linux-gnu-g++",),
        ("qemu-aarch64", "qemu-aarch64-static"),
        "g++-aarch64-linux-gnu and qemu-user-static",
        ("-DCMAKE_SYSTEM_NAME=Linux", "-DCMAKE_SYSTEM_PROCESSOR=aarch64"),
        ("-ldl",),
    ),
    Target(
        "windows",
        ("x86_64-w64-mingw32-g++-posix", "x86_64-w64-mingw32-g++"),
        ("wine64", "wine"),
        "g++-mingw-w64-x86-64 and wine",
        ("-DCMAKE_SYSTEM_NAME=Windows", "-DCMAKE_SYSTEM_PROCESSOR=AMD64"),
        ("-static",),
    ),
)


class Job(NamedTuple):
    """One call of the C interface: its words, and what the installed core answers."""

    name: str
    boxes: int
    words: list[Words]
    wanted: list[Words]


def _words(*arrays: Any) -> list[Words]:
    return [np.ascontiguousarray(a).reshape(-1).view(np.int64) for a in arrays]


# --- jobs --------------------------------------------------------------------------------------------------------


def operations() -> Iterator[Job]:
    """Every operation on its samples: the ends and the facts."""
    for number, op in enumerate(infimum.core.operations()):
        for batch in samples.batches(op, BOXES):
            ends = [np.ascontiguousarray(end, np.float64) for pair in batch.operands for end in pair]
            head = np.array([1, number, batch.param, ends[0].size, len(batch.operands)], np.int64)
            lo, hi = infimum.core.apply(op, *batch.operands, param=batch.param)
            defined, smooth = infimum.core.facts(op, *batch.operands, param=batch.param)
            yield Job(op, lo.size, _words(head, *ends), _words(lo, hi, defined.astype(np.int64) + 2 * smooth))


def tapes() -> Iterator[Job]:
    """Every hand-made program, enclosed on boxes and evaluated at points."""
    for name, make in programs.PROGRAMS.items():
        for n in SIZES:
            program = make(n)
            f = program.tape.fields
            lo, hi = programs.boxes(n, 8)
            for mode in ("interval", "point"):
                out = cpu.run(program, lo, hi, mode)  # type: ignore[arg-type]
                sizes = [len(a) for a in (f.slots, f.instructions, f.phases, f.outputs, f.tables, f.constant_lo)]
                head = np.array([2, int(mode == "point"), f.n, *sizes, len(lo)], np.int64)
                ends = [pair[end] for end in ((0, 1) if mode == "interval" else (0,)) for pair in out]
                # At points only one end is written; the driver's other one stays zero.
                ends += [np.zeros_like(pair[0]) for pair in out if mode == "point"]
                yield Job(f"program {name}, n = {n}, {mode}", len(lo), _words(head, *f[1:], lo, hi), _words(*ends))


# --- building and running ------------------------------------------------------------------------------------------


def _first(names: tuple[str, ...]) -> str:
    return next((name for name in names if shutil.which(name)), "")


def _run(*command: str | Path, **more: Any) -> str:
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False, **more)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def _compile(target: Target, compiler: str, build: Path) -> tuple[Path, Path]:
    """The core as CMake builds it for users, and the driver."""
    options = (f"-DCMAKE_CXX_COMPILER={compiler}", "-DCMAKE_CXX_FLAGS=-Werror", *target.options)
    _run("cmake", "-S", ROOT, "-B", build, "-G", "Ninja", *options)
    _run("cmake", "--build", build, "--target", "infimum_core")
    driver = build / "cross_driver.exe"
    source = ROOT / "tests" / "cross_driver.cpp"
    _run(compiler, "-std=c++17", "-O1", "-Wall", "-Wextra", "-I", CORE, source, "-o", driver, *target.links)
    return build / "libinfimum_core.so", driver


def _execute(compiler: str, emulator: str, driver: Path, *files: Path) -> list[str]:
    """Run the driver; the variants that the core had there."""
    if "wine" in emulator:
        environment = {**os.environ, "WINEPREFIX": str(driver.parent / "wine"), "WINEDEBUG": "-all"}
        return _run(emulator, driver, *(str(f).replace("/", "\\") for f in files), env=environment).split()
    # Beside the C library of the cross compiler lies the loader that the driver asks for.
    sysroot = Path(_run(compiler, "-print-file-name=libc.so.6").strip()).resolve().parent.parent
    return _run(emulator, "-L", sysroot, driver, *files).split()


def _differ(found: Words, wanted: Words) -> Any:
    """Elements whose bits differ; a NaN (a number of the empty interval) has no defined bits."""
    nan = np.isnan(found.view(np.float64)) & np.isnan(wanted.view(np.float64))
    return (found != wanted) & ~nan


def _compare(results: Words, variants: list[str], jobs: list[Job]) -> int:
    """Say what differs; how many numbers do."""
    at = bad = 0
    for variant in variants:
        for job in jobs:
            for wanted in job.wanted:
                found, at = results[at : at + wanted.size], at + wanted.size
                if count := int(_differ(found, wanted).sum()):
                    print(f"  {variant} {job.name}: {count} of {wanted.size} numbers differ from the installed build")
                    bad += count
    if at != results.size:
        sys.exit(f"  the driver wrote {results.size} numbers, expected {at}")
    return bad


def main(build: Path) -> int:
    ready = []
    for target in TARGETS:
        compiler, emulator = _first(target.compilers), _first(target.emulators)
        if compiler and emulator:
            ready.append((target, compiler, emulator))
        else:
            print(f"{target.name}: nothing is claimed; install {target.packages} and run make cross again.")
    if not ready:
        return 1
    of_operations = list(operations())
    jobs = of_operations + list(tapes())
    numbers = sum(w.size for job in jobs for w in job.wanted)
    bad = 0
    for target, compiler, emulator in ready:
        folder = build / "cross" / target.name
        folder.mkdir(parents=True, exist_ok=True)
        library, driver = _compile(target, compiler, folder)
        arguments, results = folder / "arguments", folder / "results"
        np.concatenate([*(w for job in jobs for w in job.words), np.zeros(1, np.int64)]).tofile(arguments)
        variants = _execute(compiler, emulator, driver, library, arguments, results)
        different = _compare(np.fromfile(results, np.int64), variants, jobs)
        print(
            f"{target.name} ({compiler}, {emulator}; {', '.join(variants)}): "
            f"{len(infimum.core.operations())} operations on {sum(job.boxes for job in of_operations)} boxes and "
            f"{len(jobs) - len(of_operations)} runs of programs, {numbers * len(variants)} numbers compared: "
            f"{different} differ."
        )
        bad += different
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
