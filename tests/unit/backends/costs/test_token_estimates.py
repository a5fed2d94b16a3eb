from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.backends.costs import (
    IMAGE_TOKENS,
    INSTRUCTION_TOKENS,
    LONGEST_REPLY_TOKENS,
    REPLY_TOKENS,
    estimated_tokens,
    greatest_usage,
    likely_usage,
)
from pytest_fcall.backends.recordings.file import read_recordings
from pytest_fcall.core import Json, Request, Tool

RECORDINGS = sorted((Path(__file__).parents[4] / "cases/__fcall__/local-smollm2").glob("*.replies.jsonl"))


def asking(content: Json, *tools: Tool, **settings: Json) -> Request:
    return Request(({"role": "user", "content": content},), tools, settings)


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name)
def test_what_a_model_counted_is_near_the_estimate_and_below_the_greatest(path: Path) -> None:
    counted = [
        (entry.request, entry.reply.usage.input_tokens)
        for entry in read_recordings(path).entries
        if entry.reply.usage and entry.reply.usage.input_tokens
    ]
    assert counted
    for request, tokens in counted:
        assert 0.5 < estimated_tokens(request) / tokens < 2
        assert (greatest_usage(request).input_tokens or 0) >= tokens


def test_long_prompts_take_a_quarter_of_their_characters() -> None:
    assert estimated_tokens(asking("word " * 8000)) == pytest.approx(10_000, rel=0.01)


def test_other_scripts_take_more_tokens_a_character() -> None:
    assert estimated_tokens(asking("天気" * 1500)) == pytest.approx(2000, rel=0.01)


def test_tools_count_with_what_is_said_before_them() -> None:
    plain = estimated_tokens(asking("Weather?"))
    one = estimated_tokens(asking("Weather?", Tool("get_weather")))
    assert plain < 20
    assert plain + INSTRUCTION_TOKENS < one < plain + INSTRUCTION_TOKENS + 40


@pytest.mark.parametrize(
    "image",
    [
        {"type": "image_file", "image_file": {"path": "a.png", "media_type": "image/png", "sha256": "0" * 64}},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 1_000_000}},
    ],
)
def test_an_image_counts_as_one_whatever_its_bytes(image: Json) -> None:
    words: Json = {"type": "text", "text": "What is this?"}
    without, with_image = estimated_tokens(asking([words])), estimated_tokens(asking([words, image]))
    assert with_image == without + IMAGE_TOKENS


@pytest.mark.parametrize(
    ("settings", "greatest"),
    [
        ({}, LONGEST_REPLY_TOKENS),
        ({"max_tokens": 20}, 20),
        ({"max_tokens": 20, "extra_body": {"max_completion_tokens": 2000}}, 2000),
        ({"max_tokens": 20, "extra_body": "n"}, 20),
        ({"max_completion_tokens": 2000}, 2000),
        ({"max_output_tokens": 20}, 20),
        ({"max_tokens": None}, LONGEST_REPLY_TOKENS),
        ({"max_tokens": "many"}, LONGEST_REPLY_TOKENS),
        ({"max_tokens": True}, LONGEST_REPLY_TOKENS),
        ({"max_tokens": 0}, LONGEST_REPLY_TOKENS),
    ],
)
def test_a_reply_ends_at_its_limit(settings: Any, greatest: int) -> None:
    request = asking("Hi", **settings)
    assert greatest_usage(request).output_tokens == greatest
    assert likely_usage(request).output_tokens == min(REPLY_TOKENS, greatest)


def test_each_of_several_replies_may_be_of_the_greatest_length() -> None:
    assert greatest_usage(asking("Hi", n=3, max_tokens=20)).output_tokens == 60
    assert greatest_usage(asking("Hi", extra_body={"n": 2}, max_tokens=20)).output_tokens == 40


TEXTS = st.text(st.characters(exclude_categories=[]))


@given(TEXTS, TEXTS)
def test_the_estimate_is_never_above_the_greatest_and_grows_with_the_text(text: str, more: str) -> None:
    request, longer = asking(text), asking(text + more)
    likely, greatest = likely_usage(request), greatest_usage(request)
    assert likely.input_tokens == estimated_tokens(request) <= estimated_tokens(longer)
    assert greatest.input_tokens is not None
    assert estimated_tokens(request) <= greatest.input_tokens
