"""The page of a run that goes on, in a browser."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from pytest_fcall.core.files import replace_file
from pytest_fcall.reporting.reports.live.page import LiveWriter, Requests, RunProgress
from tests.browser.conftest import Looking
from tests.by_night import by_night
from tests.unit.reporting.reports.examples import HOSTILE, result

Look = Callable[..., Looking]
WRITE = LiveWriter(1.0).write


def state(done: int = 5, **fields: Any) -> RunProgress:
    results = [
        result(f"c{n}", ("passed", "failed", "error")[n % 3], reasons=(("wrong_value", "x"),), cost=0.01, asked=1)
        for n in range(9)
    ]
    known: dict[str, Any] = {
        "written": time.time(),
        "seconds": 60.0,
        "total": 20,
        "results": results,
        "requests": Requests(61, 823, 4, 12),
        "running": [("cases/a.fc.yaml::slow", 75.0)],
        "errors": {f"HTTP {number}": 3 for number in range(500, 530)},
    }
    return RunProgress(done=done, **known | fields)


def rewrite(folder: Path, of: RunProgress) -> None:
    replace_file(folder / "report.html", [each.encode() for each in WRITE(of)])  # whole, whenever it is loaded


@pytest.mark.parametrize("scripts", [True, False])
def test_it_loads_itself_until_the_run_has_ended(look: Look, tmp_path: Path, scripts: bool) -> None:
    page = look(state(), WRITE, java_script_enabled=scripts).page
    expect(page.locator("h1")).to_contain_text("running: 25 %")
    rewrite(tmp_path, state(20, ended=True))
    expect(page.locator("h1")).to_have_text("ended 20 of 20 tests ended")
    loaded: list[str] = []
    page.on("request", lambda request: loaded.append(request.url))
    page.wait_for_timeout(1500)  # longer than from one load to the next: that nothing comes cannot be waited for
    assert loaded == []


def test_the_reader_stays_where_they_were(look: Look, tmp_path: Path) -> None:
    page = look(state(), WRITE, viewport={"width": 600, "height": 300}).page
    page.evaluate("scrollTo(0, 250)")
    rewrite(tmp_path, state(6))
    expect(page.locator("h1")).to_contain_text("running: 30 %")
    page.wait_for_function("scrollY === 250")


def test_loading_can_be_paused_by_the_keyboard(look: Look, tmp_path: Path) -> None:
    page = look(state(), WRITE).page
    button = page.locator("#pause")
    while button.get_attribute("aria-pressed") == "false":
        button.press("Enter")  # which is lost where the page loads itself that moment
    expect(button).to_have_text("go on")
    expect(button).to_have_attribute("aria-pressed", "true")
    rewrite(tmp_path, state(6))
    page.wait_for_timeout(1500)  # that nothing is loaded cannot be waited for
    expect(page.locator("h1")).to_contain_text("running: 25 %")
    button.click()
    expect(page.locator("h1")).to_contain_text("running: 30 %")


def test_a_page_that_was_not_written_for_a_while_says_so(look: Look) -> None:
    page = look(state(written=time.time() - 600), WRITE).page
    expect(page.locator("#stalled")).to_contain_text("the run is gone")
    expect(page.locator("#age")).to_contain_text("s ago")


def test_a_page_that_was_just_written_does_not(look: Look) -> None:
    expect(look(state(), WRITE).page.locator("#stalled")).to_be_hidden()


def test_hostile_text_stays_text(look: Look) -> None:
    page = look(state(errors={HOSTILE: 1}, running=[(HOSTILE, 1.0)], results=[result(model=HOSTILE)]), WRITE).page
    expect(page.locator("main")).to_contain_text("<script>alert(1)</script>")
    assert page.locator("script").count() == 1


@pytest.mark.parametrize("width", [1440, 1024, 390])
def test_nothing_is_wider_than_the_window(look: Look, width: int) -> None:
    page = look(state(), WRITE, viewport={"width": width, "height": 800}).page
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_what_is_printed_has_no_controls(look: Look) -> None:
    page = look(state(), WRITE).page
    page.emulate_media(media="print")
    expect(page.locator("#pause")).to_be_hidden()


@pytest.mark.parametrize(
    ("scheme", "ended"), [("light", False), ("dark", True), by_night("light", True), by_night("dark", False)]
)
def test_axe_finds_no_violation(look: Look, scheme: str, ended: bool) -> None:
    from axe_playwright_python.sync_playwright import Axe

    looking = look(state(ended=ended, written=time.time() - 600), WRITE, color_scheme=scheme)
    looking.go("#paused")
    found: Any = Axe().run(looking.page)
    assert found.violations_count == 0, found.generate_report()
