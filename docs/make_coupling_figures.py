"""Write the figures of docs/coupling.md; needs matplotlib.

python docs/make_coupling_figures.py
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import matplotlib

matplotlib.use("svg")

import matplotlib.pyplot as plt
import numpy as np

import infimum
from infimum.contractors import Boxes, Contractor, Known, MeanValue
from infimum.contractors.dual import dual
from infimum.contractors.enclosure import Enclosure
from infimum.contractors.fits.nullspace import nullspace
from infimum.contractors.fits.separable import separable
from infimum.contractors.fits.varpro import varpro
from infimum.contractors.lines import lines
from infimum.contractors.outer.pieces import CONCAVE, CONVEX, NEITHER, pieces
from infimum.contractors.outer.slopes import Slopes
from infimum.contractors.outer.under import Under
from infimum.contractors.table import DEFAULT
from infimum.domain import read_bounds
from infimum.function.function import Function
from infimum.problems.problem import Problem

FOLDER = Path(__file__).parent / "figures"
BLUE, ORANGE, GREEN, PURPLE, GREY = "#1f6fb4", "#d1651a", "#3a8f4d", "#8a4fb0", "#777777"
plt.rcParams.update({
    "svg.hashsalt": "infimum", "font.size": 10, "axes.spines.top": False, "axes.spines.right": False,
    "figure.facecolor": "white", "legend.frameon": False,
})  # fmt: skip


def written(name: str) -> None:
    """Write the figure that is drawn; the same file every time."""
    plt.tight_layout()
    plt.savefig(FOLDER / f"{name}.svg", metadata={"Date": None})
    plt.close()


def convex() -> None:
    """Draw a convex function, its range by intervals, and the plane at its lowest double."""
    x = np.linspace(-2, 2, 400)

    def f(x: np.ndarray) -> np.ndarray:
        return np.log(np.exp(2 * x) + np.exp(-x)) + 0.25 * x**2

    function = infimum.trace(lambda x: np.log(np.exp(2 * x[0]) + np.exp(-x[0])) + 0.25 * x[0] ** 2, 1)
    at = -0.30
    slope = float(function.gradient([(at, at)]).mid[0])
    plt.figure(figsize=(6.2, 3.2))
    plt.plot(x, f(x), color=BLUE, label="f, convex on the box")
    plt.plot(x, f(np.array(at)) + slope * (x - at), color=ORANGE, label="tangent plane near the minimiser")
    plt.axhline(float(function.enclose([(-2, 2)]).lo), color=GREY, ls="--", label="lower end of the interval enclosure")
    plt.plot([at], [f(np.array(at))], "o", color=ORANGE)
    plt.xlabel("x, all over the box [-2, 2]")
    plt.ylabel("f(x)")
    plt.legend()
    written("convex")


def dual_lines() -> None:
    """Draw the distance of three lower bounds from the minimum over the width of boxes around the minimiser."""
    problem = infimum.problems.named("pv_rtc_france")
    distances(problem, np.array([], int), 2.0 ** -np.arange(3.0, 14.0), {
        "interval enclosure": (lambda function: Enclosure(), GREY), "mean-value form": (lambda f: MeanValue(), GREEN),
        "dual lines": (dual, BLUE),
    })  # fmt: skip
    plt.xlabel("width of the box, as a part of the bounds")
    plt.legend(loc="lower right", bbox_to_anchor=(1.0, 0.06))
    written("dual")


def fits() -> None:
    """Draw the same for two fits whose linear parameters keep all of their bounds, or have none."""
    for name, problem, makers in (
        ("separable", infimum.problems.named("nist_gauss1"), {
            "dual lines": (dual, BLUE), "separable": (separable, GREEN),
        }),
        ("nullspace", infimum.problems.named("nist_lanczos3"), {
            "dual lines": (dual, BLUE), "separable": (separable, GREEN), "null space": (nullspace, PURPLE),
        }),
    ):  # fmt: skip
        parameters = infimum.trace(problem.f, problem.n).linear_parameters
        assert parameters is not None
        distances(problem, parameters.linear, 2.0 ** -np.arange(1.0, 12.0), makers)
        plt.xlabel("width of the nonlinear parameters, as a part of their bounds")
        plt.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4, fontsize=9, columnspacing=1.2)
        written(name)


def distances(
    problem: Problem, whole: np.ndarray, widths: np.ndarray,
    makers: dict[str, tuple[Callable[[Function], Contractor | None], str]],
) -> None:  # fmt: skip
    """Draw how far bounds are below the minimum over the width of boxes around it; `whole` ones keep their bounds."""
    domain = read_bounds(problem.bounds, problem.n)
    function = infimum.trace(problem.f, problem.n)
    best, least = np.asarray(problem.minimiser, float), float(problem.minimum)
    plt.figure(figsize=(6.2, 3.6))
    for label, (maker, colour) in makers.items():
        contractor = maker(function)
        assert contractor is not None
        gaps = []
        for width in widths:
            radius = 0.5 * width * (domain.hi - domain.lo)
            radius[whole] = np.inf
            lo, hi = np.maximum(best - radius, domain.lo), np.minimum(best + radius, domain.hi)
            lower = contractor.contract(Boxes(lo[None], hi[None]), Known(function, domain, 1e300)).lower[0]
            gaps.append(max(least - lower, 1e-14))
        plt.loglog(widths, gaps, "o-", color=colour, label=label)
    plt.axhline(1e-6 * least, color=ORANGE, ls=":", label="a millionth of the minimum")
    plt.ylabel("minimum - lower bound")


def clusters() -> None:
    """Draw the boxes that digits of a minimum cost, with second order and without."""
    goals = 10.0 ** -np.arange(2.0, 11.0)
    plt.figure(figsize=(6.2, 3.4))
    for name, marker in (("goldstein_price", "o"), ("hartmann6", "s")):
        problem = infimum.problems.named(name)
        others = tuple(other for other in DEFAULT if other != "taylor")
        for names, colour, label in ((DEFAULT, BLUE, "with"), (others, ORANGE, "without")):
            counts = []
            for goal in goals:
                result = infimum.minimize(problem, ftol=goal, fatol=0, contractors=names)
                counts.append(1 + sum(dict(step.work).get("split", 0) for step in result.history))
            plt.semilogx(goals, counts, marker + "-", color=colour, label=f"{name}, {label} second order")
    plt.gca().invert_xaxis()
    plt.ylim(0, 2400)
    plt.xlabel("ftol, relative to the minimum")
    plt.ylabel("boxes")
    plt.legend(loc="upper left")
    written("taylor")


def outer() -> None:
    """Draw a pair potential, its pieces, and the lines of two slopes below it over a range."""
    phi = infimum.trace(lambda q: 4 * (1 / q[0] ** 6 - 1 / q[0] ** 3), 1)
    parts = pieces(phi, 0.0, np.inf)
    slopes, lo, hi = Slopes(phi, parts), np.array([0.9]), np.array([3.5])
    plt.figure(figsize=(6.2, 3.4))
    for piece in parts:
        q = np.linspace(max(piece.lo, 0.9), min(piece.hi, 4.2), 300)
        colour, label = {CONVEX: (BLUE, "convex"), CONCAVE: (GREEN, "concave")}.get(piece.bend, (GREY, ""))
        if piece.bend != NEITHER:
            plt.plot(q, phi(q[:, None]), color=colour, label=f"φ, proved {label}", lw=2)
    for u, style in ((1.2, "--"), (2.2, "-")):
        s = slopes.best(np.array([u]), lo, hi)
        a = Under(phi, parts).intercepts(lo, hi, s, slopes.touching(s, lo, hi))
        ends = np.array([lo[0], hi[0]])
        plt.plot(ends, s * ends + a, color=ORANGE, ls=style, label=f"line that is best at {u}")
    plt.axvspan(lo[0], hi[0], color=GREY, alpha=0.1, label="the range of u")
    plt.ylim(-1.7, 1.2)
    plt.xlabel("u, the squared distance of two atoms")
    plt.ylabel("φ(u)")
    plt.legend()
    written("outer")


def projection() -> None:
    """Draw the least sum of squares of a wave over its amplitudes, by its frequency, and lower bounds on boxes."""
    draw = np.random.default_rng(4)
    t = np.linspace(0, 4, 25)
    y = 3 * np.sin(2.5 * t + 0.4) + 0.5 * draw.normal(size=25)

    def wave(x: np.ndarray) -> np.ndarray:
        return np.sum((x[0] * np.sin(x[2] * t) + x[1] * np.cos(x[2] * t) - y) ** 2)

    bounds = [(-20, 20), (-20, 20), (0.5, 6)]
    function, domain = infimum.trace(wave, 3), read_bounds(bounds, 3)
    p = np.linspace(0.5, 6, 400)
    columns = [np.stack([np.sin(one * t), np.cos(one * t)], 1) for one in p]
    left = [y - a @ np.linalg.lstsq(a, y)[0] for a in columns]
    ends = np.linspace(0.5, 6, 45)
    lo, hi = np.tile(domain.lo, (44, 1)), np.tile(domain.hi, (44, 1))
    lo[:, 2], hi[:, 2] = ends[:-1], ends[1:]
    known = Known(function, domain, 300.0)
    plt.figure(figsize=(6.2, 3.4))
    plt.plot(p, [r @ r for r in left], color=GREY, label="least sum of squares over every c")
    found: list[tuple[str, Contractor | None, str]] = [
        ("varpro: whatever c is", varpro(function), BLUE), ("dual lines: c in [-20, 20]", dual(function), ORANGE),
    ]  # fmt: skip
    for label, contractor, colour in found:
        assert contractor is not None
        lower = np.maximum(contractor.contract(Boxes(lo, hi), known).lower, 0)
        plt.hlines(lower, ends[:-1], ends[1:], colors=colour, lw=2, label=f"lower bounds by {label}")
    plt.xlabel("frequency p, in 44 boxes")
    plt.ylabel("sum of squares")
    plt.ylim(-8, 190)
    plt.legend(loc="upper right", fontsize=8.5)
    written("varpro")


def lines_through_the_graph() -> None:
    """Draw how far lower bounds of a small network are from its least value on boxes of its weights, by their width."""

    def network(x: np.ndarray) -> np.ndarray:
        total = 0.0
        for a, b, t in ((0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0)):
            units = [1 / (1 + np.exp(-(x[i] * a + x[i + 1] * b + x[4 + i // 2]))) for i in (0, 2)]
            total = total + (1 / (1 + np.exp(-(x[6] * units[0] + x[7] * units[1] + x[8]))) - t) ** 2
        return total

    function, domain = infimum.trace(network, 9), read_bounds([(-1, 1)] * 9, 9)
    known = Known(function, domain)
    draw = np.random.default_rng(0)
    widths = 2.0 ** -np.arange(-1.0, 7.0)
    found: list[tuple[str, Contractor | None, str]] = [
        ("interval enclosure", Enclosure(), GREY), ("mean-value form", MeanValue(), GREEN),
        ("dual lines", dual(function), ORANGE), ("lines through the graph", lines(function), BLUE),
    ]  # fmt: skip
    gaps: dict[str, list[float]] = {label: [] for label, _, _ in found}
    for width in widths:
        lo = draw.uniform(-1, 1 - width, (40, 9))
        places = [draw.random((40, 9)) if i % 2 else draw.random((40, 9)) < 0.5 for i in range(400)]
        least = np.min([function(lo + width * place) for place in places], axis=0)
        for label, contractor, _ in found:
            assert contractor is not None
            gaps[label].append(float(np.median(least - contractor.contract(Boxes(lo, lo + width), known).lower)))
    plt.figure(figsize=(6.2, 3.6))
    for label, _, colour in found:
        plt.loglog(widths, gaps[label], "o-", color=colour, label=label)
    plt.xlabel("width of the box, in each of 9 weights")
    plt.ylabel("least value found - lower bound")
    plt.ylim(1e-4, 1e2)
    plt.legend(loc="lower right", fontsize=8.5)
    written("lines")


if __name__ == "__main__":
    convex()
    dual_lines()
    projection()
    lines_through_the_graph()
    fits()
    clusters()
    outer()
