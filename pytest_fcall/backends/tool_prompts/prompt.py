"""A Request as messages without tools: tools, earlier calls and their results become text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from pytest_fcall.backends.tool_prompts.call_formats import Style
from pytest_fcall.backends.tool_prompts.styles import BFCL, OURS
from pytest_fcall.core import Call, Json, Message, Request

STYLES: Final[Mapping[str, Style]] = MappingProxyType({**OURS, **BFCL})
"""By the names of the decoders that read the answers."""

DEFAULT_STYLE: Final = "hermes"
"""Its tags tell calls from prose in any answer, and many models were trained on them."""


def prompted(request: Request, style: str = DEFAULT_STYLE) -> tuple[list[Message], str]:
    """The messages of `request` with its tools told in the system prompt, and the name of the decoder for the answer.

    What a case says as system prompt stands below ours. Calls that were made earlier are written as the style has
    them written, and their results are told by the user. Without tools, only that is done. Raises ValueError, in
    words, for a style that is not known.
    """
    if style not in STYLES:
        raise ValueError(f"there is no prompt for the decoder {style!r:.60}; there is one for {', '.join(STYLES)}")
    chosen = STYLES[style]
    messages = list(_as_text_messages(request.messages, chosen))
    if request.tools:
        messages = _with_system(messages, chosen.instructions.substitute(tools=chosen.tools(request.tools)))
    return messages, style


def _with_system(messages: list[Message], told: str) -> list[Message]:
    if not messages or messages[0].get("role") not in ("system", "developer"):
        return [{"role": "system", "content": told}, *messages]
    own = messages[0].get("content")
    content: Json = f"{told}\n\n{own}" if isinstance(own, str) else [{"type": "text", "text": told}, *_parts(own)]
    return [{**messages[0], "content": content}, *messages[1:]]


def _as_text_messages(messages: Sequence[Message], style: Style) -> Iterator[Message]:
    """The messages without any native calls in them; results that follow each other are told together."""
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
    told = "\n".join(json.dumps(result, ensure_ascii=False) for result in results)
    return {"role": "user", "content": f"<tool_response>\n{told}\n</tool_response>"}


def _without_native_calls(message: Message, style: Style, names: dict[str, str]) -> Message:
    given = message.get("tool_calls") or ([{"function": call}] if (call := message.get("function_call")) else None)
    if not isinstance(given, list | tuple):
        return message
    calls = [_call(item) for item in given if isinstance(item, Mapping)]
    names.update({call.id: call.name for call in calls if call.id is not None})
    rest = {key: value for key, value in message.items() if key not in ("tool_calls", "function_call", "content")}
    text = style.written(calls)
    said = message.get("content")
    if isinstance(said, str) and said:
        return {**rest, "content": f"{said}\n{text}"}
    return {**rest, "content": [*_parts(said), {"type": "text", "text": text}] if said else text}


def _parts(content: Json) -> Sequence[Json]:
    return content if isinstance(content, list | tuple) else ()


def _call(item: Mapping[str, Json]) -> Call:
    function = item.get("function")
    call = function if isinstance(function, Mapping) else item
    arguments, known = call.get("arguments"), item.get("id")
    return Call(str(call.get("name")), _arguments(arguments), known if isinstance(known, str) else None)


def _arguments(given: Json) -> Mapping[str, Json]:
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError:
            return {}
    return given if isinstance(given, Mapping) else {}
