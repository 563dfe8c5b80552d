"""Snapshots of the user's own objects, from which what a traced call wrote into them is undone.

A memo, a history or an attribute that holds a traced value after the call is made what it was before; counters and
the like, which hold plain numbers, stay as the call left them.
"""

from __future__ import annotations

from collections import deque
from types import CellType, FunctionType, ModuleType
from typing import Any

from infimum.tracing.selected import Selected
from infimum.tracing.traced import TracedArray

_DEEPEST = 6


class Snapshots:
    """The user's containers that a traced function can reach, as they were."""

    def __init__(self) -> None:
        self._before: dict[int, tuple[Any, Any]] = {}

    def take(self, value: Any, depth: int = 0) -> None:
        """Remember a container, and those in it."""
        if id(value) in self._before or depth > _DEEPEST:
            return
        if isinstance(value, dict):
            self._before[id(value)] = (value, dict(value))
        elif isinstance(value, list | deque):
            self._before[id(value)] = (value, list(value))
        elif not isinstance(value, tuple):
            return
        for part in value.values() if isinstance(value, dict) else value:
            if isinstance(part, dict | list | deque | tuple):
                self.take(part, depth + 1)

    def restore(self, originals: dict[int, Any]) -> None:
        """Make every container that now holds a traced value, or a twin, what it was."""
        for container, before in self._before.values():
            parts = list(container.values() if isinstance(container, dict) else container)
            if not any(id(part) in originals or holds_traced(part) for part in parts):
                continue
            container.clear()
            if isinstance(container, dict):
                container.update(before)
            else:
                container.extend(before)


def holds_traced(value: Any, depth: int = 0) -> bool:
    """Return whether a traced value stands in a value, or in what it holds."""
    if isinstance(value, TracedArray | Selected):
        return True
    if depth > _DEEPEST or isinstance(value, type | ModuleType | FunctionType | CellType):
        return False
    if isinstance(value, dict):
        return any(holds_traced(part, depth + 1) for part in value.values())
    if isinstance(value, list | tuple | deque | set | frozenset):
        return any(holds_traced(part, depth + 1) for part in value)
    return any(holds_traced(part, depth + 1) for part in getattr(value, "__dict__", {}).values())
