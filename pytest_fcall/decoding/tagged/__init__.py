"""Decoders of model families that write calls between tokens of their own: tables of data over one scanner."""
