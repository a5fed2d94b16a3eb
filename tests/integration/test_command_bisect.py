"""`fcall bisect`: which edit made a case fail."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.by_night import by_night
from tests.integration.command import fcall, in_new_pythons, run_pytest
from tests.servers import Answer, Asked, Server
from tests.servers.completions import chat
from tests.servers.faults import provider_error

FILE = "cases/weather.fc.yaml"
OLD = """\
tools:
  - name: get_weather
    description: Weather of a city.
    parameters:
      type: object
      properties: {city: {type: string}, unit: {type: string}}
      required: [city]
defaults:
  settings: {temperature: 0}
  system: |
    You are a clerk.
    Call tools where you can.
cases:
  - {id: oslo, prompt: "Weather in Oslo?", expect: [{get_weather: {city: Oslo}}]}
  - {id: rome, prompt: "Weather in Rome?", expect: [{get_weather: {city: Rome}}]}
"""
Guilty = Callable[[str, dict[str, Any]], bool]
Run = Callable[..., subprocess.CompletedProcess[str]]


class Clerk:
    """A project whose model is served, and calls the tool unless something in the question keeps it from that."""

    def __init__(self, path: Path, server: Server) -> None:
        self.path = path
        self.server = server
        self.guilty: Guilty = lambda *_: False
        server.default = self._answer
        (path / "pytest.ini").write_text(f"[pytest]\nfc_model = openai:exam?base_url={server.url}\n")
        (path / "cases").mkdir()
        self.write(OLD)

    def _answer(self, asked: Asked) -> Answer:
        body = asked.json
        system = " ".join(each["content"] for each in body["messages"] if each["role"] == "system")
        city = body["messages"][-1]["content"].removeprefix("Weather in ").removesuffix("?")
        if self.guilty(system, body):
            return chat("Sunny.")
        return chat(calls=[("get_weather", {"city": city})])

    def write(self, text: str, name: str = FILE) -> None:
        (self.path / name).write_text(text, encoding="utf-8")

    def edit(self, *pairs: tuple[str, str]) -> None:
        text = OLD
        for before, after in pairs:
            assert before in text
            text = text.replace(before, after)
        self.write(text)

    def accept(self) -> None:
        assert run_pytest(self.path, "-q", "--fc-live", "--fc-accept", CI="").returncode == 0

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        asked = [] if "--fc-replay" in arguments else ["--fc-live"]
        return run_pytest(self.path, *asked, *arguments)

    def bisect(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        self.server.asked.clear()
        return fcall(self.path, "bisect", *arguments, COLUMNS="80", **environment)

    def git(self, *arguments: str) -> None:
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *arguments]
        subprocess.run(command, cwd=self.path, check=True, capture_output=True)


@pytest.fixture
def clerk(tmp_path: Path, server: Server) -> Clerk:
    return Clerk(tmp_path, server)


BRIEF = ("Call tools where", "Answer briefly. Be kind.\n    Call tools where")
DESCRIBED = ("Weather of a city.", "Weather of a city. Use Celsius.")


@pytest.mark.needs("git")
def test_a_sentence_of_the_system_prompt_is_found_by_a_few_questions_and_undone_by_a_patch(clerk: Clerk) -> None:
    clerk.accept()
    clerk.guilty = lambda system, _: "Answer briefly." in system
    clerk.edit(BRIEF, DESCRIBED, ("temperature: 0", "temperature: 0, seed: 7"))
    assert clerk.run().returncode == 1
    done = clerk.bisect("--yes", "--patch=undo.diff")
    assert done.returncode == 0, done.stderr
    assert "4 edits in 2 cases" in done.stdout
    assert done.stdout.count("  system prompt, sentence 2: 'Answer briefly.' was added\n") == 3
    assert "without this edit the case is right, with the other 3 edits in place" in done.stdout
    assert "1 edit is enough to make all 2 cases fail" in done.stdout
    assert len(clerk.server.asked) <= 6  # three for the first case, two for the second, and none for the ends
    assert max(map(len, done.stdout.splitlines())) <= 120
    clerk.git("init", "--quiet")
    clerk.git("apply", "undo.diff")
    assert clerk.run().returncode == 0
    assert "Be kind." in (clerk.path / FILE).read_text()


def test_a_second_search_asks_nothing_again_and_a_replay_needs_no_model(clerk: Clerk) -> None:
    clerk.accept()
    clerk.guilty = lambda _, body: "Celsius" in body["tools"][0]["function"]["description"]
    clerk.edit(BRIEF, DESCRIBED)
    clerk.run()
    first = clerk.bisect("--yes")
    assert "tool get_weather: description, sentence 2: 'Use Celsius.' was added" in first.stdout
    assert clerk.server.asked
    for option in ("--fc-replay", "--yes"):
        again = clerk.bisect(option)
        assert again.returncode == 0
        assert "fcall bisect: nothing was asked" in again.stdout
        assert clerk.server.asked == []
    assert "16 replies" in fcall(clerk.path, "record", "--export").stdout  # of runs, and none of those between
    assert "bisect" not in next(clerk.path.rglob("*.recorded.jsonl")).read_text()


def test_two_edits_that_are_harmless_alone_are_told_as_one_cause(clerk: Clerk) -> None:
    clerk.accept()
    clerk.guilty = lambda system, body: "briefly" in system and "enum" in json.dumps(body["tools"])
    clerk.edit(BRIEF, DESCRIBED, ("unit: {type: string}", "unit: {type: string, enum: [c, f]}"))
    clerk.run()
    done = clerk.bisect(f"{FILE}::oslo", "--yes")
    assert done.returncode == 0, done.stderr
    assert "  two edits, each harmless alone:\n" in done.stdout
    assert "system prompt, sentence 2: 'Answer briefly.' was added" in done.stdout
    assert 'tool get_weather: parameter unit: enum: \'["c","f"]\' was added' in done.stdout
    assert re.search(r"^2? ?\d? ?.*parameter unit: enum +\+$", done.stdout, re.MULTILINE)


def test_each_case_has_its_own_cause_in_the_table(clerk: Clerk) -> None:
    clerk.accept()

    def guilty(system: str, body: dict[str, Any]) -> bool:
        city = body["messages"][-1]["content"]
        return ("briefly" in system and "Oslo" in city) or ("kind" in system and "Rome" in city)

    clerk.guilty = guilty
    clerk.edit(BRIEF, DESCRIBED)
    clerk.run()
    done = clerk.bisect("--yes", "--each")
    assert "2 edits are enough to make all 2 cases fail" in done.stdout
    rows = [line for line in done.stdout.splitlines() if re.match(r"\d (system|tool)", line)]
    assert [row.split()[-2:] for row in rows] == [["✗", "✓"], ["✓", "✗"], ["✓", "✓"]]


def test_without_consent_nothing_is_asked_and_nothing_is_called_a_cause(clerk: Clerk) -> None:
    clerk.accept()
    clerk.guilty = lambda system, _: "briefly" in system
    clerk.edit(BRIEF)
    clerk.run()
    plan = clerk.bisect("--dry-run")
    assert plan.returncode == 0
    assert (
        "plan for 2 cases: about 5 requests if one edit is guilty and all answers agree, and at most 100" in plan.stdout
    )
    done = clerk.bisect()
    assert done.returncode == 10
    assert "recordings alone are used: --yes has models asked" in done.stdout
    assert "one or more of these 2 edits" in done.stdout
    assert "fails since" not in done.stdout
    assert clerk.server.asked == []


def test_the_cap_is_kept_to_and_the_candidates_that_are_left_are_told(clerk: Clerk) -> None:
    clerk.accept()
    clerk.guilty = lambda system, _: "Rule three." in system
    clerk.edit(("Call tools where", "Rule one.\n    Rule two.\n    Rule three.\n    Rule four.\n    Call tools where"))
    clerk.run()
    done = clerk.bisect(f"{FILE}::oslo", "--yes", "--max-requests=1")
    assert done.returncode == 10
    assert len(clerk.server.asked) == 1
    assert "one or more of these" in done.stdout
    assert "'Rule three.' was added" in done.stdout
    assert "the limit of 1 requests is reached" in done.stdout
    assert clerk.bisect(f"{FILE}::oslo", "--yes").returncode == 0


@pytest.mark.needs("git")
def test_the_old_question_may_be_that_of_a_revision(clerk: Clerk) -> None:
    clerk.write("You are a clerk.\nCall tools where you can.\n", "cases/prompt.txt")
    with_file = OLD.replace("|\n    You are a clerk.\n    Call tools where you can.", "{file: prompt.txt}")
    clerk.write(with_file)
    clerk.write("cases export-ignore\n", ".gitattributes")
    clerk.git("init", "--quiet")
    clerk.git("add", "--all")
    clerk.git("commit", "--quiet", "--message", "one")
    clerk.guilty = lambda system, _: "briefly" in system
    clerk.write("You are a clerk.\nAnswer briefly.\nBe kind.\nCall tools where you can.\n", "cases/prompt.txt")
    clerk.write(with_file.replace("city: Rome}}]}", "city: Rome, $optional: {unit: c}}}]}"))
    before = sorted(path.name for path in Path(clerk.path).rglob("*") if ".git/" not in str(path))
    done = clerk.bisect(FILE, "--from=git:HEAD", "--yes")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "system prompt, sentence 2: 'Answer briefly.' was added" in done.stdout
    assert "-Answer briefly." in done.stdout
    assert "a/cases/prompt.txt" in done.stdout
    assert {*before} <= {path.name for path in clerk.path.rglob("*")}
    assert clerk.bisect(FILE, "--from=git:nowhere").returncode == 2
    other = f"--fc-model=openai:other?base_url={clerk.server.url}"
    assert clerk.bisect(FILE, "--from=git:HEAD", other).returncode == 10  # of which nothing is recorded


@pytest.mark.needs("git")
@pytest.mark.parametrize("run", [fcall, by_night(in_new_pythons)])
def test_a_file_that_is_new_since_the_revision_is_left_out_and_named(clerk: Clerk, run: Run) -> None:
    clerk.git("init", "--quiet")
    clerk.git("add", "--all")
    clerk.git("commit", "--quiet", "--message", "one")
    clerk.guilty = lambda system, _: "Answer briefly." in system
    clerk.edit(BRIEF)
    clerk.write(OLD, "cases/new.fc.yaml")
    done = run(clerk.path, "bisect", "cases", "--from=git:HEAD", "--yes", COLUMNS="80")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "cases/new.fc.yaml::oslo: not bisected: cases/new.fc.yaml is new since HEAD\n" in done.stdout
    assert "system prompt, sentence 2: 'Answer briefly.' was added" in done.stdout


def test_another_model_is_an_edit(clerk: Clerk) -> None:
    clerk.guilty = lambda _, body: body["model"] == "worse"
    old, new = (f"openai:{name}?base_url={clerk.server.url}" for name in ("exam", "worse"))
    clerk.accept()
    done = clerk.bisect(f"{FILE}::oslo", f"--from-model={old}", f"--fc-model={new}", "--yes")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "  model: 'openai:exam' → 'openai:worse'" in done.stdout
    assert "the model was openai:exam, and is openai:worse" in done.stdout


def test_there_is_nothing_to_bisect_where_the_question_is_the_accepted_one_or_failed_before(clerk: Clerk) -> None:
    clerk.accept()
    same = clerk.bisect(FILE, "--yes")
    assert same.returncode == 1
    assert "the question is the accepted one, word for word" in same.stdout
    clerk.guilty = lambda *_: True
    clerk.edit(BRIEF, ("city: Oslo}}]", "city: Bergen}}]"))
    failed = clerk.bisect(f"{FILE}::oslo", "--yes")
    assert failed.returncode == 1
    assert "the old question fails by today's expectation, too (0/1 answers right)" in failed.stdout
    clerk.guilty = lambda *_: False
    clerk.edit(BRIEF)
    fine = clerk.bisect(f"{FILE}::rome", "--yes")
    assert fine.returncode == 1
    assert "today's question is answered rightly" in fine.stdout


def test_the_model_of_a_fixture_is_not_offered_where_no_test_runs(clerk: Clerk) -> None:
    clerk.accept()
    (clerk.path / "pytest.ini").write_text("[pytest]\n")
    (clerk.path / "conftest.py").write_text("import pytest\n@pytest.fixture\ndef fc_model(): return 'openai:x'\n")
    done = clerk.bisect(f"{FILE}::oslo", "--yes")
    assert "that of a fixture `fc_model` is there in tests only" in done.stdout + done.stderr
    assert "or by a fixture" not in done.stdout + done.stderr


def test_a_model_that_answers_by_chance_is_asked_until_chance_is_excluded(clerk: Clerk) -> None:
    drawn = OLD.replace("temperature: 0", "temperature: 1")
    clerk.write(drawn)
    clerk.accept()
    asked = iter(range(10_000))
    clerk.guilty = lambda system, _: "briefly" in system and next(asked) % 7 != 3  # right now and then all the same
    clerk.write(drawn.replace(*BRIEF).replace(*DESCRIBED))
    clerk.run(f"{FILE}::oslo")
    done = clerk.bisect(f"{FILE}::oslo", "--yes")
    assert done.returncode == 0, done.stdout
    assert "  system prompt, sentence 2: 'Answer briefly.' was added" in done.stdout
    assert len(clerk.server.asked) >= 10


@pytest.mark.needs("git")
def test_conversations_are_bisected_turn_by_turn(clerk: Clerk) -> None:
    turns = OLD.partition("cases:")[0] + (
        "cases:\n  - id: trip\n    stubs: {get_weather: 4}\n    turns:\n"
        "      - {user: Weather in Oslo?, expect: [{get_weather: {city: Oslo}}]}\n"
        "      - {user: 'Weather in Rome?', expect: [{get_weather: {city: Rome}}]}\n"
    )
    clerk.write(turns)

    def answer(asked: Asked) -> Answer:
        body = asked.json
        if body["messages"][-1]["role"] == "tool":
            return chat("Four degrees.")
        return clerk._answer(asked)

    clerk.server.default = answer
    clerk.git("init", "--quiet")
    clerk.git("add", "--all")
    clerk.git("commit", "--quiet", "--message", "one")
    clerk.guilty = lambda _, body: "please" in body["messages"][-1]["content"]
    clerk.write(turns.replace("Weather in Rome?", "Weather in Rome? Answer, please.").replace(*DESCRIBED))
    done = clerk.bisect(FILE, "--from=git:HEAD", "--yes")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "  turn 2: prompt, sentence 2: 'Answer, please.' was added" in done.stdout


def test_a_case_with_a_faulty_result_is_bisected_by_itself(clerk: Clerk) -> None:
    clerk.server.default = clumsy
    expected = "expect: [{get_weather: {city: Oslo}}]"
    faulty = f"{expected[:-2]}, returns: {{sky: Sunny}}}}], faults: {{tool: get_weather, kind: error}}"
    text = OLD.replace(expected, faulty)
    clerk.write(text)
    clerk.accept()
    clerk.write(text.replace(*BRIEF))
    assert clerk.run().returncode == 1
    done = clerk.bisect("--yes")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 edits in 1 case" in done.stdout
    assert f"{FILE}::oslo[fault=error] fails since" in done.stdout
    assert "right now):\n  system prompt, sentence 2: 'Answer briefly.' was added\n" in done.stdout


def clumsy(asked: Asked) -> Answer:
    """Repeats a call that failed, unless it is told to be brief."""
    system, *others = asked.json["messages"]
    results = [each for each in others if each["role"] == "tool"]
    if not results or ("error" in results[-1]["content"] and "briefly" not in system["content"]):
        return chat(calls=[("get_weather", {"city": others[0]["content"][len("Weather in ") : -1]})])
    return chat("Sunny.")


def test_what_texts_hold_for_terminals_is_escaped_and_keys_are_not_shown(clerk: Clerk) -> None:
    clerk.accept()
    clerk.guilty = lambda system, _: "\x1b" in system
    clerk.edit(
        (
            "  system: |\n",
            '  system: "You \\e]0;owned\\a are \\u202e a clerk.\\nCall tools where you can."\n  ignored: |\n',
        )
    )
    clerk.write((clerk.path / FILE).read_text().partition("  ignored")[0] + OLD[OLD.index("cases:") :])
    clerk.run()
    done = clerk.bisect(f"{FILE}::oslo", "--yes", OPENAI_API_KEY="sk-very-secret-0123456789")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "\x1b" not in done.stdout
    assert "\u202e" not in done.stdout
    assert "sk-very" not in done.stdout + done.stderr


def test_without_recordings_the_accounts_of_runs_have_the_old_question_and_without_both_it_says_what_is_missing(
    clerk: Clerk,
) -> None:
    clerk.accept()
    clerk.guilty = lambda system, _: "briefly" in system
    clerk.edit(BRIEF, DESCRIBED)
    clerk.run()
    for file in (clerk.path / ".fcall").glob("replies.db*"):
        file.unlink()
    kept = clerk.bisect(f"{FILE}::oslo", "--yes")
    assert kept.returncode == 0, kept.stdout + kept.stderr
    assert "system prompt, sentence 2: 'Answer briefly.' was added" in kept.stdout
    shutil.rmtree(clerk.path / ".fcall")
    lost = clerk.bisect(f"{FILE}::oslo", "--yes")
    assert lost.returncode == 1
    assert "the accepted question is not kept on this machine" in lost.stdout
    assert "--from=git:main" in lost.stdout
    assert clerk.server.asked == []


def test_a_question_that_the_model_refuses_leaves_the_edits_around_it_together(clerk: Clerk) -> None:
    clerk.accept()
    clerk.guilty = lambda system, _: "Rule two." in system

    def answer(asked: Asked) -> Answer:
        system = asked.json["messages"][0]["content"]
        if "Rule one." in system and "Rule two." not in system:
            return provider_error(400, "this prompt cannot be read")
        return clerk._answer(asked)

    clerk.server.default = answer
    clerk.edit(("Call tools where", "Rule one.\n    Rule two.\n    Call tools where"))
    clerk.run()
    done = clerk.bisect(f"{FILE}::oslo", "--yes")
    assert done.returncode == 10, done.stdout
    assert "one or more of these 2 edits" in done.stdout
    assert "this prompt cannot be read" in done.stdout
