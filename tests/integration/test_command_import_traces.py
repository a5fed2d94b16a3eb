"""From runs, and from logs, to cases that pass on the same replies."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from pytest_fcall.core import Json
from tests.by_night import by_night
from tests.integration.command import fcall, fcall_here, run_pytest
from tests.integration.conftest import Shop
from tests.integration.exam import Exam, called
from tests.unit.traces.support import calling, chat_call, chat_log, giving, saying, user, write_lines

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "agent"
ON_TO_ROME = called("Rome")
CASES = f"""
defaults:
  system: You know the weather of today.
  settings: {{temperature: 0}}
cases:
  - id: plain
    prompt: '{called("Oslo")}'
    expect: [{{get_weather: {{city: Oslo}}}}]
  - id: nothing
    prompt: Hello, "you" \\ there!
    expect: no_call
  - id: steps
    prompt: '{called("Paris")}'
    expect:
      - get_weather: {{city: Paris}}
        returns: {ON_TO_ROME}
      - then: [{{get_weather: {{city: Rome}}, returns: sunny}}]
  - id: turns
    turns:
      - user: '{called("Bergen")}'
        expect: [{{get_weather: {{city: Bergen}}, returns: {{degrees: 3.50}}}}]
      - user: Thanks.
        expect: no_call
"""


@pytest.fixture
def recorded(exam: Exam) -> Exam:
    """Cases that were asked, and whose replies are in the store."""
    exam.shop.cases(CASES, "exam.fc.yaml")
    exam.run().assert_outcomes(passed=4)
    return exam


@pytest.mark.parametrize("source", [".fcall/replies.db", by_night("cases/__fcall__")])
def test_imported_cases_pass_on_the_replies_that_they_were_made_of(recorded: Exam, source: str) -> None:
    if "fcall__" in source:
        fcall_here(recorded.path, "record", "--export").check_returncode()
    done = fcall_here(recorded.path, "import", source, "--out", "mine", "--no-mask")
    assert done.returncode == 0, done.stderr
    assert "4 cases" in done.stdout
    asked = len(recorded.server.asked)
    recorded.run("--fc-replay", "mine").assert_outcomes(passed=4)
    assert len(recorded.server.asked) == asked


def test_what_is_written_lints_clean(recorded: Exam) -> None:
    fcall_here(recorded.path, "import", ".fcall/replies.db", "--out", "mine").check_returncode()
    assert "4 cases in 1 file: no faults" in fcall(recorded.path, "lint", "mine").stdout


def test_what_was_recorded_inside_an_app_becomes_cases_for_the_app(tmp_path: Path) -> None:
    folder = shutil.copytree(EXAMPLE, tmp_path / "agent", ignore=shutil.ignore_patterns("__pycache__", ".fcall"))
    (folder / "cases/shop.fc.yaml").unlink()
    recorded = next(folder.glob("cases/__fcall__/wire-python-shop.agent-answer-*/shop.fc.yaml.replies.jsonl"))
    done = fcall_here(folder, "import", str(recorded.relative_to(folder)), "--out", "cases", "--no-mask")
    assert done.returncode == 0, done.stderr
    text = (folder / "cases/shop.fc.yaml").read_text(encoding="utf-8")
    assert "You help customers" not in text
    assert "then:" in text
    model = "--fc-model=python:shop.agent:answer"
    offline = {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1", "OPENAI_API_KEY": "", "CI": ""}
    options = ["-p", "no:cacheprovider", "-p", "no:randomly", "-q"]
    ran = run_pytest(folder, *options, "--fc-replay", model, "cases", **offline)
    assert "3 passed" in ran.stdout, ran.stdout


APP = """
import openai

PROMPT = {"role": "system", "content": "You know the weather of today."}


def answer(request):
    with openai.OpenAI(max_retries=0) as client:
        asked = {"model": "exam-1", "messages": [PROMPT, *request.messages], "tools": request.tools}
        return client.chat.completions.create(**asked).choices[0].message
