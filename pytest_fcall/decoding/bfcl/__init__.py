"""What the official decoders of the Berkeley leaderboard make of a model's output, in their own form.

That is a list of one-key mappings `{name: {argument: value}}`; odd output gives odd values, as it does there.
"""

from pytest_fcall.decoding.bfcl.prompt import decode_format, decode_prompt
from pytest_fcall.decoding.bfcl.tool_calls import decode_fc
from pytest_fcall.decoding.bfcl.undecodable import Undecodable

__all__ = ["Undecodable", "decode_fc", "decode_format", "decode_prompt"]
