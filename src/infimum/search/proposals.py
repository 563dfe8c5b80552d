"""What a strategy proposes, read as numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from infimum.errors import InvalidOption


def numbers(proposed: Any, source: str) -> npt.NDArray[np.float64]:
    """Return the proposal as an array; refuse what is none."""
    try:
        return np.asarray(proposed, np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidOption(f"{source} proposes what is no array of numbers: {error}.") from None