"""


@pytest.mark.nightly  # as single questions do
def test_conversations_with_an_app_become_cases_that_pass_on_what_was_recorded_inside_it(
    exam: Exam, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", exam.server.url)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    exam.shop.file("agent.py", APP)
    cases = exam.path / exam.shop.cases(CASES[CASES.index("cases:") :], "exam.fc.yaml")
    exam.shop.run("--fc-model=python:agent:answer").assert_outcomes(passed=4)
    fcall_here(exam.path, "record", "--export").check_returncode()
    cases.unlink()
    (exam.path / ".fcall" / "replies.db").unlink()
    (inside,) = exam.path.glob("cases/__fcall__/wire-*/exam.fc.yaml.replies.jsonl")
    done = fcall_here(exam.path, "import", str(inside.relative_to(exam.path)), "--out", "cases", "--no-mask")
    assert "4 cases" in done.stdout, done.stderr
    assert "You know the weather" not in cases.read_text("utf-8")
    asked = len(exam.server.asked)
    exam.shop.run("--fc-model=python:agent:answer", "--fc-replay").assert_outcomes(passed=4)
    assert len(exam.server.asked) == asked


def imported(folder: Path, *rows: Json, options: Sequence[str] = ()) -> str:
    """What became of a log: the case file."""
    write_lines(folder / "log.jsonl", *rows)
    done = fcall_here(folder, "import", "log.jsonl", "--out", "mine", *options)
    assert done.returncode == 0, done.stderr
    return (folder / "mine/log.fc.yaml").read_text(encoding="utf-8")


def test_a_log_becomes_cases_to_review(tmp_path: Path) -> None:
    whole = [user("Oslo?"), calling(), giving('{"degrees": 3}')]
    text = imported(tmp_path, chat_log(whole[:1], calling()), chat_log(whole, saying("Cold.")))
    assert (
        """\
  - id: "oslo"  # review
    # log.jsonl:2, gpt-5.2-1120
    # answered: Cold.
    prompt: "Oslo?"
    expect:
      - get_weather: {city: "Oslo"}
        returns: {degrees: 3}
