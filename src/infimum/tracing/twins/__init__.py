"""Twins: the user's functions and classes with the names they see replaced by ones that trace."""
