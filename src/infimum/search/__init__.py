"""The search (PROOF: bounds, discards, regions; POLICY: samples, order): from a function and a domain to an enclosure.

Knows: boxes, lower and upper bounds, which regions are left. Never knows: how a function was written or is evaluated.
Hands on: an Outcome whose interval contains the global minimum and whose boxes contain every global minimiser.
"""
