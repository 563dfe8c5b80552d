"""Random functions whose terms are coupled, with the two meanings of random_functions: squares of trees, added up.

f = H(w_1 R_1(x)^2 + … + w_m R_m(x)^2 + G(x)),    R_j and G random trees, H the identity or increasing
"""

from __future__ import annotations

from random_functions import RandomFunction, Tree, _Draw

_BOXES = [(-2.0, 3.0), (0.0, 4.0), (-1.0, 1.0), (0.1, 10.0), (-5.0, 0.0), (-3.0, 7.5)]
_SCALES = [1.0, 1.0, 0.5, 0.3, 100.0, 1e-3]


def coupled_function(seed: int) -> RandomFunction:
    """A sum of two to six squares of trees of one to four variables, defined at some point at least."""
    draw = _Draw(700_000 + seed)
    while True:
        n = int(draw.random.integers(1, 4))
        variables: list[Tree] = [("x", i) for i in range(n)]
        squares = [_square(draw, variables) for _ in range(int(draw.random.integers(2, 7)))]
        if draw.random.random() < 0.3:
            squares.append(draw.varying(variables, 2))
        tree = squares[0]
        for part in squares[1:]:
            tree = ("add", tree, part)
        tree = draw.pick([tree, tree, tree, ("sqrt", tree), ("log", tree), ("mul", ("c", 0.3), tree)])
        made = RandomFunction(f"squares {seed}", tree, tuple(draw.pick(_BOXES) for _ in range(n)))
        if any(made.value(point) is not None for point in made.good_points(3)) and made.is_traced:
            return made


def _square(draw: _Draw, variables: list[Tree]) -> Tree:
    inner = draw.varying(variables, 3)
    for v in variables:  # the variables hang together
        if draw.random.random() < 0.5:
            inner = ("add", inner, ("mul", ("c", draw.pick([1.0, -2.0, 0.3])), v))
    number = ("c", float(draw.random.normal()))
    square = ("square", ("sub", inner, number))
    scale = draw.pick(_SCALES)
    return square if scale == 1.0 else ("mul", ("c", scale), square)


def planted_squares(seed: int) -> tuple[RandomFunction, float]:
    """Squares whose sum has its minimum at one point p of doubles alone, and that minimum, mostly not 0.

    f is the sum of (A + e)^2 + (A - e)^2 = 2 A^2 + 2 e^2, where A is each x_i - p_i, and some trees times one of them;
    every e is a quarter of a small integer, so that the minimum is a double.
    """
    draw = _Draw(800_000 + seed)
    while True:
        n = int(draw.random.integers(1, 4))
        variables: list[Tree] = [("x", i) for i in range(n)]
        box = tuple(draw.pick(_BOXES) for _ in range(n))
        p = tuple(min(max(round(float(draw.random.uniform(lo, hi)), 3), lo), hi) for lo, hi in box)
        apart: list[Tree] = [("sub", x, ("c", v)) for x, v in zip(variables, p, strict=True)]
        coupled = [
            ("mul", draw.varying(variables, 3), draw.pick(apart)) for _ in range(int(draw.random.integers(1, 4)))
        ]
        errors = [float(draw.random.integers(0, 9)) / 4 for _ in range(n + len(coupled))]
        parts = [
            ("square", (sign, inner, ("c", e)))
            for inner, e in zip([*apart, *coupled], errors, strict=True)
            for sign in ("add", "sub")
        ]
        tree = parts[0]
        for part in parts[1:]:
            tree = ("add", tree, part)
        made = RandomFunction(f"planted squares {seed}", tree, box, p)
        if made.value(p) is not None and made.is_traced:
            return made, 2 * sum(e * e for e in errors)
