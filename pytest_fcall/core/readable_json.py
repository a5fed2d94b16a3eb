"""JSON for files that people review."""

from __future__ import annotations

import json
import re
from typing import Final

from pytest_fcall.core.values import Json

# Text stays readable in a diff. Escaped are the characters that mislead a reader or an editor: controls, invisible and
# direction marks, line separators; and lone surrogates, which UTF-8 cannot represent.
_UNREADABLE = (
    "[\x7f-\xa0\xad\u061c\u180e\u200b-\u200f\u2028-\u202f\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_READABLE: Final = json.JSONEncoder(sort_keys=True, ensure_ascii=False)


def readable_json(value: Json) -> str:
    """Give the canonical readable JSON text of a value, in one line.

    Raises ValueError, TypeError or RecursionError where JSON cannot represent the value.
    """
    text = _READABLE.encode(value)
    if text.isascii() and "\x7f" not in text:  # most texts are, and the search takes as long as the encoding
        return text
    return re.sub(_UNREADABLE, lambda match: json.dumps(match[0])[1:-1], text)
