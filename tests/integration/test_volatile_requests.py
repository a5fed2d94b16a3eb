"""What differs each time in requests to a model is no part of the keys of its recordings."""

from __future__ import annotations

from shutil import rmtree

import pytest

from tests.by_night import by_night
from tests.integration.command import fcall_here
from tests.integration.exam import Exam, assert_errors, called
from tests.servers import chat

DAY = r"\d{4}-\d\d-\d\d"
FILE = "cases/today.fc.yaml"


def cases(day: str, above: str = "", *prompts: str) -> str:
    """A file whose system prompt has a date, with a case for each prompt."""
    asked = prompts or (called("Oslo"),)
    listed = "".join(
        f"  - id: case{number}\n    prompt: '{prompt}'\n    expect: [{{get_weather: {{city: Oslo}}}}]\n"
        for number, prompt in enumerate(asked)
    )
    return f"{above}\ndefaults:\n  system: Today is {day}.\ncases:\n{listed}"


class Days:
    """A project whose case file is another one each day, and nothing but the date in its prompt differs."""

    def __init__(self, exam: Exam) -> None:
        self.exam = exam
        self.above = ""
        self.prompts: tuple[str, ...] = ()

    def run(self, day: str, *args: str) -> pytest.RunResult:
        self.exam.shop.cases(cases(day, self.above, *self.prompts), "today.fc.yaml")
        return self.exam.run(*args)

    def ini(self, text: str) -> None:
        self.exam.shop.file("pytest.ini", f"[pytest]\n{text}\n")


@pytest.fixture
def days(exam: Exam, monkeypatch: pytest.MonkeyPatch) -> Days:
    monkeypatch.delenv("CI", raising=False)
    return Days(exam)


def test_a_system_prompt_with_the_date_replays_tomorrow(days: Days) -> None:
    days.above = f"volatile: '{DAY}'"
    days.run("2026-11-22").assert_outcomes(passed=1)
    for workers in ("-n0", "-n2"):
        later = days.run("2026-11-23", "--fc-replay", "-v", workers)
        later.assert_outcomes(passed=1)
        later.stdout.fnmatch_lines([rf"openai:exam: fc_volatile {DAY.replace('[', '[[]')} matched in 1 request"])
        later.stdout.no_fnmatch_line("*matched in no request*")
    days.run("2026-11-24").assert_outcomes(passed=1)
    assert len(days.exam.server.asked) == 1
    assert days.exam.server.asked[0].json["messages"][0]["content"] == "Today is 2026-11-22."


def test_a_missing_reply_offers_the_pattern_for_what_differs(days: Days) -> None:
    days.run("2026-11-22").assert_outcomes(passed=1)
    later = days.run("2026-11-23", "--fc-replay")
    later.assert_outcomes(errors=1)
    assert_errors(
        later,
        "no recorded reply of openai:exam; to ask the model: pytest --fc-model=*",
        "the prompt changed (system message):",
        "  - Today is 2026-11-22.",
        "  + Today is 2026-11-23.",
        rf"if this differs each time: fc_volatile = {DAY}",
    )
    days.ini(f"fc_volatile = {DAY}")
    assert_errors(
        days.run("2026-11-23", "--fc-replay"),
        "*",
        "the prompt changed (system message):",
        "  - Today is 2026-11-22.",
        "  + Today is 2026-11-23.",
        "fc_volatile leaves that out, but it was recorded before, or as another request: record it once more",
    )
    days.run("2026-11-24").assert_outcomes(passed=1)
    days.run("2026-11-25", "--fc-replay").assert_outcomes(passed=1)
    assert len(days.exam.server.asked) == 2


def test_a_pattern_may_be_that_of_a_model_or_of_what_an_alias_stands_for(days: Days) -> None:
    entry = f'[tool.fcall.models."openai:exam"]\nvolatile = [\'{DAY}\']\nbase_url = "{days.exam.server.url}"\n'
    days.exam.shop.file("pyproject.toml", entry + '[tool.fcall.models."fast"]\nmodel = "openai:exam"\n')
    days.exam.shop.cases(cases("2026-11-22"), "today.fc.yaml")
    for model in ("openai:exam", "fast"):
        days.exam.shop.run(f"--fc-model={model}").assert_outcomes(passed=1)
    days.exam.shop.cases(cases("2026-11-23"), "today.fc.yaml")
    for model in ("openai:exam", "fast"):
        days.exam.shop.run(f"--fc-model={model}", "--fc-replay").assert_outcomes(passed=1)
    assert all("volatile" not in asked.json for asked in days.exam.server.asked)


def test_each_model_gives_an_answer_of_its_own(days: Days) -> None:
    days.above = f"volatile: '{DAY}'"
    days.exam.shop.cases(cases("2026-11-22", days.above), "today.fc.yaml")
    for model in ("one", "two"):
        days.exam.shop.run(f"--fc-model={days.exam.named(model)}").assert_outcomes(passed=1)
    assert [asked.json["model"] for asked in days.exam.server.asked] == ["one", "two"]


@pytest.mark.parametrize("workers", ["-n0", by_night("-n2")])
def test_cases_that_differ_in_nothing_else_keep_answers_of_their_own(days: Days, workers: str) -> None:
    days.ini(r"fc_volatile = Oslo|Rome")
    days.prompts = called("Oslo"), called("Rome")
    for args in ((), ("--fc-replay", workers)):
        days.run("2026-11-22", *args).assert_outcomes(passed=1, failed=1)
    assert len(days.exam.server.asked) == 2


