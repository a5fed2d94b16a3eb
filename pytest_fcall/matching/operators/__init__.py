"""The operators of expected values, one family a module."""
