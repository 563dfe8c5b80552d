"""The problems of the frontier a second time, number by number in Arb; the measurements alone are infimum's."""

from __future__ import annotations

import csv
import itertools
import math
from collections.abc import Callable, Sequence
from importlib.resources import files
from typing import Any

import flint
from flint import arb

flint.ctx.prec = 200
Numbers = Sequence[Any]


def q(text: str) -> Any:
    """A decimal, enclosed."""
    return arb(text)


def total(terms: Any) -> Any:
    return sum(terms, arb(0))


def product(factors: Any) -> Any:
    return math.prod(factors, start=arb(1))


def ackley(x: Numbers) -> Any:
    n, one = len(x), arb(1)
    far = (total(a * a for a in x) / n).sqrt()
    return -20 * (-far / 50).exp() - (total((2 * arb.pi() * a).cos() for a in x) / n).exp() + 20 + one.exp()


def griewank(x: Numbers) -> Any:
    waves = product((a / arb(i).sqrt()).cos() for i, a in enumerate(x, 1))
    return 1 + total(a * a for a in x) / 4000 - waves


def levy(x: Numbers) -> Any:
    y = [1 + (a - 1) / 4 for a in x]
    waves = [(arb.pi() * a).sin() ** 2 for a in y]
    rest = total((a - 1) ** 2 * (1 + 10 * w) for a, w in zip(y, waves[1:], strict=False))
    return arb.pi() / len(x) * (10 * waves[0] + (y[-1] - 1) ** 2 + rest)


def rastrigin(x: Numbers) -> Any:
    return total(10 + a * a - 10 * (2 * arb.pi() * a).cos() for a in x)


def rosenbrock(x: Numbers) -> Any:
    return total(100 * (a * a - b) ** 2 + (a - 1) ** 2 for a, b in itertools.pairwise(x))


def moved(f: Callable[[Numbers], Any], at: int) -> Callable[..., Any]:
    """f of s and, where given, R: f(R (x - s) + at)."""

    def g(x: Numbers, s: Numbers, r: Any = None) -> Any:
        y = [a - b for a, b in zip(x, s, strict=True)]
        turned = y if r is None else [total(arb(float(c)) * b for c, b in zip(row, y, strict=True)) for row in r]
        return f([a + at for a in turned])

    return g


PLAIN = {"ackley": (ackley, 0), "griewank": (griewank, 0), "levy": (levy, 1), "rastrigin": (rastrigin, 0)}
MOVED = {name: moved(*given) for name, given in {**PLAIN, "rosenbrock": (rosenbrock, 1)}.items()}


def schwefel(x: Numbers) -> Any:
    return total(q("418.9829") - a * abs(a).sqrt().sin() for a in x)


def michalewicz(x: Numbers) -> Any:
    return -total(a.sin() * (i * a * a / arb.pi()).sin() ** 20 for i, a in enumerate(x, 1))


def styblinski_tang(x: Numbers) -> Any:
    return total(a**4 - 16 * a * a + 5 * a for a in x) / 2


def qing(x: Numbers) -> Any:
    return total((a * a - i) ** 2 for i, a in enumerate(x, 1))


def alpine1(x: Numbers) -> Any:
    return total(abs(a * a.sin() + a / 10) for a in x)


def weierstrass(x: Numbers) -> Any:
    def waves(a: Any) -> Any:
        return total((2 * arb.pi() * arb(3) ** k * (a + arb(1) / 2)).cos() / arb(2) ** k for k in range(8))

    return total(waves(a) for a in x) - len(x) * waves(arb(0))


def trid(x: Numbers) -> Any:
    return total((a - 1) ** 2 for a in x) - total(a * b for a, b in itertools.pairwise(x))


def dixon_price(x: Numbers) -> Any:
    return (x[0] - 1) ** 2 + total(i * (2 * x[i - 1] ** 2 - x[i - 2]) ** 2 for i in range(2, len(x) + 1))


