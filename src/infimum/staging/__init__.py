"""Staging (PROOF): the children of a split region at the cost of what the split touches, not of n.

Knows: expressions as families of terms with an epilogue, partial derivatives as classes of components, the core's
working box. Never knows: which region is split next, or why.
"""
