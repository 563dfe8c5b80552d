"""Numbers that steer a search by either method, and why each has its value (POLICY).

None of them can make a claim false: another value costs time or memory, or leaves an answer wider.
"""

from __future__ import annotations

# Points
PROVED_POINTS = (
    4  # of the best sample points: a point that is best in plain doubles is seldom undefined, four never were
)
NUMBERS_AT_ONCE = 2**20  # of points that are proved together: 8 MiB

# The answer
MOST_ENDS = 2**25  # interval ends of boxes that are written down from a product: 256 MiB
SUMS_AT_ONCE = 2**16  # of lower bounds over a product's boxes, so that the numbers added take little memory

# The backend
LONG_SECONDS, MANY_BOXES = 1.0, 2**13  # of a search that is worth a measurement on a GPU, which takes a second itself
MUCH_FASTER = 2.0  # must a GPU contract boxes, as some of the work stays on the CPU
BOXES_ON_CPU, BOXES_ON_GPU = 2**13, 2**16  # that are measured: each backend has a batch that suits it
MEASURED_ENDS = 2**22  # interval ends of the boxes that are measured, at most: 32 MiB
FEW_CHILDREN = 2**12  # of a region: a CPU has evaluated them before a kernel is compiled
CHILDREN_ON_GPU = 2**16  # that are measured
