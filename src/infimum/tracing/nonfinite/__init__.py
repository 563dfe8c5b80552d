"""Infinities, NaN and signs of zeros as NumPy has them, as expressions of x (PROOF)."""
