"""Calls and values in Python source text, which is never run."""
