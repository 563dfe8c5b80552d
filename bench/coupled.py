"""Coupled problems: boxes and seconds to enclose the minimum, one row a problem.

    python bench/coupled.py                       every group
    python bench/coupled.py convex fits           some groups; or problems by name
    python bench/coupled.py --limit 10 watson     another time limit in seconds

A box is counted for the domain and for each cut. Seconds are those of the minimize call, the best of --repeat runs if
one takes less than a second; beside them the additions that the machine does in that time. The gap is upper -
lower; the goal is 1e-6 of the minimum, unless the row says otherwise. Writes bench/results/coupled.csv when every group
is run.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import infimum
from infimum import problems
from infimum.bench.calibration import as_additions
from infimum.bench.tables import Row, write_csv
from infimum.exact.number import exact
from infimum.problems.fits import FITS, measurements

RESULTS = Path(__file__).parent / "results" / "coupled.csv"


class Run(NamedTuple):
    """A problem with its goal; known: a value that the minimum is at most, None where nothing is known."""

    name: str
    f: Callable[[Any], Any]
    bounds: Any
    ftol: float = 1e-6
    limit: float = 60.0
    known: float | None = None


def of(name: str, n: int | None = None, **more: Any) -> Run:
    """Return the run of a problem that has a name."""
    found = problems.named(name, n)
    return Run(name if n is None else f"{name} {n}", found.f, found.bounds, known=float(found.minimum), **more)


# ------------------------------------------------------------------------------------------------ convex ones
def regression(n: int) -> Run:
    draw = np.random.default_rng(n)
    a, x = draw.normal(size=(3 * n, n)), draw.uniform(-5, 5, n)
    b = a @ x + 0.3 * draw.normal(size=3 * n)
    return Run(f"regression {n}", lambda x: np.sum((a @ x - b) ** 2), [(-10, 10)] * n)


def polyfit(degree: int, end: float) -> Run:
    draw = np.random.default_rng(degree)
    t = np.linspace(0, end, 30)
    y = np.sin(3 * t / end) + 0.1 * draw.normal(size=30)
    powers = np.stack([t**j for j in range(degree + 1)], 1)
    name = f"polyfit {degree} on [0, {end:g}]"
    return Run(name, lambda c: np.sum((powers @ c - y) ** 2), [(-1e4, 1e4)] * (degree + 1))


def logistic(n: int) -> Run:
    draw = np.random.default_rng(n)
    a = draw.normal(size=(200, n))
    label = np.where(a @ draw.normal(size=n) + 0.5 * draw.normal(size=200) > 0, 1.0, -1.0)

    def loss(w: Any) -> Any:
        return np.mean(np.log(1 + np.exp(-label * (a @ w)))) + 1e-3 * np.sum(w**2)

    return Run(f"logistic {n}", loss, [(-10, 10)] * n)


def poisson(side: int) -> Run:
    h = 1.0 / (side + 1)
    draw = np.random.default_rng(side)
    load = draw.normal(size=(side, side))

    def energy(x: Any) -> Any:
        u = np.pad(x.reshape(side, side), 1)
        steps = np.sum((u[1:, :] - u[:-1, :]) ** 2) + np.sum((u[:, 1:] - u[:, :-1]) ** 2)
        return 0.5 * steps - h * h * np.sum(load * x.reshape(side, side))

    return Run(f"poisson {side}x{side}", energy, [(-10, 10)] * side**2)


def convex() -> Iterator[Run]:
    yield from (regression(n) for n in (5, 8, 12, 20, 50))
    yield from (polyfit(degree, end) for end in (1.0, 10.0) for degree in range(3, 9))
    yield from (logistic(n) for n in (20, 1000))
    yield from (poisson(side) for side in (10, 100))
    yield from (of("trid", n) for n in (50, 1000, 10_000))


# ------------------------------------------------------------------------------------------------ sums of squares
def _fit(name: str, bounds: list[tuple[str, str]], **more: Any) -> Run:
    found = problems.named(name)
    pairs = [(exact(lo), exact(hi)) for lo, hi in bounds]
    return Run(f"{name}, other bounds", found.f, pairs, known=float(found.minimum), **more)


def around_the_start(name: str, start: tuple[str, ...]) -> Run:
    """Return a fit with bounds from a tenth to ten times NIST's second starting point."""
    pairs = [sorted((exact(s) / 10, exact(s) * 10), key=float) for s in start]
    return Run(f"{name} around its start", problems.named(name).f, pairs, known=FITS[name].least)


