"""Values that wait on the disk, so that a hundred thousand of them take no memory."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from io import BytesIO
from os import SEEK_END
from tempfile import SpooledTemporaryFile
from typing import IO, Any, Final, Generic, TypeVar, cast
from weakref import finalize

from pytest_fcall.traces.record import UnusableRecord

T = TypeVar("T")

_HELD_BYTES: Final = 8 * 2**20
"""So much is held in memory: most sources are smaller, and never touch the disk."""


class Spool(Generic[T]):
    """Values, each at the place that `add` returns. Their file has no name, and is gone when nothing refers to them."""

    def __init__(self, held_bytes: int = _HELD_BYTES) -> None:
        self._file = SpooledTemporaryFile(max_size=held_bytes)  # noqa: SIM115  # closed with the spool
        finalize(self, self._file.close)
        self._shared: list[object] = []
        self._numbers: dict[int, int] = {}
        """The places of the objects in `_shared`, by their identities."""

    def share(self, part: object) -> None:
        """Keep an object in memory that many values have in common, and that is the same one in each of them."""
        self._numbers[id(part)] = len(self._shared)
        self._shared.append(part)

    def add(self, value: T) -> int:
        """Add a value, and return its place. Raises UnusableRecord for one that is nested too deeply."""
        written = BytesIO()
        try:
            _Pickler(written, self._numbers).dump(value)
        except RecursionError:
            raise UnusableRecord("a value is nested too deeply") from None
        place = self._file.seek(0, SEEK_END)
        self._file.write(written.getbuffer())
        return place

    def get(self, place: int) -> T:
        """The value at a place."""
        self._file.seek(place)
        return cast("T", _Unpickler(self._file, self._shared).load())


class _Pickler(pickle.Pickler):
    """Writes dataclasses by the arguments that make them: what they do themselves takes twice as long."""

    def __init__(self, file: IO[bytes], shared: Mapping[int, int]) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._shared = shared

    def persistent_id(self, part: object) -> int | None:
        """The number of a part that is shared."""
        return self._shared.get(id(part))

    def reducer_override(self, part: object) -> Any:
        """The class of a dataclass, and the arguments."""
        kind = type(part)
        if not is_dataclass(kind):
            return NotImplemented
        fields: Sequence[str] = getattr(kind, "__match_args__")  # noqa: B009  # no stub knows it
        return kind, tuple([getattr(part, name) for name in fields])


class _Unpickler(pickle.Unpickler):
    """Reads what `_Pickler` wrote. Nobody else can have written it: the file has no name."""

    def __init__(self, file: IO[bytes], shared: Sequence[object]) -> None:
        super().__init__(file)
        self._shared = shared

    def persistent_load(self, number: int) -> object:
        """The part that is shared."""
        return self._shared[number]
