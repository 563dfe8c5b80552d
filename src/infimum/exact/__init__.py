"""Numbers that are no doubles, kept as expressions and enclosed at any precision (PROOF)."""
