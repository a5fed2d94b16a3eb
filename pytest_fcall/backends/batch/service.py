"""What a provider's batches have in common: the few things that are asked of them, and the answers in common words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeAlias

from pytest_fcall.core import Json

if TYPE_CHECKING:
    from pytest_fcall.backends.batch.client import Client
    from pytest_fcall.backends.batch.portion import Portion
    from pytest_fcall.core.backend import OfflineBody

Outcome: TypeAlias = Literal["completed", "failed", "expired", "cancelled", "gone"]


class Frame(NamedTuple):
    """What stands around the requests in the file that is sent."""

    before: bytes
    between: bytes
    after: bytes


@dataclass(frozen=True, slots=True)
class BatchState:
    """How far a batch is."""

    words: str
    """In the provider's words, with what it counts."""
    outcome: Outcome | None = None
    """None before its end."""
    sources: tuple[str, ...] = ()
    """The addresses of what came of it."""
    faults: Mapping[int, str] = field(default_factory=dict)
    """What is wrong with it, by the number of the request, from 0; -1 for the whole."""


class ResultRow(NamedTuple):
    """What became of one request."""

    custom_id: str
    status: int | None
    """The HTTP status of the answer; None where there is none."""
    body: Json
    reason: str = ""
    """Why there is no answer."""


class BatchService(Protocol):
    """The batches of one server. All methods raise ServerError."""

    client: Client
    frame: Frame
    takes_files: bool
    """Whether requests are uploaded first, and submitted as the id of a file."""
    names_batches: bool
    """Whether a batch can be found by the name of its portion. Else it is known by the ids in its results."""

    def line(self, digest: str, offline: OfflineBody) -> Json:
        """A request as it stands in the file."""
        ...

    async def upload(self, portion: Portion, file: Path) -> str:
        """Upload the file, and return its id."""
        ...

    async def find_upload(self, portion: Portion) -> str | None:
        """The id of the file, if an earlier process has uploaded it."""
        ...

    async def submit(self, portion: Portion, file: Path, /) -> str:
        """Submit the batch, and return its id."""
        ...

    async def mark(self) -> str:
        """What tells batches that are made from now on from those before; clocks may differ."""
        ...

    async def find_batches(self, portion: Portion) -> Sequence[str]:
        """The ids of batches that may be what an earlier process has submitted."""
        ...

    async def state(self, batch: str) -> BatchState:
        """How far a batch is."""
        ...

    async def cancel(self, batch: str) -> None:
        """Have the batch end soon, with what it has."""
        ...

    def result(self, row: Mapping[str, Json]) -> ResultRow:
        """What a line of the results says. Raises DamagedData."""
        ...
