"""Contractors of linear layers (PROOF)."""
