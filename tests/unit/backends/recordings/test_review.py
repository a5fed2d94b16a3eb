"""What a reviewer sees of recordings: lines that change only where the question or the answer does."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_fcall.backends.recordings.entry import HttpAnswer, Recording
from pytest_fcall.backends.recordings.file import write_recordings
from pytest_fcall.backends.recordings.review import review_of
from pytest_fcall.core import Json, Message, Model, RawCall, Reply, Request, Tool, Usage, request_digest

MODEL = Model("openai", "gpt-5.2")
TOOLS = tuple(Tool(f"tool_{number}", f"Does thing {number}") for number in range(10))
CITIES = ("bergen", "oslo", "røros")


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def asked(city: str, **changes: Any) -> Recording:
    messages = ({"role": "system", "content": "You sell weather."}, user(f"Weather in {city}?"))
    request = replace(Request(messages, TOOLS, {"temperature": 0}), **changes)
    reply = Reply(tool_calls=(RawCall("tool_1", f'{{"city":"{city}"}}', "call_1"),), finish="tool_calls", seconds=0.5)
    return Recording(city, request_digest(MODEL.id, request), request, reply, "2026-11-21T12:00:00+00:00")


ALL = [asked(city) for city in CITIES]


def again(entry: Recording) -> Recording:
    """The same answer, given anew."""
    extra: dict[str, Json] = {"signature": "3f2a"}
    calls = tuple(replace(call, id="call_2", extra=extra) for call in entry.reply.tool_calls)
    reply = replace(entry.reply, tool_calls=calls, seconds=0.9, usage=Usage(7, 8), engine={"v": 2}, extra=extra)
    wire = HttpAnswer(200, "application/json", b"{}")
    return entry._replace(reply=reply, recorded="2026-12-24T12:00:00+00:00", http_answer=wire)


def lines(folder: Path, entries: Iterable[Recording]) -> list[str]:
    path = folder / "shop.fc.yaml.replies.jsonl"
    write_recordings(path, MODEL, entries)
    return path.read_text("utf-8").splitlines()


REWORDED = (replace(TOOLS[0], description="Does that"), *TOOLS[1:])
SYSTEM: Message = {"role": "system", "content": "You sell rain."}


@pytest.mark.parametrize(
    ("entries", "gone", "new"),
    [
        ([again(asked(city)) for city in CITIES], 0, 0),
        ([again(asked(city, tools=REWORDED)) for city in CITIES], 1, 1),
        ([again(asked(city, tools=(*TOOLS, Tool("another")))) for city in CITIES], 0, 1),
        ([again(asked(city, tools=TOOLS[::-1])) for city in CITIES], 0, 0),
        ([again(asked(city, settings={"temperature": 1})) for city in CITIES], 1, 1),
        ([again(asked(city, messages=(SYSTEM, user(f"Weather in {city}?")))) for city in CITIES], 1, 1),
        ([*ALL, asked("alta")], 0, 1),
        ([*ALL, asked("bodø", tools=REWORDED)], 0, 2),
        ([*ALL[1:], ALL[0]._replace(reply=Reply("Rain."))], 1, 1),
    ],
    ids=["re-asked", "tool", "new-tool", "order", "settings", "system", "first-case", "case-with-tool", "answer"],
)
def test_a_line_changes_only_where_what_it_shows_does(
    tmp_path: Path, entries: list[Recording], gone: int, new: int
) -> None:
    before, after = lines(tmp_path, ALL), lines(tmp_path, entries)
    assert (len({*before} - {*after}), len({*after} - {*before})) == (gone, new)
    unchanged = {*before} & {*after}
    assert [line for line in before if line in unchanged] == [line for line in after if line in unchanged]


def reviewed(reply: Reply, messages: tuple[Message, ...] = (), **changes: Any) -> dict[str, Any]:
    line: dict[str, Any] = json.loads(review_of(asked("oslo", messages=messages, **changes)._replace(reply=reply)).line)
    return line


def test_arguments_are_shown_as_objects_and_what_is_no_object_as_it_came() -> None:
    texts = ('{"city":"Oslo"}', "{", "[1]", '{"n": NaN}', "9" * 5000)
    shown = reviewed(Reply(tool_calls=tuple(RawCall("get", text, f"id{text}") for text in texts)))
    assert shown["reply"]["calls"] == [{"get": {"city": "Oslo"}}, *({"get": text} for text in texts[1:])]


CONVERSATION: tuple[Message, ...] = (
    {"role": "system", "content": "Be brief."},
    {"role": "developer", "content": "Be kind."},
    user("Weather in Oslo?"),
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "function": {"name": "get", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "rain"},
)


def test_a_later_turn_shows_what_was_said_since_the_last_answer_and_no_ids() -> None:
    assert reviewed(Reply("Take a coat."), CONVERSATION) == {
        "case": "oslo",
        "messages": [{"role": "tool", "content": "rain"}],
        "reply": {"finish": "stop", "text": "Take a coat."},
        "turn": 2,
    }


def test_the_beginning_of_an_answer_that_a_model_is_to_go_on_with_is_shown() -> None:
    prefill: Message = {"role": "assistant", "content": "The weather is"}
    assert reviewed(Reply("fine."), (user("Well?"), prefill))["messages"] == [user("Well?"), prefill]


def test_turns_and_samples_are_in_the_order_in_which_they_came() -> None:
    entries = [asked("oslo", messages=CONVERSATION[:number], sample=sample) for sample in (0, 1) for number in (3, 5)]
    reviews = [review_of(entry) for entry in entries]
    assert sorted(reviews) == reviews
    assert [(each.sample, each.turn) for each in reviews] == [(0, 1), (0, 2), (1, 1), (1, 2)]


def test_of_an_app_that_called_its_tools_itself_what_it_added_is_shown_without_ids() -> None:
    trail = (*CONVERSATION, {"role": "assistant", "content": "Take a coat.", "signature": "3f2a"})
    assert reviewed(Reply(trail=trail), CONVERSATION[:3])["reply"]["trail"] == [
        {"role": "assistant", "content": None, "calls": [{"get": {}}]},
        {"role": "tool", "content": "rain"},
        {"role": "assistant", "content": "Take a coat."},
    ]


def test_a_picture_is_shown_by_its_content_and_not_by_its_path() -> None:
    image: Json = {
        "type": "image_file",
        "image_file": {"path": "/home/ann/cat.png", "sha256": "5f", "media_type": "png"},
    }
    assert "/home/ann" not in json.dumps(reviewed(Reply("A cat."), ({"role": "user", "content": [image]},)))


def test_two_versions_of_a_tool_are_two_lines(tmp_path: Path) -> None:
    tools = [line for line in lines(tmp_path, [asked("oslo"), asked("moss", tools=REWORDED)]) if '{"tool"' in line]
    assert len(tools) == 11
    assert [json.loads(line)["description"] for line in tools[:2]] == ["Does that", "Does thing 0"]
