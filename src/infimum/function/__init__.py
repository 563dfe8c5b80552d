"""The line from a Python function to its Programs (PROOF)."""
