"""Programs on an NVIDIA GPU (PROOF)."""
