"""Processes that one machine needs only once: the first who wants one starts it, and it ends with the last."""
