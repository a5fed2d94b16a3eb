"""A line on the terminal that shows how far the requests are, while a test waits for a reply."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import nullcontext
from typing import TYPE_CHECKING, Final, TypeVar

import pytest

from pytest_fcall.core.reply import Usage
from pytest_fcall.plugin.settings import settings_of
from pytest_fcall.plugin.terminal import printable
from pytest_fcall.reporting.number_text import cost_text
from pytest_fcall.session.ask.costs import Costs

if TYPE_CHECKING:
    from pytest_fcall.backends.dispatch.job import DispatchProgress
    from pytest_fcall.plugin.live_page import LivePage

LIVE_PAGE: Final = "fcall-live-page"
"""The name by which the page is registered that shows the progress in a browser, in the process that writes it."""

_PATIENCE = 0.5
"""Seconds of waiting before the line is shown."""
_AGAIN = 0.2
_T = TypeVar("_T")


class LiveLine:
    """A line below pytest's own, removed before pytest writes again. `expected` is the number of requests to come."""

    def __init__(self, config: pytest.Config, progress: Callable[[], DispatchProgress], expected: int) -> None:
        reporter = config.pluginmanager.getplugin("terminalreporter")
        # Without pytest's plugin `terminal` there is no writer.
        self._writer = config.get_terminal_writer() if getattr(reporter, "isatty", False) else None
        self._capture = config.pluginmanager.getplugin("capturemanager")
        self._page: LivePage | None = config.pluginmanager.getplugin(LIVE_PAGE)
        self._progress = progress
        self._expected = expected
        self._started = time.monotonic()
        self._costs = Costs(settings_of(config))
        self._spent: float | None = None

    def wait(self, future: Future[_T]) -> _T:
        """Wait for a reply, and show the progress if that takes long.

        Every wait has an end: an interrupt that comes in the instant before a thread falls asleep is seen only when
        the thread wakes.
        """
        if not wait((future,), _PATIENCE).done:
            try:
                while not wait((future,), _AGAIN).done:
                    self._show(self._text(self._progress()))
                    if self._page:
                        self._page.tick()
            finally:
                self._show("")
        return future.result()

    def paid(self, model: str, usage: Usage | None) -> None:
        """Add the cost of a reply."""
        if self._writer and (cost := self._costs.of(model, usage)) is not None:
            self._spent = (self._spent or 0.0) + cost

    def _text(self, now: DispatchProgress) -> str:
        speed = now.done / max(time.monotonic() - self._started, 0.001)
        left = self._expected - now.done - now.failed
        tokens = now.input_tokens + now.output_tokens
        parts = [f"{now.in_flight} in flight", f"{now.done:,} of {max(self._expected, now.submitted):,} done"]
        parts += [f"{now.failed:,} failed"] if now.failed else []
        parts += [f"{now.retried:,} asked again"] if now.retried else []
        parts += [f"{tokens:,} tokens"] if tokens else []
        parts += [cost_text(self._spent, 0)] if self._spent else []
        parts += [f"about {left / speed:.0f} s to go"] if speed and left > 0 else []
        return ", ".join(parts)

    def _show(self, text: str) -> None:
        """Write into the next line and come back, wherever on the screen that is; pytest should not know."""
        if self._writer is None:
            return
        shown = printable(text[: self._writer.fullwidth - 1])
        column = self._writer.width_of_current_line + 1
        screen = getattr(self._writer, "_file")  # noqa: B009  what the writer writes itself it counts as its own
        with self._capture.global_and_fixture_disabled() if self._capture else nullcontext():
            screen.write(f"\n\x1b[2K{shown}\x1b[A\x1b[{column}G")
            screen.flush()
