"""Numbers that steer a search by the paper's method, and why each has its value (POLICY).

None of them can make a claim false: another value costs time or memory.
"""

from __future__ import annotations

LOOKS = 4096  # children looked at until limits are asked again: some milliseconds