"""
        in text
    )


def test_equal_calls_of_one_answer_are_counted(tmp_path: Path) -> None:
    twice = calling(chat_call(), chat_call(of="c2"))
    text = imported(tmp_path, chat_log([user("Oslo?"), twice, giving("3"), giving("4", "c2")], saying("Cold.")))
    assert """get_weather: {city: "Oslo"}\n        times: 2\n        returns_each: [3, 4]""" in text


@pytest.mark.parametrize(
    ("first", "second", "written"),
    [
        ('{"error": "try again"}', '{"error":"try again"}', '        raises: "try again"\n'),
        ('{"error": "try again"}', "3", '        times: 2\n        returns_each: [{error: "try again"}, 3]\n'),
        ('{"error": ""}', '{"error": ""}', '        raises: ""\n'),
    ],
    ids=["both", "one", "empty"],
)
def test_errors_of_calls_are_raised(tmp_path: Path, first: str, second: str, written: str) -> None:
    twice = calling(chat_call(), chat_call(of="c2"))
    text = imported(tmp_path, chat_log([user("Oslo?"), twice, giving(first), giving(second, "c2")], saying("Cold.")))
    assert written in text
    assert "1 case in 1 file: no faults" in fcall(tmp_path, "lint", "mine").stdout


def test_a_result_that_is_marked_as_an_error_stays_as_it_was_in_earlier_messages(tmp_path: Path) -> None:
    failed: Json = {"role": "tool", "tool_call_id": "c1", "content": "no", "status": "error"}
    text = imported(tmp_path, chat_log([user("Oslo?"), calling(), failed, user("And?")], calling()))
    assert '- {role: "tool", tool_call_id: "c1", content: "no"}' in text
    assert "1 case in 1 file: no faults" in fcall(tmp_path, "lint", "mine").stdout


@pytest.mark.parametrize("trace", ["t", "another"])
def test_the_span_of_a_tool_that_failed_makes_its_result_an_error(tmp_path: Path, trace: str) -> None:
    def span(**told: Json) -> dict[str, Json]:
        return {"name": "s", "traceId": "t", "attributes": told}

    failed = span(**{"openinference.span.kind": "TOOL", "tool.name": "get_weather", "input.value": '{"city": "Oslo"}'})
    asked: list[Json] = [user("Oslo?"), calling(), giving("I am sorry.")]
    request = span(
        **{"gen_ai.input.messages": json.dumps(asked), "gen_ai.output.messages": json.dumps([saying("No.")])}
    )
    text = imported(tmp_path, {**failed, "traceId": trace, "status": {"code": 2}}, request)
    assert ('raises: "I am sorry."' in text) == (trace == "t")
    assert ('returns: "I am sorry."' in text) == (trace != "t")


def test_nothing_of_a_person_is_written(tmp_path: Path) -> None:
    asked = "I am ana@x.org, card 4111 1111 1111 1111, key sk-" + "a1B2" * 8
    text = imported(tmp_path, chat_log([user(asked)], calling(chat_call({"city": "Oslo, for ana@x.org"}))))
    assert "ana" not in text
    assert "4111" not in text
    assert "a1B2" not in text
    assert 'get_weather: {city: "Oslo, for person1@example.com"}' in text


def test_near_duplicates_are_told_and_left_out_on_demand(tmp_path: Path) -> None:
    rows = [chat_log([user(f"What is the weather in Oslo{end}")], calling()) for end in ("", "?", ", please?")]
    write_lines(tmp_path / "log.jsonl", *rows)
    told = fcall_here(tmp_path, "import", "log.jsonl", "--out", "all")
    assert "what_is_the_weather_in_oslo_2 is nearly the same as what_is_the_weather_in_oslo" in told.stderr
    assert "3 cases" in told.stdout
    assert "1 case\n" in fcall_here(tmp_path, "import", "log.jsonl", "--out", "few", "--near").stdout


def test_calls_that_break_their_own_schema_are_left_out_and_told(tmp_path: Path) -> None:
    write_lines(
        tmp_path / "log.jsonl",
        chat_log([user("A?")], calling(chat_call({"town": "A"}))),
        chat_log([user("B?")], calling()),
    )
    done = fcall_here(tmp_path, "import", "log.jsonl", "--out", "mine")
    assert "1 case" in done.stdout
    assert "left out: a case file cannot express the case" in done.stderr
    assert "(log.jsonl:1)" in done.stderr


def test_each_catalogue_is_locked_once_and_has_files_of_its_own(tmp_path: Path) -> None:
    other: Json = {"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}
    rows = [chat_log([user(f"{n}?")], saying("So.")) for n in range(3)]
    rows[1]["request"] = {"messages": [user("1?")], "tools": [other]}
    write_lines(tmp_path / "log.jsonl", *rows)
    fcall_here(tmp_path, "import", "log.jsonl", "--out", "mine").check_returncode()
    names = sorted(path.name for path in (tmp_path / "mine").iterdir())
    assert [name for name in names if not name.startswith("tools-")] == ["log.fc.yaml", "log_2.fc.yaml"]
    assert sum(name.endswith(".tools.yaml") for name in names) == 2
    assert "3 cases in 2 files: no faults" in fcall(tmp_path, "lint", "mine").stdout


def test_traces_without_tools_get_some_that_take_anything(tmp_path: Path) -> None:
    imported(tmp_path, {"messages": [user("Oslo?"), calling()]})
    assert "1 case in 1 file: no faults" in fcall(tmp_path, "lint", "mine").stdout


def test_no_file_is_overwritten(tmp_path: Path) -> None:
    imported(tmp_path, chat_log([user("Oslo?")], calling()))
    again = fcall_here(tmp_path, "import", "log.jsonl", "--out", "mine")
    assert again.returncode == 2
    assert "log.fc.yaml exists" in again.stderr


def test_text_that_looks_like_our_own_words_is_kept_as_it_is(tmp_path: Path, shop: Shop) -> None:
    asked = "{now} {now:%A} \x85 \u2028 \ufeff # no comment: [1, {2"
    call = chat_call({"city": "$any", "unit": "celsius"})
    imported(tmp_path, chat_log([{"role": "system", "content": "{now:%Q}"}, user(asked)], calling(call)))
    from pytest_fcall.cases.case import plan_request
    from pytest_fcall.cases.case_file import read_case_file
    from pytest_fcall.core import Case

    (case,) = read_case_file(tmp_path / "mine/log.fc.yaml", root=tmp_path).entries
    assert isinstance(case, Case)
    assert [message["content"] for message in plan_request(case).messages] == ["{now:%Q}", asked]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere.jsonl", "--out", "x"], "no such file or folder: nowhere.jsonl"),
        (["logs/nowhere", "--out", "x"], "no such file or folder: logs/nowhere"),
        (["bfkl:simple_python", "--out", "x"], "unknown suite 'bfkl'"),
        (["log.jsonl", "--out", "x", "--mask", "("], "invalid regular expression '('"),
        (["log.jsonl", "--out", "x", "--pick", "3"], "--path and --pick can only be used with public benchmarks"),
        (["bfcl:simple_python", "--out", "x", "--near"], "--near, --mask and --no-mask can only be used with traces"),
    ],
)
def test_mistakes_are_told(tmp_path: Path, arguments: list[str], said: str) -> None:
    write_lines(tmp_path / "log.jsonl", chat_log([user("Oslo?")], calling()))
    done = fcall_here(tmp_path, "import", *arguments)
    assert done.returncode == 2
    assert said in done.stderr


def test_a_file_without_traces_says_what_was_looked_for(tmp_path: Path) -> None:
    write_lines(tmp_path / "log.jsonl", {"level": "info"})
    done = fcall_here(tmp_path, "import", "log.jsonl", "--out", "mine")
    assert done.returncode == 1
    assert "no traces found; known formats: OpenTelemetry spans" in done.stderr
    assert not (tmp_path / "mine").exists()


def test_own_patterns_are_masked(tmp_path: Path) -> None:
    text = imported(tmp_path, chat_log([user("I am KD-77.")], saying("Hello KD-77!")), options=["--mask", r"KD-\d+"])
    assert "KD-77" not in text
    assert "I am masked-1." in text


@pytest.mark.timeout(60)
@pytest.mark.parametrize("thousands", [1, by_night(10)])
def test_ten_thousand_lines_take_seconds(tmp_path: Path, thousands: int) -> None:
    rows = (
        chat_log([user(f"What is the weather in Town{n}, ask ana{n}@x.org?")], calling(chat_call({"city": f"Town{n}"})))
        for n in range(1_000 * thousands)
    )
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    done = fcall_here(tmp_path, "import", "log.jsonl", "--out", "mine")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("1,000 cases") == thousands
