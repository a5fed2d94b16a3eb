"""Whole files of JSON, plain or compressed, as strangers wrote them."""

from __future__ import annotations

from pathlib import Path

from pytest_fcall.core.values import Json
from pytest_fcall.decoding.strict_json import NotJson, parse
from pytest_fcall.suites.json_lines import lines, opened


def json_file(path: Path) -> Json:
    """Read a file that is one JSON value. OSError where it cannot be read, ValueError where it is no JSON."""
    return json_text(path)[1]


def json_text(path: Path) -> tuple[str, Json]:
    """Read the same, and give its text, too."""
    with opened(path) as stream:
        data = b"".join(lines(stream))
    try:
        text = data.decode("utf-8-sig")
        value, _ = parse(text)
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8: {error.reason} at byte {error.start + 1}") from None
    except NotJson as error:
        raise ValueError(f"{path} is not JSON: {error}") from None
    return text, value
