"""The table of all rules: what stands for each of NumPy's functions while a function is traced."""

from __future__ import annotations

from typing import Any

import numpy as np

from infimum.tracing.numpy import choices, composed, elementwise, folds, making, products, running, shapes, statistics
from infimum.tracing.tracer import Rule

_ROOMS = (shapes, making, folds, statistics, running, products, choices, composed)

FUNCTIONS: dict[Any, Rule] = {function: rule for room in _ROOMS for function, rule in room.FUNCTIONS.items()}
FUNCTIONS[np.sinc] = elementwise.sinc
UFUNCS: dict[Any, Rule] = {**elementwise.UFUNCS, **products.UFUNCS}
