"""Fenced blocks in Markdown text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

FENCE = "```"
_ONE_LINE = re.compile(r"`{3,}(?:(\w+)[ \t]+)?([^`]+)`{3,}")


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of text: a fenced block with the word behind its fence, or what stands outside (`info` None)."""

    text: str
    info: str | None = None
    closed: bool = True


def pieces(text: str) -> Iterator[Piece]:
    """Take text apart into blocks and what stands between them. Takes linear time.

    Models close a block at the end of its last line as often as on a line of its own; both are read.
    """
    info: str | None = None
    held: list[str] = []
    for line in text.split("\n"):
        bare = line.strip()
        if info is not None:
            if bare.endswith(FENCE):
                yield Piece("\n".join([*held, bare.rstrip("`")]), info)
                info, held = None, []
            else:
                held.append(line)
        elif not bare.startswith(FENCE):
            held.append(line)
        else:
            if held:
                yield Piece("\n".join(held))
            held = []
            if whole := _ONE_LINE.fullmatch(bare):
                yield Piece(whole[2], (whole[1] or "").lower())
            else:
                info = bare.lstrip("`").strip().lower()
    if held or info is not None:
        yield Piece("\n".join(held), info, closed=info is None)
