"""The argument parser of a command, and types of arguments that commands share."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter
from collections.abc import Callable


def command_parser(command: str, description: str, examples: str, usage: str | None = None) -> ArgumentParser:
    """The parser of `fcall COMMAND`, without its arguments."""
    return ArgumentParser(
        prog=f"fcall {command}",
        usage=usage,
        description=description,
        epilog=examples,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def whole_number(most: int) -> Callable[[str], int]:
    """The type of an argument that is an integer from 1 to `most`."""

    def parse(text: str) -> int:
        if not text.isdecimal() or not 1 <= int(text) <= most:
            raise ArgumentTypeError(f"must be an integer from 1 to {most}, not {text!r}")
        return int(text)

    return parse
