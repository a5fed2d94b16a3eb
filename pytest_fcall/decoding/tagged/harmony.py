"""The harmony format of gpt-oss: messages with a header each, some of them addressed to a tool."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_fcall.decoding.tagged.bodies import NamedJson
from pytest_fcall.decoding.tagged.family import CallPiece, Form, Piece, TextPiece

_START, _MESSAGE = "<|start|>", "<|message|>"
_END = re.compile(r"<\|(?:end|call|return)\|>|(?=<\|(?:start|channel)\|>)")
_TOKENS = re.compile(r"<\|(?:start|channel|constrain|message|end|call|return)\|>")
_RECIPIENT = re.compile(r"\bto=(?:functions\.)?([^\s<]+)")
_THINKING = re.compile(r"<\|channel\|>\s*+analysis")

HARMONY_CALL = Form(
    opening="to=",
    closing="<|call|>",
    body=NamedJson(head=rf"(?P<name>[^<]++){re.escape(_MESSAGE)}"),
    closing_optional=True,  # servers strip the tokens that end a text
)


def harmony_pieces(text: str) -> Iterator[Piece]:
    """Split a text into its messages. A message with a recipient is a call, whatever its channel."""
    at = 0
    while (header_end := text.find(_MESSAGE, at)) >= 0:
        start = max(text.rfind(_START, at, header_end), at)
        yield from _answer(text[at:start])
        header, content = text[start:header_end], header_end + len(_MESSAGE)
        if header.startswith(_START) and not header.startswith(f"{_START}assistant"):
            yield TextPiece("after_end", text[start:])
            return
        end = _END.search(text, content)
        yield _message(header, text[content : end.start() if end else len(text)])
        at = end.end() if end else len(text)
    if recipient := _RECIPIENT.search(text, at):
        yield CallPiece(f"{recipient[1]}{_MESSAGE}", HARMONY_CALL, closed=False)
    else:
        yield from _answer(text[at:])


def _message(header: str, content: str) -> Piece:
    if recipient := _RECIPIENT.search(header):
        return CallPiece(f"{recipient[1]}{_MESSAGE}{content}", HARMONY_CALL)
    return TextPiece("thinking" if _THINKING.search(header) else "answer", content)


def _answer(text: str) -> Iterator[Piece]:
    if answer := _TOKENS.sub(" ", text).strip():
        yield TextPiece("answer", answer)
