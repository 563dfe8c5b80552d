"""What a strategy proposes, read as numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from infimum.errors import InvalidOption


def numbers(proposed: Any, source: str) -> npt.NDArray[np.float64]:
    """The proposal as an array; a clear refusal where it is none."""
    try:
        return np.asarray(proposed, np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidOption(f"{source} proposes what is no array of numbers: {error}.") from None
