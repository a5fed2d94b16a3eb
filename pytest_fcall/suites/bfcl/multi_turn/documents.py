"""What models are told of the functions of the leaderboard's classes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeAlias

from pytest_fcall.core.same import Same
from pytest_fcall.core.values import Json
from pytest_fcall.suites.bfcl.told import documents
from pytest_fcall.suites.json_lines import BrokenFile, BrokenRow, lines, opened, record

Document: TypeAlias = Mapping[str, Json]

FILES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "GorillaFileSystem": "gorilla_file_system",
        "MathAPI": "math_api",
        "MessageAPI": "message_api",
        "TwitterAPI": "posting_api",
        "TicketAPI": "ticket_api",
        "TradingBot": "trading_bot",
        "TravelAPI": "travel_booking",
        "VehicleControlAPI": "vehicle_control",
        "WebSearchAPI": "web_search",
        "MemoryAPI_kv": "memory_kv",
        "MemoryAPI_vector": "memory_vector",
        "MemoryAPI_rec_sum": "memory_rec_sum",
    }
)


class Documents:
    """The documents of all classes, in a folder of the leaderboard's data."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "multi_turn_func_doc"
        self._known: dict[str, Sequence[Document]] = {}
        self._hinted: dict[Same[Document], Document] = {}

    def of(self, classes: Sequence[str], held_back: Mapping[str, Sequence[str]]) -> list[list[Document]]:
        """What is offered at first, and then what is new with each entry of `held_back`, which has names by turn.

        What is held back lacks the hint at its language, as it does officially. BrokenRow where a name is not known.
        """
        offered = [document for name in classes for document in self._of_class(name)]
        later = [[_taken_out(name, offered) for name in names] for names in held_back.values()]
        return [[*map(self._with_hint, offered)], *later]

    def _with_hint(self, document: Document) -> Document:
        """The document with its hint, which is one object, however many cases have it."""
        known = Same(document)
        if known not in self._hinted:
            (self._hinted[known],) = documents([document], "python")
        return self._hinted[known]

    def _of_class(self, name: str) -> Sequence[Document]:
        if name not in FILES:
            raise BrokenRow(f"there is no class {name!r:.80}: there is {', '.join(FILES)}")
        if name not in self._known:
            self._known[name] = list(read_rows(self._folder / f"{FILES[name]}.json"))
        return self._known[name]


def _taken_out(name: str, offered: list[Document]) -> Document:
    for place, document in enumerate(offered):
        if document.get("name") == name:
            return offered.pop(place)
    raise BrokenRow(f"there is no function {name!r:.80} to be held back")


def read_rows(path: Path) -> Iterator[Mapping[str, Json]]:
    """The rows of a file that comes with the package. Raises ValueError, in words, where it cannot be read."""
    try:
        with opened(path) as stream:
            yield from (record(line) for line in lines(stream) if line.strip())
    except (OSError, BrokenFile, BrokenRow) as error:
        told = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ValueError(f"{path} cannot be read: {told}") from None
