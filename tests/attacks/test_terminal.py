"""Nothing from outside is a command to the terminal, or breaks a report in a file."""

from __future__ import annotations

import json
import re
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.attacks.echoes import ECHOES
from tests.by_night import by_night
from tests.integration.command import fcall
from tests.integration.exam import Exam
from tests.servers import Answer

HOSTILE = (
    "a\x1b[2J\x1b]0;owned\x07b\x9b31mc\x08\x7fd\x00e\x0bf\x0cg\rh\u202ei\u2066j\u200bk\u2028l\u2029m\ufeffn\u00adoo"
    "\ud800p\udfffq\U000e0041r\x85s\u061ct\u2800u"
)
OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\u2800\ud800-\udfff"
    "\U000e0000-\U000e0fff]"
)
"""What a terminal would obey, or a person not see. A newline and a tab lay text out."""
LOUD = ("-rA", "-vv", "--tb=long", "--color=no", "--junitxml=junit.xml")


def obeyed(*results: object) -> list[str]:
    """What in the output a terminal would obey, each with the text around it."""
    found = []
    for result in results:
        for name in ("stdout", "stderr"):
            stream = getattr(result, name)
            text = stream if isinstance(stream, str) else stream.str()
            found += [repr(text[max(0, each.start() - 40) : each.end() + 20]) for each in OBEYED.finditer(text)]
    return found


def assert_readable(folder: Path) -> None:
    """The JUnit file is XML, and no text in it is a command either."""
    texts = "".join(
        text for each in ET.parse(folder / "junit.xml").iter() for text in (each.text or "", *each.attrib.values())
    )
    assert OBEYED.findall(texts) == []


@pytest.fixture
def hostile(exam: Exam) -> Exam:
    exam.shop.cases(
        """
        cases:
          - {id: silent, prompt: hello, expect: no_call}
          - {id: called, prompt: hello, expect: [{get_weather: {city: Oslo}}]}
          - {id: said, prompt: hello, answer: Oslo}
        """,
        "exam.fc.yaml",
    )
    return exam


@pytest.mark.parametrize("workers", ["-n0", by_night("-n2")])
@pytest.mark.parametrize("place", ECHOES)
def test_a_terminal_obeys_no_model_and_no_server(hostile: Exam, place: str, workers: str) -> None:
    hostile.server.default = lambda _: ECHOES[place](HOSTILE)
    result = hostile.run(*LOUD, workers)
    assert hostile.server.asked
    assert obeyed(result) == []
    assert_readable(hostile.path)


@pytest.mark.parametrize(
    "place", ["the answer's text", "an argument", "a tool's name", "a refusal", "broken arguments"]
)
def test_a_terminal_obeys_nothing_of_what_commands_show(hostile: Exam, place: str) -> None:
    hostile.server.default = lambda _: ECHOES[place](HOSTILE)
    results: list[object] = [hostile.run("--fc-accept=all", *LOUD), hostile.run("-q", "--tb=line"), hostile.run("-rA")]
    results += [
        fcall(hostile.path, *arguments.split())
        for arguments in (
            "show cases/exam.fc.yaml::silent",
            "show cases/exam.fc.yaml::called",
            "history",
            "accept",
            "compare last last",
            "record --stats",
            "record --export",
            "import .fcall/replies.db --out drafts",
            "lint drafts",
        )
    ]
    results.append(hostile.run("--fc-replay", *LOUD))
    assert obeyed(*results) == []


@pytest.mark.parametrize("status", [200, 400, 401, 403, 404, 405, 418, 429, 500, 502, 503])
@pytest.mark.parametrize("shape", ["plain", "json"])
def test_a_terminal_obeys_no_app_behind_an_address(exam: Exam, status: int, shape: str) -> None:
    exam.shop.cases("cases:\n  - {id: only, prompt: hello, answer: {$contains: Oslo}}\n", "exam.fc.yaml")
    said = json.dumps({"error": HOSTILE, "content": HOSTILE, HOSTILE: [HOSTILE]}) if shape == "json" else HOSTILE
    exam.always(Answer(said.encode(errors="surrogatepass"), status, "application/json"))
    result = exam.shop.run(f"--fc-model=http:{exam.server.url}/chat", *LOUD)
    assert exam.server.asked
    assert obeyed(result) == []
    assert_readable(exam.path)


APPS: dict[str, str] = {
    "an exception": f"raise ValueError({HOSTILE!r})",
    "an exception without a text": f"raise type({'E' + chr(0x1B)!r}, (Exception,), {{}})()",
    "a text": f"return {HOSTILE!r}",
    "a call": f"return [{{'name': {HOSTILE!r}, 'arguments': {{{HOSTILE!r}: {HOSTILE!r}}}}}]",
    "an unknown shape": f"return {{{HOSTILE!r}: object()}}",
    "a message": f"return {{'role': {HOSTILE!r}, 'content': [{{'type': {HOSTILE!r}}}]}}",
    "an outage": f"raise ConnectionError({HOSTILE!r})",
    "an object": "return type('Odd', (), {'__repr__': lambda self: " + repr(HOSTILE) + "})()",
}