def fits() -> Iterator[Run]:
    for name in ("pv_rtc_france", "pv_photowatt", "nist_mgh09", "nist_roszman1"):
        yield of(name)
    yield replaced_kowalik(1e-6)
    yield of("watson", 6)


def replaced_kowalik(ftol: float) -> Run:
    a = exact(
        ["0.1957", "0.1947", "0.1735", "0.1600", "0.0844", "0.0627", "0.0456", "0.0342", "0.0323", "0.0235", "0.0246"]
    )
    b = 1 / exact(["0.25", "0.5", "1", "2", "4", "6", "8", "10", "12", "14", "16"])

    def kowalik(x: Any) -> Any:
        return np.sum((a - x[0] * (b**2 + b * x[1]) / (b**2 + b * x[2] + x[3])) ** 2)

    return Run("kowalik", kowalik, [(0, exact("0.42"))] * 4, ftol=ftol, known=3.0748598780561e-4)


_SECOND_STARTS = {
    "misra1a": "250 0.0005", "chwirut2": "0.15 0.008 0.01", "danwood": "0.7 4", "boxbod": "100 0.75",
    "eckerle4": "1.5 5 450", "mgh09": "0.25 0.39 0.415 0.39", "rat42": "75 2.5 0.07",
    "thurber": "1300 1500 500 75 1 0.4 0.05", "enso": "10 3 0.5 44 -1.5 0.5 26 -0.1 1.5",
    "gauss1": "94 0.0105 99 63 25 71 180 20", "lanczos3": "0.5 0.7 3.6 4.2 4 6.3",
    "roszman1": "0.2 -0.000005 1200 -150", "kirby2": "1.5 -0.15 0.0025 -0.0015 0.00002",
}  # fmt: skip


def nist() -> Iterator[Run]:
    """Yield thirteen regressions in the boxes from a tenth to ten times NIST's second starting point."""
    for name, start in _SECOND_STARTS.items():
        run = around_the_start(f"nist_{name}", tuple(start.split()))
        if name == "enso":
            run = run._replace(bounds=[*run.bounds[:7], (-10, 10), (-10, 10)])
        yield run


def linear() -> Iterator[Run]:
    """Yield fits most of whose parameters are linear, in boxes with poles and with columns that coincide."""
    wide = [("-10000", "10000")] * 4
    yield _fit("nist_kirby2", [("0", "5"), ("-1", "0"), ("0", "0.01"), ("-0.003", "0"), ("0", "0.0001")])
    yield _fit("nist_enso", [("0", "100"), *[("-10", "10")] * 2, ("35", "60"), *[("-10", "10")] * 2, ("20", "35"),
                             *[("-10", "10")] * 2])  # fmt: skip
    yield _fit("nist_thurber", [*wide, *[("-2", "2")] * 3])
    yield _fit("nist_lanczos3", [("0", "10")] * 6)
    bumps = [("0", "200"), ("0", "250"), ("5", "60")]
    yield _fit("nist_gauss1", [("0", "200"), ("0", "0.05"), *bumps, *bumps])


# ------------------------------------------------------------------------------------------------ others
def boxqp(n: int, seed: int = 0) -> Run:
    draw = np.random.default_rng(seed)
    upper = np.triu(draw.integers(-50, 51, (n, n))).astype(float)
    q, c = upper + np.triu(upper, 1).T, draw.integers(-50, 51, n).astype(float)
    return Run(f"boxqp {n}", lambda x: 0.5 * (x @ q @ x) + c @ x, [(0, 1)] * n)


