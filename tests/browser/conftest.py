"""Pages of reports and of the documentation in Chromium. No network is there, and no page may ask for any of it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.pages import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Page

if find_spec("playwright") is None:
    collect_ignore_glob = ["test_*.py"]

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
"""Without a sandbox, which root may not have; the pages are ours, and Chromium is to look nothing up by itself."""

MILLISECONDS = 60_000
"""So long something may take to appear on a page: other work goes on beside these tests, on few cores."""


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=MILLISECONDS)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The documentation as a site."""
    folder = tmp_path_factory.mktemp("site")
    strictly = ["--fail-on-warning", "--keep-going", "--quiet"]
    command = [sys.executable, "-m", "sphinx", *strictly, "-c", "docs/site", "-d", f"{folder}/pages", "docs"]
    done = subprocess.run([*command, f"{folder}/html"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "html"


class Looking:
    """A page that is looked at, and what went wrong meanwhile."""

    def __init__(self, page: Page, address: str, start: str = "#/") -> None:
        self.page = page
        self.address = address
        self.troubles: list[str] = []
        page.on("console", lambda message: self.troubles.append(message.text))
        page.on("pageerror", lambda error: self.troubles.append(str(error)))
        page.on("dialog", self._dismiss)
        page.on("request", lambda request: self._note_request(request.url))
        self.go(start)

    def _note_request(self, address: str) -> None:
        if not address.startswith(self.address):
            self.troubles.append(f"asked for {address}")

    def _dismiss(self, dialog: Dialog) -> None:
        self.troubles.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def go(self, fragment: str) -> None:
        """Go to a view of the page, or to a page below the address."""
        self.page.goto(self.address + fragment)


@pytest.fixture
def look(browser: Browser, tmp_path: Path) -> Iterator[Callable[..., Looking]]:
    """Write something as a page, a report unless another writer is named, and open it.

    There must be no trouble at the end.
    """
    from pytest_fcall.reporting.reports.page import page

    opened: list[Looking] = []

    def look_at(shown: Any, write: Callable[[Any], Iterator[str]] = page.write, **settings: object) -> Looking:
        path = tmp_path / "report.html"
        path.write_text("".join(write(shown)), encoding="utf-8")
        context = browser.new_context(**{"viewport": {"width": 1440, "height": 1000}} | settings)
        opened.append(Looking(context.new_page(), path.as_uri()))
        return opened[-1]

    yield look_at
    for each in opened:
        each.page.context.close()
    assert [trouble for each in opened for trouble in each.troubles] == []
