"""The harmony format: messages with a header each, some of them to a tool."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_fcall.decoding.tagged.bodies import NamedJson
from pytest_fcall.decoding.tagged.family import Form, Piece

_START, _MESSAGE = "<|start|>", "<|message|>"
_END = re.compile(r"<\|(?:end|call|return)\|>|(?=<\|(?:start|channel)\|>)")
_TOKENS = re.compile(r"<\|(?:start|channel|constrain|message|end|call|return)\|>")
_RECIPIENT = re.compile(r"\bto=(?:functions\.)?([^\s<]+)")
_THOUGHT = re.compile(r"<\|channel\|>\s*+analysis")

CALL = Form(
    opening="to=",
    closing="<|call|>",
    body=NamedJson(head=rf"(?P<name>[^<]++){re.escape(_MESSAGE)}"),
    open_ended=True,  # servers strip what ends a text
)


def messages(text: str) -> Iterator[Piece]:
    """Take a text apart into its messages. A recipient makes one a call, in whatever channel it stands."""
    at = 0
    while (behind := text.find(_MESSAGE, at)) >= 0:
        start = max(text.rfind(_START, at, behind), at)
        yield from _said(text[at:start])
        header, content = text[start:behind], behind + len(_MESSAGE)
        if header.startswith(_START) and not header.startswith(f"{_START}assistant"):
            yield Piece("beyond", text[start:])
            return
        end = _END.search(text, content)
        yield _message(header, text[content : end.start() if end else len(text)])
        at = end.end() if end else len(text)
    if recipient := _RECIPIENT.search(text, at):
        yield Piece("call", f"{recipient[1]}{_MESSAGE}", CALL, closed=False)
    else:
        yield from _said(text[at:])


def _message(header: str, content: str) -> Piece:
    if recipient := _RECIPIENT.search(header):
        return Piece("call", f"{recipient[1]}{_MESSAGE}{content}", CALL)
    return Piece("thought" if _THOUGHT.search(header) else "said", content)


def _said(text: str) -> Iterator[Piece]:
    if said := _TOKENS.sub(" ", text).strip():
        yield Piece("said", said)
