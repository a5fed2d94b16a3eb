"""The argument parser of a command, and types of arguments that commands share."""

from __future__ import annotations

import re
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


def percentage(text: str) -> float:
    """The type of an argument that is a share between 0 and 100 %: `5%` or `0.05`. Raises ArgumentTypeError."""
    found = re.fullmatch(r"(\d{1,2}(?:\.\d{1,6})?) ?%|(0?\.\d{1,8})", text, re.ASCII)
    share = 0.0 if found is None else float(found[1]) / 100 if found[1] else float(found[2])
    if not 0 < share < 1:
        raise ArgumentTypeError(f"must be a share such as 5% or 0.05, not {text!r}")
    return share
