"""One record per operation (PROOF)."""
