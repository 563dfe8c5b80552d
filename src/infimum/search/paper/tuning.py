"""Numbers that steer a search by the paper's method, and why each has its value (POLICY).

None of them can make a claim false: another value costs time or memory, or leaves an answer wider.
"""

from __future__ import annotations

LOOKS = 4096  # children looked at until limits are asked again: some milliseconds

# Children that are all evaluated
BATCH = 4096  # of them: their boxes stay in a processor's cache. The order of equal samples depends on it
BATCH_ENDS = 2**22  # interval ends of a batch, on either side: 32 MiB, whatever n is
MOST_CHILDREN = 2**24  # that a region may have: 16 bytes are kept of each

# Children on a GPU
PIECE = 2**22  # of them in one launch: their ends fit into the memory of a small GPU
FETCHED, FACTOR = 4096, 4  # survivors that come to the host at first, and how many times as many each time after

# What a stopped search leaves
LEFT_ENDS = 2**23  # interval ends that the boxes may hold together: 64 MiB
MOST_WHEN_WAITED_FOR = 50_000  # boxes that are listed in about half a second

# Cuts by ratios
DECADE = 10.0  # a ratio of the ends from which a range is cut by ratios
NEAR_ZERO = 1e-16  # stands for 0 on a scale of ratios, relative to the other end
