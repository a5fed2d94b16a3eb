"""The commands that the view of a case copies, run as they are in the project that the report is about."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.by_night import by_night

APP = """
import json

def answer(request):
    return json.loads(request.messages[-1]["content"])

other = answer
"""
TOOLS = """
tools:
  - {name: find, description: Finds., parameters: {type: object, properties: {city: {type: string}}, required: [city]}}
cases:
"""
CASE = """\
  - id: "{name}"
    prompt: '[{{"name": "find", "arguments": {{"city": "Oslo"}}}}]'
    expect: [{{find: {{city: {city}}}}}]
"""
ONE = ["--fc-model=python:app:answer"]
TWO = [*ONE, "--fc-model=python:app:other"]

Shell = Callable[[str], subprocess.CompletedProcess[str]]


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """Runs a command line in a project of two cases: one that is right, and one that is wrong."""
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "app.py").write_text(APP)
    (tmp_path / "cases").mkdir()
    cases = CASE.format(name="it's $HOME", city="Oslo") + CASE.format(name="wrong", city="Rome")
    (tmp_path / "cases" / "a shop.fc.yaml").write_text(TOOLS + cases)
    places = [str(Path(sys.executable).parent), os.environ["PATH"]]
    own = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "GITHUB_"))}

    def run(command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=tmp_path,
            env={**own, "PATH": os.pathsep.join(places), "PYTEST_ADDOPTS": "-p no:randomly"},
            capture_output=True,
            text=True,
            check=False,
            timeout=100,
        )

    return run


def copied(browser: Browser, path: Path, case: str) -> dict[str, str]:
    """The commands that the buttons of a case copy for its first model, by the names of the buttons."""
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(f"{path.as_uri()}#/cases?sort=case")
    page.locator("#list .row", has_text=case).first.click()
    expect(page.locator("#case .buttons button").first).to_be_visible()
    found = {}
    for number in range(page.locator("#case .buttons button").count()):
        button = page.locator("#case .buttons button").nth(number)
        name = button.inner_text().removeprefix("copy: ")
        button.click()
        expect(button).to_have_text("copied")
        found[name] = str(page.evaluate("navigator.clipboard.readText()"))
    context.close()
    return found


@pytest.mark.parametrize("models", [by_night(ONE), TWO])
def test_each_command_that_is_copied_works(browser: Browser, shell: Shell, tmp_path: Path, models: list[str]) -> None:
    assert shell(f"pytest cases {' '.join(models)} --fc-report=page.html").returncode == 1
    right, wrong = (copied(browser, tmp_path / "page.html", name) for name in ("it's", "wrong"))
    assert [*right] == ["run it again", "show its prompt", "accept it"]
    assert [*wrong] == ["run it again", "show its prompt", "accept it as known failure"]
    shell("pytest cases --fc-model=python:app:answer")  # so that the last run is another one

    accepted = shell(right["accept it"])
    assert (accepted.returncode, accepted.stderr) == (0, "")
    assert "1 case accepted" in accepted.stdout
    known = shell(wrong["accept it as known failure"])
    assert (known.returncode, known.stderr) == (0, "")
    assert "1 case accepted" in known.stdout

    for commands, status in ((right, "1 passed"), (wrong, "1 xfailed")):
        prompt = shell(commands["show its prompt"])
        assert prompt.returncode == 0, prompt.stderr
        assert '"messages"' in prompt.stdout
        again = shell(commands["run it again"])
        assert status in again.stdout
        assert "1 asked" in again.stdout
    baselines = [*(tmp_path / "cases" / "__fcall__").glob("python-*")]
    assert len(baselines) == 1, "accepted for one model only"


def test_a_row_of_a_matrix_has_its_own_commands(browser: Browser, shell: Shell, tmp_path: Path) -> None:
    rows = """\
cases:
  - id: cabin
    matrix: [{id: eco, city: Oslo}, {id: prem, city: Rome}]
    prompt: '[{"name": "find", "arguments": {"city": "{city}"}}]'
    expect: [{find: {city: "{city}"}}]
"""
    (tmp_path / "cases" / "a shop.fc.yaml").write_text(TOOLS.removesuffix("cases:\n") + rows)
    assert shell(f"pytest cases {' '.join(TWO)} --fc-report=page.html").returncode == 0
    commands = copied(browser, tmp_path / "page.html", "cabin[prem]")
    assert "1 case accepted" in shell(commands["accept it"]).stdout
    assert "Rome" in shell(commands["show its prompt"]).stdout
    assert "1 passed" in shell(commands["run it again"]).stdout
