"""Write the figures of docs/method.md: the boxes of a search in two variables, each as what became of it.

    python docs/make_figures.py

The search below is the plain method, without staging and lazy lists: what method="paper" does, in forty lines. The
script ends with an error if the two do not agree.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

import infimum

FloatArray = npt.NDArray[np.float64]

FILE = Path(__file__).parent / "figures" / "boxes.svg"
PARTS = 4
FRACTIONS = np.arange(1, 11) / 11


@dataclass
class Search:
    """What a search leaves: the bounds, and every box that was split or given up, with the reason."""

    upper: float = np.inf
    lower: float = -np.inf
    iterations: int = 0
    boxes: dict[str, list[FloatArray]] = field(
        default_factory=lambda: {"split": [], "value": [], "slope": [], "both": [], "output": []}
    )


def search(problem: infimum.problems.Problem, xtol: float = 1e-4) -> Search:
    """Enclose the global minimum of a function of few variables, all of which are split at a time."""
    function = infimum.trace(problem.f, problem.n)
    domain = np.array(problem.bounds, np.float64)
    done, number = Search(), itertools.count()
    regions = [(-np.inf, next(number), domain)]
    while regions:
        bound, _, box = heapq.heappop(regions)
        if bound > done.upper:
            done.boxes["value"].append(box)  # a better point was found meanwhile
            continue
        if (box[:, 1] - box[:, 0] < xtol).all():
            done.boxes["output"].append(box)
            continue
        done.iterations += 1
        done.boxes["split"].append(box)
        children = split(box)
        points = children[:, None, :, 0] + (children[:, None, :, 1] - children[:, None, :, 0]) * FRACTIONS[:, None]
        points = points.reshape(-1, problem.n)
        best = points[np.argmin(function(points))]  # chosen in plain doubles, proved by one interval evaluation
        done.upper = min(done.upper, float(function.enclose(infimum.Interval(best)).hi))

        lower = function.enclose(children).lo
        slopes = function.gradient(children)
        rising = (slopes.lo > 0) & (children[:, :, 0] != domain[:, 0])
        falling = (slopes.hi < 0) & (children[:, :, 1] != domain[:, 1])
        for child, bound, sloping in zip(children, lower.tolist(), (rising | falling).any(1), strict=True):
            if bound > done.upper:
                done.boxes["both" if sloping else "value"].append(child)
            elif sloping:
                done.boxes["slope"].append(child)
            else:
                heapq.heappush(regions, (bound, next(number), child))
    done.lower = min(float(function.enclose(box[None]).lo[0]) for box in done.boxes["output"])
    return done


def split(box: FloatArray) -> FloatArray:
    """Be the children of a box, four parts of every variable; neighbours share their ends exactly."""
    parts = []
    for lo, hi in box:
        cuts = [lo, *(lo + (hi - lo) * (k / PARTS) for k in range(1, PARTS)), hi]
        parts.append(list(itertools.pairwise(cuts)))
    return np.array(list(itertools.product(*parts)))


def agree(problem: infimum.problems.Problem, plain: Search) -> None:
    """Hold afterwards: infimum.minimize splits as many regions and leaves the same boxes and bounds."""
    result = infimum.minimize(problem, method="paper")
    assert result.nit == plain.iterations, (result.nit, plain.iterations)
    assert np.array_equal(result.boxes, np.array(plain.boxes["output"]))
    assert result.minimum.hi == plain.upper and abs(result.minimum.lo - plain.lower) <= 1e-12


# --- drawing -------------------------------------------------------------------------------------------------------

SIZE, GAP, TOP, LEGEND = 300, 24, 58, 44
COLOURS = {"value": "#f7d9a8", "both": "#c9c3b4", "slope": "#5b9bd5", "output": "#1d7a3d"}
WORDS = {
    "value": "discarded by value",
    "slope": "by slope",
    "both": "by either",
    "output": "output: every minimiser is in here",
}
VIEWS = (("the whole domain", 1.0), ("16 times closer", 1 / 16), ("4,096 times closer", 1 / 4096))


def drawing(searches: Sequence[tuple[infimum.problems.Problem, Search]]) -> str:
    """Be the boxes as SVG: a row for each search, seen from three distances."""
    width = len(VIEWS) * SIZE + (len(VIEWS) + 1) * GAP
    height = len(searches) * (TOP + SIZE + LEGEND)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="13">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for place, (problem, plain) in enumerate(searches):
        parts += row(problem, plain, place * (TOP + SIZE + LEGEND))
    return "\n".join([*parts, "</svg>"]) + "\n"


def row(problem: infimum.problems.Problem, plain: Search, top: int) -> list[str]:
    """Be one search: its views, and below them how many boxes of each kind there are."""
    title = f"{problem.name.capitalize()} in two variables: {plain.iterations} regions split"
    parts = [f'<text x="{GAP}" y="{top + 24}" font-size="15" font-weight="bold">{title}</text>']
    domain = np.array(problem.bounds, np.float64)
    centre = np.asarray(problem.minimiser, np.float64)
    for place, (title, scale) in enumerate(VIEWS):
        # A view keeps the minimiser at the same place as in the whole domain.
        window = centre[:, None] + (domain - centre[:, None]) * scale
        left = GAP + place * (SIZE + GAP)
        parts.append(f'<text x="{left}" y="{top + TOP - 8}">{title}</text>')
        parts += panel(plain, window, left, top + TOP, f"{problem.name}{place}")
    at, y = float(GAP), top + TOP + SIZE + 12
    for kind, words in WORDS.items():
        text = f"{words} ({len(plain.boxes[kind]):,})"
        parts.append(f'<rect x="{at:g}" y="{y}" width="14" height="14" fill="{COLOURS[kind]}" stroke="#555"/>')
        parts.append(f'<text x="{at + 20:g}" y="{y + 12}">{text}</text>')
        at += 50 + 7.0 * len(text)
    return parts


def panel(plain: Search, window: FloatArray, left: int, top: int, name: str) -> list[str]:
    """Be the boxes that meet the window, clipped to it."""
    parts = [
        f'<clipPath id="{name}"><rect x="{left}" y="{top}" width="{SIZE}" height="{SIZE}"/></clipPath>',
        f'<g clip-path="url(#{name})" stroke="#555" stroke-width="0.4">',
    ]
    scale = SIZE / (window[:, 1] - window[:, 0])
    for kind in COLOURS:
        for box in plain.boxes[kind]:
            x, y = (np.clip(box, window[:, :1], window[:, 1:]) - window[:, :1]) * scale[:, None]
            w, h = x[1] - x[0], y[1] - y[0]
            if max(w, h) < 0.5 and kind != "output":
                continue  # too small to be seen from here
            if kind == "output":
                w, h = max(w, 4.0), max(h, 4.0)
            parts.append(
                f'<rect x="{left + x[0]:.2f}" y="{top + SIZE - y[0] - h:.2f}" width="{w:.2f}" height="{h:.2f}" '
                f'fill="{COLOURS[kind]}"/>'
            )
    parts.append("</g>")
    parts.append(f'<rect x="{left}" y="{top}" width="{SIZE}" height="{SIZE}" fill="none" stroke="black"/>')
    return parts


def figure() -> str:
    """Be the searches of the page, drawn, after a check that infimum.minimize agrees with them."""
    searches = []
    for problem in (infimum.problems.rastrigin(2), infimum.problems.rosenbrock(2)):
        plain = search(problem)
        agree(problem, plain)
        searches.append((problem, plain))
    return drawing(searches)


if __name__ == "__main__":
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(figure())
