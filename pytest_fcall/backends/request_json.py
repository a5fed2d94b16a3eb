"""Requests as JSON: images that a case names by path, as data URLs, and what is sent over several lines, for people."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from pytest_fcall.core.files import read_regular
from pytest_fcall.core.values import Json, Message


def with_data_urls(message: Message) -> Message:
    """Return the message with every `image_file` part as an OpenAI `image_url` part that holds the image."""
    content = message.get("content")
    if not isinstance(content, (list, tuple)):
        return message
    return {**message, "content": [_inlined(part) for part in content]}


def _inlined(part: Json) -> Json:
    image = part.get("image_file") if isinstance(part, Mapping) else None
    if not isinstance(image, Mapping):
        return part
    data = base64.b64encode(read_regular(Path(str(image["path"])))).decode("ascii")
    return {"type": "image_url", "image_url": {"url": f"data:{image['media_type']};base64,{data}"}}


def pretty_json(value: object) -> str:
    """The value as indented JSON, with its keys in their own order."""
    return json.dumps(value, indent=2, ensure_ascii=False, default=_to_json)


def _to_json(value: object) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    return value.isoformat() if isinstance(value, datetime) else str(value)


def json_default(value: object) -> Json:
    """Convert for `json.dumps` a mapping that is no dict, as requests hold them. Raises TypeError for others."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a value of type {type(value).__name__} is not JSON")