@pytest.mark.parametrize("place", APPS)
def test_a_terminal_obeys_no_app_in_this_process(hostile: Exam, place: str) -> None:
    hostile.shop.file("odd.py", f"def answer(request):\n    {APPS[place]}\n")
    result = hostile.shop.run("--fc-model=python:odd:answer", *LOUD)
    assert obeyed(result) == []


CASE_FILES: dict[str, object] = {
    "an id": {"cases": [{"id": HOSTILE, "prompt": "x", "expect": "no_call"}]},
    "a key": {"cases": [{"id": "a", "prompt": "x", "expect": "no_call", HOSTILE: 1}]},
    "a key of the file": {"cases": [], HOSTILE: 1},
    "a tag": {"cases": [{"id": "a", "prompt": "x", "expect": "no_call", "tags": [HOSTILE]}]},
    "a prompt": {"cases": [{"id": "a", "prompt": HOSTILE, "expect": "no_call"}]},
    "a file of a prompt": {"cases": [{"id": "a", "prompt": {"file": "gone" + HOSTILE[1:8]}, "expect": "no_call"}]},
    "a tool": {"tools": [{"name": HOSTILE}], "cases": [{"id": "a", "prompt": "x", "expect": "no_call"}]},
    "a tool's schema": {
        "tools": [{"name": "t", "parameters": {"type": "object", "properties": {HOSTILE: {"type": HOSTILE}}}}],
        "cases": [{"id": "a", "prompt": "x", "expect": "no_call"}],
    },
    "a source of tools": {"tools": [{"python": HOSTILE}], "cases": [{"id": "a", "prompt": "x", "expect": "no_call"}]},
    "an expected tool": {"cases": [{"id": "a", "prompt": "x", "expect": [{HOSTILE: {}}]}]},
    "an expected argument": {"cases": [{"id": "a", "prompt": "x", "expect": [{"get_weather": {HOSTILE: HOSTILE}}]}]},
    "an expected text": {"cases": [{"id": "a", "prompt": "x", "answer": HOSTILE}]},
    "an operator": {"cases": [{"id": "a", "prompt": "x", "answer": {"$" + HOSTILE: 1}}]},
    "a pattern": {"cases": [{"id": "a", "prompt": "x", "answer": {"$regex": HOSTILE + "("}}]},
    "a reason to skip": {"cases": [{"id": "a", "prompt": "x", "expect": "no_call", "skip": HOSTILE}]},
    "a reason to fail": {"cases": [{"id": "a", "prompt": "x", "answer": "x", "xfail": HOSTILE}]},
    "a suite": {"suite": HOSTILE},
    "an included file": {"include": HOSTILE[:9], "cases": []},
    "a setting": {"cases": [{"id": "a", "prompt": "x", "expect": "no_call", "settings": {HOSTILE: HOSTILE}}]},
    "a decoder": {"cases": [{"id": "a", "prompt": "x", "expect": "no_call", "decoder": HOSTILE}]},
    "a placeholder": {
        "cases": [{"id": "a", "prompt": "${" + HOSTILE + "}", "expect": "no_call", "matrix": {"b": [1]}}]
    },
}


@pytest.mark.parametrize("place", CASE_FILES)
def test_a_terminal_obeys_no_case_file(exam: Exam, place: str) -> None:
    exam.shop.file("cases/exam.fc.yaml", json.dumps(CASE_FILES[place]))
    exam.shop.file("echo.py", "def answer(request):\n    return 'Oslo'\n")
    model = "--fc-model=python:echo:answer"
    results: list[object] = [exam.shop.run(model, *LOUD), exam.shop.run(model, "--collect-only")]
    results += [
        fcall(exam.path, "lint", "cases"),
        fcall(exam.path, "prompt", "cases/exam.fc.yaml::a", "--fc-model=openai:x"),
        fcall(exam.path, "tools", "lock"),
        fcall(exam.path, "show", "a"),
    ]
    assert obeyed(*results) == []


@pytest.mark.parametrize(
    "text", ["cases: [\x1b[31m", "cases: &\u202e x", "\u2028cases: {", "cases: '\\x1b", "a: b\n\x85c: ]"]
)
def test_a_terminal_obeys_no_broken_yaml(exam: Exam, text: str) -> None:
    exam.shop.file("cases/exam.fc.yaml", text)
    assert obeyed(exam.run(*LOUD), fcall(exam.path, "lint", "cases")) == []


ENDS = "import sys; sys.stdout.buffer.write({!r}); sys.stdout.flush(); sys.exit(3)"


