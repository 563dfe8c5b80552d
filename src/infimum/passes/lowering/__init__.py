"""From a graph to a Program, and the form of a Program (PROOF)."""
