"""Keys that are used to ask are written down nowhere: not in what is kept, not in what is printed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from tests.by_night import by_night
from tests.integration.command import fcall
from tests.integration.exam import Exam, called, prompt_of
from tests.integration.planted import KEYS, LOUD, OWN_SETTINGS, leaks, plant
from tests.servers import Answer, Asked, chat, echo, not_openai, provider_error

NOT_SENT = {"another provider's key", "token of CI", "password of a database", "proxy"}
SECRETS = {name: key for name, key in KEYS.items() if name not in NOT_SENT}
SECRETS["plain"] = "planted-in-the-settings-of-a-test-0010"


@pytest.fixture
def planted(exam: Exam, monkeypatch: pytest.MonkeyPatch) -> Exam:
    """A project with a key wherever one may be, and a case for each thing that a server may do with it."""
    plant(exam, monkeypatch)
    monkeypatch.setenv("SECRET", SECRETS["plain"])
    exam.shop.cases(CASES, "exam.fc.yaml")
    exam.shop.file("test_plain.py", PLAIN)
    exam.server.default = answer
    return exam


PLAIN = """
import os

def test_plain(fc_model):
    reply = fc_model("hello", user_secret=os.environ["SECRET"])
    assert reply.text == "what cannot be"

def test_refused(fc_model):
    fc_model("refused", temperature=0)
"""

FAULTS: dict[str, Callable[[str], Answer]] = {
    "refused": lambda said: provider_error(400, said),
    "filtered": lambda said: provider_error(400, said, code="content_filter"),
    "unreadable": lambda said: provider_error(400, said, code="tool_use_failed"),
    "plain": lambda said: Answer(said.encode(), 400, "text/plain"),
    "page": lambda said: Answer(f"<html>{said}</html>".encode(), 422, "text/html"),
    "shape": lambda said: not_openai({"detail": said}, 400),
    "broken": lambda said: provider_error(500, said),
    "odd": lambda said: not_openai({"detail": said}),
}


OWN = f"{OWN_SETTINGS}, top_k: 3"
CASES = f"""
cases:
  - {{id: right, prompt: '{called("Paris")}', expect: [{{get_weather: {{city: Paris}}}}]}}
  - {{id: own, prompt: '{called("Oslo")}', expect: [{{get_weather: {{city: Rome}}}}], settings: {{{OWN}}}}}
""" + "".join(
    f"  - {{id: {name}, prompt: {name}, expect: no_call}}\n"
    f"  - {{id: own_{name}, prompt: {name}, expect: no_call, settings: {{{OWN}}}}}\n"
    for name in FAULTS
)


def answer(asked: Asked) -> Answer:
    """Say back all that was sent, where something is wrong."""
    prompt = prompt_of(asked)
    if prompt not in FAULTS:
        return replace(echo(replace(asked, path="/v1/chat/completions")))
    headers = " ".join(asked.headers.values())
    return FAULTS[prompt](f"{asked.path} {headers} {' '.join(texts_of(asked.json))}")


def texts_of(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from texts_of(item)


def test_keys_are_sent_where_they_belong(planted: Exam) -> None:
    planted.shop.run("--fc-model=openai:exam", "-k", "right or own or test_plain")
    sent = " ".join(f"{asked.path} {asked.headers} {asked.body.decode()}" for asked in planted.server.asked)
    assert [name for name, key in SECRETS.items() if key not in sent] == []


@pytest.mark.parametrize(
    ("args", "faults"),
    [
        ((), 2 * len(FAULTS)),
        by_night(("-q",), 2 * len(FAULTS)),
        (("--full-trace", *LOUD, "-k", "own or test_plain"), len(FAULTS)),  # long traces of both take twice the time
        by_night(("--full-trace", *LOUD), 2 * len(FAULTS)),
    ],
)
def test_no_key_is_printed_or_written(planted: Exam, args: tuple[str, ...], faults: int) -> None:
    result = planted.shop.run("--fc-model=openai:exam", *args)
    assert result.ret == 1
    assert len(planted.server.asked) > faults
    assert leaks(planted.path, result, keys=SECRETS) == []


MILD = "-k", "not broken and not odd"
"""All but the cases that are asked for six times."""


def test_no_key_is_in_what_workers_send(planted: Exam) -> None:
    result = planted.shop.pytester.runpytest("--fc-model=openai:exam", "-n1", *LOUD, *MILD)
    assert leaks(planted.path, result, keys=SECRETS) == []


def test_no_key_is_in_exported_recordings_or_in_what_says_what_changed(planted: Exam) -> None:
    planted.shop.run("--fc-model=openai:exam", *MILD)
    exported = fcall(planted.path, "record", "--export")
    assert exported.returncode == 0
    assert list(planted.path.glob("cases/__fcall__/*/*.jsonl"))
    cases = planted.path / "cases/exam.fc.yaml"
    cases.write_text(cases.read_text("utf-8").replace("top_k: 3", "top_k: 4"), "utf-8")
    replayed = planted.shop.run("--fc-model=openai:exam", "--fc-replay", *LOUD, *MILD)
    replayed.stdout.fnmatch_lines(["*the settings changed: top_k was 3, is 4*"])
    assert leaks(planted.path, replayed, keys=SECRETS) == []


def test_a_key_on_the_command_line_is_not_repeated(exam: Exam) -> None:
    exam.cities("Paris")
    exam.shop.file(
        "test_plain.py", "def test_plain(fc_model):\n    reply = fc_model('hello')\n    assert not reply.text\n"
    )
    exam.server.default = lambda asked: provider_error(400, asked.path) if "Paris" in prompt_of(asked) else chat("Hi.")
    query = f"base_url={exam.server.url}?sig={SECRETS['query']}"
    result = exam.shop.run(f"--fc-model=openai:exam?{query}", "--full-trace", *LOUD)
    result.assert_outcomes(errors=1, failed=1)
    assert leaks(exam.path, result, keys=SECRETS) == []
