"""Backends, which turn a Request into a Reply, and the recordings of earlier replies."""
