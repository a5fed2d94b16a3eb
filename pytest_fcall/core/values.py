"""The plain values that everything else is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
"""What JSON can say, as Python values. `bool` is told from `int` everywhere in this package."""

Message: TypeAlias = Mapping[str, Json]
"""One chat message in OpenAI's form.

An image that a case names by path is the content part `{"type": "image_file", "image_file": {"path", "media_type",
"sha256"}}`; back ends turn it into what their wire wants."""
