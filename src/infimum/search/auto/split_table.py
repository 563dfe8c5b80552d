"""infimum's own split rules by name; the first is the default."""

from __future__ import annotations

from infimum.search.auto.split_rules import Largest, RoundRobin, Smear, SplitRule
from infimum.search.auto.uneven import Uneven

SPLIT_RULES: dict[str, SplitRule] = {
    "smear": Smear(),
    "largest": Largest(),
    "round_robin": RoundRobin(),
    "uneven": Uneven(),
}
SPLITS = tuple(SPLIT_RULES)
