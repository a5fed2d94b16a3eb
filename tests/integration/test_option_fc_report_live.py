"""`--fc-report=live.html`: a page that is written while the run goes on, and is its report in the end."""

from __future__ import annotations

import re
import sys
from concurrent.futures import Future
from pathlib import Path

import pytest

from pytest_fcall.backends.dispatch.job import DispatchProgress
from pytest_fcall.plugin import live_page, progress
from pytest_fcall.plugin.live_page import LivePage
from tests.by_night import by_night
from tests.integration.command import fcall_here, run_pytest
from tests.integration.conftest import Shop
from tests.integration.exam import Exam, called, weather_in

WATCH = """
    import shutil
    import pytest

    class Watch:
        states = 0

        @pytest.hookimpl(trylast=True)
        def pytest_runtest_logfinish(self):
            self.states += 1
            shutil.copy("live.html", f"state-{self.states}.html")

    def pytest_configure(config):
        if not hasattr(config, "workerinput"):
            config.pluginmanager.register(Watch())
"""
"""Keeps the state of the page at the end of each test, in the process where reports arrive."""


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages are written whenever something happens."""
    monkeypatch.setattr(live_page, "SECONDS", 0.0)
    monkeypatch.setattr(live_page, "_LEAST_SHARE", 0)


@pytest.fixture
def three(shop: Shop) -> Shop:
    """A right answer, a wrong one and an error."""
    shop.cases(
        weather_in(["Oslo"])
        + f"  - {{id: wrong, prompt: '{called('Rome')}', expect: [{{get_weather: {{city: Bern}}}}]}}\n"
        + "  - {id: faulty, prompt: hello, expect: [{no_tool: {}}]}\n"
    )
    shop.pytester.makeconftest(WATCH)
    return shop


def states(folder: Path) -> list[str]:
    """The text of each state that was kept."""
    found = sorted(folder.glob("state-*.html"))
    return [shown(path) for path in found]


def shown(path: Path) -> str:
    body = path.read_text(encoding="utf-8").partition("<body>")[2].partition("<script")[0]
    return " ".join(re.sub(r"<[^>]*>", " ", body).split())


def loads_itself(path: Path) -> bool:
    return 'http-equiv="refresh"' in path.read_text(encoding="utf-8").partition("<style")[0]


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_the_page_follows_the_run_and_is_its_report_in_the_end(three: Shop, workers: str) -> None:
    result = three.ask("--fc-report=live.html", "--fc-report=run.html", workers)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["report: live.html", "report: run.html"])
    folder = three.pytester.path
    seen = states(folder)
    assert [re.findall(r"(\d) of 3 tests ended", text) for text in seen] == [["1"], ["2"], ["3"]]
    assert "1 right , 1 wrong , 1 error , 0 skipped" in seen[2]
    assert "Wrong answers 1 wrong_value" in seen[2]
    assert "Errors 1" in seen[2]
    assert "no_tool" in seen[2]
    assert loads_itself(folder / "state-3.html")
    assert (folder / "live.html").read_bytes() == (folder / "run.html").read_bytes()


@pytest.mark.parametrize("workers", [by_night("-n0"), "-n1"])
def test_requests_to_models_are_counted(exam: Exam, workers: str) -> None:
    exam.cities("Oslo", "Rome")
    exam.shop.pytester.makeconftest(WATCH)
    exam.run("--fc-report=live.html", workers)
    assert "0 in flight, 2 answered" in states(exam.path)[-1]


def test_a_test_that_is_at_work_is_named(three: Shop) -> None:
    three.pytester.makeconftest(
        """
        import shutil

        def pytest_runtest_setup(item):
            shutil.copy("live.html", f"state-{item.name}.html")
        """
    )
    three.ask("--fc-report=live.html")
    assert "At work 0 s cases/weather.fc.yaml::Oslo" in shown(three.pytester.path / "state-Oslo.html")


def test_the_configuration_and_another_name_are_as_good(three: Shop) -> None:
    three.pytester.makeini("[pytest]\nfc_report = live:out/now.html\n")
    three.pytester.makeconftest(WATCH.replace("live.html", "out/now.html"))
    three.ask()
    assert len(states(three.pytester.path)) == 3


def test_an_interrupted_run_leaves_its_report(three: Shop) -> None:
    three.file("test_stop.py", "def test_stop(): raise KeyboardInterrupt")
    told = ("--fc-model=python:echo:answer", "--fc-report=live.html", "cases", "test_stop.py")
    assert run_pytest(three.pytester.path, *told).returncode == pytest.ExitCode.INTERRUPTED
    text = shown(three.pytester.path / "live.html")
    assert "The run was broken off" in text
    assert not loads_itself(three.pytester.path / "live.html")


@pytest.mark.skipif(sys.platform == "win32", reason="processes cannot be killed like this")
def test_a_killed_run_leaves_a_page_that_says_when_it_was_written(three: Shop) -> None:
    three.file("test_stop.py", "import os, signal\n\ndef test_stop(): os.kill(os.getpid(), signal.SIGKILL)\n")
    told = ("--fc-model=python:echo:answer", "--fc-report=live.html", "test_stop.py", "cases")
    assert run_pytest(three.pytester.path, *told).returncode < 0
    path = three.pytester.path / "live.html"
    assert re.search(r"written \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", shown(path))
    assert "running: 0 % 0 of 4 tests ended" in shown(path)
    assert loads_itself(path)


def test_without_results_the_page_says_that_the_run_has_ended(shop: Shop) -> None:
    shop.file("test_plain.py", "def test_it(): assert False")
    shop.run("--fc-report=live.html")
    path = shop.pytester.path / "live.html"
    assert "ended 1 of 1 tests ended" in shown(path)
    assert "The run has ended." in shown(path)
    assert "Errors 1 assert False" in shown(path)
    assert not loads_itself(path)


def test_a_page_that_cannot_be_written_is_told_once_and_ends_nothing(three: Shop) -> None:
    three.pytester.makeconftest("")
    (three.pytester.path / "live.html").mkdir()
    result = three.ask("--fc-report=live.html")
    assert result.ret == 1
    result.assert_outcomes(passed=1, failed=1, errors=1)
    assert result.stdout.str().count("the live page was not written: Is a directory: ") == 1


def test_a_folder_that_goes_is_made_again(three: Shop) -> None:
    three.pytester.makeconftest(
        """
        import shutil

        def pytest_runtest_logfinish():
            shutil.rmtree("out")
        """
    )
    result = three.ask("--fc-report=out/live.html")
    result.stdout.no_fnmatch_line("*not written*")
    assert (three.pytester.path / "out/live.html").is_file()


@pytest.mark.parametrize("arguments", [["--collect-only"], ["--fc-dry-run"], ["test_plain.py"]])
def test_nothing_is_written_where_nothing_runs(three: Shop, arguments: list[str]) -> None:
    three.file("test_plain.py", "")
    three.ask("--fc-report=live.html", *arguments)
    assert not (three.pytester.path / "live.html").exists()


def test_a_page_needs_a_file(three: Shop) -> None:
    result = three.ask("--fc-report=live")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --fc-report: live needs a file, such as live:run.html"])


def test_the_report_of_a_kept_run_is_the_same(three: Shop) -> None:
    three.ask("--fc-report=live.html")
    before = (three.pytester.path / "live.html").read_bytes()

    assert fcall_here(three.pytester.path, "report", "-o", "live:again.html").returncode == 0
    assert (three.pytester.path / "again.html").read_bytes() == before


class Clock:
    """Seconds that pass only where a test lets them."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def config(pytester: pytest.Pytester) -> pytest.Config:
    return pytester.parseconfigure()


