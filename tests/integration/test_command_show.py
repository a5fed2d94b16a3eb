"""`fcall show`: what was asked and answered in a run."""

from __future__ import annotations

import json
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.by_night import by_night
from tests.integration.command import fcall_here
from tests.integration.conftest import Shop
from tests.integration.exam import Exam
from tests.integration.mind import RIGHT, WRONG, Mind
from tests.integration.test_inside_apps import AGENT
from tests.servers import Server


def show(shop: Shop, *arguments: str) -> CompletedProcess[str]:
    return fcall_here(shop.pytester.path, "show", *arguments, COLUMNS="100", PYTHONIOENCODING="utf-8")


def shown(shop: Shop, *arguments: str) -> list[str]:
    """The lines about a case, without the first, which names the run."""
    done = show(shop, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[1:]


@pytest.mark.parametrize("workers", ["-n0", by_night("-n2")])
def test_a_case_that_passes_is_shown_with_all_there_is(exam: Exam, workers: str) -> None:
    exam.cities("Oslo", "Rome")
    path = exam.path / "cases/exam.fc.yaml"
    path.write_text("defaults: {system: You help., settings: {temperature: 0}}\n" + path.read_text("utf-8"), "utf-8")
    exam.shop.pytester.makepyprojecttoml('[tool.fcall.prices."openai:exam"]\ninput = 25\noutput = 50\n')
    exam.run("--fc-accept", workers)
    exam.run(workers)

    first, *lines, last = shown(exam.shop, "Oslo")

    assert first.startswith("cases/exam.fc.yaml:")
    assert first.endswith(" Oslo (openai:exam): right")
    assert lines == [
        "  asked:",
        "    system: You help.",
        """    user: [{"name": "get_weather", "arguments": {"city": "Oslo"}}]""",
        "  answered:",
        '    get_weather(city: "Oslo")',
        "  tools:",
        "    get_weather",
        "  settings:",
        "    temperature: 0",
        "  figures:",
    ]
    assert last.startswith("    replayed, $0.0010, 30 tokens, ")


def test_a_wrong_answer_is_shown_with_its_reasons_and_the_baseline(mind: Mind) -> None:
    mind.cases("one", "two")
    mind.run("--fc-samples=6", "--fc-accept")
    mind.says({"one": WRONG})
    mind.run("--fc-confirm=10")

    lines = shown(mind.shop, "one")

    assert lines[0].startswith("cases/a.fc.yaml:13 one (python:mind:answer): wrong, regressed, 0 of ")
    assert "    wrong_value at calls[0].args.city: `city` is 'Rome', expected 'Oslo'" in lines
    assert "  since the baseline:" in lines
    assert "    calls[0].args.city: 'Oslo' → 'Rome'" in lines


def test_each_of_several_answers_is_shown_in_brief(mind: Mind) -> None:
    mind.cases("one")
    mind.says_in_turn("one", RIGHT, WRONG, "I do not know.")
    mind.run("--fc-samples=3 any")

    lines = shown(mind.shop, "one")

    assert lines[0].endswith(": right, 1 of 3 answers right")
    start = lines.index("  all answers:")
    assert lines[start + 1 : start + 4] == [
        '    ✓ get_weather(city: "Oslo")',
        '    ✗ get_weather(city: "Rome")',
        '    ✗ "I do not know."',
    ]


def test_a_conversation_is_shown_with_results(shop: Shop) -> None:
    shop.cases(
        """
        cases:
          - id: talk
            turns:
              - user: '[{"name": "get_weather", "arguments": {"city": "Oslo"}}]'
                expect: [{get_weather: {city: Oslo}, returns: 7 degrees}]
              - user: Thanks
                answer: {$contains: Thanks}
        """
    )
    shop.ask()

    lines = shown(shop, "talk")

    start = lines.index("  said:")
    assert lines[start + 2] == '      get_weather(city: "Oslo") → "7 degrees"'
    assert "    user: Thanks" in lines
    assert "      text: You said: Thanks" in lines


def test_the_requests_of_an_app_are_shown(shop: Shop, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.pytester.makepyfile(agent=AGENT)
    shop.cases(
        """
        cases:
          - id: oslo
            prompt: '[{"name": "get_weather", "arguments": {"city": "Oslo"}}]'
            expect: [{get_weather: {city: Oslo}}]
        """
    )
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    shop.run("--fc-model=python:agent:answer").assert_outcomes(passed=1)

    lines = shown(shop, "oslo")

    start = lines.index("  inside the app:")
    assert lines[start + 1] == "    request 1 to openai:exam-1:" or lines[start + 1] == "    request 1 to exam-1:"
    assert "      system: You know the weather." in lines
    assert '      get_weather(city: "Oslo")' in lines
    assert "      user: Well?" in lines


@pytest.mark.nightly  # as the unit test of its text
def test_a_case_without_a_reply_is_shown_with_the_cause(shop: Shop) -> None:
    shop.cases("cases:\n  - {id: one, prompt: Hi, expect: no_call}\n")
    shop.run("--fc-model=python:echo:down")

    lines = shown(shop, "one")

    assert lines[0].endswith("one (python:echo:down): error")
    assert "    user: Hi" in lines
    assert "  answered:" not in lines
    assert any("the shop is closed" in line for line in lines[lines.index("  why:") :])


@pytest.mark.parametrize(
    "name", ["cases/weather.fc.yaml::celsius", "cel", *map(by_night, ("celsius", "weather.fc.yaml::celsius"))]
)
def test_a_case_is_named_by_any_part_that_only_it_has(weather: Shop, name: str) -> None:
    weather.ask()

    assert shown(weather, name)[0] == "cases/weather.fc.yaml:14 celsius (python:echo:answer): right"


def test_several_cases_of_a_name_are_listed(weather: Shop) -> None:
    weather.ask()

    done = show(weather, "e")

    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "fcall show: 2 cases match 'e':",
        "  cases/weather.fc.yaml::celsius",
        "  cases/weather.fc.yaml::fahrenheit",
    ]


def test_an_unknown_name_is_an_error_with_a_suggestion(weather: Shop) -> None:
    weather.ask()

    done = show(weather, "farenheit")

    assert done.returncode == 1
    assert done.stderr.rstrip().endswith("; did you mean `fahrenheit`?")


@pytest.mark.parametrize("case", [["celsius"], []])
def test_a_model_that_the_run_has_not_is_told_with_those_that_it_has(weather: Shop, case: list[str]) -> None:
    weather.ask()
    done = show(weather, *case, "--model=nosuch")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--model: nosuch: no model is called so; the runs have python:echo:answer\n" in done.stderr


@pytest.mark.nightly  # as one from elsewhere
def test_any_run_that_is_kept_can_be_shown(mind: Mind) -> None:
    mind.cases("one")
    mind.run()
    (first,) = runs(mind.path)
    mind.says({"one": WRONG})
    mind.run("--fc-record=all")

    assert '    get_weather(city: "Oslo")' in shown(mind.shop, "one", "--run", first.name)
    assert '    get_weather(city: "Rome")' in shown(mind.shop, "one")


def test_a_run_from_elsewhere_is_shown_as_far_as_its_file_goes(mind: Mind) -> None:
    mind.cases("one")
    mind.run()
    (run,) = runs(mind.path)
    (mind.path / "ci.json").write_bytes(run.read_bytes())

    lines = shown(mind.shop, "one", "--run", "ci.json")

    assert lines[0].endswith("one (python:mind:answer): right")
    assert '    get_weather(city: "Oslo")' in lines
    assert "    the question and the text of the answer are kept for the last runs of this machine only" in lines


def test_one_case_is_shown_under_each_model_and_under_the_one_that_is_named(mind: Mind) -> None:
    mind.cases("one")
    mind.run("--fc-model=python:mind:other")

    both, one = shown(mind.shop, "one"), shown(mind.shop, "one", "--model=*other")

    assert [line for line in both if line.startswith("cases/")] == [
        "cases/a.fc.yaml:13 one (python:mind:answer): right",
        "cases/a.fc.yaml:13 one (python:mind:other): right",
    ]
    assert [line for line in one if line.startswith("cases/")] == ["cases/a.fc.yaml:13 one (python:mind:other): right"]


def test_without_a_name_all_cases_are_listed(weather: Shop) -> None:
    weather.ask()

    done = show(weather)

    assert done.stdout.splitlines() == [
        "              python:echo:answer",
        'celsius     ✓ get_weather(city: "Paris", unit: "celsius")',
        'fahrenheit  ✗ get_weather(city: "Paris", unit: "celsius")',
    ]


@pytest.mark.parametrize(("ini", "kept"), [by_night("", True), ("fc_runs = 0", False)])
def test_accounts_are_kept_where_runs_are(weather: Shop, ini: str, kept: bool) -> None:
    weather.pytester.makeini(f"[pytest]\n{ini}\n")
    weather.ask()

    assert any((weather.pytester.path / ".fcall").rglob("*.accounts.jsonl.gz")) is kept


def test_the_accounts_of_shards_are_merged(weather: Shop) -> None:
    for number in (1, 2):
        weather.ask(f"--fc-shard={number}/2")
    shards = [path.relative_to(weather.pytester.path).as_posix() for path in runs(weather.pytester.path)]
    done = fcall_here(weather.pytester.path, "merge", *shards, "-o", "merged.json")
    assert done.returncode == 1, done.stderr

    for case in ("celsius", "fahrenheit"):
        assert any("    user: " in line for line in shown(weather, case, "--run=merged.json"))


def runs(folder: Path) -> list[Path]:
    return sorted((folder / ".fcall/runs").glob("*.json"))


def test_an_account_is_shown_safely(shop: Shop) -> None:
    prompt = json.dumps("\x1b[31mred\u202e")
    shop.cases(f"cases:\n  - {{id: one, prompt: {prompt}, expect: no_call}}\n")
    shop.ask()

    assert "\x1b" not in "".join(shown(shop, "one"))
