"""Estimates of the tokens of a request, made before it is sent."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from pytest_fcall.core import Json, Message, Request, Usage

IMAGE_TOKENS = 1_000
"""Of one image, about. Providers count between 85 and several thousand, by size."""

INSTRUCTION_TOKENS = 250
"""Of what providers and chat templates say about tools before they list them, about."""

REPLY_TOKENS = 100
"""Of a reply that calls a tool or two, about."""

LONGEST_REPLY_TOKENS = 4_096
"""Taken for the longest reply where nobody limits it."""

_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens")


def estimated_tokens(request: Request) -> int:
    """The tokens of the input, about: four characters each in ASCII, one and a half in other scripts."""
    text, beside = _content(request)
    other = len(text) - len(text.encode("ascii", "ignore"))
    return round((len(text) - other) / 4 + other / 1.5) + beside


def likely_usage(request: Request) -> Usage:
    """What the request will probably use."""
    return Usage(estimated_tokens(request), min(REPLY_TOKENS, _limit(request)))


def greatest_usage(request: Request) -> Usage:
    """What the request can use at most: no token is shorter than a byte, and replies end at their limit.

    Without a limit a reply may be longer than `LONGEST_REPLY`, which is counted here.
    """
    text, beside = _content(request)
    replies = max(_counts(request, ["n"]), default=1)
    return Usage(len(text.encode("utf-8", "surrogatepass")) + beside, _limit(request) * replies)


def _limit(request: Request) -> int:
    return max(_counts(request, _LIMITS), default=LONGEST_REPLY_TOKENS)


def _counts(request: Request, names: Sequence[str]) -> list[int]:
    """What is set by these names; what is sent beside the settings counts before them, or not, as the server likes."""
    beside = request.settings.get("extra_body")
    tables = [request.settings, beside] if isinstance(beside, Mapping) else [request.settings]
    given = [table.get(name) for table in tables for name in names]
    return [count for count in given if type(count) is int and count > 0]


def _content(request: Request) -> tuple[str, int]:
    """All that is sent as text, and the tokens of what else there is."""
    messages = [_without_images(message) for message in request.messages]
    tools = [[tool.name, tool.description, tool.parameters] for tool in request.tools]
    text = json.dumps([[message for message, _ in messages], tools], ensure_ascii=False, separators=(",", ":"))
    return text, sum(images for _, images in messages) * IMAGE_TOKENS + (INSTRUCTION_TOKENS if tools else 0)


def _without_images(message: Message) -> tuple[Message, int]:
    parts = message.get("content")
    if not isinstance(parts, Sequence) or isinstance(parts, str):
        return message, 0
    kept = [part for part in parts if not _is_image(part)]
    return {**message, "content": kept}, len(parts) - len(kept)


def _is_image(part: Json) -> bool:
    return isinstance(part, Mapping) and part.get("type") in ("image_file", "image_url", "image", "input_image")
