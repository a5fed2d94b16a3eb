"""Processes that all workers of a machine share: the first user starts one, and it ends with the last."""
