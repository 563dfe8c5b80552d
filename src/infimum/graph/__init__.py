"""The expression graph (PROOF): array-valued nodes, index maps, constants, and how simple nodes are built.

Knows: operations, sizes, index maps, exact constants. Never knows: boxes, instruction tapes, searches.
Hands on: a Graph whose nodes denote real functions of x, true to what the user wrote.
"""
