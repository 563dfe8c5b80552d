"""infimum finds the global minimum of a function and proves it."""
