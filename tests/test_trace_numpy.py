"""Tracing against NumPy: where NumPy gives a finite number the traced function is that number, or it is refused."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

from infimum.errors import TraceError
from infimum.graph.evaluate import evaluate
from infimum.tracing.trace import trace_graph

N = 4
POINTS = np.vstack(
    [
        np.random.default_rng(5).uniform(-3, 3, (12, N)),
        np.random.default_rng(6).integers(-3, 4, (12, N)).astype(float),
        [[0.0] * N, [1.0] * N, [0.5, -0.5, 1.5, 2.5], [-0.0, 2.0, -2.0, 0.0]],
    ]
)


def body(text: str) -> Any:
    """A function of x from the text of its body; a single expression is what it returns."""
    lines = text.strip().splitlines() if "\n" in text or "return" in text else [f"return {text}"]
    space: dict[str, Any] = {"np": np, "math": math}
    exec("def f(x):\n" + "\n".join(f"    {line}" for line in lines), space)
    return space["f"]


def numbers(f: Any, points: Any) -> list[float | None]:
    """The function at each point, None where it has no finite value."""
    found: list[float | None] = []
    for point in points:
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                value = float(np.asarray(f(point.copy())).reshape(()))
        except Exception:
            found.append(None)
            continue
        found.append(value if math.isfinite(value) else None)
    return found


def attempted(f: Any) -> Any:
    """The traced function, or the error that came instead."""
    try:
        return trace_graph(f, N)
    except Exception as error:
        return error


def compared(text: str, points: Any = POINTS) -> str:
    """Compare the traced function with NumPy: "agrees", or the refusal; fail where they differ."""
    f = body(text)
    expected = numbers(f, points)
    traced = attempted(f)
    if isinstance(traced, TraceError):
        assert "where its traced formula gives" not in str(traced), (text, str(traced))
        return str(traced)
    if isinstance(traced, Exception):
        assert all(value is None for value in expected), (text, repr(traced))
        return f"raises {traced}"
    (found,) = evaluate([traced.output], points)
    for point, value, got in zip(points, expected, found[:, 0], strict=True):
        if value is not None:
            assert got == pytest.approx(value, rel=1e-9, abs=1e-9), (text, point.tolist(), value, float(got))
    return "agrees"


# Functions that trace, in spellings that ask for something other than the default.
TRACED = """
np.sum(x.reshape(2, 2), axis=0)[1] + np.sum(x.reshape(2, 2), 1, keepdims=True)[0, 0]
np.sum(x, dtype=float) + np.sum(x > 0, dtype=float) + np.sum(x > 0)
np.sum(x, initial=3.0) + np.prod(x, initial=2.0) + np.max(x, initial=0.5) + np.min(x, initial=-0.5)
np.sum(x, where=x > 0) + np.sum(x, where=np.array([True, False, True, True]))
np.max(x, where=x > 0, initial=-1.0)
np.add.reduce(x.reshape(2, 2), axis=None) + np.multiply.reduce(x.reshape(2, 2), 1)[0]
np.add.reduce(x, initial=2.0) + np.maximum.reduce(x, keepdims=True)[0]
np.average(x, weights=[1, 2, 3, 4]) + np.average(x.reshape(2, 2), axis=0, weights=[1.0, 3.0])[1]
np.var(x, ddof=1) + np.std(x.reshape(2, 2), axis=1, ddof=0)[1] + np.mean(x > 0)
np.divide(1.0, x, out=np.zeros(4), where=x != 0).sum()
np.divide(x, x[::-1], out=np.full(4, 7.0), where=np.abs(x[::-1]) > 1).sum()
np.add(x, 1, dtype=np.float64).sum() + np.add(x, 1, casting="same_kind")[0]
np.cumsum(x > 0)[-1] * x[0] + np.cumsum((x > 0).reshape(2, 2), axis=1)[1, 1]
np.prod(x > 0) + np.cumprod(x > -1)[2] + x[0]
((x > 0) + (x > 1)).sum() + ((x > 0) * (x < 1)).sum() + x[0]
((x > 0) @ (x < 1)) + np.dot(x > 0, x < 1) + x[0]
np.einsum("i,i->", x > 0, x < 1) + np.inner(x > 0, x > -1) + x[0]
np.maximum(x > 0, x < 1).sum() + np.abs(x > 0).sum() + x[0]
np.diff(x > 0).sum() + np.diff(x, prepend=0.0, append=[1.0, 2.0]).prod()
np.outer(x > 0, x > 1).sum() + np.kron(x > 0, x > 1).sum() + x[0]
np.tensordot((x > 0).reshape(2, 2), (x < 1).reshape(2, 2), 1).sum() + x[0]
np.convolve(x > 0, x > 1).sum() + x[0]
np.trace((x > 0).reshape(2, 2)) + np.count_nonzero(x > 0) / 2 + x[0]
x.astype(int).sum() + np.int64(x[0]) * 2 + x[1]
x.astype(int)[0] // 2 + x.astype(int)[1] % 3 + x[0]
x.astype(int)[0] // x.astype(int)[1] + x[2]
x.astype(int)[0] % x.astype(int)[1] + np.fmod(x.astype(int)[2], x.astype(int)[3]) + x[2]
x.astype(int)[0] ** 3 + x.astype(int).prod() + np.sign(x.astype(int)).sum() + x[1]
np.round(x).astype(int).dot([1, 2, 3, 4]) / 3 + x[1]
1 / (1 + x.astype(int) ** 2).sum() + x[0]
np.where(x > 0, 1, 0)[0] // 2 + np.where(x > 0, 3, 2)[1] % 2 + x[0]
(np.where(x > 0, 1, 0) / 2).sum() + x[0]
float(x[0]) + float(x[1] >= 0) + int(x[2]) + round(x[3]) + round(x[0], 2)
int(x[0]) // 2 + int(x[1]) % 3 + divmod(int(x[2]), 4)[0] + divmod(x[0], 2)[1] + x[3]
(float(x[0]) > 0) + (float(x[1]) > 0) + x[0]
x[0].item() ** 2 + sum(x.tolist()) + np.float64(x[0]) * 2 + abs(float(x[1]))
math.floor(x[0]) // 2 + math.ceil(x[1]) + math.trunc(x[2]) + math.floor(float(x[3]))
x[0].is_integer() + x[1] + float(x[2]).is_integer()
isinstance(x[0], float) * x[0] + isinstance(float(x[1]), float) * x[1] + isinstance(int(x[0]), int) * x[2]
pow(x[0], 2) + sum(x, 1.0) + max(x) + abs(x[1]) + min(float(x[0]), 2)
np.piecewise(x, [x > -1, x > 1], [lambda t: t * 2, lambda t: t**2]).sum()
np.piecewise(x, [x > 1, x > -1], [lambda t: t * 2, 5.0, lambda t: -t]).sum()
np.piecewise(x, [x < 0], [0.0, lambda t, a: t * a], 3.0).sum()
np.select([x > 0, x > 1], [x, x**2], default=-1).sum()
np.clip(x, None, 1).sum() + np.clip(x, -1, None)[0] + np.clip(x, 1, -1)[0] + x.clip(min=0)[2]
np.round(x, 1).sum() + np.fix(x)[0] + x.round(2)[1]
np.vander(x, 3).sum() + np.vander(x, 3, increasing=True)[1, 2]
np.gradient(x)[1] + np.gradient(x, 0.5, edge_order=2)[0] + np.gradient(x.reshape(2, 2), axis=1)[0, 1]
np.ediff1d(x).prod() + np.ediff1d(x, to_end=x[0], to_begin=[1.0]).sum()
np.linspace(x[0], x[1], 5)[2] + np.linspace(0, x[2], 4, endpoint=False).sum()
np.linalg.matrix_power(x.reshape(2, 2), 3).sum()
np.polynomial.polynomial.polyval(x, [1, 2, 3]).sum() + np.polynomial.Polynomial([1, 2, 3])(x[0])
np.polynomial.chebyshev.chebval(x[0], [1, 2, 3, 4]) + np.polynomial.legendre.legval(x, [1, 2, 3, 4]).sum()
np.polynomial.hermite.hermval(x[0], [1, 2, 3, 4]) + np.polynomial.laguerre.lagval(x, [1, 2, 3, 4]).sum()
np.polynomial.Chebyshev([1, 2, 3], domain=[0, 4])(x[1]) + np.polynomial.hermite_e.hermeval(x[0], [1, 2, 3])
np.polyval([2, 1], x).sum() + np.polyval(x, 2) + np.poly1d([1, 2, 3])(x[0])
np.linalg.norm(x, 3) + np.linalg.norm(x.reshape(2, 2), 1) + np.linalg.norm(x.reshape(2, 2), np.inf, keepdims=True)[0, 0]
np.linalg.norm(x, 0) + np.linalg.norm(x.reshape(2, 2), axis=1)[0] + np.linalg.norm(x.reshape(2, 2), 'fro')
np.interp(x, [-1, 0, 2], [3.0, 1.0, 2.0]).sum() + np.isclose(x, 1).sum() + np.allclose(x, x) * x[0]
np.insert(x, 1, 5.0).sum() + np.delete(x, [0, 2])[1] + np.append(x, [[1.0]])[4] + np.resize(x, 7)[5]
np.pad(x, (1, 2), mode="reflect").sum() + np.pad(x, 1, constant_values=0)[1] + np.pad(x, 1, "edge")[0]
np.meshgrid(x[:2], x[1:], indexing="ij")[1].sum() + np.meshgrid(x[:2], x[1:])[0][1, 1]
np.atleast_2d(x, x[:2])[1].sum() + np.compress([True, False, True], x).sum() + np.extract([1, 0, 0, 1], x)[1]
np.take(x, [5, -7], mode="wrap").sum() + np.take(x, [9], mode="clip")[0] + np.repeat(x, [1, 0, 2, 1])[1]
np.full(3, x[0]).sum() + np.full_like(x, x[1])[0] + np.full((2, 2), x[2], dtype=float)[0, 1] + np.ones_like(x)[0]
np.array([x[0] > 0, True]).sum() + np.array([x[0], 1])[1] + np.array([1, 2, x[0]], dtype=float)[2]
np.array([[1, 2], [x[0], x[1]]], ndmin=3)[0, 1, 1] + np.asarray([x[0], x[1]], dtype=float)[1]
np.concatenate([x > 0, [2, 3]]).sum() + np.stack([x, x], axis=1)[2, 1] + np.block([[x[:2], x[2:]]])[0, 3]
np.vectorize(lambda t: t**2)(x).sum() + np.vectorize(lambda t, u: t * u, otypes=[float])(x, 2.0)[1]
np.trapezoid(x, dx=0.5) + np.trapezoid(x.reshape(2, 2), [1.0, 3.0], axis=0)[0]
np.ptp(x.reshape(2, 2), axis=0)[1] + np.array_equal(x, x) * x[0] + np.array_equal(x, [1.0]) + np.size(x, 0)
np.copysign(x, x[::-1] - 0.25).sum() + np.heaviside(x, 0.5).sum() + np.logaddexp(x, 1.0).sum()
x.max(axis=0, keepdims=True)[0] + x.reshape(2, 2).sum(1, None, None, True)[0, 0] + x.mean(0)
np.cumsum(x, out=np.zeros(4))[3] + np.sum(x.reshape(2, 2), 0, out=np.zeros(2))[1]
np.sin(np.float32(0.5)) * x[0] + x[1] * np.int32(7) + x[2] * np.array([1, 2], np.int8)[1]
np.sqrt(np.where(x > 0, 4, 1)).sum() + x[0]
np.sqrt(x).reshape(2, 2).cumprod(axis=0)[1, 1] + np.log(x).reshape(2, 2).cumsum(1)[1, 0]
np.nanprod(x.astype(int)) + np.nansum(x > 0) + math.fsum(x > 0) + math.fsum(x)
np.signbit(x.astype(int)).sum() + np.copysign(1.0, np.trunc(x).astype(int))[0] + x[0]
np.modf(x, np.zeros(4))[0].sum() + x[0]
np.minimum.reduce(x, initial=True) + np.maximum.reduce(x.reshape(2, 2), 1, initial=0.5)[0]
np.convolve(np.sqrt(x), x)[6] + np.convolve(np.log(x[1:]), x[:2], "same")[0]
type(x[0])(3.0) * x[0] + (type(x) is np.ndarray) * x[1] + (type(float(x[0])) is float) * x[2]
np.convolve(x, 2).sum() + math.prod([x[0], 2, x[1]]) + x[:2].view()[1]
np.not_equal(x > 0, x > 1).sum() + np.logical_xor(x, x > 1).sum() + ((x > 0) == (x[0] > 1)).sum() + x[0]
""".strip().splitlines()


@pytest.mark.parametrize("text", TRACED)
def test_spellings_that_are_honoured_agree_with_numpy(text: str) -> None:
    assert compared(text) == "agrees"


# Arguments, types and functions that no rule honours, and a word of the refusal.
REFUSED = [
    ("np.mean(x, where=x > 0)", "np.mean(..., where=)"),
    ("np.var(x, where=x > 0)", "np.var(..., where=)"),
    ("np.sum(x, dtype=np.float32)", "dtype="),
    ("np.sum(x, dtype=int)", "dtype="),
    ("np.sum(x > 0, initial=x[0])", "initial="),
    ("np.full_like(0, x[0]) + x[1]", "int64"),
    ("np.clip(np.ones(4), 0, 1, where=[True, False, True, True]).sum() + x[0]", "where="),
    ("np.max(x > 0, initial=10) + x[0]", "initial="),
    ("np.add(x, 1, where=None, out=np.zeros(4)).sum()", "where="),
    ("np.add(x, 1, where=x > 0).sum()", "np.add(..., where=)"),
    ("np.add(np.ones(4), 1, where=[True, False, True, True]).sum() + x[0]", "np.add(..., where=)"),
    ("np.add(x, 1, dtype=np.float32).sum()", "dtype="),
    ("np.add(x, 1, casting='unsafe').sum()", "casting="),
    ("np.all(x > 0, where=[True, False, True, True]) * x[0]", "np.all(..., where=)"),
    ("np.average(x, returned=True)[0]", "returned="),
    ("np.interp(x[0], [0, 1], [1.0, 2.0], left=0.0)", "left="),
    ("np.interp(x[0], [0, 1], [1.0, 2.0], period=3.0)", "period="),
    ("np.pad(x, 1, mode='mean').sum()", "np.pad"),
    ("np.pad(x, 1, mode='reflect', reflect_type='odd').sum()", "reflect_type="),
    ("np.pad(x, 1, constant_values=3).sum()", "np.pad"),
    ("np.concatenate([x, x], dtype=np.float32).sum()", "dtype="),
    ("np.vectorize(lambda t, k: t * k, excluded=[1])(x, 2).sum()", "excluded="),
    ("np.vectorize(lambda t: t.sum(), signature='(n)->()')(x)", "signature="),
    ("np.sqrt(x > 0).sum()", "float16"),
    ("((x > 0) ** 2).sum() * np.exp(x > 0).sum()", "float16"),
    ("np.square(x > 0).sum() + x[0]", "int8"),
    ("((x > 0) // True).sum() + x[0]", "int8"),
    ("x.astype(np.int32).sum()", "int32"),
    ("x.astype(np.uint8).sum()", "uint8"),
    ("x.astype(np.float16).sum()", "float16"),
    ("x.astype(int)[0] << 1", "traced"),
    ("(x.astype(int) & 1).sum()", "bits"),
    ("(~x.astype(int)).sum()", "bits"),
    ("np.reciprocal(x.astype(int)).sum()", "integers"),
    ("(2 ** x.astype(int)).sum()", "exponent that varies"),
    ("np.zeros(4, dtype=int).__iadd__(1)[0] + np.full_like(np.arange(4), x[0])[0]", "int64"),
    ("np.cumsum(x, out=np.zeros(4, int)).sum()", "np.cumsum(..., out=)"),
    ("np.sum(x, nonsense=3)", "nonsense"),
    ("np.asmatrix(x) @ np.ones(4)", "np.asmatrix"),
    ("(np.asmatrix(np.eye(4)) * x).sum()", "matrix"),
    ("str(x[0]).count('-') + x[1]", "digits"),
    ("float(f'{x[0]}') + x[1]", "digits"),
    ("x[0] + id(x)", "id()"),
    ("np.unwrap(x)[1]", "np.unwrap"),
    ("np.cov(x)", "np.cov"),
    ("np.where(x > 0)[0].sum() + x[0]", "indices"),
    ("np.linalg.eigvals(x.reshape(2, 2))[0]", "eigvals"),
    ("x[0] if bool(x[0] > 0) else x[1]", "whole range"),
    ("np.nditer(x)", "nditer"),
]


@pytest.mark.parametrize(("text", "word"), REFUSED, ids=[text for text, _ in REFUSED])
def test_what_is_not_honoured_is_refused_by_name(text: str, word: str) -> None:
    assert word in compared(text)


# What NumPy refuses at every point is an error here, too.
RAISED = [
    "((x > 0) - (x > 1)).sum()",
    "(-(x > 0)).sum()",
    "np.ptp(x > 0)",
    "(x.astype(int) ** -1).sum()",
    "np.add(x, 1, out=np.zeros(4, int)).sum()",
    "np.sum(x, axis=(0, 0))",
    "np.add(x, 1, out=np.zeros((1,))).sum()",
    "round(x)",
    "np.average(x, weights=[1.0, 2.0])",
]


@pytest.mark.parametrize("text", RAISED)
def test_what_numpy_raises_is_raised(text: str) -> None:
    assert compared(text).startswith("raises")


def test_integers_wrap_around_as_numpy_does() -> None:
    points = np.array(
        [[3e9, 5e9, 2.0**40, 7.0], [-3e9, 4e9, -(2.0**41), -5.0], [1e19, 2.0, 3.0, 4.0], [2.0**63, 1, 1, 1]]
    )
    for text in (
        "x.astype(int)[:2].prod() / 2.0**60",
        "(x.astype(int) * 2**40)[2] / 2.0**60",
        "-x.astype(int)[0] / 1e18",
    ):
        assert compared(text, points) == "agrees"
    assert compared("int(x[0]) * int(x[1]) * 2.0**-60 + round(x[2]) ** 2", points) == "agrees"
