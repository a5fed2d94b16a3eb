"""Collects calls, faults, notes and prose while a decoder reads a text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from pytest_fcall.core.reply import MAX_CALLS, TOO_MANY_CALLS, Call, Calls
from pytest_fcall.decoding.call_marks import find_mark
from pytest_fcall.decoding.unreadable import Unreadable, first_few, joined_faults, shortened

ReadCall: TypeAlias = "tuple[Call, Sequence[str]]"
"""A call, and notes on what was read leniently."""


class CallCollector:
    """Collects what a decoder finds, in the order of the text."""

    def __init__(self) -> None:
        self._calls: list[Call] = []
        self._faults: list[str] = []
        self._notes: list[str] = []
        self._prose = ""
        self._mark: str | None = None
        self._attempts = 0

    @property
    def is_full(self) -> bool:
        """Whether the limit of calls is exceeded."""
        return self._attempts > MAX_CALLS

    def add_call(self, read: Callable[[], ReadCall]) -> None:
        """Add the call that `read` returns, or a fault where it raises Unreadable."""
        self._attempts += 1
        if self._attempts > MAX_CALLS:
            if self._attempts == MAX_CALLS + 1:
                self._faults.append(TOO_MANY_CALLS)
            return
        try:
            call, notes = read()
        except Unreadable as error:
            self._faults.append(f"Call {self._attempts}: {error}.")
        else:
            self._calls.append(call)
            self._notes.extend(f"Call {self._attempts}: {note}" for note in notes)

    def add_fault(self, sentence: str) -> None:
        """Add a fault of something that was meant as a call."""
        self._faults.append(sentence)

    def add_note(self, *sentences: str) -> None:
        """Add notes on what was read leniently."""
        self._notes.extend(sentences)

    def skip_thinking(self, text: str) -> None:
        """Skip text in which calls are not looked for. The result notes it where there are calls."""
        self._prose = self._prose or text.strip()

    def skip_prose(self, text: str) -> None:
        """Skip text of the answer. A call of another format in it makes the result malformed."""
        self.skip_thinking(text)
        self._mark = self._mark or find_mark(text)

    def result(self) -> Calls:
        """Give everything that was collected."""
        faults, notes = self._faults, self._notes
        if self._mark:
            faults = [*faults, f"The text contains a tool call ({self._mark}) that this decoder does not read."]
        if self._attempts and self._prose:
            notes = [*notes, f"Text beside the calls was dropped: {shortened(self._prose)}."]
        return Calls(tuple(self._calls), joined_faults(faults), first_few(notes))