def lennard_jones(count: int) -> Run:
    """Return a cluster of atoms: the first at the origin, the second on an axis, the third in a plane."""

    def energy(x: Any) -> Any:
        atoms = [(0, 0, 0), (x[0], 0, 0), (x[1], x[2], 0)] + [tuple(x[3 * i : 3 * i + 3]) for i in range(1, count - 2)]
        total = 0
        for i in range(count):
            for j in range(i):
                q = sum((s - t) ** 2 for s, t in zip(atoms[i], atoms[j], strict=True))
                total = total + 4 * (1 / q**6 - 1 / q**3)
        return total

    box = [(0.7, 2.5), (-2.5, 2.5), (0, 2.5)] + [(-2.5, 2.5)] * (3 * count - 9)
    box[-1] = (0, 2.5)
    least = {4: -6.0, 5: -9.103852415707, 6: -12.7120622568, 7: -16.505384168}
    return Run(f"lennard-jones {count}", energy, box, known=least[count])


def coupled() -> Iterator[Run]:
    yield from (boxqp(n) for n in (20, 30, 50))
    yield lennard_jones(5)


def cluster() -> Iterator[Run]:
    """Yield problems with ever closer goals: how many boxes the last digits cost."""
    for ftol in (1e-3, 1e-6, 1e-10):
        for name in ("goldstein_price", "hartmann6", "paviani"):
            yield of(name)._replace(name=f"{name}, ftol {ftol:g}", ftol=ftol)
        yield replaced_kowalik(ftol)._replace(name=f"kowalik, ftol {ftol:g}")


# ------------------------------------------------------------------------------------------------ hard ones
def double_diode() -> Run:
    """Return the fit of two diodes to the cell of RTC France, in microampere, 1 and 100 ohms."""
    x, y = measurements("pv_rtc_france")
    volts = exact("1.3806503e-23") * exact("306.15") / exact("1.60217646e-19")

    def squares(b: Any) -> Any:
        inside = x + b[3] * y
        diodes = sum(b[i] / 1_000_000 * (np.exp(inside / (b[j] * volts)) - 1) for i, j in ((1, 2), (5, 6)))
        return np.sum((b[0] - diodes - inside / (100 * b[4]) - y) ** 2)

    half, unit = (0, exact("0.5")), (0, 1)
    return Run("double diode", squares, [unit, unit, (1, 2), half, unit, unit, (1, 2)])


def xor() -> Run:
    """Return a network of two hidden units and nine weights that is to be XOR."""

    def bend(z: Any) -> Any:
        return 1 / (1 + np.exp(-z))

    def squares(w: Any) -> Any:
        total = 0
        for a, b, wanted in ((0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0)):
            first, second = bend(w[0] * a + w[1] * b + w[4]), bend(w[2] * a + w[3] * b + w[5])
            total = total + (bend(w[6] * first + w[7] * second + w[8]) - wanted) ** 2
        return total

    return Run("xor", squares, [(-1, 1)] * 9, known=0.959758757)


# Distances between ten kinds of cola, row by row (Groenen and Heiser 1996).
_COLA = (
    "1.27 1.69 1.43 2.04 2.35 2.43 3.09 3.18 3.26 2.85 3.20 3.22 3.27 2.88 1.55 2.86 2.56 2.58 2.59 3.12 3.06 "
    "3.17 3.18 3.18 3.12 1.31 1.64 3.00 3.21 3.18 3.18 3.17 1.70 1.36 2.95 1.32 2.38 2.31 2.42 1.94 2.85 2.81 "
    "2.56 2.91 2.97"
)


