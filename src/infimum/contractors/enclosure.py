"""Enclosure: the lower bounds that the function's enclosures give, where `level` does not find them on its way."""

from __future__ import annotations

import numpy as np

from infimum.boxes import Boxes
from infimum.contractors.known import Known


class Enclosure:
    """No box is narrowed; one on which the function is defined nowhere gets the lower bound +inf."""

    def contract(self, boxes: Boxes, known: Known) -> Boxes:
        """Return the boxes with their lower bounds raised."""
        if not len(boxes):
            return boxes
        least, most = known.function.sharp_ends(*boxes.ends, threads=known.threads)
        return boxes.with_lower(np.maximum(boxes.lower, np.where(least <= most, least, np.inf)))
