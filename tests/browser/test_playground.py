"""The playground, which judges in the browser what pytest would judge, on a server with a policy for scripts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Looking

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

POLICY = (
    "default-src 'none'; connect-src 'self'; font-src 'self'; img-src 'self' data:; worker-src 'self'; "
    "script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'"
)
"""Without `eval`. The theme has a script and styles inside of its pages; of the playground, nothing needs them."""
VIEWS = list(product([1440, 1024, 390], ["light", "dark"]))


class _Handler(SimpleHTTPRequestHandler):
    """Serves the site below a folder, as GitHub's pages do."""

    def translate_path(self, path: str) -> str:
        return super().translate_path(path.removeprefix("/project"))

    def do_GET(self) -> None:
        if self.path == "/favicon.ico":  # which browsers ask every server for
            self.send_response(204)
            self.end_headers()
            return
        super().do_GET()

    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", POLICY)
        super().end_headers()

    def log_message(self, *_arguments: object) -> None:
        pass


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, directory=str(site)))
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/project/"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def opened(browser: Browser, address: str) -> Iterator[Callable[..., Page]]:
    """Open the playground. It may not complain, or ask for anything outside of the site."""
    pages: list[Looking] = []

    def open_page(start: str = "playground.html", width: int = 1440, **settings: Any) -> Page:
        context = browser.new_context(viewport={"width": width, "height": 1000}, **settings)
        pages.append(Looking(context.new_page(), address, start))
        return pages[-1].page

    yield open_page
    for each in pages:
        each.page.context.close()
    assert [trouble for each in pages for trouble in each.troubles] == []


def status(page: Page) -> Any:
    return page.locator("#judge-reply .state")


def test_right_and_wrong_replies_are_judged_offline_once_python_is_there(opened: Callable[..., Page]) -> None:
    page = opened()
    page.get_by_role("button", name="Judge").click()
    expect(status(page)).to_have_text("1 right.")
    expect(page.locator(".result")).to_contain_text('✓ get_weather(city: "Oslo", unit: "celsius")')
    page.context.set_offline(True)
    page.get_by_label("Example").select_option(index=1)
    page.get_by_label("Reply (JSON").press("Control+Enter")
    expect(status(page)).to_have_text("1 wrong.")
    expect(page.locator(".result .bad", has_text="Bergen")).to_be_visible()
    expect(page.locator(".result")).to_contain_text("playground.fc.yaml:12 asked: What is the weather in Oslo")
    page.get_by_label("Case file").fill("cases:\n  - id: a\n    prompt: b\n    expct: no_call\n")
    page.get_by_label("Case file").press("Control+Enter")
    expect(page.locator(".result")).to_contain_text("playground.fc.yaml:4:5: a case has no key `expct`")
    expect(page.locator(".result")).to_contain_text("hint: did you mean `expect`?")


def test_a_link_holds_both_texts_and_no_html_of_them_is_run(opened: Callable[..., Page]) -> None:
    page = opened()
    text = "<img src=x onerror=alert(1)> ü✓"
    page.get_by_label("Reply (JSON").fill(text)
    page.get_by_label("The reply is").select_option("qwen_coder")
    page.get_by_role("button", name="Copy link").click()
    expect(page).to_have_url(re.compile("#case="))  # polled from outside: the page lets no text be run in it
    other = opened(f"playground.html{page.evaluate('location.hash')}")
    expect(status(other)).to_have_text("Both texts are those of the link.")
    expect(other.get_by_label("Reply (JSON")).to_have_value(text)
    expect(other.get_by_label("The reply is")).to_have_value("qwen_coder")
    other.evaluate("location.hash = '#case=AAAA'")
    expect(status(other)).to_contain_text("The link is damaged")


def test_a_judgement_that_does_not_end_is_stopped(opened: Callable[..., Page]) -> None:
    page = opened()
    case = "tools: [{name: f, parameters: {type: object, properties: {a: {type: string}}}}]\n"
    case += "cases:\n  - {id: a, prompt: b, expect: [{f: {a: {$regex: '(x+x+)+y'}}}]}\n"
    page.get_by_label("Case file").fill(case)
    page.get_by_label("Reply (JSON").fill(f'[{{"name": "f", "arguments": {{"a": "{"x" * 60}"}}}}]')
    page.get_by_role("button", name="Judge").click()
    page.get_by_role("button", name="Stop").click()
    expect(status(page)).to_contain_text("Stopped")
    expect(page.get_by_role("button", name="Judge")).to_be_visible()


def test_without_scripts_a_sentence_says_what_is_missing(browser: Browser, address: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address}playground.html")
    expect(page.locator("#judge-reply")).to_contain_text("They need JavaScript")
    context.close()


@pytest.mark.nightly  # a minute, which belongs to `make test-site`
@pytest.mark.parametrize(("width", "scheme"), VIEWS)
def test_the_page_is_accessible_and_fits(opened: Callable[..., Page], width: int, scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = opened(width=width, color_scheme=scheme)
    page.get_by_label("Example").select_option(index=1)
    page.get_by_role("button", name="Judge").click()
    expect(status(page)).to_have_text("1 wrong.")
    found: Any = Axe().run(page)
    assert [(each["id"], each["nodes"][0]["html"]) for each in found.response["violations"]] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
