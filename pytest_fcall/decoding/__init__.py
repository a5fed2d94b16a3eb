"""From what a model sent to the calls that it meant, or to a sentence that says why they cannot be read."""

from pytest_fcall.decoding.decode import decode
from pytest_fcall.decoding.table import DECODERS

__all__ = ["DECODERS", "decode"]
