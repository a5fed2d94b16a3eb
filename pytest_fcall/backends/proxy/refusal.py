"""What the proxy itself says no to."""

from __future__ import annotations

import json
from http import HTTPStatus

from aiohttp import web

UNKNOWN = "x-fcall-unknown"
"""A header that says that nobody here knows the case of a request; another run may."""


def refused(text: str, *marks: str) -> web.Response:
    """An error that OpenAI's libraries and Anthropic's both can read, and that nobody tries again."""
    told = {"type": "error", "error": {"type": "invalid_request_error", "message": f"pytest-fcall: {text}"}}
    body = json.dumps(told).encode()
    headers = {"x-should-retry": "false", **dict.fromkeys(marks, "1")}
    return web.Response(status=HTTPStatus.BAD_REQUEST, body=body, headers=headers, content_type="application/json")
