"""`--fc-judge`: a model that judges."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.integration.command import fcall_here
from tests.integration.exam import CASES, Exam, called
from tests.servers import Answer, Asked, chat, echo

POLITE = """
cases:
  - id: greets
    prompt: Hello!
    expect: no_call
    answer: {$judge: greets back}
"""


class Court:
    """An exam whose server judges, too, where it is asked as `openai:judge`."""

    def __init__(self, exam: Exam) -> None:
        self.exam = exam
        self.says: Mapping[str, Answer | str] = {}
        """What it answers to a statement; else that it is true."""
        self.by_value: Callable[[Any], str] | None = None
        exam.server.default = self._answer
        self.judge = f"--fc-judge=openai:judge?base_url={exam.server.url}"

    def cases(self, text: str) -> None:
        self.exam.shop.cases(text, "exam.fc.yaml")

    def run(self, *args: str) -> pytest.RunResult:
        return self.exam.run(self.judge, *args)

    def questions(self) -> list[dict[str, Any]]:
        """What the judge was asked."""
        return [
            json.loads(asked.json["messages"][-1]["content"]) for asked in self.exam.server.asked if is_judge(asked)
        ]

    def _answer(self, asked: Asked) -> Answer:
        if not is_judge(asked):
            return echo(asked)
        question = json.loads(asked.json["messages"][-1]["content"])
        if self.by_value:
            return chat(self.by_value(question["value"]))
        said = self.says.get(question["statement"], yes("so it is"))
        return chat(said) if isinstance(said, str) else said


def is_judge(asked: Asked) -> bool:
    return bool(asked.json["messages"][0]["role"] == "system")


def yes(reason: str) -> str:
    return json.dumps({"reason": reason, "answer": "yes"})


def no(reason: str) -> str:
    return json.dumps({"reason": reason, "answer": "no"})


@pytest.fixture
def court(exam: Exam) -> Court:
    return Court(exam)


def saying(name: str, **arguments: object) -> str:
    """What has the server make a call."""
    return json.dumps([{"name": name, "arguments": arguments}])


def test_the_judge_sees_statement_value_and_what_the_user_said(court: Court) -> None:
    court.cases(POLITE)
    result = court.run()
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["fcall: judge openai:judge (command line), asked live; *"])
    assert court.questions() == [{"statement": "greets back", "value": "You said: Hello!", "user": "Hello!"}]


def test_no_is_a_failure_with_the_reason_that_the_judge_gives(court: Court) -> None:
    court.cases(POLITE)
    court.says = {"greets back": no("it only repeats")}
    result = court.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["wrong_answer: `answer`: 'greets back' is not true of it, says the judge: it only repeats (judged)"]
    )
    assert result.ret == 1


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            '{"answer": "uncertain", "reason": "it is half a greeting"}',
            "the judge is uncertain: it is half a greeting.",
        ),
        ("Sure thing!", "the judge is uncertain: its answer is neither yes nor no: 'Sure thing!'."),
        ("\x1b[2J\x00{", "the judge is uncertain: its answer is neither yes nor no: *"),
        ("[" * 5_000, "the judge is uncertain: its answer is neither yes nor no: *"),
        ("", "the judge is uncertain: its answer is empty."),
    ],
)
def test_whatever_is_neither_yes_nor_no_is_not_right_either(court: Court, said: str, told: str) -> None:
    court.cases(POLITE)
    court.says = {"greets back": said}
    result = court.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([f"wrong_answer: `answer` cannot be judged: {told} (judged)"])
    result.stdout.no_fnmatch_line("*Traceback*")


def test_an_argument_is_judged_wherever_it_stands(court: Court) -> None:
    said = saying("get_weather", city="Paris")
    court.cases(
        f"""
        cases:
          - id: france
            prompt: '{said}'
            expect: [{{get_weather: {{city: {{$judge: lies in France}}}}}}]
          - id: not_germany
            prompt: '{said}'
            expect: [{{get_weather: {{city: {{$not: {{$judge: lies in Germany}}}}}}}}]
          - id: either
            prompt: '{said}'
            expect: [{{get_weather: {{city: {{$any: [Oslo, {{$judge: lies in France}}]}}}}}}]
          - id: never
            prompt: '{said}'
            expect: {{never: [{{get_weather: {{city: {{$judge: lies in Germany}}}}}}]}}
        """
    )
    court.says = {"lies in Germany": no("it lies in France")}
    court.run().assert_outcomes(passed=4)


def test_what_needs_no_judge_is_not_asked(court: Court) -> None:
    court.cases(
        f"""
        cases:
          - id: oslo
            prompt: '{called("Oslo")}'
            expect: [{{get_weather: {{city: {{$any: [Oslo, {{$judge: lies in Norway}}]}}}}}}]
        """
    )
    result = court.run()
    result.assert_outcomes(passed=1)
    assert court.questions() == []
    result.stdout.no_fnmatch_line("judge openai:*")


def test_parallel_calls_are_told_apart_by_the_judge(court: Court) -> None:
    calls = json.dumps([{"name": "get_weather", "arguments": {"city": city}} for city in ("Rome", "Oslo")])
    court.cases(
        f"""
        cases:
          - id: two
            prompt: '{calls}'
            expect:
              - get_weather: {{city: {{$judge: Oslo}}}}
              - get_weather: {{city: {{$judge: Rome}}}}
        """
    )
    court.exam.server.default = lambda asked: _same(asked) if is_judge(asked) else echo(asked)
    court.run().assert_outcomes(passed=1)


def _same(asked: Asked) -> Answer:
    question = json.loads(asked.json["messages"][-1]["content"])
    return chat("yes" if question["statement"] == question["value"] else "no")


def test_all_questions_of_a_case_are_asked_at_the_same_time(court: Court) -> None:
    case = """
        cases:
          - id: oslo
            prompt: '{said}'
            expect: [{{get_weather: {{city: {{$judge: {city}, votes: 3}}, days: {{$judge: {days}}}}}}}]
        """
    said = saying("get_weather", city="Oslo", days=3)
    court.cases(case.format(said=said, city="is in Norway", days="is few"))
    court.run().assert_outcomes(passed=1)
    court.cases(case.format(said=said, city="is in Europe", days="is some"))
    with court.exam.answered_from(len(court.exam.server.asked) + 4):
        court.run().assert_outcomes(passed=1)
    assert sorted(each["statement"] for each in court.questions()[4:]) == ["is in Europe"] * 3 + ["is some"]


@pytest.mark.parametrize(
    ("votes", "outcome", "told"),
    [
        (["yes", "no", "yes"], "passed", ""),
        (["no", "yes", "no"], "failed", "*says the judge: * (2 no, 1 yes)*"),
        (["yes", "no"], "failed", "*the judge is uncertain: the votes are 1 *, 1 *"),
        (["yes", "no", "maybe"], "failed", "*the judge is uncertain: the votes are *"),
    ],
)
def test_more_than_half_of_the_votes_decide(court: Court, votes: list[str], outcome: str, told: str) -> None:
    court.cases(POLITE.replace("greets back}", f"greets back, votes: {len(votes)}}}"))
    left = [*votes]
    court.by_value = lambda _: f"{left.pop()}. So I say."
    result = court.run()
    result.assert_outcomes(**{outcome: 1})
    assert left == []
    if told:
        result.stdout.fnmatch_lines([told])


def test_without_a_judge_a_case_that_needs_one_is_an_error_and_nothing_is_asked(court: Court) -> None:
    court.cases(f"{POLITE}\n  - {{id: plain, prompt: Hi, expect: no_call}}\n")
    result = court.exam.run()
    result.assert_outcomes(errors=1, passed=1)
    result.stdout.fnmatch_lines(["*`$judge` needs a model that judges, and none is named. Name one with --fc-judge=*"])
    assert court.exam.asked() == ["Hi"]


def test_a_judge_that_fails_is_an_error_and_no_verdict(court: Court) -> None:
    court.cases(POLITE)
    court.says = {"greets back": Answer(b'{"error": {"message": "no such model"}}', status=404)}
    result = court.run()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*openai:judge: *"])
    assert result.ret == 10


def test_a_judge_that_cannot_be_read_is_refused_at_the_start(court: Court) -> None:
    court.cases(POLITE)
    result = court.exam.run("--fc-judge=gpt")
    result.stderr.fnmatch_lines(["ERROR: --fc-judge: 'gpt' is not the name of a model; write KIND:NAME*"])
    assert result.ret == 4


def test_the_judge_of_the_configuration_answers_from_recordings_unless_models_are_asked(court: Court) -> None:
    court.cases(POLITE)
    court.exam.shop.file("pytest.ini", f"[pytest]\nfc_judge = openai:judge?base_url={court.exam.server.url}\n")
    result = court.exam.run("-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*no recorded reply of openai:judge; to ask the model: pytest --fc-judge=*greets*"])
    court.exam.run("--fc-live").assert_outcomes(passed=1)
    asked = len(court.exam.server.asked)
    court.exam.run().assert_outcomes(passed=1)
    assert len(court.exam.server.asked) == asked


def test_a_recorded_judge_is_not_asked_again(court: Court) -> None:
    court.cases(POLITE)
    court.run().assert_outcomes(passed=1)
    court.run().assert_outcomes(passed=1)
    court.run("--fc-replay").assert_outcomes(passed=1)
    assert len(court.questions()) == 1


def test_without_a_recording_of_the_judge_a_replay_is_an_error(court: Court) -> None:
    court.cases(POLITE.replace("{$judge: greets back}", "{$contains: Hello}"))
    court.run().assert_outcomes(passed=1)
    court.cases(POLITE)
    result = court.run("--fc-replay")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*no recorded reply of openai:judge; to ask the model: pytest --fc-judge=*"])


def test_what_the_judge_took_is_told_apart(court: Court) -> None:
    court.cases(
        f"{POLITE}  - {{id: thanks, prompt: Thanks, expect: no_call, answer: {{$judge: is polite, votes: 3}}}}\n"
    )
    court.exam.shop.file("pyproject.toml", '[tool.fcall.prices."openai:judge"]\ninput = 25\noutput = 50\n')
    result = court.run()
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["judge openai:judge: 4 questions about 2 cases, 120 tokens, $0.0040"])


def test_what_the_judge_may_cost_is_limited_too(court: Court) -> None:
    court.cases(POLITE.replace("cases:", "defaults: {settings: {max_tokens: 10}}\ncases:"))
    prices = '[tool.fcall.prices."openai:{}"]\ninput = {}\noutput = {}\n'
    court.exam.shop.file("pyproject.toml", prices.format("exam", 0, 0) + prices.format("judge", 10_000, 10_000))
    result = court.run("--fc-max-cost=0.01")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*--fc-max-cost*openai:judge*"])
    assert (court.questions(), result.ret) == ([], 10)


def test_properties_and_run_files_name_the_judge(court: Court) -> None:
    court.cases(POLITE)
    court.run("--junitxml=junit.xml")
    assert 'name="fcall_judge" value="openai:judge"' in (court.exam.path / "junit.xml").read_text()
    (run,) = (court.exam.path / ".fcall/runs").glob("*.json")
    (result,) = json.loads(run.read_text())["results"]["results"]
    assert result["judging"]["model"] == "openai:judge"
    assert result["judging"]["questions"] == 1


def test_a_baseline_says_that_a_verdict_is_judged(court: Court, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    court.cases(POLITE)
    court.run("--fc-accept").assert_outcomes(passed=1)
    (kept,) = (court.exam.path / "cases/__fcall__").rglob("*.measured.jsonl")
    assert '"judged":true' in kept.read_text()
    court.says = {"greets back": no("it only repeats")}
    result = court.run("--fc-record=all")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*(judged)"])


def greetings(count: int, statement: str) -> str:
    """The YAML of cases whose answers are judged."""
    return "cases:\n" + "".join(
        f"  - {{id: c{n}, prompt: Hello {n}, expect: no_call, answer: {{$judge: {statement}}}}}\n" for n in range(count)
    )


def test_answers_that_are_there_are_judged_ahead_of_their_tests(court: Court) -> None:
    court.cases(greetings(6, "greets"))
    court.run().assert_outcomes(passed=6)
    court.cases(greetings(6, "is short"))
    with court.exam.answered_from(len(court.exam.server.asked) + 6):
        court.run().assert_outcomes(passed=6)


def test_shards_are_merged_with_what_their_judges_took(court: Court) -> None:
    court.exam.shop.file("pytest.ini", "[pytest]\n")
    court.cases(greetings(6, "greets"))
    for share in ("1/2", "2/2"):
        court.run(f"--fc-shard={share}")
    runs = sorted(map(str, (court.exam.path / ".fcall/runs").glob("*.json")))
    merged = fcall_here(court.exam.path, "merge", *runs)
    assert "judge openai:judge: 6 questions about 6 cases, 180 tokens" in merged.stdout


def test_the_judge_is_asked_by_each_worker_for_its_own(court: Court) -> None:
    court.cases(greetings(6, "greets"))
    result = court.exam.apart(court.judge, "-n2")
    result.assert_outcomes(passed=6)
    result.stdout.fnmatch_lines(["judge openai:judge: 6 questions about 6 cases, 180 tokens*"])


def test_model_and_judge_may_go_by_one_name_and_differ_in_settings(court: Court) -> None:
    court.cases(POLITE)
    court.exam.shop.run(
        f"--fc-model={court.exam.named('judge', temperature=1)}",
        f"--fc-judge={court.exam.named('judge', temperature=0)}",
    )
    assert [asked.json["temperature"] for asked in court.exam.server.asked] == [1, 0]


def test_an_app_of_the_team_may_judge(exam: Exam) -> None:
    exam.shop.file("fair.py", "def judge(request):\n    return 'no: ' + request.messages[0]['role']\n")
    exam.shop.cases(POLITE, "exam.fc.yaml")
    result = exam.run("--fc-judge=python:fair:judge")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*says the judge: system (judged)"])


def test_several_answers_are_judged_each(court: Court) -> None:
    court.cases(POLITE)
    court.exam.server.default = lambda asked: chat("yes") if is_judge(asked) else chat(f"Hi {court.exam.times(asked)}")
    court.run("--fc-samples=3").assert_outcomes(passed=1)
    assert sorted(each["value"] for each in court.questions()) == ["Hi 1", "Hi 2", "Hi 3"]


def test_calls_without_end_do_not_cost_without_end(court: Court) -> None:
    calls = [("get_weather", {"city": f"Town{n}"}) for n in range(150)]
    court.cases("cases:\n  - {id: many, prompt: x, expect: [{get_weather: {city: {$judge: a city}}, times: 150}]}\n")
    court.exam.server.default = lambda asked: chat("yes") if is_judge(asked) else chat(calls=calls)
    result = court.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*one reply leads to more than 100 questions to the judge*"])
    assert len(court.questions()) == 100


def test_a_conversation_is_judged_when_it_is_over(court: Court) -> None:
    on = called("Rome").replace('"', '\\"')
    court.cases(
        f"""
        cases:
          - id: twice
            prompt: '{called("Oslo")}'
            expect:
              - get_weather: {{city: {{$judge: is in Norway}}}}
                returns: "{on}"
              - then: [{{get_weather: {{city: {{$judge: is in Italy}}}}, returns: sunny}}]
            answer: {{$judge: tells the weather}}
        """
    )
    court.run().assert_outcomes(passed=1)
    assert {each["statement"]: each["value"] for each in court.questions()} == {
        "is in Norway": "Oslo",
        "is in Italy": "Rome",
        "tells the weather": "You said: sunny",
    }
    court.says = {"is in Italy": no("it is in Georgia")}
    result = court.run("--fc-record=all")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*'is in Italy' is not true of it, says the judge: it is in Georgia (judged)"])


@pytest.mark.parametrize("beside", ["never: [{get_weather: {city: {$judge: is far}}}]", ""])
@pytest.mark.parametrize("extra", ["", "allow: [{get_weather: {city: {$judge: is in Norway}}}]"])
def test_a_conversation_goes_on_where_only_the_judge_knows(court: Court, beside: str, extra: str) -> None:
    expected = "" if extra else "get_weather: {city: Oslo}, returns: sunny"
    more = ", ".join(filter(None, [f"calls: [{{{expected}}}]" if expected else "calls: []", beside, extra]))
    court.cases(
        f"""
        cases:
          - id: near
            prompt: '{called("Oslo")}'
            stubs: {{get_weather: sunny}}
            expect: {{{more}}}
            answer: {{$contains: sunny}}
        """
    )
    court.says = {"is far": no("it is near")}
    court.run().assert_outcomes(passed=1)


def test_recorded_judgements_are_exported_beside_the_case(court: Court) -> None:
    court.cases(POLITE)
    court.exam.shop.file("pytest.ini", "[pytest]\n")
    court.run()
    fcall_here(court.exam.path, "record", "--export")
    exported = sorted(path.relative_to(court.exam.path) for path in court.exam.path.rglob("*.replies.jsonl"))
    folder = Path(CASES).parent / "__fcall__"
    assert exported == [folder / f"openai-{name}" / "exam.fc.yaml.replies.jsonl" for name in ("exam", "judge")]
    (court.exam.path / ".fcall/replies.db").unlink()
    court.run("--fc-replay").assert_outcomes(passed=1)
