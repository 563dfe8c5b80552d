"""A split: which variables are cut, and where."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Split:
    """Which variables are split, and the edges of their parts: part k of variable i is [edges[i, k], edges[i, k+1]]."""

    variables: IndexArray
    edges: FloatArray  # (P, parts + 1)

    @property
    def parts(self) -> int:
        return int(self.edges.shape[1]) - 1

    @property
    def count(self) -> int:
        return len(self.variables)
