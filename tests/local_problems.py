"""Problems on which local methods are compared: fits and sums of squares of 2 to 10 variables, and their least values.

Minima are given to the digits that are published for them (0 where it is exact); bounds are wide around the usual
start.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Local(NamedTuple):
    """A function, its bounds, its minimum and how far a best point may be above it where that is 0."""

    f: Callable[[Any], Any]
    bounds: list[tuple[float, float]]
    minimum: float
    beyond: float = 1e-10


def _around(*starts: float) -> list[tuple[float, float]]:
    """A tenth and ten times each start."""
    return [(min(s / 10, 10 * s), max(s / 10, 10 * s)) for s in starts]


# Absorbances of Misra's monomolecular adsorption, Ratkowsky's onions, Osborne's and Meyer's data.
_VOLUME = np.array([10.07, 14.73, 17.94, 23.93, 29.61, 35.18, 40.02, 44.82, 50.76, 55.05, 61.01, 66.4, 75.47, 81.78])
_PRESSURE = np.array([77.6, 114.9, 141.1, 190.8, 239.9, 289.0, 332.8, 378.4, 434.8, 477.3, 536.8, 593.1, 689.1, 760.0])
_ONIONS = np.array([
    16.08, 33.83, 65.80, 97.20, 191.55, 326.20, 386.87, 520.53, 590.03, 651.92, 724.93, 699.56, 689.96, 637.56, 717.41
])  # fmt: skip
_OSBORNE = np.array([
    0.844, 0.908, 0.932, 0.936, 0.925, 0.908, 0.881, 0.850, 0.818, 0.784, 0.751, 0.718, 0.685, 0.658, 0.628, 0.603,
    0.580, 0.558, 0.538, 0.522, 0.506, 0.490, 0.478, 0.467, 0.457, 0.448, 0.438, 0.431, 0.424, 0.420, 0.414, 0.411,
    0.406,
])  # fmt: skip
_MEYER = np.array([
    34780.0, 28610.0, 23650.0, 19630.0, 16370.0, 13720.0, 11540.0, 9744.0, 8261.0, 7030.0, 6005.0, 5147.0, 4427.0,
    3820.0, 3307.0, 2872.0,
])  # fmt: skip
_BARD = np.array([0.14, 0.18, 0.22, 0.25, 0.29, 0.32, 0.35, 0.39, 0.37, 0.58, 0.73, 0.96, 1.34, 2.10, 4.39])


def _misra1b(b: Any) -> Any:
    return np.sum((b[0] * (1 - (1 + b[1] * _PRESSURE / 2) ** -2) - _VOLUME) ** 2)


def _misra1c(b: Any) -> Any:
    return np.sum((b[0] * (1 - (1 + 2 * b[1] * _PRESSURE) ** -0.5) - _VOLUME) ** 2)


def _misra1d(b: Any) -> Any:
    return np.sum((b[0] * b[1] * _PRESSURE / (1 + b[1] * _PRESSURE) - _VOLUME) ** 2)


def _rat43(b: Any) -> Any:
    x = np.arange(1.0, 16.0)
    return np.sum((b[0] / (1 + np.exp(b[1] - b[2] * x)) ** (1 / b[3]) - _ONIONS) ** 2)


def _mgh17(b: Any) -> Any:
    t = 10.0 * np.arange(33)
    return np.sum((b[0] + b[1] * np.exp(-t * b[3]) + b[2] * np.exp(-t * b[4]) - _OSBORNE) ** 2)


def _mgh10(b: Any) -> Any:
    t = np.linspace(50, 125, 16)
    return np.sum((b[0] * np.exp(b[1] / (t + b[2])) - _MEYER) ** 2)


# name: of the reference data sets for regression, around the second start.
REGRESSIONS: dict[str, Local] = {
    "Misra1b": Local(_misra1b, _around(300, 2e-4), 7.5464681533e-02),
    "Misra1c": Local(_misra1c, _around(600, 2e-4), 4.0966836971e-02),
    "Misra1d": Local(_misra1d, _around(450, 3e-4), 5.6419295283e-02),
    "Rat43": Local(_rat43, _around(700, 5, 0.75, 1.3), 8.7864049080e03),
    "MGH17": Local(_mgh17, _around(0.5, 1.5, -1, 0.01, 0.02), 5.4648946975e-05),
    "MGH10": Local(_mgh10, _around(0.02, 4000, 250), 8.7945855171e01),
}


def _beale(x: Any) -> Any:
    return sum((c - x[0] * (1 - x[1] ** k)) ** 2 for k, c in ((1, 1.5), (2, 2.25), (3, 2.625)))


def _bard(x: Any) -> Any:
    u = np.arange(1.0, 16.0)
    v = 16 - u
    return np.sum((_BARD - (x[0] + u / (v * x[1] + np.minimum(u, v) * x[2]))) ** 2)


def _box(x: Any) -> Any:
    t = 0.1 * np.arange(1, 11)
    return np.sum((np.exp(-t * x[0]) - np.exp(-t * x[1]) - x[2] * (np.exp(-t) - np.exp(-10 * t))) ** 2)


def _wood(x: Any) -> Any:
    first = 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2
    second = 90 * (x[3] - x[2] ** 2) ** 2 + (1 - x[2]) ** 2
    return first + second + 10 * (x[1] + x[3] - 2) ** 2 + 0.1 * (x[1] - x[3]) ** 2


def _brown_dennis(x: Any) -> Any:
    t = np.arange(1, 21) / 5.0
    return np.sum(((x[0] + t * x[1] - np.exp(t)) ** 2 + (x[2] + x[3] * np.sin(t) - np.cos(t)) ** 2) ** 2)


def _biggs(x: Any) -> Any:
    t = 0.1 * np.arange(1, 14)
    y = np.exp(-t) - 5 * np.exp(-10 * t) + 3 * np.exp(-4 * t)
    return np.sum((x[2] * np.exp(-t * x[0]) - x[3] * np.exp(-t * x[1]) + x[5] * np.exp(-t * x[4]) - y) ** 2)


def _jennrich_sampson(x: Any) -> Any:
    i = np.arange(1, 11)
    return np.sum((2 + 2 * i - (np.exp(i * x[0]) + np.exp(i * x[1]))) ** 2)


def _powell_singular(x: Any) -> Any:
    a, b, c, d = (x[k::4] for k in range(4))
    return np.sum((a + 10 * b) ** 2 + 5 * (c - d) ** 2 + (b - 2 * c) ** 4 + 10 * (a - d) ** 4)


def _penalty(x: Any) -> Any:
    return 1e-5 * np.sum((x - 1) ** 2) + (np.sum(x**2) - 0.25) ** 2


def _variably_dimensioned(x: Any) -> Any:
    slant = np.sum(np.arange(1, 11) * (x - 1))
    return np.sum((x - 1) ** 2) + slant**2 + slant**4


OTHERS: dict[str, Local] = {
    "Beale": Local(_beale, [(-4.5, 4.5)] * 2, 0.0),
    "Jennrich-Sampson": Local(_jennrich_sampson, [(-1, 1)] * 2, 124.362182355),
    "Bard": Local(_bard, [(0, 10)] * 3, 8.21487730657e-3),
    "box of three exponentials": Local(_box, [(0, 20)] * 3, 0.0),
    "Wood": Local(_wood, [(-10, 10)] * 4, 0.0),
    "Brown-Dennis": Local(_brown_dennis, [(-100, 100)] * 4, 85822.2016263),
    "Biggs": Local(_biggs, [(0, 20)] * 6, 0.0),
    "Powell's singular": Local(_powell_singular, [(-4, 5)] * 8, 0.0),
    "penalty": Local(_penalty, [(-10, 10)] * 10, 7.08765146709e-5),
    "variably dimensioned": Local(_variably_dimensioned, [(-10, 10)] * 10, 0.0),
}
