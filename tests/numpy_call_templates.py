"""The vocabulary of the generated calls: operands by kind, and one template for each spelling of each function.

In a template {a} is any operand, {v} a vector of x, {m} a matrix, {s} a number, {c} a condition, {k} a small integer,
{q} a constant, and so on (data/numpy_operands.txt); " ; " ends a line, and the last line is returned. « and » stand for
braces of Python.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from infimum.tracing.math_rules import MATH
from infimum.tracing.numpy.rules import FUNCTIONS
from infimum.tracing.scipy_rules import SCIPY

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


def _table(file: str) -> dict[str, list[str]]:
    """The lines of a text file by the names of their headings; several names may share one."""
    found: dict[str, list[str]] = {}
    names: list[str] = []
    for line in (Path(__file__).parent / "data" / file).read_text().splitlines():
        if line.startswith("= "):
            names = line[2:].split("; ")
            found.update((name, []) for name in names)
        elif line and not line.startswith("#"):
            for name in names:
                found[name].append("" if line == "-" else line.replace("\\n", "\n"))
    return found


POOLS = _table("numpy_operands.txt")

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


# --- one function after the other ------------------------------------------------------------------------------------


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


# What is asked of a function without a heading of its own.
_ANY = (
    "({a})", "({v})", "({m})", "({c})", "({e})", "({q}) + x[0]", "({a}, {k})", "({a}, {a})", "({a}, axis={t})",
    "([{s}, {s}])", "({s})",
)  # fmt: skip


def _functions() -> Iterator[tuple[str, str]]:
    own = _table("numpy_functions.txt")
    for name in [*_numpy_names(), "vectorize", "frompyfunc"]:
        if isinstance(getattr(np, name), np.ufunc):
            continue
        for template in own.get(name, [f"{{f}}{operands}" for operands in _ANY]):
            yield f"np.{name}", template.replace("{f}", f"np.{name}")
        if getattr(np, name) in FUNCTIONS:
            yield f"np.{name}", f"np.{name}({{q}}) + x[0]"  # what is known stays NumPy's business


def _linalg() -> Iterator[tuple[str, str]]:
    own = _table("numpy_linalg.txt")
    for name in dir(np.linalg):
        if not name.startswith("_") and name not in ("test", "LinAlgError", "linalg"):
            for template in own.get(name, own["any other"]):
                yield f"np.linalg.{name}", f"np.linalg.{name}{template}"


def _methods() -> Iterator[tuple[str, str]]:
    for name, spellings in _table("numpy_methods.txt").items():
        for spelling in spellings:
            for owner in ("{v}", "{m}") if spelling != "()" else ("{v}", "{m}", "{s}", "{c}", "{i}", "{e}"):
                yield f".{name}", f"({owner}).{name}{spelling}"


_BOTH = ("+", "-", "*", "/", "//", "%", "**", "@", "&", "|", "^", "<<", ">>")  # with and without =
_OPERANDS = ("{a}{b}", "{b}{a}", "{v}{q}", "{q}{v}", "{s}{q}", "{c}{c}", "{i}{i}", "{c}{v}", "{i}{q}")
_TARGETS = ("x.copy()", "{v}", "(x > 0)", "{i}", "np.arange(4)", "np.zeros(4)", "F4.copy()", "{s}", "{m}.copy()")


def _operators() -> Iterator[tuple[str, str]]:
    for sign in (*_BOTH, "<", "<=", ">", ">=", "==", "!="):
        for pair in _OPERANDS:
            yield f"a {sign} b", f"({pair[:3]}) {sign} ({pair[3:]})"
    for sign in _BOTH:
        for target in _TARGETS:
            yield f"a {sign}= b", f"y = {target} ; y {sign}= {{b}} ; y"
        yield f"a {sign}= b on a view", f"y = x.copy() ; z = y[1:3] ; z {sign}= {{q}} ; y"
        yield f"a {sign}= b on an element", f"y = x.copy() ; y[{{k}}] {sign}= {{s}} ; y"
        yield f"a {sign}= b on a mask", f"y = x.copy() ; y[{{w}}] {sign}= {{q}} ; y"
    for sign in ("-", "+", "~", "not "):
        for a in ("{v}", "{s}", "{c}", "{i}", "{m}", "{e}"):
            yield f"{sign}a", f"{sign}({a})"


def _statements() -> Iterator[tuple[str, str]]:
    for title, templates in _table("numpy_statements.txt").items():
        yield from ((title, template) for template in templates)


_BUILTINS = (
    "abs",
    "round",
    "float",
    "int",
    "bool",
    "sum",
    "max",
    "min",
    "any",
    "all",
    "sorted",
    "list",
    "tuple",
    "len",
)


def _builtins_and_math() -> Iterator[tuple[str, str]]:
    for name in (*_BUILTINS, "divmod"):
        yield from ((f"{name}()", f"{name}({operands})") for operands in ("{a}", "{v}", "{s}, {b}"))
    for name in dir(math):
        rule: Any = getattr(math, name)
        if name.startswith("_") or not callable(rule) or name in ("factorial", "comb", "perm"):  # of huge numbers
            continue
        for operands in ("{s}", "{s}, {s}", "{s}, {b}", "{a}", "{q}, {s}", "[{s}, {s}, {q}]", "[{s}, {s}], [{q}, {s}]"):
            if rule in MATH or operands in ("{s}", "{s}, {s}"):
                yield f"math.{name}", f"math.{name}({operands})"


_SPECIAL = (
    "xlog1py", "exp2", "cbrt", "log1p", "expm1", "softmax", "log_softmax", "entr", "rel_entr", "kl_div", "huber",
    "pseudo_huber", "sinc", "cosdg", "radian", "boxcox", "erf", "gamma", "logaddexp", "log_expit",
)  # fmt: skip
_SPELLINGS = (
    "{a}", "{v}", "{a}, {b}", "{v}, {v}", "{a}, out={o}", "{v}, axis={t}", "{v}, b=W", "{m}, axis={k}, keepdims=True",
)  # fmt: skip


def _scipy() -> Iterator[tuple[str, str]]:
    for name in (*SCIPY, *_SPECIAL):
        home = "scipy.optimize" if name == "rosen" else "special"
        yield from ((f"scipy {name}", f"{home}.{name}({operands})") for operands in _SPELLINGS)


_IN_ORDER = [
    *_ufuncs(), *_functions(), *_linalg(), *_methods(), *_operators(), *_statements(), *_builtins_and_math(), *_scipy(),
]  # fmt: skip
# Mixed, so that any run of numbers meets all families.
TEMPLATES: list[tuple[str, str]] = [_IN_ORDER[i] for i in np.random.default_rng(7).permutation(len(_IN_ORDER))]
