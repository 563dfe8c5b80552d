"""minimize: options read and refused, the line from a function and bounds to a Result (PROOF)."""
