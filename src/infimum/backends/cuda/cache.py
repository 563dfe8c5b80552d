"""Compiled kernels on disk, found again by everything that went into them.

An entry is the SHA-256 of its content and then the content: what was cut short or damaged is noticed and made again.
It is written beside its place and moved there, so that no other process sees half of it. A folder that cannot be
written to costs time, nothing else.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable
from pathlib import Path

VARIABLE = "INFIMUM_CACHE"
_DIGEST = hashlib.sha256().digest_size


def folder() -> Path:
    """Return where entries lie: $INFIMUM_CACHE, else infimum in the user's folder for caches."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "infimum"


def key(*parts: str | bytes) -> str:
    """Return a name for these parts, in this order."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


def cached(name: str, make: Callable[[], bytes]) -> bytes:
    """Return the content kept under a name; make and keep it where there is none, or a damaged one."""
    path = folder() / f"{name}.bin"
    found = _read(path)
    if found is None:
        found = make()
        _write(path, found)
    return found


def _read(path: Path) -> bytes | None:
    try:
        data = path.read_bytes()
    except OSError:
        return None
    digest, content = data[:_DIGEST], data[_DIGEST:]
    return content if content and hashlib.sha256(content).digest() == digest else None


def _write(path: Path, content: bytes) -> None:
    import tempfile  # which brings more than a search on the CPU needs

    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, partial = tempfile.mkstemp(dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(hashlib.sha256(content).digest() + content)
            os.replace(partial, path)
        except OSError:
            os.unlink(partial)
