"""Compare the bits of several builds of the core, every operation and variant, on the samples of the test suite.

usage: python tests/compilers.py LIBRARY...      (`make compilers` builds the libraries)
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import infimum.core
import samples
from infimum.core import Core

BOXES = 4000


def differences(one: Core, other: Core, op: str, variant: str) -> tuple[int, int]:
    """How many boxes were tried, and on how many the two builds disagree in any bit."""
    tried = different = 0
    for batch in samples.batches(op, BOXES):
        a, b = (core.apply(op, *batch.operands, param=batch.param, variant=variant) for core in (one, other))
        same = [x.view(np.int64) == y.view(np.int64) for x, y in zip(a, b, strict=True)]
        # A NaN (a number of the empty interval) has no defined bits.
        same = [s | (np.isnan(x) & np.isnan(y)) for s, x, y in zip(same, a, b, strict=True)]
        tried += same[0].size
        different += int((~(same[0] & same[1])).sum())
    return tried, different


def main(paths: list[str]) -> int:
    reference = infimum.core.load(Path(infimum.core.__file__).parent / "libinfimum_core.so")
    tried = bad = 0
    for path in paths:
        other = infimum.core.load(Path(path).resolve())
        for variant in other.variants():
            for op in other.operations():
                boxes, different = differences(reference, other, op, variant)
                tried += boxes
                bad += different
                if different:
                    print(f"{path} {variant} {op}: {different} of {boxes} boxes differ from the installed build")
    print(f"{len(paths)} builds compared with the installed one on {tried} boxes: {bad} differ.")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
