"""Ending a test in words, without a traceback."""

from __future__ import annotations

import sys
from typing import NoReturn

import pytest

from pytest_fcall.reporting.terminal import encodable_text


def terminal_encoding() -> str:
    """The encoding in which this run is printed. pytest would fold what it cannot encode into one long line."""
    return getattr(sys.__stdout__, "encoding", None) or "utf-8"


def fail(text: str) -> NoReturn:
    """End the test: in a set-up this is an error, in a call a failure.

    What is being handled meanwhile is not shown beside it: the text says it all. This frame is not hidden: where all
    are, pytest adds a hint that there is more to see.
    """
    raise pytest.fail.Exception(encodable_text(terminal_encoding(), text), pytrace=False) from None


def without_our_frames(error: BaseException) -> BaseException:
    """Cut a traceback down to what lies below our own code, if anything does."""
    below = here = error.__traceback__
    while here is not None:
        if str(here.tb_frame.f_globals.get("__name__", "")).startswith("pytest_fcall."):
            below = here.tb_next
        here = here.tb_next
    return error.with_traceback(below or error.__traceback__)
