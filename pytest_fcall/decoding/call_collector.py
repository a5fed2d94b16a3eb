"""Calls, faults, notes and prose, collected while a decoder goes through a text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from pytest_fcall.core.reply import Call, Calls
from pytest_fcall.decoding.call_marks import find_mark
from pytest_fcall.decoding.unreadable import Unreadable, dropped_text_note, first_few, joined_faults

ReadCall: TypeAlias = "tuple[Call, Sequence[str]]"
"""A call, and notes on what was read generously."""

MAX_CALLS = 10_000
"""Calls that are still read in one text."""


class CallCollector:
    """Calls, faults, notes and prose, in the order of the text."""

    def __init__(self) -> None:
        self._calls: list[Call] = []
        self._faults: list[str] = []
        self._notes: list[str] = []
        self._prose = ""
        self._mark: str | None = None
        self._attempts = 0

    @property
    def is_full(self) -> bool:
        """Whether no more calls are read."""
        return self._attempts > MAX_CALLS

    def call(self, read: Callable[[], ReadCall]) -> None:
        """Take the call that `read` gives, or the reason why it raises Unreadable."""
        self._attempts += 1
        if self._attempts <= MAX_CALLS:
            self._take(read)
        elif self._attempts == MAX_CALLS + 1:
            self._faults.append(f"There are more than {MAX_CALLS:,} calls; the others were not read.")

    def fault(self, sentence: str) -> None:
        """Take note of something else that was meant as a call."""
        self._faults.append(sentence)

    def note(self, *sentences: str) -> None:
        """Say what was read generously."""
        self._notes.extend(sentences)

    def thought(self, text: str) -> None:
        """Leave out text that is no part of a call; it is worth a note where there are calls."""
        self._prose = self._prose or text.strip()

    def prose(self, text: str) -> None:
        """Leave out text that was said. If it was plainly meant as a call of another format, that is malformed."""
        self.thought(text)
        self._mark = self._mark or find_mark(text)

    def result(self) -> Calls:
        """Everything that was found."""
        beside = dropped_text_note(self._prose) if self._attempts else ()
        other = f"The text holds a tool call ({self._mark}) that this decoder does not read."
        faults = [*self._faults, other] if self._mark else self._faults
        return Calls(tuple(self._calls), joined_faults(faults), first_few((*self._notes, *beside)))

    def _take(self, read: Callable[[], ReadCall]) -> None:
        try:
            call, notes = read()
        except Unreadable as error:
            self._faults.append(f"Call {self._attempts}: {error}.")
        else:
            self._calls.append(call)
            self._notes.extend(f"Call {self._attempts}: {note}" for note in notes)
