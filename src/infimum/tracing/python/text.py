"""Text: what str() and format() give for a traced value. It can be printed and logged, but not read as a number."""

from __future__ import annotations

from typing import Any

from infimum.tracing.refusal import refusal


def _asked(self: Any, *args: Any, **kwargs: Any) -> Any:
    raise refusal(
        "The digits of a number are asked for, but the value stands for a whole range here.",
        "Compute with the value itself; texts of it are for printing.",
    )


class Text(str):
    """The text of a traced value."""

    __slots__ = ()
    for _name in ("count", "find", "rfind", "index", "startswith", "endswith", "replace", "strip", "lstrip", "rstrip",
                  "split", "partition", "isdigit", "isnumeric", "isdecimal", "__getitem__", "__eq__", "__ne__",
                  "__hash__", "__contains__", "__lt__", "__gt__", "__le__", "__ge__",
                  "__len__", "__iter__", "encode"):  # fmt: skip
        locals()[_name] = _asked
    del _name
