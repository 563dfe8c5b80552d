"""What NumPy's functions mean on traced arrays (PROOF)."""
