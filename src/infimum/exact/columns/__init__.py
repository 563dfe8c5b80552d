"""Arrays of exact constants in columns of integers (PROOF)."""
