"""From what a model sent to the calls that it meant, or to a sentence that says why they cannot be read."""

from pytest_fcall.decoding.decoders import DECODERS, decode

__all__ = ["DECODERS", "decode"]
