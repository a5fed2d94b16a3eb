from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_fcall.core import Json, Request, Tool
from pytest_fcall.tracking.question_digests import provenance_changes, question_changes, question_digests

TOOL = Tool("get_weather", "Current weather.", {"type": "object", "properties": {"city": {"type": "string"}}})
OTHER = Tool("get_time")
ASKED = Request(({"role": "system", "content": "Be brief."}, {"role": "user", "content": "Oslo?"}), (TOOL,), {"t": 0})


@pytest.mark.parametrize(
    ("now", "told"),
    [
        (ASKED, []),
        (replace(ASKED, sample=3), []),
        (replace(ASKED, messages=ASKED.messages[1:]), ["the system prompt changed"]),
        (replace(ASKED, messages=(ASKED.messages[0], {"role": "user", "content": "Bergen?"})), ["the prompt changed"]),
        (replace(ASKED, settings={"t": 1}), ["the settings of the model changed"]),
        (replace(ASKED, tools=(replace(TOOL, description="Weather."),)), ["the description of get_weather changed"]),
        (replace(ASKED, tools=(replace(TOOL, parameters={}),)), ["the parameters of get_weather changed"]),
        (replace(ASKED, tools=(TOOL, OTHER)), ["the tool get_time is new"]),
        (replace(ASKED, tools=()), ["the tool get_weather is gone"]),
    ],
)
def test_what_changed_in_the_question_is_named(now: Request, told: list[str]) -> None:
    assert question_changes(question_digests(ASKED), question_digests(now)) == told


def test_of_a_question_that_was_not_kept_nothing_is_said() -> None:
    assert question_changes({}, question_digests(ASKED)) == []
    assert question_changes(question_digests(ASKED), {}) == []


def test_what_answered_is_told_where_both_sides_know_it() -> None:
    old: dict[str, Json] = {"engine": {"model": "m-1", "dtype": "fp16", "wire": ["floats"]}, "date": "2026-11-01"}
    new: dict[str, Json] = {"engine": {"model": "m-2", "grammar": "tools", "wire": []}, "date": "2026-11-01"}

    assert provenance_changes(old, new) == ["engine.model: 'm-1' → 'm-2'"]
