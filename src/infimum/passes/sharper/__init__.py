"""Tighter enclosures of expressions that occur in many functions (PROOF)."""
