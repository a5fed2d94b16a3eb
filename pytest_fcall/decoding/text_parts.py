"""The parts of a model's text: thinking, answer, end tokens and fenced blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

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
_END_TOKEN_RUNS = re.compile(rf"(?:(?:{'|'.join(map(re.escape, END_TOKENS))})\s*+)++")
_THINKING_TAG, _THINKING_CLOSE = "<think>", "</think>"
_THINKING_END = re.compile(rf"{_THINKING_CLOSE}(?=\s|\Z)")


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
