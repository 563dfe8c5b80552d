"""A small solve on a GPU, staged and not: what compute-sanitizer watches.

compute-sanitizer --tool memcheck  python bench/gpu_small.py
compute-sanitizer --tool racecheck python bench/gpu_small.py
"""

from __future__ import annotations

import numpy as np

import infimum
from infimum import problems
from infimum.search.paper.partition import Uniform


def main() -> None:
    for problem in (problems.levy(12), problems.griewank(11), problems.salomon(11)):
        found = infimum.minimize(problem, method="paper", backend="cuda", max_iter=12)
        print(problem.name, found.nit, found.minimum)
    matrix = np.linalg.qr(np.random.default_rng(1).normal(size=(5, 5)))[0]

    def rotated(x: np.ndarray) -> object:
        y = matrix @ (x - 0.25)
        return np.sum(y**2 - 10 * np.cos(2 * infimum.pi * y)) + np.sin(np.sum(np.exp(y)))

    found = infimum.minimize(rotated, [(-2, 3)] * 5, backend="cuda", partition=Uniform(4, 5), max_iter=4)
    print("rotated", found.nit, found.minimum, found.backend)


if __name__ == "__main__":
    main()
