"""What a model thought before it answered, where the server left it in the text."""

from __future__ import annotations

import re

_OPENING = "<think>"
_END = re.compile(r"</think>(?=\s|\Z)")


def parted(text: str) -> tuple[str, str]:
    """Give what was thought and what was answered. Takes linear time.

    Many prompts end with the opening tag, so that it may be missing; an end that is missing leaves no answer.
    """
    if end := _END.search(text):
        return text[: end.end()], text[end.end() :]
    return (text, "") if text.lstrip().startswith(_OPENING) else ("", text)
