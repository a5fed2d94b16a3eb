"""The documentation as a site, opened from its folder as whoever is offline does."""

from __future__ import annotations

import os
import re
import runpy
import shutil
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Looking
from tests.pages import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PAGES = ["index", "tutorial", "how-to/ci", "reference/options", "reference/api"]
"""The first page, one with steps, one with long blocks, one with wide tables, and that of the docstrings."""
WIDTHS = [1440, 1024, 390]
SCHEMES = ["light", "dark"]
EACH_TIME = {("index", 1440, "light"), ("tutorial", 1024, "light"), ("reference/options", 390, "dark")}
"""Something of everything; all of it takes a minute, and belongs to `make test-site`."""
VIEWS = [
    pytest.param(*view, marks=[] if view in EACH_TIME else pytest.mark.nightly)
    for view in product(PAGES, WIDTHS, SCHEMES)
]


@pytest.fixture
def read(browser: Browser, site: Path) -> Iterator[Callable[..., Looking]]:
    """Open a page of the site. No page may complain, or ask for anything outside of the site."""
    opened: list[Looking] = []

    def opened_page(name: str, width: int = 1440, **settings: Any) -> Looking:
        context = browser.new_context(viewport={"width": width, "height": 1000}, **settings)
        opened.append(Looking(context.new_page(), f"{site.as_uri()}/", f"{name}.html"))
        return opened[-1]

    yield opened_page
    for each in opened:
        each.page.context.close()
    assert [trouble for each in opened for trouble in each.troubles] == []


@pytest.mark.parametrize(("name", "width", "scheme"), VIEWS)
def test_a_page_is_accessible_and_fits(read: Callable[..., Looking], name: str, width: int, scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = read(name, width, color_scheme=scheme).page
    # Stylesheets are files here, which scripts may not read.
    found: Any = Axe().run(page, options={"preload": False})
    assert [(each["id"], each["nodes"][0]["html"]) for each in found.response["violations"]] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_wide_table_scrolls_within_its_box_and_by_keys(read: Callable[..., Looking]) -> None:
    page = read("reference/options", 390).page
    box = page.locator(".table-wrapper").first
    assert box.evaluate("box => box.scrollWidth > box.clientWidth")
    box.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("document.activeElement.scrollLeft > 0")


def test_the_one_search_box_finds_words_without_a_server(read: Callable[..., Looking]) -> None:
    page = read("tutorial").page
    expect(page.get_by_placeholder("Search")).to_have_count(1)
    page.get_by_placeholder("Search").fill("parallel calls")
    page.keyboard.press("Enter")
    expect(page.locator("ul.search a", has_text="How a verdict is reached")).to_be_visible()
    page.locator("ul.search a", has_text="How a verdict is reached").click()
    expect(page.locator("h1")).to_contain_text("How a verdict is reached")


def test_a_name_of_the_api_is_found_and_has_its_docstring(read: Callable[..., Looking]) -> None:
    page = read("search").page
    page.get_by_placeholder("Search").fill("assert_calls")
    page.keyboard.press("Enter")
    page.locator("ul.search a", has_text="pytest_fcall.assert_calls").click()
    expect(page.locator("dd", has_text="Assert that a reply made the calls that were expected").first).to_be_visible()


def test_the_menu_begins_with_the_ten_pages_of_an_app_team(read: Callable[..., Looking]) -> None:
    page = read("index").page
    path = page.locator(".sidebar-tree ul").first.locator("a")
    expect(path).to_have_count(10)
    expect(path.first).to_have_text("From the first case to CI in ten minutes")


def test_light_and_dark_are_chosen_and_kept(read: Callable[..., Looking]) -> None:
    looking = read("tutorial", color_scheme="light")
    page = looking.page
    page.locator(".content-icon-container .theme-toggle").click()
    expect(page.locator("body")).to_have_attribute("data-theme", "dark")
    looking.troubles.remove("Changed to dark mode.")  # which the theme tells the console
    page.locator(".sidebar-tree a").nth(1).click()
    expect(page.locator("h1")).to_contain_text("From production trace")
    expect(page.locator("body")).to_have_attribute("data-theme", "dark")


@pytest.fixture(scope="module")
def versions(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site twice, side by side. What is called 0.1.0 has no page on watching."""
    folder = tmp_path_factory.mktemp("versions")
    sites = {
        name: shutil.copytree(site, folder / f"built-{name}", copy_function=os.link) for name in ("0.1.0", "latest")
    }
    for built in sites.values():
        (built / "_static" / "versions.js").unlink()  # a link to the file of the site that is alone
    (sites["0.1.0"] / "how-to" / "watch.html").unlink()
    runpy.run_path(str(ROOT / "docs/site/versions.py"))["join_sites"](sites, folder)
    return folder


def test_a_site_alone_shows_no_versions(read: Callable[..., Looking]) -> None:
    expect(read("tutorial").page.locator(".versions")).to_have_count(0)


@pytest.mark.parametrize("width", [1440, 390])
def test_a_page_leads_to_itself_in_another_version(browser: Browser, versions: Path, width: int) -> None:
    from axe_playwright_python.sync_playwright import Axe

    context = browser.new_context(viewport={"width": width, "height": 1000})
    looking = Looking(context.new_page(), f"{versions.as_uri()}/", "latest/how-to/ci.html")
    page = looking.page
    if width == 390:
        page.locator(".mobile-header .nav-overlay-icon, .mobile-header label[for=__navigation]").first.click()
    expect(page.locator(".sidebar-brand")).to_have_text("pytest-fcall")  # the version stands below, and nowhere else
    page.locator(".versions summary").click()
    expect(page.locator(".versions a")).to_have_text(["0.1.0", "latest"])
    expect(page.locator(".versions a[aria-current]")).to_have_text("latest")
    found: Any = Axe().run(page, options={"preload": False})
    assert [each["id"] for each in found.response["violations"]] == []
    page.locator(".versions a").first.click()
    page.wait_for_url("**/0.1.0/how-to/ci.html")
    looking.go("latest/how-to/watch.html")
    expect(page.locator(".versions a").first).to_have_attribute("href", f"{versions.as_uri()}/0.1.0/index.html")
    expect(page.locator(".versions summary")).to_have_text("Version: latest")
    context.close()
    assert looking.troubles == []


def test_links_lead_to_pages_of_the_site_or_into_the_repository(site: Path) -> None:
    outside = set()
    for page in site.rglob("*.html"):
        for link in re.findall(r'href="([^"]+)"', page.read_text("utf-8")):
            if link.startswith("https://github.com/pytest-fcall/"):
                outside.add(link)
            elif "://" not in link and not link.startswith("#"):
                assert (page.parent / link.partition("#")[0].partition("?")[0]).exists(), f"{page}: {link}"
    assert "https://github.com/pytest-fcall/pytest-fcall/blob/main/SECURITY.md" in outside
