"""Plain JSON values and chat messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
"""A JSON value as Python values. This package always distinguishes `bool` from `int`."""

Message: TypeAlias = Mapping[str, Json]
"""One chat message in OpenAI's form.

An image that a case names by path is the content part `{"type": "image_file", "image_file": {"path", "media_type",
"sha256"}}`; backends convert it to the format of their API."""
