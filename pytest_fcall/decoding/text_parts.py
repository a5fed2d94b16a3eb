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
"""Tokens that end a model's turn. Most servers strip them; what stands behind one is not the model's answer."""

_END_TOKEN_RUNS = re.compile(rf"(?:(?:{'|'.join(map(re.escape, END_TOKENS))})\s*+)++")
_THINKING_TAG, _THINKING_CLOSE = "<think>", "</think>"
_THINKING_END = re.compile(rf"{_THINKING_CLOSE}(?=\s|\Z)")


def split_thinking(text: str) -> tuple[str, str]:
    """Give what was thought and what was answered, the tokens behind it left out. Takes linear time.

    Many prompts end with the opening tag, so that it may be missing; an end that is missing leaves no answer.
    """
    text = _without_end_tokens(text)
    if text.lstrip().startswith(_THINKING_TAG):
        end = text.find(_THINKING_CLOSE)
        answer = end + len(_THINKING_CLOSE) if end >= 0 else len(text)
    else:
        found = _THINKING_END.search(text)
        answer = found.end() if found else 0
    return text[:answer], text[answer:]


def _without_end_tokens(text: str) -> str:
    """Leave out the tokens, and the white space among them, that end a text. Takes linear time."""
    if not text.rstrip().endswith(END_TOKENS):
        return text
    return text[: [run.start() for run in _END_TOKEN_RUNS.finditer(text)][-1]]


FENCE = "```"
_ONE_LINE_BLOCK = re.compile(r"`{3,}(?:(\w+)[ \t]+)?([^`]+)`{3,}")


@dataclass(frozen=True, slots=True)
class MarkdownPiece:
    """A run of text: a fenced block with the word behind its fence, or what stands outside (`info` None)."""

    text: str
    info: str | None = None
    closed: bool = True


def markdown_pieces(text: str) -> Iterator[MarkdownPiece]:
    """Take text apart into blocks and what stands between them. Takes linear time.

    Models close a block at the end of its last line as often as on a line of its own; both are read.
    """
    info: str | None = None
    held: list[str] = []
    for line in text.split("\n"):
        bare = line.strip()
        if info is not None:
            if bare.endswith(FENCE):
                yield MarkdownPiece("\n".join([*held, bare.rstrip("`")]), info)
                info, held = None, []
            else:
                held.append(line)
        elif not bare.startswith(FENCE):
            held.append(line)
        else:
            if held:
                yield MarkdownPiece("\n".join(held))
            held = []
            if whole := _ONE_LINE_BLOCK.fullmatch(bare):
                yield MarkdownPiece(whole[2], (whole[1] or "").lower())
            else:
                info = bare.lstrip("`").strip().lower()
    if held or info is not None:
        yield MarkdownPiece("\n".join(held), info, closed=info is None)
