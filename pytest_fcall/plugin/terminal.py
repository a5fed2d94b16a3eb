"""The terminal of a run: its width, what it can print, and the end of a test in words that it shows."""

from __future__ import annotations

import sys
from typing import Final, NoReturn

import pytest

from pytest_fcall.session.endings import CaseEnded, CaseSkipped

_WIDTH: Final = pytest.StashKey[int]()
_USUAL_WIDTH: Final = 80
"""The width where nothing is printed."""


def end_test(ended: CaseEnded) -> NoReturn:
    """End the test in pytest's terms: a failure, which is an error in a set-up, or a skip.

    There is no traceback, for the text says it all. This frame must not be hidden: where all frames are, pytest adds
    a hint that there is more to see.
    """
    text = printable(str(ended))
    if isinstance(ended, CaseSkipped):
        raise pytest.skip.Exception(text) from None
    raise pytest.fail.Exception(text, pytrace=False) from None


def printable(text: str) -> str:
    """The text as this terminal can print it, and obeys nothing of it.

    pytest would fold what a terminal cannot encode into one long line.
    """
    from pytest_fcall.reporting.safe_text import laid_out
    from pytest_fcall.reporting.terminal import encodable_text

    return encodable_text(terminal_encoding(), laid_out(text))


def find_terminal_width(config: pytest.Config) -> None:
    """Note the width of the terminal, as long as output goes there: where it is captured, nobody knows the width."""
    given: int | None = getattr(config, "workerinput", {}).get("fcall_width")
    has_terminal = config.pluginmanager.has_plugin("terminalreporter")
    config.stash[_WIDTH] = given or (config.get_terminal_writer().fullwidth if has_terminal else _USUAL_WIDTH)


def terminal_width(config: pytest.Config) -> int:
    """The width of the terminal in which this run is printed, also for a worker."""
    return config.stash[_WIDTH]


def verbosity(config: pytest.Config) -> int:
    """The number of `-v` less that of `-q`; 0 where nothing is printed, since pytest then knows neither."""
    return int(config.getoption("verbose", 0))


def terminal_encoding() -> str:
    """The encoding in which this run is printed."""
    return getattr(sys.__stdout__, "encoding", None) or "utf-8"
