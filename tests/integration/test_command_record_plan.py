"""`fcall record --plan`, `--from` and `--rounds`: requests that are answered elsewhere."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_fcall.core.parquet import read_parquet, write_parquet
from tests.integration.command import fcall, run_pytest

MODEL = "--fc-model=openai:exam"
CASES = """\
tools:
  - name: get_weather
    parameters: {type: object, properties: {city: {type: string}}, required: [city]}
cases:
  - {id: oslo, prompt: "Weather in Oslo?", expect: [{get_weather: {city: Oslo}}]}
  - {id: hi, prompt: Hi, expect: no_call, samples: 2}
"""
TALK = """\
  - id: talk
    turns:
      - user: Weather in Rome?
        expect: [{get_weather: {city: Rome}}]
      - user: thanks
        expect: no_call
"""
Row = Mapping[str, Any]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").touch()
    write_cases(tmp_path, CASES)
    return tmp_path


def write_cases(project: Path, text: str) -> None:
    (project / "cases.fc.yaml").write_text(text, "utf-8")


def record(folder: Path, *arguments: str, says: str = "", status: int = 0, **environment: str) -> str:
    done = fcall(folder, "record", *arguments, **environment)
    said = done.stdout + done.stderr
    assert says in said, said
    assert "Traceback" not in said
    assert done.returncode == status, said
    return said


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def plan(project: Path, *arguments: str) -> list[Any]:
    record(project, "--plan", "requests.jsonl", MODEL, *arguments)
    return [row for row in lines(project / "requests.jsonl") if "digest" in row]


def answer(request: Row) -> Row:
    """An engine of a team's own, which is always right."""
    asked = request["messages"][-1]
    city = asked["content"].removeprefix("Weather in ").rstrip("?")
    if asked["role"] != "user" or city == asked["content"]:
        return {"text": "You are welcome.", "finish": "stop"}
    return {"tool_calls": [{"name": "get_weather", "arguments": json.dumps({"city": city})}], "finish": "tool_calls"}


def replies(requests: Iterable[Row]) -> list[dict[str, Any]]:
    return [{"digest": each["digest"], "reply": answer(each)} for each in requests]


