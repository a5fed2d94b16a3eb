"""Reads the calls of a reply, or explains why they cannot be read."""
