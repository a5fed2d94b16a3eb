"""Servers of models that a run starts, shares and stops by itself."""
