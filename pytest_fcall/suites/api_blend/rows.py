"""Rows of a file: the items of a list, or lines that are objects, with the lines on which they begin."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pytest_fcall.core.values import Json
from pytest_fcall.decoding.strict_json import NotJson, parse
from pytest_fcall.suites.json_files import json_text
from pytest_fcall.suites.json_lines import lines, opened

_GAP: Final = re.compile(r"[\s,]*+")


@dataclass(frozen=True, slots=True)
class Row:
    """One row; with `fault`, what is wrong with it."""

    line: int
    data: Json
    fault: str = ""


def rows_of(path: Path) -> Iterator[Row]:
    """Read a file. OSError where it cannot be read, ValueError where it is a list that is no JSON."""
    with opened(path) as stream:
        beginning = next((line for line in lines(stream) if line.strip()), b"")
    if beginning.lstrip(b"\xef\xbb\xbf \t").startswith(b"["):
        text, items = json_text(path)
        yield from map(Row, _beginnings(text), items if isinstance(items, list) else ())
        return
    with opened(path) as stream:
        for number, line in enumerate(lines(stream), 1):
            if line.strip():
                yield _row(number, line)


def _row(number: int, line: bytes) -> Row:
    try:
        return Row(number, parse(line.decode("utf-8-sig"))[0])
    except UnicodeDecodeError as error:
        return Row(number, None, f"it is not UTF-8: {error.reason} at byte {error.start + 1}")
    except NotJson as error:
        return Row(number, None, f"it is no JSON: {error}")


def _beginnings(text: str) -> Iterator[int]:
    """The line on which each item of a list begins; the text is known to be JSON."""
    read = json.JSONDecoder().raw_decode
    at, line, counted = text.index("[") + 1, 1, 0
    while gap := _GAP.match(text, at):
        at = gap.end()
        line, counted = line + text.count("\n", counted, at), at
        yield line
        at = read(text, at)[1]