@pytest.mark.parametrize("kind", ["openai", "http"])
def test_a_terminal_obeys_nothing_that_a_command_of_serve_prints(exam: Exam, kind: str) -> None:
    exam.cities("Oslo")
    exam.shop.file("server.py", ENDS.format(HOSTILE.encode(errors="surrogatepass")))
    address = "http:http://127.0.0.1:{port}/chat" if kind == "http" else "openai:x"
    exam.shop.file(
        "pyproject.toml",
        f"[tool.pytest]\n[tool.fcall.models.shop]\nmodel = '{address}'\n"
        f"serve = \"'{sys.executable}' server.py {{port}}\"\n",
    )
    result = exam.shop.run(f"--fc-model={kind}:shop", *LOUD)
    result.assert_outcomes(errors=1)
    assert obeyed(result) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("--fc-model=openai:e\x1b[31mxam?base_url=http://127.0.0.1:1",),
        ("--fc-model=op\x1b[31mnai:exam",),
        ("--fc-model=openai:exam?te\u202emperature=1",),
        ("--fc-model=openai:exam?temperature=\x1b[31m",),
        ("--fc-judge=\x9b31m",),
        ("--fc-max-age=\x1b[31m",),
        ("--fc-gate=\x1b[31m",),
        ("--fc-score=\x1b[31m",),
        ("--fc-baseline=\x1b[31m",),
        ("--fc-report=\x1b[31m",),
        ("--fc-suite=\x1b[31m",),
        ("--fc-shard=\x1b[31m",),
        ("--fc-history=\x1b[31m",),
        ("-ofc_volatile=\x1b[31m(",),
        ("-ofc_drift=\x1b[31m",),
        ("-ofc_proxy_variables=\x1b[31m",),
        ("-ofc_http_headers=\x1b[31m",),
        ("-ofc_allow_hosts=\x1b[31m",),
    ],
    ids=ascii,
)
def test_a_terminal_obeys_no_argument_that_is_said_back(exam: Exam, arguments: tuple[str, ...]) -> None:
    exam.cities("Oslo")
    result = exam.shop.run(*arguments, *LOUD)
    theirs = "inifile: None"  # what pytest itself says back, of arguments that are its own
    assert [each for each in obeyed(result) if theirs not in each] == []


@pytest.mark.parametrize(
    "arguments",
    [
        "show \x1b[31m", "accept \x1b[31m", "compare \x1b[31m last", "lint \x1b[31m", "prompt \x1b[31m::a", "\x1b[31m",
        "mv \x1b[31m b", "history --\x1b[31m", "import \x1b[31m --out x", "score --cases \x1b[31m x", "tools \x1b[31m",
    ],
    ids=ascii,
)  # fmt: skip
def test_a_terminal_obeys_no_argument_of_a_command(exam: Exam, arguments: str) -> None:
    exam.cities("Oslo")
    assert obeyed(fcall(exam.path, *arguments.split(" "))) == []


LOGS: dict[str, Callable[[], object]] = {
    "a prompt": lambda: {"messages": [{"role": "user", "content": HOSTILE}], "response": HOSTILE},
    "a line that is none": lambda: HOSTILE,
    "a key": lambda: {HOSTILE: HOSTILE},
    "a tool": lambda: {
        "request": {"messages": [{"role": "user", "content": "x"}], "tools": [{"name": HOSTILE}]},
        "response": {"choices": [{"message": {"tool_calls": [{"function": {"name": HOSTILE, "arguments": HOSTILE}}]}}]},
    },
}


@pytest.mark.parametrize("place", LOGS)
def test_a_terminal_obeys_no_log_that_is_imported(exam: Exam, place: str) -> None:
    exam.shop.file("log.jsonl", json.dumps(LOGS[place]()))
    results = [fcall(exam.path, "import", "log.jsonl", "--out", "drafts"), fcall(exam.path, "lint", "drafts")]
    assert obeyed(*results) == []


def test_a_terminal_obeys_no_stored_answer_that_is_judged(exam: Exam) -> None:
    exam.cities("Oslo")
    row = {"id": "Oslo", "case": "Oslo", "answer": HOSTILE, "reply": HOSTILE, "text": HOSTILE, HOSTILE: HOSTILE}
    exam.shop.file("answers.jsonl", json.dumps(row) + "\n" + json.dumps({"id": HOSTILE}))
    assert obeyed(fcall(exam.path, "score", "--cases", "cases", "answers.jsonl")) == []


def test_the_search_finds_what_a_terminal_obeys() -> None:
    class Printed:
        stdout = "fine\n\tfine … ✓"
        stderr = HOSTILE

    assert len(obeyed(Printed())) == len(re.sub(r"[\x20-\x7e]|\n", "", HOSTILE))
