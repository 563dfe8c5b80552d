"""The expression graph (PROOF): array-valued nodes, index maps, one record per operation, and the NumPy front door.

Knows: operations, sizes, index maps, exact constants. Never knows: boxes, instruction tapes, searches.
Hands on: a Graph whose nodes denote real functions of x, true to what the user wrote.
"""
