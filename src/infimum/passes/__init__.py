"""From graph to Program (PROOF): simplify, derive, lower, and the form of a Program.

Knows: nodes and their rules, slots, phases, instructions. Never knows: boxes, instruction sets, searches.
Hands on: a checked Program that every backend runs with the same bits.
"""
