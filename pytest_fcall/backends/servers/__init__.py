"""Servers of models and apps that a run starts, shares and stops (`serve`)."""
