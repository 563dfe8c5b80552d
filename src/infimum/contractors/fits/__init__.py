"""Contractors of fits whose parameters enter linearly in part: they bound f over the others alone."""
