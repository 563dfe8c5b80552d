"""What no search can find unless a proof in it is false: better an error than a claim."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from infimum.errors import InternalError

_NO_CLAIM = "A proof in this search is false, so that no claim is made."


def refuse_contradiction(boxes: int, x: npt.NDArray[np.float64] | None, lower: float, upper: float) -> None:
    """Refuse to answer where a point is known but no box is left, or a lower bound is above an upper one.

    Boxes are closed and their bounds hold for limits too, so that a point without boxes is no infimum that is not
    attained: the box that it tends to would be left.
    """
    if boxes == 0 and (x is not None or upper < np.inf):
        at = "" if x is None else f" at x = {np.array2string(x, threshold=6)}"
        raise InternalError(f"No box is left, yet a value of at most {upper!r} is known{at}. {_NO_CLAIM}")
    if lower > upper and upper < np.inf:
        raise InternalError(f"The lower bound {lower!r} is above the upper one, {upper!r}. {_NO_CLAIM}")