def test_questions_of_one_test_that_differ_in_nothing_else_keep_answers_of_their_own(days: Days) -> None:
    days.ini(r"fc_volatile = Oslo|Rome")
    days.exam.shop.file(
        "test_towns.py",
        """
        def test_towns(fc_model):
            said = [fc_model(f"Where is {town}?").text for town in ("Oslo", "Rome", "Oslo")]
            assert said == [f"You said: Where is {town}?" for town in ("Oslo", "Rome", "Oslo")]
        """,
    )
    for args in ((), ("--fc-replay",)):
        days.exam.run("test_towns.py", *args).assert_outcomes(passed=1)
    assert len(days.exam.server.asked) == 2


def test_a_pattern_of_a_file_that_matches_nothing_is_told_with_the_file(days: Days) -> None:
    days.above = f"volatile: ['{DAY}', Monday]"
    days.exam.shop.file("cases/other.fc.yaml", "volatile: Tuesday\ncases: [{id: other, prompt: x, expect: no_call}]")
    result = days.run("2026-11-22")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines_random(
        [
            f"{FILE}: `volatile`: Monday matched in no request of this run",
            "cases/other.fc.yaml: `volatile`: Tuesday matched in no request of this run",
        ]
    )
    result.stdout.no_fnmatch_line(r"*d{4}* matched in no request*")


def test_a_pattern_of_an_included_file_counts_too(days: Days) -> None:
    days.exam.shop.file("shared.yaml", f"volatile: '{DAY}'")
    days.above = "include: ../shared.yaml"
    for day in ("2026-11-22", "2026-11-23"):
        days.run(day).assert_outcomes(passed=1)
    assert len(days.exam.server.asked) == 1


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("'('", "`volatile`: '(' is not a valid regular expression*"),
        ("x*", "`volatile`: 'x[*]' also matches where nothing is, and so everywhere"),
        ("[7]", "a pattern of `volatile` must be a string*"),
        ("{a: b}", "`volatile` must be a list*"),
    ],
)
def test_a_pattern_of_a_file_that_cannot_be_used_is_a_fault_with_its_line(days: Days, written: str, told: str) -> None:
    days.above = f"volatile: {written}"
    result = days.run("2026-11-22")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"{FILE}:12:*: {told}"])


def test_a_pattern_that_takes_for_ever_is_an_error_of_the_case(days: Days, monkeypatch: pytest.MonkeyPatch) -> None:
    # Any limit is reached; the right one is held by a test of Volatile itself.
    monkeypatch.setattr("pytest_fcall.backends.recordings.volatile.VOLATILE_SECONDS", 0.05)
    days.above = "volatile: (x+x+)+y"
    result = days.run("x" * 5_000)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*fc_volatile: '(x+x+)+y' takes too long on this request*"])


def test_fcall_show_says_what_was_left_out(days: Days, capsys: pytest.CaptureFixture[str]) -> None:
    from pytest_fcall.cli import main

    days.above = f"volatile: '{DAY}'"
    days.run("2026-11-22").assert_outcomes(passed=1)
    days.run("2026-11-23", "--fc-replay").assert_outcomes(passed=1)
    capsys.readouterr()
    assert main(["show", "case0"]) == 0
    assert "left out of keys" in (shown := capsys.readouterr().out)
    assert rf"2026-11-23 ({DAY})" in shown


def test_steps_of_a_conversation_are_found_without_what_differs_in_any_of_them(days: Days) -> None:
    days.above = f"volatile: '{DAY}'"
    written = """
      - id: two
        turns:
          - {user: Hello, answer: {$contains: Hello}}
          - {user: Bye, answer: {$contains: Bye}}
    """
    for day in ("2026-11-22", "2026-11-23"):
        text = f"{days.above}\ndefaults:\n  system: Today is {day}.\ncases:{written}"
        days.exam.shop.cases(text.replace("\n    ", "\n"), "today.fc.yaml")
        days.exam.run().assert_outcomes(passed=1)
    assert len(days.exam.server.asked) == 2


def test_an_app_behind_an_address_replays_tomorrow_too(days: Days) -> None:
    days.ini(f"fc_volatile = {DAY}")
    for day, args in (("2026-11-22", ()), ("2026-11-23", ("--fc-replay",))):
        days.exam.shop.cases(cases(day), "today.fc.yaml")
        model = f"--fc-model=http:{days.exam.server.url}/chat/completions"
        days.exam.shop.run(model, *args).assert_outcomes(passed=1)
    assert len(days.exam.server.asked) == 1


def test_a_model_that_judges_is_asked_about_each_answer(days: Days) -> None:
    days.ini(r"fc_volatile = \d+")
    written = "cases: [{id: judged, prompt: Count., answer: {$judge: It is a number.}, expect: no_call}]"
    days.exam.shop.cases(written, "today.fc.yaml")
    answers = {"one": "1", "two": "2", "judge": '{"reason": "it is", "answer": "yes"}'}
    days.exam.server.default = lambda asked: chat(answers[asked.json["model"]])
    for model in ("one", "two"):
        judge = f"--fc-judge={days.exam.named('judge')}"
        days.exam.shop.run(f"--fc-model={days.exam.named(model)}", judge).assert_outcomes(passed=1)
    assert [asked.json["model"] for asked in days.exam.server.asked] == ["one", "judge", "two", "judge"]


def test_recordings_under_version_control_are_found_tomorrow(days: Days) -> None:
    days.above = f"volatile: '{DAY}'"
    days.run("2026-11-22").assert_outcomes(passed=1)
    folder = days.exam.path
    assert "1 new" in fcall_here(folder, "record", "--export").stdout
    rmtree(folder / ".fcall")
    days.run("2026-11-23", "--fc-replay").assert_outcomes(passed=1)
    assert "1 new" in fcall_here(folder, "record", "--load").stdout
    assert "0 new" in fcall_here(folder, "record", "--export").stdout
    days.run("2026-11-24", "--fc-replay").assert_outcomes(passed=1)
    assert len(days.exam.server.asked) == 1
