"""The options of a search, read and checked: each refusal names the option, its value and a substitute."""

from __future__ import annotations

import math
import os
from difflib import get_close_matches
from typing import Any

import numpy as np

from infimum.contractors.contractor import Contractor
from infimum.contractors.table import DEFAULT, NAMES
from infimum.domain import Domain
from infimum.errors import InvalidOption
from infimum.interval.outward import FloatArray
from infimum.interval.reading import describe, ends
from infimum.search.auto.split_rules import SplitRule
from infimum.search.auto.split_table import SPLIT_RULES, SPLITS
from infimum.search.paper.partition import PARTITIONS, Partition
from infimum.search.paper.sampling import SAMPLINGS, Sampling, Several
from infimum.search.paper.selection import SELECTIONS, Selection

MOST_THREADS = 256  # more would only take time to start


def contractors(value: Any) -> tuple[str | Contractor, ...]:
    """Return the contractors that are to run: infimum's own by name, in the order in which they do, then the user's.

    given                read as
    None                 those that run by default
    "level"              that one alone
    an object            that one alone
    a list or tuple      those; () for none, so that boxes are only split
    """
    if value is None:
        return DEFAULT
    given = (value,) if isinstance(value, str) or _can(value, Contractor) else value
    if not isinstance(given, list | tuple | set | frozenset):
        raise InvalidOption(
            f"contractors={describe(value)} is no list of names. Write contractors={NAMES[1:3]!r}, or give objects "
            "with a method contract(boxes, known)."
        )
    for one in given:
        if one not in NAMES if isinstance(one, str) else not _can(one, Contractor):
            near = get_close_matches(str(one).replace("-", "_").lower(), NAMES, 1, 0.5)
            meant = f" Did you mean {near[0]!r}?" if near else ""
            raise InvalidOption(
                f"There is no contractor {describe(one)}.{meant} There are {', '.join(map(repr, NAMES))}, and objects "
                "with a method contract(boxes, known)."
            )
    named = {one for one in given if isinstance(one, str)}
    return (*(name for name in NAMES if name in named), *(one for one in given if not isinstance(one, str)))


def split(value: Any) -> SplitRule:
    """Return the split rule of that name, or the object given; None is "smear"."""
    if value is None:
        return SPLIT_RULES[SPLITS[0]]
    if isinstance(value, str) and value in SPLIT_RULES:
        return SPLIT_RULES[value]
    if _can(value, SplitRule):
        rule: SplitRule = value
        return rule
    names = " or ".join(map(repr, SPLITS))
    raise InvalidOption(
        f"split={describe(value)} is not offered. Write split={names}, or give an object with a method "
        "cuts(boxes, known)."
    )


def _can(value: Any, what: type) -> bool:
    """Say whether an object has the methods of a protocol; a class has them too, but cannot be asked."""
    return not isinstance(value, type) and isinstance(value, what)


def choice(name: str, value: Any, offered: tuple[str, ...]) -> None:
    """Refuse a value that is none of the names offered."""
    if not isinstance(value, str) or value not in offered:
        names = " or ".join(repr(word) for word in offered)
        raise InvalidOption(f"{name}={describe(value)} is not offered. Write {name}={names}.")


def partition(value: Any) -> Partition:
    """Return the partition of that name, or the object given."""
    found: Partition = _strategy("partition", value, PARTITIONS, ("parts", "variables", "cuts"), "Golden(parts=2)")
    for name, least in (("parts", 2), ("variables", 1)):
        number = getattr(found, name)
        if not isinstance(number, int | np.integer) or number < least:
            raise InvalidOption(f"partition.{name} must be an integer from {least} on, got {describe(number)}.")
    return found


def sampling(value: Any) -> Sampling:
    """Return the sampling of that name, the object given, or all of several."""
    if isinstance(value, list | tuple) and value:
        return Several(tuple(sampling(one) for one in value))
    found: Sampling = _strategy("sampling", value, SAMPLINGS, ("propose",), "Latin(count=100)")
    return found


def selection(value: Any) -> Selection:
    """Return the selection of that name, or the object given."""
    found: Selection = _strategy("selection", value, SELECTIONS, ("count",), "Best(count=8)")
    if not isinstance(found.count, int | np.integer) or found.count < 1:
        raise InvalidOption(f"selection.count must be a positive integer, got {describe(found.count)}.")
    return found


def _strategy(kind: str, value: Any, named: dict[str, Any], needs: tuple[str, ...], example: str) -> Any:
    """Return the strategy of a name, or an object that has what its kind needs; for None the paper's."""
    if value is None:
        return named["paper"]()
    if isinstance(value, str) and value in named:
        return named[value]()
    if not isinstance(value, str | type) and all(hasattr(value, name) for name in needs):
        return value
    names = ", ".join(repr(name) for name in named)
    raise InvalidOption(
        f"{kind}={describe(value)} is not offered. Write {kind}= one of {names}, or an object such as "
        f"infimum.strategies.{example}."
    )


def tolerance(name: str, value: Any, zero: bool) -> float | None:
    """Return the tolerance as a float, or None where the goal is switched off."""
    number = _number(name, value)
    least = "positive or zero" if zero else "positive"
    if number is not None and not (number > 0 or (zero and number == 0)):
        raise InvalidOption(f"{name} must be {least}, got {value!r}. Write {name}=None to switch this goal off.")
    return number


