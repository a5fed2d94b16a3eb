"""Values as short text, for one line about a mistake."""

from __future__ import annotations

from typing import Final

from pytest_fcall.cases.yaml.flow_style import write_flow
from pytest_fcall.core import Json
from pytest_fcall.schema.value_text import shown

_LONGEST: Final = 36


def brief(value: Json) -> str:
    """A value in one line, cut where it is long."""
    if not isinstance(value, list | dict):
        return shown(value)
    if len(value) > _LONGEST:
        return f"a list of {len(value):,}" if isinstance(value, list) else f"an object of {len(value):,}"
    written = write_flow(value)
    return written if len(written) <= _LONGEST else f"{written[: _LONGEST - 1]}…"
