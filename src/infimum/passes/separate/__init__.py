"""A function as a sum over blocks of variables that share no term (PROOF)."""