def write_rows(path: Path, rows: Iterable[Row]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    return path


def test_a_plan_has_each_request_once_and_its_tools_by_digest(project: Path) -> None:
    said = record(project, "--plan", "requests.jsonl", MODEL)
    assert said == "requests.jsonl: 3 requests, 1 tool catalogue\n  3 to openai:exam\n"
    catalogue, *requests = lines(project / "requests.jsonl")
    assert [tool["name"] for tool in catalogue["tools"]] == ["get_weather"]
    assert {each["catalogue"] for each in requests} == {catalogue["catalogue"]}
    assert [(each["case"], each["sample"]) for each in requests] == [("oslo", 0), ("hi", 0), ("hi", 1)]
    assert requests[0] == {
        "digest": requests[0]["digest"],
        "model": "openai:exam",
        "sample": 0,
        "file": "cases.fc.yaml",
        "case": "oslo",
        "messages": [{"role": "user", "content": "Weather in Oslo?"}],
        "catalogue": catalogue["catalogue"],
        "settings": {},
    }


def test_replies_from_elsewhere_are_judged_as_if_they_had_been_asked_for(project: Path) -> None:
    write_rows(project / "replies.jsonl", replies(plan(project)))
    assert record(project, "--from", "replies.jsonl", MODEL) == "replies.jsonl: 3 replies taken\n"
    judged = run_pytest(project, "--fc-replay", MODEL)
    assert "2/2 right" in judged.stdout
    assert "all 3 replayed" in judged.stdout
    record(project, "--plan", "-", MODEL, says="-: 0 requests\n2 tests wait for no reply\n")


def test_a_conversation_goes_on_round_by_round(project: Path) -> None:
    write_cases(project, CASES + TALK)
    requests = plan(project)
    assert len(requests) == 4
    write_rows(project / "replies.jsonl", replies(requests))
    said = record(project, "--from", "replies.jsonl", MODEL, status=10)
    assert "next round: 1 request that the replies lead to\n" in said
    for number in (2, 3):
        said = record(project, "--plan", "requests.jsonl", MODEL, says=f"this is round {number}\n")
        requests = [row for row in lines(project / "requests.jsonl") if "digest" in row]
        write_rows(project / "replies.jsonl", replies(requests))
        status = 10 if number == 2 else 0
        record(project, "--from", "replies.jsonl", MODEL, status=status)
    rounds = record(project, "--rounds").splitlines()
    assert [line.split()[:3] for line in rounds[1:-1]] == [["1", "4", "4"], ["2", "1", "1"], ["3", "1", "1"]]
    assert rounds[-1] == "nothing is open"
    assert "3/3 right" in run_pytest(project, "--fc-replay", MODEL).stdout


def test_the_next_plan_is_written_with_the_replies(project: Path) -> None:
    write_cases(project, CASES + TALK)
    write_rows(project / "replies.jsonl", replies(plan(project)))
    record(project, "--from", "replies.jsonl", "--plan", "requests.jsonl", MODEL, says="this is round 2")
    assert [row["case"] for row in lines(project / "requests.jsonl") if "digest" in row] == ["talk"]


Broken = Callable[[list[dict[str, Any]]], Iterable[Row]]


@pytest.mark.parametrize(
    ("broken", "told", "status"),
    [
        (lambda rows: rows[:-1], "still missing: 1 reply\n  cases.fc.yaml::hi (sample 1): openai:exam\n", 10),
        (lambda rows: [*rows, rows[0]], "it answers the same request as replies.jsonl:1, whose reply stands", 1),
        (
            lambda rows: [*rows, {**rows[0], "digest": "0" * 64}],
            f"no request of these cases has the digest '{'0' * 60}'",
            1,
        ),
        (lambda rows: [rows[1], rows[2], {**rows[0], "model": "openai:other"}], "`model` is 'openai:other', but", 1),
        (lambda rows: [rows[1], rows[2], {**rows[0], "sample": 7}], "`sample` is 7, but the request with", 1),
        (
            lambda rows: [rows[1], rows[2], {"digest": rows[0]["digest"]}],
            "a row needs `reply`, `response` or `error`",
            1,
        ),
        (lambda rows: [*rows, {"reply": {}}], "`digest` (or `custom_id`) must name the request", 1),
        (lambda rows: [rows[1], rows[2], {**rows[0], "reply": {"text": 3}}], "`text`", 1),
        (
            lambda rows: [rows[1], rows[2], {**rows[0], "reply": [{"text": "Hi"}]}],
            'but an object, such as {"text": "Hello."} or {"tool_calls": [{"name":',
            1,
        ),
        (
            lambda rows: [rows[1], rows[2], {"digest": rows[0]["digest"], "error": {"message": "out of memory"}}],
            "replies.jsonl:3: no reply: an error of what answered: out of memory",
            10,
        ),
    ],
)
def test_a_row_that_is_no_reply_is_told_and_the_others_are_taken(
    project: Path, broken: Broken, told: str, status: int
) -> None:
    rows = replies(plan(project))
    write_rows(project / "replies.jsonl", broken(rows))
    said = record(project, "--from", "replies.jsonl", MODEL, status=status)
    assert told in said
    taken = 2 if status == 10 or "row needs" in told or "`text`" in told or "but" in told or "is 7" in told else 3
    assert f"replies.jsonl: {taken} replies taken\n" in said


def test_a_file_that_was_cut_short_gives_what_came(project: Path) -> None:
    path = write_rows(project / "replies.jsonl", replies(plan(project)))
    path.write_bytes(path.read_bytes()[:-20])
    said = record(project, "--from", "replies.jsonl", MODEL, status=1)
    assert "replies.jsonl: 2 replies taken" in said
    assert "replies.jsonl:3: not taken: this line is not JSON" in said
    assert "the file may be cut short here" in said


def test_packed_replies_are_read_up_to_where_they_break_off(project: Path) -> None:
    rows = replies(plan(project))
    packed = gzip.compress("".join(f"{json.dumps(row)}\n" for row in rows).encode())
    (project / "replies.jsonl.gz").write_bytes(packed[:-12])
    record(project, "--from", "replies.jsonl.gz", MODEL, says="the compressed data breaks off", status=1)
    (project / "replies.jsonl.gz").write_bytes(packed)
    record(project, "--from", "replies.jsonl.gz", MODEL)


def test_replies_that_were_taken_already_are_counted_apart(project: Path) -> None:
    write_rows(project / "replies.jsonl", replies(plan(project)))
    record(project, "--from", "replies.jsonl", MODEL)
    record(project, "--from", "replies.jsonl", MODEL, says="0 replies taken\n3 replies recorded before\n")


def test_a_plan_for_queues_holds_whole_bodies_and_takes_their_answers(project: Path) -> None:
    record(project, "--plan", "batch.jsonl", "--format=batch", MODEL)
    rows = lines(project / "batch.jsonl")
    assert [row["url"] for row in rows] == ["/v1/chat/completions"] * 3
    assert rows[0]["body"]["tools"][0]["function"]["name"] == "get_weather"
    message = {"role": "assistant", "content": "Hello."}
    body = {"model": "exam", "choices": [{"index": 0, "finish_reason": "stop", "message": message}]}
    throttled = {"status_code": 429, "body": {"error": {"message": "too many requests"}}}
    answers: list[Row] = [
        {"id": "1", "custom_id": rows[0]["custom_id"], "response": throttled, "error": None},
        {"id": "2", "custom_id": rows[1]["custom_id"], "response": {"status_code": 200, "body": body}, "error": None},
        {"id": "3", "custom_id": rows[2]["custom_id"], "response": {"status_code": 200, "body": body}, "error": None},
    ]
    write_rows(project / "answers.jsonl", answers)
    said = record(project, "--from", "answers.jsonl", MODEL, status=10)
    assert "answers.jsonl: 2 replies taken" in said
    assert "answers.jsonl:1: no reply: openai:exam: " in said
    assert "too many requests" in said


def test_plans_and_replies_may_be_parquet(project: Path) -> None:
    record(project, "--plan", "requests.parquet", MODEL)
    requests: list[Any] = [*read_parquet(project / "requests.parquet")]
    assert [tool["name"] for tool in json.loads(requests[0]["tools"])] == ["get_weather"]
    rows = replies({**each, "messages": json.loads(each["messages"])} for each in requests)
    columns = {"digest": "string", "reply": "string"}
    write_parquet(project / "replies.parquet", columns, ({**row, "reply": json.dumps(row["reply"])} for row in rows))
    record(project, "--from", "replies.parquet", MODEL, says="replies.parquet: 3 replies taken")
    (project / "broken.parquet").write_bytes(b"PAR1 no")
    record(project, "--from", "broken.parquet", MODEL, says="cannot read broken.parquet: it is no Parquet", status=1)


def test_only_tests_that_ask_models_run(project: Path) -> None:
    text = """\
    import pathlib
    def test_of_something_else():
        pathlib.Path("ran").touch()
    def test_a_greeting(fc_model):
        assert fc_model("Hello").text
    """
    (project / "test_it.py").write_text("\n".join(line[4:] for line in text.splitlines()), "utf-8")
    assert [row["case"] for row in plan(project, "test_it.py")] == ["test_a_greeting"]
    assert not (project / "ran").exists()


def test_what_cannot_be_planned_is_told(project: Path) -> None:
    (project / "app.py").write_text("def run(request):\n    return 'Hello'\n", "utf-8")
    said = record(project, "--plan", "requests.jsonl", "--fc-model=python:app:run")
    assert "requests.jsonl: 0 requests" in said
    assert "not planned: 2 tests of python:app:run: pytest itself asks apps" in said
    write_cases(project, CASES.replace("expect: no_call", "expct: no_call"))
    said = record(project, "--plan", "requests.jsonl", MODEL, status=1)
    assert "requests.jsonl: 1 request" in said
    fault = "cases.fc.yaml:6:26: a case has no key `expct`"
    assert f"not planned: cases.fc.yaml::hi: {fault}\n" in said


def test_options_of_pytest_select_and_sample(project: Path) -> None:
    rows = plan(project, "cases.fc.yaml::oslo", "--", "--fc-samples=3")
    assert [(row["case"], row["sample"]) for row in rows] == [("oslo", 0), ("oslo", 1), ("oslo", 2)]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--plan", "x.jsonl", "--export"], "--export goes with neither --plan nor --from"),
        (["--format=batch", "--stats"], "--format can only be used with --plan"),
        (["--stats", MODEL], "can only be used with --plan and --from"),
        (["--from", "nowhere.jsonl"], "--from: no such file: nowhere.jsonl"),
        (["--plan", "x.jsonl", "nowhere"], "no such file or folder: nowhere"),
        (["--plan", "x.jsonl", "--fc-model=opnai:x"], "of kind 'opnai'"),
        ([], "name what to do: --export, --load, --prune, --stats, --rounds, --plan FILE or --from FILE"),
    ],
)
def test_a_wrong_command_line_is_one_sentence(project: Path, arguments: list[str], told: str) -> None:
    record(project, *arguments, says=told, status=2)


