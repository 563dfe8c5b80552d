"""Linear layers of a function (PROOF)."""
