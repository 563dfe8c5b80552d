"""Results as text and as plain numbers: what is printed is rounded outward, so it is still true."""

from __future__ import annotations

import math
from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np

from infimum.interval import Interval
from infimum.interval.outward import fraction
from infimum.interval.text import write_interval
from infimum.search.status import Status

if TYPE_CHECKING:
    from infimum.records.fit import Fit
    from infimum.records.result import Result
    from infimum.search.outcome import Missed

_SHOWN_BOXES = 3
_SHOWN_VARIABLES = 4
_SHOWN_DIGITS = 8


def report(result: Result) -> str:
    """Return the result on a few lines."""
    name = "maximum" if result.maximize else "minimum"
    lines = [
        (name, f"{enclosure(result.optimum)}{_width(result.optimum)}"),
        ("found", _point(result)),
        ("boxes", _boxes(result)),
        ("work", _work(result)),
        ("status", f"{int(result.status)} ({result.status.name.lower()}): {result.message}"),
    ]
    if result.backend != "cpu":
        lines.insert(-1, ("backend", result.backend))
    return "\n".join(f"{label:>9}  {text}" for label, text in lines)


def fit_report(fit: Fit) -> str:
    """Return a fit on a few lines: the parameters by their names, and what of it is proved."""
    result = fit.result
    lines = [("rss", f"{enclosure(fit.rss)}{_width(fit.rss)}"), *_fitted(fit)]
    if len(result.listed) and fit.ranges.size:
        lines.append(("proved", f"every best fit has {_named_ranges(fit)}"))
    lines += [
        ("boxes", _boxes(result, "best fit").split("\n")[0]),
        ("work", _work(result)),
        ("status", f"{int(result.status)} ({result.status.name.lower()}): {result.message}"),
    ]
    return "\n".join(f"{label:>9}  {text}" for label, text in lines)


def _fitted(fit: Fit) -> list[tuple[str, str]]:
    """Return the lines of the best parameters found and of their estimated errors."""
    if fit.popt is None:
        return [("popt", "no point where the model is certainly defined")]
    more = f", … {len(fit.names)} parameters" if len(fit.names) > _SHOWN_VARIABLES else ""
    named = list(zip(fit.names, fit.popt, strict=True))[:_SHOWN_VARIABLES]
    found = [("popt", ", ".join(f"{name} = {value:.{_SHOWN_DIGITS}g}" for name, value in named) + more)]
    if fit.perr is not None:
        errors = ", ".join(f"{error:.2g}" for error in fit.perr[:_SHOWN_VARIABLES])
        found.append(("perr", f"{errors}{', …' if more else ''} (estimated, not certified)"))
    return found


def _named_ranges(fit: Fit) -> str:
    named = zip(fit.names[:_SHOWN_VARIABLES], fit.ranges.tolist(), strict=False)
    shown = [f"{name} in {enclosure(Interval(lo, hi))}" for name, (lo, hi) in named]
    return ", ".join(shown) + (", …" if len(fit.names) > _SHOWN_VARIABLES else "")


def _work(result: Result) -> str:
    boxes, points = counted(result.boxes_evaluated, "box", "boxes"), counted(result.points_evaluated, "point")
    return f"{counted(result.nit, 'iteration')}, {boxes} and {points} evaluated, {result.seconds:.3g} s"


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun: 1 box, 2 boxes."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def enclosure(x: Interval) -> str:
    """Return text whose set contains x and is hardly wider, with no more digits than that needs."""
    lo, hi = float(x.lo), float(x.hi)
    if not (math.isfinite(lo) and math.isfinite(hi)) or lo == hi:
        return write_interval(lo, hi)
    allowed = (fraction(hi) - fraction(lo)) * 11 / 10
    texts = (write_interval(lo, hi, digits) for digits in range(3, 17))
    return next((text for text in texts if _spread(text) <= allowed), write_interval(lo, hi))


def _spread(text: str) -> Decimal:
    lo, _, hi = text.strip("[]").partition(", ")
    return Decimal(hi or lo) - Decimal(lo)


