"""Quadratic functions: convex ones by one tangent, others by convex ones below them."""