def powell(x: Numbers) -> Any:
    fours = (x[i : i + 4] for i in range(0, len(x), 4))
    return total((a + 10 * b) ** 2 + 5 * (c - d) ** 2 + (b - 2 * c) ** 4 + 10 * (a - d) ** 4 for a, b, c, d in fours)


def zakharov(x: Numbers) -> Any:
    s = total(arb(i) / 2 * a for i, a in enumerate(x, 1))
    return total(a * a for a in x) + s**2 + s**4


def schaffer_f7(x: Numbers) -> Any:
    def ring(s: Any) -> Any:
        fifth = arb(0) if s == 0 else s.root(5)
        return s.sqrt() * (1 + (50 * fifth).sin() ** 2)

    rings = [ring((a * a + b * b).sqrt()) for a, b in itertools.pairwise(x)]
    return (total(rings) / len(rings)) ** 2


def goldstein_price(x: Numbers) -> Any:
    a, b = x
    one = (a + b + 1) ** 2 * (19 - 14 * a + 3 * a * a - 14 * b + 6 * a * b + 3 * b * b)
    two = (2 * a - 3 * b) ** 2 * (18 - 32 * a + 12 * a * a + 48 * b - 36 * a * b + 27 * b * b)
    return (1 + one) * (30 + two)


def eggholder(x: Numbers) -> Any:
    a, b = x
    return -(b + 47) * abs(b + a / 2 + 47).sqrt().sin() - a * abs(a - (b + 47)).sqrt().sin()


WELLS = (
    ("4 4 4 4", "0.1"), ("1 1 1 1", "0.2"), ("8 8 8 8", "0.2"), ("6 6 6 6", "0.4"), ("3 7 3 7", "0.4"),
    ("2 9 2 9", "0.6"), ("5 5 3 3", "0.3"), ("8 1 8 1", "0.7"), ("6 2 6 2", "0.5"), ("7 3.6 7 3.6", "0.5"),
)  # fmt: skip


def shekel10(x: Numbers) -> Any:
    return -total(
        1 / (q(c) + total((a - q(b)) ** 2 for a, b in zip(x, well.split(), strict=True))) for well, c in WELLS
    )


BELLS = (
    ("1", "10 3 17 3.5 1.7 8", "0.1312 0.1696 0.5569 0.0124 0.8283 0.5886"),
    ("1.2", "0.05 10 17 0.1 8 14", "0.2329 0.4135 0.8307 0.3736 0.1004 0.9991"),
    ("3", "3 3.5 1.7 10 17 8", "0.2348 0.1451 0.3522 0.2883 0.3047 0.6650"),
    ("3.2", "17 8 0.05 10 0.1 14", "0.4047 0.8828 0.8732 0.5743 0.1091 0.0381"),
)


def hartmann6(x: Numbers) -> Any:
    def bell(narrow: str, centre: str) -> Any:
        return (-total(q(a) * (b - q(c)) ** 2 for a, b, c in zip(narrow.split(), x, centre.split(), strict=True))).exp()

    return -total(q(height) * bell(narrow, centre) for height, narrow, centre in BELLS)


def paviani(x: Numbers) -> Any:
    return total((a - 2).log() ** 2 + (10 - a).log() ** 2 for a in x) - product(x).root(5)


def watson(x: Numbers) -> Any:
    made = x[0] ** 2 + (x[1] - x[0] ** 2 - 1) ** 2
    for i in range(1, 30):
        t = arb(i) / 29
        slope = total(j * t ** (j - 1) * x[j] for j in range(1, 6))
        made += (slope - total(t**j * x[j] for j in range(6)) ** 2 - 1) ** 2
    return made


def atoms(points: Sequence[Numbers]) -> Any:
    made = arb(0)
    for i, a in enumerate(points):
        for b in points[:i]:
            r = total((u - v) * (u - v) for u, v in zip(a, b, strict=True)).sqrt()
            made += 4 * (r**-12 - r**-6)
    return made


def lj3(x: Numbers) -> Any:
    return atoms([(0, 0), (x[0], 0), (x[1], x[2])])


def lj4(x: Numbers) -> Any:
    return atoms([(0, 0, 0), (x[0], 0, 0), (x[1], x[2], 0), tuple(x[3:])])


