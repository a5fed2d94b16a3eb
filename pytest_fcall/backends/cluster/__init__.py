"""Requests that are answered on many machines: what its processes share, and what each of them does."""