class Writings(LivePage):
    """A page that counts how often it is written, and takes some time for it."""

    def __init__(self, config: pytest.Config, path: Path, clock: Clock, takes: float = 0.0) -> None:
        super().__init__(config, [path], 3.0, clock)
        self.moments: list[float] = []
        self._tests = clock
        self._takes = takes

    def _write(self, *, ended: bool) -> None:
        super()._write(ended=ended)
        self.moments.append(self._tests.now)
        self._tests.now += self._takes


def test_a_page_is_written_at_most_every_three_seconds(config: pytest.Config, clock: Clock, tmp_path: Path) -> None:
    page = Writings(config, tmp_path / "live.html", clock)
    for number in range(100):
        page.pytest_runtest_logstart(f"a::{number}")
        clock.now += 0.1
        page.pytest_runtest_logfinish(f"a::{number}")
    assert len(page.moments) == 4
    assert "100 tests ended" not in shown(tmp_path / "live.html")
    page.pytest_sessionfinish()
    assert "100 tests ended" in shown(tmp_path / "live.html")


def test_writing_takes_a_small_part_of_a_run_however_long_it_takes(
    config: pytest.Config, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_page, "_LEAST_SHARE", 20)
    page = Writings(config, tmp_path / "live.html", clock, takes=2.0)
    while clock.now < 1100:
        page.tick()
        clock.now += 1
    assert 20 <= len(page.moments) <= 25


def test_a_page_is_written_while_a_test_waits_for_a_reply(
    config: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "_PATIENCE", 0)
    monkeypatch.setattr(progress, "_AGAIN", 0)
    future: Future[int] = Future()

    class Page:
        def tick(self) -> None:
            future.set_result(7)

    config.pluginmanager.register(Page(), progress.LIVE_PAGE)
    assert progress.LiveLine(config, DispatchProgress, 1).wait(future) == 7


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (
            "openai:gpt-5.2: HTTP 429 after 12 tries (3.5 s): later",
            "openai:gpt-5.2: HTTP 429 after # tries (# s): later",
        ),
        ("ValueError: bad number 101\nmore", "ValueError: bad number #"),
    ],
)
def test_errors_that_differ_in_a_number_are_of_one_kind(text: str, kind: str) -> None:
    report = pytest.TestReport("a::b", ("a", 1, "b"), {}, "failed", text, "setup")
    assert live_page._error_kind(report) == kind
