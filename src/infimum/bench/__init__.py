"""What `infimum bench` runs, with its data (POLICY)."""
