"""Turns, tool results, environments and contained execution.

Is handed its backend, decoder and judge; walks model and tools back and forth until the model stops calling.
"""
