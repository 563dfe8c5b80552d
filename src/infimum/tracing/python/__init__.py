"""Python's own numbers, errors, clocks and texts in a traced function."""
