"""The interface that the store needs of a database, common to all kinds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future
from enum import Enum
from pathlib import Path
from types import MappingProxyType, UnionType
from typing import Any, NamedTuple, Protocol, TypeAlias

from pytest_fcall.backends.processes.ledger import Ledger
from pytest_fcall.backends.store.rows import RecordingRow, Tools

_Columns: TypeAlias = tuple[type | UnionType, ...]
_REPLY: _Columns = (str, str, str, int, float | int, str, bytes, int)


class RowSelection(Enum):
    """Rows that the store reads, each kind of database by SQL of its own."""

    LOAD = "load", _REPLY
    """Of a list of digests."""
    FIND = "find", _REPLY
    """Of a digest, recorded since."""
    NEAREST = "nearest", _REPLY
    """Of a model, file and case, nearest to a sample."""
    FILES = "files", (str, str)
    """Models and files, sorted; of a model or None, of a file or None."""
    REPLIES_OF_FILE = "replies of a file", (str, str, *_REPLY)
    """Case and digest, and the reply, sorted; of a model and file, after a case and digest, some at a time."""
    CASES = "cases", (str, str)
    """Files and cases that use replies."""
    LAST_USES = "last uses", (str, str)
    """Cases and digests, of a model and file."""
    STATS = "stats", (str, int, int, float | int, float | int)

    def is_whole(self, row: Sequence[object]) -> bool:
        """Whether the row is one as we write them: in a damaged file any value may be anywhere."""
        _, types = self.value
        return all(map(isinstance, row, types))


Use: TypeAlias = tuple[str, str, str, str, int]
"""Model, file, case, digest, and the number of the run; 0 where no run is known that used the reply."""


class StoreError(Exception):
    """The store cannot be read or written. The text is one line for people."""


class CaseOfFile(NamedTuple):
    """A case that uses replies."""

    file: str
    case: str


class NewRows(NamedTuple):
    """Rows to be written together."""

    replies: Sequence[RecordingRow] = ()
    catalogues: Mapping[str, Tools] = MappingProxyType({})
    """The tools of the replies, by their digests."""
    uses: Sequence[Use] = ()
    answered: Sequence[str] = ()
    """The digests of requests that nobody needs to claim any more."""


class ClaimResult(NamedTuple):
    """The result of a claim."""

    ours: bool
    """Whether the request may be sent, by this process and nobody else."""
    replies: Sequence[tuple[Any, ...]]
    """The reply that was there by then, as a row of `RowSelection.FIND`; meaningless where the claim is not ours."""


class Database(Protocol):
    """Keeps rows for many threads and processes. All methods raise StoreError.

    A database is opened at first use. After a fork, the child has a connection of its own.
    """

    @property
    def place(self) -> str:
        """The place of the rows, in words for people."""
        ...

    @property
    def folder(self) -> Path:
        """The folder for files of replies that the database cannot take; it takes them in from there."""
        ...

    @property
    def exists(self) -> bool:
        """Whether there may be something to read."""
        ...

    @property
    def size(self) -> int:
        """The bytes that it takes up."""
        ...

    def now(self) -> float:
        """The time that all who share the database have, in seconds since 1970."""
        ...

    def select(self, selection: RowSelection, *values: object) -> list[tuple[Any, ...]]:
        """The rows of a selection, for these values."""
        ...

    def tools(self, catalogue: str) -> Tools:
        """The tools of a catalogue, by its digest. Raises DamagedData if it is missing or was changed, too."""
        ...

    def put(self, rows: NewRows) -> None:
        """Write rows in the place of earlier ones; they outlive this process when this returns."""
        ...

    def put_newer(self, rows: NewRows) -> int:
        """Write replies where they are newer, and uses where there are none, and return how many replies were."""
        ...

    def move(self, file: str, new_file: str, case: str | None, new_case: str | None) -> None:
        """Have the replies of a file, or of one of its cases, belong to another one."""
        ...

    def prune(self, wanted: Callable[[str], bool], before: float | None, gone: Collection[CaseOfFile]) -> int:
        """Delete what `ReplyStore.prune` says, and return the number of replies."""
        ...

    @property
    def remote(self) -> RemoteDatabase | None:
        """The database itself if it is on another machine, for which no event loop should wait."""
        ...

    def claim(self, digest: str, owner: str, since: float) -> ClaimResult:
        """Claim a request for `owner`, in this process; look for a reply that was recorded since, after that."""
        ...

    def release(self, digest: str, owner: str) -> None:
        """End the claim if `owner`, in this process, holds it."""
        ...

    def try_out(self) -> None:
        """Open the database, and write to it."""
        ...

    def take_in(self, rescued: Path) -> int:
        """Take in a file of replies, remove it, and return the number of its replies. Raises OSError, too."""
        ...

    def ledger(self, run: str, /) -> Ledger:
        """The ledger of a run, or one that all runs share."""
        ...

    def close(self) -> None:
        """End the claims of this process, and let go of what was opened. The next call opens it again."""
        ...


class RemoteDatabase(Protocol):
    """Does what is submitted in a thread of its own, in this order; of one kind, as much at a time as there is."""

    def submit_claim(self, digest: str, owner: str, since: float) -> Future[ClaimResult]:
        """Begin `Database.claim`. The future raises StoreError."""
        ...

    def submit_release(self, digest: str, owner: str) -> None:
        """Begin `Database.release`. A claim that cannot be ended ends with this process."""
        ...
