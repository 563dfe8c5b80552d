"""The command `infimum` (POLICY): arguments, tables, exit codes."""
