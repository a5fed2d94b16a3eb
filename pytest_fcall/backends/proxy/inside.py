"""What an app has asked of models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, overload

from pytest_fcall.backends.forms.reading import read
from pytest_fcall.backends.recorded import Unread
from pytest_fcall.core import Inner


class _Unread(NamedTuple):
    model: str
    priced_as: str
    entry: Unread


class Inside(Sequence[Inner]):
    """The requests of an app in the order in which answers were there, each read when somebody first looks at it.

    It grows while the app is at work, which does not wait for the reading.
    """

    def __init__(self) -> None:
        self._told: list[Inner | _Unread] = []

    def __len__(self) -> int:
        return len(self._told)

    @overload
    def __getitem__(self, index: int) -> Inner: ...

    @overload
    def __getitem__(self, index: slice) -> list[Inner]: ...

    def __getitem__(self, index: int | slice) -> Inner | list[Inner]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        told = self._told[index]
        if isinstance(told, _Unread):
            entry = read(told.entry)
            told = self._told[index] = Inner(told.model, entry.request, entry.reply, told.priced_as)
        return told

    def add(self, inner: Inner) -> None:
        """Note a request that was answered from a recording."""
        self._told.append(inner)

    def add_unread(self, model: str, priced_as: str, entry: Unread) -> None:
        """Note a request that a provider has just answered; of whom, and of whom for prices, as in `Inner`."""
        self._told.append(_Unread(model, priced_as, entry))
