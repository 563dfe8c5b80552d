"""The default method: contract before you split (PROOF; points and cuts are POLICY)."""