def _width(x: Interval) -> str:
    return f", width {x.wid:.2g}" if 0 < x.wid < math.inf else ""


def _point(result: Result) -> str:
    if result.x is None and result.status is Status.RUNNING:
        bound = result.maximum.lo if result.maximize else result.minimum.hi
        known = f"{bound:.{_SHOWN_DIGITS}g}; the point is told when the search ends"
        return known if math.isfinite(bound) else "no point yet"
    if result.x is None:
        return "no point where the function is certainly defined"
    shown = ", ".join(f"{v:.{_SHOWN_DIGITS}g}" for v in result.x[:_SHOWN_VARIABLES])
    more = f", … {result.x.size} variables" if result.x.size > _SHOWN_VARIABLES else ""
    return f"{result.fun:.{_SHOWN_DIGITS}g} at x = [{shown}{more}]"


def _boxes(result: Result, what: str = "optimum") -> str:
    count = result.nregions
    if not count:
        return "none"
    if result.regions is not None:
        return f"{counted(count, 'box', 'boxes')} so far"
    if result.product is not None and count > len(result.listed):
        many = f"{count:,}" if count < 10**15 else f"2^{math.log2(count):.0f}"
        widest = float(result.product.widths().max())
        return f"{many} boxes with every {what}, at most {widest:.2g} wide: a product, see result.blocks"
    widest = float((result.listed[:, :, 1] - result.listed[:, :, 0]).max())
    lines = [f"{counted(count, 'box', 'boxes')} with every {what}, at most {widest:.2g} wide"]
    lines += [_box(box) for box in result.listed[:_SHOWN_BOXES]]
    if count > _SHOWN_BOXES:
        lines.append(f"… and {count - _SHOWN_BOXES:,} more")
    return ("\n" + " " * 11).join(lines)


def _box(box: Any) -> str:
    shown = [enclosure(Interval(float(lo), float(hi))) for lo, hi in box[:_SHOWN_VARIABLES]]
    return " × ".join(shown) + (" × …" if len(box) > _SHOWN_VARIABLES else "")  # noqa: RUF001


def missed(goal: Missed, maximize: bool) -> str:
    """Return which goal was missed by how much, in which box, and why, in two sentences."""
    # | goal  | asked   | said                                                             |
    # | value | inf     | there is no bound at all                                         |
    # | value | a gap   | how far the bounds are apart                                     |
    # | width | a width | how wide the box is, and along which variable                    |
    if goal.goal == "width":
        said = f"A box is {goal.found:.4g} wide in x[{goal.variable}], where less than {goal.asked:.4g} is asked for"
    elif math.isinf(goal.found):
        said = f"No bound was found: the function may be unbounded {'above' if maximize else 'below'}"
    else:
        said = f"upper - lower is {goal.found:.4g}, where at most {goal.asked:.4g} is asked for"
    variables = [int(v) for v in goal.variables[:_SHOWN_VARIABLES]]
    first = [
        f"x[{v}] in {enclosure(Interval(*map(float, ends)))}" for v, ends in zip(variables, goal.box, strict=False)
    ]
    more = ", …" if len(goal.variables) > _SHOWN_VARIABLES else ""
    return f"{said}. Box {goal.number + 1} of {goal.among} ({', '.join(first)}{more}) {goal.reason}."


def trusted(names: tuple[str, ...]) -> str:
    """Return what a proof rests on beside infimum, in a sentence."""
    return f"The proof rests on infimum and on {' and on '.join(names)}."


def _listed(array: Any) -> Any:
    """Return the array as lists of numbers, infinities and NaN as text; only those are looked at one by one."""
    found = array.tolist()
    if not array.ndim:
        return plain(found)
    for *path, last in np.argwhere(~np.isfinite(array)).tolist():
        inner = found
        for i in path:
            inner = inner[i]
        inner[last] = str(inner[last])
    return found


def plain(value: Any) -> Any:
    """Return the value in numbers, text, lists and dictionaries."""
    if isinstance(value, Interval):
        return plain(value.pairs())
    if isinstance(value, np.ndarray):
        return _listed(value)
    if isinstance(value, Enum):
        return int(value.value)
    if hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
