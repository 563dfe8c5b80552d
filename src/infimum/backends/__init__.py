"""Where programs run (PROOF): on boxes or at points, the same bits everywhere.

Knows: programs, arrays of ends, devices, threads. Never knows: what the user wrote, how boxes are chosen.
Hands on: enclosures of a program's outputs, or their values in plain doubles.
"""