# --- fits ----------------------------------------------------------------------------------------------------------


def diode(kelvin: str) -> Callable[..., Any]:
    scale = q("1.60217646e-19") / (q("1.3806503e-23") * q(kelvin))

    def current(x: Any, y: Any, iph: Any, i0: Any, n: Any, rs: Any, rp: Any) -> Any:
        inside = x + rs * y
        return iph - i0 * q("1e-6") * ((scale * inside / n).exp() - 1) - inside / (100 * rp)

    return current


def wave(x: Any, period: Any, cosine: Any, sine: Any) -> Any:
    angle = 2 * arb.pi() * x / period
    return cosine * angle.cos() + sine * angle.sin()


MODELS: dict[str, Callable[..., Any]] = {
    "nist_misra1a": lambda x, y, b1, b2: b1 * (1 - (-b2 * x).exp()),
    "nist_chwirut2": lambda x, y, b1, b2, b3: (-b1 * x).exp() / (b2 + b3 * x),
    "nist_danwood": lambda x, y, b1, b2: b1 * x**b2,
    "nist_boxbod": lambda x, y, b1, b2: b1 * (1 - (-b2 * x).exp()),
    "nist_eckerle4": lambda x, y, b1, b2, b3: b1 / b2 * (-(((x - b3) / b2) ** 2) / 2).exp(),
    "nist_mgh09": lambda x, y, b1, b2, b3, b4: b1 * (x * x + b2 * x) / (x * x + b3 * x + b4),
    "nist_rat42": lambda x, y, b1, b2, b3: b1 / (1 + (b2 - b3 * x).exp()),
    "nist_roszman1": lambda x, y, b1, b2, b3, b4: b1 - b2 * x - (b3 / (x - b4)).atan() / arb.pi(),
    "nist_thurber": lambda x, y, b1, b2, b3, b4, b5, b6, b7: (
        (b1 + x * (b2 + x * (b3 + x * b4))) / (1 + x * (b5 + x * (b6 + x * b7)))
    ),
    "nist_enso": lambda x, y, b1, b2, b3, b4, b5, b6, b7, b8, b9: (
        b1 + wave(x, arb(12), b2, b3) + wave(x, b4, b5, b6) + wave(x, b7, b8, b9)
    ),
    "nist_gauss1": lambda x, y, b1, b2, b3, b4, b5, b6, b7, b8: (
        b1 * (-b2 * x).exp() + b3 * (-(((x - b4) / b5) ** 2)).exp() + b6 * (-(((x - b7) / b8) ** 2)).exp()
    ),
    "nist_lanczos3": lambda x, y, b1, b2, b3, b4, b5, b6: (
        b1 * (-b2 * x).exp() + b3 * (-b4 * x).exp() + b5 * (-b6 * x).exp()
    ),
    "nist_kirby2": lambda x, y, b1, b2, b3, b4, b5: (b1 + x * (b2 + x * b3)) / (1 + x * (b4 + x * b5)),
    "pv_rtc_france": diode("306.15"),
    "pv_photowatt": diode("318.15"),
}


def fitted(name: str) -> Callable[[Numbers], Any]:
    text = (files("infimum.problems") / "data" / "fits.csv").read_text()
    lines = csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))
    data = [(q(line["x"]), q(line["y"])) for line in lines if line["fit"] == name]
    return lambda b: total((MODELS[name](x, y, *b) - y) ** 2 for x, y in data)


ALL: dict[str, Callable[..., Any]] = {
    **{f"s{name}": f for name, f in MOVED.items() if name != "rosenbrock"},
    **{f"rot{name}": f for name, f in MOVED.items()},
    **{
        f.__name__: f
        for f in (
            schwefel, michalewicz, styblinski_tang, qing, alpine1, weierstrass, trid, dixon_price, powell, zakharov,
            schaffer_f7, goldstein_price, eggholder, shekel10, hartmann6, paviani, watson, lj3, lj4,
        )
    },
    "lj3safe": lj3,
    **{name: fitted(name) for name in MODELS},
}  # fmt: skip
