"""Everything that knows NumPy (PROOF): from the user's function to a graph of the same function."""
