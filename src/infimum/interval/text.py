"""Decimal text and intervals: reading encloses, writing rounds outward.

Grammar (IEEE 1788-2015, 9.7; letters in either case, spaces allowed inside the brackets):

    interval   [ ] | [empty] | [entire] | [l, u] | [l,] | [,u] | [,] | [x] | x | uncertain
    l, u       number | inf | infinity, with sign
    number     decimal | hexadecimal with p exponent | integer/positive integer
    uncertain  decimal ? (nothing: half a unit of the last place | radius in such units | ?: unbounded)
               then nothing | u (upwards only) | d (downwards only), then an optional decimal exponent
"""

from __future__ import annotations

import re
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from infimum.errors import InvalidText
from infimum.interval.outward import INF, FloatArray, above, below, fraction

_DECIMAL = re.compile(r"([+-]?)(\d+\.?\d*|\.\d+)(?:e([+-]?\d+))?", re.I | re.A)
_HEXADECIMAL = re.compile(r"([+-]?)0x([0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)p([+-]?\d+)", re.I | re.A)
_RATIONAL = re.compile(r"([+-]?\d+)\s*/\s*(\d+)", re.A)
_UNCERTAIN = re.compile(r"([+-]?)(\d+\.?\d*|\.\d+)\?(\d*|\?)([ud]?)(?:e([+-]?\d+))?", re.I | re.A)
_INFINITE = re.compile(r"([+-]?)inf(?:inity)?", re.I)
_DECORATED = re.compile(r"_(?:ill|trv|def|dac|com)$", re.I)

# Beyond these every number rounds as the limit itself does, so longer powers need not be formed.
_DECIMAL_LIMIT = 400
_BINARY_LIMIT = 1200
# Python refuses to turn longer digit strings into integers.
_MOST_DIGITS = 4000
_WRITTEN_OUT = 1000

Ends = tuple[float, float]
EMPTY: Ends = (INF, -INF)
ENTIRE: Ends = (-INF, INF)


def read_interval(text: str) -> Ends:
    """Return the tightest doubles around the set that the text denotes; (inf, -inf) for the empty one."""
    body = text.strip()
    _refuse_excess(text, body)
    if body.startswith("[") and body.endswith("]"):
        return _read_brackets(text, body[1:-1].strip())
    if match := _UNCERTAIN.fullmatch(body):
        return _read_uncertain(*match.groups())
    if (ends := _number_ends(body)) is not None:
        return ends
    raise _refusal(text, "it is neither a number nor an interval in brackets")


def read_fraction(text: str) -> Fraction:
    """Return the exact rational number that the text denotes."""
    body = text.strip()
    _refuse_excess(text, body)
    scaled = _scaled(body)
    if scaled is None:
        raise InvalidText(
            f"exact({text!r}): this is no number. Write a decimal, a rational or a hexadecimal "
            "number, such as exact('0.1'), exact('1/3'), exact('2.5e-3') or exact('0x1.8p-2')."
        )
    mantissa, base, exponent = scaled
    if abs(exponent) > _MOST_DIGITS:
        raise InvalidText(
            f"exact({text!r}): the exponent is beyond {_MOST_DIGITS}, so the number cannot be "
            "written out. Write a power instead, such as infimum.exact(10)**-5000."
        )
    return mantissa * Fraction(base) ** exponent


def _refuse_excess(text: str, body: str) -> None:
    if len(body) > _MOST_DIGITS:
        raise InvalidText(
            f"Interval({text[:20]!r}...): the text has {len(body)} characters. Write at most {_MOST_DIGITS}."
        )


def _read_brackets(text: str, body: str) -> Ends:
    # | inside the brackets | set               |
    # | nothing, "empty"    | empty             |
    # | "entire"            | all reals         |
    # | x                   | {x}               |
    # | l, u (each may be missing: unbounded) | l <= t <= u |
    if body.lower() in ("", "empty"):
        return EMPTY
    if body.lower() == "entire":
        return ENTIRE
    parts = [part.strip() for part in body.split(",")]
    if len(parts) == 1:
        ends = _number_ends(body)
        if ends is None:
            raise _refusal(text, f"{body!r} is no real number")
        return ends
    if len(parts) > 2:
        raise _refusal(text, f"it has {len(parts)} parts between the brackets")
    lo, hi = _bound(text, parts[0], -INF)[0], _bound(text, parts[1], INF)[1]
    if lo > hi or lo == INF or hi == -INF:
        raise _refusal(text, "no real number lies between these bounds")
    return lo, hi


def _bound(text: str, body: str, missing: float) -> Ends:
    if body == "":
        return missing, missing
    if match := _INFINITE.fullmatch(body):
        value = -INF if match[1] == "-" else INF
        return value, value
    ends = _number_ends(body)
    if ends is None:
        raise _refusal(text, f"{body!r} is no number")
    return ends


def _number_ends(body: str) -> Ends | None:
    scaled = _scaled(body)
    if scaled is None:
        return None
    value = _representative(*scaled)
    return below(value), above(value)


