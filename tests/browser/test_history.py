"""The page of a history in a browser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from pytest_fcall.reporting.history import HistoryChange, KeptRun, RunHistory
from pytest_fcall.reporting.reports.history.page import write
from pytest_fcall.reporting.results import Result
from tests.browser.conftest import Looking
from tests.by_night import by_night
from tests.unit.reporting.reports.examples import HOSTILE, result

Look = Callable[..., Looking]

RUN = "#run-20261102-090000-aaaa"
"""The address of the second run, within the page."""


def run(day: int, *results: Result, **fields: Any) -> KeptRun:
    return KeptRun(f"202611{day:02}-090000-aaaa", f"2026-11-{day:02}T09:00:00+00:00", results, **fields)


@pytest.fixture
def three() -> RunHistory:
    """Three runs of two models, with something of everything."""

    def cases(right: int, **fields: Any) -> list[Result]:
        return [
            result(f"c{n}", "passed" if n < right else "failed", model=m, seconds=1.0 + n, cost=0.01 * n, **fields)
            for m in ("m", "n")
            for n in range(8)
        ]

    changes = [HistoryChange("prompt", "the system prompt changed", 8), HistoryChange("engine", "vllm: '1' → '2'", 8)]
    runs = [
        run(1, *cases(5), provenance={"commit": "a" * 40, "branch": "main"}),
        run(2, *cases(7), changes=changes, report="report.html"),
        run(3, *cases(4, reasons=(("wrong_value", "calls[0].args.city"),)), result("riga", "error"), asked=False),
    ]
    return RunHistory(runs, remarks=["ci/broken.json: not a run file"])


def path_of(looking: Looking) -> str:
    return str(looking.page.url).partition("#")[2]


def test_the_charts_and_the_runs_are_there_without_scripts(look: Look, three: RunHistory) -> None:
    page = look(three, write, java_script_enabled=False).page
    assert page.locator("svg.lines").count() == 3
    for text in ("ci/broken.json: not a run file", "the system prompt changed (8 cases)", "4 wrong before, right now"):
        expect(page.locator("main")).to_contain_text(text)
    expect(page.locator("article.run")).to_have_count(3)
    expect(page.get_by_text("needs JavaScript")).to_be_visible()
    expect(page.get_by_text("Select a run")).to_be_hidden()


def test_a_run_is_selected_in_the_table_and_says_what_changed(look: Look, three: RunHistory) -> None:
    page = look(three, write).page
    expect(page.locator("article.run:visible")).to_have_count(0)
    page.locator("#overview").get_by_role("link", name="2026-11-03 09:00").click()
    article = page.locator("article.run:visible")
    expect(article).to_contain_text("6 right before, wrong now")
    expect(article.locator("[role=status]")).to_have_text("17 of 17 results")
    article.get_by_label("show").select_option("changed since the run before")
    expect(article.locator("[role=status]")).to_have_text("6 of 17 results")
    expect(article.locator("tbody tr").last).to_contain_text("wrong_value")
    article.get_by_label("show").select_option("all")
    article.get_by_label("search").fill("riga")
    expect(article.locator(".found tbody tr")).to_have_count(1)
    expect(page.locator("#overview")).to_be_hidden()


def test_a_run_is_selected_in_a_chart(look: Look, three: RunHistory) -> None:
    looking = look(three, write)
    looking.page.locator("svg.lines").first.locator(".column").nth(1).click()
    assert path_of(looking) == "run-20261102-090000-aaaa"
    expect(looking.page.get_by_role("link", name="report of this run")).to_be_visible()


def test_the_address_of_a_run_opens_it(look: Look, three: RunHistory) -> None:
    looking = look(three, write)
    looking.page.goto("about:blank")
    looking.go("#run-20261101-090000-aaaa")
    expect(looking.page.locator("article.run:visible")).to_contain_text("aaaaaaaa")
    looking.page.get_by_role("link", name="History", exact=True).click()
    expect(looking.page.locator("#overview")).to_be_visible()


def test_the_keyboard_is_enough(look: Look, three: RunHistory) -> None:
    looking = look(three, write)
    page = looking.page
    page.get_by_role("link", name="Last run").focus()
    page.keyboard.press("Enter")
    expect(page.locator("article.run:visible")).to_be_focused()
    for key, run_id in (("ArrowLeft", "02"), ("ArrowLeft", "01"), ("ArrowLeft", "01"), ("ArrowRight", "02")):
        page.keyboard.press(key)
        expect(page.locator("article.run:visible h2")).to_contain_text(f"2026-11-{run_id}")
    page.keyboard.press("Escape")
    expect(page.locator("#overview")).to_be_visible()


@pytest.mark.parametrize("width", [1440, 1024, 390])
@pytest.mark.parametrize("fragment", ["", RUN])
def test_nothing_is_wider_than_the_window(look: Look, three: RunHistory, width: int, fragment: str) -> None:
    looking = look(three, write, viewport={"width": width, "height": 800})
    looking.go(fragment)
    expect(looking.page.locator("main")).to_be_visible()
    assert looking.page.evaluate("document.documentElement.scrollWidth") <= width


def test_names_in_a_chart_are_within_it(look: Look, three: RunHistory) -> None:
    page = look(three, write).page
    edge = page.evaluate("document.querySelector('svg.lines').getBoundingClientRect().right")
    names = page.evaluate("[...document.querySelectorAll('svg.lines')][0].querySelectorAll('.name').length")
    rights = page.evaluate(
        "[...document.querySelector('svg.lines').querySelectorAll('.name')].map(e => e.getBoundingClientRect().right)"
    )
    assert names == 2
    assert max(rights) <= edge


def test_what_is_printed_has_the_charts_and_no_controls(look: Look, three: RunHistory) -> None:
    page = look(three, write).page
    page.emulate_media(media="print")
    expect(page.locator("nav")).to_be_hidden()
    expect(page.locator("svg.lines").first).to_be_visible()


@pytest.mark.parametrize("opened", [False, True])
def test_hostile_text_stays_text(look: Look, opened: bool) -> None:
    wrong = result(HOSTILE, model=HOSTILE, category=HOSTILE, file=HOSTILE, reasons=((HOSTILE, HOSTILE),), seconds=1.0)
    made = run(
        1,
        wrong,
        changes=[HistoryChange("tools", HOSTILE, 1)],
        provenance={HOSTILE: HOSTILE, "commit": HOSTILE, "branch": HOSTILE},
        origin=HOSTILE,
        path=HOSTILE,
    )
    looking = look(RunHistory([made, run(2, wrong)], True, [HOSTILE]), write)
    if opened:
        looking.go("#run-20261101-090000-aaaa")
        expect(looking.page.locator(".found")).to_contain_text("<script>alert(1)</script>")
    expect(looking.page.locator("main")).to_contain_text("<script>alert(1)</script>")
    assert looking.page.locator("script").count() == 2


@pytest.mark.parametrize(
    ("scheme", "fragment"),
    [("light", ""), ("dark", RUN), by_night("light", RUN), by_night("dark", "")],
)
def test_axe_finds_no_violation(look: Look, three: RunHistory, fragment: str, scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    looking = look(three, write, color_scheme=scheme)
    looking.go(fragment)
    if fragment:
        expect(looking.page.locator(".found:visible")).to_be_visible()
    found: Any = Axe().run(looking.page)
    assert found.violations_count == 0, found.generate_report()


def test_a_hundred_runs_of_a_thousand_cases_open_at_once(look: Look) -> None:
    runs = [
        KeptRun(f"{day:03}", f"2026-01-01T{day // 60:02}:{day % 60:02}", [
            result(f"case {n}", "passed" if (n * day) % 11 else "failed", seconds=0.1 * n) for n in range(1000)
        ])
        for day in range(100)
    ]  # fmt: skip
    looking = look(RunHistory(runs), write)
    assert looking.page.evaluate("document.documentElement.outerHTML.length") < 3_000_000
    looking.go("#run-099")
    article = looking.page.locator("article.run:visible")
    expect(article.locator(".found tbody tr")).to_have_count(500)
    article.get_by_role("button", name="show more").click()
    expect(article.locator(".found tbody tr")).to_have_count(1000)
