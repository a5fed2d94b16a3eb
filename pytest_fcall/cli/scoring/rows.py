"""The rows to be judged, in handy portions."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path

from pytest_fcall.suites.json_lines import BrokenFile, lines, plain

_MOST_LINES = 64
_MOST_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Portion:
    """Some lines of a file, which follow one another.

    `broken` says why the file cannot be read beyond them.
    """

    file: str
    first: int
    lines: tuple[bytes, ...]
    broken: str | None = None


def check(parser: ArgumentParser, files: Sequence[str]) -> None:
    """End the program through `parser` where a file cannot be opened, before anything is judged."""
    if files.count("-") > 1:
        parser.error("standard input (-) can be read only once")
    for name in files:
        try:
            with _file(name):
                pass
        except OSError as error:
            parser.error(f"cannot read {_title(name)}: {error.strerror}")


def portions(files: Iterable[str]) -> Iterator[Portion]:
    """Cut the lines of all files into portions."""
    for name in files:
        with _file(name) as file, plain(file) as stream:
            yield from _portions(_title(name), stream)


def _file(name: str) -> BufferedReader:
    return open(0, "rb", closefd=False) if name == "-" else Path(name).open("rb")


def _title(name: str) -> str:
    return "standard input" if name == "-" else name


def _portions(name: str, stream: Iterable[bytes]) -> Iterator[Portion]:
    first, taken, size = 1, list[bytes](), 0
    broken: str | None = None
    try:
        for line in lines(stream):
            taken.append(line)
            size += len(line)
            if len(taken) >= _MOST_LINES or size >= _MOST_BYTES:
                yield Portion(name, first, tuple(taken))
                first, taken, size = first + len(taken), [], 0
    except BrokenFile as error:
        broken = str(error)
    if taken or broken:
        yield Portion(name, first, tuple(taken), broken)
