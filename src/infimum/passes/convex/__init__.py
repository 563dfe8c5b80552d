"""Where a function is convex, by composition rules (PROOF)."""
