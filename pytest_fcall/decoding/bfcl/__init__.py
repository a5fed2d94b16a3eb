"""The official decoders of the Berkeley leaderboard, with results in the official form.

That form is a list of one-key mappings `{name: {argument: value}}`. Unusual output gives the same unusual values as the
official decoders give.
"""

from pytest_fcall.decoding.bfcl.decoders import decode_format, decode_prompt
from pytest_fcall.decoding.bfcl.official_form import Undecodable
from pytest_fcall.decoding.bfcl.structured_calls import decode_native

__all__ = ["Undecodable", "decode_format", "decode_native", "decode_prompt"]
