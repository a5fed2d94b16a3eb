"""The script that records the example cases: how it asks, as far as that needs no model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from jsonschema_rs import validator_for

from cases.record_smollm2 import EXAMPLES, MODEL, MOST_CALLS, answer_schema, prompt_text
from pytest_fcall.backends.recordings import Recorded, read_recordings, recordings_path, write_recordings
from pytest_fcall.cases import plan_request, read_case_file
from pytest_fcall.core import Case, Json, Request, Tool, request_digest

ROOT = Path(__file__).parents[2]
CASE_FILES = sorted((ROOT / "cases").glob("*.fc.yaml"))
WEATHER = Tool(
    "get_weather",
    "Tell the weather",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False},
)
RATE = Tool(
    "rate",
    "Rate a product",
    {"type": "object", "properties": {"stars": {"$ref": "#/$defs/stars"}}, "$defs": {"stars": {"enum": [1, 2, 3]}}},
)


def call(name: str, **arguments: Json) -> dict[str, Json]:
    return {"name": name, "arguments": arguments}


@pytest.mark.parametrize(
    ("answer", "admitted"),
    [
        ([], True),
        ([call("get_weather", city="Oslo")], True),
        ([call("get_weather", city="Oslo"), call("rate", stars=3)], True),
        ([call("get_weather", city="Oslo")] * MOST_CALLS, True),
        ([call("get_weather", city="Oslo")] * (MOST_CALLS + 1), False),
        ([call("get_weather", city=7)], False),
        ([call("get_weather")], False),
        ([call("get_weather", city="Oslo", unit="celsius")], False),
        ([call("rate", stars=4)], False),
        ([call("rate", city="Oslo", stars="3")], False),
        ([call("forecast", city="Oslo")], False),
        ([{"name": "get_weather"}], False),
        (call("get_weather", city="Oslo"), False),
    ],
)
def test_the_grammar_admits_calls_of_the_offered_tools_that_fit_their_schemas(answer: Json, admitted: bool) -> None:
    assert validator_for(answer_schema([WEATHER, RATE])).is_valid(answer) is admitted


def test_with_no_tools_the_only_answer_is_no_call() -> None:
    validator = validator_for(answer_schema([]))
    assert validator.is_valid([])
    assert not validator.is_valid([call("get_weather", city="Oslo")])


def test_the_model_reads_system_message_tools_examples_and_question_in_this_order() -> None:
    request = Request(
        (
            {"role": "system", "content": "Today is Monday."},
            {"role": "user", "content": "Hello!"},
            {"role": "assistant", "content": "Hi."},
            {"role": "user", "content": "Weather in Oslo?"},
        ),
        (WEATHER, RATE),
    )
    text = prompt_text(request)
    places = [
        text.index(part)
        for part in (
            "<|im_start|>system\nToday is Monday.",
            "get_weather(city): Tell the weather\nrate(stars): Rate a product<|im_end|>",
            f"<|im_start|>user\n{EXAMPLES[0][0]}",
            "<|im_start|>user\nHello!",
            "<|im_start|>assistant\nHi.",
            "<|im_start|>user\nWeather in Oslo?<|im_end|>\n<|im_start|>assistant\n",
        )
    ]
    assert places == sorted(places)
    assert text.endswith("<|im_start|>assistant\n")


def test_a_picture_is_refused_in_words() -> None:
    picture: Json = [{"type": "image_file", "image_file": {"path": "a.png"}}]
    with pytest.raises(SystemExit, match="plain text only"):
        prompt_text(Request(({"role": "user", "content": picture},)))


def recorded_cases() -> Iterator[tuple[Case, Recorded | None]]:
    for path in CASE_FILES:
        recordings = read_recordings(recordings_path(path, MODEL), MODEL)
        assert not recordings.faults
        for entry in read_case_file(path, root=ROOT).entries:
            assert isinstance(entry, Case)
            yield entry, recordings.find(request_digest(MODEL.id, plan_request(entry)))


def test_no_worked_example_is_one_of_the_questions() -> None:
    examples = {question.casefold() for question, _ in EXAMPLES}
    assert not [
        case.id for case, _ in recorded_cases() if str(case.turns[0].messages[-1]["content"]).casefold() in examples
    ]


def test_every_case_has_its_answer() -> None:
    assert [case.id for case, recorded in recorded_cases() if recorded is None] == []


def test_every_answer_is_one_that_the_grammar_admits() -> None:
    for case, recorded in recorded_cases():
        assert recorded
        assert recorded.case == case.id
        if recorded.reply.finish == "stop":
            assert validator_for(answer_schema(case.tools)).is_valid(json.loads(recorded.reply.text))


@pytest.mark.parametrize("path", CASE_FILES, ids=lambda path: path.name)
def test_the_files_of_answers_are_as_the_script_writes_them(path: Path, tmp_path: Path) -> None:
    answers = recordings_path(path, MODEL)
    write_recordings(tmp_path / "again", MODEL, read_recordings(answers).entries)
    assert (tmp_path / "again").read_bytes() == answers.read_bytes()
