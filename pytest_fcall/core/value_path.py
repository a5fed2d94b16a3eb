"""Places in JSON values, as text."""

from __future__ import annotations

import re
from collections.abc import Sequence

_LONGEST_NAME = 100
_PLAIN_NAME = re.compile(rf"[\w$-]{{1,{_LONGEST_NAME}}}", re.ASCII)


def path_text(path: Sequence[str | int]) -> str:
    """A path in arguments, such as `stops[0].city`. Names with other characters are in quotes."""
    parts: list[str] = []
    for step in path:
        if isinstance(step, int):
            parts.append(f"[{step}]")
        elif _PLAIN_NAME.fullmatch(step):
            parts.append(f".{step}" if parts else step)
        else:
            parts.append(f"[{step[:_LONGEST_NAME]!r}]")
    return "".join(parts)
