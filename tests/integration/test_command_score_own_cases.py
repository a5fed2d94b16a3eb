"""`fcall score --cases`: each stored answer is judged as a run would, and what has no answer is never green."""

from __future__ import annotations

import gzip
import json
import subprocess
import tracemalloc
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from pytest_fcall.cli import main
from pytest_fcall.core import Json
from tests.integration.command import fcall
from tests.integration.exam import Exam, called
from tests.suite_tools import WITHOUT_TOOLS

CASES = """
tools:
  - {name: get_weather, parameters: {type: object, properties: {city: {type: string}}, required: [city]}}
cases:
  - {id: oslo, prompt: Weather in Oslo?, expect: [{get_weather: {city: Oslo}}]}
  - {id: thanks, prompt: Thanks., expect: no_call}
"""
STEPS = """
  - id: steps
    prompt: Weather in Oslo, then in Rome?
    expect:
      - get_weather: {city: Oslo}
      - then: [{get_weather: {city: Rome}}]
"""
TURNS = """
  - id: turns
    turns:
      - {user: Weather in Oslo?, expect: [{get_weather: {city: Oslo}}]}
      - {user: Thanks., expect: no_call}
"""
FIXTURE = "import pytest\n\n\n@pytest.fixture\ndef fc_model():\n    raise RuntimeError('the app was started')\n"


def weather(city: str = "Oslo") -> dict[str, Json]:
    return {"name": "get_weather", "arguments": {"city": city}}


def message(*calls: Json, text: str | None = None) -> dict[str, Json]:
    listed: list[Json] = [{"id": f"c{number}", "function": call} for number, call in enumerate(calls)]
    return {"role": "assistant", "content": text, "tool_calls": listed}


KEY = "sk-" + "k1" * 20
OSLO: dict[str, Json] = {"id": "oslo", "reply": [weather()]}
ROME: dict[str, Json] = {"id": "oslo", "reply": [weather("Rome")]}
THANKS: dict[str, Json] = {"id": "thanks", "reply": "You are welcome!"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "cases").mkdir()
    (tmp_path / "conftest.py").write_text(FIXTURE, encoding="utf-8")
    (tmp_path / "test_app.py").write_text("raise RuntimeError('imported')\n", encoding="utf-8")
    cases(tmp_path, CASES)
    return tmp_path


def cases(folder: Path, text: str, name: str = "shop") -> None:
    (folder / "cases" / f"{name}.fc.yaml").write_text(text, encoding="utf-8")


