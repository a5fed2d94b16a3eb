"""What is left out wherever settings are kept, compared or shown."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from pytest_fcall.backends.redaction import secrets_in, without_secrets
from pytest_fcall.core import Json

KEY = "planted-0001"


@pytest.mark.parametrize(
    "settings",
    [
        {"headers": {"X-Shop": KEY}},
        {"Extra-Headers": {"X-Shop": KEY}},
        {"cookie": KEY},
        {"api_key": KEY},
        {"API-Key": KEY},
        {"Proxy-Authorization": KEY},
        {"user_token": KEY},
        {"credentials": {"name": "me", "of": [KEY]}},
        {"extra_body": {"options": [{"password": KEY}, {"secret": [KEY]}]}},
    ],
)
def test_what_goes_by_the_name_of_a_secret_is_left_out(settings: dict[str, Json]) -> None:
    shown = without_secrets({"temperature": 0, **settings})
    assert KEY not in str(shown)
    assert shown["temperature"] == 0


@pytest.mark.parametrize(
    "settings",
    [
        {"max_tokens": 200, "max_completion_tokens": 5},
        {"tool_choice": {"type": "function", "function": {"name": "get_weather"}}},
        {"extra_body": {"top_k": 3, "stop": ["\n"], "logit_bias": {"50256": -100}}},
    ],
)
def test_everything_else_is_left_as_it_is(settings: dict[str, Json]) -> None:
    assert without_secrets(settings) == settings


def test_texts_below_the_name_of_a_secret_are_secrets_however_deep() -> None:
    told: Json = {"auth_token": [{"part": "one"}, "two", 3], "user": "me", "deep": [{"api-key": "three"}]}
    assert [*secrets_in(told)] == ["one", "two", "three"]


def test_what_json_cannot_say_stays_as_it_is() -> None:
    odd: Any = {"since": date(2026, 11, 22), "options": [object]}
    assert without_secrets(odd) == odd
