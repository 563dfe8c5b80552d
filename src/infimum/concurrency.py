"""What searches in several threads, and in processes forked from them, may share (POLICY).

The user's function is called by one search at a time: it may keep a state, and tracing it changes the filters of
`warnings`, which belong to the whole process. The rest of a search runs side by side with others.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, overload

T = TypeVar("T")


class cached_property(functools.cached_property[T]):  # noqa: N801
    """A property that is computed once and kept, without the lock that Python 3.11's holds for all instances.

    A process that is forked while another thread holds that lock would wait for it for ever. Two threads may compute
    the value twice; the first one that is kept is what both see.
    """

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> cached_property[T]: ...
    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> T: ...
    def __get__(self, instance: object | None, owner: type[Any] | None = None) -> Any:
        if instance is None:
            return self
        assert self.attrname is not None
        if self.attrname in instance.__dict__:
            return instance.__dict__[self.attrname]
        return instance.__dict__.setdefault(self.attrname, self.func(instance))


class _Turn:
    """Who may call the user's function; a thread that has the turn may take it again."""

    lock = threading.RLock()

    @classmethod
    def renew(cls) -> None:
        """Forget who has the turn."""
        cls.lock = threading.RLock()


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Wait until no other thread is inside, then run what is inside."""
    with _Turn.lock:
        yield


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_Turn.renew)  # its holder may be a thread that the child does not have
