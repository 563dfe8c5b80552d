"""Models fitted to measurements: the sum of squared residuals of 2 to 9 parameters.

Thirteen regressions of the NIST Statistical Reference Datasets, with bounds around NIST's starting points and certified
parameters, and the single-diode model of a solar cell and of a module. Measurements and constants are the decimals that
were published. The five with the most parameters have bounds a tenth and ten times NIST's second starting point.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from decimal import Decimal
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np

from infimum.exact.number import ExactArray, exact, pi
from infimum.problems.problem import Problem, checked_count, problem


class Fit(NamedTuple):
    """A model of y from parameters, x and, where it is implicit, y; bounds; the least sum of squares, and where."""

    model: Callable[[Any, Any, Any], Any]
    bounds: tuple[tuple[str, str], ...]
    least: float
    at: tuple[float, ...]


def _misra1a(b: Any, x: Any, y: Any) -> Any:
    return b[0] * (1 - np.exp(-b[1] * x))


def _chwirut2(b: Any, x: Any, y: Any) -> Any:
    return np.exp(-b[0] * x) / (b[1] + b[2] * x)


def _danwood(b: Any, x: Any, y: Any) -> Any:
    return b[0] * x ** b[1]


def _eckerle4(b: Any, x: Any, y: Any) -> Any:
    return b[0] / b[1] * np.exp(-(((x - b[2]) / b[1]) ** 2) / 2)


def _mgh09(b: Any, x: Any, y: Any) -> Any:
    return b[0] * (x**2 + b[1] * x) / (x**2 + b[2] * x + b[3])


def _rat42(b: Any, x: Any, y: Any) -> Any:
    return b[0] / (1 + np.exp(b[1] - b[2] * x))


def _roszman1(b: Any, x: Any, y: Any) -> Any:
    return b[0] - b[1] * x - np.arctan(b[2] / (x - b[3])) / pi


def _thurber(b: Any, x: Any, y: Any) -> Any:
    return (b[0] + b[1] * x + b[2] * x**2 + b[3] * x**3) / (1 + b[4] * x + b[5] * x**2 + b[6] * x**3)


def _enso(b: Any, x: Any, y: Any) -> Any:
    year, first, second = (2 * pi * x / period for period in (12, b[3], b[6]))
    fixed = b[0] + b[1] * np.cos(year) + b[2] * np.sin(year)
    return fixed + b[4] * np.cos(first) + b[5] * np.sin(first) + b[7] * np.cos(second) + b[8] * np.sin(second)


def _gauss1(b: Any, x: Any, y: Any) -> Any:
    peaks = b[2] * np.exp(-((x - b[3]) ** 2) / b[4] ** 2) + b[5] * np.exp(-((x - b[6]) ** 2) / b[7] ** 2)
    return b[0] * np.exp(-b[1] * x) + peaks


def _lanczos3(b: Any, x: Any, y: Any) -> Any:
    return b[0] * np.exp(-b[1] * x) + b[2] * np.exp(-b[3] * x) + b[4] * np.exp(-b[5] * x)


def _kirby2(b: Any, x: Any, y: Any) -> Any:
    return (b[0] + b[1] * x + b[2] * x**2) / (1 + b[3] * x + b[4] * x**2)


def _diode(kelvin: str) -> Callable[[Any, Any, Any], Any]:
    """Return the current of a cell at that temperature.

    Its parameters are the light's current, the diode's in microampere, ideality, resistances in 1 and in 100 ohms.
    """
    volts = exact("1.3806503e-23") * exact(kelvin) / exact("1.60217646e-19")

    def current(b: Any, x: Any, y: Any) -> Any:
        inside = x + b[3] * y
        return b[0] - b[1] / 1_000_000 * (np.exp(inside / (b[2] * volts)) - 1) - inside / (100 * b[4])

    return current


def _decades(*starts: str) -> tuple[tuple[str, str], ...]:
    """Return bounds a tenth and ten times these decimals."""
    pairs = (sorted((Decimal(start) / 10, Decimal(start) * 10)) for start in starts)
    return tuple((str(lo), str(hi)) for lo, hi in pairs)


FITS: dict[str, Fit] = {
    "nist_misra1a": Fit(
        _misra1a, (("0", "1000"), ("0", "0.01")), 0.12455138894, (238.94212918, 0.00055015643181)
    ),
    "nist_chwirut2": Fit(
        _chwirut2, (("0", "1"), ("0.001", "0.1"), ("0.001", "0.1")), 513.04802941,
        (0.16657666537, 0.0051653291286, 0.012150007096),
    ),
    "nist_danwood": Fit(_danwood, (("0", "2"), ("0", "10")), 0.0043173084083, (0.76886226176, 3.8604055871)),
    "nist_boxbod": Fit(_misra1a, (("0", "1000"), ("0", "10")), 1168.0088766, (213.80940889, 0.54723748542)),
    "nist_eckerle4": Fit(
        _eckerle4, (("0", "10"), ("1", "20"), ("400", "500")), 0.0014635887487,
        (1.5543827178, 4.0888321754, 451.54121844),
    ),
    "nist_mgh09": Fit(
        _mgh09, (("0", "1"),) * 4, 0.00030750560385, (0.19280693458, 0.19128232873, 0.12305650693, 0.13606233068)
    ),
    "nist_rat42": Fit(
        _rat42, (("0", "200"), ("0", "10"), ("0", "1")), 8.0565229338, (72.462237576, 2.6180768402, 0.067359200066)
    ),
    "nist_roszman1": Fit(
        _roszman1, (("0", "1"), ("-0.0001", "0"), ("0", "2000"), ("-400", "0")), 0.00049484847331,
        (0.20196866396, -6.1953516256e-06, 1204.4556708, -181.34269537),
    ),
    "nist_thurber": Fit(
        _thurber, _decades("1300", "1500", "500", "75", "1", "0.4", "0.05"), 5642.7082397,
        (1288.13968, 1491.0792535, 583.23836877, 75.416644291, 0.96629502864, 0.39797285797, 0.049727297349),
    ),
    "nist_enso": Fit(
        _enso, (*_decades("10", "3", "0.5", "44", "-1.5", "0.5", "26"), ("-10", "10"), ("-10", "10")), 788.53978668,
        (10.510749193, 3.0762128085, 0.53280138227, 44.3110887, -1.6231428586, 0.52554493756, 26.88761444,
         0.21232288488, 1.4966870418),
    ),
    "nist_gauss1": Fit(
        _gauss1, _decades("94", "0.0105", "99", "63", "25", "71", "180", "20"), 1315.8222432,
        (98.778210871, 0.010497276517, 100.48990633, 67.481111276, 23.12977336, 71.994503004, 178.99805021,
         18.389389025),
    ),
    "nist_lanczos3": Fit(
        _lanczos3, _decades("0.5", "0.7", "3.6", "4.2", "4", "6.3"), 1.6117193594e-08,
        (0.086816414977, 0.95498101505, 0.84400777463, 2.9515951832, 1.5825685901, 4.9863565084),
    ),
    "nist_kirby2": Fit(
        _kirby2, _decades("1.5", "-0.15", "0.0025", "-0.0015", "0.00002"), 3.9050739624,
        (1.6745063063, -0.13927397867, 0.0025961181191, -0.001724181187, 2.1664802578e-05),
    ),
    "pv_rtc_france": Fit(
        _diode("306.15"), (("0", "1"), ("0", "1"), ("1", "2"), ("0", "0.5"), ("0", "1")), 2.527821773571e-05,
        (0.760775530308, 0.323020813408, 1.481183591094, 0.036377092637, 0.537185247729),
    ),
    "pv_photowatt": Fit(
        _diode("318.15"), (("0", "2"), ("0", "50"), ("1", "50"), ("0", "2"), ("0", "20")), 1.470247028967e-04,
        (1.0305142988585672, 3.482262922848073, 48.64283487324398, 1.2012710089646128, 9.819822742599797),
    ),
}  # fmt: skip


def fit(name: str) -> Callable[[int], Problem]:
    """Return the maker of the problem to fit that model."""
    given = FITS[name]
    count = len(given.bounds)

    def maker(n: int = count) -> Problem:
        """A model fitted to measurements."""
        checked_count(name, n, only=count)
        x, y = measurements(name)
        box = [(exact(lo), exact(hi)) for lo, hi in given.bounds]
        return problem(
            name, count, lambda b: np.sum((given.model(b, x, y) - y) ** 2), box, given.least, np.array(given.at)
        )

    return maker


def measurements(name: str) -> tuple[ExactArray, ExactArray]:
    """Return what was measured: x and y."""
    text = (files("infimum.problems") / "data" / "fits.csv").read_text()
    lines = csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))
    rows = [(line["x"], line["y"]) for line in lines if line["fit"] == name]
    return exact([x for x, _ in rows]), exact([y for _, y in rows])