def score(folder: Path, *rows: Json | str, options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    (folder / "answers.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return fcall(folder, "score", "--cases", "cases", *options, "answers.jsonl")


def test_stored_answers_are_those_to_the_cases_themselves(folder: Path) -> None:
    cases(folder, CASES.replace("cases:", "defaults: {variants: [typos, white_space]}\ncases:"))
    done = score(folder, OSLO, THANKS)
    assert done.returncode == 0, done.stderr


def test_right_answers_are_counted_and_nobody_is_asked(folder: Path) -> None:
    done = score(folder, OSLO, THANKS)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("2/2 cases pass, 2/2 answers right\n")
    assert not (folder / ".fcall" / "runs").exists()
    assert not (folder / ".fcall" / "replies.db").exists()


def test_a_wrong_answer_is_shown_with_its_place(folder: Path) -> None:
    done = score(folder, ROME, THANKS)
    assert done.returncode == 1
    assert "  answers.jsonl:1: cases/shop.fc.yaml::oslo: `city` is 'Rome', expected 'Oslo'" in done.stdout
    assert "1/2 cases pass, 1/2 answers right" in done.stdout


@pytest.mark.parametrize(
    "reply",
    [
        weather(),
        message(weather()),
        {"choices": [{"message": message(weather()), "finish_reason": "tool_calls"}]},
        [{"role": "user", "content": "Weather in Oslo?"}, message(weather())],
        {"role": "assistant", "content": [{"type": "tool_use", "name": "get_weather", "input": {"city": "Oslo"}}]},
    ],
    ids=["call", "message", "completion", "messages", "blocks"],
)
def test_a_reply_may_be_whatever_an_app_returns(folder: Path, reply: Json) -> None:
    assert score(folder, {"id": "oslo", "reply": reply}, THANKS).returncode == 0


def test_a_case_without_an_answer_leaves_the_result_open(folder: Path) -> None:
    done = score(folder, OSLO)
    assert done.returncode == 10
    assert "1 case without an answer: cases/shop.fc.yaml::thanks" in done.stdout
    assert score(folder, ROME).returncode == 1
    none = score(folder, {"id": "bergen", "reply": "x"})
    assert none.returncode == 10
    assert "no answer was judged" in none.stdout
    assert "1 answer not judged, since no case has this id: bergen" in none.stdout


def test_memory_does_not_grow_with_the_rows(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PYTEST_ADDOPTS", WITHOUT_TOOLS)

    def peak(count: int) -> int:
        rows = "".join(f"{json.dumps({**OSLO, 'key': f'trace-{number}'})}\n" for number in range(count))
        (folder / "answers.jsonl").write_text(rows, encoding="utf-8")
        tracemalloc.start()
        try:
            main(["score", "--cases", "cases", "--output", "verdicts.jsonl", "answers.jsonl"])
            most = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert (folder / "verdicts.jsonl").read_bytes().count(b"\n") == count
        return most

    peak(10)  # whatever is imported is imported now
    few, many = peak(500), peak(2000)
    assert many < few + 1500 * 10  # a row that was held would take hundreds of bytes


def test_many_answers_to_a_case_are_judged_each_by_itself(folder: Path) -> None:
    done = score(
        folder, OSLO, ROME, THANKS, THANKS, OSLO, {"id": "bergen", "reply": "x"}, {"id": "bergen", "reply": ""}
    )
    assert done.returncode == 1
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert lines[0] == "1/2 cases pass, 4/5 answers right"
    assert "cases/shop.fc.yaml::oslo 3 2 66.7 % [21, 94]" in lines
    assert "2 answers not judged, since no case has this id: bergen (2)" in lines


def test_a_key_tells_answers_apart_whatever_their_place(folder: Path) -> None:
    rows = [OSLO, ROME, {**OSLO, "key": "a1"}, {**OSLO, "key": 7}, {**OSLO, "key": []}]
    judged = [json.loads(line) for line in score(folder, *rows, options=("--format=json",)).stdout.splitlines()]
    again = [json.loads(line) for line in score(folder, *rows[::-1], options=("--format=json",)).stdout.splitlines()]
    keys = [row.get("key") for row in judged]
    assert keys[2:] == ["a1", "7", None]
    assert "`key` must be a text or a whole number" in judged[4]["error"]
    assert len(set(keys)) == 5
    assert [row.get("key") for row in again[::-1]] == keys
    named = score(folder, {**OSLO, "trace": "t1"}, OSLO, options=("--format=json", "--key=trace"))
    assert '"key": "t1"' in named.stdout.splitlines()[0]
    assert "it has no `trace`, the field that --key names" in named.stdout.splitlines()[1]


def test_a_case_passes_by_its_own_rule_and_no_rate_excuses_a_forbidden_call(folder: Path) -> None:
    rule = "  - {id: oslo, prompt: Weather in Oslo?, samples: {count: 2, rule: rate>=0.6}, "
    cases(folder, CASES.replace("  - {id: oslo, prompt: Weather in Oslo?, ", rule))
    assert score(folder, OSLO, OSLO, ROME, THANKS).returncode == 0
    assert score(folder, OSLO, ROME, THANKS).returncode == 1
    never = "prompt: Weather in Oslo?, never: [{get_weather: {city: Rome}}], samples: {count: 2, rule: rate>=0.6}, "
    cases(folder, CASES.replace("prompt: Weather in Oslo?, ", never))
    assert score(folder, OSLO, OSLO, ROME, THANKS).returncode == 1


def test_skips_and_expected_failures_are_those_of_a_run(folder: Path) -> None:
    cases(folder, CASES.replace("expect: no_call", "expect: no_call, skip: on holiday"))
    done = score(folder, OSLO, THANKS)
    assert (done.returncode, "1 answer skipped, on holiday" in done.stdout) == (0, True), done.stdout
    assert score(folder, THANKS).returncode == 10
    cases(folder, CASES.replace("prompt: Weather in Oslo?", "prompt: Weather in Oslo?, xfail: too hard"))
    done = score(folder, ROME, THANKS)
    assert (done.returncode, "::oslo is expected to fail: too hard" in done.stdout) == (0, True), done.stdout


def test_gates_of_the_configuration_are_not_passed_over_in_silence(folder: Path) -> None:
    (folder / "pytest.ini").write_text("[pytest]\nfc_gates = accuracy>=0.5\n", "utf-8")
    done = score(folder, OSLO, THANKS)
    assert (done.returncode, "bound runs, and are not applied here: 1" in done.stdout) == (0, True), done.stdout


def test_earlier_verdicts_in_rows_are_compared(folder: Path) -> None:
    done = score(folder, {**OSLO, "valid": True}, {**THANKS, "valid": False}, options=("--compare",))
    assert done.returncode == 1
    assert "valid: 1 of 2 agree with the rows" in done.stdout
    assert "  answers.jsonl:2: valid is true, the row has false" in done.stdout


def test_an_id_that_several_files_have_needs_its_file(folder: Path) -> None:
    cases(folder, CASES, "more")
    done = score(folder, OSLO, THANKS)
    assert done.returncode == 10
    assert "cases of cases/more.fc.yaml and cases/shop.fc.yaml have this id: write FILE::ID" in done.stdout
    rows = [{**row, "id": f"cases/{file}.fc.yaml::{row['id']}"} for row in (OSLO, THANKS) for file in ("shop", "more")]
    assert score(folder, *rows).returncode == 0


@pytest.mark.parametrize("row", ["{", "3", {"id": "oslo"}, {"reply": "x"}, {"id": "oslo", "reply": 1, "replies": []}])
def test_a_row_that_is_no_answer_fails_and_the_others_are_judged(folder: Path, row: Json | str) -> None:
    done = score(folder, OSLO, row, THANKS)
    assert done.returncode == 1
    assert "answers.jsonl:2: " in done.stdout
    assert "2/2 cases pass, 2/2 answers right" in done.stdout


def test_a_reply_that_cannot_be_read_is_an_error_that_names_its_line(folder: Path) -> None:
    done = score(folder, {"id": "oslo", "reply": 7}, THANKS)
    assert done.returncode == 1
    assert "answers.jsonl:1: cases/shop.fc.yaml::oslo: the app returned a value of type int" in done.stdout


def test_all_messages_of_a_conversation_are_judged(folder: Path) -> None:
    cases(folder, CASES + STEPS)
    result: Json = {"role": "tool", "tool_call_id": "c0", "content": "sunny"}
    trail: list[Json] = [message(weather()), result, message(weather("Rome")), result, message(text="Sunny.")]
    steps: dict[str, Json] = {"id": "steps", "reply": trail}
    assert score(folder, OSLO, THANKS, steps).returncode == 0
    steps["reply"] = [message(weather("Rome")), result, message(weather()), result, message(text="Sunny.")]
    assert score(folder, OSLO, THANKS, steps).returncode == 1
    cut = score(folder, OSLO, THANKS, {"id": "steps", "reply": [weather()]})
    assert cut.returncode == 10
    assert "1 answer not judged, since the case goes on behind what is stored" in cut.stdout


def test_the_replies_of_turns_stand_in_order_and_none_is_passed_over(folder: Path) -> None:
    cases(folder, CASES + TURNS)
    turns: dict[str, Any] = {"id": "turns", "replies": [[weather()], "Sunny.", "You are welcome."]}
    assert score(folder, OSLO, THANKS, turns).returncode == 0
    turns["replies"].append([weather("Rome")])
    done = score(folder, OSLO, THANKS, turns)
    assert done.returncode == 10
    assert "1 answer not judged, since the case ended before the last stored reply: cases/shop.fc.yaml::turns" in (
        done.stdout
    )


UNDECIDED = {
    "a judge": ("answer: {$judge: friendly}", "a model judges them (`$judge`)"),
    "wire": ("wire: {count: 1}", "they expect requests of an app to its models (`wire`)"),
    "a state": ("state: {booked: true}", "they expect results of calls, or a state (`result`, `state`)"),
}


@pytest.mark.parametrize(("key", "reason"), UNDECIDED.values(), ids=UNDECIDED)
def test_what_an_answer_alone_does_not_decide_is_not_green(folder: Path, key: str, reason: str) -> None:
    environment = "\n    environment: shop:Shop" if key.startswith("state") else ""
    cases(folder, f"{CASES}  - id: more\n    prompt: Hello.\n    {key}{environment}\n")
    done = score(folder, OSLO, THANKS, {"id": "more", "reply": "Hello."})
    assert done.returncode == 10, done.stdout
    assert f"1 answer not judged, since {reason}: cases/shop.fc.yaml::more" in done.stdout


def test_as_json_each_answer_is_an_object(folder: Path) -> None:
    done = score(folder, ROME, THANKS, options=("--format", "json"))
    assert done.returncode == 1
    wrong, right = (json.loads(line) for line in done.stdout.splitlines())
    assert right.pop("key")
    assert right == {"id": "thanks", "file": "cases/shop.fc.yaml", "valid": True, "reasons": []}
    assert "1/2 cases pass" in done.stderr
    assert [(each["kind"], each["path"]) for each in wrong["reasons"]] == [("wrong_value", "calls[0].args.city")]


def test_a_key_of_this_machine_that_an_answer_quotes_is_written_nowhere(folder: Path) -> None:
    (folder / "answers.jsonl").write_text(json.dumps({"id": "oslo", "reply": [weather(KEY)]}), "utf-8")
    given = "--cases=cases", "--output=verdicts.jsonl", "answers.jsonl"
    done = fcall(folder, "score", *given, OPENAI_API_KEY=KEY)
    written = (folder / "verdicts.jsonl").read_text("utf-8")
    assert (done.returncode, json.loads(written)["valid"]) == (1, False)
    assert KEY not in done.stdout + written


def test_answers_may_be_compressed_and_come_by_several_files(folder: Path) -> None:
    (folder / "more.jsonl.gz").write_bytes(gzip.compress(json.dumps(THANKS).encode()))
    assert score(folder, OSLO, options=("more.jsonl.gz",)).returncode == 0


def test_a_faulty_case_is_never_judged_right(folder: Path) -> None:
    cases(folder, f"{CASES}  - {{id: odd, prompt: x, expect: [{{get_wether: {{}}}}]}}\n")
    done = score(folder, OSLO, THANKS, {"id": "odd", "reply": "x"})
    assert done.returncode == 1
    assert "get_wether" in done.stdout


def test_a_log_of_inspect_ai_is_judged_by_the_ids_of_its_samples(folder: Path) -> None:
    samples: list[dict[str, Any]] = [
        {"id": "oslo", "messages": [{"role": "user", "content": "Weather in Oslo?"}, message(weather())]},
        {"id": "thanks", "messages": [{"role": "user", "content": "Thanks."}, message(text="Welcome!")]},
    ]
    log: dict[str, Any] = {"eval": {"model": "openai/gpt-5.2"}, "samples": samples}
    path = folder / "log.json"
    for indent in (None, 2):
        path.write_text(json.dumps(log, indent=indent), encoding="utf-8")
        assert fcall(folder, "score", "--cases", "cases", "log.json").returncode == 0
    samples[1]["output"] = {"choices": [{"message": message(text="Wel"), "stop_reason": "max_tokens"}]}
    path.write_text(json.dumps(log), encoding="utf-8")
    done = fcall(folder, "score", "--cases", "cases", "log.json")
    assert done.returncode == 1
    assert "sample thanks: the answer is incomplete: max_tokens" in done.stdout


def test_an_eval_file_of_inspect_ai_is_judged(folder: Path) -> None:
    log = pytest.importorskip("inspect_ai.log", reason="inspect_ai is an extra")
    model, tool = import_module("inspect_ai.model"), import_module("inspect_ai.tool")
    call = tool.ToolCall(id="c", function="get_weather", arguments={"city": "Oslo"})
    answers = {
        "oslo": model.ChatMessageAssistant(content="", tool_calls=[call]),
        "thanks": model.ChatMessageAssistant(content="Welcome!"),
    }
    samples = [
        log.EvalSample(
            id=name,
            epoch=1,
            input="?",
            target="",
            messages=[model.ChatMessageUser(content="?"), answer],
            output=model.ModelOutput(choices=[model.ChatCompletionChoice(message=answer, stop_reason="stop")]),
        )
        for name, answer in answers.items()
    ]
    spec = log.EvalSpec(
        created="2026-11-22T10:00:00+00:00",
        task="t",
        dataset=log.EvalDataset(sample_ids=[*answers]),
        model="m",
        config=log.EvalConfig(),
    )
    log.write_eval_log(log.EvalLog(status="success", eval=spec, samples=samples), str(folder / "run.eval"))
    done = fcall(folder, "score", "--cases", "cases", "run.eval")
    assert done.returncode == 0, done.stdout + done.stderr


def test_recorded_replies_of_another_checkout_are_judged(exam: Exam) -> None:
    text = f"cases:\n  - {{id: plain, prompt: '{called('Oslo')}', expect: [{{get_weather: {{city: Oslo}}}}]}}\n"
    turns = (
        "  - id: turns\n    turns:\n"
        f"      - {{user: '{called('Bergen')}', expect: [{{get_weather: {{city: Bergen}}}}]}}\n"
        "      - {user: Thanks., expect: no_call}\n"
    )
    written = exam.path / exam.shop.cases(text + turns, "exam.fc.yaml")
    exam.run().assert_outcomes(passed=2)
    fcall(exam.path, "record", "--export").check_returncode()
    (recorded,) = exam.path.glob("cases/__fcall__/*/exam.fc.yaml.replies.jsonl")
    done = fcall(exam.path, "score", "--cases", "cases", str(recorded.relative_to(exam.path)))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2/2 answers right" in done.stdout
    written.write_text(written.read_text("utf-8").replace("city: Oslo", "city: Rome"), encoding="utf-8")
    assert fcall(exam.path, "score", "--cases", "cases", str(recorded.relative_to(exam.path))).returncode == 1


def test_a_command_line_that_cannot_be_meant_is_refused(folder: Path) -> None:
    (folder / "empty").mkdir()
    (folder / "a.jsonl").write_text("", encoding="utf-8")
    for arguments, message in (
        (["--cases", "nowhere", "a.jsonl"], "no such file or folder: nowhere"),
        (["--cases", "cases", "no.jsonl"], "cannot read no.jsonl"),
        (["--cases", "empty", "a.jsonl"], "no case"),
    ):
        done = fcall(folder, "score", *arguments)
        assert (done.returncode, message in done.stderr + done.stdout) == (2, True), done.stderr