def _scaled(body: str) -> tuple[Fraction, int, int] | None:
    """Return (m, base, k) with the number equal to m * base**k, or None where the text is no number."""
    if match := _DECIMAL.fullmatch(body):
        mantissa, places = _digits(match[1], match[2], 10)
        return Fraction(mantissa), 10, int(match[3] or 0) - places
    if match := _HEXADECIMAL.fullmatch(body):
        mantissa, places = _digits(match[1], match[2], 16)
        return Fraction(mantissa), 2, int(match[3]) - 4 * places
    match = _RATIONAL.fullmatch(body)
    if match and int(match[2]) != 0:
        return Fraction(int(match[1]), int(match[2])), 10, 0
    return None


def _digits(sign: str, text: str, base: int) -> tuple[int, int]:
    """Return (integer, places) with the written number equal to integer / base**places."""
    whole, _, part = text.partition(".")
    magnitude = int(whole + part, base)
    return (-magnitude if sign == "-" else magnitude), len(part)


def _representative(mantissa: Fraction, base: int, exponent: int) -> Fraction:
    """Return a number that rounds to the same doubles as mantissa * base**exponent, without huge powers."""
    limit = _DECIMAL_LIMIT if base == 10 else _BINARY_LIMIT
    size = len(str(abs(mantissa.numerator))) if base == 10 else mantissa.numerator.bit_length()
    if exponent > limit:
        exponent = limit
    elif exponent + size < -limit:
        exponent = -limit - size
    return mantissa * Fraction(base) ** exponent


def _read_uncertain(sign: str, digits: str, radius: str, direction: str, exponent: str | None) -> Ends:
    mantissa, places = _digits(sign, digits, 10)
    power = int(exponent or 0) - places
    reach = Fraction(1, 2) if radius == "" else None if radius == "?" else Fraction(int(radius))
    # | direction | lower end        | upper end        |
    # | (none)    | mantissa - reach | mantissa + reach |
    # | u         | mantissa         | mantissa + reach |
    # | d         | mantissa - reach | mantissa         |
    down = Fraction(0) if direction in ("u", "U") else reach
    up = Fraction(0) if direction in ("d", "D") else reach
    lo = -INF if down is None else below(_representative(mantissa - down, 10, power))
    hi = INF if up is None else above(_representative(mantissa + up, 10, power))
    return lo, hi


def _refusal(text: str, why: str) -> InvalidText:
    if _DECORATED.search(text.strip()):
        why = "it carries a decoration, and infimum's intervals have none; leave it out"
    return InvalidText(
        f"Interval({text!r}): {why}. "
        "Write for instance Interval('0.1'), Interval('[1, 2.5]'), Interval('[1/3, inf]'), "
        "Interval('3.56?1') or Interval('[empty]')."
    )


def write_interval(lo: float, hi: float, digits: int = 17) -> str:
    """Return text whose set contains [lo, hi], with at most so many significant digits an end."""
    if lo > hi:
        return "[empty]"
    if (lo, hi) == ENTIRE:
        return "[entire]"
    low, high = _write_end(lo, digits, ROUND_FLOOR), _write_end(hi, digits, ROUND_CEILING)
    return f"[{low}]" if lo == hi and low == high else f"[{low}, {high}]"


def write_array(lo: FloatArray, hi: FloatArray, digits: int = 17) -> str:
    """Return the text of each interval, in nested brackets."""
    if lo.ndim == 0:
        return write_interval(float(lo), float(hi), digits)
    return f"[{', '.join(write_array(low, high, digits) for low, high in zip(lo, hi, strict=True))}]"


def write_python(lo: FloatArray, hi: FloatArray) -> str:
    """Return text that Python evaluates to the same intervals; long arrays are shown in short, as NumPy does."""
    if lo.size > _WRITTEN_OUT:
        first = write_interval(float(lo.flat[0]), float(hi.flat[0]))
        return f"<Interval of shape {lo.shape}, the first {first}>"
    if lo.ndim == 0 and not np.isfinite(lo) and not np.isfinite(hi):
        return f"Interval({write_interval(float(lo), float(hi))!r})"
    low, high = _literal(lo.tolist()), _literal(hi.tolist())
    reshaped = f".reshape({lo.shape})" if lo.size == 0 and lo.ndim > 1 else ""
    return f"Interval({low}){reshaped}" if low == high else f"Interval({low}, {high})"


def _literal(values: Any) -> str:
    if isinstance(values, list):
        return f"[{', '.join(_literal(value) for value in values)}]"
    return repr(values) if np.isfinite(values) else f"float('{values}')"


def _write_end(value: float, digits: int, rounding: str) -> str:
    if value in (INF, -INF):
        return "inf" if value > 0 else "-inf"
    # A double's own exponents fit easily; the wide limits keep the context from flushing anything.
    context = Context(prec=digits, rounding=rounding, Emin=-9999, Emax=9999)
    q = fraction(value)
    rounded = context.divide(Decimal(q.numerator), Decimal(q.denominator)).normalize(context)
    return f"{rounded:f}" if -6 <= rounded.adjusted() < 17 else f"{rounded:e}"
