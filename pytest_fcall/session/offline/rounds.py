"""The rounds in which requests are answered elsewhere: what the replies of one ask for next is the next.

A conversation goes one step in each. They are kept in `.fcall/rounds.json`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from pytest_fcall.core import Json
from pytest_fcall.core.json_fields import (
    as_mapping,
    check_version,
    optional_field,
    optional_list_of_strings,
    required_field,
)
from pytest_fcall.core.json_reading import read_json
from pytest_fcall.core.private_files import FILE_MODE, NAME, make_private_folder, refuse_way_out
from pytest_fcall.core.regular_file import read_regular
from pytest_fcall.core.whole_file import replace_file

_VERSION: Final = 1


class RoundsError(ValueError):
    """The file holds no rounds. The text names it, and says what to do."""


@dataclass(frozen=True, slots=True)
class Round:
    """One round."""

    number: int
    begun: str
    """ISO date and time."""
    requests: int
    """The number of requests that its plan holds."""
    models: tuple[str, ...]
    taken: int = 0
    """The number of replies that came."""
    open: int | None = None
    """The number of requests that were open afterwards, those of the next round included; None before replies came."""


class Rounds:
    """The rounds of the selection that is under way."""

    def __init__(self, root: Path) -> None:
        self._path = root / NAME / "rounds.json"
        self.fault = ""
        """Why the rounds so far do not count; empty where they do."""

    def read(self) -> Sequence[Round]:
        """The rounds so far. Raises RoundsError."""
        try:
            fields = as_mapping(read_json(read_regular(self._path)), "the file")
            check_version(fields, "fcall_rounds", _VERSION)
            return [_round(as_mapping(each, "a round")) for each in required_field(fields, "rounds", list)]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise RoundsError(f"{self._path}: cannot be read: {error.strerror}") from None
        except ValueError as error:
            raise RoundsError(f"{self._path}: {error}; without this file the rounds are counted anew") from None

    def begin(self, requests: int, models: Sequence[str]) -> Round:
        """Note a plan. Before replies came it is the same round, planned anew; after the last reply the first one.

        Raises OSError. Damaged rounds are counted anew.
        """
        known = self._known()
        if known and known[-1].open == 0:
            known = []
        if known and known[-1].open is None:
            known.pop()
        new = Round(len(known) + 1, datetime.now(UTC).isoformat(timespec="seconds"), requests, tuple(models))
        self._write([*known, new])
        return new

    def add_replies(self, taken: int, still_open: int) -> None:
        """Note replies to the last round. Raises OSError."""
        if known := self._known():
            last = known[-1]
            self._write([*known[:-1], replace(last, taken=last.taken + taken, open=still_open)])

    def _known(self) -> list[Round]:
        """The rounds so far; none where the file is damaged, for replies must not be lost over a count."""
        try:
            return [*self.read()]
        except RoundsError as error:
            self.fault = str(error)
            return []

    def _write(self, rounds: Sequence[Round]) -> None:
        make_private_folder(self._path.parent)
        refuse_way_out(self._path)
        data = {"fcall_rounds": _VERSION, "rounds": [asdict(each) for each in rounds]}
        replace_file(self._path, [f"{json.dumps(data, indent=1)}\n".encode()], FILE_MODE)


def _round(fields: Mapping[str, Json]) -> Round:
    return Round(
        required_field(fields, "number", int),
        required_field(fields, "begun", str),
        required_field(fields, "requests", int),
        tuple(optional_list_of_strings(fields, "models")),
        required_field(fields, "taken", int),
        optional_field(fields, "open", int),
    )
