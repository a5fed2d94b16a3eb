"""The messages of a Request without tools: tools, earlier calls and their results become text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from pytest_fcall.backends.tool_prompts.call_formats import Style
from pytest_fcall.backends.tool_prompts.styles import BFCL_STYLES, OWN_STYLES
from pytest_fcall.core import Call, Json, Message, Request

STYLES: Final[Mapping[str, Style]] = MappingProxyType({**OWN_STYLES, **BFCL_STYLES})
"""By the names of the decoders that read the answers."""

DEFAULT_STYLE: Final = "hermes"
"""Its tags separate calls from prose in any answer, and many models were trained on them."""


def with_tools_in_prompt(request: Request, style: str = DEFAULT_STYLE) -> list[Message]:
    """The messages of `request` with its tools described in the system prompt, above the case's own system prompt.

    Earlier calls are written in the style's format, and their results become messages of the user. Raises ValueError
    for an unknown style.
    """
    if style not in STYLES:
        raise ValueError(f"no prompt for the decoder {style!r:.60}; available: {', '.join(STYLES)}")
    chosen = STYLES[style]
    messages = list(_as_text_messages(request.messages, chosen))
    if not request.tools:
        return messages
    return _with_system(messages, chosen.instructions.substitute(tools=chosen.tools_as_text(request.tools)))


def _with_system(messages: list[Message], instructions: str) -> list[Message]:
    if not messages or messages[0].get("role") not in ("system", "developer"):
        return [{"role": "system", "content": instructions}, *messages]
    own = messages[0].get("content")
    content: Json = (
        f"{instructions}\n\n{own}" if isinstance(own, str) else [{"type": "text", "text": instructions}, *_parts(own)]
    )
    return [{**messages[0], "content": content}, *messages[1:]]


def _as_text_messages(messages: Sequence[Message], style: Style) -> Iterator[Message]:
    """The messages without native calls; consecutive results become one message."""
    names: dict[str, str] = {}
    results: list[Json] = []
    for message in messages:
        if message.get("role") in ("tool", "function"):
            name = message.get("name") or names.get(str(message.get("tool_call_id")))
            results.append({"name": name, "content": message.get("content")})
            continue
        if results:
            yield _results_message(results)
            results = []
        yield _without_native_calls(message, style, names)
    if results:
        yield _results_message(results)


def _results_message(results: Sequence[Json]) -> Message:
    lines = "\n".join(json.dumps(result, ensure_ascii=False) for result in results)
    return {"role": "user", "content": f"<tool_response>\n{lines}\n</tool_response>"}


def _without_native_calls(message: Message, style: Style, names: dict[str, str]) -> Message:
    native = message.get("tool_calls") or ([{"function": call}] if (call := message.get("function_call")) else None)
    if not isinstance(native, list | tuple):
        return message
    calls = [_call(item) for item in native if isinstance(item, Mapping)]
    names.update({call.id: call.name for call in calls if call.id is not None})
    rest = {key: value for key, value in message.items() if key not in ("tool_calls", "function_call", "content")}
    text = style.calls_as_text(calls)
    content = message.get("content")
    if isinstance(content, str) and content:
        return {**rest, "content": f"{content}\n{text}"}
    return {**rest, "content": [*_parts(content), {"type": "text", "text": text}] if content else text}


def _parts(content: Json) -> Sequence[Json]:
    return content if isinstance(content, list | tuple) else ()


def _call(item: Mapping[str, Json]) -> Call:
    function, id_ = item.get("function"), item.get("id")
    call = function if isinstance(function, Mapping) else item
    return Call(str(call.get("name")), _arguments(call.get("arguments")), id_ if isinstance(id_, str) else None)


def _arguments(arguments: Json) -> Mapping[str, Json]:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            return {}
    return arguments if isinstance(arguments, Mapping) else {}
