"""`fcall draft`: a named model writes cases, which count for nothing until a person has read them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.command import fcall, run_pytest

WRITER = """\
import json


def answer(request):
    task = request.messages[-1]["content"]
    if task.startswith("Write 1 question of"):
        return "Sorry, I cannot."
    is_weather = "get_weather" in task.splitlines()[1]
    question = "Is it warm: \\u202e # in \\x07 Oslo?\\n- id: evil" if is_weather else "Send 5 to Bo."
    return json.dumps([{"question": question, "arguments": {"city": "Oslo"}}] * 2)
"""
TOOLS = """\
tools:
  - name: get_weather
    description: Tell the weather of a city.
    parameters: {type: object, properties: {city: {type: string}}, required: [city]}
  - name: pay
    description: Send money.
    parameters: {type: object, properties: {amount: {type: integer}}, required: [amount]}
"""
DRAFT = ("draft", "tools/shop.tools.yaml", "--fc-model=python:writer:answer", "-o", "cases/drafts.fc.yaml")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "writer.py").write_text(WRITER)
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "shop.tools.yaml").write_text(TOOLS)
    return tmp_path


def test_drafts_are_priced_asked_for_written_once_and_skipped_until_they_are_read(shop: Path) -> None:
    dry = fcall(shop, *DRAFT, "--dry-run")
    assert (dry.returncode, "3 requests would be sent" in dry.stdout) == (0, True)
    unasked = fcall(shop, *DRAFT)
    assert (unasked.returncode, unasked.stderr) == (1, "nothing was asked: --yes asks\n")
    assert not (shop / "cases").exists()

    done = fcall(shop, *DRAFT, "--yes")
    assert done.returncode == 1
    assert "cases/drafts.fc.yaml: 2 drafts, skipped until a person has read them" in done.stdout
    assert done.stderr.splitlines() == [
        "left out: get_weather: a question that is there already",
        "left out: pay: a question that is there already",
        "left out: no tool: the answer is not the JSON that was asked for",
    ]
    text = (shop / "cases" / "drafts.fc.yaml").read_text(encoding="utf-8")
    assert 'include: "../tools/shop.tools.yaml"' in text
    assert "- get_weather: {city: " in text
    assert "- pay: {$ignore: true}" in text
    assert text.count("skip: ") == text.count("# review\n") == 2
    assert not list((shop / ".fcall").glob("draft-*"))

    assert fcall(shop, "lint", "cases").returncode == 0
    tested = run_pytest(shop, "cases", "--fc-model=python:writer:answer")
    assert "2 skipped" in tested.stdout
    assert "passed" not in tested.stdout

    again = fcall(shop, *DRAFT, "--yes")
    assert (again.returncode, "exists, and is not overwritten" in again.stderr) == (2, True)
    assert (shop / "cases" / "drafts.fc.yaml").read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("tools/shop.tools.yaml", "--fc-model=python:writer:answer", "-o", "cases/drafts.yaml"), "ends in .fc.yaml"),
        (("writer.py", "--fc-model=python:writer:answer", "-o", "a.fc.yaml"), "name a file of tools alone"),
        (("tools/shop.tools.yaml", "-o", "a.fc.yaml"), "--fc-model"),
    ],
)
def test_a_wrong_command_line_says_what_to_write(shop: Path, arguments: tuple[str, ...], why: str) -> None:
    done = fcall(shop, "draft", *arguments)
    assert (done.returncode, why in done.stderr) == (2, True)


def test_a_model_that_cannot_be_asked_is_told_and_nothing_is_written(shop: Path) -> None:
    (shop / "writer.py").write_text("def answer(request):\n    raise ConnectionError('down')\n")
    done = fcall(shop, *DRAFT, "--yes")
    assert done.returncode == 1
    assert "left out: get_weather: " in done.stderr
    assert "down" in done.stderr
    assert not (shop / "cases").exists()


def test_a_model_of_an_unknown_kind_is_one_sentence_and_nothing_is_asked(shop: Path) -> None:
    done = fcall(shop, *DRAFT[:2], "--fc-model=opnai:x", *DRAFT[3:], "--yes")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("fcall draft: --fc-model: there is no model of kind 'opnai'; the kinds are ")
    assert done.stderr.endswith("; did you mean `openai:x`?\n")
    assert done.stderr.count("\n") == 1
