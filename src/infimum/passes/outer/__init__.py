"""A function as a sum of outer functions of few numbers: sums of squares and their like (PROOF)."""