def seconds(name: str, value: Any) -> float | None:
    """Return a time as a float, or None for no limit."""
    number = _number(name, value)
    if number is not None and not number > 0:
        raise InvalidOption(f"{name} must be positive, got {value!r}. Write {name}=None for no limit.")
    return None if number == math.inf else number


def count(name: str, value: Any, what: str = "integer", none: str = "no limit") -> int | None:
    """Return a positive integer, or None for what `none` says."""
    if value is None or (isinstance(value, float) and value == math.inf):
        return None
    whole = isinstance(value, int | np.integer) or (
        isinstance(value, float | np.floating) and float(value).is_integer()
    )
    if isinstance(value, bool) or not whole or value < 1:
        raise InvalidOption(f"{name} must be a positive {what}, got {value!r}. Write {name}=None for {none}.")
    return int(value)


def threads(value: Any) -> int:
    """Return the number of threads: as given, or as many as this process may use."""
    if value is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    whole = isinstance(value, int | np.integer) or (isinstance(value, float) and value.is_integer())
    if isinstance(value, bool) or not whole or value < 1:
        raise InvalidOption(
            f"threads must be a positive integer, got {describe(value)}. Write threads=None for as many as there are."
        )
    return min(int(value), MOST_THREADS)  # the result does not depend on it


def truth(name: str, value: Any, none: bool = False) -> bool | None:
    """Return True or False as given; None too, where that means something."""
    if (none and value is None) or isinstance(value, bool):
        found: bool | None = value
        return found
    if isinstance(value, np.bool_) or (isinstance(value, int) and value in (0, 1)):
        return bool(value)
    offered = "True, False or None" if none else "True or False"
    raise InvalidOption(f"{name} must be {offered}, got {describe(value)}. Write {name}=True or leave it out.")


def called(name: str, value: Any, example: str) -> None:
    """Refuse a value that is not None and cannot be called."""
    if value is not None and not callable(value):
        raise InvalidOption(f"{name}={describe(value)} is no function. Write {name}={example}, or leave it out.")


def starts(x0: Any, domain: Domain) -> FloatArray | None:
    """Return the user's points as an array (k, n); refuse one outside the bounds."""
    # | given                                  | read as                                     |
    # | n numbers                              | one point                                   |
    # | an array (k, n), a list of k points    | k points                                    |
    # | anything of another shape, nothing     | refused, with the shape that is meant       |
    # | Intervals with a width                 | refused: no points                          |
    if x0 is None:
        return None
    wanted = f"Give {domain.n} numbers, or an array (k, {domain.n}) of k points."
    try:
        down, up = ends(x0)
    except (TypeError, ValueError) as error:
        raise InvalidOption(f"x0={describe(x0)} is no point. {wanted}") from error
    if down.ndim not in (1, 2) or down.shape[-1] != domain.n or not down.size:
        raise InvalidOption(f"x0 has shape {down.shape}, and the function {domain.n} variables. {wanted}")
    if (np.nextafter(down, np.inf) < up).any():
        raise InvalidOption(f"x0={describe(x0)} is no point: it has a width. {wanted}")
    points: FloatArray = np.where(down < domain.inner_lo, up, down)  # of two doubles around a number, the one inside
    outside = ~((domain.inner_lo <= points) & (points <= domain.inner_hi))
    if outside.any():
        at = np.unravel_index(int(np.argmax(outside)), outside.shape)
        i, entry = int(at[-1]), ", ".join(map(str, at))
        pair = f"[{float(domain.inner_lo[i])!r}, {float(domain.inner_hi[i])!r}]"
        raise InvalidOption(f"x0[{entry}] = {float(points[at])!r} lies outside the bounds {pair}. Move it inside.")
    return points.reshape(-1, domain.n)


def refuse_endless(**stops: Any) -> None:
    """Refuse a search that nothing can end."""
    if all(value is None for value in stops.values()):
        names = ", ".join(stops)
        raise InvalidOption(f"Nothing would ever end this search. Give one of {names}.")


def refuse_strategies(method: str, **strategies: Any) -> None:
    """Refuse strategies, which are the paper's, with another method, which would ignore them."""
    for name, value in strategies.items():
        if value is not None and method != "paper":
            raise InvalidOption(
                f"{name}={describe(value)} belongs to method='paper'. Leave it out, or name that method."
            )


def refuse_controls(method: str, **controls: Any) -> None:
    """Refuse contractors and split, which are the default method's, with the paper's, which would ignore them."""
    for name, value in controls.items():
        if value is not None and method != "auto":
            raise InvalidOption(
                f"{name}={describe(value)} belongs to method='auto'. Leave it out, or leave method={method!r} out."
            )


def refuse_batch(method: str, batch: Any) -> None:
    """Refuse a batch, which is of the default method's boxes, with the paper's, which would ignore it."""
    if batch is not None and method == "paper":
        raise InvalidOption(
            f"batch={describe(batch)} belongs to method='auto'. Leave it out, or write selection=Best(count)."
        )


def _number(name: str, value: Any) -> float | None:
    if value is None:
        return None
    try:
        if isinstance(value, str | bytes):
            raise TypeError
        number = float(value)
    except OverflowError:  # an integer beyond all doubles
        number = math.inf if value > 0 else -math.inf
    except (TypeError, ValueError):
        raise InvalidOption(f"{name} must be a number or None, got {describe(value)}.") from None
    if math.isnan(number):
        raise InvalidOption(f"{name} must be a number or None, got NaN.")
    return number
