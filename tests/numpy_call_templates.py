"""The vocabulary of the generated calls: operands by kind, and one template for each spelling of each function.

In a template {a} is any operand, {v} a vector of x, {m} a matrix, {s} a number, {c} a condition, {k} a small integer,
{q} a constant; " ; " ends a line, and the last line is returned. « and » stand for braces of Python.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from infimum.graph.math_rules import MATH, SCIPY
from infimum.graph.numpy_rules import FUNCTIONS, UFUNCS

PRELUDE = """
import builtins, contextlib, functools, itertools, math, operator, random, time
from fractions import Fraction
from decimal import Decimal
import numpy as np
from numpy.random import randint
try:
    import scipy.special as special
    import scipy.optimize
except ImportError:
    special = None
from infimum import exact, pi
rng = np.random.default_rng(1)
draw = rng.normal
A = np.array([[2.0, 1.0], [0.5, -1.0]])
W = np.array([1.0, 2.0, 0.5, 4.0])
I8 = np.array([100, -100, 50, 27], np.int8)
U8 = np.array([0, 1, 200, 255], np.uint8)
F4 = np.array([1.5, -2.5, 0.1, 3.0], np.float32)
T = np.array([True, False, True, True])
table = {0: 1.0, 1: 5.0, 2: -3.0}
"""

_V = """x|x|x|x|x[::-1]|-x|x*2.0|x**2|np.sqrt(x)|np.log(x)|1/x|np.exp(x)|x.reshape(2, 2).ravel()|x.copy()|np.floor(x)
x.reshape(2, 2).T.ravel()|np.round(x)|x[[3, 1, 0, 2]]|x - x[0]|np.abs(x)|np.where(x > 0, x, -1.0)|np.maximum(x, 0.0)
x.astype(float)|np.array([x[0], x[1], x[2], x[3]])|np.log(np.maximum(x, 0.0))|1/np.maximum(x, 0.0)|np.sin(x)|x + W
np.clip(x, -1.0, 2.0)|np.flip(x)|np.concatenate([x[2:], x[:2]])|x[np.array([0, 0, 1, 3])]|np.minimum(x, 1.0)"""
_S = """x[0]|x[0]|x[1]|x[-1]|x.sum()|x[1]**2|np.sqrt(x[0])|1/x[2]|x[0]*x[1]|np.log(x[1])|x[0] - x[1]|np.floor(x[0])
np.exp(x[0])|abs(x[2])|np.max(x)|x.mean()|np.rint(x[0])"""
_M = """x.reshape(2, 2)|x.reshape(2, 2)|x.reshape(2, 2).T|x[:, None]|x[None, :]|np.outer(x, x)|x[:, None]*x|x.reshape(4, 1)
np.broadcast_to(x, (3, 4))|x.reshape(1, 2, 2)|np.stack([x, x**2])|x.reshape(2, 2) @ A|x.reshape(2, 1, 2)|np.tile(x, (2, 1))
x.reshape(2, 2)[::-1]|x.reshape(2, 2)[:, 1:]|np.sqrt(x).reshape(2, 2)"""
_E = "x[:0]|x[1:1].reshape(0, 2)|x[:1]|x[2:3]|x[:1].reshape(1, 1)|x[[1]]|np.sum(x, keepdims=True)|x[0:1].reshape(())"
_B = """x > 0|x > 0|x[0] > 0|x >= 1|x == 0|x != 1|(x > 0) & (x < 1)|~(x > 0)|x.reshape(2, 2) > 0|np.sqrt(x) > 1|x.astype(bool)
1/x > 0|np.log(x) < 0|x[0] == x[1]|x[:1] > 0|x[:0] > 0|np.logical_not(x)|(x > 0) | (x < -1)|x > x[::-1]|x <= W"""
_I = """x.astype(int)|np.floor(x).astype(np.int64)|x.astype(np.int8)|np.round(x).astype(int)|(x > 0).astype(int)|(x > 0)*1
(x > 0).astype(np.uint8)|np.trunc(x)|x.astype(np.uint8)|np.sign(x).astype(int)|x[0].astype(int)|(x > 0).sum()"""
_Q = """2|2.0|-1|0|0.5|3|-2|True|False|2.5|np.float32(0.1)|np.int8(3)|np.uint8(200)|np.int64(2)|np.bool_(True)|1e300|W
np.array([1, 2, 3, 4])|np.arange(4)|U8|I8|F4|T|[1.0, 2.0, 3.0, 4.0]|(1, 2, 3, 4)|np.array(2.0)|np.zeros(4)|np.ones(4)|np.inf
-np.inf|np.nan|np.arange(1, 5)/2|np.array([[1.0, 2.0, 3.0, 4.0], [0.0, 1.0, 0.0, -1.0]])|np.array([0.5, 2.0, 1.0, 0.0])|2**31
10**20|1e-310|A|np.array([])|np.array([3])|np.array([1.0, np.nan, 2.0, np.inf])|[x[0], 1.0, x[1], 2]|(x[0], x[1])|pi|1/3
exact(1, 3)|Fraction(1, 3)|np.float16(1.5)|np.longdouble(1.5)|np.arange(4, dtype=np.float32)|W[::-1]|W.reshape(2, 2)|[0, 1]"""


def _pool(*texts: str) -> list[str]:
    return [part.strip() for text in texts for part in text.replace("\n", "|").split("|") if part.strip()]


def _conditions() -> list[str]:
    return _B.replace("(x > 0) | (x < -1)", "np.logical_or(x > 0, x < -1)").replace("\n", "|").split("|")


V, S, M, E, B, I, Q = _pool(_V), _pool(_S), _pool(_M), _pool(_E), _conditions(), _pool(_I), _pool(_Q)
POOLS: dict[str, list[str]] = {
    "v": V,
    "s": S,
    "m": M,
    "e": E,
    "c": B,
    "i": I,
    "q": Q,
    # any operand, by kind first: vectors half of the time
    "a": ["{v}"] * 9 + ["{s}"] * 4 + ["{m}"] * 3 + ["{e}"] * 2 + ["{c}"] * 2 + ["{i}"] * 2 + ["{q}"] * 2,
    "b": ["{q}"] * 6 + ["{v}"] * 4 + ["{s}"] * 3 + ["{e}", "{c}", "{i}", "{m}"],
    "k": ["0", "1", "2", "-1", "3"],
    "n": ["1", "2", "3"],
    "t": ["0", "-1", "1", "None", "(0,)", "(0, 1)", "()", "0", "-1", "[0]", "np.int64(0)"],
    "u": ["True", "False", "1", "np.True_"],
    "d": ["float", "np.float64", "'f8'", "np.float32", "int", "bool", "np.int8", "np.uint8", "None", "object", "complex",
          "np.longdouble", "'d'", "np.float16", "'int64'"],
    "o": ["np.zeros(4)", "np.empty(4)", "np.zeros(())", "np.zeros(4, np.float32)", "np.zeros(4, int)", "np.zeros((2, 2))",
          "np.zeros(1)", "x.copy()", "np.zeros(4, bool)", "None", "np.zeros(2)", "np.full(4, 7.0)"],
    "w": ["True", "T", "x > 0", "np.sqrt(x) > 1", "False", "[True, False, False, True]", "np.array([1, 0, 1, 0])", "None",
          "x[0] > 0", "np.zeros(4, bool)", "~T"],
    "h": ["'unsafe'", "'safe'", "'no'", "'same_kind'", "'equiv'"],
    "z": ["0", "1.0", "-5.0", "10", "None", "x[0]", "np.inf", "True", "np.nan", "100"],
    "ord": ["1", "2", "np.inf", "-np.inf", "0", "3", "0.5", "'fro'", "'nuc'", "-1", "-2", "None", "2.0"],
    "op": ["+", "-", "*", "/", "//", "%", "**", "@", "<", "<=", ">", ">=", "==", "!=", "&", "|", "^", "<<", ">>"],
    "uf": ["add", "multiply", "minimum", "maximum", "subtract", "power", "logical_and", "logical_or", "fmin", "fmax"],
}  # fmt: skip

# Not called: they read or write files, change global settings, look at the machine, or give nothing to compare.
_LEFT_OUT = frozenset({
    "load", "loadtxt", "save", "savetxt", "savez", "savez_compressed", "fromfile", "fromregex", "genfromtxt", "test",
    "seterr", "seterrcall", "setbufsize", "set_printoptions", "show_config", "show_runtime", "info", "get_include",
    "frombuffer", "memmap", "busday_count", "busday_offset", "is_busday", "datetime_as_string", "datetime_data",
    "nested_iters", "from_dlpack", "empty", "errstate", "printoptions", "frompyfunc", "getbufsize", "geterr",
    "geterrcall", "get_printoptions", "may_share_memory", "shares_memory", "unpackbits", "packbits", "broadcast_shapes",
    "tofile", "dump", "dumps", "setflags", "ctypes", "data", "base", "flags", "strides", "byteswap", "newbyteorder",
    "getfield", "setfield", "tobytes", "to_device", "device", "nbytes", "itemsize",
})  # fmt: skip


def _numpy_names() -> list[str]:
    names = [n for n in dir(np) if not n.startswith("_") and n not in _LEFT_OUT]
    return [n for n in names if callable(getattr(np, n)) and not isinstance(getattr(np, n), type)]


# --- one function after the other --------------------------------------------------------------------------------------


def _ufuncs() -> Iterator[tuple[str, str]]:
    for name in _numpy_names():
        ufunc = getattr(np, name)
        if not isinstance(ufunc, np.ufunc):
            continue
        operands = ", ".join(["{a}", "{b}"][: ufunc.nin]) if ufunc.nin < 3 else ", ".join(["{a}"] * ufunc.nin)
        call, title = f"np.{name}({operands}", f"np.{name}"
        yield title, call + ")"
        yield title, f"np.{name}({', '.join(['{v}', '{q}'][: ufunc.nin])})"
        if ufunc.nin == 2:
            yield title, f"np.{name}({{b}}, {{a}})"
            yield title, f"np.{name}({{q}}, {{s}})"
            yield title, f"np.{name}({{c}}, {{c}})"
            yield title, f"np.{name}({{i}}, {{i}})"
            yield title + ".outer", f"np.{name}.outer({{a}}, {{b}})"
            yield title + ".reduce", f"np.{name}.reduce({{a}}, axis={{t}})"
            yield title + ".reduce", f"np.{name}.reduce({{a}}, {{t}}, keepdims={{u}}, initial={{z}})"
            yield title + ".accumulate", f"np.{name}.accumulate({{a}}, axis={{k}})"
            yield title + ".reduceat", f"np.{name}.reduceat({{v}}, [0, 2])"
            yield title + ".at", f"y = x.copy() ; np.{name}.at(y, [0, 0, 1], {{q}}) ; y"
        else:
            yield title, f"np.{name}({{c}})"
            yield title, f"np.{name}({{i}})"
            yield title + ".at", f"y = x.copy() ; np.{name}.at(y, [0, 1]) ; y"
        yield title + " where=", call + ", where={w})"
        yield title + " where= out=", call + ", where={w}, out={o})"
        yield title + " out=", f"o = {{o}} ; r = {call}, out=o) ; (o, r)"
        yield title + " out positional", f"o = {{o}} ; r = {call}, o) ; (o, r)"
        yield title + " dtype=", call + ", dtype={d})"
        yield title + " casting=", call + ", casting={h})"
        yield title + " casting= dtype=", call + ", casting={h}, dtype={d})"
        yield title + " on a constant", f"np.{name}({', '.join(['{q}', '{q}'][: ufunc.nin])}) + x[0]"


_FOLD = [
    "{f}({a})", "{f}({a}, {t})", "{f}({a}, axis={t})", "{f}({a}, axis={t}, keepdims={u})", "{f}({m}, axis={k})",
    "{f}({c})", "{f}({i}, axis={t})", "{f}({a}, axis={t}, dtype={d})", "{f}({a}, out={o})", "{f}({a}, axis=0, out={o})",
    "{f}({a}, where={w})", "{f}({a}, where={w}, initial={z})", "{f}({a}, initial={z})", "{f}({e})", "{f}([{s}, {s}, {q}])",
    "{f}({c}, dtype={d})", "{f}({a}, {t}, {d})", "{f}({a}, {t}, None, None, {u})", "{f}(({v}, {v}), axis={k})",
]  # fmt: skip
_MOMENT = [
    "{f}({a})", "{f}({a}, axis={t})", "{f}({a}, axis={t}, keepdims={u})", "{f}({a}, dtype={d})", "{f}({a}, where={w})",
    "{f}({a}, out={o})", "{f}({c})", "{f}({i})", "{f}({m}, {k})", "{f}({e})",
]  # fmt: skip
_RUN = [
    "{f}({a})", "{f}({a}, axis={t})", "{f}({m}, {k})", "{f}({c})", "{f}({i})", "{f}({a}, dtype={d})", "{f}({a}, out={o})",
    "{f}({a}, axis=0, dtype={d})", "{f}({e})",
]  # fmt: skip
_ONE = [
    "{f}({a})", "{f}({v})", "{f}({m})", "{f}({c})", "{f}({e})", "{f}({q}) + x[0]", "{f}({a}, {k})", "{f}({a}, {a})",
    "{f}({a}, axis={t})", "{f}([{s}, {s}])", "{f}({s})",
]  # fmt: skip
_TWO = ["{f}({a}, {b})", "{f}({b}, {a})", "{f}({m}, {m})", "{f}({c}, {c})", "{f}({v}, {q})", "{f}({q}, {v})",
        "{f}({i}, {i})", "{f}([{s}, {s}], {v})"]  # fmt: skip
_SEVERAL = [
    "{f}([{a}, {a}])", "{f}(({v}, {q}))", "{f}([{c}, {c}])", "{f}([{v}, {v}], axis={k})", "{f}(({v}, {v}), dtype={d})",
    "{f}([{v}, {v}], out={o})", "{f}([{s}, {q}])", "{f}([{e}, {v}])", "{f}([{m}, {m}])", "{f}(({c}, {v}))",
]  # fmt: skip

_SPECIFIC: dict[str, list[str]] = {
    **{n: _FOLD for n in "sum prod nansum nanprod min max amin amax nanmin nanmax all any ptp count_nonzero".split()},
    **{n: _MOMENT for n in "mean nanmean".split()},
    **{n: [*_MOMENT, "{f}({a}, ddof={k})", "{f}({a}, axis={t}, ddof={k}, keepdims={u})", "{f}({a}, correction={k})",
           "{f}({a}, mean={q})"] for n in "var std nanvar nanstd".split()},
    **{n: _RUN for n in "cumsum cumprod nancumsum nancumprod cumulative_sum cumulative_prod".split()},
    **{n: _TWO for n in "dot inner vdot outer kron correlate convolve cross polyadd polymul polysub array_equal isin "
       "array_equiv searchsorted digitize allclose isclose tensordot polyval extract".split()},
    **{n: _SEVERAL for n in "concatenate concat stack hstack vstack dstack column_stack row_stack block bmat array "
       "asarray".split()},
    "average": ["{f}({a})", "{f}({v}, weights={q})", "{f}({a}, axis={t}, weights=W)", "{f}({v}, weights={v})",
                "{f}({v}, weights=W, returned=True)", "{f}({m}, axis=0, weights=[1.0, 3.0])", "{f}({c}, weights=W)",
                "{f}({a}, axis={t}, keepdims={u})", "{f}(W, weights={v})", "{f}({a}, None, W)"],
    "where": ["{f}({c}, {a}, {b})", "{f}({c}, {s}, {s})", "{f}({a}, {s}, {b})", "{f}({c}, {c}, {c})", "{f}({c})",
              "{f}({q}, {v}, {v})", "{f}({c}, {v}, {q})", "{f}({i}, {v}, {q})", "{f}({c}, np.sqrt(x), {q})",
              "{f}(np.sqrt(x) > 1, 5.0, x)", "{f}({c}, [1.0, 2.0, 3.0, 4.0], {v})"],
    "select": ["{f}([{c}, {c}], [{v}, {s}])", "{f}([x > 1, x > 0], [{v}, {q}], default={z})", "{f}([{c}], [{a}], {b})",
               "{f}([np.sqrt(x) > 1, x > -1], [x, 2*x], -9.0)", "{f}(({c}, {c}), ({v}, {v}))", "{f}([T], [{v}], {s})"],
    "piecewise": ["{f}(x, [{c}], [lambda t: t**2, 1.0])", "{f}(x, [x > 0, x > 1], [1.0, 2.0])",
                  "{f}(x, [x > 0, x > 1], [lambda t: t, lambda t: -t, 7.0])", "{f}(x, x > 0, [2.0, lambda t: t])",
                  "{f}(x, [{c}, {c}], [1, 2, 3])", "{f}(x, [x < 0], [np.sin])", "{f}(x[0], [x[0] > 0], [1.0, 2.0])",
                  "{f}(x.astype(int), [x > 0], [1.5, 2.5])", "{f}(x, [x > 0], [lambda t, a: a*t, 0.0], 3.0)"],
    "clip": ["{f}({a}, {q}, {q})", "{f}({a}, 0, 1)", "{f}({a}, None, 1.0)", "{f}({a}, 1.0, None)", "{f}({a}, min=0)",
             "{f}({a}, a_min={z}, a_max={z})", "{f}({v}, {v}, {v})", "{f}({a}, 2.0, 1.0)", "{f}({a}, 0, 1, out={o})",
             "{f}({a}, 0, 1, where={w})", "{f}({a}, 0, 1, dtype={d})", "{f}({c}, 0, 1)", "{f}({i}, 0.5, 1.5)",
             "{f}({a}, min={q}, max={s})", "{f}(np.sqrt(x), 0.5, 2.0)", "{f}(1/x, -1.0, 1.0)", "{f}({q}, {s}, {s})"],
    **{n: ["{f}({a})", "{f}({a}, {k})", "{f}({a}, decimals={k})", "{f}({a}, -1)", "{f}({a}, out={o})", "{f}({c})",
           "{f}({i}, -1)", "{f}({a}, 1, {o})", "{f}({s}, 20)"] for n in ("round", "around", "fix")},
    "einsum": ["{f}('i,i', {v}, {v})", "{f}('i,j->ij', {v}, {b})", "{f}('ij,jk', {m}, A)", "{f}('ii', x.reshape(2, 2))",
               "{f}('ij->ji', {m})", "{f}('i->', {a})", "{f}('...i,i', {m}, {v})", "{f}('i,i->i', {c}, {c})",
               "{f}('i,i', {v}, {v}, out={o})", "{f}('i,i', {v}, {q}, dtype={d})", "{f}({v}, [0], {v}, [0])",
               "{f}('ij,jk,kl->il', x.reshape(2, 2), A, A, optimize=True)", "{f}('i,i', x > 0, x > 1)",
               "{f}('ii->i', x.reshape(2, 2))", "{f}('i,i', {i}, {i})", "{f}('ij,j', {m}, {v}, casting={h})"],
    "interp": ["{f}({a}, [0.0, 1.0, 3.0], [1.0, -1.0, 4.0])", "{f}({a}, [0, 1, 2], {v})", "{f}({a}, [0, 1], [2, 3], 9.0)",
               "{f}({a}, [0, 1, 2], [1, 0, 2], left=-1.0, right=5.0)", "{f}({a}, [0.0, 1.0], [0.0, 1.0], period=2.0)",
               "{f}({a}, [0.0, 0.0, 1.0], [0.0, 1.0, 5.0])", "{f}(np.sqrt(x), [0.0, 1.0], [0.0, 2.0])",
               "{f}(0.5, [0.0, 1.0], x[:2])", "{f}({a}, [1.0], [2.0])", "{f}({a}, x[:2], [0.0, 1.0])",
               "{f}({a}, [2.0, 1.0, 0.0], [0.0, 1.0, 2.0])", "{f}({i}, [0, 4], [0, 1])", "{f}(1/x, [0.0, 1.0], [0.0, 2.0])"],
    "diff": ["{f}({a})", "{f}({a}, {n})", "{f}({m}, axis={k})", "{f}({v}, prepend={q})", "{f}({v}, append=0.0)", "{f}({c})",
             "{f}({v}, n=0)", "{f}({i})", "{f}({e})", "{f}({m}, 1, {k})", "{f}({v}, prepend={s}, append={v})"],
    **{n: ["{f}({a})", "{f}({v}, {v})", "{f}({v}, x=W)", "{f}({v}, dx=0.5)", "{f}({m}, axis={k})", "{f}({m}, W, 1.0, -1)",
           "{f}({c})", "{f}({v}, {q})", "{f}({m}, x=[0.0, 2.0], axis=0)", "{f}({e})"] for n in ("trapezoid", "trapz")},
    "trace": ["{f}({m})", "{f}({m}, {k})", "{f}({m}, offset=1)", "{f}({m}, dtype={d})", "{f}({m}, out={o})",
              "{f}(x.reshape(2, 2) > 0)", "{f}(x.reshape(1, 2, 2), 0, 1, 2)"],
    "apply_along_axis": ["{f}(np.sum, {k}, {m})", "{f}(lambda r: r[0], 0, {a})", "{f}(np.diff, 1, {m})",
                         "{f}(lambda r: r**2, {k}, {m})", "{f}(lambda r, p: r.max() + p, 0, {m}, 2.0)"],
    "apply_over_axes": ["{f}(np.sum, {m}, [0, 1])", "{f}(np.max, {m}, {k})"],
    "nan_to_num": ["{f}({a})", "{f}({a}, nan=3.0)", "{f}(np.sqrt(x))", "{f}(1/x, posinf=5.0, neginf=-5.0)",
                   "{f}({a}, copy=False)", "{f}(np.log(x), nan=0.0, neginf=-1.0)", "{f}(x, False, 1.0)"],
    "full": ["{f}(4, {s})", "{f}((2, 2), {s})", "{f}(4, {v})", "{f}((), {s})", "{f}(4, {s}, dtype={d})", "{f}(4, {a}, {d})"],
    "full_like": ["{f}({a}, {s})", "{f}({a}, {b})", "{f}({a}, {s}, dtype={d})", "{f}({a}, {s}, shape=3)", "{f}({c}, {s})",
                  "{f}(I8, {s})", "{f}({i}, {s})"],
    **{n: ["{f}({a}) + x[0]", "{f}({a}, dtype={d}) + x[0]", "{f}({a}, {d}) + x[0]", "{f}({a}, shape=(2,)) + x[0]",
           "y = {f}({a}) ; y[...] = {s} ; y", "y = {f}({i}) ; y[0] = x[0] ; y", "y = {f}({c}) ; y[...] = x[0] ; y",
           "{f}({s}) + x[0]"] for n in ("zeros_like", "ones_like")},
    "empty_like": ["y = {f}({a}) ; y[...] = {s} ; y", "y = {f}({v}) ; y[:] = {b} ; y", "y = {f}({i}) ; y[...] = x[0] ; y"],
    "copyto": ["y = x.copy() ; {f}(y, {b}) ; y", "y = x.copy() ; {f}(y, {q}, where={w}) ; y",
               "y = np.zeros(4, int) ; {f}(y, x, casting={h}) ; y", "y = np.zeros((2, 2)) ; {f}(y.T, x.reshape(2, 2)) ; y"],
    "fill_diagonal": ["y = x.reshape(2, 2).copy() ; {f}(y, {q}) ; y", "y = np.outer(x, x) ; {f}(y, {s}) ; y",
                      "y = np.zeros((4, 2)) ; {f}(y, x[0], wrap=True) ; y", "y = np.zeros((4, 2)) ; {f}(y, x[0], True) ; y"],
    "put": ["y = x.copy() ; {f}(y, [0, 2], {q}) ; y", "y = x.copy() ; {f}(y, [0, 5], 1.0, mode='wrap') ; y",
            "y = x.copy() ; {f}(y, [1, 2, 3], [1.0, 2.0]) ; y", "y = x.reshape(2, 2).copy().T ; {f}(y, [1], 9.0) ; y",
            "y = x.copy() ; {f}(y, -1, {s}, 'clip') ; y"],
    "putmask": ["y = x.copy() ; {f}(y, {c}, {q}) ; y", "y = x.copy() ; {f}(y, T, [1.0, 2.0]) ; y"],
    "place": ["y = x.copy() ; {f}(y, {c}, {q}) ; y", "y = x.copy() ; {f}(y, T, [1.0, 2.0]) ; y"],
    "put_along_axis": ["y = x.copy() ; {f}(y, np.array([1]), 5.0, 0) ; y"],
    "pad": ["{f}({v}, 1)", "{f}({v}, (1, 2), 'edge')", "{f}({m}, 1, mode='wrap')", "{f}({v}, 2, 'reflect')",
            "{f}({v}, 1, constant_values=5.0)", "{f}({v}, 1, 'constant', constant_values={s})", "{f}({v}, 1, 'mean')",
            "{f}({v}, 1, 'maximum')", "{f}({v}, 2, 'linear_ramp', end_values=0.0)", "{f}({v}, 2, 'symmetric')",
            "{f}({v}, 2, 'reflect', reflect_type='odd')", "{f}({v}, 1, 'median')", "{f}({c}, 1)"],
    "take": ["{f}({a}, {k})", "{f}({v}, [0, 1])", "{f}({m}, [0, 1], axis={k})", "{f}({v}, 7, mode='wrap')",
             "{f}({v}, [[0, 1]], out={o})", "{f}({v}, 9, mode='clip')", "{f}(W, {i})", "{f}({v}, [True, False])"],
    "take_along_axis": ["{f}({v}, np.array([1, 0]), 0)", "{f}({m}, np.array([[0], [1]]), axis={k})",
                        "{f}({v}, np.argsort(x), 0)", "{f}({m}, np.array([0, 1]), axis=None)"],
    "compress": ["{f}([True, False, True], {v})", "{f}(T, {v})", "{f}({c}, {v})", "{f}([0, 1], {m}, axis={k})",
                 "{f}(T, {v}, out={o})"],
    "choose": ["{f}([0, 1, 0, 1], [{v}, {v}])", "{f}({i}, [{v}, {q}])", "{f}(x > 0, [{v}, {s}])", "{f}(1, [{v}, {v}], mode='clip')"],
    "repeat": ["{f}({a}, {n})", "{f}({v}, [1, 0, 2, 1])", "{f}({m}, 2, axis={k})", "{f}({c}, 2)"],
    "tile": ["{f}({a}, {n})", "{f}({v}, (2, 2))", "{f}({m}, (1, 2))"],
    "roll": ["{f}({a}, {k})", "{f}({m}, 1, axis={k})", "{f}({m}, (1, 1), axis=(0, 1))"],
    "reshape": ["{f}({v}, (2, 2))", "{f}({a}, -1)", "{f}({m}, -1, order='F')", "{f}({v}, (2, 2), 'F')", "{f}({v}, (4, 1), copy=True)",
                "y = {f}(x.copy(), (2, 2)) ; y[0, 0] = 5.0 ; y", "y = x.copy() ; {f}(y, (2, 2))[0] = 9.0 ; y"],
    "ravel": ["{f}({a})", "{f}({m}, 'F')", "{f}({m}, order='K')", "y = x.reshape(2, 2).copy() ; {f}(y.T)[0] = 9.0 ; y",
              "y = x.reshape(2, 2).copy() ; z = {f}(y) ; z[1] = 9.0 ; y", "y = x.reshape(2, 2).copy() ; {f}(y.T)[:] = 1.0 ; y",
              "y = x.reshape(2, 2).copy() ; {f}(y, order='F')[1] = 9.0 ; y"],
    "transpose": ["{f}({m})", "{f}(x.reshape(1, 2, 2), (2, 0, 1))", "{f}({m}, axes={t})", "{f}([{v}, {v}])"],
    "insert": ["{f}({v}, {k}, {q})", "{f}({v}, [0, 2], {s})", "{f}({m}, 1, 5.0, axis={k})", "{f}({v}, slice(0, 2), 7.0)",
               "{f}(np.arange(4), 1, {s})", "{f}({i}, 1, 2.5)"],
    "append": ["{f}({a}, {b})", "{f}({v}, {s})", "{f}({m}, {m}, axis={k})", "{f}({c}, {v})", "{f}({c}, {c})"],
    "delete": ["{f}({v}, {k})", "{f}({v}, [0, 1])", "{f}({m}, 0, axis={k})", "{f}({v}, slice(None, None, 2))", "{f}({v}, T)"],
    "resize": ["{f}({v}, 6)", "{f}({v}, (2, 3))", "{f}({e}, 3)"],
    **{n: ["{f}({m}, {n})", "{f}({v}, 2)", "{f}({v}, [1, 3])", "{f}({m}, 2, axis={k})"] for n in
       "split array_split hsplit vsplit dsplit".split()},
    "meshgrid": ["{f}({v}, {v})", "{f}({v}, W, indexing='ij')", "{f}({v}, {q}, sparse=True)", "{f}({s}, {v}, copy=False)"],
    **{n: ["{f}({v})", "{f}({m})", "{f}({m}, {k})", "{f}({v}, k=1)"] for n in "diag diagflat tril triu diagonal".split()},
    "broadcast_to": ["{f}({a}, (2, 4))", "{f}({s}, (3,))", "{f}({v}, (2, 4), subok=True)", "y = {f}(x.copy(), (2, 4)) ; y[0] = 1 ; y"],
    "expand_dims": ["{f}({a}, {k})", "{f}({v}, axis=(0, 2))"],
    "squeeze": ["{f}({a})", "{f}(x[:, None], axis={t})", "{f}({e})"],
    "moveaxis": ["{f}({m}, 0, -1)", "{f}(x.reshape(1, 2, 2), [0, 1], [2, 0])"],
    "swapaxes": ["{f}({m}, 0, 1)", "{f}({m}, -1, 0)"],
    "rollaxis": ["{f}({m}, 1)", "{f}({m}, 1, 0)"],
    "rot90": ["{f}({m})", "{f}({m}, {k})", "{f}({m}, k=2, axes=(0, 1))"],
    "linspace": ["{f}(0.0, {s}, 4)", "{f}({s}, {s}, num=3, endpoint=False)", "{f}({v}, 1.0, 3)", "{f}(0, pi, 3) * x[0]",
                 "{f}({s}, 1.0, 3, retstep=True)", "{f}(0, {s}, 3, dtype={d})", "{f}(0.0, x, 3, axis=-1)"],
    "arange": ["{f}(4) * {s}", "{f}(0, {s})", "{f}({s}, {s} + 2)", "{f}(1, 5, dtype={d}) * x"],
    "logspace": ["{f}(0, 1, 4) * x", "{f}(0, {s}, 3)"], "geomspace": ["{f}(1, 8, 4) * x", "{f}(1.0, {s}, 3)"],
    **{n: ["{f}(4) * x", "{f}(3, dtype={d}) * x[0]", "{f}((2, 2)) * {s}"] for n in ("zeros", "ones", "identity", "eye", "tri")},
    "fromfunction": ["{f}(lambda i: i * x[0], (3,))", "{f}(lambda i, j: i + j, (2, 2)) * {s}"],
    "fromiter": ["{f}((t * x[0] for t in range(3)), float)", "{f}(iter([1.0, 2.0]), float) * x[0]"],
    "vectorize": ["np.vectorize(lambda t: t**2)({v})", "np.vectorize(lambda a, b: a + b)({v}, {q})",
                  "np.vectorize(lambda a, b: a + b, excluded=[1])({v}, 2.0)", "np.vectorize(math.sin)({v})",
                  "np.vectorize(lambda t: 1 if t > 0 else 2)({v})", "np.vectorize(lambda t: t, otypes=[int])({v})",
                  "np.vectorize(lambda a, b: np.sum(a) + b, signature='(n),()->()')({v}, 1.0)"],
    "frompyfunc": ["np.frompyfunc(lambda t: t**2, 1, 1)({v})"],
    "polyval": ["{f}([1.0, 2.0], {a})", "{f}({v}, {s})", "{f}({q}, {a})", "{f}({v}, 2.0)", "{f}(np.poly1d([1.0, 2.0]), {v})"],
    "nanpercentile": ["{f}({v}, 50)"], "percentile": ["{f}({v}, 50)", "{f}({v}, 0, axis=0)"],
    "quantile": ["{f}({v}, 0.5)"], "gradient": ["{f}({v})", "{f}({v}, 2.0)", "{f}({m}, axis=0)", "{f}({v}, W)"],
    "unwrap": ["{f}({v})"], "ediff1d": ["{f}({a})", "{f}({v}, to_end=1.0)"], "histogram": ["{f}({v}, bins=2)[0]"],
    "cov": ["{f}({v})", "{f}({v}, {v})", "{f}({m})", "{f}({v}, ddof=0)"], "corrcoef": ["{f}({v}, {v})"],
    "bincount": ["{f}([0, 1, 1, 2], weights=x)", "{f}({i})"], "vander": ["{f}({v})", "{f}({v}, 3)"],
    "ix_": ["x.reshape(2, 2)[{f}([0, 1], [1, 0])]"], "matrix_transpose": ["{f}({m})"], "unstack": ["{f}({m})", "{f}({m}, axis={k})"],
    "lexsort": ["{f}(({v}, {v}))"], "ravel_multi_index": ["x[{f}(([0, 1], [1, 0]), (2, 2))]"],
    "isneginf": ["{f}({a})", "{f}(-1/np.maximum(x, 0.0))"], "isposinf": ["{f}({a})", "{f}(1/np.maximum(x, 0.0))"],
    "astype": ["{f}({a}, {d})", "{f}({v}, float, copy=False)"], "require": ["{f}({v}, float, 'C')", "{f}({v}, {d})"],
    "array": [*_SEVERAL, "{f}({a})", "{f}({a}, dtype={d})", "{f}({a}, {d})", "{f}({v}, copy=False)", "{f}({a}, ndmin=2)",
              "{f}([{s}, 1, 2.5], dtype={d})", "{f}({m}, order='F').ravel('K')", "{f}([x, W])", "{f}([[x[0]], [x[1]]])",
              "y = x.copy() ; z = {f}(y) ; z[0] = 5.0 ; y", "y = x.copy() ; z = {f}(y, copy=None) ; z[0] = 5.0 ; y"],
    "asarray": [*_SEVERAL, "{f}({a})", "{f}({a}, dtype={d})", "{f}({a}, {d})", "y = x.copy() ; z = {f}(y) ; z[0] = 5.0 ; y",
                "y = x.copy() ; z = {f}(y, copy=True) ; z[0] = 5.0 ; y", "{f}({a}, order='F')"],
    "copy": ["{f}({a})", "y = x.copy() ; z = {f}(y) ; z[0] = 5.0 ; y", "{f}({m}, order='F').ravel('K')"],
}  # fmt: skip


def _functions() -> Iterator[tuple[str, str]]:
    for name in [*_numpy_names(), "vectorize", "frompyfunc"]:
        if isinstance(getattr(np, name), np.ufunc):
            continue
        own = [t for t in _SPECIFIC.get(name, _ONE)]
        if name in _SPECIFIC and all(t.startswith("{f}(") for t in own) and getattr(np, name) in FUNCTIONS:
            own.append("{f}({q}) + x[0]")  # what is known stays NumPy's business
        for template in own:
            yield f"np.{name}", template.replace("{f}", f"np.{name}")


def _linalg() -> Iterator[tuple[str, str]]:
    square = "x.reshape(2, 2)"
    own = {
        "norm": ["({a})", "({a}, {ord})", "({a}, ord={ord}, axis={t})", "({a}, axis={t}, keepdims={u})", "({m}, {ord})",
                 "({m}, ord={ord}, axis={k})", "({m}, {ord}, (0, 1))", "({m}, {ord}, keepdims=True)", "({v}, {ord}, 0, True)",
                 "({c})", "({i}, {ord})", "({e}, {ord})", "([{s}, {s}])"],
        "multi_dot": [f"([A, {square}, A])", "([x, np.outer(x, W), x])"],
        "matrix_power": [f"({square}, {{n}})"], "tensordot": ["({m}, {m}, axes=1)", "({v}, {v}, 0)"],
        **{n: ["({a}, {b})", "({v}, {v})"] for n in ("outer", "vecdot", "cross", "matmul")},
        **{n: ["({v})", "({a}, axis={t}, ord={ord}, keepdims={u})"] for n in ("vector_norm",)},
        "matrix_norm": [f"({square})", f"({square}, ord={{ord}})"],
        **{n: [f"({square}, A)", f"(A, {square})", "(A, x[:2])"] for n in ("solve", "lstsq", "tensorsolve")},
    }  # fmt: skip
    for name in dir(np.linalg):
        if name.startswith("_") or name in ("test", "LinAlgError", "linalg"):
            continue
        for template in own.get(name, [f"({square})", f"({square} + 3*A)", "(A) * x[0]", "({m})"]):
            yield f"np.linalg.{name}", f"np.linalg.{name}{template}"


_METHODS: dict[str, list[str]] = {
    **{n: ["()", "({t})", "(axis={t})", "(axis={t}, keepdims={u})", "(out={o})", "(where={w})", "(initial={z})", "(dtype={d})",
           "(0, {d})", "(axis=0, out={o})"] for n in "sum prod min max all any mean".split()},
    **{n: ["()", "(axis={t})", "(ddof={k})", "(axis={t}, keepdims={u}, ddof=1)", "(where={w})", "(dtype={d})"] for n in ("var", "std")},
    **{n: ["()", "({k})", "(axis={t})", "(dtype={d})", "(out={o})"] for n in ("cumsum", "cumprod")},
    "astype": ["({d})", "(dtype={d})", "({d}, copy=False)", "(float, copy=False)", "({d}, casting={h})", "(float, 'F')"],
    "clip": ["(0, 1)", "({q}, {q})", "(min=0)", "(max=1.0)", "(0, 1, out={o})", "(None, {s})", "({v}, {q})", "(0, 1, where={w})"],
    "round": ["()", "({k})", "(decimals={k})", "(out={o})"], "reshape": ["(-1)", "(2, 2)", "((2, 2), order='F')", "(4, 1)", "(2, -1)"],
    "ravel": ["()", "('F')", "(order='K')"], "flatten": ["()", "('F')"], "transpose": ["()", "(1, 0)", "((1, 0))", "(None)"],
    "swapaxes": ["(0, 1)"], "squeeze": ["()", "(axis={t})"], "repeat": ["({n})", "(2, axis={k})"], "take": ["([0, 1])", "({k}, axis=0)"],
    "dot": ["({b})", "({v})"], "item": ["()", "({k})", "(0, 1)"], "trace": ["()", "(1)"], "diagonal": ["()", "(1)"],
    "copy": ["()", "('F')"], "view": ["()", "(np.ndarray)", "(np.int64)"], "conj": ["()"], "conjugate": ["()"], "tolist": ["()"],
    "searchsorted": ["(1.0)"], "choose": ["([{v}, {v}])"], "compress": ["([True, False])", "(T)"],
    **{n: ["()"] for n in "argmax argmin argsort argpartition nonzero __abs__ __neg__ __pos__ __len__ __float__ __int__".split()},
    **{n: [""] for n in "T mT real imag size shape ndim flat dtype.itemsize".split()},
    "__add__": ["({b})"], "__rsub__": ["({b})"], "__pow__": ["({b})"], "__matmul__": ["({v})"], "__getitem__": ["({k})", "(slice(1, 3))"],
    "__truediv__": ["({b})"], "__mod__": ["({b})"], "__divmod__": ["({b})"], "__contains__": ["(1.0)"], "__round__": ["()", "(1)"],
}  # fmt: skip


def _methods() -> Iterator[tuple[str, str]]:
    for name, spellings in _METHODS.items():
        number = "" if name in ("size", "shape", "ndim", "flat", "dtype.itemsize") else ""
        for spelling in spellings:
            for owner in ("{v}", "{m}") if spelling != "()" else ("{v}", "{m}", "{s}", "{c}", "{i}", "{e}"):
                yield f".{name}", f"({owner}).{name}{spelling}{number}"
    for line in (
        "y = x.copy() ; y.fill({q}) ; y", "y = x.copy() ; y.fill({s}) ; y", "y = x.copy() ; y.sort() ; y", "y = x.copy() ; y.put([0], {s}) ; y",
        "y = x.copy() ; y.resize(2) ; y", "y = x.copy() ; y.shape = (2, 2) ; y", "y = x.copy() ; y.partition(1) ; y",
        "y = x.copy() ; y.itemset(0, 1.0) ; y", "y = x.copy() ; y.setflags(write=False) ; y[0] = 1.0 ; y",
        "list(x.flat)", "y = x.copy() ; y.flat[1] = 5.0 ; y", "y = x.reshape(2, 2).copy() ; y.T.flat[1] = 5.0 ; y",
        "y = x.copy() ; y.flat = {q} ; y", "x.reshape(2, 2).T.flat[1]", "y = x.copy() ; y.real = 3.0 ; y",
    ):  # fmt: skip
        yield "method in place", line


_OPERATORS = "+ - * / // % ** @ < <= > >= == != & | ^ << >>".split()


def _operators() -> Iterator[tuple[str, str]]:
    for sign in _OPERATORS:
        operands = ["{a}", "{b}"], ["{b}", "{a}"], ["{v}", "{q}"], ["{q}", "{v}"], ["{s}", "{q}"], ["{c}", "{c}"], ["{i}", "{i}"], ["{c}", "{v}"], ["{i}", "{q}"]  # noqa: E501
        for a, b in operands:
            yield f"a {sign} b", f"({a}) {sign} ({b})"
    for sign in _OPERATORS[:8] + _OPERATORS[14:]:
        for target in ("x.copy()", "{v}", "(x > 0)", "{i}", "np.arange(4)", "np.zeros(4)", "F4.copy()", "{s}", "x.reshape(2, 2).copy()"):
            yield f"a {sign}= b", f"y = {target} ; y {sign}= {{b}} ; y"
        yield f"a {sign}= b on a view", f"y = x.copy() ; z = y[1:3] ; z {sign}= {{q}} ; y"
        yield f"a {sign}= b on an element", f"y = x.copy() ; y[{{k}}] {sign}= {{s}} ; y"
        yield f"a {sign}= b on a mask", f"y = x.copy() ; y[{{w}}] {sign}= {{q}} ; y"
    for sign in ("-", "+", "~", "not "):
        for a in ("{v}", "{s}", "{c}", "{i}", "{m}", "{e}"):
            yield f"{sign}a", f"{sign}({a})"


_STATEMENTS = {
    "masked selection": [
        "x[x > 0].sum()", "np.sum(x[{c}])", "x[{c}].mean()", "np.prod(x[x > 0])", "x[x > 0].max(initial=0.0)", "np.sqrt(x[x > 0]).sum()",
        "(x[x > 0] + 1).sum()", "len(x[x > 0])", "x[x > 0].size", "x[T]", "x[T].sum()", "np.min(x[x > 0])", "(x[x > 0]*W[x > 0]).sum()",
        "y = x.copy() ; y[x > 0] = 5.0 ; y", "y = x.copy() ; y[{c}] = {q} ; y", "y = x.copy() ; y[x > 0] *= 2 ; y", "y = x.copy() ; y[~(x > 0)] = -y[~(x > 0)] ; y",
        "y = x.copy() ; y[x > 0] = x[x > 0]**2 ; y", "y = np.zeros(4) ; y[T] = x[:3] ; y", "y = x.copy() ; m = y[x > 0] ; m[...] = 9.0 ; y",
        "y = np.zeros(4, int) ; y[x > 0] = 2.7 ; y", "y = x.copy() ; y[np.sqrt(x) > 1] = 0.0 ; y", "x[x > 0].var()", "x[x != 0].std()", "x[x > 0] @ x[x > 0]",
        "x.reshape(2, 2)[x.reshape(2, 2) > 0].sum()", "x[(x > 0) & T].sum()", "np.any(x[x > 0] > 1)", "np.sum(1/x[x != 0])", "x[x > 100].sum()", "np.mean(x[x > 100])",
    ],
    "views and copies": [
        "y = +x ; y[0] = 5.0 ; (x, y)", "y = np.positive(x) ; y[0] = 9.0 ; x", "y = x.copy() ; z = +y ; z[0] = 5.0 ; y", "y = x.copy() ; z = y.astype(float, copy=False) ; z[0] = 5.0 ; y",
        "y = x.copy() ; z = y.astype(float) ; z[0] = 5.0 ; y", "y = x.copy() ; z = y.reshape(2, 2) ; z[0, 0] = 5.0 ; y", "y = x.copy() ; z = y[::-1] ; z[0] = 5.0 ; y",
        "y = x.copy() ; z = y.reshape(2, 2).T.ravel() ; z[0] = 5.0 ; y", "y = x.copy() ; z = y[[0, 1]] ; z[0] = 5.0 ; y", "y = x.copy() ; y[[0, 1]] += 5.0 ; y", "y = x.copy() ; y[[0, 0]] += 5.0 ; y",
        "y = x.copy() ; z = y.view() ; z[0] = 5.0 ; y", "y = x.copy() ; z = y.flatten() ; z[0] = 5.0 ; y", "y = x.copy() ; z = np.ascontiguousarray(y) ; z[0] = 5.0 ; y",
        "y = x.copy() ; y[1:] = y[:-1] ; y", "y = x.copy() ; y[:-1] = y[1:] ; y", "y = x.copy() ; y[::2], y[1::2] = y[1::2], y[::2] ; y", "y = x.copy() ; y[0], y[1] = y[1], y[0] ; y",
        "y = x.copy() ; np.squeeze(y)[0] = 3.0 ; y", "y = x.copy() ; np.broadcast_to(y, (2, 4))[0, 0] ; y", "y = x.copy() ; np.atleast_2d(y)[0, 0] = 3.0 ; y", "y = x.copy() ; np.diagonal(y.reshape(2, 2)) ; y",
        "y = x.copy() ; a, b = np.split(y, 2) ; a[0] = 7.0 ; y", "y = x.copy() ; np.real(y)[0] = 3.0 ; y", "y = x.copy() ; y.real[0] = 3.0 ; y", "y = x.copy() ; np.swapaxes(y.reshape(2, 2), 0, 1)[0, 1] = 4.0 ; y",
        "y = np.zeros((2, 2)) ; y.T[0] = x[:2] ; y", "y = np.zeros((2, 2)) ; y[:, 0] = x[:2] ; y.T[1] = x[2:] ; y", "y = np.zeros(4) ; z = y[1:3] ; z += x[:2] ; y", "y = np.conj(x) ; y[0] = 1.0 ; x",
        "y = x.copy() ; np.moveaxis(y.reshape(2, 2), 0, 1)[0, 1] = 4.0 ; y", "y = x.copy() ; np.flip(y)[0] = 2.0 ; y", "y = x.copy() ; np.roll(y, 1)[0] = 2.0 ; y", "y = x.copy() ; z = y * 1 ; z[0] = 5.0 ; y",
        "y = x.copy() ; np.expand_dims(y, 0)[0, 0] = 2.0 ; y", "y = x.copy() ; np.nan_to_num(y, copy=False)[0] = 2.0 ; y", "y = x.copy() ; np.take(y, [0, 1])[0] = 2.0 ; y", "y = x.copy() ; z = np.asarray(y, float) ; z[0] = 5.0 ; y",
        "y = x.copy() ; z = np.array(y, copy=False) if False else np.asanyarray(y) ; z[0] = 5.0 ; y", "y = x.copy() ; z = y[...] ; z[0] = 5.0 ; y", "y = x.copy() ; z = y[None] ; z[0, 0] = 5.0 ; y", "y = np.where(True, x, 0.0) ; y[0] = 5.0 ; x",
        "y = np.clip(x, None, None) ; y[0] = 5.0 ; x", "y = np.round(x.copy()) ; y[0] = 5.0 ; y", "y = x.copy() ; z = np.maximum(y, -np.inf) ; z[0] = 5.0 ; y", "y = x.copy() ; z = y.T ; z[0] = 5.0 ; y", "x[0] = 5.0 ; x",
        "y = x.copy() ; z = np.reshape(y, -1) ; z[0] = 5.0 ; y", "y = x.copy() ; z = y.squeeze() ; z[0] = 5.0 ; y", "y = x.copy() ; z = y.transpose() ; z[0] = 5.0 ; y", "y = x.copy() ; z = np.sum(y.reshape(1, 4), axis=0) ; z[0] = 5.0 ; y",
        "y = x.copy() ; z = np.concatenate([y]) ; z[0] = 5.0 ; y", "y = x.copy() ; z = np.stack([y])[0] ; z[0] = 5.0 ; y", "y = x.copy() ; z = y.mean(axis=()) ; z[0] = 5.0 ; y", "y = x.copy() ; z = np.tile(y, 1) ; z[0] = 5.0 ; y", "y = x.copy() ; z = np.repeat(y, 1) ; z[0] = 5.0 ; y",
    ],
    "control flow": [
        "x[0] if {q} is not None else x[1]", "abs(x[0]) if x[0] > 0 else x[1]", "x[0] and x[1]", "x[0] or x[1]", "not x[0]", "[t for t in x if t > 0]", "sum(t for t in x)", "sum(t**2 for t in x)",
        "table.get(round(x[0]), 7.0) + x[1]", "(1.0 if x[0] in «0.0, 1.0» else 2.0) + x[1]", "(1.0 if x[0] in [0.0, 1.0] else 2.0) + x[1]", "float(x[0])", "float(x[0] >= 0)", "int(x[0])", "bool(x[0])", "complex(x[0]).real",
        "math.floor(x[0])", "math.ceil(x[0])", "math.trunc(x[0])", "round(x[0])", "round(x[0], 1)", "divmod(x[0], 2.0)", "pow(x[0], 2)", "pow(x[0], {q})", "hash(x[0]) * 0 + x[1]", "str(x[0]).count('-') + x[1]", "f'«x[0]»'.count('-') + x[1]",
        "(lambda t: t*2)(x[0])", "functools.reduce(operator.add, x)", "functools.reduce(lambda a, b: a*b, x, 1.0)", "list(map(lambda t: t + 1, x))", "max(x)", "min(x)", "max(x[0], x[1])", "min(x[0], {q})", "max({q}, x[0])", "max(x[0], math.nan)", "max(math.nan, x[0])",
        "min(np.sqrt(x[0]), 1.0)", "min(1.0, np.sqrt(x[0]))", "max(np.sqrt(x[0]), 1.0)", "max(1.0, np.sqrt(x[0]))", "max(x, key=abs)", "min(x, default=0.0)", "max([x[0], x[1], 3.0])", "max(*x)", "sorted(x)", "sum(x)", "sum(x, 1.0)", "sum(x, start=2)", "sum([x[0], 1, True])", "all(x)", "any(x)",
        "all(x > 0)", "any(x > 0)", "all(t > 0 for t in x)", "any([x[0] > 0, x[1] > 0])", "abs(x)", "len(x)*x[0]", "list(reversed(x))", "list(x)", "tuple(x)", "dict(a=x[0])['a']", "[*x]", "[a*b for a, b in zip(x, W)]", "[i*t for i, t in enumerate(x)]", "list(itertools.accumulate(x))",
        "range(int(x[0]))[0:0] and 0 or x[0]", "isinstance(x, np.ndarray)*x[0]", "isinstance(x[0], float)*x[0]", "type(x[0])(3.0) + x[0]", "type(x) is np.ndarray and x[0]", "x[0].dtype.kind == 'f' and x[0]", "np.ndim(x[0]) + x[0]", "hasattr(x, 'dtype')*x[0]", "(x[0] > 0)*x[0] + (x[0] <= 0)*x[1]",
        "(x[0] > 0) + (x[1] > 0)", "(x > 0) + (x < 1)", "(x > 0) * (x < 1)", "(x > 0) - 1", "-(x > 0)*1.0", "(x > 0).sum()", "(x > 0) @ (x < 1)", "(x > 0) / 2", "(x > 0) ** 2", "2 ** (x > 0)", "(x > 0) // 2", "True + x[0]", "x[0] is None or x[0]", "x[int(x[0] * 0)]", "x[x.astype(int) * 0]", "x[True]", "x[False]", "x[None][0]",
        "[x[0], 5.0][x[0] > 0]", "W[(x > 0).astype(int)]", "np.array([1.0, 2.0])[(x[0] > 0) * 1]", "'a' * 2 == 'aa' and x[0]", "x[0] == x[0]", "x[0] != x[0]", "np.sqrt(x[0]) != np.sqrt(x[0])", "x[0] < x[1] < x[2]", "math.isnan(np.sqrt(x[0])) * 1.0 + x[1]", "np.isnan(np.sqrt(x)) * 1.0",
    ],
    "try": [
        "try:\n        y = math.sqrt(x[0])\n    except ValueError:\n        y = 5.0 ; y", "try:\n        y = math.log(x[0])\n    except (ValueError, ArithmeticError):\n        y = -1.0 ; y + x[1]",
        "try:\n        y = 1 / float(x[0])\n    except ZeroDivisionError:\n        y = 7.0 ; y", "y = 3.0\n    with contextlib.suppress(ValueError):\n        y = math.sqrt(x[0]) ; y + x[1]", "y = 3.0\n    with contextlib.suppress(Exception):\n        y = np.sort(x)[0] ; y + x[1]",
        "try:\n        y = np.sort(x)[0]\n    except Exception:\n        y = 2.0 ; y + x[0]", "try:\n        y = table[round(x[0])]\n    except KeyError:\n        y = 2.0 ; y + x[0]", "try:\n        y = math.exp(x[0])\n    except OverflowError:\n        y = 1e9 ; y",
        "try:\n        y = int(1/x[0])\n    except (OverflowError, ValueError):\n        y = 2.0 ; y + x[1]", "try:\n        y = x[4]\n    except IndexError:\n        y = 2.0 ; y + x[1]", "try:\n        x[0] = 3.0\n    except ValueError:\n        pass ; x[0]",
        "try:\n        y = math.asin(x[0])\n    except ValueError:\n        y = 9.0\n    finally:\n        z = 1.0 ; y + z", "try:\n        y = x[0] ** 0.5\n    except Exception:\n        y = 9.0 ; y", "try:\n        y = float(x[0]) ** 0.5 + math.pow(x[0], 0.5)\n    except ValueError:\n        y = 9.0 ; y",
        "with np.errstate(invalid='raise'):\n        try:\n            y = np.sqrt(x[0])\n        except FloatingPointError:\n            y = -4.0 ; y", "assert x[0] > -1e9 ; x[0]", "with np.errstate(all='ignore'):\n        y = np.sqrt(x) ; y",
    ],
    "powers": [
        "x ** np.array([0, 1, 2, 0.5])", "x ** np.array([2, 3, -1, 0])", "x ** np.arange(4)", "x[0] ** np.array([0.0, 1.5, 2.0])", "x ** 2**31", "x ** (2**31 + 1)", "x[0] ** 1e10", "x[0] ** np.round(x[1])", "(-1.0) ** np.floor(x)", "0 ** x", "0.0 ** x[0]", "x ** 0", "x ** 0.0", "np.log(x) ** 0",
        "x[0] * np.array([0.0, 1.0, 2.0]) ** x[1]", "np.array([0, 1, 2, 3]) ** x", "x ** x", "2 ** x", "(-2.0) ** x", "x ** -1", "x ** -2", "x ** -0.5", "x ** 0.5", "x ** (1/3)", "x ** 1.5", "x ** exact(1, 2)", "x ** Fraction(1, 2)", "x ** Fraction(1, 3)", "x ** exact(2)", "x ** True", "x ** (x > 0)",
        "np.power(x, np.array([1, 2, 3, 4]))", "np.power(2, x)", "np.power(x, -1)", "np.float_power(x, 2)", "np.float_power(x, {q})", "math.pow(x[0], {q})", "math.pow({q}, x[0])", "x[0] ** x[1]", "x ** x.astype(int)", "x ** np.int8(2)", "x ** np.array(3)", "x ** [1, 2, 3, 4]", "x ** np.inf", "x ** np.nan", "x ** -np.inf",
        "np.arange(4) ** 2 * x", "np.arange(4) ** -1.0 * x", "I8 * 2 * x", "I8 ** 2 + x", "U8 + U8 + x", "U8 - 1 + x", "np.abs(np.array([-128], np.int8)) * x", "np.array([1, 2], int) / 0 + x[:2]", "x ** F4", "1 ** x", "1.0 ** np.sqrt(x)", "np.sqrt(x) ** 0", "(1/x) ** 0", "(x > 0) ** (x > 1)", "x ** 3", "x ** 7", "x ** 1000", "abs(x) ** 0.3",
    ],
    "nan and infinity": [
        "np.where(np.sqrt(x) > 1, 5.0, x)", "np.exp(-1/np.maximum(x, 0.0))", "np.maximum(np.log(np.maximum(x, 0.0)), -10)", "np.nansum(np.sqrt(x))", "np.nanmax(np.log(x))", "np.nanmean(np.sqrt(x))", "np.nanprod(np.sqrt(x))", "np.fmin(np.sqrt(x), 1.0)", "np.fmax(np.log(x), 0.0)", "np.isfinite(1/x)*1.0", "np.isnan(np.log(x))*1.0",
        "np.nan_to_num(np.sqrt(x))", "~(np.sqrt(x) > 1) * 1.0", "(np.sqrt(x) == np.sqrt(x)) * 1.0", "(np.sqrt(x) != np.sqrt(x)) * 1.0", "np.where(np.isnan(np.sqrt(x)), 0.0, x)", "np.minimum(1/np.maximum(x, 0.0), 5.0)", "np.arctan(1/np.maximum(x, 0.0))", "np.tanh(1/np.maximum(x, 0.0))", "1/(1 + 1/np.maximum(x, 0.0))", "np.exp(np.log(np.maximum(x, 0.0)))",
        "np.select([np.sqrt(x) > 1, np.sqrt(x) <= 1], [1.0, 2.0], 3.0)", "np.clip(1/np.maximum(x, 0.0), 0.0, 9.0)", "np.clip(np.sqrt(x), 0, 1)", "np.where(x > 0, np.log(x), 0.0)", "np.where(x > 0, 1/x, 2.0) + np.where(x <= 0, np.sqrt(-x), 0.0)", "np.any(np.sqrt(x) > 1) * 1.0", "np.all(np.sqrt(x) >= 0) * 1.0", "np.count_nonzero(np.sqrt(x))*1.0", "np.sign(1/np.maximum(x, 0.0))",
        "np.minimum.reduce(1/np.maximum(x, 0.0))", "np.min(1/np.maximum(x, 0.0))", "np.max(np.log(np.maximum(x, 0.0)))", "np.nanmin(np.log(x))", "np.nanvar(np.sqrt(x))", "np.nancumsum(np.sqrt(x))", "np.logaddexp(np.log(np.maximum(x, 0.0)), 0.0)", "np.hypot(x, 0.0)", "np.arctan2(x, 0.0)", "np.arctan2(0.0, x)", "np.arctan2(x, x[::-1])", "np.copysign(1.0, x)", "np.copysign(2.0, -x)",
        "np.signbit(x)*1.0", "np.heaviside(np.sqrt(x), 0.5)", "np.sinc(x)", "np.minimum(x, np.inf)", "np.maximum(x, -np.inf)", "np.minimum(x, np.nan)", "np.fmin(x, np.nan)", "np.where(x > 0, x, np.inf)", "np.where(x > 0, np.nan, x)", "x * np.inf", "x - np.inf", "np.exp(-np.inf) * x", "np.minimum(np.where(x > 0, np.inf, x), 3.0)", "x < np.inf", "(x == np.inf) * 1.0", "np.isclose(x, np.inf) * 1.0",
        "np.logical_and(np.sqrt(x), True) * 1.0", "np.logical_not(np.sqrt(x)) * 1.0", "np.logical_xor(np.sqrt(x) > 1, x > 0) * 1.0", "np.exp(x) / (1 + np.exp(x))", "np.log(1 + np.exp(x))", "1 / (1 + np.exp(-x))", "np.exp(-x**2)", "np.sqrt(x) * 0", "0 * (1/x)", "x / x", "np.floor(1/x) * 0", "np.mod(x, 0)", "np.mod(x, np.inf)", "np.fmod(x, np.inf)", "x % -3", "x // 0.1", "x % 0.1", "np.fmod(x, -2.0)",
        "np.divmod(x, 0.3)", "np.interp(1/np.maximum(x, 0.0), [0.0, 1.0], [0.0, 3.0])", "np.expm1(-1/np.maximum(x, 0.0))", "np.cbrt(x)", "np.log1p(x)", "np.linalg.norm(1/x)", "np.max(np.abs(np.sqrt(x)))", "np.average(x, weights=x)", "np.piecewise(x, [np.sqrt(x) > 1], [1.0, 2.0])", "np.where(np.sqrt(x) <= np.sqrt(x), 1.0, 2.0)", "np.invert(np.log(x) > 0) * 1.0", "(np.log(x) > 0) ^ (x > 2)",
    ],
    "exact numbers": [
        "pi * x", "np.array([1.0, 2.0, 3.0, 4.0]) * pi * x", "np.linspace(0, pi, 4) * x", "np.eye(2) * pi * x[0]", "math.sin(pi) * x[0] + x[1]", "np.sin(pi * x)", "np.cos(2 * pi * x)", "exact('0.1') * x", "exact(1, 3) + x", "np.sum(exact([1, 2, 3, 4]) * x)", "pi ** 2 * x", "np.sqrt(exact(2)) * x", "np.full(4, pi) * x", "np.array([pi, 1, 2, 3]) * x", "math.sqrt(exact(2)) * x[0]", "float(pi) * x", "x > pi",
        "np.where(x > exact(1, 3), x, pi)", "np.maximum(x, pi)", "Fraction(1, 3) * x", "Decimal('0.1') * x[0]", "x ** exact(3)", "exact(2) ** x", "pi // 1 * x", "abs(-pi) * x", "int(pi) * x", "round(pi, 2) * x", "np.round(pi, 2) * x", "np.float64(pi) * x", "max(pi, 3) * x", "np.cross(x[:3], [pi, 1, 2])", "np.dot([pi, 0, 1, 2], x)", "np.arctan2(pi, x)", "np.zeros(4) + pi + x", "2**53 + 1 + x*0.0", "(2**60 + 1)*x",
    ],
    "random": [
        "x + np.random.rand(4)", "x * np.random.normal()", "x + rng.normal(size=4)", "x[0] + draw()", "x + randint(0, 5)", "x[0] * random.random()", "x + random.gauss(0, 1)", "np.random.permutation(x)", "rng.choice(x)", "rng.shuffle(x) or x", "random.choice(list(x))", "x + time.time()", "x + np.random.default_rng().normal()", "x + np.random.RandomState().rand()", "np.random.uniform(x)", "rng.normal(x)",
        "np.random.normal(x, 1.0)", "rng.normal(loc=x[0])", "rng.permutation(x)", "rng.integers(0, 3) + x", "x + np.random.default_rng(3).normal(size=4)", "random.sample(list(x), 2)", "random.uniform(0, x[0])", "x + time.perf_counter()", "rng.random() + x", "random.Random(1).random() + x", "np.random.randint(3) * x", "rng.multivariate_normal(x, np.eye(4))", "rng.standard_normal(4) @ x", "x + hash(object())", "x + id(x)",
    ],
    "dtype": [
        "np.zeros(4, int) + x", "y = np.zeros(4, int) ; y[0] = x[0] ; y", "y = np.zeros(4, np.float32) ; y[:] = x ; y", "y = np.arange(4) ; y[1] = 2.7 ; y + x", "y = np.arange(4) ; y += 1 ; y * x", "y = np.zeros(4, np.int8) ; y[0] = 100 ; y += 100 ; y + x", "np.int8(100) + np.int8(100) + x", "np.uint8(3) - np.uint8(5) + x", "x.astype(np.float32)", "x.astype('f4') + 1", "x.astype(int) / 2", "x.astype(np.int8)", "np.float32(x[0])", "np.int64(x[0])",
        "np.float64(x[0])", "np.bool_(x[0])", "x.astype(complex).real", "np.asarray(x, dtype=int)", "np.array([x[0], 1], dtype=int)", "np.array([1, 2, 3, 4], dtype=np.int8) * 50 + x", "np.sum(I8) + x", "np.prod(U8[1:], dtype=np.uint8) + x", "np.cumsum(I8, dtype=np.int8) + x", "np.mean(I8) + x", "np.add(I8, I8) + x", "np.abs(np.int8(-128)) + x", "-U8 + x", "~T + x", "U8 // 7 * x", "I8 >> 1 + (x > 0)", "np.left_shift(I8, 1) + x", "np.bitwise_and(I8, 3) + x",
        "(x > 0).prod()", "(x > 0).cumsum()", "np.dot(x > 0, x < 1)", "np.maximum(x > 0, x < 1)", "np.abs(x > 0)", "np.diff(x > 0)", "np.square(x > 0)", "np.sqrt(x > 0)", "np.negative(x > 0)", "(x > 0) @ W", "np.einsum('i,i', x > 0, x < 1)", "np.outer(x > 0, x < 1)", "np.prod(x > 0)", "np.sum(x > 0) / 2", "np.mean(x > 0)", "np.subtract(x > 0, x < 1)", "(x > 0) - (x < 1)", "np.multiply(x > 0, 3)", "np.add(x > 0, True)", "np.cumprod(x > 0)", "np.clip(x > 0, 0, 1)", "np.floor(x > 0)", "np.matmul(x > 0, x > 1)", "np.inner(x > 0, x > 1)", "np.kron(x > 0, x > 1)", "np.convolve(x > 0, x > 1)", "np.vdot(x > 0, x > 1)", "np.tensordot(x > 0, x > 1, 1)", "np.trace((x > 0).reshape(2, 2))", "(x > 0).max()", "(x > 0).min() + (x > 0).max()", "np.sign(x > 0)", "np.round(x > 0)",
        "np.minimum(x > 0, False)", "np.power(x > 0, 2)", "np.exp(x > 0)", "np.where(x > 0, True, False) + True", "np.concatenate([x > 0, x]) ", "np.concatenate([x > 0, x < 1]) + (x[0] > 0)", "np.stack([x > 0, T]).sum(axis=0)", "np.floor_divide(x.astype(int), 2)", "x.astype(int) // 3", "x.astype(int) % 3", "-x.astype(int) // 2", "x.astype(int) ** 2", "x.astype(int) * 2**40", "x.astype(int) & 1", "np.gcd(x.astype(int), 6)", "np.floor(x).astype(int) % 2", "(x > 0).astype(float) - 0.5", "np.true_divide(x.astype(int), 4)",
        "x.astype(np.uint8) - 1", "x.astype(np.int32) * 2**20", "np.round(x).astype(np.int16)", "(x*100).astype(np.uint8)", "x.astype('i1') + x.astype('i1')", "np.full(4, x[0], dtype=int)", "np.zeros_like(I8) + x", "np.full_like(I8, x[0])", "np.ones_like(x > 0) + (x > 0)", "y = np.zeros_like(x > 0) ; y[0] = x[0] ; y", "y = np.empty_like(x) ; y[:] = x ; y", "np.array(x > 0, dtype=float)", "np.array(x, dtype='f4')", "np.sum(x, dtype=np.float32)", "np.mean(x, dtype=int)", "np.linspace(0, 3, 4, dtype=int) * x",
    ],
}  # fmt: skip


def _statements() -> Iterator[tuple[str, str]]:
    for title, templates in _STATEMENTS.items():
        yield from ((title, template) for template in templates)


def _builtins_and_math() -> Iterator[tuple[str, str]]:
    for name in ("abs", "round", "float", "int", "bool", "sum", "max", "min", "any", "all", "sorted", "list", "tuple", "len", "divmod"):
        assert hasattr(builtins, name)
        yield f"{name}()", f"{name}({{a}})"
        yield f"{name}()", f"{name}({{v}})"
        yield f"{name}()", f"{name}({{s}}, {{b}})"
    for name in dir(math):
        rule: Any = getattr(math, name)
        if name.startswith("_") or not callable(rule) or name in ("factorial", "comb", "perm"):  # of huge numbers
            continue
        for operands in ("{s}", "{s}, {b}", "{s}, {s}", "{a}", "{q}, {s}", "[{s}, {s}, {q}]", "[{s}, {s}], [{q}, {s}]"):
            if rule in MATH or operands in ("{s}", "{s}, {s}"):
                yield f"math.{name}", f"math.{name}({operands})"


_SPECIAL = ("expit logit xlogy xlog1py exp10 exp2 cbrt log1p expm1 logsumexp softmax log_softmax entr rel_entr kl_div huber "
            "pseudo_huber sinc cosdg radian boxcox erf gamma logaddexp log_expit").split()  # fmt: skip


def _scipy() -> Iterator[tuple[str, str]]:
    for name in dict.fromkeys([*SCIPY, *_SPECIAL]):
        home = "scipy.optimize" if name == "rosen" else "special"
        for operands in ("{a}", "{v}", "{a}, {b}", "{v}, {v}", "{a}, out={o}", "{v}, axis={t}", "{v}, b=W", "{m}, axis={k}, keepdims=True"):
            yield f"scipy {name}", f"{home}.{name}({operands})"


TEMPLATES: list[tuple[str, str]] = [
    *_ufuncs(), *_functions(), *_linalg(), *_methods(), *_operators(), *_statements(), *_builtins_and_math(), *_scipy(),
]  # fmt: skip
# Mixed, so that any run of numbers meets all families.
TEMPLATES = [TEMPLATES[i] for i in np.random.default_rng(7).permutation(len(TEMPLATES))]
assert {getattr(np, n) for n in _numpy_names()} >= {k for k in (*UFUNCS, *FUNCTIONS) if not isinstance(k, tuple)} - {
    np.linalg.norm, np.linalg.multi_dot, np.empty_like
}  # fmt: skip
