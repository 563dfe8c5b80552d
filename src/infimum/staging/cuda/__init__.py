"""Staged searches whose tables are made on a GPU (PROOF)."""
