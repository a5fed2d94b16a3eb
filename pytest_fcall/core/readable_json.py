"""JSON for files that people review."""

from __future__ import annotations

import json
import re
from typing import Final

from pytest_fcall.core.values import Json

# Text stays readable in a diff, but for what a reader or an editor would be misled by: controls, invisible and
# direction marks, line separators, and lone surrogates, which UTF-8 cannot say.
_UNREADABLE = re.compile(
    "[\x7f-\xa0\xad\u061c\u180e\u200b-\u200f\u2028-\u202f\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_READABLE: Final = json.JSONEncoder(sort_keys=True, ensure_ascii=False)


def readable_json(value: Json) -> str:
    """The one JSON text of `value` that is pleasant to read in a diff, in a single line.

    Raises ValueError, TypeError or RecursionError where JSON cannot say it.
    """
    text = _READABLE.encode(value)
    if text.isascii() and "\x7f" not in text:  # as most are, and searching costs as much as writing
        return text
    return _UNREADABLE.sub(lambda found: json.dumps(found[0])[1:-1], text)
