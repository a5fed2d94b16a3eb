"""Chooses who reads a reply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from pytest_fcall.core.call import Calls
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.tool import Tool
from pytest_fcall.decoding import native
from pytest_fcall.decoding.table import DECODERS
from pytest_fcall.decoding.wording import shortened

if TYPE_CHECKING:
    from pytest_fcall.core.extension import Decoder

_NO_DECODERS: Mapping[str, Decoder] = MappingProxyType({})


def decode(reply: Reply, tools: Sequence[Tool] = (), decoders: Mapping[str, Decoder] = _NO_DECODERS) -> Calls:
    """Read the calls of a reply: its native tool calls, or those that its decoder finds in the text.

    `tools` are those that were offered; `decoders` are those of other packages, by name.

    Total: whatever the reply holds, and whatever a decoder of another package does, gives Calls.
    """
    calls = native.decode(reply) if reply.decoder is None else _from_text(reply, reply.decoder, tools, decoders)
    return calls if reply.malformed is None else replace(calls, malformed=reply.malformed)


def _from_text(reply: Reply, name: str, tools: Sequence[Tool], decoders: Mapping[str, Decoder]) -> Calls:
    decoder = decoders.get(name) or DECODERS.get(name)
    if decoder is None:
        return Calls(malformed=f"There is no decoder {shortened(name)}; {_hint(name, sorted({*DECODERS, *decoders}))}")
    try:
        calls: object = decoder(reply.text, tools)
    except Exception as error:  # other people's code: its failure is a finding, not ours to pass on
        return Calls(malformed=f"The decoder `{name}` failed: {type(error).__name__}: {error}")
    if not isinstance(calls, Calls):
        return Calls(malformed=f"The decoder `{name}` gave {type(calls).__name__}, not Calls.")
    if reply.tool_calls:
        note = f"The decoder `{name}` reads the text; native tool calls beside it were not read."
        return replace(calls, notes=(*calls.notes, note))
    return calls


def _hint(name: str, known: Sequence[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name[:100], known, n=1)
    return f"did you mean `{near[0]}`?" if near else f"known are {', '.join(known)}."
