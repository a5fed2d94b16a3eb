"""What the official decoders of the Berkeley leaderboard make of a model's output, in their own form.

That is a list of one-key mappings `{name: {argument: value}}`; odd output gives odd values, as it does there.
"""

from pytest_fcall.decoding.bfcl.decoders import decode_format, decode_prompt
from pytest_fcall.decoding.bfcl.official_form import Undecodable
from pytest_fcall.decoding.bfcl.structured_calls import decode_native

__all__ = ["Undecodable", "decode_format", "decode_native", "decode_prompt"]
