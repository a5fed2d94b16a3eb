"""The rounds in which requests are answered elsewhere: what the replies of one ask for next is the next.

A conversation goes one step in each. They are kept in `.fcall/rounds.json`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from pytest_fcall.core.files import (
    PRIVATE_FOLDER,
    PRIVATE_MODE,
    make_private_folder,
    read_regular,
    refuse_way_out,
    replace_file,
)
from pytest_fcall.core.json_data import (
    as_mapping,
    check_version,
    optional_field,
    optional_list_of_strings,
    read_json,
    required_field,
)
from pytest_fcall.core.values import Json

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
    beside: int = 0
    """The number of open requests that its plan does not hold, such as those of a round that is under way."""


class Rounds:
    """The rounds of the selection that is under way."""

    def __init__(self, root: Path) -> None:
        self._path = root / PRIVATE_FOLDER / "rounds.json"
        self.fault = ""
        """The reason why the rounds so far do not count; empty where they do."""

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
            raise RoundsError(f"{self._path}: {error}; without this file the rounds are counted from 1 again") from None

    def next_number(self, under_way: Collection[int] = ()) -> int:
        """The number of the next plan: that of the last one before replies to it came, for it is planned anew.

        A new selection begins with 1, after the last reply of the one before. Rounds that are under way are sent, and
        stay. Damaged rounds are counted anew.
        """
        known = self._known()
        if not known or (known[-1].open == 0 and not under_way):
            return max(under_way, default=0) + 1
        last = known[-1]
        return last.number if last.open is None and last.number not in under_way else last.number + 1

    def begin(self, number: int, requests: int, models: Sequence[str], beside: int = 0) -> None:
        """Note a plan, beside which so many requests are open. Raises OSError."""
        begun = datetime.now(UTC).isoformat(timespec="seconds")
        before = [each for each in self._known() if each.number < number]
        self._write([*before, Round(number, begun, requests, tuple(models), beside=beside)])

    def add_replies(self, taken: Mapping[int, int], still_open: int) -> None:
        """Note replies by the numbers of their rounds; those of a round that is not known count to the last.

        Raises OSError.
        """
        if not (known := self._known()):
            return
        for number, replies in taken.items():
            place = next((at for at, each in enumerate(known) if each.number == number), -1)
            known[place] = replace(known[place], taken=known[place].taken + replies)
        self._write([*known[:-1], replace(known[-1], open=still_open)])

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
        replace_file(self._path, [f"{json.dumps(data, indent=1)}\n".encode()], PRIVATE_MODE)


def _round(fields: Mapping[str, Json]) -> Round:
    return Round(
        required_field(fields, "number", int),
        required_field(fields, "begun", str),
        required_field(fields, "requests", int),
        tuple(optional_list_of_strings(fields, "models")),
        required_field(fields, "taken", int),
        optional_field(fields, "open", int),
        optional_field(fields, "beside", int) or 0,
    )
