"""JSON over several lines, for people."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any


def pretty_json(value: object) -> str:
    """The value as indented JSON, with its keys in their own order."""
    return json.dumps(value, indent=2, ensure_ascii=False, default=_to_json)


def _to_json(value: object) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    return value.isoformat() if isinstance(value, datetime) else str(value)
