"""What is asked for drafts of cases, and what is made of whatever comes back."""

from __future__ import annotations

import json

import pytest

from pytest_fcall.cli.draft import Draft, Task, Unusable, drafts_in, tasks_of
from pytest_fcall.core import Json, Tool

CITY: dict[str, Json] = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = Tool("get_weather", "Tell the weather of a city.", CITY)
TASK = Task("tool-1", WEATHER, "")


def written(question: object, arguments: object) -> str:
    return json.dumps([{"question": question, "arguments": arguments}])


def test_each_tool_both_sides_of_two_alike_and_no_tool_at_all_are_asked_for() -> None:
    other = Tool("get_forecast", "Tell the weather of a city for days to come.")
    pay = Tool("pay", "Send money.")
    tasks = list(tasks_of([WEATHER, other, pay], 2))
    assert [(task.id, task.tool) for task in tasks] == [
        ("tool-1", WEATHER),
        ("tool-2", other),
        ("tool-3", pay),
        ("pair-1", WEATHER),
        ("pair-2", other),
        ("none", None),
    ]
    assert "Write 2 questions" in tasks[0].prompt
    assert '"get_forecast"' in tasks[0].prompt


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        (written("Warm in Oslo?", {"city": "Oslo"}), {"city": "Oslo"}),
        (f"Of course!\n```json\n{written('Warm in Oslo?', {'city': 'Oslo', 'unit': 'K'})}\n```", {"city": "Oslo"}),
        (written("Warm in Oslo?", {"city": 7}), None),
        (written("Warm in Oslo?", {}), None),
        (written("Warm in Oslo?", "Oslo"), None),
    ],
    ids=["whole", "fenced-and-unknown", "wrong-type", "missing", "no-object"],
)
def test_arguments_are_taken_as_far_as_the_schema_takes_them(text: str, arguments: object) -> None:
    assert list(drafts_in(TASK, text)) == [Draft(WEATHER, "Warm in Oslo?", arguments)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not the JSON"),
        ("I cannot do that.", "not the JSON"),
        ("[" * 100_000, "not the JSON"),
        ("[" * 100_000 + "]" * 100_000, "not the JSON"),
        ("[]", "no questions"),
        ("[1]", "has no question"),
        ("[null, {}]", "has no question"),
        (written(None, {}), "has no question"),
        (written("   ", {}), "has no question"),
        (written("long " * 1_000, {}), "longer than 2,000"),
        (written("Call get_weather for Oslo.", {"city": "Oslo"}), "names its tool"),
    ],
)
def test_whatever_else_a_model_writes_is_told_and_never_an_error(text: str, why: str) -> None:
    found = list(drafts_in(TASK, text))
    assert found
    assert all(isinstance(each, Unusable) and why in str(each) for each in found)


def test_a_name_that_is_a_plain_word_may_stand_in_a_question() -> None:
    pay = Tool("pay", "Send money.")
    (found,) = drafts_in(Task("tool-1", pay, ""), written("I want to pay.", {}))
    assert found == Draft(pay, "I want to pay.", {})
