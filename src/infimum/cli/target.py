"""What the command line is asked to minimise: a problem by its name, or a function of a Python file."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

from infimum import problems
from infimum.errors import InfimumError, InvalidOption
from infimum.exact.number import e, exact, pi
from infimum.tracing.refusal import line_of_error

Bounds = list[tuple[Any, Any]]
_WORDS: dict[str, Any] = {"pi": pi, "e": e, "inf": float("inf")}


def target(text: str, dim: int | None, bounds: Bounds | None) -> tuple[Any, Bounds | None, int]:
    """Return a function or problem, its bounds (None: its own) and its number of variables."""
    size = _size(text, dim, bounds)
    if ".py:" in text or text.endswith(".py"):
        found = _from_file(text)
    else:
        size = problems.size(text) if size is None else size
        if size is None:
            raise InvalidOption(f"{text} can have any number of variables. Write for instance --dim 100.")
        found = problems.named(text, size)
    if hasattr(found, "bounds") and hasattr(found, "n"):
        return found, _repeated(bounds, found.n), found.n
    if bounds is None:
        raise InvalidOption(f"{text} needs bounds. Write for instance --dim 2 --bounds -10 10.")
    size = len(bounds) if size is None else size  # once for each variable
    return found, _repeated(bounds, size), size


def _size(text: str, dim: int | None, bounds: Bounds | None) -> int | None:
    if dim is not None and dim < 1:
        raise InvalidOption(f"--dim must be positive, got {dim}.")
    if bounds is None or len(bounds) == 1:
        return dim
    if dim is not None and dim != len(bounds):
        raise InvalidOption(f"--dim {dim}, but --bounds was given {len(bounds)} times. Give it once, or {dim} times.")
    return len(bounds)


def _repeated(bounds: Bounds | None, n: int) -> Bounds | None:
    return bounds * n if bounds is not None and len(bounds) == 1 else bounds


def read_bound(text: str) -> Any:
    """Return the real number that the text denotes: a decimal as written, pi, e, inf."""
    body = text.strip()
    word = body.lstrip("+-").lower()
    if word in _WORDS:
        return -_WORDS[word] if body.startswith("-") else _WORDS[word]
    try:
        return exact(body)
    except InfimumError:
        raise InvalidOption(f"--bounds {body}: this is no number. Write a decimal, 1/3, pi, e, inf or -inf.") from None


def _from_file(text: str) -> Any:
    """Run the file, and return its function of that name."""
    name, _, wanted = text.rpartition(":") if ".py:" in text else (text, "", "")
    path = Path(name)
    if not path.is_file():
        raise InvalidOption(f"There is no file {name}.")
    if not wanted:
        raise InvalidOption(f"{name}: which function? Write {name}:FUNCTION.")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # As for a script: what lies beside the file can be imported from it.
    sys.path.insert(0, str(path.resolve().parent))
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        place = line_of_error(error)
        at = "" if place is None or isinstance(error, SyntaxError) else f"\n  at {place}"  # which names its own line
        raise InvalidOption(f"{name} cannot be run: {type(error).__name__}: {error}{at}") from error
    finally:
        sys.path.pop(0)
    if not hasattr(module, wanted):
        offered = ", ".join(
            k for k, v in vars(module).items() if callable(v) and not isinstance(v, type) and k[0] != "_"
        )
        raise InvalidOption(f"{name} has no {wanted}. It has {offered or 'no function'}.")
    found = getattr(module, wanted)
    if isinstance(found, type):
        raise InvalidOption(f"{name}: {wanted} is a class. Make one of it in the file, {wanted.lower()} = {wanted}().")
    return found
