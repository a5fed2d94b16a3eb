"""The text of a model as decoders read it: its parts, and a collector of what is found in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from pytest_fcall.core.reply import MAX_CALLS, TOO_MANY_CALLS, Call, Calls
from pytest_fcall.decoding.call_marks import find_mark
from pytest_fcall.decoding.unreadable_text import Unreadable, first_few, joined_faults, quote_short

END_TOKENS = (
    "<|im_end|>",
    "</s>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|eot|>",
    "<|eom|>",
    "<|end|>",
    "<|end_of_text|>",
    "<|endoftext|>",
    "<|user|>",
    "<|observation|>",
    "<｜end▁of▁sentence｜>",
    "<end_of_turn>",
    "<start_function_response>",
    "<turn|>",
    "<|tool_response>",
    "<eos>",
)
"""Tokens that end a model's turn. Most servers strip them; text after one is not the model's answer."""

FENCE = "```"
"""The opening and the closing of a block in Markdown."""

_ONE_LINE_BLOCK = re.compile(r"`{3,}(?:(\w+)[ \t]+)?([^`]+)`{3,}")
_END_TOKEN_RUNS = re.compile(rf"(?>(?:(?:{'|'.join(map(re.escape, END_TOKENS))})\s*+)+)")
_THINKING_TAG, _THINKING_CLOSE = "<think>", "</think>"
_THINKING_END = re.compile(rf"{_THINKING_CLOSE}(?=\s|\Z)")
ReadCall: TypeAlias = "tuple[Call, Sequence[str]]"
"""A call, and notes on what was read leniently."""


def split_thinking(text: str) -> tuple[str, str]:
    """Give the thinking and the answer, without the end tokens. Takes linear time.

    Many prompts end with the opening tag, so that the text may lack it. Without the closing tag there is no answer.
    """
    text = _without_end_tokens(text)
    if text.lstrip().startswith(_THINKING_TAG):
        end = text.find(_THINKING_CLOSE)
        answer = end + len(_THINKING_CLOSE) if end >= 0 else len(text)
    else:
        closing = _THINKING_END.search(text)
        answer = closing.end() if closing else 0
    return text[:answer], text[answer:]


def _without_end_tokens(text: str) -> str:
    """Give a text without the end tokens, and the white space between them, at its end. Takes linear time."""
    if not text.rstrip().endswith(END_TOKENS):
        return text
    return text[: [run.start() for run in _END_TOKEN_RUNS.finditer(text)][-1]]


@dataclass(frozen=True, slots=True)
class MarkdownPiece:
    """A fenced block, or text outside of blocks."""

    text: str
    info: str | None = None
    """The word after the opening fence, None outside of blocks."""
    closed: bool = True


def markdown_pieces(text: str) -> Iterator[MarkdownPiece]:
    """Split text into fenced blocks and the text between them. Takes linear time.

    A block may be closed at the end of its last line or on a line of its own: models write both.
    """
    info: str | None = None
    lines: list[str] = []
    for line in text.split("\n"):
        bare = line.strip()
        if info is not None:
            if bare.endswith(FENCE):
                yield MarkdownPiece("\n".join([*lines, bare.rstrip("`")]), info)
                info, lines = None, []
            else:
                lines.append(line)
        elif not bare.startswith(FENCE):
            lines.append(line)
        else:
            if lines:
                yield MarkdownPiece("\n".join(lines))
            lines = []
            if block := _ONE_LINE_BLOCK.fullmatch(bare):
                yield MarkdownPiece(block[2], (block[1] or "").lower())
            else:
                info = bare.lstrip("`").strip().lower()
    if lines or info is not None:
        yield MarkdownPiece("\n".join(lines), info, closed=info is None)


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
            notes = [*notes, f"Text beside the calls was dropped: {quote_short(self._prose)}."]
        return Calls(tuple(self._calls), joined_faults(faults), first_few(notes))
