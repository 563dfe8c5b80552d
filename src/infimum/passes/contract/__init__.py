"""From sets that expressions must lie in to the part of the box where they can (PROOF)."""
