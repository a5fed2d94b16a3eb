"""What a page of HTML about a run costs: bytes, CPU, and until a browser has painted it: `make bench-report`.

pytest-html writes a page about as many tests; so does promptfoo, where `--promptfoo` says what its program is.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from playwright.sync_api import Browser, sync_playwright

from benchmarks.environments import pytest_html
from benchmarks.measure import Run, in_turn, pytest_command, run
from benchmarks.projects import write_cases, write_parametrised
from benchmarks.scenarios import ASK

_FLAGS: Final = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")
_LOADS: Final = 5
_PAINT: Final = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? -1"
_MILLION: Final = 1_000_000
_SOMETIMES_WRONG: Final = """
def answer(request):
    number = int(request.messages[-1]["content"].split()[-1])
    days = number % 9 if number % 10 else 99
    return [{"name": f"tool_{number % 3}", "arguments": {"city": f"City {number}", "days": days, "unit": "celsius"}}]
"""
"""An app that is wrong in one case of ten: a page about nothing but right answers would be a small one."""
_PROVIDER: Final = """
module.exports = class {
  id() { return 'app'; }
  async callApi(prompt) {
    const number = Number(prompt.split(' ').pop());
    const days = number % 10 ? number % 9 : 99;
    return { output: JSON.stringify({ city: `City ${number}`, days, unit: 'celsius' }) };
  }
};
"""


class Page(NamedTuple):
    """A page about a run, and the commands that make the run with it and without."""

    name: str
    cases: int
    path: Path
    with_page: Callable[[], Run]
    without: Callable[[], Run]


def main() -> None:
    """Measure the pages, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.report")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--promptfoo", help="its program, which npm installs")
    options = parser.parse_args()
    with TemporaryDirectory() as temporary, sync_playwright() as playwright:
        folder = Path(temporary)
        pages = [_ours(folder, 1_000), _ours(folder, 10_000), _pytest_html(folder, 1_000)]
        pages += [_promptfoo(folder, 1_000, options.promptfoo)] if options.promptfoo else []
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=_FLAGS)
        print("| page | cases | MB | CPU of the run | CPU of the page | of the run | first paint |")
        print("|---|---|---|---|---|---|---|")
        for page in pages:
            print(_row(page, browser, options.rounds), flush=True)
        browser.close()


def _row(page: Page, browser: Browser, rounds: int) -> str:
    runs = in_turn({"without": page.without, "with": page.with_page}, rounds)
    without = median(each.cpu for each in runs["without"])
    more = median(b.cpu - a.cpu for a, b in zip(runs["without"], runs["with"], strict=True))
    size = page.path.stat().st_size / _MILLION
    paint = median(_first_paint(browser, page.path) for _ in range(_LOADS))
    return (
        f"| {page.name} | {page.cases:,} | {size:.2f} | {without:.2f} s | {more:.2f} s | {more / without:.0%} | "
        f"{paint:.0f} ms |"
    )


def _first_paint(browser: Browser, page: Path) -> float:
    """Milliseconds until there is something to see."""
    tab = browser.new_page()
    try:
        tab.goto(page.as_uri(), wait_until="load", timeout=120_000)
        while (paint := float(tab.evaluate(_PAINT))) < 0:  # the page's policy forbids `wait_for_function`
            tab.wait_for_timeout(10)
        return paint
    finally:
        tab.close()


def _ours(parent: Path, count: int) -> Page:
    folder = parent / f"ours {count}"
    folder.mkdir()
    write_cases(folder, count)
    (folder / "app.py").write_text(_SOMETIMES_WRONG)
    return _page("pytest-fcall", count, folder, pytest_command(ASK, "many.fc.yaml"), "--fc-report=report.html")


def _pytest_html(parent: Path, count: int) -> Page:
    folder = parent / f"pytest-html {count}"
    folder.mkdir()
    write_parametrised(folder, count)
    command = pytest_html().pytest("test_many.py")
    return _page("pytest-html", count, folder, command, "--html=report.html", "--self-contained-html")


def _promptfoo(parent: Path, count: int, program: str) -> Page:
    folder = parent / f"promptfoo {count}"
    folder.mkdir()
    (folder / "app.js").write_text(_PROVIDER)
    tests = [
        {
            "vars": {"number": str(number)},
            "assert": [
                {"type": "equals", "value": {"city": f"City {number}", "days": number % 9, "unit": "celsius"}},
            ],
        }
        for number in range(count)
    ]
    prompts = ["What is the weather going to be in number {{number}}"]
    suite = {"prompts": prompts, "providers": ["file://app.js"], "tests": tests}
    (folder / "suite.json").write_text(json.dumps(suite))
    command = [program, "eval", "-c", "suite.json", "--no-cache", "--no-table", "--no-write", "--no-progress-bar"]
    return _page("promptfoo", count, folder, command, "-o", "report.html")


def _page(name: str, count: int, folder: Path, command: Sequence[str], *options: str) -> Page:
    plain = partial(run, command, folder, (0, 1, 100))
    return Page(name, count, folder / "report.html", partial(run, [*command, *options], folder, (0, 1, 100)), plain)


if __name__ == "__main__":
    main()
