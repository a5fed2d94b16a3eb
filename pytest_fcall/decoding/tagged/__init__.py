"""Decoders for model families that wrap their calls in tokens of their own: tables of data over one linear scanner."""
