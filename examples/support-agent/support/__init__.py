"""The support of a small shop."""
