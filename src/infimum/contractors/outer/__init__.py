"""Outer functions of one variable: lines below them, and what the sum of these lines says of a box."""
