"""minimize: read the options or refuse them, then go from a function and bounds to a Result (PROOF)."""
