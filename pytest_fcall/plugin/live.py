"""One line on a terminal that says how the asking goes, while somebody waits for it."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import TYPE_CHECKING, TypeVar

import pytest

from pytest_fcall.plugin.words import terminal_encoding
from pytest_fcall.reporting.marks import escaped_for

if TYPE_CHECKING:
    from pytest_fcall.backends.dispatch import Figures

_PATIENCE = 0.5
"""Seconds of waiting that need no word."""
_AGAIN = 0.2
_T = TypeVar("_T")


class LiveLine:
    """Written below pytest's own line, and gone before pytest writes again."""

    def __init__(self, config: pytest.Config, figures: Callable[[], Figures]) -> None:
        reporter = config.pluginmanager.getplugin("terminalreporter")
        self._writer = config.get_terminal_writer()
        self._figures = figures
        self._started = time.monotonic()
        self._shows = bool(getattr(reporter, "isatty", False))

    def wait(self, future: Future[_T]) -> _T:
        """Wait for what is asked for, and show how it goes if that takes long."""
        if self._shows and not wait((future,), _PATIENCE).done:
            try:
                while not wait((future,), _AGAIN).done:
                    self._below(self._text(self._figures()))
            finally:
                self._below("")
        return future.result()

    def _text(self, now: Figures) -> str:
        speed = now.done / max(time.monotonic() - self._started, 0.001)
        tokens = now.input_tokens + now.output_tokens
        parts = [f"{now.in_flight} in flight", f"{now.done} done"]
        parts += [f"{now.failed} failed"] if now.failed else []
        parts += [f"{now.retried} asked again"] if now.retried else []
        parts += [f"{tokens:,} tokens"] if tokens else []
        parts += [f"{speed:.1f} a second"] if now.done else []
        return escaped_for(terminal_encoding(), ", ".join(parts)[: self._writer.fullwidth - 1])

    def _below(self, text: str) -> None:
        """Write into the next line and come back, wherever on the screen that is; pytest should not know."""
        column = self._writer.width_of_current_line + 1
        screen = getattr(self._writer, "_file")  # noqa: B009  what the writer writes itself it counts as its own
        screen.write(f"\n\x1b[2K{text}\x1b[A\x1b[{column}G")
        screen.flush()
