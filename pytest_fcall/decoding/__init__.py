"""Reads the calls of a reply, or explains why they cannot be read."""

from pytest_fcall.decoding.decoders import DECODERS, decode

__all__ = ["DECODERS", "decode"]
