"""Second derivatives of a graph: tangents of its gradient, their sparsity, and functions of which they are constant."""
