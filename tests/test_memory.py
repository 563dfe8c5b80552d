"""The memory of a staged search: the variables once, and a few hundred bytes an iteration, whatever n is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

STATM = Path("/proc/self/statm")
FIRST, LAST = 800, 1700  # beyond the tables that are kept at hand
MOST_AN_ITERATION = 2048  # bytes: some for the allocator besides the few hundred of a region

_RUN = """
import os, sys
from infimum import problems, trace
from infimum.domain import read_bounds
from infimum.search.outcome import Options
from infimum.search.paper.search import search

name, n, first, last = sys.argv[1], *map(int, sys.argv[2:])
problem = problems.named(name, n)
used = {}

def report(step):
    if step.iteration in (first, last):
        pages = int(open("/proc/self/statm").read().split()[1])
        used[step.iteration] = pages * os.sysconf("SC_PAGE_SIZE")
    return step.iteration >= last

search(trace(problem.f, n, (), problem.jac), read_bounds(problem.bounds, n), Options(max_iter=last), report)
print(used[first], used[last])
"""


def _memory(name: str, n: int) -> tuple[int, int]:
    """The memory of a process in bytes after the first and after the last iteration looked at."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", _RUN, name, str(n), str(FIRST), str(LAST)]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 0, run.stderr
    first, last = (int(word) for word in run.stdout.split())
    return first, last


@pytest.mark.skipif(not STATM.exists(), reason="reads the memory from /proc")
@pytest.mark.parametrize(("name", "n"), [("rosenbrock", 1000), ("levy", 2000), ("rastrigin", 2000)])
def test_an_iteration_of_a_staged_search_costs_a_few_hundred_bytes(name: str, n: int) -> None:
    first, last = _memory(name, n)
    assert (last - first) / (LAST - FIRST) < MOST_AN_ITERATION