def cola() -> Run:
    """Return ten points of a plane with distances as asked for."""
    wanted = exact(_COLA.split())

    def stress(u: Any) -> Any:
        places = [(0, 0), (u[0], 0), *((u[2 * i - 1], u[2 * i]) for i in range(1, 9))]
        pairs = ((places[i], places[j]) for i in range(10) for j in range(i))
        far = (np.sqrt((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2) for a, b in pairs)
        return sum((distance - asked) ** 2 for distance, asked in zip(far, wanted, strict=True))

    return Run("cola", stress, [(0, 4)] + [(-4, 4)] * 16, known=11.7463902757)


def eggholder(n: int) -> Run:
    def f(x: Any) -> Any:
        after = x[1:] + 47
        return -np.sum(after * np.sin(np.sqrt(abs(after + x[:-1] / 2))) + x[:-1] * np.sin(np.sqrt(abs(x[:-1] - after))))

    return Run(f"eggholder {n}", f, [(-512, 512)] * n)


def k_means(k: int) -> Run:
    """Return the sum of the squared distances of 30 points of a plane to the nearest of k centres."""
    draw = np.random.default_rng(k)
    middles = draw.uniform(-4, 4, (k, 2))
    points = middles[np.arange(30) % k] + 0.7 * draw.normal(size=(30, 2))

    def spread(c: Any) -> Any:
        away = [np.sum((points - c[2 * i : 2 * i + 2]) ** 2, axis=1) for i in range(k)]
        nearest = away[0]
        for other in away[1:]:
            nearest = np.minimum(nearest, other)
        return np.sum(nearest)

    return Run(f"k-means {k}", spread, [(-6, 6)] * (2 * k))


def ginzburg_landau(n: int) -> Run:
    """Return the energy of a chain from -1 to 1 in a double well, ten units long."""
    h = 10.0 / (n + 1)

    def energy(u: Any) -> Any:
        whole = np.concatenate([[-1.0], u, [1.0]])
        return np.sum((whole[1:] - whole[:-1]) ** 2) / (2 * h) + h * np.sum((1 - u**2) ** 2) / 4

    return Run(f"ginzburg-landau {n}", energy, [(-2, 2)] * n)


def hard() -> Iterator[Run]:
    yield double_diode()
    yield from (lennard_jones(count) for count in (6, 7))
    yield from (xor(), cola(), eggholder(10))
    yield from (k_means(k) for k in (3, 4, 5))
    yield from (ginzburg_landau(n) for n in (20, 100, 1000))


GROUPS: dict[str, Callable[[], Iterator[Run]]] = {
    "convex": convex, "fits": fits, "nist": nist, "linear": linear, "coupled": coupled, "cluster": cluster,
    "hard": hard,
}  # fmt: skip


def measured(run: Run, repeat: int, limit: float | None) -> Row:
    """Return the row of a problem."""
    best, result = np.inf, None
    for _ in range(repeat):
        started = time.perf_counter()
        result = infimum.minimize(run.f, run.bounds, ftol=run.ftol, fatol=0.0, time_limit=limit or run.limit, threads=2)
        best = min(best, time.perf_counter() - started)
        if best > 1.0:
            break
    assert result is not None
    lower, upper = result.minimum.lo, result.minimum.hi
    is_true = run.known is None or lower <= run.known + 1e-9 * abs(run.known)
    cuts = sum(dict(step.work).get("split", 0) for step in result.history)
    verdict = "FALSE" if not is_true else "proved" if result.success else result.status.name.lower()
    return {
        "problem": run.name, "n": len(run.bounds), "ftol": run.ftol, "boxes": int(1 + cuts), "seconds": round(best, 4),
        "additions": round(as_additions(best)), "lower": float(lower), "upper": float(upper),
        "gap": f"{upper - lower:.2e}", "verdict": verdict,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"groups ({', '.join(GROUPS)}) or parts of names")
    parser.add_argument("--limit", type=float, metavar="SECONDS", help="for each run; 60 by default")
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="runs of a quick problem; 3 by default")
    options = parser.parse_args()
    rows: list[Row] = []
    for group, made in GROUPS.items():
        for run in made():
            if options.names and group not in options.names and not any(name in run.name for name in options.names):
                continue
            row = measured(run, options.repeat, options.limit)
            rows.append(row)
            print(
                f"{row['problem']:32s} n {row['n']:6d} boxes {row['boxes']:8d} {row['seconds']:9.3f} s "
                f"{row['additions'] / 1e6:9.0f} M  [{row['lower']:.12g}, {row['upper']:.12g}] {row['verdict']}",
                flush=True,
            )
    if not options.names:
        write_csv(rows, str(RESULTS))


if __name__ == "__main__":
    main()
