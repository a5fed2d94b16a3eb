"""Estimates of the tokens of a request, made before it is sent."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache

from pytest_fcall.core import Json, Message, Request, Tool, Usage
from pytest_fcall.core.digests import IdentityKey

IMAGE_TOKENS = 1_000
"""Tokens of an image, roughly. Providers count between 85 and several thousand, by its size."""

INSTRUCTION_TOKENS = 250
"""Tokens of the text that providers and chat templates add to a list of tools, roughly."""

REPLY_TOKENS = 100
"""Tokens of a reply that calls a tool or two, roughly."""

LONGEST_REPLY_TOKENS = 4_096
"""Tokens of the longest reply, if the request sets no limit."""

_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens")


def estimated_tokens(request: Request) -> int:
    """The tokens of the input, roughly: four characters each in ASCII, one and a half in other scripts."""
    text, tokens = _content(request)
    other = len(text) - len(text.encode("ascii", "ignore"))
    return round((len(text) - other) / 4 + other / 1.5) + tokens


def likely_usage(request: Request) -> Usage:
    """The usage to expect of the request."""
    return Usage(estimated_tokens(request), min(REPLY_TOKENS, _limit(request)))


def greatest_usage(request: Request) -> Usage:
    """The greatest possible usage of the request: no token is shorter than a byte, and replies end at their limit.

    Without a limit, `LONGEST_REPLY_TOKENS` are counted, although a reply may be longer.
    """
    text, tokens = _content(request)
    replies = max(_counts(request, ["n"]), default=1)
    return Usage(len(text.encode("utf-8", "surrogatepass")) + tokens, _limit(request) * replies)


def _limit(request: Request) -> int:
    return max(_counts(request, _LIMITS), default=LONGEST_REPLY_TOKENS)


def _counts(request: Request, names: Sequence[str]) -> list[int]:
    """The positive counts with these names in the settings and in `extra_body`; servers differ in which one counts."""
    extra = request.settings.get("extra_body")
    tables = [request.settings, extra] if isinstance(extra, Mapping) else [request.settings]
    counts = [table.get(name) for table in tables for name in names]
    return [count for count in counts if type(count) is int and count > 0]


def _content(request: Request) -> tuple[str, int]:
    """The text of the request, and the tokens of all else."""
    messages = [_without_images(message) for message in request.messages]
    images = sum(count for _, count in messages)
    tools = _tools_text(IdentityKey(tuple(request.tools)))
    text = f"[{_json_text([message for message, _ in messages])},{tools}]"
    return text, images * IMAGE_TOKENS + (INSTRUCTION_TOKENS if request.tools else 0)


@lru_cache(maxsize=64)  # the cases of a file share their tools
def _tools_text(tools: IdentityKey[tuple[Tool, ...]]) -> str:
    return _json_text([[tool.name, tool.description, tool.parameters] for tool in tools.value])


def _json_text(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _without_images(message: Message) -> tuple[Message, int]:
    parts = message.get("content")
    if not isinstance(parts, Sequence) or isinstance(parts, str):
        return message, 0
    kept = [part for part in parts if not _is_image(part)]
    return {**message, "content": kept}, len(parts) - len(kept)


def _is_image(part: Json) -> bool:
    return isinstance(part, Mapping) and part.get("type") in ("image_file", "image_url", "image", "input_image")
