"""Functions on unbounded boxes: where they can be small, whether they have a lower bound (PROOF)."""
