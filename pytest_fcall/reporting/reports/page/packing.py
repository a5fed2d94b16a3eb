"""Data that the script of the page unpacks when somebody looks at it."""

from __future__ import annotations

import base64
import json
import zlib

from pytest_fcall.core import Json


def packed(data: Json) -> str:
    """The data as compressed JSON in Base64."""
    return base64.b64encode(zlib.compress(json.dumps(data, separators=(",", ":")).encode(), 6)).decode()