def test_a_plan_needs_no_key_and_no_server(project: Path) -> None:
    model = "--fc-model=openai:exam?base_url=http://127.0.0.1:9/v1&api_key_env=NOWHERE_KEY"
    record(project, "--plan", "requests.jsonl", model, says="3 requests", OPENAI_API_KEY="")


def test_a_request_with_a_secret_is_written_to_no_file(project: Path) -> None:
    secret = "sk-proj-4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c"  # noqa: S105  nobody's
    write_cases(project, CASES.replace("Weather in Oslo?", f"My key is {secret}"))
    said = record(project, "--plan", "requests.jsonl", MODEL, status=1, OPENAI_API_KEY=secret)
    assert "not planned: cases.fc.yaml::oslo: its messages hold a secret" in said
    assert secret not in (project / "requests.jsonl").read_text("utf-8")


def test_replies_cannot_be_taken_where_nothing_is_recorded(project: Path) -> None:
    write_rows(project / "replies.jsonl", replies(plan(project)))
    record(project, "--from", "replies.jsonl", MODEL, "--", "--fc-record=off", says="--fc-record=off", status=2)


def test_without_ray_one_sentence_says_what_to_install(project: Path) -> None:
    (project / "ray.py").write_text("raise ImportError('there is no ray')\n", "utf-8")
    said = record(project, "--engine=ray", MODEL, status=1)
    assert said == 'fcall record: --engine=ray needs Ray (there is no ray): pip install "pytest-fcall[ray]"\n'
    assert not (project / ".fcall").exists()


def test_damaged_rounds_are_counted_anew_and_cost_no_reply(project: Path) -> None:
    write_rows(project / "replies.jsonl", [*replies(plan(project)), "no mapping"])  # type: ignore[list-item]
    (project / ".fcall/rounds.json").write_text("{", "utf-8")
    said = record(project, "--from", "replies.jsonl", MODEL, status=1)
    assert "3 replies taken" in said
    assert "rounds.json: not JSON" in said
    assert "replies.jsonl:4: not taken: this line is not a mapping" in said
