"""The paper's method: select, sample, split, discard (PROOF; samples and cuts are POLICY)."""
